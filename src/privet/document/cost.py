"""What a publication costs: LM for every label that says less, and the full price for each one that is gone.

Searches compare costs millions of times, so a cost is one whole number, a *price*: the loss on a common
denominator, and behind it, as lower digits, how many vertices are gone. So equal losses are decided by
fewer lost vertices, and sums do not depend on their order. Reported costs are exact fractions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

from privet.document.forest import Forest
from privet.document.taxonomy import Taxonomy
from privet.errors import PolicyError, UnsupportedError

Prices = NDArray[np.int64]
ROOM = 52  # bits of a price: assignment solvers count in doubles, which hold whole numbers up to 2 ** 53
COARSEST = 6  # bits that must be left for the loss of one label


@dataclass(frozen=True, eq=False)
class Tariff:
    """The price of every node, type and subtree of a forest, all on one scale."""

    unit: int  # what one label costs that is gone
    step: int  # vertices are counted below this
    labels: Prices = field(repr=False)  # by node of the taxonomy: what one published label costs
    own: Prices = field(repr=False)  # by type: what a vertex costs that is gone, without those below it
    loss: Prices = field(repr=False)  # by vertex of the forest: what its subtree costs when it is gone

    def cost(self, price: int) -> Fraction:
        """The loss in a price, in labels."""
        return Fraction(price // self.step, self.unit)


def tariff(forest: Forest, nodes: Taxonomy, members: int, sa_weight: Fraction = Fraction(0)) -> Tariff:
    """Prices for classes of up to `members` records. `sa_weight`: what a lost sensitive value costs."""
    if sa_weight < 0:
        raise PolicyError("sa_weight is not negative")
    kinds = forest.schema.kinds
    own = [kind.weight * len(kind.quasi) + (sa_weight if kind.sensitive else 0) for kind in kinds]
    exact = [kinds[nodes.kinds[node]].weight * nodes.loss(node) for node in range(len(nodes.labels))]
    largest = int(forest.sizes().max(initial=1))
    step = 1 << (2 * members * largest).bit_length()
    most = 2 * members * largest * max(int(max(own, default=Fraction(1))) + 1, 1)
    room = (1 << ROOM) // (step * most)
    unit = lcm(*(number.denominator for number in (*exact, *own)))
    if unit > room:  # no common denominator that fits: the nearest whole numbers of a fine scale
        unit = 1 << max(room.bit_length() - 1, 0)
    if unit < 1 << COARSEST and room < 1 << COARSEST:
        raise UnsupportedError(
            "clustering trees: a record is too large to be compared as a whole; use tree-anatomy"
        )
    by_kind = np.array([round(weight * unit) * step + 1 for weight in own], dtype=np.int64)
    labels = np.array([round(loss * unit) * step for loss in exact], dtype=np.int64)
    running = np.concatenate(([0], np.cumsum(by_kind[forest.kinds])))
    loss = running[forest.ends] - running[:-1]  # a subtree is a range
    return Tariff(unit, step, labels, by_kind, loss.astype(np.int64))
