"""Leaf partitions: the generalised records that will be published.

Relational splits keep every child, with or without records, so the leaves are a product of cuts and need
no list. Splits of a column of sets keep some subsets only, and not the same ones everywhere. So there is a
list of *frames*, each a box of the cuts as they were at the last such split, with its sets of nodes; the
leaves of a frame are the product of what the cuts have become inside its box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from privet.counts.door import Ints
from privet.counts.live import Cuts, Grid
from privet.domain import Node

MOST_CELLS = 1 << 21  # counts in one release; more would take gigabytes, and be noise

NodeSet: TypeAlias = tuple[Node, ...]  # nodes of a cut in leaf order: what a set is published as


@dataclass(frozen=True, eq=False)
class Frames:
    """Boxes of codes (one range for each relational column), and the node set of each column of sets."""

    low: Ints  # [frame, relational column]
    high: Ints
    sets: Ints  # [frame, column of sets]: which of `Leaves.node_sets`

    @property
    def number(self) -> int:
        return len(self.low)


class Leaves:
    """The frames as they stand: public things only. Who is in them, `privet.dp.records` knows."""

    def __init__(self, sizes: Sequence[int], roots: Sequence[Node]) -> None:
        self._sizes = tuple(sizes)
        self.node_sets: list[list[NodeSet]] = [[(root,)] for root in roots]
        self.frames = Frames(
            np.zeros((1, len(sizes)), dtype=np.int64),
            np.array([self._sizes], dtype=np.int64).reshape(1, len(sizes)),
            np.zeros((1, len(roots)), dtype=np.int64),
        )

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

    def reframe(self, grid: Grid, parents: Ints, sets: Ints) -> None:
        """Make each entry of `parents`, a leaf of the grid, a frame with node sets of its own."""
        rank = grid.rank[parents]
        low = np.zeros((len(parents), len(self._sizes)), dtype=np.int64)
        high = np.zeros_like(low)
        for column, (begin, size) in enumerate(zip(grid.cuts.begins, self._sizes, strict=True)):
            end = np.append(begin[1:], size)
            low[:, column], high[:, column] = begin[rank[:, column]], end[rank[:, column]]
        self.frames = Frames(low, high, sets)

    def _spans(self, begins: Sequence[Ints]) -> tuple[Ints, Ints]:
        """For each frame and column, the first value of the cut inside its box, and how many are inside."""
        first = np.zeros_like(self.frames.low)
        widths = np.ones_like(first)
        for column, begin in enumerate(begins):
            first[:, column] = np.searchsorted(begin, self.frames.low[:, column])
            widths[:, column] = np.searchsorted(begin, self.frames.high[:, column]) - first[:, column]
        return first, widths
