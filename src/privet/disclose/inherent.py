"""What somebody who knows the algorithm learns: inherent against apparent distributions.

An algorithm looks at the values of all people and releases groups with the bag of values of each. The
disclosure set of a release is every assignment of values on which the algorithm could have released the
same; the inherent distribution of a person is their value over that set, weighted by how likely the
algorithm's own chance is to do so. An algorithm is coincident where that is what the groups show anyway.
Zhang 2010, chapter 5, definitions 18 to 20.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import factorial, log, prod, sqrt
from typing import Any, TypeAlias

import numpy as np

from privet.disclose.safe.adversary import orderings
from privet.errors import UnsupportedError

Values: TypeAlias = tuple[Hashable, ...]  # of each person, in public order
Partition: TypeAlias = tuple[tuple[int, ...], ...]  # people by group
Bags: TypeAlias = tuple[tuple[Hashable, ...], ...]  # the values of each group, sorted
# For each partition that may be released, how likely that is; the empty partition: nothing is.
Algorithm: TypeAlias = Callable[[Values], Mapping[Partition, Fraction]]

MOST = 200_000  # assignments that are looked at one by one


@dataclass(frozen=True)
class Inherent:
    """What is known of everybody after a release. For the steward's eyes: it holds values."""

    partition: Partition
    apparent: tuple[Mapping[Hashable, Fraction], ...] = field(repr=False)  # by person
    inherent: tuple[Mapping[Hashable, Fraction], ...] = field(repr=False)
    assignments: int  # that are still possible; of a sample, those that were met
    draws: int | None = None  # of a sample, how many counted; None: every assignment was tried

    @property
    def exact(self) -> bool:
        return self.draws is None

    @property
    def coincident(self) -> bool:
        return self.farthest <= self.tolerance

    @property
    def tolerance(self) -> float:
        """How far a sample may be off by chance, for anybody's any value, but once in a million samples.

        Hoeffding's bound for each person and value, added up over all of them.
        """
        if self.draws is None:
            return 0.0
        asked = sum(len(seen) for seen in self.apparent)
        return min(1.0, sqrt(log(2 * max(asked, 1) / 1e-6) / (2 * self.draws))) if self.draws else 1.0

    @property
    def farthest(self) -> Fraction:
        """How far the two are apart at most, over people and values."""
        return max(
            (
                abs(seen.get(value, Fraction(0)) - known.get(value, Fraction(0)))
                for seen, known in zip(self.apparent, self.inherent, strict=True)
                for value in {*seen, *known}
            ),
            default=Fraction(0),
        )

    @property
    def certain(self) -> int:
        """How many people's value is known for certain, though their group shows several."""
        return sum(
            max(known.values(), default=Fraction(0)) == 1 and len(seen) > 1 and not self.coincident
            for seen, known in zip(self.apparent, self.inherent, strict=True)
        )


def bags(partition: Partition, values: Values) -> Bags:
    """What a release shows: the values of each group, without their order."""
    return tuple(tuple(sorted((values[person] for person in group), key=repr)) for group in partition)


def exactly(algorithm: Algorithm, values: Sequence[Hashable], partition: Partition) -> Inherent:
    """The inherent distributions of a release, by trying every assignment of the values."""
    many = factorial(len(values)) // prod(factorial(times) for times in Counter(values).values())
    if many > MOST:
        raise UnsupportedError(
            f"{many} assignments of values are too many to try one by one ({MOST} at most); take a sample"
        )
    shown = bags(partition, tuple(values))
    weights: dict[Values, Fraction] = {}
    for order in orderings(tuple(values)):
        if bags(partition, order) == shown:
            chance = algorithm(order).get(partition, Fraction(0))
            if chance:
                weights[order] = chance
    return _of(partition, tuple(values), weights, None)


def sampled(
    run: Callable[[Values], Partition],
    values: Sequence[Hashable],
    partition: Partition,
    *,
    tries: int,
    rng: np.random.Generator,
) -> Inherent:
    """The same from a sample: values are exchanged inside groups, and the algorithm runs again.

    Only what shows the same bags can be in the disclosure set, so nothing else is drawn; a draw counts
    where the algorithm releases the same groups again.
    """
    met: dict[Values, int] = {}
    for _ in range(tries):
        mixed: list[Any] = list(values)
        for group in partition:
            for person, other in zip(group, rng.permutation(len(group)).tolist(), strict=True):
                mixed[person] = values[group[other]]
        order = tuple(mixed)
        if run(order) == partition:
            met[order] = met.get(order, 0) + 1
    weights = {order: Fraction(times) for order, times in met.items()}
    return _of(partition, tuple(values), weights, sum(met.values()))


def _of(
    partition: Partition, values: Values, weights: Mapping[Values, Fraction], draws: int | None
) -> Inherent:
    total = sum(weights.values(), Fraction(0))
    apparent: list[dict[Hashable, Fraction]] = [{} for _ in values]
    inherent: list[dict[Hashable, Fraction]] = [{} for _ in values]
    for group in partition:
        seen = Counter(values[person] for person in group)
        for person in group:
            apparent[person] = {value: Fraction(times, len(group)) for value, times in seen.items()}
            for order, weight in weights.items():
                mine = inherent[person]
                mine[order[person]] = mine.get(order[person], Fraction(0)) + weight / total
    return Inherent(partition, tuple(apparent), tuple(inherent), len(weights), draws)


def first_that_holds(
    partitions: Sequence[Partition], holds: Callable[[tuple[Hashable, ...]], bool]
) -> Algorithm:
    """The algorithm that releases the first partition in which every group holds: what most searches do."""

    def run(values: Values) -> Mapping[Partition, Fraction]:
        for partition in partitions:
            if all(holds(bag) for bag in bags(partition, values)):
                return {partition: Fraction(1)}
        return {(): Fraction(1)}

    return run


def groups(*texts: Iterable[int]) -> Partition:
    """A partition from people's numbers.

    >>> groups([2, 1], [3])
    ((1, 2), (3,))
    """
    return tuple(sorted(tuple(sorted(text)) for text in texts))
