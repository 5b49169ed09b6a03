"""Anybody re-checks a release from its folder alone.

Digests say that the files are those the evidence speaks of; the promises are checked again on the
data file as it lies there, by the models' own code, which no search uses; and every number that the
evidence claims must come out again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from privet.core import Engine, Form, PrivacyModel, Role, Verdict
from privet.errors import InputError, PolicyError, TamperedError
from privet.policy import Policy
from privet.registry import find
from privet.report import evidence as ev
from privet.road import judge


@dataclass(frozen=True)
class Verification:
    """What was found in a release folder."""

    folder: Path
    verdicts: tuple[tuple[PrivacyModel, Verdict], ...]
    complaints: tuple[str, ...]  # what is not as the evidence says

    @property
    def holds(self) -> bool:
        return not self.complaints and all(verdict.holds for _, verdict in self.verdicts)


def verify(folder: str | Path, *, engine: Engine[Any] | str = "embedded") -> Verification:
    """Check digests, promises and claims; raise TamperedError only where there is nothing to check."""
    folder = Path(folder)
    evidence = ev.read(folder)
    complaints = _digests(folder, evidence)
    try:
        policy = Policy.load(folder / "policy.toml")
        data, form = folder / str(evidence["data"]["file"]), _form(evidence["data"])
        claimed = list(evidence["promises"])
        columns, records = list(evidence["columns"]), evidence["records"]
    except (KeyError, TypeError):
        raise TamperedError(f"{folder / 'evidence.json'}: this evidence lacks what a release has") from None
    except PolicyError as error:
        raise TamperedError(*(f"the policy cannot be read: {c}" for c in error.complaints)) from None
    if data.parent != folder or not data.is_file():
        raise TamperedError(f"{folder}: the data file that the evidence names is missing")
    where = find("engines", engine)() if isinstance(engine, str) else engine
    try:
        table = where.read(data, form)
    except InputError as error:
        raise TamperedError(
            *complaints, *(f"the data cannot be read: {complaint}" for complaint in error.complaints)
        ) from None
    found = where.columns(table)
    allowed = {attribute.name for attribute in policy.attributes if attribute.published}
    complaints += [
        f"column {name!r} is published, the policy does not allow it" for name in found if name not in allowed
    ]
    missing = [name for name in dict.fromkeys([*columns, *sorted(allowed)]) if name not in found]
    complaints += [f"column {name!r} is missing from the data" for name in missing]
    if any(a.name in missing for a in policy.with_role(Role.QUASI, Role.SENSITIVE, Role.TARGET)):
        return Verification(folder, (), tuple(complaints))
    tally = where.tally_published(table, policy)
    if tally.records != records:
        complaints.append(f"the evidence speaks of {records} records, the data has {tally.records}")
    verdicts = judge(tally, policy)
    made = [ev.promise(model, verdict) for model, verdict in verdicts]
    if len(made) != len(claimed):
        complaints.append(f"the evidence speaks of {len(claimed)} promises, the policy of {len(made)}")
    for mine, theirs in zip(made, claimed, strict=False):
        if mine != theirs:
            complaints.append(f"{mine['model']['type']}: the evidence claims other numbers than the data has")
    return Verification(folder, verdicts, tuple(complaints))


def _digests(folder: Path, evidence: Mapping[str, Any]) -> list[str]:
    files = evidence.get("files")
    if not isinstance(files, dict):
        raise TamperedError(f"{folder / 'evidence.json'}: no digests")
    complaints = []
    for name, digest in files.items():
        path = folder / name
        if path.parent != folder or not path.is_file():
            complaints.append(f"{name} is missing")
        elif ev.digest(path) != digest:
            complaints.append(f"{name} is not the file that the evidence was made for")
    there = {path.name for path in folder.iterdir()}
    complaints += [
        f"{name} is not part of the release" for name in sorted(there - set(files) - {"evidence.json"})
    ]
    return complaints


def _form(notes: Mapping[str, Any]) -> Form:
    return Form(
        format=notes["format"],
        delimiter=notes.get("delimiter"),
        encoding=notes["encoding"],
        nulls=tuple(notes["nulls"]),
    )
