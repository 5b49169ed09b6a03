"""Numbers out of evidence, and numbers as people read them.

Evidence may come from another version or lack a part: what cannot be read is None, and what needs it
is left out of the report.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from typing import Any

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)


_NUMBER = re.compile(r"-?[0-9]{1,40}([/.][0-9]{1,40})?")  # no exponents: "1e999999999" is a trap


def part(whole: Any, *path: str) -> Mapping[str, Any]:
    """The table at a path; empty where there is none."""
    for name in path:
        whole = whole.get(name) if isinstance(whole, Mapping) else None
    return whole if isinstance(whole, Mapping) else {}


def listing(value: Any) -> list[Any]:
    """A list; empty where there is none."""
    return list(value) if isinstance(value, (list, tuple)) else []


def tables(value: Any) -> list[Mapping[str, Any]]:
    """The tables in a list."""
    return [item for item in listing(value) if isinstance(item, Mapping)]


def exact(value: Any) -> Fraction | None:
    """A number as evidence writes it: whole, "1/5", or a float that is there only to be shown.

    >>> exact("1/5"), exact(True), exact("high"), exact(float("inf"))
    (Fraction(1, 5), None, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Fraction)):
        return None
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        return None
    try:
        return Fraction(value)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None


def amount(value: Any) -> float | None:
    """A number to draw; None where it is none or has no end."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    found = exact(value)
    try:
        return None if found is None else float(found)
    except OverflowError:
        return None


def share(value: Any) -> float | None:
    """A number from 0 to 1."""
    found = amount(value)
    return found if found is not None and 0 <= found <= 1 else None


def whole(value: Any) -> int | None:
    """A count."""
    if type(value) is int:
        return value if value >= 0 else None
    found = exact(value)
    return int(found) if found is not None and found >= 0 and found.denominator == 1 else None


def count(value: Any) -> str | None:
    """A count with its thousands apart.

    >>> count(12345), count(None)
    ('12,345', None)
    """
    found = whole(value)
    return None if found is None else f"{found:,}"


def short(number: int) -> str:
    """A count with no room for it.

    >>> short(500), short(2000), short(1500), short(3_000_000)
    ('500', '2k', '1.5k', '3M')
    """
    if number < 1000:
        return str(number)
    return f"{number / 10**6:g}M" if number >= 10**6 else f"{number / 1000:g}k"


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number and what it counts.

    >>> counted(1, "record"), counted(2000, "class", "classes")
    ('1 record', '2,000 classes')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def decimal(value: Any) -> str | None:
    """Four figures that tell.

    >>> decimal(25), decimal(0.0559231), decimal(123456.7), decimal(1.5e12), decimal(0.00002)
    ('25', '0.05592', '123,457', '1,500,000,000,000', 'under 0.0001')
    """
    found = amount(value)
    if found is None:
        return None
    if found == int(found) or abs(found) >= 1000:
        return f"{found:,.0f}"
    return "under 0.0001" if 0 < found < 0.0001 else f"{found:.4g}"


def percent(value: Any) -> str | None:
    """A share in percent; never rounded to 0% or to 100% when it is not.

    >>> percent("1/5"), percent(0.16848), percent(0.99999), percent(0.00001), percent(0), percent(1)
    ('20%', '16.8%', 'over 99.9%', 'under 0.01%', '0%', '100%')
    """
    found = share(value)
    truly = exact(value)  # a float would round the last step to the whole
    if found is None or truly is None:
        return None
    if 0 < truly < Fraction(1, 10_000):
        return "under 0.01%"
    if Fraction(999, 1000) < truly < 1:
        return "over 99.9%"
    if truly == 1:
        return "100%"
    digits = 1 if found >= 0.01 else 2
    shown = f"{100 * found:.{digits}f}"
    return (shown.rstrip("0").rstrip(".") if "." in shown else shown) + "%"


def fraction_percent(value: Any) -> str | None:
    """A bound in percent with the exact fraction that is meant.

    >>> fraction_percent("31/184"), fraction_percent(1)
    ('16.8% (exactly 31/184)', '100%')
    """
    shown, found = percent(value), exact(value)
    if shown is None or found is None:
        return None
    return shown if found.denominator == 1 else f"{shown} (exactly {found})"


def chance(value: Any) -> str | None:
    """A risk as odds, the way people compare them.

    >>> chance(0.04), chance(1), chance(0.0235), chance(0)
    ('1 in 25', 'certain', 'about 1 in 42.6', 'none')
    """
    found = share(value)
    if found is None:
        return None
    if found in (0, 1):
        return "certain" if found else "none"
    odds = 1 / found
    if math.isclose(odds, round(odds), rel_tol=1e-6):
        return f"1 in {round(odds):,}"
    return f"about 1 in {odds:,.0f}" if odds >= 100 else f"about 1 in {odds:.3g}"


def risk(value: Any) -> str | None:
    """A risk in percent, and as odds where they say more.

    >>> risk(0.04), risk(0.93), risk(0)
    ('4% (1 in 25)', '93%', '0%')
    """
    found, shown = share(value), percent(value)
    if found is None or shown is None:
        return None
    return f"{shown} ({chance(found)})" if 0 < found <= 0.5 else shown


def moment(value: Any) -> str | None:
    """When, in words.

    >>> moment("2026-11-15T21:40:37+00:00")
    '15 November 2026, 21:40 UTC'
    """
    if not isinstance(value, str) or not value:
        return None
    try:
        when = datetime.fromisoformat(value)
    except ValueError:
        return value
    zone = "" if when.tzinfo is None else f" {when.tzname()}"
    return f"{when.day} {MONTHS[when.month - 1]} {when.year}, {when:%H:%M}{zone}"
