"""What somebody concludes who sees a release and knows the algorithm: exactly, by looking at every table.

Given are the chain of groupings, the bags of the released one, and the rule. Every table with these bags is
run through the algorithm; those for which it would have released something else are ruled out. Small tables
only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from math import factorial, prod
from typing import Any

import numpy as np

from privet.disclose.safe.chain import Groups
from privet.disclose.safe.lattice import choose
from privet.disclose.safe.predicates import bag, diverse
from privet.errors import UnsupportedError

TABLES = 200_000  # tables that are looked at

Table = tuple[Any, ...]  # the value of each person, in public order


@dataclass(frozen=True)
class Belief:
    """The tables that cannot be told apart by the release alone, and by release and algorithm together."""

    instances: int
    disclosure: tuple[Table, ...] = field(repr=False)

    @property
    def left(self) -> int:
        return len(self.disclosure)

    def distribution(self, person: int) -> dict[Any, int]:
        """In how many of the tables left a person has each value."""
        found: dict[Any, int] = {}
        for table in self.disclosure:
            found[table[person]] = found.get(table[person], 0) + 1
        return found

    def keeps(self, l: int) -> bool:
        """Is every person's value still entropy l-diverse?"""
        return all(diverse(bag(column), l) for column in zip(*self.disclosure, strict=True))

    @property
    def certain(self) -> int:
        """How many people have one value in every table left."""
        return sum(len(set(column)) == 1 for column in zip(*self.disclosure, strict=True))


def believed(
    chain: Sequence[Groups],
    index: int | None,
    bags: Mapping[int, Sequence[Any]],
    l: int,
    *,
    rule: str = "permutation",
    values: Sequence[Any] = (),
) -> Belief:
    """From the released index and the bag of each of its groups.

    For `None`, when nothing was released, `bags` is empty and `values` are all that anybody could have.
    """
    people = len(chain[0])
    if index is None:
        _refuse_many(len(values) ** people)
        every: Iterator[Table] = product(values, repeat=people)
        coded = {value: at for at, value in enumerate(values)}
    else:
        _refuse_many(prod(_orders(bags[group]) for group in bags))
        every = arrangements(chain[index], bags)
        distinct = dict.fromkeys(value for one in bags.values() for value in one)
        coded = {value: at for at, value in enumerate(distinct)}
    ones = np.ones(people, dtype=np.int64)
    many, kept = 0, []
    for table in every:
        many += 1
        codes = np.array([coded[value] for value in table], dtype=np.int64)
        if choose(chain, codes, ones, l, rule) == index:
            kept.append(table)
    return Belief(many, tuple(kept))


def released(groups: Groups, table: Table) -> dict[int, tuple[Any, ...]]:
    """What a grouping shows of a table: the bag of each group."""
    found: dict[int, list[Any]] = {}
    for group, value in zip(groups.tolist(), table, strict=True):
        found.setdefault(group, []).append(value)
    return {group: tuple(sorted(values)) for group, values in found.items()}


def arrangements(groups: Groups, bags: Mapping[int, Sequence[Any]]) -> Iterator[Table]:
    """Every table that has these bags."""
    members = {group: np.flatnonzero(groups == group).tolist() for group in bags}
    for orders in product(*(list(orderings(bags[group])) for group in bags)):
        table: list[Any] = [None] * len(groups)
        for group, order in zip(bags, orders, strict=True):
            for person, value in zip(members[group], order, strict=True):
                table[person] = value
        yield tuple(table)


def orderings(values: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """The different orders of a bag.

    >>> list(orderings("aab"))
    [('a', 'a', 'b'), ('a', 'b', 'a'), ('b', 'a', 'a')]
    """
    if not values:
        yield ()
        return
    for value in sorted(set(values)):
        rest = list(values)
        rest.remove(value)
        for order in orderings(rest):
            yield (value, *order)


def _orders(values: Sequence[Any]) -> int:
    return factorial(len(values)) // prod(factorial(count) for count in bag(values))


def _refuse_many(tables: int) -> None:
    if tables > TABLES:
        raise UnsupportedError(f"there are {tables:,} tables to look at; more than {TABLES:,} are refused")
