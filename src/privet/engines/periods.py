"""Months, quarters, weeks and half-years that a statistics file holds as plain numbers, said as such.

Stata counts them from 1960, SPSS has the seconds of their first day since 1582, SAS its days since 1960. The
kind stands in the format of the variable only; whoever reads 453 without it takes it for a measure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, timedelta

import polars as pl

_STATA = re.compile(r"%-?t([wmqhdcC])|%-?(d)")
_SAS_DAYS = re.compile(
    r"(?:MONYY|YYMM|MMYY|YYQ|YYMON|QTR|MONTH|MONNAME|DAY|DOWNAME|WEEK|JULIAN|JULDAY|YEAR|DATE|DDMM|WORDDAT)",
)
_FIRST, _OCTOBER = date(1960, 1, 1), date(1582, 10, 14)
_DAY, _FARTHEST = 86_400, 1_000_000  # seconds of one; days from the first that can be said
_MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")


def said(column: pl.Series, kind: str, format: str) -> pl.Series:  # noqa: A002 - the form's own word
    """The column with its periods as texts, where its format says that it has some.

    >>> said(pl.Series([453, None]), "%tm", "stata").to_list()
    ['1997-10', None]
    """
    by = {"stata": _of_stata, "spss": _of_spss}.get(format, _of_sas)(kind)
    if by is None or not (column.dtype.is_numeric() or column.dtype == pl.String):  # days are days already
        return column
    return column.map_elements(lambda number: _by(by, number), return_dtype=pl.String)


def _by(by: Callable[[float], str], number: float | str) -> str:
    """What cannot be one stays what it is, as the label of a missing value does."""
    try:
        return by(float(number))
    except (OverflowError, ValueError, IndexError):
        return str(number)


def _of_stata(kind: str) -> Callable[[float], str] | None:
    found = _STATA.match(kind)
    if found is None:
        return None
    ways: Mapping[str, Callable[[float], str]] = {
        "w": lambda n: _in_year(n, 52, "W", 2),
        "m": lambda n: _in_year(n, 12, "", 2),
        "q": lambda n: _in_year(n, 4, "Q", 1),
        "h": lambda n: _in_year(n, 2, "H", 1),
        "d": lambda n: _day(_FIRST, n),
    }
    return ways.get(found[1] or found[2], _milliseconds)


def _milliseconds(number: float) -> str:
    return _day(_FIRST, number / 1000 / _DAY)


def _of_spss(kind: str) -> Callable[[float], str] | None:
    kind = kind.upper()
    if kind.startswith("MONTH"):
        return lambda n: _MONTHS[_place(n)]
    if kind.startswith("WKDAY"):
        return lambda n: _WEEKDAYS[_place(n)]
    return (lambda n: _day(_OCTOBER, n / _DAY)) if kind.startswith(("MOYR", "QYR", "WKYR")) else None


def _of_sas(kind: str) -> Callable[[float], str] | None:
    return (lambda n: _day(_FIRST, n)) if _SAS_DAYS.match(kind.upper()) else None


def _in_year(number: float, parts: int, mark: str, digits: int) -> str:
    year, part = divmod(int(number), parts)
    if not 0 < year + _FIRST.year < 10_000:
        raise ValueError
    return f"{year + _FIRST.year}-{mark}{part + 1:0{digits}}"


def _day(first: date, number: float) -> str:
    return (first + timedelta(days=int(number))).isoformat()


def _place(number: float) -> int:
    if number < 1:
        raise IndexError
    return int(number) - 1
