"""Evidence: what was promised, what was achieved, and digests of everything in the folder.

`evidence.json` has a version of its own. A reader refuses a version it does not know; a field is
never removed or given another meaning within one version, only added (docs/reference/evidence.md).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from privet.core import (
    Column,
    Form,
    Generalization,
    Perturbation,
    Policy,
    PrivacyModel,
    Recoding,
    Regions,
    Role,
    Shown,
    Step,
    Tally,
    Verdict,
)
from privet.domain import Domain, Node, Value, plain
from privet.errors import TamperedError
from privet.policy.notation import describe

VERSION = 1


def promise(model: PrivacyModel, verdict: Verdict) -> dict[str, Any]:
    """A promise and what was found when it was checked."""
    return {
        "model": describe(model),
        **({} if verdict.about is None else {"about": verdict.about}),
        "holds": verdict.holds,
        "achieved": {name: number(value) for name, value in verdict.achieved.items()},
        "broken": verdict.broken,
        "at_risk": verdict.at_risk,
    }


def construction(model: PrivacyModel, claims: Mapping[str, int | Fraction]) -> dict[str, Any]:
    """A promise about how the release was made: what was done, which nobody can check from it."""
    return {
        "model": describe(model),
        "holds": True,
        "checked": False,
        "achieved": {name: number(value) for name, value in claims.items()},
        "broken": 0,
        "at_risk": 0,
    }


def made(evidence: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """The promises of a release that are about how it was made."""
    return tuple(claim for claim in evidence["promises"] if not claim.get("checked", True))


def other_promises(
    verdicts: Sequence[tuple[PrivacyModel, Verdict]], claimed: Sequence[Mapping[str, Any]]
) -> list[str]:
    """What the evidence claims of its promises, and the data does not show."""
    made = [promise(model, verdict) for model, verdict in verdicts]
    claimed = [claim for claim in claimed if claim.get("checked", True)]
    complaints = []
    if len(made) != len(claimed):
        complaints.append(f"the evidence speaks of {len(claimed)} promises, the policy of {len(made)}")
    for mine, theirs in zip(made, claimed, strict=False):
        if mine != theirs:
            complaints.append(f"{mine['model']['type']}: the evidence claims other numbers than the data has")
    return complaints


def number(value: int | Fraction) -> int | str:
    """Exact: a whole number, or a fraction as text."""
    return int(value) if isinstance(value, int) or value.denominator == 1 else str(value)


def node_values(domain: Domain, nodes: Sequence[Node]) -> list[dict[str, Any]]:
    """What an attribute's values are published as; all of it can be seen in the data or derived from it."""
    found = []
    for node in nodes:
        value: dict[str, Any] = {"label": node.label, "loss": round(domain.loss(node), 9)}
        if node.interval is not None:
            value["interval"] = [plain(bound) for bound in node.interval]
        if node.leaves == domain.size > 1:
            value["root"] = True
        found.append(value)
    return found


def attribute_notes(policy: Policy, recoding: Recoding, columns: Sequence[str], raw: Tally) -> dict[str, Any]:
    """For each column that the policy names: its role and what became of it."""
    notes: dict[str, Any] = {}
    for attribute in policy.attributes:
        note: dict[str, Any] = {"role": attribute.role.value}
        column = raw.column(attribute.name)
        if isinstance(recoding, Perturbation) and attribute.name in recoding.labels:
            note["published"] = "perturbed"
        elif attribute.role is Role.QUASI and column is not None and not isinstance(recoding, Perturbation):
            note |= _generalised(column, recoding, raw)
        elif attribute.name not in columns:
            note["published"] = "dropped"
        else:
            note["published"] = attribute.disguise.name if attribute.disguise is not None else "unchanged"
        notes[attribute.name] = note
    return notes


def _generalised(column: Column, recoding: Generalization | Regions, raw: Tally) -> dict[str, Any]:
    if isinstance(recoding, Generalization):
        cut = recoding.cuts[column.name]
        untouched, values = cut.untouched, node_values(cut.domain, cut.nodes)
    else:
        shown = recoding.shown(column)
        untouched, values = shown.untouched, node_values(shown.domain, shown.used)
        for value, loss in zip(values, _mean_losses(shown, raw), strict=True):
            value["loss"] = loss
    # Values that are published as they are stand in the data; a list of them adds nothing.
    return {"published": "unchanged"} if untouched else {"published": "generalised", "values": values}


def _mean_losses(shown: Shown, raw: Tally) -> list[float]:
    """The loss of each label, averaged over records: regions of different width may read alike."""
    kept = raw.counts if shown.kept is None else raw.counts * shown.kept
    records = np.bincount(shown.positions, weights=kept, minlength=len(shown.nodes))
    paid: dict[Value, float] = {}
    times: dict[Value, float] = {}
    for at in np.flatnonzero(records).tolist():
        node = shown.nodes[at]
        paid[node.label] = paid.get(node.label, 0.0) + shown.domain.loss(node) * records[at]
        times[node.label] = times.get(node.label, 0.0) + records[at]
    return [round(paid[node.label] / times[node.label], 9) for node in shown.used]


def step_notes(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """The search's log, less what is not published: where a refused split would have been made."""
    notes = []
    for step in steps:
        note: dict[str, Any] = {"attribute": step.attribute, "label": step.label}
        if step.performed:
            note |= {"children": list(step.children), "score": step.score}
        else:
            note["refused"] = step.reason
        notes.append(note)
    return notes


def cuts_after(steps: Sequence[Step]) -> list[tuple[Value, ...]]:
    """For each step of the log, what its attribute's values are published as after it."""
    cuts: dict[str, list[Value]] = {}
    found = []
    for step in steps:
        cut = cuts.setdefault(step.attribute, [step.label])  # a search starts at the roots
        if step.performed:
            at = cut.index(step.label)
            cut[at : at + 1] = step.children
        found.append(tuple(cut))
    return found


def form_notes(form: Form) -> dict[str, Any]:
    """What a reader must know to read the data file again."""
    notes: dict[str, Any] = {"format": form.format, "encoding": form.encoding, "nulls": list(form.nulls)}
    if form.delimiter is not None:
        notes["delimiter"] = form.delimiter
    return notes


def header() -> dict[str, Any]:
    """Who says this, and when."""
    return {
        "evidence": VERSION,
        "software": f"privet {version('privet')}",
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write(path: Path, evidence: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(evidence, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read(folder: Path) -> dict[str, Any]:
    """The evidence of a release folder; refused where it is no evidence that this version can read."""
    path = folder / "evidence.json"
    try:
        evidence = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise TamperedError(f"{folder}: no evidence.json; this is not a release folder") from None
    except (UnicodeDecodeError, json.JSONDecodeError, IsADirectoryError, NotADirectoryError):
        raise TamperedError(f"{path}: this is not JSON") from None
    if not isinstance(evidence, dict) or evidence.get("evidence") != VERSION:
        raise TamperedError(f"{path}: this is not evidence of version {VERSION}; a newer privet may read it")
    return evidence
