"""Splitting a column of sets: which subsets of the children become partitions.

Each subset of the children of a node is a partition of its own: the records that have items under exactly
these children. There are 2^k - 1 of them below every leaf, most without any record. Each gets noise, and
those that reach the threshold stay, whether or not a record is in them; the others are dropped, with their
records. The threshold is a function of public numbers only.

Drawing noise for every subset is the definition. Where there are many, *test-and-generate* does the same
with less: noise for those with records; for the others first how many of them pass (binomial), then which
(uniform). Both have the same distribution.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from enum import Enum
from fractions import Fraction
from math import ceil, isqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.domain import Node
from privet.dp.noise import NoiseSource
from privet.dp.publicdomain import NONE, ItemSets
from privet.dp.tail import binomial, uniform
from privet.hierarchy.sets import SEPARATOR

Ints: TypeAlias = NDArray[np.int64]

DENSE = 4096  # subsets below all leaves; up to here each gets its own noise


class Threshold(Enum):
    """What noise plus count must reach for a subset to stay."""

    DEVIATION = (
        "deviation"  # one standard deviation of the noise, as the source has it: 12 % of the empty pass
    )
    RARE = "rare"  # so high that, of all subsets of one node, about half an empty one passes


def threshold(kind: Threshold, epsilon: Fraction, subsets: int) -> int:
    """The least whole number at or above sqrt(2) / epsilon, or log(subsets + 1) / epsilon.

    >>> threshold(Threshold.DEVIATION, Fraction(1, 10), 3)
    15
    """
    if kind is Threshold.DEVIATION:
        return isqrt(ceil(2 / epsilon**2) - 1) + 1
    context = Context(prec=50, rounding=ROUND_CEILING)
    return ceil(Fraction(context.ln(Decimal(subsets + 1))) / epsilon)


@dataclass(frozen=True, eq=False)
class Subsets:
    """The subsets of a node's children that can be: one bit for each child, ascending."""

    node: Node
    masks: Ints

    @classmethod
    def of(cls, domain: ItemSets, node: Node) -> Subsets:
        """All but the empty one; the pseudo item for an empty set stands alone."""
        fan = len(node.children)
        if domain.none is not None and node.hi == domain.size:  # only the root has the pseudo item below it
            return cls(node, np.append(np.arange(1, 1 << (fan - 1)), 1 << (fan - 1)).astype(np.int64))
        return cls(node, np.arange(1, 1 << fan, dtype=np.int64))

    @property
    def number(self) -> int:
        return len(self.masks)

    def chosen(self, mask: int) -> tuple[Node, ...]:
        return tuple(child for at, child in enumerate(self.node.children) if mask >> at & 1)


def generalised(nodes: tuple[Node, ...], node: Node, children: tuple[Node, ...]) -> tuple[Node, ...]:
    """A node set after one of its nodes became some of that node's children; in leaf order."""
    return tuple(sorted((*(n for n in nodes if n is not node), *children), key=lambda n: n.lo))


def set_label(nodes: tuple[Node, ...]) -> str:
    """How a set of nodes is published: sorted names."""
    return SEPARATOR.join(sorted(str(node.label) for node in nodes)) or NONE


def survivors(noise: NoiseSource, counts: Ints, epsilon: Fraction, least: int, *, dense: int = DENSE) -> Ints:
    """Which of these partitions stay, ascending; `counts` has one entry for each, most of them 0."""
    if len(counts) <= dense:
        return np.flatnonzero(counts + noise.laplace(1 / epsilon, len(counts)) >= least)
    taken = np.flatnonzero(counts)
    kept = taken[counts[taken] + noise.laplace(1 / epsilon, len(taken)) >= least]
    empty = len(counts) - len(taken)
    passing = binomial(noise, empty, epsilon, least)
    return np.sort(np.concatenate([kept, generated(noise, counts, passing)]))


def generated(noise: NoiseSource, counts: Ints, number: int) -> Ints:
    """So many different partitions without records, every choice of them equally likely."""
    empty = np.flatnonzero(counts == 0)
    # By Floyd's way: each draw adds exactly one, whatever was drawn before.
    found: set[int] = set()
    for last in range(len(empty) - number, len(empty)):
        drawn = uniform(noise, last + 1)
        found.add(last if drawn in found else drawn)
    return empty[sorted(found)]
