"""What an auditor decides, and the two steps in which it does: a plan from the log, then the truth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Literal, Protocol

from privet.disclose.audit.exact import Column, Members, members_of
from privet.errors import InputError, UnsupportedError, one_of

Relation = Literal["=", "<=", ">="]


class Family(Enum):
    """How an auditor decides; `simple` leaks by its denials."""

    SIMPLE = "simple"
    SIMULATABLE = "simulatable"
    BINDING = "binding"


class Denied(Enum):
    """The one word for every refusal to answer, whatever the reason."""

    DENIED = "denied"

    def __str__(self) -> str:
        return self.value

    def __repr__(self) -> str:
        return self.value


DENIED = Denied.DENIED


@dataclass(frozen=True, slots=True)
class Constraint:
    """What the log says about a query from now on."""

    relation: Relation
    value: Fraction


@dataclass(frozen=True, slots=True)
class Decision:
    """An answer (None: denied), what the log learns, and whether the truth may now contradict the log."""

    answer: Fraction | None
    constraint: Constraint | None = None
    off: bool = False


class Plan(Protocol):
    """What will be said for every possible answer. Made from the log, before the truth is looked at."""

    def judge(self, truth: Fraction) -> Decision:
        """The decision for the true answer."""

    def allows(self, decision: Decision) -> bool:
        """Could this plan have led to that decision? For whoever replays a log."""

    def explain(self) -> list[str]:
        """Why, for the owner only: it names values of the log."""


class Auditor(Protocol):
    """Holds a log and no data. The same log always gives the same plan."""

    @property
    def n(self) -> int:
        """How many people."""

    def plan(self, members: Members) -> Plan:
        """What to do about a query, from the log alone."""

    def record(self, members: Members, decision: Decision, plan: Plan | None = None) -> None:
        """Take a decision into the log; its plan, where it is at hand, spares work."""

    def true_answer(self, column: Column, members: Members) -> Fraction:
        """What the query asks for."""

    def check(self, column: Column) -> None:
        """Is the data what everybody is taken to know of it? Where it is not, no denial could be trusted."""


class Session:
    """An auditor and the secret it guards, in memory: `ask` answers or says DENIED.

    >>> from privet.disclose.audit.maximum import MaxAuditor
    >>> session = Session([5, 1, 2, 3], MaxAuditor(4))
    >>> session.ask({0, 1}), session.ask({1, 2, 3}), session.ask({1, 2, 3})
    (Fraction(5, 1), denied, denied)
    """

    def __init__(self, values: Iterable[object] | Column, auditor: Auditor) -> None:
        self.column = values if isinstance(values, Column) else Column(list(values))
        if len(self.column) != auditor.n:
            raise InputError(f"there are {len(self.column)} values for {auditor.n} people")
        auditor.check(self.column)
        self.auditor = auditor

    def ask(self, query: Iterable[int]) -> Fraction | Denied:
        """The exact answer, or DENIED."""
        decision = self.decide(members_of(query, self.auditor.n))
        return DENIED if decision.answer is None else decision.answer

    def decide(self, members: Members) -> Decision:
        """Plan, then look; nothing else may reach for the truth."""
        plan = self.auditor.plan(members)
        decision = plan.judge(self.auditor.true_answer(self.column, members))
        self.auditor.record(members, decision, plan)
        return decision

    def explain(self, query: Iterable[int]) -> list[str]:
        """For the owner: what the plan is, without asking. It names values of the log."""
        return self.auditor.plan(members_of(query, self.auditor.n)).explain()


def family_of(name: str | Family, *, unsafe: bool) -> Family:
    """A family by its name; the leaky baseline only for those who say that they know."""
    try:
        family = Family(name)
    except ValueError:
        raise InputError(one_of("family", [one.value for one in Family], name)) from None
    if family is Family.SIMPLE and not unsafe:
        raise UnsupportedError(
            "family = 'simple' gives people away by its denials; it is here to be compared with: unsafe=True"
        )
    return family
