"""Leaves that all parties know of, and one party's records in them.

A leaf is one combination of values of the cuts that occurs with somebody; which of them occur is known to
all, since the published table shows it. How many records of its own a party has in each is nobody else's
business. Every counter has its place by what all parties know, whether this party has a record there or not.

Of every value of a cut it is kept which records have it. Whatever is asked about a value touches these and no
others (`touched` counts them), so a round costs as much as the value that is split has records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from privet.core import Column, Tally
from privet.counts.door import Ahead, Candidate, Indexes, Ints, Mask
from privet.counts.lookahead import Bound
from privet.errors import InternalError, PartyError

ROOM = 1 << 31  # numbers for groups; beyond it they are numbered anew
CANNOT_BE = "says of a split which parts occur, and our own records say that it cannot be"


class SharedLeaves:
    """All records in one leaf at first; a split is told by which of its parts occur."""

    def __init__(self, tally: Tally, protected: Sequence[tuple[int, int]]) -> None:
        """`protected`: sensitive columns and codes that are counted beside."""
        self._tally = tally
        self._having = [tally.sensitive[column].codes == code for column, code in protected]
        self._leaf_of_cell = np.zeros(tally.cells, dtype=np.intp)
        self.positions: Indexes = np.zeros((1, len(tally.quasi)), dtype=np.intp)  # leaves x attributes
        self.width = [1] * len(tally.quasi)
        self.splits_made = 0
        self.touched = 0  # cells that were looked at
        # By attribute and position of its cut, the cells that have that value, in their order.
        self._having_value: list[list[Indexes]] = [[np.arange(tally.cells)] for _ in tally.quasi]

    @property
    def counted(self) -> int:
        """How many counters an entry has: its records, and those with each protected value."""
        return 1 + len(self._having)

    @property
    def targets(self) -> int:
        """How many values the target has; 0 where there is none."""
        return 0 if self._tally.target is None else self._tally.target.domain.size

    def vacant(self, candidate: Candidate) -> bool:
        """Is the candidate's value one that nobody has?"""
        return not (self.positions[:, candidate.attribute] == candidate.position).any()

    def under(self, candidate: Candidate) -> Indexes:
        """The leaves that have the candidate's value."""
        return np.flatnonzero(self.positions[:, candidate.attribute] == candidate.position)

    @property
    def records(self) -> int:
        return self._tally.records

    @property
    def sizes(self) -> Ints:
        """This party's records in each leaf."""
        return _summed(self._leaf_of_cell, self._tally.counts, len(self.positions))

    def of_cells(self) -> Indexes:
        """By cell and attribute the position of its value in the cut."""
        found: Indexes = self.positions[self._leaf_of_cell]
        return found

    def persons(self, candidate: Candidate) -> Indexes:
        """The cells that have the candidate's value."""
        found = self._having_value[candidate.attribute][candidate.position]
        self.touched += len(found)
        return found

    def places(self, candidate: Candidate) -> Indexes:
        """Of every cell that has the candidate's value, which of the leaves under it it is in."""
        place = np.full(len(self.positions), -1, dtype=np.intp)
        under = self.under(candidate)
        place[under] = np.arange(len(under))
        found: Indexes = place[self._leaf_of_cell[self.persons(candidate)]]
        return found

    def everything(self) -> Ints:
        """This party's records, and those with each protected value."""
        counts = self._tally.counts
        return np.array([counts.sum(), *(counts[mask].sum() for mask in self._having)], dtype=np.int64)

    def ahead(self, candidate: Candidate) -> Ints:
        """This party's counters if the split were made: by leaf under the candidate, child and counter."""
        under, fan = self.under(candidate), len(candidate.children)
        place = np.full(len(self.positions), -1, dtype=np.intp)
        place[under] = np.arange(len(under))
        cells, child = self._cells(candidate)
        key = place[self._leaf_of_cell[cells]] * fan + child
        if key.min(initial=0) < 0:
            raise InternalError("a record under a value is in a leaf that has the value")
        counts, room = self._tally.counts[cells], len(under) * fan
        found = [_summed(key, counts, room)]
        found += [_summed(key, np.where(mask[cells], counts, 0), room) for mask in self._having]
        return np.stack(found, axis=1).reshape(len(under), fan, self.counted)

    def entries(self, candidate: Candidate, counters: Ints) -> Ahead:
        """Counters in the order of `ahead`, of this party or of all, as the door shows them."""
        leaf, child = np.nonzero(counters[:, :, 0])
        found = counters[leaf, child]
        having = tuple(found[:, 1:].T)
        unit, position = self.under(candidate)[leaf], list(self.positions.T)
        return Ahead(unit, child, found[:, 0], having, position, whole=True)

    def classes(self, candidate: Candidate) -> Ints:
        """This party's records by child and target."""
        target = self._target
        cells, child = self._cells(candidate)
        wide = target.domain.size
        key = child * wide + target.codes[cells]
        return _summed(key, self._tally.counts[cells], len(candidate.children) * wide).reshape(-1, wide)

    def groups(self, candidate: Candidate, bound: Bound) -> Iterator[tuple[Indexes, int]]:
        """For each combination that an adversary may know, the group of each entry of `ahead`, and how many.

        An entry is a leaf under the candidate and a child. What the groups are all parties know.
        """
        under, fan = self.under(candidate), len(candidate.children)
        others = [at for at in sorted(bound.attributes) if at != candidate.attribute and self.width[at] > 1]
        child = np.tile(np.arange(fan), len(under))
        positions = self.positions[under]
        for subset in combinations(others, min(bound.l - 1, len(others))):
            group, room = np.zeros(len(under), dtype=np.int64), 1
            for at in subset:
                group, room = group * self.width[at] + positions[:, at], room * self.width[at]
                if room > ROOM:
                    found, group = np.unique(group, return_inverse=True)
                    room = len(found)
            found, group = np.unique(group, return_inverse=True)
            yield np.repeat(group.reshape(-1) * fan, fan) + child, len(found) * fan

    def split(self, candidate: Candidate, there: Mask, told_by: str = "a party") -> list[int]:
        """Make the split; `there`: which parts occur, by leaf under the candidate and child."""
        at, fan = candidate.attribute, len(candidate.children)
        under = self.under(candidate)
        if not there.any(axis=1).all():
            raise PartyError(f"{told_by}: {CANNOT_BE}")
        cells, child = self._cells(candidate)
        place = np.full(len(self.positions), -1, dtype=np.intp)
        place[under] = np.arange(len(under))
        leaf = np.full((len(under), fan), -1, dtype=np.intp)
        first = there & (np.cumsum(there, axis=1) == 1)
        fresh = there & ~first
        leaf[first] = under
        leaf[fresh] = len(self.positions) + np.arange(int(fresh.sum()))
        mine = leaf[place[self._leaf_of_cell[cells]], child]
        if mine.min(initial=0) < 0:
            raise PartyError(f"{told_by}: {CANNOT_BE}")
        new = [candidate.position, *range(self.width[at], self.width[at] + fan - 1)]
        self.positions = np.concatenate([self.positions, self.positions[under[np.nonzero(fresh)[0]]]])
        self.positions[leaf[there], at] = np.array(new, dtype=np.intp)[np.nonzero(there)[1]]
        self._leaf_of_cell[cells] = mine
        first_part, *others = (cells[child == part] for part in range(fan))
        self._having_value[at][candidate.position] = first_part
        self._having_value[at] += others
        self.width[at] += fan - 1
        self.splits_made += 1
        return new

    @property
    def _target(self) -> Column:
        if self._tally.target is None:
            raise InternalError("a gain is about a target")
        return self._tally.target

    def _cells(self, candidate: Candidate) -> tuple[Indexes, Indexes]:
        """The cells under the candidate's node, and under which of its children each is."""
        cells = self.persons(candidate)
        codes = self._tally.quasi[candidate.attribute].codes[cells].astype(np.intp)
        fan = np.repeat(np.arange(len(candidate.children)), [child.leaves for child in candidate.children])
        return cells, fan[codes - candidate.node.lo]


def _summed(key: Indexes, counts: Ints, room: int) -> Ints:
    # with weights bincount adds doubles, which are exact for whole numbers below 2**53
    return np.bincount(key, weights=counts, minlength=room).astype(np.int64)
