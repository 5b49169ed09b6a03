"""Searching together without showing a number: `reveal = "decisions"`, the strict mode of the source.

Three parties compute on shares of the summed counts and open decisions only: which candidate is best, whether
it keeps every promise, and which parts of a split that was made occur (which the published table shows).

Information gain needs logarithms of secret counts: n log n is looked up in a public table at a secret place,
in fixed point. Two candidates whose gains differ by less than that resolution are a tie, decided by the tie
rule; `resolution` says how fine it is. Sums of squares (discernibility) are exact.

Trust: see `replicated`: of the three that compute no two collude.
Leaks: to every party how many records there are in all, which split is best, whether it keeps the promises
together (one bit), and which parts of a split that was made occur.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from privet.counts.door import Candidate, Indexes, Ints, Mask, Score, order
from privet.counts.lookahead import Bound
from privet.domain import Node
from privet.errors import InternalError, UnsupportedError
from privet.parties.entropies import Entropies
from privet.parties.leaves import SharedLeaves, refuse_vanished
from privet.parties.primitives.replicated import Computing, Feeding, Shared, along

ONE_OF = "one of the promises"
THOSE_WHO_COMPUTE = "one of those who compute"


def within_at_root(
    three: Computing | None, feeding: Feeding | None, mine: Ints, bounds: Sequence[Bound]
) -> tuple[int, bool]:
    """How many records all parties have, and whether the most general table keeps every bound."""
    words = mine.astype(np.uint64)
    if three is None:
        if feeding is None:
            raise InternalError("a party computes or hands in")
        feeding.feed(words)
        told = feeding.heard(2, np.uint64)
    else:
        counters = three.feed(words)
        records = three.open(counters[:1])
        groups = [counters[at : at + 1] for at in range(len(mine))]
        bad = three.any(along([_violations(three, groups, bound) for bound in bounds]))
        told = np.concatenate([records, three.open(bad, bits=True)])
        three.tell(told)
    return int(told[0]), not told[1]


def _violations(three: Computing, counters: Sequence[Shared], bound: Bound) -> Shared:
    """A bit for each group and each way to break a bound; an empty group breaks none."""
    size = counters[0]
    above = int(np.iinfo(size.here.dtype).max) // 2  # every count, whatever k is: a larger one would wrap
    k = three.known(np.full(len(size), min(bound.k, above), dtype=size.here.dtype))
    sides = [-size, size - k]  # is it above 0, and below k?
    for at, most in bound.shares:
        sides.append(size.times(most.numerator) - counters[1 + at].times(most.denominator))
    signs = three.negative(along(sides))
    n = len(size)
    small = three.both(signs[:n], signs[n : 2 * n])
    return along([small, signs[2 * n :]])


def counter_type(bounds: Sequence[Bound], records: int) -> Any:
    """The smallest number that holds every count times every denominator, and a sign."""
    widest = max((most.denominator for bound in bounds for _, most in bound.shares), default=1)
    return np.uint32 if records * widest < 1 << 31 else np.uint64


class SecretCutting:
    """One of the three that compute."""

    def __init__(
        self,
        three: Computing,
        leaves: SharedLeaves,
        score: Score,
        bounds: Sequence[tuple[str, Bound]],
        records: int,
    ) -> None:
        self._three = three
        self._leaves = leaves
        self._bounds = bounds
        self._score = supported(score)
        self._dtype = counter_type([bound for _, bound in bounds], records)
        self._entropy = Entropies(three, leaves, records) if score is Score.INFORMATION_GAIN else None
        self._sizes = three.known(np.array([records], dtype=np.uint64))
        self._ahead: tuple[Candidate, Shared] | None = None

    def best(self, candidates: Sequence[Candidate]) -> tuple[int, float | None]:
        if len(candidates) == 1:
            return 0, None
        ranked = sorted(range(len(candidates)), key=lambda at: order(candidates[at]))
        first, second = np.triu_indices(len(ranked), 1)
        ordered = [candidates[at] for at in ranked]
        if self._entropy is not None:
            loses = self._lower_gain(self._entropy, ordered, first, second)
        else:
            loses = self._less_discernible(ordered, first, second)
        won = self._three.flipped(loses)
        table = np.zeros((2, len(ranked), len(ranked)), dtype=np.uint64)
        for share, (lost, beaten) in enumerate(((loses.here, won.here), (loses.there, won.there))):
            table[share, first, second] = lost  # the earlier one lost
            table[share, second, first] = beaten
        found = self._three.any_of_rows(Shared(table[0].reshape(-1), table[1].reshape(-1)), len(ranked))
        at = np.flatnonzero(self._three.open(self._three.flipped(found), bits=True))
        if len(at) != 1:
            raise UnsupportedError("three splits are too alike to be ranked without showing their scores")
        self._three.tell(at.astype(np.uint64))
        return ranked[int(at[0])], None

    def breaks(self, candidate: Candidate) -> str | None:
        asked = [bound for _, bound in self._bounds if candidate.attribute in bound.attributes]
        counters = self._look(candidate)
        if not asked:
            self._three.tell(np.zeros(1, dtype=np.uint64))
            return None
        bad = along([self._broken(candidate, counters, bound) for bound in asked])
        opened = self._three.open(self._three.any(bad), bits=True)
        self._three.tell(opened)
        return named(candidate, self._bounds) if opened[0] else None

    def places(self, attribute: int, node: Node, places: Indexes) -> list[int]:  # noqa: ARG002
        raise InternalError("a contract has no intervals that are split by counts of single values")

    def split(self, candidate: Candidate) -> list[int]:
        shape = (len(self._leaves.under(candidate)), len(candidate.children))
        sizes = self._look(candidate)[:: self._leaves.counted]
        there = self._three.open(self._three.negative(-sizes), bits=True).astype(bool)
        self._three.tell(there.astype(np.uint8))
        table = there.reshape(shape)
        refuse_vanished(table, THOSE_WHO_COMPUTE)
        if self._score is Score.DISCERNIBILITY:
            self._keep_sizes(candidate, table)
        self._ahead = None
        return self._leaves.split(candidate, table, THOSE_WHO_COMPUTE)

    # Counts of a candidate.

    def _look(self, candidate: Candidate) -> Shared:
        """The counters that the split would leave, summed over all parties, by leaf, child and counter."""
        if self._ahead is None or self._ahead[0] is not candidate:
            mine = self._leaves.ahead(candidate).reshape(-1).astype(self._dtype)
            self._ahead = candidate, self._three.feed(mine)
        return self._ahead[1]

    def _broken(self, candidate: Candidate, counters: Shared, bound: Bound) -> Shared:
        """A bit for every group that the split would leave and every way to break the bound."""
        wide = self._leaves.counted
        found: list[list[Shared]] = [[] for _ in range(wide)]
        for key, room in self._leaves.groups(candidate, bound):
            for at in range(wide):
                found[at].append(counters[at::wide].summed(key, room))
        return _violations(self._three, [along(parts) for parts in found], bound)

    # Scores.

    def _lower_gain(
        self, entropy: Entropies, ordered: Sequence[Candidate], first: Indexes, second: Indexes
    ) -> Shared:
        """For each pair: has the one that comes first the lower gain, by more than a rounding?

        A gain is entropy lost over size, so two are compared by their cross products.
        """
        lost, size, slack = entropy.of(ordered)
        room = self._three.known(slack)
        left = self._three.product(
            along([(lost + room)[first], (lost - room)[second]]), along([size[second], size[first]])
        )
        n = len(first)
        return self._three.negative(left[:n] - left[n:])

    def _less_discernible(self, ordered: Sequence[Candidate], first: Indexes, second: Indexes) -> Shared:
        """For each pair: does the first break up less, or as much and leave more?"""
        before, after = self._squares(ordered)
        signs = self._three.negative(
            along(
                [before[first] - before[second], before[second] - before[first], after[second] - after[first]]
            )
        )
        n = len(first)
        less, more, leaves_more = signs[:n], signs[n : 2 * n], signs[2 * n :]
        alike = self._three.flipped(less ^ more)  # both cannot be
        return less ^ self._three.both(alike, leaves_more)

    def _squares(self, candidates: Sequence[Candidate]) -> tuple[Shared, Shared]:
        """By candidate the sum of squared sizes of what it would break up, and of what it would leave."""
        under = [self._leaves.under(candidate) for candidate in candidates]
        mine = [self._leaves.ahead(candidate)[:, :, 0].reshape(-1) for candidate in candidates]
        parts = self._three.feed(np.concatenate(mine).astype(np.uint64))
        both = along([self._sizes, parts])
        squares = self._three.product(both, both)
        n = len(self._sizes)
        owner = np.repeat(np.arange(len(candidates)), [len(one) for one in under])
        before = squares[:n][np.concatenate(under)].summed(owner, len(candidates))
        owner = np.repeat(np.arange(len(candidates)), [len(one) for one in mine])
        return before, squares[n:].summed(owner, len(candidates))

    def _keep_sizes(self, candidate: Candidate, there: Mask) -> None:
        """The sizes of the leaves as they will be numbered, still secret."""
        sizes = self._three.feed(self._leaves.ahead(candidate)[:, :, 0].reshape(-1).astype(np.uint64))
        first = there & (np.cumsum(there, axis=1) == 1)
        fresh = np.flatnonzero((there & ~first).reshape(-1))
        under = self._leaves.under(candidate)
        shares = []
        for old, new in ((self._sizes.here, sizes.here), (self._sizes.there, sizes.there)):
            kept = old.copy()
            kept[under] = new[np.flatnonzero(first.reshape(-1))]
            shares.append(np.concatenate([kept, new[fresh]]))
        self._sizes = Shared(*shares)


def named(candidate: Candidate, bounds: Sequence[tuple[str, Bound]]) -> str:
    """What a split would break, as all parties say it: of several promises it is not known which."""
    names = list(dict.fromkeys(name for name, bound in bounds if candidate.attribute in bound.attributes))
    return names[0] if len(names) == 1 else ONE_OF


def supported(score: Score) -> Score:
    if score is Score.GAIN_PER_LOSS:
        raise UnsupportedError(
            'score = "gain-per-loss" needs the size of the smallest group; use another, or reveal = "counts"'
        )
    return score
