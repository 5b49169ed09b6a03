"""A column of a draft whose role and hierarchy are decided, as the rules of a preset look at it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from privet.core import Hierarchy, Role
from privet.hierarchy.numbers import read as number


@dataclass(frozen=True)
class Coarsened:
    """A column with its role decided, and its hierarchy."""

    name: str
    role: Role
    hierarchy: Hierarchy
    reason: str
    values: Sequence[str] = ()  # the different ones, or as many as were looked at
    label: str = ""  # what statistics files call it in full

    @property
    def called(self) -> str:
        return f"{self.name} {self.label}"


def is_whole(value: str) -> bool:
    found = number(value)
    return found is not None and found == int(found)


def whole(values: Sequence[str]) -> list[int] | None:
    """The values as whole numbers; None where one of them is none."""
    found = [number(value) for value in values]
    numbers = [int(n) for n in found if n is not None and n == int(n)]
    return numbers if numbers and len(numbers) == len(values) else None


def like(shape: Callable[[str], object], column: Coarsened) -> bool:
    """Do most of the values have a shape?"""
    return bool(column.values) and sum(bool(shape(value)) for value in column.values) * 2 > len(column.values)
