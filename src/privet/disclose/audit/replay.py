"""Replay a log: does every decision follow from those before it, and is everybody still free?

The decisions are planned again from the log alone. Then what the log allows is examined with plain code
that the auditors do not use. The log allows no more than what an adversary thinks possible who knows every
answer and every denial, so whoever is free in the log is free for the adversary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privet.disclose.audit.config import AuditConfig, AuditedColumn
from privet.disclose.audit.decision import Decision
from privet.disclose.audit.desk import Watched, bounds_of
from privet.disclose.audit.exact import Members
from privet.disclose.audit.log import AuditLog, Entry
from privet.witness import Witness

LARGE = 300  # people with histories of their own; beyond, a proof at the centre takes the place of programs
ROUNDING = 1e-6  # of the width: what a linear program may be off


@dataclass(frozen=True)
class Replayed:
    """What was found about one column."""

    column: str
    kind: str
    people: int
    answered: int
    denied: int
    closest: str  # how near it came, in words
    complaints: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not self.complaints


def replay(config: AuditConfig, log: AuditLog, columns: dict[str, Watched] | None = None) -> list[Replayed]:
    """Every column of a log; with the data at hand, answers are compared with it too."""
    entries = list(log.entries())
    if config.witness is not None:
        Witness(config.witness).vouch(log)
    return [
        _replayed(config.columns[name], log, [e for e in entries if e.column == name], columns)
        for name in config.columns
    ]


def _replayed(
    settings: AuditedColumn, log: AuditLog, entries: list[Entry], columns: dict[str, Watched] | None
) -> Replayed:
    name = settings.name
    answered = sum(entry.decision.answer is not None for entry in entries)
    if not entries:
        return Replayed(name, settings.kind, 0, 0, 0, "nothing was asked", ())
    n = entries[0].n
    bounds = bounds_of(log, settings, n)
    auditor = settings.auditor(n, bounds)
    complaints = []
    for entry in entries:
        plan = auditor.plan(entry.members)
        if not plan.allows(entry.decision):
            complaints.append(f"{name}: entry {entry.number} does not follow from the ones before it")
        auditor.record(entry.members, entry.decision)
        if columns is not None and not _true(columns[name], entry):
            complaints.append(f"{name}: entry {entry.number} is not what the data says")
    facts = [(entry.members, entry.decision) for entry in entries]
    if bounds is None or settings.width is None:
        closest, breach = examine_max(facts)
    else:
        closest, breach = examine_sum(*bounds, settings.width, facts)
    if breach:
        complaints.append(f"{name}: {breach}")
    return Replayed(name, settings.kind, n, answered, len(entries) - answered, closest, tuple(complaints))


def _true(watched: Watched, entry: Entry) -> bool:
    said = entry.decision.answer
    return said is None or said == watched.auditor.true_answer(watched.column, entry.members)


def examine_max(facts: Sequence[tuple[Members, Decision]]) -> tuple[str, str | None]:
    """Somebody is determined if a known maximum can be reached by one person only.

    >>> from privet.disclose.audit.decision import Constraint
    >>> five = Decision(Fraction(5), Constraint("=", Fraction(5)))
    >>> examine_max([(np.array([0, 1]), five)])
    ('a logged maximum can be reached by no fewer than 2 people', None)
    >>> three = Decision(Fraction(3), Constraint("=", Fraction(3)))
    >>> examine_max([(np.array([0, 1]), five), (np.array([1, 2]), three)])[1]
    'a logged maximum can be reached by one person only: that person is determined'
    """
    most: dict[int, Fraction] = {}
    known: list[tuple[Members, Fraction]] = []
    for members, decision in facts:
        made = decision.constraint
        value = decision.answer if made is None else made.value
        if value is None:
            continue
        for person in members.tolist():
            if person not in most or value < most[person]:
                most[person] = value
        if made is None or made.relation == "=":
            known.append((members, value))
    if not known:
        return "no maximum is known", None
    fewest = min(sum(most[person] == value for person in members.tolist()) for members, value in known)
    if fewest == 0:
        return "the log contradicts itself", "the log contradicts itself"
    if fewest == 1:
        return "", "a logged maximum can be reached by one person only: that person is determined"
    return f"a logged maximum can be reached by no fewer than {fewest} people", None


def examine_sum(
    low: Sequence[Fraction],
    high: Sequence[Fraction],
    width: Fraction,
    facts: Sequence[tuple[Members, Decision]],
) -> tuple[str, str | None]:
    """How far everybody can still move inside what is known; the least of it must be the width."""
    from privet.disclose.audit.certify import Standard, certified, interior  # noqa: PLC0415 - scipy is an extra
    from privet.disclose.audit.polytope import Polytope, Scale  # noqa: PLC0415 - as above
    from privet.disclose.audit.solver import UndecidedError  # noqa: PLC0415 - as above

    n = len(low)
    scale = Scale(tuple(low), width)
    polytope = Polytope(np.array([float((b - a) / width) for a, b in zip(low, high, strict=True)]))
    for members, decision in facts:
        made = decision.constraint
        if made is None:
            continue
        value = scale.inward(members, made.value)
        if made.relation == "=":
            polytope.equal.append((members, value))
        else:
            polytope.bound(members, 1.0 if made.relation == "<=" else -1.0, value)
    each = polytope.alike().first
    try:
        if len(each) > LARGE:
            problem = Standard.of(polytope)
            if certified(problem, interior(problem)):
                return "everybody is proved to keep the width", None
        narrowest = np.inf
        for person in each.tolist():
            goal = np.zeros(n)
            goal[person] = 1.0
            least, most = polytope.extent(goal)
            narrowest = min(narrowest, most - least)
    except UndecidedError:
        return "the log contradicts itself", "the log contradicts itself, or no program could tell"
    if narrowest < 1 - ROUNDING:
        return "", "somebody is known within less than the width"
    return f"everybody can still be anywhere within {narrowest:.2f} widths or more", None
