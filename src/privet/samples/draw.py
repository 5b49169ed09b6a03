"""Drawing columns from small hand-written tables, a million rows at a time.

Only `Generator.random` is ever asked, in a fixed order: the same seed and size give the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from privet.samples.size import check_size

Ints: TypeAlias = NDArray[np.integer[Any]]
Floats: TypeAlias = NDArray[np.float64]


def generator(rows: int, seed: int) -> np.random.Generator:
    check_size(rows, seed)
    return np.random.default_rng(seed)


def pick(rng: np.random.Generator, rows: int, weights: Sequence[float]) -> Ints:
    """For each row the position of one weight, as likely as it is heavy."""
    return pick_given(rng, np.zeros(rows, dtype=np.uint8), [weights])


def pick_given(rng: np.random.Generator, given: Ints, table: ArrayLike) -> Ints:
    """The same, where `given` says for each row which line of the table holds its weights."""
    weights = np.asarray(table, dtype=np.float64)
    lines, width = weights.shape
    share = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
    share[:, -1] = 1.0
    # Line i is laid at [i, i + 1): one binary search then serves all lines at once.
    laid = (share + np.arange(lines)[:, None]).ravel()
    found = (
        np.searchsorted(laid, given + rng.random(len(given)), side="right") - given.astype(np.int64) * width
    )
    drawn: Ints = np.minimum(found, width - 1)  # rounding may push a draw onto the very end of its line
    return drawn


def spread(rng: np.random.Generator, rows: int, shares: Sequence[float], values: Sequence[float]) -> Floats:
    """Numbers whose quantiles are the given ones, straight in between."""
    return np.interp(rng.random(rows), shares, values)


def bell(rng: np.random.Generator, rows: int) -> Floats:
    """Nearly normal, mean 0 and deviation 1, and never beyond 3.5: no patient three metres tall."""
    total = rng.random(rows)
    for _ in range(3):
        total += rng.random(rows)
    return (total - 2) * 3**0.5


def chance(rng: np.random.Generator, odds: Floats) -> NDArray[np.bool_]:
    """True as often as the log-odds say."""
    return rng.random(len(odds)) < 1 / (1 + np.exp(-odds))


def words(values: Sequence[str], codes: Ints) -> pl.Series:
    return pl.Series(values, dtype=pl.String).gather(pl.Series(codes))


def tenths(numbers: Floats) -> Floats:
    """Rounded to one decimal."""
    return np.round(numbers, 1).astype(np.float64)


def whole(numbers: Floats | Ints, low: int, high: int) -> NDArray[np.int64]:
    """Rounded, and kept within the range."""
    return np.clip(np.rint(numbers), low, high).astype(np.int64)
