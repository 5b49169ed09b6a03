"""How far classes are from the table, by the thousand: floats that say where a closer look is needed.

The earth mover's distances with closed forms are weighted sums of |flows|, and flows are sums of differences
of shares: one matrix says all of it. A search asks this of every class it tries; the models decide exactly
what is too close to the bound to tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet import native
from privet.domain import Node
from privet.models.classes import Histogram
from privet.models.ground import placed
from privet.models.tcloseness import Distance, TCloseness

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

NEAR = 1e-9  # far above the rounding of sums of a few hundred shares
WIDEST = 512  # values of an attribute, since the matrix has a row and more for each


@dataclass(frozen=True, eq=False)
class Flows:
    """Which shares go over each edge, and how long the edges are."""

    over: Ints  # codes x edges: 1 where the share of a code is on the far side
    rise: Ints  # how long each edge is, in parts
    bottom: int  # how many parts make 1

    @classmethod
    def of(cls, model: TCloseness, histogram: Histogram) -> Flows | None:
        """The flows of a model; None where it has no such form, or too many values."""
        wide = len(histogram.table)
        if wide > WIDEST:
            return None
        if model.distance in {Distance.EQUAL, Distance.VARIATIONAL}:
            return cls(np.eye(wide, dtype=np.int64), np.ones(wide, dtype=np.int64), 2)
        if model.distance is Distance.HIERARCHICAL and model.taxonomy is not None:
            domain, place = placed(model.name, histogram, model.taxonomy)
            above = [(node, child) for node in domain.root.walk() for child in node.children]
            over = [[child.lo <= at < child.hi for _, child in above] for at in place.tolist()]
            rise = np.array([_height(node) - _height(child) for node, child in above], dtype=np.int64)
            return cls(np.array(over, dtype=np.int64), rise, 2 * _height(domain.root))
        return None

    @cached_property
    def _length(self) -> Floats:
        return self.rise / self.bottom

    def distances(self, histogram: Histogram) -> Floats:
        """Of each class from the table."""
        table = histogram.table @ self.over / max(1, histogram.records)
        far = np.empty(len(histogram.size))
        if native.library() is not None:
            start = np.append(histogram.start, len(histogram.value)).astype(np.int64)
            value, count = histogram.value.astype(np.int64), histogram.count.astype(np.int64)
            called = native.call(
                "privet_class_distances",
                start,
                len(far),
                value,
                count,
                self.over,
                self._length,
                len(table),
                table,
                far,
            )
            if called == 0:
                return far
        shares = dense(histogram) / np.maximum(1, histogram.size)[:, None]
        return np.asarray(np.abs(np.einsum("cv,ve->ce", shares, self.over) - table) @ self._length)

    def alone(self, histogram: Histogram) -> Floats:
        """How far the table is from a class that has one value only, for each code."""
        table = histogram.table @ self.over / max(1, histogram.records)
        return np.asarray(np.abs(self.over - table) @ self._length)


def dense(histogram: Histogram) -> Ints:
    """How many records each class has of each value: classes x codes."""
    counts = np.zeros((len(histogram.size), len(histogram.table)), dtype=np.int64)
    counts[histogram.owner, histogram.value] = histogram.count
    return counts


def dropped_at_least(model: TCloseness, flows: Flows | None, histogram: Histogram, limit: int) -> int:
    """How many records of these classes go, at least, however they are parted and whichever go.

    `limit` is how many may go of the table that the classes make up; let that be a share f. The table that
    is left is no farther from the raw one than g = f M / (1 - f), if no value by itself is farther from the
    raw one than M. So the kept part of a class is within t + g of the raw table. Distances are convex:
    where the class is at D and no value of it farther than m, the dropped part is at least a share
    (D - t - g) / (m - t - g) of the class.
    """
    if not len(histogram.size):
        return 0
    records = max(1, histogram.records)
    share = float(Fraction(limit, records))
    if flows is None:
        far, widest = model.at_least(histogram), np.ones(len(histogram.size))
        moved = share
    else:
        far, alone = flows.distances(histogram), flows.alone(histogram)
        farthest = float(alone[histogram.table > 0].max())
        moved = share * min(1.0, farthest / (1 - share)) if share < 1 else 1.0
        widest = np.maximum.reduceat(alone[histogram.value], histogram.start)
    t = float(model.t) + moved + NEAR
    dropped = histogram.size * np.maximum(far - t, 0) / np.maximum(widest - t, NEAR)
    return int(np.minimum(dropped, histogram.size).sum())  # rounded down: a bound is never too large


def _height(node: Node) -> int:
    return 1 + max(map(_height, node.children)) if node.children else 0
