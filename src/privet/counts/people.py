"""Would a split keep a linkage bound where persons are counted? Asked of the cells that it would move.

The twin of `lookahead` for tables in which a person may have several rows. Persons cannot be added up, so
there are no leaves to keep: cells stay, and each question sorts those under the node that would be split. A
union of groups that keep a share of persons may break it, so every number of known values up to the bound's
is looked at, where `lookahead` needs the largest alone. Groups without the split attribute do not change.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.core import Tally
from privet.counts.door import Candidate, Ints
from privet.counts.lookahead import DENSE, Bound, within
from privet.counts.rollup import people
from privet.errors import InternalError


class People:
    """The cells of a table under cuts that move down, and whose they are."""

    def __init__(self, tally: Tally, protected: Sequence[tuple[int, int]]) -> None:
        if tally.person is None:
            raise InternalError("persons are looked ahead for where the table has them")
        self._codes: list[NDArray[Any]] = [column.codes for column in tally.quasi]
        self._person = tally.person.astype(np.int64)
        self._masks = [tally.sensitive[column].codes == code for column, code in protected]
        self._position: list[NDArray[np.int64]] = [np.zeros(tally.cells, dtype=np.int64) for _ in tally.quasi]
        self._width = [1] * len(tally.quasi)

    def keeps(self, candidate: Candidate, bound: Bound, *, whole: bool) -> bool:
        """Would every group still be within the bound? `whole`: it is about all attributes together only."""
        cells, child = self._under(candidate)
        others = [at for at in sorted(bound.attributes) if at != candidate.attribute and self._width[at] > 1]
        others.sort(key=lambda at: -self._width[at])  # a split that fails should fail at once
        reach = len(others) if whole else min(bound.l - 1, len(others))
        sizes = range(reach, -1, -1) if bound.shares and not whole else [reach]
        for size in sizes:
            for some in combinations(others, size):
                key, room = child, len(candidate.children)
                for at in some:
                    key, room = key * self._width[at] + self._position[at][cells], room * self._width[at]
                    if room > max(DENSE, 4 * len(key)):
                        found, key = np.unique(key, return_inverse=True)
                        room = len(found)
                having = [
                    self._count(key[mask], cells[mask], room)
                    for mask in (self._masks[at][cells] for at, _ in bound.shares)
                ]
                if not within(self._count(key, cells, room), having, bound):
                    return False
        return True

    def split(self, candidate: Candidate, positions: Sequence[int]) -> None:
        """The split is made: the children have these positions in the attribute's cut."""
        cells, child = self._under(candidate)
        self._position[candidate.attribute][cells] = np.array(positions, dtype=np.int64)[child]
        self._width[candidate.attribute] += len(candidate.children) - 1

    def _count(self, key: NDArray[Any], cells: NDArray[np.intp], room: int) -> Ints:
        """The persons with each key."""
        return people(key, self._person[cells], room)

    def _under(self, candidate: Candidate) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
        """The cells under the candidate's node, and under which of its children each is."""
        codes, node = self._codes[candidate.attribute], candidate.node
        cells = np.flatnonzero((codes >= node.lo) & (codes < node.hi))
        widths = [child.leaves for child in candidate.children]
        of_code = np.repeat(np.arange(len(widths), dtype=np.int64), widths)
        return cells, of_code[codes[cells].astype(np.intp) - node.lo]
