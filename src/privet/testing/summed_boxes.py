"""Boxes of records, cut in several parts of a table at once: each part keeps its own cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privet.core import Column, Tally
from privet.counts.boxing import middles
from privet.counts.door import (
    Entries,
    Frequencies,
    Indexes,
    Ints,
    Mask,
)
from privet.domain import Node
from privet.recoding import Regions
from privet.testing.adding import Rows, added, total


class PartBoxes:
    """One part's cells, and the open box of each; a box may have none here. -1: the cell's box is closed."""

    def __init__(self, tally: Tally, sensitive: Sequence[str]) -> None:
        self.tally = tally
        self._codes = np.stack([c.codes.astype(np.intp) for c in tally.quasi], axis=1)
        self._sensitive = [next(c for c in tally.sensitive if c.name == name) for name in sensitive]
        self._box = np.zeros(tally.cells, dtype=np.intp)
        self._right = np.zeros(tally.cells, dtype=bool)
        self.of_cell = np.full(tally.cells, -1, dtype=np.intp)

    def extremes(self, boxes: int) -> tuple[Indexes, Indexes, Ints]:
        low = np.full((boxes, self._codes.shape[1]), np.iinfo(np.intp).max)
        high = np.full((boxes, self._codes.shape[1]), -1)
        records = np.zeros(boxes, dtype=np.int64)
        here = self._box >= 0
        np.minimum.at(low, self._box[here], self._codes[here])
        np.maximum.at(high, self._box[here], self._codes[here])
        np.add.at(records, self._box[here], self.tally.counts[here])
        return low, high, records

    def close(self, number: Indexes, left: Indexes) -> None:
        here = np.flatnonzero(self._box >= 0)
        box = self._box[here]
        self.of_cell[here] = number[box]
        self._box[here] = left[box]

    def propose(self, attribute: Indexes, cut: Indexes) -> None:
        here, value = self.values(attribute)
        self._right[here] = value > cut[self._box[here]]

    def values(self, attribute: Indexes) -> tuple[Indexes, Indexes]:
        """The cells in open boxes, and the value of each in the attribute of its box."""
        here = np.flatnonzero(self._box >= 0)
        return here, self._codes[here, attribute[self._box[here]]]

    def sorted_by(self, attribute: Indexes) -> Rows:
        """Box, value and records of each cell in an open box."""
        here, value = self.values(attribute)
        return np.stack([self._box[here], value, self.tally.counts[here]], axis=1)

    def go_right(self, right: Mask) -> None:
        self._right[self._box >= 0] = right

    def parts(self, boxes: int) -> tuple[Ints, list[tuple[Column, Rows, Ints]]]:
        here = np.flatnonzero(self._box >= 0)
        part, counts = 2 * self._box[here] + self._right[here], self.tally.counts[here]
        size = np.zeros(2 * boxes, dtype=np.int64)
        np.add.at(size, part, counts)
        entries = [
            (c, np.stack([part, c.codes[here].astype(np.intp)], axis=1), counts) for c in self._sensitive
        ]
        return size, entries

    def split(self, done: Mask, number: Indexes) -> None:
        here = np.flatnonzero(self._box >= 0)
        box = self._box[here]
        self._box[here] = number[box] + (self._right[here] & done[box])

    def closed(self, attribute: int) -> tuple[Rows, Ints]:
        return np.stack([self.of_cell, self._codes[:, attribute]], axis=1), self.tally.counts


class SummedBoxes:
    """Boxes over all parts."""

    def __init__(self, parts: Sequence[PartBoxes]) -> None:
        self._parts = parts
        self._open = 1
        self._closed = 0

    def extremes(self) -> tuple[Indexes, Indexes, Ints]:
        low, high, records = zip(*(part.extremes(self._open) for part in self._parts), strict=True)
        return np.min(low, axis=0), np.max(high, axis=0), total(records)

    def close(self, closed: Mask) -> None:
        number = np.where(closed, np.cumsum(closed) - 1 + self._closed, -1)
        left = np.where(closed, -1, np.cumsum(~closed) - 1)
        for part in self._parts:
            part.close(number, left)
        self._closed += int(closed.sum())
        self._open -= int(closed.sum())

    def histogram(self, attribute: Indexes) -> tuple[Indexes, Indexes, Ints]:
        rows = np.concatenate([part.sorted_by(attribute) for part in self._parts])
        found, at = np.unique(rows[:, :2], axis=0, return_inverse=True)
        count = np.zeros(len(found), dtype=np.int64)
        np.add.at(count, at.reshape(-1), rows[:, 2])
        return found[:, 0], found[:, 1], count

    def propose(self, attribute: Indexes, cut: Indexes) -> None:
        for part in self._parts:
            part.propose(attribute, cut)

    def propose_evenly(self, attribute: Indexes, smallest: int) -> Mask:
        answers = [part.sorted_by(attribute) for part in self._parts]
        rows = np.concatenate(answers)
        along = np.lexsort((rows[:, 1], rows[:, 0]))  # stable: equal values in the order of the parts
        box = rows[along, 0]
        last, done = middles(box, rows[along, 2], np.searchsorted(box, np.arange(self._open)), smallest)
        right = np.empty(len(rows), dtype=bool)
        right[along] = np.arange(len(rows)) > last[box]
        for part, mine in zip(
            self._parts, np.split(right, np.cumsum([len(a) for a in answers])[:-1]), strict=True
        ):
            part.go_right(mine)
        return done

    def parts(self) -> tuple[Mask, Frequencies]:
        sizes, entries = zip(*(part.parts(self._open) for part in self._parts), strict=True)
        size = total(sizes)
        there = size > 0
        number = np.cumsum(there) - 1
        made = []
        for answers in zip(*entries, strict=True):
            pair, _, count = added([rows for _, rows, _ in answers], [count for _, _, count in answers])
            made.append(Entries(answers[0][0], number[pair[:, 0]], pair[:, 1], count))
        return there, Frequencies((), np.zeros(0, dtype=np.intp), size[there], tuple(made))

    def split(self, done: Mask) -> None:
        number = np.arange(self._open) + np.cumsum(done) - done
        for part in self._parts:
            part.split(done, number)
        self._open += int(done.sum())

    def closed_histogram(self, attribute: int) -> tuple[Indexes, Indexes, Ints]:
        rows, counts = zip(*(part.closed(attribute) for part in self._parts), strict=True)
        found, _, count = added(rows, counts)
        return found[:, 0], found[:, 1], count

    def recoding(self, nodes: dict[str, tuple[Node, ...]], positions: dict[str, Indexes]) -> Regions:
        return Regions(nodes, positions, of_cell=np.concatenate([part.of_cell for part in self._parts]))
