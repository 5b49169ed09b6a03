"""t-closeness: the sensitive values of every class lie as they do in the whole table.

Li, Li and Venkatasubramanian, "t-closeness: privacy beyond k-anonymity and l-diversity", ICDE 2007.

Every distance here is convex, so a union of classes is no farther from the table than the farther of
the two, and generalising keeps the promise. Dropping records changes the table itself, and does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privet.core import Tally
from privet.errors import HierarchyError, PolicyError
from privet.hierarchy.tree import Tree
from privet.models import ground
from privet.models.classes import ClassCheck, Histogram, Mask, Reading, attributes, exact_number
from privet.models.logarithms import above, powers, sign
from privet.models.ratios import compare, largest, roughly


class Distance(Enum):
    """How far apart two distributions are."""

    VARIATIONAL = "variational"  # half the sum of |p - q|
    KL = "kl"  # the sum of p ln(p / q), in nats
    EQUAL = "equal"  # earth mover's, all values equally far from each other: the same as variational
    ORDERED = "ordered"  # earth mover's, values in an order
    HIERARCHICAL = "hierarchical"  # earth mover's, values in a tree


@dataclass(frozen=True, slots=True)
class TCloseness(ClassCheck):
    """In every class the sensitive values lie at most `t` from how they lie in the whole table.

    `distance` says what is meant by far. For "ordered", values are in the order of their numbers, or as
    `order` says, and null comes last. For "hierarchical", `tree` is a nested tree over the values, as for a
    hierarchy; null stands directly below its root. Distances are exact fractions, but for "kl", whose
    value is reported rounded up to six decimals and compared exactly.

    Stops: skewness: learning from a class that somebody is likelier than others to have a value.
    Does not stop: finding a person's record; a class of one may be close. Add k-anonymity.

    >>> TCloseness(t=Fraction(1, 5), sensitive=("disease",), distance=Distance.EQUAL).t
    Fraction(1, 5)
    """

    t: Fraction
    sensitive: tuple[str, ...]
    distance: Distance
    order: tuple[str, ...] | None = None
    tree: Mapping[str, Any] | None = field(default=None, compare=False)
    taxonomy: Tree | None = field(init=False, repr=False, default=None)

    name: ClassVar[str] = "t-closeness"
    worst: ClassVar[Mapping[str, Callable[[Sequence[Any]], Any]]] = {"t": max}

    def __post_init__(self) -> None:
        if not isinstance(self.distance, Distance):
            raise PolicyError(f"{self.name}: distance is a Distance, not {self.distance!r}")
        exact_number(f"{self.name}: t", self.t, 0, None if self.distance is Distance.KL else 1)
        object.__setattr__(self, "sensitive", attributes(self.name, self.sensitive))
        if (self.order is not None) > (self.distance is Distance.ORDERED):
            raise PolicyError(f'{self.name}: order goes with distance = "ordered"')
        if (self.tree is not None) != (self.distance is Distance.HIERARCHICAL):
            raise PolicyError(f'{self.name}: tree goes with distance = "hierarchical", and is needed there')
        if (self.order is not None or self.tree is not None) and len(self.sensitive) > 1:
            raise PolicyError(
                f"{self.name}: an order or a tree is that of one sensitive attribute; use two models"
            )
        if self.order is not None:
            object.__setattr__(self, "order", tuple(self.order))
            if len(set(self.order)) < max(2, len(self.order)):
                raise PolicyError(f"{self.name}: order names at least two values, each once")
        if self.tree is not None:
            object.__setattr__(self, "taxonomy", nested_tree(self.name, self.tree))

    def read(self, histogram: Histogram) -> Reading:
        if self.distance is Distance.KL:
            return self._divergence(histogram)
        top, bottom = self.distances(histogram)
        return Reading(compare(top, bottom, self.t) > 0, {"t": largest(top, bottom) or Fraction(0)})

    def distances(self, histogram: Histogram) -> tuple[NDArray[Any], NDArray[Any]]:
        """The exact distance of each class, as two whole numbers; not for "kl"."""
        if self.distance is Distance.ORDERED:
            return ground.ordered(histogram, self.order)
        if self.distance is Distance.HIERARCHICAL and self.taxonomy is not None:
            return ground.hierarchical(histogram, self.taxonomy)
        return ground.equal(histogram)

    def _divergence(self, histogram: Histogram) -> Reading:
        if not len(histogram.size):
            return Reading(np.zeros(0, dtype=bool), {"t": Fraction(0)})
        count, size = histogram.count.astype(np.float64), histogram.size.astype(np.float64)
        here = count / size[histogram.owner]
        there = histogram.table[histogram.value] / histogram.records
        found = histogram.summed(here * np.log(here / there))
        slack = (1e-9 + 1e-15 * len(count)) * (1 + np.log(histogram.records))
        bad = found > roughly(self.t)
        for entries, at in _alike(histogram, np.abs(found - roughly(self.t)) <= slack).items():
            size_of, product = _product(entries, histogram.records)
            bad[at] = sign(product, self.t * size_of) > 0
        near = _alike(histogram, found >= found.max() - slack)
        reached = max(above(product, n) for n, product in (_product(e, histogram.records) for e in near))
        # A class that keeps t by a hair would be rounded above it.
        return Reading(bad, {"t": reached if bad.any() else min(reached, self.t)})

    def nearest(self, tally: Tally) -> Self:
        return replace(self, t=max(self.t, Fraction(self.check(tally).achieved["t"])))


def _alike(histogram: Histogram, chosen: Mask) -> dict[tuple[tuple[int, int], ...], list[int]]:
    """The chosen classes by the counts of their values here and in the table."""
    found: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for at in np.flatnonzero(chosen).tolist():
        of = histogram.members(at)
        everywhere = histogram.table[histogram.value[of]].tolist()
        pairs = tuple(sorted(zip(histogram.count[of].tolist(), everywhere, strict=True)))
        found.setdefault(pairs, []).append(at)
    return found


def _product(entries: tuple[tuple[int, int], ...], records: int) -> tuple[int, dict[int, int]]:
    """The class's size n, and the product of (c N / n Q)^c, whose logarithm is n times the divergence."""
    size = sum(count for count, _ in entries)
    shares = [pair for count, there in entries for pair in ((count, count), (there, -count))]
    return size, powers(*shares, (records, size), (size, -size))


def nested_tree(model: str, nested: object) -> Tree:
    """The tree that a policy writes in a model, below its values at least one level."""
    try:
        found = Tree.of(nested)  # type: ignore[arg-type]
    except HierarchyError as error:
        raise PolicyError(*(f"{model}: tree: {complaint}" for complaint in error.complaints)) from None
    if not found.root.children:
        raise PolicyError(f"{model}: tree: needs values below its root")
    return found
