"""How far classes are from the table, by the thousand: floats that say where a closer look is needed.

The earth mover's distances with closed forms are weighted sums of |flows|, and flows are sums of differences
of shares: one matrix says all of it. A search asks this of every class it tries; the models decide exactly
what is too close to the bound to tell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.domain import Node
from privet.models.classes import Histogram
from privet.models.ground import placed
from privet.models.tcloseness import Distance, TCloseness

Floats: TypeAlias = NDArray[np.float64]

NEAR = 1e-9  # far above the rounding of sums of a few hundred shares
WIDEST = 512  # values of an attribute, since the matrix has a row and more for each


@dataclass(frozen=True, eq=False)
class Flows:
    """Which shares go over each edge, and how long the edges are."""

    over: Floats  # codes x edges: 1 where the share of a code is on the far side
    length: Floats

    @classmethod
    def of(cls, model: TCloseness, histogram: Histogram) -> Flows | None:
        """The flows of a model; None where it has no such form, or too many values."""
        wide = len(histogram.table)
        if wide > WIDEST:
            return None
        if model.distance in {Distance.EQUAL, Distance.VARIATIONAL}:
            return cls(np.eye(wide), np.full(wide, 0.5))
        if model.distance is Distance.HIERARCHICAL and model.taxonomy is not None:
            domain, place = placed(model.name, histogram, model.taxonomy)
            above = [(node, child) for node in domain.root.walk() for child in node.children]
            over = [[child.lo <= at < child.hi for _, child in above] for at in place.tolist()]
            rise = np.array([_height(node) - _height(child) for node, child in above])
            return cls(np.array(over, dtype=np.float64), rise / (2 * _height(domain.root)))
        return None

    def distances(self, counts: NDArray[np.int64], table: NDArray[np.int64]) -> Floats:
        """Of each row of counts from the table."""
        size = counts.sum(axis=1, keepdims=True)
        apart = counts / np.maximum(1, size) - table / max(1, int(table.sum()))
        return np.asarray(np.abs(np.einsum("cv,ve->ce", apart, self.over)) @ self.length)


def _height(node: Node) -> int:
    return 1 + max(map(_height, node.children)) if node.children else 0
