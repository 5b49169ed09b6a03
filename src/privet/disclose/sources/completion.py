"""Can what is left of the views be filled at all? Exactly, in whole numbers.

The source solves a linear system and takes its corners to be whole (Theorem 22); they need not be, and then a
value is skipped that is possible, or believed that is not. So the answer comes from a search over whole
numbers with bounds that close in from both sides. Where that takes too long, an integer solver is asked, if
SciPy is there, and what it finds is checked; where nobody can tell, the answer is that nobody can tell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privet.disclose.sources.prepare import Counts

NODES = 2_000  # branches of one search
SOLVER_SECONDS = 10.0

_FAR = np.iinfo(np.int64).max // 4


class NodeLimitError(Exception):
    """Nobody can tell within the limit; the caller says `undecided`."""


def completed(
    member: NDArray[np.bool_], sizes: Counts, residual: Counts, *, nodes: int = NODES
) -> Counts | None:
    """How many of each class have each value, in one way that fills every view; None where there is none.

    `sizes` are the people of each class who have no value yet, `residual[view, value]` what is left.
    """
    low = np.zeros((member.shape[1], residual.shape[1]), dtype=np.int64)
    high = np.minimum(sizes[:, None], _least(member, residual))
    bounds = _tightened(member, sizes, residual, low, high)
    if bounds is None:
        return None
    try:
        return _searched(member, sizes, residual, bounds, nodes)
    except NodeLimitError:
        return _solved(member, sizes, residual, *bounds)


def _least(member: NDArray[np.bool_], of_views: Counts) -> Counts:
    """For each class and value, the smallest number among the class's views."""
    found: Counts = np.where(member[:, :, None], of_views[:, None, :], _FAR).min(axis=0)
    return found


def _tightened(
    member: NDArray[np.bool_], sizes: Counts, residual: Counts, low: Counts, high: Counts
) -> tuple[Counts, Counts] | None:
    """Bounds as narrow as each sum by itself makes them; None where some sum cannot come out."""
    views = member.astype(np.int64)
    while True:
        over, under = residual - views @ low, views @ high - residual  # how far a view's value may still move
        missing, spare = sizes - low.sum(axis=1), high.sum(axis=1) - sizes
        if min(over.min(), under.min(), missing.min(), spare.min()) < 0 or (low > high).any():
            return None
        top = np.minimum(high, low + np.minimum(_least(member, over), missing[:, None]))
        bottom = np.maximum(low, high - np.minimum(_least(member, under), spare[:, None]))
        if (top == high).all() and (bottom == low).all():
            return low, high
        low, high = bottom, top


def _searched(
    member: NDArray[np.bool_], sizes: Counts, residual: Counts, bounds: tuple[Counts, Counts], nodes: int
) -> Counts | None:
    """Split the narrowest open number in two, and each half again, until all are settled."""
    waiting, seen = [bounds], 0
    while waiting:
        low, high = waiting.pop()
        width = high - low
        if not width.any():
            return low
        seen += 1
        if seen > nodes:
            raise NodeLimitError
        at = np.unravel_index(int(np.where(width > 0, width, _FAR).argmin()), width.shape)
        middle = (low[at] + high[at]) // 2
        raised, lowered = low.copy(), high.copy()
        raised[at], lowered[at] = middle + 1, middle
        for half in ((raised, high), (low, lowered)):
            tight = _tightened(member, sizes, residual, *half)
            if tight is not None:
                waiting.append(tight)
    return None


def _solved(
    member: NDArray[np.bool_], sizes: Counts, residual: Counts, low: Counts, high: Counts
) -> Counts | None:
    """An integer solver's answer, believed only when it fills the views."""
    try:
        from scipy.optimize import Bounds, LinearConstraint, milp  # noqa: PLC0415 - an optional extra
    except ImportError:
        raise NodeLimitError from None
    values = residual.shape[1]
    of_class = np.kron(np.eye(len(sizes)), np.ones((1, values)))
    of_view = np.kron(member.astype(np.float64), np.eye(values))
    sums = np.concatenate([sizes, residual.ravel()])
    found = milp(
        np.zeros(low.size),
        constraints=LinearConstraint(np.vstack([of_class, of_view]), sums, sums),
        bounds=Bounds(low.ravel(), high.ravel()),
        integrality=np.ones(low.size),
        options={"time_limit": SOLVER_SECONDS},
    )
    if found.status == 2:  # infeasible
        return None
    if found.x is None:
        raise NodeLimitError
    whole: Counts = np.rint(found.x).astype(np.int64).reshape(low.shape)
    if (whole < 0).any() or (whole.sum(axis=1) != sizes).any() or (member @ whole != residual).any():
        raise NodeLimitError
    return whole
