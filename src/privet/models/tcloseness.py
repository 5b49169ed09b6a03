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
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.core import Tally, Verdict
from privet.declared import settle
from privet.errors import HierarchyError, PolicyError
from privet.hierarchy.tree import Tree
from privet.models import ground, shares
from privet.models.classcheck import ClassCheck, Reading
from privet.models.classes import Classes, Histogram, Mask, attributes
from privet.models.exact import above, compare, exact_number, largest, powers, roughly, sign, upwards
from privet.models.transport import Ways, bounds

BATCH = 32  # classes that are solved before the others are looked at again
Alike: TypeAlias = tuple[tuple[int, int], ...]  # counts of values here, and in the table

NEAR = 1e-9  # far above the rounding of sums of a few hundred shares


class Distance(Enum):
    """How far apart two distributions are."""

    VARIATIONAL = "variational"  # half the sum of |p - q|
    KL = "kl"  # the sum of p ln(p / q), in nats
    EQUAL = "equal"  # earth mover's, all values equally far from each other: the same as variational
    ORDERED = "ordered"  # earth mover's, values in an order
    HIERARCHICAL = "hierarchical"  # earth mover's, values in a tree
    COSTS = "costs"  # earth mover's, by what each change of a value costs


@dataclass(frozen=True, slots=True)
class TCloseness(ClassCheck):
    """In every class the sensitive values lie at most `t` from how they lie in the whole table.

    `distance` says what is meant by far. For "ordered", values are in the order of their numbers, or as
    `order` says, and null comes last. For "hierarchical", `tree` is a nested tree over the values, as for a
    hierarchy; null stands directly below its root. For "costs", `costs` says from 0 to 1 what it costs to
    change a value into another, the same both ways unless both are named; a pair that is not named costs 1.
    Distances are exact fractions, but for "kl", whose value is reported rounded up to six decimals and
    compared exactly.

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
    costs: Mapping[str, Mapping[str, Fraction]] | None = field(default=None, compare=False)
    taxonomy: Tree | None = field(init=False, repr=False, default=None)

    name: ClassVar[str] = "t-closeness"
    persons: ClassVar[bool] = True
    worst: ClassVar[Mapping[str, Callable[[Sequence[Any]], Any]]] = {"t": max}

    def __post_init__(self) -> None:
        settle(self)
        exact_number(f"{self.name}: t", self.t, 0, None if self.distance is Distance.KL else 1)
        object.__setattr__(self, "sensitive", attributes(self.name, self.sensitive))
        if (self.order is not None) > (self.distance is Distance.ORDERED):
            raise PolicyError(f'{self.name}: order goes with distance = "ordered"')
        if (self.tree is not None) != (self.distance is Distance.HIERARCHICAL):
            raise PolicyError(f'{self.name}: tree goes with distance = "hierarchical", and is needed there')
        if (self.costs is not None) != (self.distance is Distance.COSTS):
            raise PolicyError(f'{self.name}: costs go with distance = "costs", and are needed there')
        of_one = (self.order, self.tree, self.costs)
        if any(one is not None for one in of_one) and len(self.sensitive) > 1:
            raise PolicyError(
                f"{self.name}: an order, a tree or costs are those of one sensitive attribute; use two models"
            )
        if self.order is not None and len(set(self.order)) < max(2, len(self.order)):
            raise PolicyError(f"{self.name}: order names at least two values, each once")
        for one, row in (self.costs or {}).items():
            for other, cost in row.items():
                exact_number(f"{self.name}: costs.{one}.{other}", cost, 0, 1)
                if one == other and cost:
                    raise PolicyError(f"{self.name}: costs.{one}.{other}: a value that stays costs nothing")
        if self.tree is not None:
            object.__setattr__(self, "taxonomy", nested_tree(self.name, self.tree))

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader should know about the costs: a detour that is cheaper is taken."""
        named = [name for one, row in (self.costs or {}).items() for name in (one, *row)]
        detours = Ways.among(dict.fromkeys(named), self.costs or {}).detours
        if not detours:
            return ()
        said = "a way over others costs less than was said; the cheaper one counts"
        return (f"{self.name}: between {detours} pairs of values {said}",)

    def read_of(self, classes: Classes, tally: Tally, attribute: str) -> Reading:
        if tally.person is None:
            return self.read(classes.histogram(tally, attribute))
        histogram = classes.histogram(tally, attribute)
        if self.distance is Distance.ORDERED:
            top, bottom = shares.ordered(tally, classes, histogram, *ground.ranks(histogram, self.order))
        elif self.distance is Distance.HIERARCHICAL and self.taxonomy is not None:
            domain, place = ground.placed(self.name, histogram, self.taxonomy)
            top, bottom = shares.hierarchical(tally, classes, histogram, domain, place)
        elif self.distance is Distance.KL:
            return self._divergence(histogram)
        elif self.costs is not None:
            top, bottom = shares.transported(histogram, self.costs)
        else:
            top, bottom = shares.equal(tally, classes, histogram)
        return Reading(compare(top, bottom, self.t) > 0, {"t": largest(top, bottom) or Fraction(0)})

    def read(self, histogram: Histogram) -> Reading:
        if self.distance is Distance.KL:
            return self._divergence(histogram)
        if self.costs is not None:
            return self._transported(histogram, self.costs)
        top, bottom = self.distances(histogram)
        return Reading(compare(top, bottom, self.t) > 0, {"t": largest(top, bottom) or Fraction(0)})

    def distances(self, histogram: Histogram) -> tuple[NDArray[Any], NDArray[Any]]:
        """The exact distance of each class, as two whole numbers; not for "kl"."""
        if self.distance is Distance.ORDERED:
            return ground.ordered(histogram, self.order)
        if self.distance is Distance.HIERARCHICAL and self.taxonomy is not None:
            return ground.hierarchical(histogram, self.taxonomy)
        if self.costs is not None:
            return ground.transported(histogram, self.costs)
        return ground.equal(histogram)

    def at_least(self, histogram: Histogram) -> NDArray[np.float64]:
        """A bound from below on the distance of each class, quickly; not for "kl"."""
        if self.costs is not None:
            known = bounds(Ways.among(histogram.occurring, self.costs))
            return known.at_least(ground.surpluses(histogram)) - NEAR
        top, bottom = self.distances(histogram)
        return np.asarray(top.astype(np.float64) / bottom.astype(np.float64))

    def _transported(self, histogram: Histogram, costs: Mapping[str, Mapping[str, Fraction]]) -> Reading:
        """Solved only where bounds leave it open whether a class breaks the promise, or is the worst."""
        ways = Ways.among(histogram.occurring, costs)
        known, surplus, t = bounds(ways), ground.surpluses(histogram), roughly(self.t)
        low, high = known.at_least(surplus), known.at_most(surplus)
        exact: dict[int, Fraction] = {}
        whole = histogram.records * ways.bottom
        while True:
            doubtful = (low <= t + NEAR) & (high >= t - NEAR) | (high >= low.max(initial=0.0) - NEAR)
            doubtful[list(exact)] = False
            todo = np.flatnonzero(doubtful)[:BATCH].tolist()
            if not todo:
                break
            for at in todo:
                work = known.solve(ground.surplus_of(histogram, at))
                exact[at] = Fraction(work, int(histogram.size[at]) * whole)
                low[at] = high[at] = float(exact[at])
            low = np.maximum(low, known.at_least(surplus))  # what was solved says something of the others
        bad = low > t
        for at, found in exact.items():
            bad[at] = found > self.t
        return Reading(bad, {"t": max(exact.values(), default=Fraction(0))})

    def _divergence(self, histogram: Histogram) -> Reading:
        """Of persons, who may have several values, the sum of p ln(p / q) - p + q: the same with one each."""
        if not len(histogram.size):
            return Reading(np.zeros(0, dtype=bool), {"t": Fraction(0)})
        count, size = histogram.count.astype(np.float64), histogram.size.astype(np.float64)
        here = count / size[histogram.owner]
        there = histogram.table[histogram.value] / histogram.records
        found = histogram.summed(here * np.log(here / there))
        everywhere = Fraction(int(histogram.table.sum()), histogram.records)  # 1, but where some have several
        found += float(everywhere) - histogram.summed(here)
        slack = (1e-9 + 1e-15 * len(count)) * (1 + np.log(histogram.records)) * (1 + float(everywhere))
        bad = found > roughly(self.t)
        for members in _alike(histogram, np.abs(found - roughly(self.t)) <= slack).values():
            product, size_of, shift = self._terms(histogram, members[0], everywhere)
            bad[members] = sign(product, (self.t - shift) * size_of) > 0
        near = [members[0] for members in _alike(histogram, found >= found.max() - slack).values()]
        terms = [self._terms(histogram, at, everywhere) for at in near]
        reached = max(upwards(above(product, n) + shift) for product, n, shift in terms)
        # A class that keeps t by a hair would be rounded above it.
        return Reading(bad, {"t": reached if bad.any() else min(reached, self.t)})

    def _terms(
        self, histogram: Histogram, at: int, everywhere: Fraction
    ) -> tuple[dict[int, int], int, Fraction]:
        """A number, a size, a fraction: a logarithm over the size, plus the fraction, is the divergence."""
        of, size = histogram.members(at), int(histogram.size[at])
        counts, table = histogram.count[of].tolist(), histogram.table[histogram.value[of]].tolist()
        powers_of = [pair for c, q in zip(counts, table, strict=True) for pair in ((c, c), (q, -c))]
        total = sum(counts)
        product = powers(*powers_of, (histogram.records, total), (size, -total))
        return product, size, everywhere - Fraction(total, size)

    def loosened(self, found: Verdict, tally: Tally) -> Self:  # noqa: ARG002 - the verdict says it all
        return replace(self, t=max(self.t, Fraction(found.achieved["t"])))


def _alike(histogram: Histogram, chosen: Mask) -> dict[tuple[int, Alike], list[int]]:
    """The chosen classes by their size and by the counts of their values here and in the table."""
    found: dict[tuple[int, Alike], list[int]] = {}
    for at in np.flatnonzero(chosen).tolist():
        of = histogram.members(at)
        everywhere = histogram.table[histogram.value[of]].tolist()
        pairs = tuple(sorted(zip(histogram.count[of].tolist(), everywhere, strict=True)))
        found.setdefault((int(histogram.size[at]), pairs), []).append(at)
    return found


def nested_tree(model: str, nested: object) -> Tree:
    """The tree that a policy writes in a model, below its values at least one level."""
    try:
        found = Tree.of(nested)  # type: ignore[arg-type]
    except HierarchyError as error:
        raise PolicyError(*(f"{model}: tree: {complaint}" for complaint in error.complaints)) from None
    if not found.root.children:
        raise PolicyError(f"{model}: tree: needs values below its root")
    return found
