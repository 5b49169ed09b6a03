"""Sums of whole numbers: two *whole* states must differ by the width in everybody, not only two real ones.

Real numbers hide more than whole ones: known sums may leave somebody a real interval of many widths with one
whole number in it. So a slice "the sum is r" counts as safe only with whole states to show for it. They come
in two ways.

*By moves.* A move changes none of the known sums (`lattice`). If a real point has room for a move of the
width and for rounding on all sides, then a whole point beside it has room for the move: two whole states. The
real points with so much room are a convex set, so two linear programs for each kind of people give all sums r
that have one, and everything between them is safe as well.

*By search.* Around what moves prove, one sum after the other is looked at: mixed-integer programs propose
states, which are believed only after they were checked in exact arithmetic. A program that proposes nothing
proves nothing, and what is not proved is denied.

Everything is in steps of the grid, and from everybody's lower bound. People with the same history and bounds
are one kind, with a count: of two or more with a sum from t to (all they can have) - t, each can move by t.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from privet.disclose.audit.exact import Members
from privet.disclose.audit.lattice import Lattice, Whole
from privet.disclose.audit.solver import Floats, UndecidedError, least, propose

KINDS = 80  # of people; beyond, moves are too many to be found in a moment, and nothing new is answered
APART = 2e-3  # rows that depend on each other more than this: what a solver is off by would grow
MARGIN = 1e-6  # of room, in steps of the grid; and relative to all that there is:
ROUNDING = 1e-9
LOOKED = 40  # sums that are looked at one by one, on each side
PROPOSALS = 300  # of mixed-integer programs, for one plan
STARTS = 7  # sums to begin with where moves prove none
ENOUGH = 0.97  # of what is possible: then nobody looks any further


@dataclass
class WholeLog:
    """What is known of sums of whole numbers between 0 and `high`; nobody may be known within `steps`."""

    high: tuple[int, ...]
    steps: int
    equal: list[tuple[Members, int]] = field(default_factory=list)
    at_most: list[tuple[Members, int, int]] = field(default_factory=list)  # sign * sum <= value

    def bound(self, members: Members, sign: int, value: int) -> None:
        """Add sign * sum <= sign * value. It takes the place of a wider one."""
        for at, (known, side, most) in enumerate(self.at_most):
            if side == sign and np.array_equal(known, members):
                self.at_most[at] = members, sign, min(most, sign * value)
                return
        self.at_most.append((members, sign, sign * value))

    def kinds(self, members: Members | None = None) -> Kinds | None:
        """The people as kinds, apart in this query; None where there are too many."""
        n = len(self.high)
        asked = [] if members is None else [(members, 1)]
        named = [
            *((known, 1) for known, _ in self.equal),
            *((known, s) for known, s, _ in self.at_most),
            *asked,
        ]
        pattern = np.zeros((len(named) + 1, n), dtype=np.int64)
        for at, (known, sign) in enumerate(named):
            pattern[at, known] = sign
        heights = {value: at for at, value in enumerate(sorted(set(self.high)))}
        pattern[-1] = [heights[value] for value in self.high]
        _, first, counts = np.unique(pattern, axis=1, return_index=True, return_counts=True)
        if len(first) > KINDS:
            return None
        equal, bounds = len(self.equal), len(self.at_most)
        return Kinds(
            self.steps,
            pattern[:equal, first],
            tuple(value for _, value in self.equal),
            pattern[equal : equal + bounds, first],
            tuple(value for _, _, value in self.at_most),
            pattern[-2, first] if members is not None else np.zeros(len(first), dtype=np.int64),
            tuple(int(count) for count in counts),
            tuple(int(count) * self.high[at] for count, at in zip(counts, first, strict=True)),
        )

    def interval(self, members: Members) -> tuple[int, int] | None:
        """Two sums that are safe, so that all between them that are possible are safe too; None for none."""
        kinds = self.kinds(members)
        if kinds is None or not kinds.apart():
            return None
        try:
            return _Search(kinds).interval()
        except UndecidedError:
            return None


@dataclass(frozen=True)
class Kinds:
    """Sums of kinds of people: whole numbers from 0 to `most`, of which some combinations are known."""

    steps: int
    rows: Members
    values: tuple[int, ...]
    bounds: Members
    limits: tuple[int, ...]
    query: Members
    counts: tuple[int, ...]
    most: tuple[int, ...]

    def apart(self) -> bool:
        rows = np.vstack([self.rows, self.query[None, :]]).astype(float)
        return float(np.linalg.svd(rows, compute_uv=False)[-1]) > APART

    def holds(self, state: Sequence[int], total: int) -> bool:
        """Is this a whole state of the log, with this sum? In exact arithmetic."""
        return (
            all(0 <= value <= most for value, most in zip(state, self.most, strict=True))
            and all(_dot(row, state) == value for row, value in zip(self.rows, self.values, strict=True))
            and all(_dot(row, state) <= value for row, value in zip(self.bounds, self.limits, strict=True))
            and _dot(self.query, state) == total
        )

    def free(self, at: int, states: Sequence[Sequence[int]]) -> bool:
        """Do these whole states show that each of this kind can differ by the width?"""
        if self.counts[at] > 1 and any(self.steps <= s[at] <= self.most[at] - self.steps for s in states):
            return True
        if self.counts[at] > 1:
            return False
        return max(s[at] for s in states) - min(s[at] for s in states) >= self.steps


def _dot(row: Members, state: Sequence[int]) -> int:
    return sum(int(a) * b for a, b in zip(row.tolist(), state, strict=True) if a)


class _Search:
    """One query on its way to an interval. All of it follows from the log."""

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = kinds
        self._most = np.array([float(value) for value in kinds.most])
        self._rows = np.vstack([kinds.rows, kinds.query[None, :]])
        self.lattice = Lattice.of(self._rows.tolist(), np.maximum(self._most, 1.0))
        self._bounds = kinds.bounds.astype(float)
        self._limits = np.array([float(value) for value in kinds.limits])
        self._spare = MARGIN + ROUNDING * float(self._most.sum())
        self._proposals = PROPOSALS
        self._moves = [self._move(at) for at in range(len(kinds.counts))]

    def interval(self) -> tuple[int, int] | None:
        if any(
            move is None and count == 1 for move, count in zip(self._moves, self.kinds.counts, strict=True)
        ):
            return None  # somebody is determined by sums alone
        least_, most = self._ends(np.zeros(len(self._most)), self._most, self._limits)
        found = self._by_moves()
        if found is None:
            found = self._somewhere(least_, most)
        if found is None:
            return None
        low, high = found
        if high - low >= ENOUGH * (most - least_):
            return low, high
        return self._further(low, -1, least_), self._further(high, 1, most)

    def _ends(self, low: Floats, high: Floats, limits: Floats) -> tuple[float, float]:
        """The least and the largest sum of real points with so much room."""
        if np.any(low > high):
            raise _NoneLeftError
        goal, box = self.kinds.query.astype(float), np.column_stack([low, high])
        rows, values = self.kinds.rows.astype(float), np.array([float(v) for v in self.kinds.values])
        ends = []
        for sign in (1.0, -1.0):
            found = least(sign * goal, self._bounds, limits, rows, values, box)
            if found is None:
                raise _NoneLeftError
            ends.append(sign * found[0])
        return ends[0], ends[1]

    def _move(self, at: int) -> Whole | None:
        """The move of the width for one kind that takes the least room."""
        if self.kinds.counts[at] > 1:
            return None
        best: tuple[float, Whole] | None = None
        for move in self._candidates(at):
            whole = move * -(-self.kinds.steps // abs(int(move[at])))
            size = float(np.max(np.abs(whole.astype(float)) / np.maximum(self._most, 1e-9)))
            if best is None or size < best[0]:
                best = size, whole
        return None if best is None else best[1]

    def _candidates(self, at: int) -> Iterator[Whole]:
        moves = self.lattice.moves
        there = [one for one in range(len(moves)) if moves[one][at]]
        for one in there:
            yield moves[one]
            for other in range(len(moves)):
                for sign in (1, -1):
                    if other != one and moves[one][at] + sign * moves[other][at]:
                        yield moves[one] + sign * moves[other]

    def _by_moves(self) -> tuple[int, int] | None:
        kinds = len(self._most)
        off = self.lattice.off(np.eye(kinds)) + self._spare
        off_bounds = self.lattice.off(self._bounds) + self._spare
        low, high = -np.inf, np.inf
        for at, move in enumerate(self._moves):
            least_, most, limits = off.copy(), self._most - off, self._limits - off_bounds
            if move is None:  # several people: they can move among themselves
                least_[at] += self.kinds.steps
                most[at] -= self.kinds.steps
            else:
                step = move.astype(float)
                least_ += np.maximum(-step, 0)
                most -= np.maximum(step, 0)
                limits = limits - np.maximum(self._bounds @ step, 0)
            try:
                ends = self._ends(least_, most, limits)
            except _NoneLeftError:
                return None
            low, high = max(low, ends[0]), min(high, ends[1])
        if not np.isfinite(low) or low > high:
            return None
        first = self._possible(int(np.ceil(low + self._spare)), 1)
        last = self._possible(int(np.floor(high - self._spare)), -1)
        return (first, last) if first is not None and last is not None and first <= last else None

    def _possible(self, total: int, towards: int) -> int | None:
        """The first sum from here on that whole numbers can have."""
        return next((at for at in range(total, total + towards * LOOKED, towards) if self._reached(at)), None)

    def _reached(self, total: int) -> bool:
        return self.lattice.reached([*self.kinds.values, total])

    def _somewhere(self, least_: float, most: float) -> tuple[int, int] | None:
        """One sum that is safe, in the middle if that one is."""
        middle, room = round((least_ + most) / 2), (most - least_) / (STARTS + 1)
        for at in range(STARTS):
            away = round(room * ((at + 1) // 2)) * (-1 if at % 2 else 1)
            total = self._possible(middle + away, 1)
            if total is not None and least_ <= total <= most and self._shown(total):
                return total, total
        return None

    def _further(self, total: int, towards: int, end: float) -> int:
        """From a safe sum on, the last one that is shown to be safe with all before it."""
        last = total
        for at in range(total + towards, total + towards * (LOOKED + 1), towards):
            if towards * (at - end) > 0 or self._proposals <= 0:
                break
            if not self._reached(at):
                continue
            if not self._shown(at):
                break
            last = at
        return last

    def _shown(self, total: int) -> bool:
        """Are there whole states with this sum that leave everybody the width?"""
        kinds, nothing = self.kinds, np.zeros(len(self._most))
        states: list[tuple[int, ...]] = []
        if not self._proposed(total, nothing, states):
            return False
        for at, move in enumerate(self._moves):
            if kinds.free(at, states) or (move is not None and self._moved(total, at, move, states)):
                continue
            goal = nothing.copy()
            if move is None:  # a state in which these have something, and not all
                self._proposed(total, goal, states, within=(at, kinds.steps, kinds.most[at] - kinds.steps))
            else:
                for sign in (1.0, -1.0):
                    goal[at] = sign
                    self._proposed(total, goal, states)
            if not kinds.free(at, states):
                return False
        return True

    def _moved(self, total: int, at: int, move: Whole, states: list[tuple[int, ...]]) -> bool:
        for state in list(states):
            for sign in (1, -1):
                other = tuple(a + sign * int(b) for a, b in zip(state, move, strict=True))
                if self.kinds.holds(other, total):
                    states.append(other)
                    return self.kinds.free(at, states)
        return False

    def _proposed(
        self,
        total: int,
        goal: Floats,
        states: list[tuple[int, ...]],
        within: tuple[int, int, int] | None = None,
    ) -> bool:
        """One more whole state with this sum, if a program finds one that is one."""
        if self._proposals <= 0:
            return False
        self._proposals -= 1
        low, high = np.zeros(len(self._most)), self._most.copy()
        if within is not None:
            low[within[0]], high[within[0]] = within[1], within[2]
            if within[1] > within[2]:
                return False
        values = np.array([*(float(value) for value in self.kinds.values), float(total)])
        found = propose(goal, self._bounds, self._limits, self._rows.astype(float), values, low, high)
        if found is None or not self.kinds.holds(found, total):
            return False
        states.append(found)
        return True


class _NoneLeftError(UndecidedError):
    """No real point has so much room."""
