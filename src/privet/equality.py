r"""When are two values equal? One rule, wherever a promise, a hierarchy or a policy asks.

Numbers are equal by value, text as it is written after Unicode's NFC, dates by instant. Every value is text
here (a table's `45.0` and a document's `"45.0"` alike), so what it *is* follows from how it is written and
from nothing else: neither the column around it nor the type that a file gave it. So a steward, a search, a
check and a receiver who has only the release come to the same answer.

- A number is written as JSON writes one, or with a plus sign, or without digits on one side of the point:
  `45`, `45.0`, `4.5e1`, `+45`. `007` is not a number but a code: leading zeros are text. Nothing is rounded,
  so numbers beyond 2**53 are equal only where all digits are, and `1e400` is not infinite. There is one zero.
- A date is an ISO date, or one with a time: `2024-03-05`, `2024-03-05 00:00:00.000`, `2024-03-05T01:00+01:00`
  and `2024-03-05T00:00Z` are one instant. A day is its first moment, and what names no zone is read as UTC.
- All else is text: `true` is not `1`, and `Hiv` is not `HIV`.

Equal values of a quasi-identifier or of a sensitive column leave in one spelling (`spelling` of those that
occur). Else a spelling would tell records of one class apart, and whoever compares texts would find another
distance between a class and the table than was promised. What no promise counts leaves as it was written.

>>> equal("45", "4.50e1"), equal("7", "007"), equal("é", "e\u0301"), equal("2024-03-05", "2024-03-05T00:00Z")
(True, False, True, True)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar, overload
from unicodedata import is_normalized, normalize

T = TypeVar("T")

LONGEST = 18  # digits of an exponent that is read, and zeros that a key is written with

_DIGITS = frozenset("0123456789")

_NUMBER = re.compile(
    r"(?P<sign>[+-]?)(?:(?P<whole>0|[1-9][0-9]*)(?:\.(?P<part>[0-9]*))?|\.(?P<only>[0-9]+))"
    r"(?:[eE](?P<exponent>[+-]?[0-9]+))?"
)
# A line that is neither a whole number in its shortest form nor a word that begins as no number or date does.
_ODD = re.compile(r"^(?!(?:-?[1-9][0-9]{0,17}|0|[^0-9+\-.\n].*|)$)", re.MULTILINE)
_DATE = re.compile(
    r"(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:[T ](?P<clock>[0-9]{2}:[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<part>[0-9]+))?)?"
    r" ?(?P<zone>Z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?)?)?"
)


@overload
def key(value: str) -> str: ...
@overload
def key(value: None) -> None: ...
@overload
def key(value: str | None) -> str | None: ...
def key(value: str | None) -> str | None:
    """What equal values have in common, and no others; null equals null.

    It is one of the ways to write the value, so a key is its own key, and nearly every value is its own.

    >>> key("45") == key("45.0"), key("1e400") == key("10e399"), key("-0.0") == key("0")
    (True, True, True)
    """
    if value is None:
        return None
    first = value[:1]
    if first in _DIGITS and value.isdecimal() and value.isascii() and first != "0" and len(value) <= LONGEST:
        return value
    if first in _DIGITS or first in {"+", "-", "."}:
        found = _number(value)
        if found is None and len(value) >= len("2024-03-05"):
            found = _instant(value)
        if found is not None:
            return found
    return value if value.isascii() or is_normalized("NFC", value) else normalize("NFC", value)


def own(values: Iterable[str | None]) -> bool:
    """Is each value plainly its own key? Then different ones are unequal, and none has to be looked at.

    One pass over all of them at once: columns of many thousand values are whole numbers or words.

    >>> own(["45", "-7", "0", "word", None]), own(["45", "45.0"]), own(["007"])
    (True, False, False)
    """
    texts = [value for value in values if value is not None]
    lines = "\n".join(texts)
    return lines.isascii() and lines.count("\n") == max(len(texts) - 1, 0) and _ODD.search(lines) is None


def equal(one: str | None, other: str | None) -> bool:
    """Are these the same value?"""
    return one == other or key(one) == key(other)


def name(text: str) -> str:
    """A name (of a column, of a label in a hierarchy) as it is compared: text, whatever it looks like."""
    return normalize("NFC", text)


def spelling(values: Iterable[str]) -> str:
    """Which of several equal values stands for all of them: the shortest, then the first by its text.

    So it does not depend on who met which first.
    """
    return min(values, key=lambda text: (len(text), text))


def classes(values: Iterable[str | None]) -> dict[str | None, list[str | None]]:
    """The values by what they equal: each key with its spellings, in the order met."""
    found: dict[str | None, list[str | None]] = {}
    for value in values:
        found.setdefault(key(value), []).append(value)
    return found


def finder(known: Mapping[str, T] | Mapping[str | None, T]) -> Callable[[str | None], T | None]:
    """Look up values by equality: as written where it is so known, else by what it equals."""
    written: Mapping[Any, T] = known
    by_key: dict[str | None, T] = {}

    def find(value: str | None) -> T | None:
        if value in written:
            return written[value]
        if not by_key:
            for spelt, found in written.items():
                by_key.setdefault(key(spelt), found)
        return by_key.get(key(value))

    return find


def _number(text: str) -> str | None:
    """A number as sign, digits without zeros at the end, and exponent; in digits where that is short."""
    found = _NUMBER.fullmatch(text)
    if found is None:
        return None
    sign, whole, part, only, exponent = found.group("sign", "whole", "part", "only", "exponent")
    power = (exponent or "").lstrip("+-0")  # as Python reads it: no thousands of zeros
    if len(power) > LONGEST:
        return None
    digits = (whole or "") + (part or only or "")
    tens = (-1 if (exponent or "").startswith("-") else 1) * int(power or "0") - len(part or only or "")
    digits = digits.lstrip("0")
    kept = digits.rstrip("0")
    if not kept:
        return "0"
    tens += len(digits) - len(kept)
    minus = "-" if sign == "-" else ""
    if 0 <= tens <= LONGEST:
        return f"{minus}{kept}{'0' * tens}"
    return f"{minus}{kept}e{tens}"


def _instant(text: str) -> str | None:
    """A moment, written in UTC without zeros at the end."""
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    day, clock, second, part, zone = found.group("day", "clock", "second", "part", "zone")
    try:
        moment = datetime.fromisoformat(f"{day}T{clock or '00:00'}:{second or '00'}")
        if zone not in {None, "Z", "UTC"}:
            hours, minutes = int(zone[1:3]), int(zone[3:].removeprefix(":") or "0")
            if hours > 23 or minutes > 59:
                return None
            ahead = timedelta(hours=hours, minutes=minutes)
            moment = moment - ahead if zone[0] == "+" else moment + ahead
    except (ValueError, OverflowError):
        return None
    rest = (part or "").rstrip("0")
    if not rest and (moment.hour, moment.minute, moment.second) == (0, 0, 0):
        return moment.date().isoformat()
    return f"{moment.isoformat()}{'.' if rest else ''}{rest}"
