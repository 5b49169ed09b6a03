"""Numbers of a plan and of answers: exact, and written as decimals."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from math import isfinite

from privet.errors import PolicyError

# What may stand around an answer or alone for none: the same in client.js, where other blanks are stripped.
BLANKS = (
    "\t\n\v\f\r \u00a0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)
DIGITS = 40  # of a number in a plan or an answer; a longer one is a mistake or an attack
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?")
_FRACTION = re.compile(r"([+-]?[0-9]+)/([0-9]*[1-9][0-9]*)")


def exact(given: object) -> Fraction:
    """A number of a plan: whole, or in quotes; never a float.

    >>> exact("0.25"), exact("1/3"), exact(7)
    (Fraction(1, 4), Fraction(1, 3), Fraction(7, 1))
    """
    if isinstance(given, float) and isfinite(given):
        raise PolicyError(f'write "{given}" in quotes, so that it is exact')
    found = None if isinstance(given, bool) else _number(given)
    if found is None:
        raise PolicyError(f'is an exact number such as 5, "0.2" or "1/5", not {given!r}')
    return found


def _number(given: object) -> Fraction | None:
    text = str(given).strip(BLANKS) if isinstance(given, (int, str)) else ""
    if len(text) > DIGITS:
        return None
    if _DECIMAL.fullmatch(text):
        return Fraction(Decimal(text))
    over = _FRACTION.fullmatch(text)
    return Fraction(int(over[1]), int(over[2])) if over else None


def answered(given: object) -> Fraction | None:
    """A number that somebody answered, as JSON or a cell has it; None if it is not one.

    >>> answered("12.5"), answered(3), answered(True), answered("1_0"), answered(float("inf"))
    (Fraction(25, 2), Fraction(3, 1), None, None, None)
    """
    if isinstance(given, bool) or not isinstance(given, (int, float, str)):
        return None
    text = (repr(given) if isinstance(given, float) else str(given)).strip(BLANKS)
    if len(text) > DIGITS or not _DECIMAL.fullmatch(text):
        return None
    return Fraction(Decimal(text))


def decimal(number: Fraction) -> bool:
    """Can it be written with a point and an end?"""
    rest = number.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return rest == 1


def written(number: Fraction) -> int | str:
    """As a plan writes it: whole, a decimal in quotes, or a fraction in quotes.

    >>> written(Fraction(3)), written(Fraction(5, 2)), written(Fraction(1, 3))
    (3, '2.5', '1/3')
    """
    if number.denominator == 1:
        return int(number)
    return shown(number) if decimal(number) else str(number)


def shown(number: Fraction) -> str:
    """A decimal as text, without an exponent.

    >>> shown(Fraction(-1, 8)), shown(Fraction(1200)), shown(Fraction(1, 5))
    ('-0.125', '1200', '0.2')
    """
    places = 0
    while (number * 10**places).denominator != 1:
        places += 1
    digits = str(abs(int(number * 10**places))).rjust(places + 1, "0")
    sign = "-" if number < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)
