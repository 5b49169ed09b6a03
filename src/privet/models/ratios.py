"""Fractions by the thousand, compared exactly: doubles decide where they can, whole numbers where not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

CLOSE = 1e-12  # far above the rounding of a quotient of two whole numbers, which is below 1e-15
FITS = 2**62


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
