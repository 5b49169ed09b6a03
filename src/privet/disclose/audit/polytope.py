"""All states that a log of sums allows, and what linear programs (HiGHS) find in them.

Numbers are shifted and scaled so that everybody's lower bound is 0 and the protected width is 1. A program
that does not come to an optimum is never taken for an answer, and whoever uses these floats adds a margin
towards denial: see `summation`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from privet.disclose.audit.exact import Members
from privet.disclose.audit.solver import Floats, UndecidedError, block_array, csr_array, hstack, least, vstack


@dataclass
class Polytope:
    """A box, sums that are known, and sums that are bounded from above (below: with signs turned)."""

    high: Floats  # scaled: low is 0, the width is 1
    equal: list[tuple[Members, float]] = field(default_factory=list)
    at_most: list[tuple[Members, float, float]] = field(default_factory=list)  # sign * sum <= value

    @property
    def n(self) -> int:
        return len(self.high)

    def rows(self) -> tuple[Floats, Floats]:
        """The known sums."""
        return _dense([(members, 1.0) for members, _ in self.equal], self.n), np.array(
            [value for _, value in self.equal], dtype=float
        )

    def bounds(self) -> tuple[Floats, Floats]:
        """The bounded sums."""
        return _dense([(members, sign) for members, sign, _ in self.at_most], self.n), np.array(
            [value for _, _, value in self.at_most], dtype=float
        )

    def _box(self) -> Floats:
        return np.column_stack([np.zeros(self.n), self.high])

    def extent(self, goal: Floats) -> tuple[float, float]:
        """The least and the largest value of a linear function."""
        rows, values = self.rows()
        bounds, most = self.bounds()
        ends = []
        for sign in (1.0, -1.0):
            found = least(sign * goal, bounds, most, rows, values, self._box())
            if found is None:
                raise UndecidedError
            ends.append(sign * found[0])
        return ends[0], ends[1]

    def safe_interval(self, members: Members, width: float) -> tuple[float, float] | None:
        """The answers that leave everybody at least the width; None where there are none.

        The answers that leave it to one person are an interval, found with two programs about two states
        that agree in the answer and differ by the width in that person. People with the same history and
        the same bounds share their interval.
        """
        rows, values = self.rows()
        bounds, most = self.bounds()
        query = np.zeros(self.n)
        query[members] = 1.0
        pattern = np.vstack([rows, bounds, query[None, :], self.high[None, :]])
        _, first = np.unique(pattern, axis=1, return_index=True)
        a, g, q = csr_array(rows), csr_array(bounds), csr_array(query[None, :])
        twin_rows = vstack([block_array([[a, None], [None, a]]), hstack([q, -q])], format="csr")
        twin_values = np.concatenate([values, values, [0.0]])
        twin_bounds = block_array([[g, None], [None, g]], format="csr")
        box = np.vstack([self._box(), self._box()])
        low, high = -np.inf, np.inf
        for person in sorted(first.tolist()):
            apart = np.zeros((1, 2 * self.n))
            apart[0, person], apart[0, self.n + person] = -1.0, 1.0
            inequalities = vstack([twin_bounds, csr_array(apart)], format="csr")
            limits = np.concatenate([most, most, [-width]])
            goal = np.concatenate([query, np.zeros(self.n)])
            for sign in (1.0, -1.0):
                found = least(sign * goal, inequalities, limits, twin_rows, twin_values, box)
                if found is None:
                    return None
                low, high = (max(low, found[0]), high) if sign > 0 else (low, min(high, -found[0]))
            if low > high:
                return None
        return low, high


def _dense(rows: list[tuple[Members, float]], n: int) -> Floats:
    made = np.zeros((len(rows), n))
    for at, (members, sign) in enumerate(rows):
        made[at, members] = sign
    return made


@dataclass(frozen=True)
class Scale:
    """How the owner's units become the polytope's and back; exact on the owner's side."""

    low: tuple[Fraction, ...]
    width: Fraction

    def shift(self, members: Members) -> Fraction:
        """The least that a sum can be."""
        if len(set(self.low)) == 1:
            return self.low[0] * len(members)
        return sum((self.low[at] for at in members.tolist()), Fraction(0))

    def inward(self, members: Members, value: Fraction) -> float:
        return float((value - self.shift(members)) / self.width)

    def outward(self, members: Members, value: float) -> Fraction:
        return Fraction(value) * self.width + self.shift(members)
