"""A hierarchy chosen by what the values look like: a first guess for the steward to improve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from privet.core import Hierarchy
from privet.domain import Domain, Value, distinct
from privet.hierarchy.dates import WEEK, Dates, formats_of
from privet.hierarchy.flat import Flat
from privet.hierarchy.intervals import Intervals
from privet.hierarchy.numbers import read
from privet.hierarchy.prefix import Prefix

MANY = 20  # so many different codes of one length are rather postal codes than amounts
LONG = 5


@dataclass(frozen=True, slots=True)
class Auto(Hierarchy):
    """Intervals for numbers, a calendar for dates, prefixes for codes, and nothing for the rest."""

    name: ClassVar[str] = "auto"

    def domain(self, values: Sequence[Value]) -> Domain:
        return draft(values).domain(values)

    def uncovered(self, values: Sequence[Value]) -> list[str]:
        return draft(values).uncovered(values)

    def to_policy(self) -> dict[str, object]:
        return {"type": self.name}


def draft(values: Sequence[Value]) -> Intervals | Dates | Prefix | Flat:
    """The hierarchy that these values suggest. It covers every one of them.

    >>> [draft(values).name for values in (["02139", "10001"], ["7", "12"], ["2024-03-05", None], ["red"])]
    ['prefix', 'intervals', 'dates', 'flat']
    """
    texts, _ = distinct(values)
    if not texts:
        return Flat()
    if len(texts[0]) == 8 and (forms := formats_of(texts)):
        return Dates(format=forms[0], step=WEEK)
    if length := _code_length(texts):
        return Prefix(keep=tuple(range(length - 2, 0, -2)) or (1,))
    if all(read(text) is not None for text in texts):
        return Intervals()
    if not (dates := Dates(step=WEEK)).uncovered(texts):
        return dates
    if forms := formats_of(texts):
        return Dates(format=forms[0], step=WEEK)
    return Flat()


def _code_length(texts: Sequence[str]) -> int | None:
    """How long the digit codes are, if the values look like such: a number has no leading zeros."""
    length = len(texts[0])
    if length < 2 or not all(len(text) == length and text.isascii() and text.isdigit() for text in texts):
        return None
    zeros = any(text.startswith("0") for text in texts)
    return length if zeros or (length >= LONG and len(texts) >= MANY) else None
