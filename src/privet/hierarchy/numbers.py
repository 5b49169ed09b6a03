"""Texts as exact numbers, wherever a number is read.

Values of data are decimal: an interval's edge that is off by a rounding error puts a person on the
wrong side of it. Everything else that is written down as a number (in a policy, in evidence, in a ledger, on
the command line) is read by `fraction` or `decimal`. A few letters such as 1e99999999 name a number that
would fill the memory before anybody could compare it, so exponents have a limit that is looked at first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow
from fractions import Fraction

from privet.errors import HierarchyError

DIGITS = 26  # so that the middle of two numbers is exact in Decimal's usual 28 digits
MAGNITUDE = 30
LONGEST = 4_000  # characters of a number that is read; Python itself stops a little later
FARTHEST = 400  # the largest exponent, up or down; no share, price or amount is near it

# Wide enough for any sum of two readable numbers; whatever would have to be rounded raises instead.
EXACT = Context(prec=200, traps=[DivisionByZero, Inexact, InvalidOperation, Overflow])

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_EXPONENT = re.compile(r"[eE]([+-]?[0-9_]+)")
_ZERO = Decimal(0)


def read(text: str) -> Decimal | None:
    """The number that a text is; nan, infinities, blanks and numbers too long to be exact are none.

    >>> read("7.0"), read("1e3"), read(" 7"), read("nan")
    (Decimal('7.0'), Decimal('1E+3'), None, None)
    """
    if _NUMBER.fullmatch(text) is None:
        return None
    number = Decimal(text) or _ZERO  # there is one zero, without a sign
    if (len(text) > DIGITS or "e" in text or "E" in text) and not _fits(number):
        return None
    return number


def exact(number: int | Decimal) -> Decimal:
    """A number of a policy. Floats are refused: most of them are not what was written."""
    if isinstance(number, bool) or not isinstance(number, int | Decimal):
        raise HierarchyError("numbers are given as integers or Decimals")
    number = Decimal(number)
    if not number.is_finite() or not _fits(number):
        raise HierarchyError(f"numbers are finite and have at most {DIGITS} digits")
    return number or _ZERO


def fraction(given: object) -> Fraction:
    """A number as people write it exactly: 3, "1/5", "0.2", "1e-6". Raises ValueError where it is none.

    >>> fraction("1/5"), fraction(3), fraction("2.5e3")
    (Fraction(1, 5), Fraction(3, 1), Fraction(2500, 1))
    >>> fraction("1e99999999")
    Traceback (most recent call last):
    ValueError: an exponent beyond 400
    """
    if isinstance(given, Fraction):
        return given
    try:
        return Fraction(_bounded(given))
    except ZeroDivisionError:
        raise ValueError("a fraction of nothing") from None


def decimal(given: object) -> Decimal:
    """A decimal number, not rounded; infinities where they are written. Raises ValueError where it is none.

    >>> decimal("-0.50"), decimal("inf")
    (Decimal('-0.50'), Decimal('Infinity'))
    """
    try:
        return Decimal(_bounded(given))
    except InvalidOperation:
        raise ValueError("not a number") from None


def _bounded(given: object) -> str:
    """The text of a number that is not out of all proportion."""
    if isinstance(given, bool) or not isinstance(given, int | float | str | Decimal):
        raise ValueError("not a number")  # noqa: TRY004 - what is not a number
    text = str(given)
    if len(text) > LONGEST:
        raise ValueError(f"more than {LONGEST:,} characters")
    for exponent in _EXPONENT.findall(text):
        if len(exponent) > 8 or abs(int(exponent)) > FARTHEST:
            raise ValueError(f"an exponent beyond {FARTHEST}")
    return text


def _fits(number: Decimal) -> bool:
    return len(number.as_tuple().digits) <= DIGITS and (not number or abs(number.adjusted()) <= MAGNITUDE)


def step(numbers: Mapping[str, Decimal]) -> Decimal:
    """How far neighbours are apart: 1 for integers, else one unit of the last decimal in use.

    >>> step({"1.5": Decimal("1.5"), "2.250": Decimal("2.250")})
    Decimal('0.01')
    """
    decimals = 0
    for text, number in numbers.items():
        point = text.find(".")
        # Asking a number for its digits is slow, so only those are asked that may have more decimals.
        if (point >= 0 and len(text) - point - 1 > decimals) or "e" in text or "E" in text:
            exponent = number.normalize().as_tuple().exponent
            assert isinstance(exponent, int)  # it is text only for nan and the infinities
            decimals = max(decimals, -exponent)
    return Decimal(1).scaleb(-decimals)
