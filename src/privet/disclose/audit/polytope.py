"""All states that a log of sums allows, and what linear programs (HiGHS) find in them.

Numbers are shifted and scaled so that everybody's lower bound is 0 and the protected width is 1. A program
that does not come to an optimum is never taken for an answer, and whoever uses these floats adds a margin
towards denial: see `summation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from privet.disclose.audit.exact import Members
from privet.disclose.audit.solver import Floats, UndecidedError, block_array, csr_array, hstack, least, vstack

APART = 2e-3  # an error of the solver's tolerance in a sum grows to no more than half the margin


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

    def bound(self, members: Members, sign: float, value: float) -> None:
        """Add a bound: from above for the sign 1, from below for -1. It replaces a wider one."""
        for at, (known, side, most) in enumerate(self.at_most):
            if side == sign and np.array_equal(known, members):
                self.at_most[at] = members, sign, min(most, sign * value)
                return
        self.at_most.append((members, sign, sign * value))

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

    def alike(self, query: Floats | None = None) -> Alike:
        """People with the same history, the same bounds and the same part in a query."""
        asked = np.zeros((0, self.n)) if query is None else query[None, :]
        pattern = np.vstack([self.rows()[0], self.bounds()[0], asked, self.high[None, :]])
        _, first, whose, counts = np.unique(
            pattern, axis=1, return_index=True, return_inverse=True, return_counts=True
        )
        return Alike(first, whose.reshape(-1), counts)

    def apart(self, members: Members) -> bool:
        """Do the known sums and this one lie well apart? If not, what the solver is off by would grow."""
        rows = _dense([*((known, 1.0) for known, _ in self.equal), (members, 1.0)], self.n)
        return float(np.linalg.svd(rows, compute_uv=False)[-1]) > APART

    def safe_interval(
        self, members: Members, width: float, only: Sequence[int] | None = None
    ) -> tuple[float, float] | None:
        """The answers that leave everybody, or `only` these, at least the width; None where there are none.

        The answers that leave it to one person are an interval, found with two programs about two states
        that agree in the answer and differ by the width in that person. People who are alike share their
        interval; and of those who are alike, only the sum counts for everybody else: whatever the sum, all
        of them can have the same part of it. So a program has one variable for each kind of people, and
        one for the person.
        """
        query = np.zeros(self.n)
        query[members] = 1.0
        rows, values = self.rows()
        bounds, most = self.bounds()
        first, counts = (alike := self.alike(query)).first, alike.counts
        kinds = len(first)
        low, high = -np.inf, np.inf
        for kind in range(kinds) if only is None else sorted({int(alike.whose[one]) for one in only}):
            chosen = np.append(first, first[kind])  # the kinds, then the person
            room = np.append(counts * self.high[first], self.high[first[kind]])
            room[kind] -= self.high[first[kind]]
            box = np.tile(np.column_stack([np.zeros(kinds + 1), room]), (2, 1))
            a, g, q = csr_array(rows[:, chosen]), csr_array(bounds[:, chosen]), csr_array(query[None, chosen])
            twin_rows = vstack([block_array([[a, None], [None, a]]), hstack([q, -q])], format="csr")
            apart = np.zeros((1, 2 * kinds + 2))
            apart[0, kinds], apart[0, 2 * kinds + 1] = -1.0, 1.0
            less = vstack([block_array([[g, None], [None, g]]), csr_array(apart)], format="csr")
            limits = np.concatenate([most, most, [-width]])
            goal = np.append(query[chosen], np.zeros(kinds + 1))
            for sign in (1.0, -1.0):
                found = least(
                    sign * goal, less, limits, twin_rows, np.concatenate([values, values, [0.0]]), box
                )
                if found is None:
                    return None
                low, high = (max(low, found[0]), high) if sign > 0 else (low, min(high, -found[0]))
            if low > high:
                return None
        return low, high


@dataclass(frozen=True)
class Alike:
    """Kinds of people that a log cannot tell apart: one of each, everybody's kind, how many they are."""

    first: Members
    whose: Members
    counts: Members


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
