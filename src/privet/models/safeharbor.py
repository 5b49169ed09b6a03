"""Safe harbour: no date finer than its year, no postal code finer than its area, no age above 89.

45 CFR 164.514(b)(2), the "safe harbor" of the HIPAA privacy rule. Eighteen kinds of identifiers go; of what
may stay, three are coarsened by rule. Which columns are identifiers is for the policy to say: they are not
published. This promise is about the three that are, and is checked on the labels that leave.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Self

import numpy as np

from privet.core import Column, PrivacyModel, Tally, Verdict
from privet.declared import settle
from privet.domain import ANY, Value
from privet.hierarchy.numbers import read

# Three-digit areas with 20,000 people or fewer, which leave as 000: in the census of 2000, from the guidance
# of the US Department of Health and Human Services of 26 November 2012; in that of 2010; and those of fleets
# and offices abroad, in which nobody is counted. An area that has grown since says less than it might.
SMALL_AREAS = (
    *("036", "059", "063", "102", "203", "556", "692", "790", "821", "823", "830", "831", "878", "879"),
    *("884", "890", "893"),
    *("205", "369", "753", "772"),
    *("090", "091", "092", "093", "094", "095", "096", "097", "098", "099", "340"),
    *("962", "963", "964", "965", "966"),
)
OLDEST = 89
NO_COLUMN = "no column of dates, postal codes or ages is named, so that no value was looked at"

_AREA = re.compile(
    r"([0-9]{3})(?:\*{2}|\*{6,7})"
)  # of 53715, 537151234 and 53715-1234; of 3601 a zero is lost
_YEAR = re.compile(r"[0-9]{4}s?|<[0-9]{4}")
_YEARS = re.compile(r"\[([0-9]{4})-([0-9]{4})\)")  # of days as fractions of a year: [1963-1964)
_FROM = re.compile(r"\[(?P<low>-?[0-9]+(?:\.[0-9]+)?)\D.*\)|>=(?P<top>-?[0-9]+(?:\.[0-9]+)?)|<.+")


@dataclass(frozen=True, slots=True)
class SafeHarbor(PrivacyModel):
    """Dates leave as years, postal codes as areas of more than 20,000 people, ages above 89 as one group.

    Stops: finding a person by an exact date, a small area or a very high age, as the rule asks.
    Does not stop: finding a person by other values that leave; see k-anonymity. The rule also asks that the
    publisher knows of nothing in the data that would still identify somebody.

    >>> SafeHarbor(dates=("admitted",), areas=("zip",), ages=("age",)).ages
    ('age',)
    """

    dates: Sequence[str] = ()
    areas: Sequence[str] = ()
    ages: Sequence[str] = ()

    name: ClassVar[str] = "safe-harbor"
    persons: ClassVar[bool] = True  # it is about values, whosever they are
    monotone: ClassVar[bool] = True
    monotone_with_suppression: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle(self)

    @property
    def remarks(self) -> tuple[str, ...]:
        """A table may have no such column, and the rest of the rule stays; but then nothing was looked at."""
        return () if self.known() else (f"{self.name}: {NO_COLUMN}",)

    def known(self) -> tuple[str, ...] | None:
        return (*self.dates, *self.areas, *self.ages) or None

    def check(self, tally: Tally) -> Verdict:
        rules: Mapping[str, Callable[[Value], bool]] = {
            **dict.fromkeys(self.dates, coarse_date),
            **dict.fromkeys(self.areas, coarse_area),
            **dict.fromkeys(self.ages, coarse_age),
        }
        broken, at_risk = 0, np.zeros(tally.cells, dtype=bool)
        for column in tally.quasi:
            if column.name in rules:
                fine = _too_fine(column, rules[column.name])
                broken += len(np.unique(column.codes[fine[column.codes]]))
                at_risk |= fine[column.codes]
        return Verdict({"values": broken}, broken, int(tally.counts[at_risk].sum()))

    def nearest(self, tally: Tally) -> Self:  # noqa: ARG002 - a model's form
        """A rule has no parameter that could be relaxed."""
        return self


def _too_fine(column: Column, allowed: Callable[[Value], bool]) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.array([not allowed(value) for value in column.domain.values], dtype=bool)


def coarse_date(label: Value) -> bool:
    """A year, several, or nothing.

    >>> [coarse_date(label) for label in ("1987", "1980s", "<1936", "[1987-1988)", None, "1987-05")]
    [True, True, True, True, True, False]
    """
    if label is None or label == ANY or _YEAR.fullmatch(label) is not None:
        return True
    years = _YEARS.fullmatch(label)
    return years is not None and int(years[1]) < int(years[2])


def coarse_area(label: Value) -> bool:
    """Three digits of an area that is large enough, 000 for the others, or less.

    >>> [coarse_area(label) for label in ("537**", "000**", "5****", "036**", "360*", "53715", "*")]
    [True, True, True, False, False, False, True]
    """
    if label is None or label == ANY or re.fullmatch(r"[0-9]{0,2}\*+", label):
        return True
    area = _AREA.fullmatch(label)
    return area is not None and area[1] not in SMALL_AREAS


def coarse_age(label: Value) -> bool:
    """At most 89, or everybody from there on together.

    >>> [coarse_age(label) for label in ("89", "[85-95)", ">=90", "90", "[90-95)", ">=95")]
    [True, True, True, False, False, False]
    """
    if label is None or label == ANY:
        return True
    number = read(label)
    if number is not None:
        return number < OLDEST + 1
    bounds = _FROM.fullmatch(label)
    if bounds is None:
        return False
    if bounds["top"] is not None:  # one group from there on
        return Decimal(bounds["top"]) <= OLDEST + 1
    return bounds["low"] is None or Decimal(bounds["low"]) < OLDEST + 1
