"""Leaf partitions: the generalised records that will be published, and which one each record falls into.

Relational splits keep every child, with or without records, so the leaves are a product of cuts and need
no list. Splits of a column of sets keep some subsets only, and not the same ones everywhere. So there is a
list of *frames*, each a box of the cuts as they were at the last such split, with its sets of nodes; the
leaves of a frame are the product of what the cuts have become inside its box. Records are looked at only
when a column of sets is split, and at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.domain import Node

Ints: TypeAlias = NDArray[np.int64]
MOST_CELLS = 1 << 21  # counts in one release; more would take gigabytes, and be noise

NodeSet: TypeAlias = tuple[Node, ...]  # nodes of a cut in leaf order: what a set is published as


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
class Frames:
    """Boxes of codes (one range for each relational column), and the node set of each column of sets."""

    low: Ints  # [frame, relational column]
    high: Ints
    sets: Ints  # [frame, column of sets]: which of `Leaves.node_sets`

    @property
    def number(self) -> int:
        return len(self.low)


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


class Leaves:
    """The frames, and the frame of each record; -1 where the record's partition was dropped."""

    def __init__(
        self, relational: Sequence[NDArray[Any]], sizes: Sequence[int], roots: Sequence[Node], records: int
    ) -> None:
        self._codes = list(relational)
        self._sizes = tuple(sizes)
        self._records = records
        self.node_sets: list[list[NodeSet]] = [[(root,)] for root in roots]
        self.frames = Frames(
            np.zeros((1, len(sizes)), dtype=np.int64),
            np.array([self._sizes], dtype=np.int64).reshape(1, len(sizes)),
            np.zeros((1, len(roots)), dtype=np.int64),
        )
        self._frame: NDArray[np.int64] | None = None  # all in the first

    def number(self, begins: Sequence[Ints]) -> int:
        """How many leaves there are under these cuts."""
        _, widths = self._spans(begins)
        return sum(widths.astype(object).prod(axis=1).tolist()) if widths.shape[1] else len(widths)

    def grid(self, begins: Sequence[Ints]) -> Grid:
        first, widths = self._spans(begins)
        stride = np.ones_like(widths)
        if widths.shape[1]:
            stride[:, :-1] = np.cumprod(widths[:, :0:-1], axis=1)[:, ::-1]
        each = widths.prod(axis=1)
        offset = np.cumsum(each) - each
        frame = np.repeat(np.arange(len(each)), each)
        within = np.arange(len(frame)) - offset[frame]
        rank = within[:, None] // stride[frame] % widths[frame] + first[frame]
        return Grid(
            Cuts(tuple(begins), self._sizes), frame, rank, offset - (first * stride).sum(axis=1), stride
        )

    def place(self, grid: Grid) -> tuple[NDArray[np.intp], Ints]:
        """The live records, and the leaf of each."""
        if self._frame is None:
            live, frame = np.arange(self._records), None
            leaf = np.full(self._records, grid.base[0], dtype=np.int64)
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

    def reframe(self, grid: Grid, parents: Ints, sets: Ints, frame: Ints) -> None:
        """Make each entry of `parents`, a leaf of the grid, a frame with node sets of its own.

        `frame` says which entry each live record belongs to; -1 drops it for good.
        """
        rank = grid.rank[parents]
        low = np.zeros((len(parents), len(self._sizes)), dtype=np.int64)
        high = np.zeros_like(low)
        for column, (begin, size) in enumerate(zip(grid.cuts.begins, self._sizes, strict=True)):
            end = np.append(begin[1:], size)
            low[:, column], high[:, column] = begin[rank[:, column]], end[rank[:, column]]
        self.frames = Frames(low, high, sets)
        if self._frame is None:
            self._frame = frame
        else:
            self._frame[self._frame >= 0] = frame

    def live(self) -> NDArray[np.bool_] | None:
        """Which records are still there; None: all."""
        return None if self._frame is None else self._frame >= 0

    def _spans(self, begins: Sequence[Ints]) -> tuple[Ints, Ints]:
        """For each frame and column, the first value of the cut inside its box, and how many are inside."""
        first = np.zeros_like(self.frames.low)
        widths = np.ones_like(first)
        for column, begin in enumerate(begins):
            first[:, column] = np.searchsorted(begin, self.frames.low[:, column])
            widths[:, column] = np.searchsorted(begin, self.frames.high[:, column]) - first[:, column]
        return first, widths
