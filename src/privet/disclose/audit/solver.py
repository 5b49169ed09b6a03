"""The solvers of scipy that auditing of sums stands on: HiGHS for linear programs, LAPACK for triangles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import MissingExtraError

try:
    from scipy.linalg import solve_triangular
    from scipy.optimize import Bounds, LinearConstraint, linprog, milp
    from scipy.sparse import block_array, csr_array, hstack, vstack
except ImportError:
    raise MissingExtraError("auditing of sums", "audit") from None

__all__ = [
    "Floats",
    "UndecidedError",
    "block_array",
    "csr_array",
    "hstack",
    "least",
    "propose",
    "triangle",
    "vstack",
]

Floats = NDArray[np.float64]
TOLERANCE = 1e-10  # of the solver, for rows and for reduced costs; the tightest it takes
OPTIMAL, INFEASIBLE = 0, 2
NODES = 200  # of a search for whole numbers; counted, so that the clock decides nothing


class UndecidedError(Exception):
    """The solver came to no answer; whoever asked must deny."""


def least(  # noqa: PLR0917 - as a linear program is written down
    goal: Floats, less: Any, most: Floats, rows: Any, values: Floats, box: Floats
) -> tuple[float, Floats] | None:
    """The least value of the goal and where it is; None where nothing is feasible."""
    found = linprog(
        goal,
        A_ub=less if less.shape[0] else None,
        b_ub=most if less.shape[0] else None,
        A_eq=rows if rows.shape[0] else None,
        b_eq=values if rows.shape[0] else None,
        bounds=box,
        method="highs",
        options={"primal_feasibility_tolerance": TOLERANCE, "dual_feasibility_tolerance": TOLERANCE},
    )
    if found.status == INFEASIBLE:
        return None
    if found.status != OPTIMAL:
        raise UndecidedError
    return float(found.fun), np.asarray(found.x, dtype=float)


def propose(  # noqa: PLR0917 - as an integer program is written down
    goal: Floats, less: Any, most: Floats, rows: Any, values: Floats, low: Floats, high: Floats
) -> tuple[int, ...] | None:
    """Whole numbers that should have the least goal; None where none were found. Nobody has checked them."""
    constraints = [LinearConstraint(rows, values, values)]
    if less.shape[0]:
        constraints.append(LinearConstraint(less, -np.inf, most))
    found = milp(
        goal,
        integrality=np.ones(len(goal)),
        bounds=Bounds(low, high),
        constraints=constraints,
        options={"node_limit": NODES},
    )
    return None if found.x is None else tuple(round(value) for value in found.x.tolist())


def triangle(factor: Floats, right: Floats, *, turned: bool = False) -> Floats:
    """Solve with a lower triangle, or with it turned over."""
    found = solve_triangular(factor, right, lower=True, trans=int(turned), check_finite=False)
    return np.asarray(found, dtype=float)
