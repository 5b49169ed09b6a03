"""What everybody knows: a register of people, and views of them published with their conditions.

A view says which people it selects, by a condition on public attributes, and the multiset of sensitive
values that these people have: who of them has which is what it does not say.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from typing import Any

from privet.domain import Value, plain
from privet.errors import InputError, one_of
from privet.hierarchy.numbers import decimal

OPERATORS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
_COMPARISON = re.compile(r"\s*(?P<attribute>.+?)\s*(?P<operator><=|>=|<|>|=)\s*(?P<value>.*?)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Comparison:
    """`age >= 26`: numbers are compared as numbers where the whole column has numbers, else as text."""

    attribute: str
    operator: str
    value: str = field(repr=False)

    def __post_init__(self) -> None:
        if self.operator not in OPERATORS:
            raise InputError(one_of("a comparison", list(OPERATORS), self.operator))

    @classmethod
    def parse(cls, text: str) -> Comparison:
        """A comparison from its text.

        >>> str(Comparison.parse("age>=26"))
        'age >= 26'
        """
        found = _COMPARISON.fullmatch(text)
        if found is None:
            raise InputError("a condition is an attribute, one of <= >= < > =, and a value: age >= 26")
        return cls(**found.groupdict())

    def __str__(self) -> str:
        return f"{self.attribute} {self.operator} {self.value}"


@dataclass(frozen=True)
class Register:
    """Who there is, with what everybody may know of them; nobody twice."""

    keys: tuple[str, ...] = field(repr=False)
    columns: Mapping[str, tuple[Value, ...]] = field(repr=False)

    def __post_init__(self) -> None:
        if not self.keys:
            raise InputError("the register has not one person")
        twice = len(self.keys) - len(set(self.keys))
        if twice:
            raise InputError(
                f"the register has {twice} keys that somebody before has too; a key is one person's"
            )
        short = [name for name, column in self.columns.items() if len(column) != len(self.keys)]
        if short:
            raise InputError(*(f"the register's column {name} is not as long as its keys" for name in short))

    @cached_property
    def people(self) -> Mapping[str, int]:
        return {key: at for at, key in enumerate(self.keys)}

    @cached_property
    def numbers(self) -> Mapping[str, tuple[Decimal | None, ...] | None]:
        """Each column as numbers, or None where some value is none."""
        return {name: _numbers(column) for name, column in self.columns.items()}

    def selected(self, where: Iterable[Comparison]) -> frozenset[int]:
        """The people whom every comparison is true of; a missing value is never known to be true."""
        chosen = set(range(len(self.keys)))
        for comparison in where:
            if comparison.attribute not in self.columns:
                raise InputError(one_of("a condition's attribute", list(self.columns), comparison.attribute))
            chosen &= self._fulfilling(comparison)
        return frozenset(chosen)

    def _fulfilling(self, comparison: Comparison) -> set[int]:
        holds = OPERATORS[comparison.operator]
        numbers, bound = self.numbers[comparison.attribute], _number(comparison.value)
        if numbers is not None and bound is not None:
            return {at for at, number in enumerate(numbers) if number is not None and holds(number, bound)}
        column = self.columns[comparison.attribute]
        return {at for at, value in enumerate(column) if value is not None and holds(value, comparison.value)}

    def named(self, keys: Iterable[str]) -> frozenset[int]:
        """The people with these keys."""
        wanted = list(keys)
        unknown = sum(key not in self.people for key in wanted)
        if unknown:
            raise InputError(f"{unknown} of {len(wanted)} people of a view are not in the register")
        return frozenset(self.people[key] for key in wanted)


@dataclass(frozen=True)
class View:
    """Some people, and the values they have among them."""

    people: frozenset[int] = field(repr=False)
    counts: tuple[tuple[Value, int], ...] = field(repr=False)  # by value; how many of the people have it
    name: str = ""
    where: tuple[Comparison, ...] | None = field(default=None, repr=False)  # None: only the people are known

    def __post_init__(self) -> None:
        held = sum(count for _, count in self.counts)
        if held != len(self.people):
            raise InputError(
                f"{self.name or 'a view'}: its condition selects {len(self.people)} people of the register, "
                f"but it has {held} values; one value for each is meant"
            )
        if not self.people:
            raise InputError(f"{self.name or 'a view'}: selects nobody")

    @classmethod
    def of(
        cls,
        people: Iterable[int],
        values: Iterable[Value],
        name: str = "",
        where: tuple[Comparison, ...] | None = None,
    ) -> View:
        return cls(frozenset(people), counted(values), name, where)

    @property
    def largest(self) -> int:
        """How many people share the commonest value."""
        return max(count for _, count in self.counts)


def counted(values: Iterable[Value]) -> tuple[tuple[Value, int], ...]:
    """A multiset in an order that does not depend on how it came: null last.

    >>> counted(["b", None, "a", "b"])
    (('a', 1), ('b', 2), (None, 1))
    """
    return tuple(sorted(Counter(values).items(), key=lambda entry: (entry[0] is None, entry[0] or "")))


def described(where: Sequence[Comparison] | None) -> str:
    """A condition as people read it."""
    if where is None:
        return "people named one by one"
    return " and ".join(map(str, where)) or "everybody"


def _number(text: str) -> Decimal | None:
    try:
        number = decimal(text)
    except ValueError:
        return None
    return number if number.is_finite() else None


def _numbers(column: Sequence[Value]) -> tuple[Decimal | None, ...] | None:
    found = [None if value is None else _number(value) for value in column]
    wrong = any(number is None and value is not None for number, value in zip(found, column, strict=True))
    return None if wrong else tuple(found)


def interval(attribute: str, low: Decimal, high: Decimal) -> tuple[Comparison, ...]:
    """From one number to another, both in; one number by itself.

    >>> described(interval("age", Decimal(26), Decimal(28)))
    'age >= 26 and age <= 28'
    """
    if low == high:
        return (Comparison(attribute, "=", plain(low)),)
    return (Comparison(attribute, ">=", plain(low)), Comparison(attribute, "<=", plain(high)))
