"""Global suppression: take a few points out of every path, so that no violating sequence is left.

Mohammed 2012, algorithm 4.2. Whoever takes a point out of all paths changes no count of a sequence
without it: so no new violation appears, and the support of whatever survives is the true one. Which points
to take is a hitting-set problem (NP-hard); this is greedy, by a score of what a point solves and costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import cached_property
from heapq import heapify, heappop, heappush
from operator import truediv
from typing import ClassVar, TypeAlias

import numpy as np

from privet import native
from privet.core import Progress, Step, silent
from privet.models.linkage import Linkage
from privet.trajectory.exact import minimum
from privet.trajectory.frequent import frequent, threshold
from privet.trajectory.paths import Ints, Paths, Points
from privet.trajectory.recode import PathRecoding, everywhere
from privet.trajectory.sequences import Sequences
from privet.trajectory.trees import Remaining
from privet.trajectory.violations import feasible, jointly

Rank: TypeAlias = tuple[float | Fraction, int, int, int]  # smallest first
Taken: TypeAlias = tuple[int, int, int]  # a point, what it solves, what it costs


class PointScore(Enum):
    """What makes a point the next to go."""

    GAIN_PER_LOSS = "gain-per-loss"  # violations solved for each pattern lost: Score1
    GAIN = "gain"  # violations solved: Score2
    LEAST_LOSS = "least-loss"  # patterns kept: Score3

    def of(self, gain: int, loss: int) -> Fraction:
        """The exact score.

        >>> [PointScore.GAIN_PER_LOSS.of(3, 1), PointScore.GAIN.of(3, 1), PointScore.LEAST_LOSS.of(3, 1)]
        [Fraction(3, 2), Fraction(3, 1), Fraction(1, 2)]
        """
        return Fraction(*self.quotient(gain, loss))

    def quotient(self, gain: int, loss: int) -> tuple[int, int]:
        return 1 if self is PointScore.LEAST_LOSS else gain, 1 if self is PointScore.GAIN else loss + 1

    def quotients(self, gain: Ints, loss: Ints) -> tuple[Ints, Ints]:
        """The same for many points at once."""
        ones = np.ones_like(gain)
        return ones if self is PointScore.LEAST_LOSS else gain, ones if self is PointScore.GAIN else loss + 1


class Cover(Enum):
    """How the points are chosen."""

    GREEDY = "greedy"
    EXACT = "exact"  # the fewest patterns lost, and then the fewest points: for small data only


@dataclass(frozen=True)
class Suppression:
    """A recoding: these places at these times are in nobody's path any more."""

    pairs: tuple[tuple[str, str], ...] = field(repr=False)  # place and time

    @property
    def recoding(self) -> PathRecoding:
        return everywhere(self.pairs)

    def codes(self, points: Points) -> list[int]:
        """Their numbers in some data; what does not occur there needs no removal."""
        return [points.codes[pair] for pair in self.pairs if pair in points.codes]


@dataclass(frozen=True, slots=True)
class Removal:
    """One line of the search's log."""

    point: int = field(repr=False)
    label: str = field(repr=False)
    gain: int  # violating sequences that went with it
    loss: int  # frequent sequences that went with it
    score: Fraction
    instances: int  # records that visit it

    def step(self, attribute: str) -> Step:
        return Step(attribute, self.label, (), float(self.score), performed=True)


@dataclass(frozen=True, eq=False)
class Thinning:
    """What the search returns: the recoding, how it was reached, and what was weighed."""

    suppression: Suppression
    removals: tuple[Removal, ...]
    violations: Sequences = field(repr=False)  # of the raw data
    patterns: Sequences = field(repr=False)  # maximal frequent sequences of the raw data

    @cached_property
    def surviving(self) -> Sequences:
        """The patterns that hold no suppressed point; their support is unchanged."""
        return self.patterns.without(removal.point for removal in self.removals)

    @property
    def loss(self) -> Fraction:
        """The share of patterns that did not survive."""
        return lost(len(self.patterns), len(self.surviving))


def lost(before: int, after: int) -> Fraction:
    """The share that is gone, of nothing nothing; below 0 where mining anew finds more than there was.

    >>> lost(9, 5), lost(0, 0)
    (Fraction(4, 9), Fraction(0, 1))
    """
    return Fraction(before - after, before) if before else Fraction(0)


@dataclass(frozen=True, slots=True)
class Suppress:
    """Take points out of every path, the best by score first, until no violating sequence is left."""

    at_least: int | Fraction  # from what support on a sequence is worth keeping: records, or a share
    score: PointScore = PointScore.GAIN_PER_LOSS
    cover: Cover = Cover.GREEDY

    name: ClassVar[str] = "suppress-points"

    def __post_init__(self) -> None:
        threshold(self.at_least, 1)  # refuses what is not a support

    def search(
        self, paths: Paths, promise: Linkage | Sequence[Linkage], progress: Progress = silent
    ) -> Thinning:
        _, bad, good = mined(paths, promise, self.at_least, progress)
        points = covering(paths, bad, good, self.score, self.cover)
        removals = tuple(logged(paths, points, self.score))
        pairs = tuple(paths.points.pair(removal.point) for removal in removals)
        return Thinning(Suppression(pairs), removals, bad, good)


def mined(
    paths: Paths, promise: Linkage | Sequence[Linkage], at_least: int | Fraction, progress: Progress
) -> tuple[tuple[Linkage, ...], Sequences, Sequences]:
    """What every suppression begins with: the promises, what violates them, and what is worth keeping."""
    promises = (promise,) if isinstance(promise, Linkage) else tuple(promise)
    feasible(paths, promises)
    progress("violations", 0)
    bad = jointly(paths, promises)
    progress("patterns", len(bad))
    good = frequent(paths, at_least)
    progress("suppress", 0, len(bad))
    return promises, bad, good


def greedy(paths: Paths, bad: Sequences, good: Sequences, score: PointScore) -> Iterator[Removal]:
    """Points to remove, one after the other, until nothing violating is left.

    Ties go to the point that solves more, is visited by fewer, comes earlier, and has the smaller name.
    """
    return logged(paths, taken(paths, bad, good, score), score)


def logged(paths: Paths, points: Iterable[Taken], score: PointScore) -> Iterator[Removal]:
    labels, instances = paths.points.labels, paths.instances
    for point, gain, loss in points:
        yield Removal(point, labels[point], gain, loss, score.of(gain, loss), int(instances[point]))


def covering(
    paths: Paths, bad: Sequences, good: Sequences, score: PointScore, cover: Cover = Cover.GREEDY
) -> Iterable[Taken]:
    """Points that leave nothing violating, in the order in which the score would take them."""
    if cover is Cover.EXACT:
        tried = [[point for point, _, _ in taken(paths, bad, good, each)] for each in PointScore]
        ours = np.isin(bad.members, minimum(bad, good, tried))
        # Of every violating sequence only what goes: the greedy search can take nothing else.
        left = np.concatenate(([0], np.cumsum(ours)))[bad.starts]
        bad = Sequences(bad.points, bad.members[ours], left, bad.support)
    return taken(paths, bad, good, score)


def taken(paths: Paths, bad: Sequences, good: Sequences, score: PointScore) -> Iterable[Taken]:
    """Points by the greedy search, each with what it solves and what it costs."""
    found: Iterable[Taken] | None = None
    if native.library() is not None and max(len(bad), len(good)) < 2**31:
        found = compiled(paths.instances, bad, good, score)
    return plain(paths.instances, bad, good, score) if found is None else found


def compiled(instances: Ints, bad: Sequences, good: Sequences, score: PointScore) -> Iterable[Taken] | None:
    """In C: each point with what it solves and costs; None where there is no memory for it."""
    order = np.empty(len(instances), dtype=np.int32)
    gain, loss = np.empty(len(instances), dtype=np.int64), np.empty(len(instances), dtype=np.int64)
    found = np.zeros(1, dtype=np.int64)
    said = native.call(
        "privet_suppress_points",
        *(np.ascontiguousarray(bad.members), np.ascontiguousarray(bad.starts), len(bad)),
        *(np.ascontiguousarray(good.members), np.ascontiguousarray(good.starts), len(good)),
        len(instances),
        np.ascontiguousarray(instances),
        [*PointScore].index(score),
        *(order, gain, loss, found),
    )
    count = int(found[0])
    return None if said else zip(order[:count].tolist(), gain[:count].tolist(), loss[:count].tolist())  # noqa: B905 - cut alike


def plain(instances: Ints, bad: Sequences, good: Sequences, score: PointScore) -> Iterable[Taken]:
    """The same with a heap of Python's own."""
    gains, losses = Remaining(bad), Remaining(good)
    gain, loss = gains.counts, losses.counts
    # Quotients of whole numbers this small are equal as floats only if they are equal.
    divide: Callable[[int, int], float | Fraction] = (
        truediv if len(bad) < 2**25 and len(good) < 2**25 else Fraction
    )

    def rank(point: int) -> Rank:
        solved = int(gain[point])
        return -divide(*score.quotient(solved, int(loss[point]))), -solved, int(instances[point]), point

    waiting = {point: rank(point) for point in gain.nonzero()[0].tolist()}
    queue = list(waiting.values())
    heapify(queue)
    while queue:
        entry = heappop(queue)
        point = entry[-1]
        if waiting.get(point) != entry:
            continue  # a better entry of this point has been there since
        if not gain[point]:
            del waiting[point]
            continue
        now = rank(point)
        if now > entry:  # it has lost ground meanwhile: back in line
            waiting[point] = now
            heappush(queue, now)
            continue
        yield point, int(gain[point]), int(loss[point])
        del waiting[point]
        gains.remove(point)
        # Only a smaller loss can move a point forward; whoever falls back is noticed when popped.
        for other in set(losses.remove(point).tolist()) & waiting.keys():
            now = rank(other)
            if now < waiting[other]:
                waiting[other] = now
                heappush(queue, now)
