"""Local suppression: a point goes only from the paths in which it gives something away.

After Chen, Fung, Mohammed, Desai and Wang, "Privacy-preserving trajectory data publishing by local
suppression" (Information Sciences 2013), with a rule that needs no test for new violations. The winner of a
round is taken out of every path that has one of its minimal violating sequences. Then support falls, and a
sequence with the winner in it may violate that did not: its paths lose the winner too, and so on until
no minimal violating sequence has the winner. At the worst that is global suppression. A sequence without
the winner is in as many paths as before, so after each round

    what violates minimally = what did so before and does not contain the winner.

So the list only shrinks, as with global suppression, and the promise is kept when it is empty. What is
given up: the support of what survives may be smaller than it was (Mohammed 2012, section 4.2.4, shows what
that does to association rules), and whoever is told the contexts learns from them; publish the result, not
the recoding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import ClassVar

import numpy as np

from privet.core import Progress, silent
from privet.models.linkage import Linkage
from privet.trajectory.claims import Proof
from privet.trajectory.frequent import threshold
from privet.trajectory.living import Living
from privet.trajectory.paths import Ints, Paths
from privet.trajectory.proof import prove
from privet.trajectory.recode import PathRecoding, Removed
from privet.trajectory.sequences import Sequences
from privet.trajectory.suppress import PointScore, Removal, lost, mined
from privet.trajectory.trees import Remaining
from privet.trajectory.violations import violations, weighed


@dataclass(frozen=True, eq=False)
class LocalThinning:
    """What the search returns: the recoding, how it was reached, what was weighed, and the proof."""

    recoding: PathRecoding
    removals: tuple[Removal, ...]  # `instances` are the records that lose the point
    everywhere: int  # how many of the points had to go from every path
    violations: Sequences = field(repr=False)  # of the raw data
    patterns: Sequences = field(repr=False)  # maximal frequent sequences of the raw data
    surviving: Sequences = field(repr=False)  # those that are still frequent, with what support they have
    published: Paths = field(repr=False)
    promises: tuple[Linkage, ...]

    @cached_property
    def proof(self) -> Proof:
        """Counted when asked for: it takes longer than the search."""
        return prove(self.published, self.promises)

    @property
    def loss(self) -> Fraction:
        """The share of patterns that are no longer frequent."""
        return lost(len(self.patterns), len(self.surviving))


@dataclass(frozen=True, slots=True)
class SuppressLocally:
    """Take points out of the paths in which they violate, the best by score first."""

    at_least: int | Fraction  # from what support on a sequence is worth keeping: records, or a share
    score: PointScore = PointScore.GAIN_PER_LOSS

    name: ClassVar[str] = "suppress-points-locally"

    def __post_init__(self) -> None:
        threshold(self.at_least, 1)  # refuses what is not a support

    def search(
        self, paths: Paths, promise: Linkage | Sequence[Linkage], progress: Progress = silent
    ) -> LocalThinning:
        promises, bad, good = mined(paths, promise, self.at_least, progress)
        least = threshold(self.at_least, paths.records)
        rounds = Rounds(paths, promises, bad, good, least)
        steps = list(rounds.run(self.score))
        kept = rounds.patterns.there
        return LocalThinning(
            PathRecoding(removed=tuple(removed for _, contexts in steps for removed in contexts)),
            tuple(removal for removal, _ in steps),
            sum(contexts[-1].everywhere for _, contexts in steps),
            bad,
            good,
            replace(good.only(kept), support=rounds.support[kept]),
            rounds.living.left(),
            promises,
        )


class Rounds:
    """The state of the search: visits that are left, violations to solve, patterns that may be lost."""

    def __init__(
        self, paths: Paths, promises: Sequence[Linkage], bad: Sequences, good: Sequences, least: int
    ) -> None:
        self.living = Living(paths)
        self.patterns = Remaining(good)
        self.support = good.support.copy()
        self._paths, self._promises, self._least = paths, promises, least
        self._bad, self._good = bad, good
        self._violations = Remaining(bad)
        self._bad_tuples, self._good_tuples = bad.tuples(), good.tuples()
        self._open = set(self._bad_tuples)  # minimal violating sequences that are still there

    def run(self, score: PointScore) -> Iterator[tuple[Removal, list[Removed]]]:
        gain, loss, instances = self._violations.counts, self.patterns.counts, self._paths.instances
        while True:
            waiting = np.flatnonzero(gain)
            if not len(waiting):
                return
            # Quotients of whole numbers this small are equal as floats only if they are equal.
            above, below = score.quotients(gain[waiting], loss[waiting])
            best = np.lexsort((waiting, instances[waiting], -gain[waiting], -(above / below)))[0]
            yield self._solved(int(waiting[best]), score)

    def _solved(self, point: int, score: PointScore) -> tuple[Removal, list[Removed]]:
        """One round: from now on no minimal violating sequence has this point."""
        gain = int(self._violations.counts[point])
        contexts: list[tuple[int, ...]] = []
        losing = 0
        wrong = [self._bad_tuples[at] for at in self._violations.holding(point).tolist()]
        self._open.difference_update(wrong)
        while wrong:
            if (point,) in wrong:
                contexts, wrong = [*contexts, (point,)], []
                losing += self.living.remove(point)
                break
            for sequence in wrong:
                losing += self.living.remove(point, self.living.holding(sequence))
            contexts += wrong
            wrong = self._still_wrong(point)
        self._violations.remove(point)
        holding = self.patterns.holding(point)
        self.support[holding] = [self._counted(self._good_tuples[at]) for at in holding.tolist()]
        gone = holding[self.support[holding] < self._least]
        self.patterns.drop(gone)
        removal = Removal(
            point,
            self._paths.points.labels[point],
            gain,
            len(gone),
            score.of(gain, len(holding)),
            losing,
        )
        if not len(self.living.holding([point])):  # nobody has it: the contexts have nothing to add
            return removal, [Removed(self._paths.points.pair(point))]
        pair = self._paths.points.pair
        return removal, [Removed(pair(point), tuple(pair(other) for other in one)) for one in contexts]

    def _counted(self, sequence: tuple[int, ...]) -> int:
        return int(self._paths.counts[self.living.holding(sequence)].sum())

    def _still_wrong(self, point: int) -> list[tuple[int, ...]]:
        """Minimal violating sequences with this point, among the paths that still have it."""
        cells = self.living.holding([point])
        if not len(cells):
            return []
        there = self.living.left(cells, but=point)
        found: set[tuple[int, ...]] = set()
        for promise in self._promises:
            if itself_violates(there, promise):
                return [(point,)]
            if promise.l == 1:
                continue
            shorter = replace(promise, l=None if promise.l is None else promise.l - 1)
            found.update(tuple(sorted((*one, point))) for one in violations(there, shorter).tuples())
        return sorted(one for one in found if not self._contains_other(one, point))

    def _contains_other(self, sequence: tuple[int, ...], point: int) -> bool:
        """Does it contain what violates without the point? Then it goes when that does."""
        others = [other for other in sequence if other != point]
        return any(
            part in self._open for size in range(1, len(others) + 1) for part in combinations(others, size)
        )


def itself_violates(paths: Paths, promise: Linkage) -> bool:
    """Are these records as a whole too few, or too much alike?"""
    weights, bounds = weighed(paths, promise.binding)
    total: Ints = weights.sum(axis=0)
    records = int(total[0])
    return records < promise.k or any(
        int(having) > bound * records for having, bound in zip(total[1:].tolist(), bounds, strict=True)
    )


def suppress_local(
    paths: Paths,
    promise: Linkage | Sequence[Linkage],
    at_least: int | Fraction,
    score: PointScore = PointScore.GAIN_PER_LOSS,
) -> LocalThinning:
    """Local suppression in one call."""
    return SuppressLocally(at_least, score).search(paths, promise)
