"""Which child goes with which: a matrix of prices in, one column for each row out; rows <= columns.

The assignment problem is solved by scipy. Several assignments may be equally good, and a solver picks
one by accident, so the one whose columns come first is taken: the same data gives the same release
whatever the solver.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.document.cost import Prices
from privet.errors import MissingExtraError

Mapping: TypeAlias = Literal["lsap", "greedy"]


def greedy(prices: Prices) -> list[int]:
    """Each row in turn takes the cheapest column that is left, the first of equals."""
    left = list(range(prices.shape[1]))
    chosen: list[int] = []
    for row in prices.tolist():
        best = min(left, key=row.__getitem__)
        left.remove(best)
        chosen.append(best)
    return chosen


def least(prices: Prices) -> int:
    """What a best assignment costs."""
    rows, columns = _solver()(prices)
    return int(prices[rows, columns].sum())


def assignment(prices: Prices) -> list[int]:
    """Of all best assignments the one that is first in the order of its columns."""
    solve = _solver()
    chosen: list[int] = solve(prices)[1].tolist()
    total = sum(int(prices[row, column]) for row, column in enumerate(chosen))
    free = np.ones(prices.shape[1], dtype=bool)
    for row in range(prices.shape[0]):
        rest = total - int(prices[row, chosen[row]])
        for column in np.flatnonzero(free[: chosen[row]]).tolist():
            free[column] = False
            others = np.flatnonzero(free)
            below = prices[row + 1 :][:, others]
            rows, columns = solve(below)
            price = int(below[rows, columns].sum())
            if int(prices[row, column]) + price == total:
                chosen[row:] = [column, *others[columns].tolist()]
                rest = price
                break
            free[column] = True
        free[chosen[row]] = False
        total = rest
    return chosen


@cache
def _solver() -> Callable[[Prices], tuple[NDArray[np.intp], NDArray[np.intp]]]:
    try:
        scipy = import_module("scipy.optimize")
    except ImportError:
        raise MissingExtraError("mapping = lsap without compiled loops", "documents") from None
    solver: Callable[[Prices], tuple[NDArray[np.intp], NDArray[np.intp]]] = scipy.linear_sum_assignment
    return solver
