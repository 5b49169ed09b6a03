"""What a split is worth, in whole numbers, with the most that one record can change it.

A score sees the class counts of the children that a split would make: `counts[..., child, class]`. For a
column of sets the children are the subsets of child nodes, so that every record is in exactly one; counted
by node, a record with three items could change `max` by three.

`max`: the records that guessing the majority class of each child gets right. One record changes one count
of one child by one, so the score by at most one. Adding a record never lowers it.

`information-gain`: in units of 2^-GRID bits. Logarithms are made of whole numbers, by squaring, and are
never above the true one and less than `OFF` units below. However they are rounded, the score is cut
off at 0 and at the entropy of the classes rounded up, and no record can change it by more than that
range: this is its sensitivity, rounding included. No floating-point number is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.errors import InternalError

Ints: TypeAlias = NDArray[np.int64]

GRID = 20  # binary digits of information gain after the point
OFF = 2  # units that a logarithm may be too low
MANTISSA = 31  # binary digits that a square keeps
MOST = 2**31  # records; n log n of more would not fit 64 bits


class SplitScore(Enum):
    """Which splits are good ones."""

    MAX = "max"
    INFORMATION_GAIN = "information-gain"


@dataclass(frozen=True, slots=True)
class Scoring:
    """A score: how it is counted, its sensitivity in the same units, and whether records only raise it."""

    of: Callable[[NDArray[Any]], Ints]
    sensitivity: int
    monotone: bool


def scoring(score: SplitScore, classes: int) -> Scoring:
    """The score for that many classes."""
    if score is SplitScore.MAX:
        return Scoring(majority, 1, monotone=True)
    most = entropy_bound(classes)
    return Scoring(lambda counts: np.clip(gain(counts), 0, most), most, monotone=False)


def majority(counts: NDArray[Any]) -> Ints:
    """The records in the majority class of their child.

    >>> int(majority(np.array([[3, 1], [0, 2]])))
    5
    """
    found: Ints = counts.max(axis=-1).sum(axis=-1, dtype=np.int64)
    return found


def gain(counts: NDArray[Any]) -> Ints:
    """How many units of entropy the split saves for each record, rounded down; 0 where there is no record."""
    parts = counts.sum(axis=-1)
    total = parts.sum(axis=-1)
    if total.size and int(total.max()) >= MOST:
        raise InternalError("information gain counts fewer than 2^31 records")
    before = _weighed(total) - _weighed(counts.sum(axis=-2)).sum(axis=-1)
    after = (_weighed(parts) - _weighed(counts).sum(axis=-1)).sum(axis=-1)
    saved: Ints = np.floor_divide(before - after, np.maximum(total, 1))
    return saved


def _weighed(counts: NDArray[Any]) -> Ints:
    """Each n as n log2 n, in units."""
    number = counts.astype(np.int64)
    return number * logarithm(number)


def logarithm(numbers: NDArray[Any]) -> Ints:
    """log2 in units of 2^-GRID, never too high and less than `OFF` units too low; 0 for 0 and 1.

    >>> logarithm(np.array([1, 2, 3, 1024])).tolist(), int(1.5849625007211562 * 2**GRID)
    ([0, 1048576, 1661953, 10485760], 1661953)
    """
    number = np.maximum(numbers, 1).astype(np.uint64)
    whole = np.zeros(number.shape, dtype=np.uint64)
    rest = number.copy()
    for step in (32, 16, 8, 4, 2, 1):  # where the highest bit stands
        high = rest >= np.uint64(1) << np.uint64(step)
        whole += np.where(high, np.uint64(step), np.uint64(0))
        rest = np.where(high, rest >> np.uint64(step), rest)
    # Between one and two, with MANTISSA digits; squaring it shows the next digit of the logarithm.
    up = np.uint64(MANTISSA)
    mantissa = np.where(
        whole <= up,
        number << np.minimum(up - np.minimum(whole, up), up),
        number >> (whole - np.minimum(whole, up)),
    )
    found = whole
    for _ in range(GRID):
        mantissa = mantissa * mantissa >> up
        over = mantissa >= np.uint64(1) << (up + np.uint64(1))
        mantissa = np.where(over, mantissa >> np.uint64(1), mantissa)
        found = (found << np.uint64(1)) | over.astype(np.uint64)
    return found.astype(np.int64)


def entropy_bound(classes: int) -> int:
    """log2 of the number of classes in units, rounded up; exact for powers of two."""
    if classes < 1:
        raise InternalError("there is at least one class")
    if classes & (classes - 1) == 0:
        return max((classes.bit_length() - 1) << GRID, 1)
    return int(logarithm(np.array([classes]))[0]) + OFF
