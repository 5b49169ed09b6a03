"""Counts of records in public codes, some of which are dropped on the way: what DiffGen asks of data.

What is asked about is public (cuts, leaves, subsets); what is answered is as sensitive as the data, and goes
into a mechanism that adds noise. Parties that share records or columns answer together instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privet.counts.door import Ints
from privet.domain import Node


@dataclass(frozen=True, eq=False)
class Cuts:
    """For each relational column, where the values of its cut begin, ascending; it begins at 0."""

    begins: tuple[Ints, ...]
    sizes: tuple[int, ...]  # of the domains

    def rank(self, column: int, codes: NDArray[Any]) -> NDArray[Any]:
        """Which value of the cut stands for each code."""
        begins, size = self.begins[column], self.sizes[column]
        small = np.min_scalar_type(len(begins))
        if size <= max(len(codes), 1 << 16):  # a table of all codes is read faster than it is searched
            widths = np.diff(begins, append=size)
            ranks: NDArray[Any] = np.repeat(np.arange(len(begins), dtype=small), widths)[codes]
            return ranks
        return (np.searchsorted(begins, codes, side="right") - 1).astype(small)


@dataclass(frozen=True, eq=False)
class Grid:
    """All leaves under the cuts of a moment, numbered frame by frame."""

    cuts: Cuts
    frame: Ints = field(repr=False)  # of each leaf
    rank: Ints = field(repr=False)  # [leaf, relational column]: which value of the cut
    base: Ints = field(repr=False)  # of each frame: where its numbers begin, less what the ranks start with
    stride: Ints = field(repr=False)  # [frame, relational column]

    @property
    def number(self) -> int:
        return len(self.frame)


@dataclass(frozen=True, eq=False)
class Parting:
    """Leaves in which a node of a column of sets is replaced by subsets of its children, each a partition."""

    column: int
    node: Node
    grid: Grid
    row: Ints  # for each leaf, which of those it is that have the node; -1: it does not
    masks: Ints = field(repr=False)  # of each subset: one bit for each child

    @property
    def parts(self) -> int:
        return (int(self.row.max(initial=-1)) + 1) * len(self.masks)


class Below(Protocol):
    """The different sets of a column."""

    def children_of(self, node: Node) -> Ints:
        """For each set, which children of the node it has items under: one bit for each child."""


@dataclass(frozen=True, eq=False)
class PublicCodes:
    """How the values of a table become public codes; for whoever counts where the table lies."""

    codes: Mapping[str, Ints] = field(repr=False)  # of each value of each column; the class comes last
    classes: int  # as many as could be
    sets: Mapping[int, Below] = field(repr=False)  # columns of sets, whose codes are numbers of sets


class LiveCounts(Protocol):
    """Records that are still there. Columns are numbered as the table's; classes are public."""

    def totals(self) -> Ints:
        """Of all records, also of those that were dropped since: how many have each class."""

    def histograms(self, columns: Sequence[int]) -> list[tuple[Ints, Ints]]:
        """For each column the codes that occur, ascending, and the records by code and class."""

    def subsets(self, column: int, nodes: Sequence[Node]) -> list[Ints]:
        """For nodes of a column of sets: records by children they have items under, a bit each, and class."""

    def leaves(self, grid: Grid) -> Ints:
        """The records by leaf and class."""

    def partitions(self, parting: Parting) -> Ints:
        """The records of each partition, leaf by leaf."""

    def part(self, parting: Parting, of_leaf: Ints, of_partition: Ints) -> None:
        """Move records to new frames, by their partition or else their leaf; -1 drops them for good."""


class LiveCells(LiveCounts, Protocol):
    """Records elsewhere that can be met here, too, as combinations."""

    def cells(self) -> Iterable[tuple[Mapping[str, NDArray[Any]], Ints]]:
        """Every combination once, some at a time: by column which value it has, and how many records."""
