"""The safe interval of a sum by proofs, which are quick, and by linear programs, which are exact.

A proof at a point is quick for all who have room there. Near the ends of the interval a few people have just
the width left, and a point inside proves nothing of them; but two linear programs find the whole interval of
one person. So whoever cannot be proved gets programs, the narrowest first, and the others a proof on the
slice where those programs end. Both depend on the log alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from privet.disclose.audit.certify import MARGIN, Standard, centred, proved, shown
from privet.disclose.audit.exact import Members
from privet.disclose.audit.solver import Floats, UndecidedError

Programs = Callable[[list[int]], tuple[float, float] | None]  # the interval of these people

AT_ONCE = 4  # people who get programs after one look
TURNS = 10
NEAR = 0.004  # of the interval: so near to the end is there


@dataclass
class Refined:
    """One query, and who has got programs so far."""

    problem: Standard
    centre: Floats
    row: Floats
    programs: Programs
    most: int  # people who may get programs
    low: float
    high: float
    done: list[int] = field(default_factory=list)

    def interval(self, members: Members) -> tuple[float, float] | None:
        """Two sums; all between them leave everybody the width."""
        for _ in range(TURNS):
            found = proved(self.problem, self.centre, members, np.array(self.done, dtype=np.int64))
            if found is not None:
                inside = max(found.low, self.low), min(found.high, self.high)
                if inside[0] > inside[1]:
                    return None
                low, high = self._end(inside[0], -1.0, inside), self._end(inside[1], 1.0, inside)
                # Programs that came later may have drawn in what was proved without them.
                low, high = max(low, self.low), min(high, self.high)
                return (low, high) if low <= high else None
            middle = self._slice(float(self.row @ self.centre), self.centre)
            if middle is None or not self._ask(middle[1]):
                return None
            if not self.low <= float(self.row @ self.centre) <= self.high:
                moved = self._slice((self.low + self.high) / 2, self.centre)
                if moved is None:
                    return None
                self.centre = moved[0]
        return None

    def _slice(self, total: float, near: Floats) -> tuple[Floats, Floats] | None:
        """A point in the middle of a slice, and how free everybody is shown to be there."""
        slice_ = self.problem.with_row(self.row, total)
        try:
            z = centred(slice_, near, steps=20, enough=0.1)
        except UndecidedError:
            return None
        found = shown(slice_, z)
        if found is None:
            return None
        found[self.done] = np.inf
        return z, found

    def _ask(self, found: Floats) -> bool:
        """Programs for those who are shown least; False where there is nobody left to ask for, or no room."""
        narrow = [int(one) for one in np.argsort(found, kind="stable") if found[one] < 1 + MARGIN][:AT_ONCE]
        if not narrow or len(self.done) + len(narrow) > self.most:
            return False
        ends = self.programs(narrow)
        if ends is None:
            return False
        self.low, self.high = max(self.low, ends[0]), min(self.high, ends[1])
        self.done += narrow
        return self.low <= self.high

    def _end(self, inside: float, sign: float, whole: tuple[float, float]) -> float:
        """From a proved sum on, as near to where programs end as the others can be proved."""
        near, limit = self.centre, np.inf
        for _ in range(TURNS):
            end = min(self.high, limit) if sign > 0 else max(self.low, -limit)
            if sign * (end - inside) <= NEAR * (whole[1] - whole[0]):
                break
            # Just before the end where programs say so; halfway to where nothing could be proved.
            total = (inside + end) / 2 if np.isfinite(limit) else end - NEAR / 2 * (end - inside)
            looked = self._slice(total, near)
            if looked is not None and np.all(looked[1] >= 1 + MARGIN):
                inside, near = total, looked[0]
            elif looked is None or not self._ask(looked[1]):
                limit = sign * total
        return inside
