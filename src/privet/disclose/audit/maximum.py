"""The auditor of maxima: Zhang (2010), Algorithm 3.1, made safe.

What is changed and why. Candidates are inconsistent, unsafe or safe: the printed array has two states and
may log a value that contradicts the log. Once the truth may lie off the log, an answer that is impossible
on the log but possible off it is denied together with a safe one: otherwise posing a denied query again
gives somebody away. And the `tight` log notes a denial as an upper bound where that says all of it, so
that later queries are not punished for it; `equality` is the log as printed.

Safe means: nobody's value is determined exactly. Values are reals, or multiples of a grid; equal ones may
occur. A public lower bound is a part of the decision: whoever is known to be no higher than it, is there. So
a maximum that is the bound determines everybody in the query, and one below it is impossible. A public upper
bound is an upper bound of everybody from the start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from privet.disclose.audit.decision import Constraint, Decision, Family, Plan, family_of
from privet.disclose.audit.exact import Column, Members, written
from privet.disclose.audit.maxlog import MaxLog, Thresholds, Values
from privet.errors import InputError, one_of

LOGS = ("tight", "equality")


class Status(IntEnum):
    """What a possible answer would do."""

    SAFE = 0
    UNSAFE = 1  # somebody would be determined
    INCONSISTENT = 2  # it contradicts the log
    OFFLOG = 3  # it contradicts the log, but not the answers: possible behind an earlier denial


@dataclass(frozen=True)
class MaxPlan:
    """Candidates with their statuses, and the one that shares its fate with all that are bad."""

    family: Family
    answers: tuple[Fraction, ...]
    statuses: NDArray[np.int8]
    bound: int | None  # which candidate is bound to the bad ones
    denial: Decision  # what is said, and logged, when it is denied
    low: Fraction | None  # answers from here ...
    high: Fraction | None  # ... to here are safe; None: no limit
    known: bool  # only one answer is possible
    above: Fraction | None = None  # the public lower bound: an answer that reaches it determines everybody

    @property
    def bad(self) -> bool:
        """Is there an answer that must not be given?"""
        return bool(np.any((self.statuses == Status.UNSAFE) | (self.statuses == Status.OFFLOG)))

    def _safe(self, truth: Fraction) -> bool:
        return (
            bool(np.any(self.statuses == Status.SAFE))
            and (self.above is None or truth > self.above)
            and (self.low is None or truth >= self.low)
            and (self.high is None or truth <= self.high)
        )

    def judge(self, truth: Fraction) -> Decision:
        """Answer what is safe and not bound."""
        answered = Decision(truth, None if self.known else Constraint("=", truth))
        if self.family is Family.SIMPLE:
            return answered if self._safe(truth) else Decision(None)
        if not self.bad:
            return answered
        if self.family is Family.SIMULATABLE or self.bound is None:
            return Decision(None)
        return answered if self._safe(truth) and truth != self.answers[self.bound] else self.denial

    def allows(self, decision: Decision) -> bool:
        """An answer is judged again; a denial must be the planned one."""
        if decision.answer is not None:
            return self._safe(decision.answer) and self.judge(decision.answer) == decision
        return decision == (self.denial if self.family is Family.BINDING else Decision(None)) and self.bad

    def explain(self) -> list[str]:
        """Each possible answer (values of the log, and one for each gap) with what it would do."""
        lines = [
            f"{written(answer)}: {Status(status).name.lower()}{', bound' if at == self.bound else ''}"
            for at, (answer, status) in enumerate(zip(self.answers, self.statuses.tolist(), strict=True))
        ]
        return [*lines, "a denial is logged as " + noted(self.denial)]


def noted(decision: Decision) -> str:
    """What the log learns, in words."""
    made = decision.constraint
    return "nothing" if made is None else f"answer {made.relation} {written(made.value)}"


class MaxAuditor:
    """Decides MAX queries about n people. For MIN, give the negated column."""

    def __init__(
        self,
        n: int,
        *,
        family: str | Family = Family.BINDING,
        log: str = "tight",
        grid: int | Fraction | None = None,
        low: int | Fraction | None = None,
        high: int | Fraction | None = None,
        unsafe: bool = False,
    ) -> None:
        if n < 1:
            raise InputError("there is nobody to audit")
        if log not in LOGS:
            raise InputError(one_of("log", LOGS, log))
        if grid is not None and grid <= 0:
            raise InputError("grid: is above 0")
        self._n = n
        self.family = family_of(family, unsafe=unsafe)
        self.log = log
        self.grid = None if grid is None else Fraction(grid)
        self.low = self._edge(low, ceil)
        self.high = self._edge(high, floor)
        if self.low is not None and self.high is not None and self.low >= self.high:
            raise InputError("the bounds are no further apart than the grid: everybody is known already")
        self.off = False
        values = Values()
        if self.low is not None:
            values.id(self.low)  # the first of all places: nothing possible lies below it
        self._log = MaxLog(n, values)
        self._answers = MaxLog(n, values)
        if self.high is not None:
            for one in (self._log, self._answers):
                one.at_most(np.arange(n), self.high)

    def _edge(self, edge: int | Fraction | None, inwards: Callable[[Fraction], int]) -> Fraction | None:
        """A public bound; with a grid, the nearest multiple that can be reached."""
        if edge is None or self.grid is None:
            return None if edge is None else Fraction(edge)
        return inwards(Fraction(edge) / self.grid) * self.grid

    @property
    def n(self) -> int:
        """How many people."""
        return self._n

    @property
    def weakest(self) -> int | None:
        """The fewest people who may each be the one that reaches a logged maximum; 1 would be a breach."""
        return self._log.weakest()

    def true_answer(self, column: Column, members: Members) -> Fraction:
        """The maximum."""
        return column.max(members)

    def check(self, column: Column) -> None:
        """On the grid, if there is one: an answer off it would have no place in the plan."""
        if self.grid is not None and not column.multiples(self.grid):
            raise InputError("somebody's value is not a multiple of the grid")
        everybody = np.arange(self.n)
        if self.high is not None and column.max(everybody) > self.high:
            raise InputError("somebody's value lies outside the public bounds")
        if self.low is not None and -column.negated().max(everybody) < self.low:
            raise InputError("somebody's value lies outside the public bounds")

    def plan(self, members: Members) -> MaxPlan:
        """The status of every possible answer, and the binding."""
        values = self._log.values
        places, answers = values.candidates(self.grid)
        limits = self._limits(self._log, members)
        statuses = _statuses(places, limits)
        if self.off:
            elsewhere = self._limits(self._answers, members)
            possible = (places >= elsewhere.none) & (places <= elsewhere.first)
            statuses[(statuses == Status.INCONSISTENT) & possible] = Status.OFFLOG
        safe = np.nonzero(statuses == Status.SAFE)[0]
        bound, denial = None, Decision(None)
        if len(safe) and self.family is Family.BINDING:
            bound, denial = self._bind(places, answers, statuses, safe)
        return MaxPlan(
            self.family,
            tuple(answers),
            statuses,
            bound,
            denial,
            self._value(limits.one) if limits.one % 2 else None,
            self._value(limits.second),
            known=limits.none == limits.first and limits.none >= 0,
            above=self.low,
        )

    def _limits(self, log: MaxLog, members: Members) -> Thresholds:
        """What would happen to every answer; below the public lower bound nothing, at it somebody."""
        found = log.thresholds(members)
        if self.low is None:
            return found
        at = self._log.values.place(self.low)
        return Thresholds(max(found.none, at), max(found.one, at + 1), found.first, found.second)

    def _value(self, place: int) -> Fraction | None:
        ordered = self._log.values.ordered
        return ordered[place // 2] if 0 <= place < 2 * len(ordered) + 1 else None

    def _bind(
        self,
        places: NDArray[np.int64],
        answers: list[Fraction],
        statuses: NDArray[np.int8],
        safe: NDArray[np.int64],
    ) -> tuple[int, Decision]:
        """The first safe candidate, and what a denial puts into the log."""
        bound = int(safe[0])
        logged = bool(places[bound] % 2)
        # On a grid the first answer of a gap has a neighbour below; the lowest gap has no first one.
        first = logged or (self.grid is not None and places[bound] > 0)
        if self.log == "tight" and first:
            if logged and len(safe) == 1:  # every possible answer is denied: nothing is learnt from it
                return bound, Decision(None)
            # Everything possible below is denied as well, so that the denial is an upper bound.
            above = bool(np.any(statuses[bound:] == Status.UNSAFE))
            off = above or bool(np.any(statuses == Status.OFFLOG))
            return bound, Decision(None, Constraint("<=", answers[bound]), off=off)
        return bound, Decision(None, Constraint("=", answers[bound]), off=True)

    def record(self, members: Members, decision: Decision, plan: Plan | None = None) -> None:  # noqa: ARG002 - an auditor's form
        """Take a decision into the log."""
        made = decision.constraint
        self.off = self.off or decision.off
        if decision.answer is not None:
            known = self._answers.thresholds(members)
            if not known.none == known.first == self._answers.values.place(decision.answer):
                self._answers.equal(members, decision.answer)
            if made is not None:
                self._log.equal(members, made.value)
        elif made is not None and made.relation == "=":
            self._log.equal(members, made.value)
        elif made is not None:
            self._log.at_most(members, made.value)


def _statuses(places: NDArray[np.int64], limits: Thresholds) -> NDArray[np.int8]:
    statuses = np.full(len(places), Status.SAFE, dtype=np.int8)
    statuses[(places < limits.one) | (places > limits.second)] = Status.UNSAFE
    statuses[(places < limits.none) | (places > limits.first)] = Status.INCONSISTENT
    return statuses
