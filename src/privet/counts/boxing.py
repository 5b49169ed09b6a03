"""The cells of a tally in boxes: those of each box lie side by side, so a round reads the table about once.

No box is looked at by itself: extremes, histograms and splits are made for all open boxes at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.core import Tally
from privet.counts.door import Entries, Frequencies, Indexes, Ints, Mask
from privet.counts.rollup import people, summed
from privet.domain import Node
from privet.errors import InternalError
from privet.recoding import Regions


class CellBoxes:
    """A partition of cells that is refined until every box is closed."""

    def __init__(self, tally: Tally, sensitive: Sequence[str], of_cell: Indexes | None = None) -> None:
        """`of_cell`: the open box of each cell to begin with; None: all are in one."""
        self._quasi = tally.quasi
        self._all_counts = tally.counts
        self._codes: list[NDArray[Any]] = [column.codes for column in tally.quasi]
        self._sensitive = [next(c for c in tally.sensitive if c.name == name) for name in sensitive]
        self._values: list[NDArray[Any]] = [column.codes for column in self._sensitive]
        self._counts = tally.counts
        self._person = tally.person  # whose each cell is, where persons are counted
        self._cells: Indexes = np.arange(tally.cells)
        self._start = np.zeros(1, dtype=np.intp)  # where each open box begins
        self._right: Mask | None = None  # the proposal: which cells go to the right part
        self._seen: tuple[Indexes, Indexes, NDArray[Any]] | None = None  # what was asked of this round
        self.of_cell = np.zeros(tally.cells, dtype=np.intp)  # the closed box of each cell
        self.count = 0  # boxes that are closed
        if of_cell is not None:
            order = np.argsort(of_cell, kind="stable")
            self._take(order)
            self._start = np.searchsorted(of_cell[order], np.arange(int(of_cell.max(initial=-1)) + 1))

    def extremes(self) -> tuple[Indexes, Indexes, Ints]:
        low = np.stack([np.minimum.reduceat(codes, self._start) for codes in self._codes], axis=1)
        high = np.stack([np.maximum.reduceat(codes, self._start) for codes in self._codes], axis=1)
        return low.astype(np.intp), high.astype(np.intp), np.add.reduceat(self._counts, self._start)

    def close(self, closed: Mask) -> None:
        length = self._lengths()
        number = np.cumsum(closed) - 1 + self.count
        gone = np.repeat(closed, length)
        self.of_cell[self._cells[gone]] = np.repeat(number, length)[gone]
        self.count += int(closed.sum())
        self._take(np.flatnonzero(~gone))
        length = length[~closed]
        self._start = (np.cumsum(length) - length).astype(np.intp)

    def histogram(self, attribute: Indexes) -> tuple[Indexes, Indexes, Ints]:
        box, value = self._valued(attribute)
        wide = int(value.max(initial=0)) + 1
        found, count = summed(box * wide + value, self._counts, len(self._start) * wide)
        return *np.divmod(found, wide), count

    def propose(self, attribute: Indexes, cut: Indexes) -> None:
        box, value = self._valued(attribute)
        self._right = value > cut[box]

    def propose_evenly(self, attribute: Indexes, smallest: int) -> Mask:
        box, value = self._valued(attribute)
        along = np.argsort(box * (int(value.max(initial=0)) + 1) + value, kind="stable")
        last, done = middles(box, self._counts[along], self._start, smallest)
        self._right = np.empty(len(box), dtype=bool)
        self._right[along] = np.arange(len(box)) > last[box]
        return done

    def parts(self) -> tuple[Mask, Frequencies]:
        if self._right is None:
            raise InternalError("parts are those of a proposal")
        return self._classes(2 * self._boxes() + self._right, 2 * len(self._start))

    def split(self, done: Mask) -> None:
        if self._right is None:
            raise InternalError("a split is of a proposal")
        right, self._right = self._right & np.repeat(done, self._lengths()), None
        length = self._lengths()
        many = np.add.reduceat(right, self._start, dtype=np.intp)
        before = np.cumsum(many) - many  # right cells in boxes before
        # Both kinds come box by box, so each box shifts all of its own alike.
        order = np.empty(len(right), dtype=np.intp)
        lefts, rights = np.flatnonzero(~right), np.flatnonzero(right)
        order[np.arange(len(lefts)) + np.repeat(before, length - many)] = lefts
        order[np.arange(len(rights)) + np.repeat(self._start + length - many - before, many)] = rights
        self._take(order)
        middle = (self._start + length - many)[done]
        self._start = np.sort(np.concatenate((self._start, middle)))

    def closed_histogram(self, attribute: int) -> tuple[Indexes, Indexes, Ints]:
        column = self._quasi[attribute]
        size = column.domain.size
        found, count = summed(self.of_cell * size + column.codes, self._all_counts, self.count * size)
        return *np.divmod(found, size), count

    def recoding(self, nodes: dict[str, tuple[Node, ...]], positions: dict[str, Indexes]) -> Regions:
        return Regions(nodes, positions, of_cell=self.of_cell)

    def whole(self) -> Frequencies:
        """All cells that are in open boxes, as one class."""
        return self._classes(np.zeros(len(self._cells), dtype=np.intp), 1)[1]

    def _classes(self, part: Indexes, parts: int) -> tuple[Mask, Frequencies]:
        size = self._sized(part, parts)
        there = size > 0
        number = np.cumsum(there) - 1
        entries = []
        for column, values in zip(self._sensitive, self._values, strict=True):
            wide = max(1, column.domain.size)
            key, room = number[part] * wide + values, int(there.sum()) * wide
            if self._person is None:
                found, count = summed(key, self._counts, room)
            else:
                count = self._sized(key, room)
                found = np.flatnonzero(count)
                count = count[found]
            entries.append(Entries(column, *np.divmod(found, wide), count))
        return there, Frequencies((), np.zeros(0, dtype=np.intp), size[there], tuple(entries))

    def _sized(self, key: NDArray[Any], room: int) -> Ints:
        """By key the records, or the persons where cells say whose they are."""
        if self._person is None:
            return np.bincount(key, weights=self._counts, minlength=room).astype(np.int64)
        return people(key, self._person, room)

    def _valued(self, attribute: Indexes) -> tuple[Indexes, NDArray[Any]]:
        """The open box of every cell, and its value in the attribute of its box."""
        if self._seen is not None and self._seen[0] is attribute:
            return self._seen[1:]
        box = self._boxes()
        of_cell = attribute[box]
        value = np.zeros(len(box), dtype=np.intp)
        for at, codes in enumerate(self._codes):
            here = of_cell == at
            if here.all():
                value = codes.astype(np.intp)
                break
            value[here] = codes[here]
        self._seen = attribute, box, value
        return box, value

    def _boxes(self) -> Indexes:
        """The open box of each cell."""
        return np.repeat(np.arange(len(self._start)), self._lengths())

    def _lengths(self) -> Indexes:
        return np.diff(self._start, append=len(self._cells))

    def _take(self, order: Indexes) -> None:
        self._seen = None
        self._cells = self._cells[order]
        self._counts = self._counts[order]
        self._codes = [codes[order] for codes in self._codes]
        self._values = [values[order] for values in self._values]
        if self._person is not None:
            self._person = self._person[order]


def middles(box: Indexes, counts: Ints, start: Indexes, smallest: int) -> tuple[Indexes, Mask]:
    """Where each box is parted most evenly, its cells in the order of their values; False: nowhere.

    `box` and `counts` are of each cell; the answer is the last cell of each left part.
    """
    left = np.cumsum(counts)
    left -= (left - counts)[start][box]  # boxes lie one after another
    total = np.add.reduceat(counts, start)[box]
    valid = (left >= smallest) & (total - left >= smallest)
    score = np.where(valid, np.abs(2.0 * left - total), np.inf)
    best = np.minimum.reduceat(score, start)
    at = np.flatnonzero(score == best[box])
    last = np.zeros(len(start), dtype=np.intp)
    last[box[at[::-1]]] = at[::-1]
    return last, np.isfinite(best)
