"""Replay a log: does every decision follow from those before it, and is everybody still free?

The decisions are planned again from the log alone. Then what the log allows is examined with plain code
that the auditors do not use. The log allows no more than what an adversary thinks possible who knows every
answer and every denial, so whoever is free in the log is free for the adversary.
"""

from __future__ import annotations

from dataclasses import dataclass

from privet.disclose.audit.config import AuditConfig, AuditedColumn
from privet.disclose.audit.examine import examine_max, examine_sum, examine_whole
from privet.disclose.audit.log import AuditLog, Entry
from privet.disclose.audit.watched import Watched, bounds_of
from privet.witness import Witness


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
        closest, breach = examine_max(facts, settings.ends()[0])
    elif settings.grid:
        closest, breach = examine_whole(*bounds, settings.width, settings.grid, facts)
    else:
        closest, breach = examine_sum(*bounds, settings.width, facts)
    if breach:
        complaints.append(f"{name}: {breach}")
    return Replayed(name, settings.kind, n, answered, len(entries) - answered, closest, tuple(complaints))


def _true(watched: Watched, entry: Entry) -> bool:
    said = entry.decision.answer
    return said is None or said == watched.auditor.true_answer(watched.column, entry.members)
