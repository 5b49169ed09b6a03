"""DiffGen's counts summed over several parts of a table, each in an object of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privet.counts.door import Ints
from privet.counts.live import Grid, LiveCounts, Parting
from privet.domain import Node
from privet.testing.adding import total


class SummedLive:
    """The live records of all parts; a set has no number that all parts know, so sets are asked by subset."""

    def __init__(self, parts: Sequence[LiveCounts]) -> None:
        self._parts = parts

    def totals(self) -> Ints:
        return total([part.totals() for part in self._parts])

    def histograms(self, columns: Sequence[int]) -> list[tuple[Ints, Ints]]:
        found = []
        for answers in zip(*(part.histograms(columns) for part in self._parts), strict=True):
            codes, at = np.unique(np.concatenate([codes for codes, _ in answers]), return_inverse=True)
            counts = np.concatenate([by_class for _, by_class in answers])
            summed = np.zeros((len(codes), counts.shape[1]), dtype=np.int64)
            np.add.at(summed, at, counts)
            found.append((codes, summed))
        return found

    def subsets(self, column: int, nodes: Sequence[Node]) -> list[Ints]:
        answers = [part.subsets(column, nodes) for part in self._parts]
        return [total(found) for found in zip(*answers, strict=True)]

    def leaves(self, grid: Grid) -> Ints:
        return total([part.leaves(grid) for part in self._parts])

    def partitions(self, parting: Parting) -> Ints:
        return total([part.partitions(parting) for part in self._parts])

    def part(self, parting: Parting, of_leaf: Ints, of_partition: Ints) -> None:
        for part in self._parts:
            part.part(parting, of_leaf, of_partition)
