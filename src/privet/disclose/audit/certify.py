"""Safe answers at scale: not the whole safe interval of a sum, but a part of it with a proof.

Two linear programs for every person are too many for thousands of people. But a binding needs no exact
interval: any part of it that depends on the log alone will do, and only makes more answers denied. A slice
"the sum is r" leaves everybody the width if some point of it has room around it: an ellipsoid in the
polytope (Dikin's, from the barrier's curvature) shows the room of all people at once, and for those for
whom it is too small, one line through the point does. If two slices leave it to everybody, so does every
slice between them, because the polytope is convex: it holds the segments between witnesses. So the search
walks from the centre both ways, as far as it can prove.

Everything is equations over a box: a bounded sum has a slack of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from privet.disclose.audit.exact import Members
from privet.disclose.audit.polytope import Polytope
from privet.disclose.audit.solver import Floats, UndecidedError, least, triangle

MARGIN = 1e-6  # widths are proved with this much to spare: far above what rounding does here
RESIDUE = 1e-8  # how far, in the ellipsoid's own measure, a point may be off its equations
STEPS = 40
ROUNDS = 12  # steps outwards on each side
SHRINKS = 6  # smaller ones after a step that proved too far
LINES = 256  # kinds of people for whom a line is tried; where more need one, the step was too far


@dataclass(frozen=True)
class Standard:
    """Equations over a box from 0; the first `people` variables are people, the others are slacks."""

    rows: Floats
    values: Floats
    high: Floats
    people: int

    @classmethod
    def of(cls, polytope: Polytope) -> Standard:
        rows, values = polytope.rows()
        bounds, most = polytope.bounds()
        slacks = len(most)
        top = np.hstack([rows, np.zeros((len(rows), slacks))])
        bottom = np.hstack([bounds, np.eye(slacks)])
        high = np.concatenate([polytope.high, np.full(slacks, np.inf)])
        return cls(np.vstack([top, bottom]), np.concatenate([values, most]), high, polytope.n)

    def with_row(self, row: Floats, value: float) -> Standard:
        return Standard(
            np.vstack([self.rows, row[None, :]]), np.append(self.values, value), self.high, self.people
        )

    def start(self) -> Floats:
        """The middle of the box; a slack as large as its equation makes it, if that is positive."""
        z = np.where(np.isfinite(self.high), self.high / 2, 1.0)
        slacks = len(z) - self.people
        if slacks:
            rest = self.values[-slacks:] - self.rows[-slacks:, : self.people] @ z[: self.people]
            z[self.people :] = np.maximum(rest, 1.0)
        return z


@dataclass(frozen=True)
class Metric:
    """The barrier's curvature at a point, and its projection onto the equations."""

    scale: Floats  # of each variable
    factor: Floats  # lower triangle of (rows * scale)(rows * scale)'

    @classmethod
    def at(cls, problem: Standard, z: Floats) -> Metric:
        scale = 1 / np.sqrt(z**-2 + (problem.high - z) ** -2)
        scaled = problem.rows * scale
        try:
            factor = np.asarray(np.linalg.cholesky(scaled @ scaled.T), dtype=float)
        except np.linalg.LinAlgError:
            raise UndecidedError from None
        return cls(scale, factor)

    def trusted(self, problem: Standard, z: Floats) -> bool:
        """Are the equations well apart, and kept by a point next to this one?

        The nearest such point is the residue away, in the measure in which the ellipsoid has size 1.
        """
        diagonal = np.diag(self.factor)
        off = triangle(self.factor, problem.values - problem.rows @ z)
        return bool(diagonal.min() > 1e-6 * diagonal.max() and np.linalg.norm(off) < RESIDUE)

    def solve(self, right: Floats) -> Floats:
        """(rows scale^2 rows')^-1 times the right side."""
        return triangle(self.factor, triangle(self.factor, right), turned=True)


def centred(problem: Standard, z: Floats, *, steps: int = STEPS, enough: float = 1e-6) -> Floats:
    """Newton's way to the analytic centre, from any point inside the box."""
    for _ in range(steps):
        metric = Metric.at(problem, z)
        gradient = -1 / z + 1 / (problem.high - z)
        square = metric.scale**2
        off = problem.values - problem.rows @ z
        prices = -metric.solve(off + problem.rows @ (square * gradient))
        step = -square * (gradient + problem.rows.T @ prices)
        size = float(np.linalg.norm(step / metric.scale))
        if size < enough:  # the step off the equations is a part of it, so these are kept as well
            break
        reach = furthest(problem, z, step)
        z = z + min(1.0 if size < 0.5 or reach > 2 else 1 / (1 + size), 0.9 * reach) * step
    return z


def furthest(problem: Standard, z: Floats, step: Floats) -> float:
    """How many times the step leads to the wall."""
    with np.errstate(divide="ignore", invalid="ignore"):
        walls = np.where(step > 0, (problem.high - z) / step, np.where(step < 0, -z / step, np.inf))
    return float(walls.min())


def certified(problem: Standard, z: Floats, others: Members | None = None) -> bool:
    """Is there a proof at this point that all, or all but others, keep the width under these equations?"""
    found = shown(problem, z)
    if found is None:
        return False
    if others is not None:
        found[others] = np.inf
    return bool(np.all(found >= 1 + MARGIN))


def shown(problem: Standard, z: Floats) -> Floats | None:
    """How far everybody is shown to be free at this point; None where rounding might decide."""
    try:
        metric = Metric.at(problem, z)
    except UndecidedError:
        return None
    if not len(problem.rows) or not metric.trusted(problem, z):
        return None
    whitened = triangle(metric.factor, problem.rows * metric.scale)
    leverage = np.sum(whitened**2, axis=0)
    room = 1 - leverage[: problem.people]
    found = np.asarray(2 * metric.scale[: problem.people] * np.sqrt(np.maximum(room, 0)))
    narrow = np.nonzero((found < 1 + MARGIN) & (room > 1e-9))[0]  # else rounding would decide
    found[room <= 1e-9] = 0.0
    if not len(narrow):
        return found
    chosen = narrow
    if len(narrow) > LINES:  # what is proved of one person holds for all who are alike
        alike = np.vstack([problem.rows[:, narrow], problem.high[None, narrow]])
        _, first, whose = np.unique(alike, axis=1, return_index=True, return_inverse=True)
        if len(first) > LINES:
            return found
        found[narrow] = _lines(problem, z, metric, whitened, narrow[first])[whose.reshape(-1)]
    else:
        found[chosen] = np.maximum(found[chosen], _lines(problem, z, metric, whitened, chosen))
    return found


def _lines(problem: Standard, z: Floats, metric: Metric, whitened: Floats, people: Members) -> Floats:
    """How far each of these can move along one line inside the polytope."""
    each = np.arange(len(people))
    line = -(whitened.T @ whitened[:, people])
    line[people, each] += 1
    line *= metric.scale[:, None]
    with np.errstate(divide="ignore"):
        up = np.maximum(line / (problem.high - z)[:, None], -line / z[:, None]).max(axis=0)
        down = np.maximum(-line / (problem.high - z)[:, None], line / z[:, None]).max(axis=0)
    moved = (1 / up + 1 / down) * line[people, each] * (1 - MARGIN)
    # Rounding leaves a trace of forbidden directions; where it is not tiny, the line proves nothing.
    trace = np.abs(problem.rows @ line).max(axis=0, initial=0.0)
    return np.where(trace < RESIDUE, moved, 0.0)


@dataclass(frozen=True)
class Proof:
    """Slices between these two leave everybody the width."""

    low: float
    high: float


def proved(
    problem: Standard, centre: Floats, members: Members, others: Members | None = None
) -> Proof | None:
    """A part of the safe interval, of all but others; None where not even the middle can be proved."""
    row = np.zeros(problem.rows.shape[1])
    row[members] = 1.0
    middle = float(row @ centre)
    slice_ = problem.with_row(row, middle)
    if not certified(slice_, centre, others):
        try:  # a better centre of the slice may do
            centre = centred(slice_, centre, steps=5)
        except UndecidedError:
            return None
        if not certified(slice_, centre, others):
            return None
    ends = [_walk(problem, centre, row, sign, others) for sign in (-1.0, 1.0)]
    return Proof(float(row @ ends[0]), float(row @ ends[1]))


def _walk(problem: Standard, z: Floats, row: Floats, sign: float, others: Members | None = None) -> Floats:
    """As far as slices can be proved, on one side."""
    ahead, shrinks = 0.9, 0
    for _ in range(ROUNDS):
        try:
            metric = Metric.at(problem, z)
            square = metric.scale**2
            step = sign * square * (row - problem.rows.T @ metric.solve(problem.rows @ (square * row)))
            further = z + ahead * furthest(problem, z, step) * step
            slice_ = problem.with_row(row, float(row @ further))
            further = centred(slice_, further, steps=2, enough=0.5)
            fine = certified(slice_, further, others)
        except UndecidedError:
            fine = False
        if fine:
            z = further
        elif shrinks == SHRINKS:
            break
        else:
            ahead, shrinks = ahead / 2, shrinks + 1
    return z


def interior(problem: Standard, near: Floats | None = None) -> Floats:
    """The centre: Newton's way first; where that stalls, a linear program for a point inside.

    There is one centre, so where the way begins (`near` an earlier centre, if there is one) only saves steps.
    """
    if not len(problem.rows):
        return problem.start()
    begin = problem.start()
    if near is not None:
        begin[: problem.people] = near[: problem.people]
    try:
        z = centred(problem, begin)
        if Metric.at(problem, z).trusted(problem, z):
            return z
    except UndecidedError:
        pass
    return centred(problem, deepest(problem))


def deepest(problem: Standard) -> Floats:
    """A point as far from all walls as can be: room t on every side, with t as large as possible."""
    n = len(problem.high)
    # z = y + t with 0 <= y <= high - 2t: one variable more.
    finite = np.nonzero(np.isfinite(problem.high))[0]
    less = np.zeros((len(finite), n + 1))
    less[np.arange(len(finite)), finite] = 1.0
    less[:, n] = 2.0
    rows = np.hstack([problem.rows, problem.rows.sum(axis=1, keepdims=True)])
    goal = np.zeros(n + 1)
    goal[n] = -1.0
    box = np.column_stack([np.zeros(n + 1), np.append(np.full(n, np.inf), 1.0)])
    found = least(goal, less, problem.high[finite], rows, problem.values, box)
    if found is None or found[1][n] <= 0:
        raise UndecidedError
    return np.asarray(found[1][:n] + found[1][n], dtype=float)
