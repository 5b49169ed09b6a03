"""The numbers of promises: checked when a promise is made, and compared exactly.

Fractions by the thousand: doubles decide where they can, whole numbers where not.

Sums of logarithms: `k1 ln m1 + k2 ln m2 + ...` is the logarithm of a fraction, `m1^k1 m2^k2 ...`. It is zero
only if that product is one, which greatest common divisors can tell. And it never equals a fraction other
than zero, since a power of e with such an exponent is not algebraic (Lindemann). So where two sides are not
equal, computing with more digits tells sooner or later which is larger: nothing is left in doubt.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from math import ceil, gcd
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.errors import PolicyError

CLOSE = 1e-12  # far above the rounding of a quotient of two whole numbers, which is below 1e-15
FITS = 2**62
Powers: TypeAlias = Mapping[int, int]  # m: k, for the product of all m to the power k

DIGITS = 6  # decimals of a number that is shown; always rounded away from the promise
ULP = Fraction(1, 10**DIGITS)


def at_least_one(model: str, **numbers: int | None) -> None:
    """Refuse a parameter that is not a whole number from 1 on."""
    complaints = [
        f"{model}: {name} is a whole number from 1 on, not {number!r}"
        for name, number in numbers.items()
        if isinstance(number, bool) or not isinstance(number, int) or number < 1
    ]
    if complaints:
        raise PolicyError(*complaints)


def exact_number(
    what: str, number: object, low: int, high: int | None = None, *, above: bool = False
) -> None:
    """Refuse anything but a Fraction within bounds: a float's rounding would decide what is promised."""
    if (
        isinstance(number, Fraction)
        and (number > low if above else number >= low)
        and (high is None or number <= high)
    ):
        return
    least = f"above {low}" if above else f"from {low} on"
    most = "" if high is None else f" and at most {high}"
    given = str(number) if isinstance(number, Fraction) else repr(number)
    raise PolicyError(f"{what} is an exact fraction {least}{most}, not {given}")


def whole(numbers: NDArray[np.int64], largest: int) -> NDArray[Any]:
    """The numbers in 64 bits, or as Python's own where products up to `largest` would not fit."""
    return numbers if largest < FITS else numbers.astype(object)


def roughly(number: Fraction) -> float:
    """A double near the number; infinity where it is larger than any."""
    try:
        return float(number)
    except OverflowError:
        return float("inf")


def compare(top: NDArray[Any], bottom: NDArray[Any], bound: Fraction) -> NDArray[np.int8]:
    """-1, 0 or 1 where top / bottom is below, at or above the bound; something / 0 is above any.

    >>> compare(np.array([1, 2, 3, 1]), np.array([2, 4, 5, 0]), Fraction(1, 2)).tolist()
    [0, 0, 1, 1]
    """
    near = roughly(bound)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = top.astype(np.float64) / bottom.astype(np.float64)
        apart = ratio - near
        clear = np.abs(apart) > CLOSE * (np.abs(ratio) + abs(near))
    sign = np.where(clear, np.sign(apart), 0).astype(np.int8)
    for at in np.flatnonzero(~clear).tolist():
        exact = int(top[at]) * bound.denominator - bound.numerator * int(bottom[at])
        sign[at] = (exact > 0) - (exact < 0)
    return sign


def largest(top: NDArray[Any], bottom: NDArray[Any]) -> Fraction | None:
    """The largest top / bottom, exactly: doubles find the candidates, fractions decide."""
    if not len(top):
        return None
    ratio = top.astype(np.float64) / bottom.astype(np.float64)
    near = ratio >= ratio.max() - CLOSE * abs(ratio.max())
    pairs = set(zip(top[near].tolist(), bottom[near].tolist(), strict=True))
    return max(Fraction(int(t), int(b)) for t, b in pairs)


def smallest(top: NDArray[Any], bottom: NDArray[Any]) -> Fraction | None:
    """The smallest top / bottom, exactly."""
    found = largest(-top, bottom)
    return None if found is None else -found


def powers(*factors: tuple[int, int]) -> dict[int, int]:
    """The factors with their exponents, equal ones together.

    >>> powers((6, 2), (1, 9), (6, 1))
    {6: 3}
    """
    found: dict[int, int] = {}
    for number, exponent in factors:
        if number > 1:
            found[number] = found.get(number, 0) + exponent
    return {number: exponent for number, exponent in found.items() if exponent}


def sign(product: Powers, bound: Fraction = Fraction(0)) -> int:
    """-1, 0 or 1 where the logarithm of the product is below, at or above the bound.

    >>> sign({2: 2, 4: -1}), sign({3: 1}, Fraction(1)), sign({2: 1}, Fraction(1))
    (0, 1, -1)
    """
    digits = 30
    while True:
        middle, radius = _enclosed(product, bound, digits)
        if abs(middle) > radius:
            return 1 if middle > 0 else -1
        if not bound and _is_one(product):
            return 0
        if not product:  # the logarithm of one
            return (bound < 0) - (bound > 0)
        digits *= 2


def _enclosed(product: Powers, bound: Fraction, digits: int) -> tuple[Decimal, Decimal]:
    """The difference, and how far off it may be."""
    with localcontext(Context(prec=digits)):
        terms = [Decimal(number).ln() * exponent for number, exponent in product.items()]
        terms.append(-Decimal(bound.numerator) / Decimal(bound.denominator))
        size = sum(map(abs, terms), Decimal(0))
        # Each operation of a term, and each addition, is off by at most half a unit in the last place.
        return sum(terms, Decimal(0)), size * (len(terms) + 4) * Decimal(10) ** (1 - digits)


def _is_one(product: Powers) -> bool:
    """Is the product one? Bases are split by their common divisors until none have any left."""
    bases = powers(*product.items())
    while True:
        shared = next(((a, b, g) for a, b in combinations(bases, 2) if (g := gcd(a, b)) > 1), None)
        if shared is None:
            return not bases
        a, b, common = shared
        first, second = bases.pop(a), bases.pop(b)
        bases = powers(*bases.items(), (common, first + second), (a // common, first), (b // common, second))


def above(product: Powers, over: int = 1) -> Fraction:
    """The logarithm divided by `over`, rounded up to six decimals.

    >>> above({2: 1}), above({2: 2}, over=2)
    (Fraction(173287, 250000), Fraction(173287, 250000))
    """
    with localcontext(Context(prec=40)):
        value = sum((Decimal(m).ln() * k for m, k in product.items()), Decimal(0)) / over
    found = upwards(Fraction(value))
    while sign(product, found * over) > 0:
        found += ULP
    while sign(product, (found - ULP) * over) <= 0:
        found -= ULP
    return found


def upwards(number: Fraction) -> Fraction:
    """Rounded up to six decimals."""
    return ceil(number / ULP) * ULP


def root(product: Powers, over: int) -> Fraction:
    """The product's root of order `over`, rounded down to six decimals.

    >>> root({4: 4, 2: -4}, 4), root({3: 3, 2: -2}, 3)
    (Fraction(2, 1), Fraction(1889881, 1000000))
    """
    with localcontext(Context(prec=40)):
        value = (sum((Decimal(m).ln() * k for m, k in product.items()), Decimal(0)) / over).exp()
    found = round(Fraction(value) / ULP) * ULP
    while not _reaches(product, over, found):
        found -= ULP
    return found


def _reaches(product: Powers, over: int, value: Fraction) -> bool:
    return sign(powers(*product.items(), (value.numerator, -over), (value.denominator, over))) >= 0
