"""The auditor of sums under public bounds: nobody's value is known within less than the width.

`rule = "strict"` tests that directly. The answers to a query that leave everybody the width are an
interval. Answers inside are given; below and above it are two cells of denial, each with the safe slice at
its end, and the log notes on which side the truth lies. Whether it is the lower or the upper cell is
secret; an adversary who were told would still find everybody free.

`rule = "source"` is Zhang (2010), Algorithm 3.2, as printed. Its Test 2 does not imply what it promises:
four people of six can end within two thirds of the width. It is here to be compared with.

Floats. Answers, bounds and the log are exact fractions, and whether a sum follows from earlier ones is
decided exactly. Linear programs and proofs are in floats, so the interval is drawn in by a margin on both
sides before it is used: what is nearer to the end than that is denied, and no undecided program answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np

from privet.disclose.audit.certify import Standard, interior, proved
from privet.disclose.audit.decision import Constraint, Decision, Family, Plan, family_of
from privet.disclose.audit.exact import Column, Members, exact, written
from privet.disclose.audit.lazy import Refined
from privet.disclose.audit.polytope import Polytope, Scale
from privet.disclose.audit.rows import Rows
from privet.disclose.audit.solver import Floats, UndecidedError
from privet.disclose.audit.whole import WholeLog
from privet.errors import InputError, UnsupportedError, one_of

RULES = ("strict", "source")
SEARCHES = ("exact", "certified")
FEW = 40  # kinds of people; up to here linear programs find the whole interval quickly enough
PROGRAMMED = 100  # kinds of people; up to here those who cannot be proved get linear programs of their own
PROGRAMS = 40  # people who may get them, for one query
BOUNDED = 60  # denials in the log; the same
MARGIN = 1e-7  # relative to the size of the query in widths; far above the solver's tolerance
WIDEST = 10**9  # widths between bounds; beyond, floats could not tell one width from none
ROUNDING = 1e-14  # relative to all bounds together in widths; a hundred times what a float is off

Bound = int | str | float | Fraction


@dataclass(frozen=True)
class SumPlan:
    """An interval of answers that are given; outside, which side is logged and where."""

    family: Family
    implied: bool  # follows from earlier answers: tells nothing
    low: Fraction | None = None  # None, None: no answer is safe
    high: Fraction | None = None
    slack: Fraction = Fraction(0)  # how much two runs may differ by rounding

    def judge(self, truth: Fraction) -> Decision:
        """Inside: answered. Outside: denied, with the side noted."""
        if self.implied:
            return Decision(truth)
        if self.low is None or self.high is None or self.family is Family.SIMULATABLE:
            return Decision(None)
        if self.low < truth < self.high:
            return Decision(truth, Constraint("=", truth))
        if self.family is Family.SIMPLE:
            return Decision(None)
        if truth <= self.low:
            return Decision(None, Constraint("<=", self.low))
        return Decision(None, Constraint(">=", self.high))

    def allows(self, decision: Decision) -> bool:
        """With a hair's breadth for rounding that differs between machines."""
        made = decision.constraint
        if decision.answer is not None:
            if self.implied or self.low is None or self.high is None:
                return self.implied and made is None
            return self.low - self.slack < decision.answer < self.high + self.slack
        if self.implied or made is None or self.low is None or self.high is None:
            return (
                not self.implied and made is None and (self.low is None or self.family is not Family.BINDING)
            )
        end = self.low if made.relation == "<=" else self.high
        return made.relation != "=" and abs(made.value - end) <= self.slack

    def explain(self) -> list[str]:
        """The interval of answers that are given."""
        if self.implied:
            return ["follows from earlier answers: answered whatever it is"]
        if self.low is None or self.high is None or self.family is Family.SIMULATABLE:
            return ["no answer is safe: denied whatever it is, and nothing is logged"]
        return [f"answered between {written(self.low)} and {written(self.high)}, both excluded"]


@dataclass(frozen=True)
class SourcePlan:
    """Algorithm 3.2: answers two widths inside the possible ones; near the ends they are paired."""

    determined: bool
    least: Fraction = Fraction(0)
    most: Fraction = Fraction(0)
    width: Fraction = Fraction(1)

    def _within(self, value: Fraction, widths: int) -> bool:
        room = widths * self.width
        return self.least + room <= value <= self.most - room

    def judge(self, truth: Fraction) -> Decision:
        """The logged value is always the safe one of the pair."""
        if self.determined:
            return Decision(None)
        if self._within(truth, 2):
            return Decision(truth, Constraint("=", truth))
        for value in (truth, truth + self.width, truth - self.width):
            if self._within(value, 1):
                return Decision(None, Constraint("=", value))
        return Decision(None)

    def allows(self, decision: Decision) -> bool:
        """The answer judged again; of a denial only its logged value can be."""
        if decision.answer is not None:
            return self.judge(decision.answer) == decision
        made = decision.constraint
        return made is None or (not self.determined and self._within(made.value, 1))

    def explain(self) -> list[str]:
        """The possible answers."""
        if self.determined:
            return ["somebody would be determined whatever the bounds are: denied, and nothing is logged"]
        return [f"possible answers from {written(self.least)} to {written(self.most)}"]


class SumAuditor:
    """Decides SUM queries about people with public bounds."""

    def __init__(
        self,
        low: Sequence[Bound],
        high: Sequence[Bound],
        *,
        width: Bound = 1,
        family: str | Family = Family.BINDING,
        rule: str = "strict",
        search: str | None = None,
        grid: Bound | None = None,
        unsafe: bool = False,
    ) -> None:
        lows, highs, self.width = [exact(v) for v in low], [exact(v) for v in high], exact(width)
        self.grid = exact(grid) if grid else None
        if self.grid is not None and self.grid < 0:
            raise InputError("grid: is above 0, or 0 if nobody takes values for multiples of anything")
        if self.grid is not None:  # nobody is at a bound that no multiple reaches
            lows = [ceil(edge / self.grid) * self.grid for edge in lows]
            highs = [floor(edge / self.grid) * self.grid for edge in highs]
        if not lows or len(lows) != len(highs):
            raise InputError("give everybody a lower and an upper bound")
        if self.width <= 0:
            raise InputError("width: is above 0")
        narrow = sum(b - a < self.width for a, b in zip(lows, highs, strict=True))
        if narrow:
            raise InputError(
                f"the bounds of {narrow} people are narrower than the width: they are known already; "
                "widen the bounds, or protect a smaller width"
            )
        if max(b - a for a, b in zip(lows, highs, strict=True)) > WIDEST * self.width:
            raise InputError(f"the bounds are more than {WIDEST:,} widths apart: protect a larger width")
        if rule not in RULES:
            raise InputError(one_of("rule", RULES, rule))
        if rule == "source" and not unsafe:
            raise UnsupportedError(
                "rule = 'source' can leave people within less than the width; it is here to be compared "
                "with: unsafe=True"
            )
        if search is not None and search not in SEARCHES:
            raise InputError(one_of("search", SEARCHES, search))
        if self.grid is not None and (rule == "source" or family_of(family, unsafe=unsafe) is Family.SIMPLE):
            raise UnsupportedError("grid: the baselines take values for real numbers")
        self.low, self.high = tuple(lows), tuple(highs)
        self.family = family_of(family, unsafe=unsafe)
        self.rule, self.search = rule, search
        self.scale = Scale(self.low, self.width)
        room = [float((b - a) / self.width) for a, b in zip(lows, highs, strict=True)]
        self.polytope = Polytope(np.array(room))
        self._whole = None if self.grid is None else _whole(lows, highs, self.width, self.grid)
        self._rows = Rows(len(lows))
        self._centre: tuple[Standard, Floats] | None = None
        self._near: Floats | None = None  # the last centre

    @property
    def n(self) -> int:
        """How many people."""
        return len(self.low)

    def true_answer(self, column: Column, members: Members) -> Fraction:
        """The sum."""
        return column.sum(members)

    def check(self, column: Column) -> None:
        """Within the public bounds, and on the grid: an answer off it would have no place in the plan."""
        if self.grid is not None and not column.multiples(self.grid):
            raise InputError("somebody's value is not a multiple of the grid")
        if not column.inside(self.low, self.high):
            raise InputError("somebody's value lies outside the public bounds")

    def plan(self, members: Members) -> SumPlan | SourcePlan:
        """What to do, from the log alone."""
        if self.rule == "source":
            return self._source(members)
        if self._rows.implied(members):
            return SumPlan(self.family, implied=True)
        if self.family is Family.SIMULATABLE:
            # Somebody at a bound is always possible, and the answer at that end tells who.
            return SumPlan(self.family, implied=False)
        if self._whole is not None and self.grid is not None:
            return self._on_grid(members, self._whole, self.grid)
        try:
            found = self._exact(members) if self._few(members) else self._certified(members)
        except UndecidedError:
            found = None
        margin = MARGIN * max(1.0, float(self.polytope.high[members].sum()))
        if found is None or found[0] + margin >= found[1] - margin:
            return SumPlan(self.family, implied=False)
        return SumPlan(
            self.family,
            implied=False,
            low=self.scale.outward(members, found[0] + margin),
            high=self.scale.outward(members, found[1] - margin),
            slack=Fraction(margin) * self.width,
        )

    def _on_grid(self, members: Members, whole: WholeLog, grid: Fraction) -> SumPlan:
        ends = whole.interval(members)
        if ends is None or ends[1] - ends[0] < 2:  # nothing lies between them
            return SumPlan(self.family, implied=False)
        low, high = (self.scale.shift(members) + grid * end for end in ends)
        return SumPlan(self.family, implied=False, low=low, high=high)

    def _few(self, members: Members) -> bool:
        """Are there few enough kinds of people for linear programs? Unless the owner said which way."""
        if self.search is not None:
            return self.search == "exact"
        if len(self.polytope.at_most) > BOUNDED:
            return False
        query = np.zeros(self.n)
        query[members] = 1.0
        return len(self.polytope.alike(query).first) <= FEW

    def _exact(self, members: Members) -> tuple[float, float] | None:
        if not self.polytope.apart(members):
            return None
        return self.polytope.safe_interval(members, 1 + self._spare())

    def _spare(self) -> float:
        # Right sides are rounded to floats; where bounds are very many widths apart, that counts as well.
        return max(MARGIN, ROUNDING * float(self.polytope.high.sum()))

    def _certified(self, members: Members) -> tuple[float, float] | None:
        if self._centre is None:
            problem = Standard.of(self.polytope)
            self._centre = problem, interior(problem, self._near)
            self._near = self._centre[1]
        problem, centre = self._centre
        query = np.zeros(self.n)
        query[members] = 1.0
        kinds = len(self.polytope.alike(query).first)
        if kinds > PROGRAMMED or not self.polytope.apart(members):
            found = proved(problem, centre, members)
            return None if found is None else (found.low, found.high)
        row = np.append(query, np.zeros(problem.rows.shape[1] - self.n))
        spare = self._spare()
        least, most = self.polytope.extent(query)
        return Refined(
            problem,
            centre,
            row,
            lambda people: self.polytope.safe_interval(members, 1 + spare, people),
            PROGRAMS,
            least,
            most,
        ).interval(members)

    def _source(self, members: Members) -> SourcePlan:
        if self._rows.would_determine(members):
            return SourcePlan(determined=True)
        goal = np.zeros(self.n)
        goal[members] = 1.0
        try:
            least, most = self.polytope.extent(goal)
        except UndecidedError:
            return SourcePlan(determined=True)
        # Nine digits: the printed rule has no margin, and its ends are meant to be round numbers.
        ends = [self.scale.outward(members, 0.0) + self.width * exact(round(end, 9)) for end in (least, most)]
        return SourcePlan(determined=False, least=ends[0], most=ends[1], width=self.width)

    def record(self, members: Members, decision: Decision, plan: Plan | None = None) -> None:  # noqa: ARG002 - an auditor's form
        """Take a decision into the log."""
        made = decision.constraint
        if made is None:
            return
        self._centre = None
        if self._whole is not None and self.grid is not None:
            steps = (made.value - self.scale.shift(members)) / self.grid
            if made.relation == "=":
                self._whole.equal.append((members, int(steps)))
                self._rows.add(members)
            else:
                self._whole.bound(members, 1 if made.relation == "<=" else -1, int(steps))
            return
        value = self.scale.inward(members, made.value)
        if made.relation == "=":
            self.polytope.equal.append((members, value))
            self._rows.add(members)
        else:
            self.polytope.bound(members, 1.0 if made.relation == "<=" else -1.0, value)


def _whole(low: list[Fraction], high: list[Fraction], width: Fraction, grid: Fraction) -> WholeLog:
    """The same, in steps of the grid."""
    return WholeLog(tuple(int((b - a) / grid) for a, b in zip(low, high, strict=True)), ceil(width / grid))
