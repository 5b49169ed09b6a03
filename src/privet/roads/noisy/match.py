"""Is a release the one that its ledger entered? Ties a folder to the entry that paid for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from privet.dp.entries import Entry
from privet.dp.ledger import Ledger
from privet.errors import InputError
from privet.evidence import folder as ev
from privet.evidence.values import Paid
from privet.hierarchy.numbers import fraction
from privet.release import read_private


def ledger_of(folder: Path) -> str:
    """Where the steward's notes beside a release say that it was paid."""
    notes = read_private(folder) or {}
    found = notes.get("ledger")
    if not isinstance(found, str):
        raise InputError(f"{folder}: no private notes beside it say which ledger paid; say --ledger")
    return found


def matched(folder: Path, ledger: Ledger) -> tuple[Entry | None, list[str]]:
    """The entry of a release, and everything in which the two differ."""
    evidence = ev.read(folder)
    paid = evidence.ledger
    if paid is None:
        raise InputError(f"{folder}: this release was not paid for in a ledger")
    entry = next((one for one in ledger.releases() if one.release == paid.release), None)
    if entry is None:
        return None, [f"{ledger.place} has no entry of this release"]
    differences = _differences(folder, paid, entry, together=evidence.joint is not None)
    return entry, [*differences, *ev.file_complaints(folder, evidence)]


def _differences(folder: Path, paid: Paid, entry: Entry, *, together: bool) -> Iterator[str]:
    """`together`: several parties paid, each from a data set that is called as it likes."""
    if entry.digest != f"sha256:{ev.digest(folder / 'evidence.json')}":
        yield (
            "the ledger never saw it leave"
            if entry.state == "reserved"
            else "its evidence is not what the ledger saw leave"
        )
    if not together and entry.dataset != paid.dataset:
        yield "the ledger entered it for another data set"
    try:
        said = fraction(paid.epsilon), paid.records_per_person
        spends = [(one.purpose, one.mechanism, fraction(one.epsilon), one.group) for one in paid.spends]
    except ValueError:
        yield "its evidence has payments that are not payments"
        return
    if said != (entry.epsilon, entry.per_person):
        yield "the ledger entered another epsilon"
    if spends != [(one.purpose, one.mechanism, one.epsilon, one.group) for one in entry.spends]:
        yield "the ledger entered other payments"
