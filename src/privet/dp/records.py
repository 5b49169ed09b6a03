"""A coded table's own counts: the records themselves, and the frame that each is in.

Records are looked at only when a column of sets is split, and at the end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from privet.counts.door import Ints
from privet.counts.live import Grid, Parting
from privet.domain import Node
from privet.dp.coded import CodedTable, ItemLists
from privet.dp.histogram import Histogram, pairs
from privet.dp.publicdomain import ItemSets
from privet.errors import InternalError


class Records:
    """All records of a table, in one frame at first."""

    def __init__(self, table: CodedTable) -> None:
        self._table = table
        self._classes = len(table.classes)
        self._codes = [c.codes for c in table.columns if not isinstance(c.predictor.domain, ItemSets)]
        self._frame: Ints | None = None  # of each record; None: all in the first. -1: dropped

    def totals(self) -> Ints:
        return np.bincount(self._table.class_codes, minlength=self._classes).astype(np.int64)

    def histograms(self, columns: Sequence[int]) -> list[tuple[Ints, Ints]]:
        classes, live = self._table.class_codes, None if self._frame is None else self._frame >= 0
        found = []
        for column in (self._table.columns[at] for at in columns):
            size = column.predictor.domain.size if column.sets is None else len(column.sets.starts) - 1
            some = (column.codes, classes) if live is None else (column.codes[live], classes[live])
            found.append(Histogram.counted(*some, size, self._classes))
        return found

    def subsets(self, column: int, nodes: Sequence[Node]) -> list[Ints]:
        ((codes, by_class),) = self.histograms([column])
        found = []
        for node in nodes:
            masks = self._sets(column).children_of(node)
            counts = np.zeros((1 << len(node.children), self._classes), dtype=np.int64)
            np.add.at(counts, masks[codes], by_class)
            found.append(counts)
        return found

    def leaves(self, grid: Grid) -> Ints:
        live, leaf = self.place(grid)
        of_class = self._table.class_codes
        if len(live) != len(of_class):
            of_class = of_class[live]
        counts = np.bincount(pairs(leaf, of_class, self._classes), minlength=grid.number * self._classes)
        return counts.reshape(grid.number, self._classes).astype(np.int64, copy=False)

    def partitions(self, parting: Parting) -> Ints:
        entry = self._entries(parting, *self.place(parting.grid))
        return np.bincount(entry[entry >= 0], minlength=parting.parts).astype(np.int64, copy=False)

    def part(self, parting: Parting, of_leaf: Ints, of_partition: Ints) -> None:
        live, leaf = self.place(parting.grid)
        entry = self._entries(parting, live, leaf)
        # The entry behind the last partition stands for "in none".
        frame = np.where(entry >= 0, np.append(of_partition, -1)[entry], of_leaf[leaf])
        if self._frame is None:
            self._frame = frame
        else:
            self._frame[self._frame >= 0] = frame

    def place(self, grid: Grid) -> tuple[NDArray[np.intp], Ints]:
        """The live records, and the leaf of each."""
        if self._frame is None:
            live, frame = np.arange(self._table.records), None
            leaf = np.full(self._table.records, grid.base[0], dtype=np.int64)
        else:
            live = np.flatnonzero(self._frame >= 0)
            frame = self._frame[live]
            leaf = grid.base[frame]
        for column, codes in enumerate(self._codes):
            if len(grid.cuts.begins[column]) == 1:
                continue  # every rank is 0
            rank = grid.cuts.rank(column, codes if frame is None else codes[live])
            if frame is None:
                leaf += rank * grid.stride[0, column] if grid.stride[0, column] != 1 else rank
            else:
                leaf += rank * grid.stride[frame, column]
        return live, leaf

    def _entries(self, parting: Parting, live: NDArray[np.intp], leaf: Ints) -> Ints:
        """The partition of each live record, -1 where its leaf does not have the node."""
        masks = self._sets(parting.column).children_of(parting.node)
        place = np.full(int(parting.masks.max()) + 1, -1, dtype=np.int64)
        place[parting.masks] = np.arange(len(parting.masks))
        subset = place[masks[self._table.columns[parting.column].codes[live]]]
        inside = parting.row[leaf] >= 0
        if (inside & (subset < 0)).any():
            raise InternalError("a record has items below each node of its node set")
        return np.where(inside, parting.row[leaf] * len(parting.masks) + subset, -1)

    def _sets(self, column: int) -> ItemLists:
        sets = self._table.columns[column].sets
        if sets is None:
            raise InternalError("a column of sets is coded with its sets")
        return sets
