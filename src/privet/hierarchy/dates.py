"""Days under months, quarters, years and decades."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache
from itertools import groupby, pairwise
from types import MappingProxyType
from typing import ClassVar

from privet.core import Hierarchy
from privet.declared import settle
from privet.domain import BETWEEN, Domain, Group, Node, Path, Value, arrange, distinct, refuse
from privet.errors import HierarchyError, one_of

# Finest first. Weeks are not among them: a week may lie in two months, so they do not nest.
LEVELS: Mapping[str, Callable[[date], str]] = MappingProxyType(
    {
        "day": date.isoformat,
        "month": lambda day: f"{day.year:04}-{day.month:02}",
        "quarter": lambda day: f"{day.year:04}-Q{(day.month + 2) // 3}",
        "year": lambda day: f"{day.year:04}",
        "decade": lambda day: f"{day.year // 10 * 10:04}s",
    }
)

WEEK = "week"  # the step of ranges that is no level

_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ].+)?")


@dataclass(frozen=True, slots=True)
class Dates(Hierarchy):
    """Dates grouped by calendar, finest level first; the value itself is below the finest.

    Reads ISO dates and date-times, whose date as written counts; or whatever `format` says, in the
    language of `strptime`. `bottom`: days of years before that one are never told apart, as for the births of
    the very old.

    Ranges that a search makes go from one group of the finest level to another; with `step="week"` from the
    Monday of a week to the Sunday of one.

    >>> march = Dates(levels=("month", "year")).domain(["2024-03-05", "2024-03-17"])
    >>> [node.label for node in march.root.walk()]
    ['*', '2024', '2024-03', '2024-03-05', '2024-03-17']
    """

    levels: Sequence[str] = ("month", "quarter", "year", "decade")
    format: str | None = None
    bottom: int | None = None
    step: str | None = None

    name: ClassVar[str] = "dates"

    def __post_init__(self) -> None:
        settle(self)
        known = tuple(LEVELS)
        complaints = [one_of("levels: each", known, level) for level in self.levels if level not in known]
        if not complaints:
            ranks = [known.index(level) for level in self.levels]
            if not ranks or any(a >= b for a, b in pairwise(ranks)):
                complaints.append(f"levels: some of {', '.join(known)}, in this order and each once")
        if self.format is not None and not _names_a_day(self.format):
            complaints.append("format: must hold year, month and day, as in '%d.%m.%Y'")
        if self.bottom is not None and not 1 <= self.bottom <= 9999:
            complaints.append("bottom: a year, such as 1935")
        if self.step not in {None, WEEK}:
            complaints.append(one_of("step", (WEEK,), self.step))
        if complaints:
            raise HierarchyError(*complaints)

    def domain(self, values: Sequence[Value]) -> Domain:
        texts, null = distinct(values)
        days = [(day, text) for text in texts if (day := self.day(text)) is not None]
        form = "ISO dates" if self.format is None else f"dates of the form {self.format}"
        refuse((len(texts) - len(days), f"not {form}", "give their format"), of=len(texts))
        rows: list[tuple[str, Path]] = []
        days.sort()
        for day, text in days:
            if self.bottom is not None and day.year < self.bottom:
                rows.append((text, (Group(f"<{self.bottom:04}"),)))
                continue
            labels = [LEVELS[level](day) for level in reversed(self.levels)]
            rows.append((text, tuple(Group(label) for label in dict.fromkeys((*labels, text)))))
        steps = tuple(self._steps([day for day, _ in days]))
        return arrange(rows, null=null, ranged=True, steps=steps)

    def _steps(self, days: Sequence[date]) -> Iterator[Node]:
        """The weeks of these days, which ascend; those that are never told apart are one step."""
        if self.step is None:
            return
        spans = [self._week(day) for day in days]
        lo = 0
        for span, alike in groupby(spans):
            hi = lo + len(list(alike))
            yield Node(span, lo, hi)
            lo = hi

    def _week(self, day: date) -> str:
        if self.bottom is not None and day.year < self.bottom:
            return f"<{self.bottom:04}"
        monday = day.toordinal() - day.weekday()
        ends = (date.fromordinal(min(at, date.max.toordinal())) for at in (monday, monday + 6))
        return BETWEEN.join(map(date.isoformat, ends))

    def uncovered(self, values: Sequence[Value]) -> list[str]:
        return [value for value in distinct(values)[0] if self.day(value) is None]

    def day(self, text: str) -> date | None:
        """The day that a text names, if it names one."""
        try:
            if self.format is not None:
                return datetime.strptime(text, self.format).date()  # noqa: DTZ007 (the date as written)
            return datetime.fromisoformat(text).date() if _ISO.fullmatch(text) else None
        except ValueError:
            return None

    def to_policy(self) -> dict[str, object]:
        policy: dict[str, object] = {"type": self.name, "levels": list(self.levels)}
        said = {"format": self.format, "bottom": self.bottom, "step": self.step}
        return policy | {key: value for key, value in said.items() if value is not None}


DAYS = (
    "%d.%m.%Y",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%Y%m%d",
    "%d %b %Y",
    "%d-%b-%Y",
    "%b %d, %Y",
    "%d %B %Y",
    "%B %d, %Y",
)
TIMES = ("", " %H:%M:%S", " %H:%M", " %I:%M:%S %p", " %I:%M %p", "T%H:%M:%S")
SHORTEST = 6  # characters, as of 199011; and a year has four digits in every form
_YEAR = re.compile(r"\d{4}")
LIKELY = range(1850, 2101)  # years of people; 8 digits that name others are rather numbers


def formats_of(texts: Sequence[str]) -> list[str]:
    """The forms in which all of these texts are dates, day before month first; none where they are ISO.

    >>> formats_of(["31.12.1990", "1.2.1991"]), formats_of(["5/19/2006 0:00:00"]), formats_of(["4/5/2006"])
    (['%d.%m.%Y'], ['%m/%d/%Y %H:%M:%S'], ['%d/%m/%Y', '%m/%d/%Y'])
    """
    few, found = texts[:20], []
    if not few or not all(_YEAR.search(text) and len(text) >= SHORTEST for text in few):
        return []
    for form, read in _readers():
        if all((day := read(text)) and day.year in LIKELY for text in few) and all(map(read, texts)):
            found.append(form)
    return found


@cache
def _readers() -> list[tuple[str, Callable[[str], date | None]]]:
    """Every form with what reads it; made once, as a table may have thousands of columns."""
    return [(form, Dates(format=form).day) for form in (day + time for day in DAYS for time in TIMES)]


def _names_a_day(form: str) -> bool:
    """Does a date survive being written and read again?"""
    sample = date(2023, 11, 28)
    try:
        if sample.strftime(form) == sample.replace(year=2022).strftime(form):
            return False  # it names no year; from Python 3.13 on, reading such a date warns
        return datetime.strptime(sample.strftime(form), form).date() == sample  # noqa: DTZ007 (no clock involved)
    except (ValueError, re.error):
        return False
