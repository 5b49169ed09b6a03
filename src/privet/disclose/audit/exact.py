"""Numbers as the data has them: exact, whatever type a database gives."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import InputError

Members = NDArray[np.int64]  # a query set: positions of people, ascending, each once
# More could not be written down as text, and that an answer cannot be written must not depend on the data.
BITS = 2_000  # of a number


def exact(value: object) -> Fraction:
    """A number without loss; a float counts as the shortest decimal that names it.

    >>> exact(0.1), exact(3), exact("2.50")
    (Fraction(1, 10), Fraction(3, 1), Fraction(5, 2))
    """
    if isinstance(value, np.number):
        return exact(value.item())
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal, Fraction, str)):
        raise InputError("is not a number")
    try:
        if isinstance(value, float) or (isinstance(value, str) and "/" not in value):
            value = Decimal(str(value))
        if isinstance(value, Decimal):
            if not value.is_finite():
                raise InputError("is not finite")
            if abs(value.adjusted()) > BITS:  # before it fills the memory
                raise InputError("has too many digits")
        found = Fraction(value)
    except (ValueError, ArithmeticError):
        raise InputError("is not a number") from None
    if max(found.numerator.bit_length(), found.denominator.bit_length()) > BITS:
        raise InputError("has too many digits")
    return found


def written(number: Fraction) -> str:
    """As a decimal where that is exact, else as a fraction; `exact` reads both.

    >>> written(Fraction(5, 2)), written(Fraction(-7)), written(Fraction(1, 3)), written(Fraction(1, 40))
    ('2.5', '-7', '1/3', '0.025')
    """
    rest, places = number.denominator, 0
    for prime in (2, 5):
        count = 0
        while rest % prime == 0:
            rest, count = rest // prime, count + 1
        places = max(places, count)
    if rest != 1:
        return str(number)
    digits = f"{abs(number.numerator) * 10**places // number.denominator:0{places + 1}d}"
    sign = "-" if number < 0 else ""
    return sign + (f"{digits[:-places]}.{digits[-places:]}" if places else digits)


def members_of(given: Iterable[int], n: int) -> Members:
    """A query set in order; empty ones and people that are not there are refused."""
    found = np.unique(np.fromiter(given, dtype=np.int64))
    if not len(found):
        raise InputError("the query set is empty")
    if found[0] < 0 or found[-1] >= n:
        raise InputError(f"the query set names somebody outside 0..{n - 1}")
    return found


class Column:
    """The secret: one number for each person. Knows sums and maxima, and shows itself to nobody."""

    def __init__(self, values: Sequence[Any]) -> None:
        numbers = []
        for at, value in enumerate(values):
            try:
                numbers.append(exact(value))
            except InputError as error:
                raise InputError(f"value {at + 1} {error}") from None
        if not numbers:
            raise InputError("there is nobody to audit")
        self._scale = 1
        for denominator in {number.denominator for number in numbers}:
            self._scale = math.lcm(self._scale, denominator)
            if self._scale.bit_length() > 2 * BITS:
                raise InputError("the values have too many different denominators")
        whole = [number.numerator * (self._scale // number.denominator) for number in numbers]
        # Sums must not wrap: Python's own integers where 64 bits might be too few.
        fits = max(map(abs, whole)) * len(whole) < 1 << 62
        self._whole = np.array(whole, dtype=np.int64 if fits else object)

    def __len__(self) -> int:
        return len(self._whole)

    def __repr__(self) -> str:
        return f"Column({len(self)} values)"

    def sum(self, members: Members) -> Fraction:
        return Fraction(int(self._whole[members].sum()), self._scale)

    def max(self, members: Members) -> Fraction:
        return Fraction(int(self._whole[members].max()), self._scale)

    def negated(self) -> Column:
        """For minima: min(x) = -max(-x)."""
        other = object.__new__(Column)
        other._scale, other._whole = self._scale, -self._whole
        return other

    def multiples(self, step: Fraction) -> bool:
        """Is everybody's value a whole number of steps?"""
        unit = step * self._scale
        if unit == 1:
            return True
        return all((int(value) / unit).denominator == 1 for value in self._whole)

    def inside(self, low: Sequence[Fraction], high: Sequence[Fraction]) -> bool:
        """Does everybody keep the public bounds?"""
        return all(
            a * self._scale <= int(value) <= b * self._scale
            for a, value, b in zip(low, self._whole, high, strict=True)
        )
