"""What evidence notes of promises, columns and steps, and evidence made of such notes: in one place.

What a road tells goes through the same reader as a file from a stranger, so that nothing is written that
could not be read again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from fractions import Fraction
from importlib.metadata import version
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
from privet.errors import InternalError, TamperedError
from privet.evidence.promises import Promise
from privet.evidence.values import VERSION, Evidence
from privet.policy.notation import describe

CAUTIONS = (
    "Release one version only: two releases of the same records can be combined by whoever has both.",
    (
        "Promises of this kind do not stop minimality, composition, deFinetti or foreground-knowledge "
        "attacks; differential privacy does."
    ),
)


@dataclass(frozen=True, kw_only=True)
class Told:
    """What a road has to tell of a release; parts as the file has them."""

    records: int
    columns: Sequence[str]
    promises: Sequence[Promise]
    recoding: str
    attributes: Mapping[str, Any]
    measures: Mapping[str, Any]
    suppressed_records: int | None = None  # None: how many there were is not told
    steps: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = ()
    cautions: Sequence[str] = CAUTIONS
    more: Mapping[str, Any] = field(default_factory=dict)  # what only some kinds have


def evidence_of(policy: Policy, told: Told) -> Evidence:
    """The evidence of a release that is not written yet."""
    said: dict[str, Any] = {
        **header(),
        "kind": policy.kind,
        "purpose": policy.purpose,
        "nulls": policy.nulls.value,
        **{one.name: getattr(told, one.name) for one in fields(told) if one.name != "more"},
        "algorithm": describe(policy.algorithm),
        **told.more,
    }
    unknown: list[str] = []
    try:
        made = Evidence.read(
            {one.name: said.pop(one.name) for one in fields(Evidence) if said.get(one.name) is not None},
            unknown=unknown,
        )
    except TamperedError as error:
        raise InternalError(*error.complaints) from None
    if unknown or any(value is not None for value in said.values()):
        raise InternalError(f"evidence has no {', '.join([*unknown, *said])}")
    return made


def promise(model: PrivacyModel, verdict: Verdict) -> Promise:
    """A promise and what was found when it was checked."""
    return Promise(
        model=describe(model),
        about=verdict.about,
        holds=verdict.holds,
        achieved={name: number(value) for name, value in verdict.achieved.items()},
        broken=verdict.broken,
        at_risk=verdict.at_risk,
    )


def construction(model: PrivacyModel, claims: Mapping[str, int | Fraction]) -> Promise:
    """A promise about how the release was made: what was done, which nobody can check from it."""
    return Promise(
        model=describe(model),
        holds=True,
        checked=False,
        achieved={name: number(value) for name, value in claims.items()},
        broken=0,
        at_risk=0,
    )


def other_promises(verdicts: Sequence[tuple[PrivacyModel, Verdict]], claims: Sequence[Promise]) -> list[str]:
    """What the evidence claims of its promises, and the data does not show."""
    made = [promise(model, verdict) for model, verdict in verdicts]
    claimed = [claim for claim in claims if claim.shown]
    complaints = []
    if len(made) != len(claimed):
        complaints.append(f"the evidence speaks of {len(claimed)} promises, the policy of {len(made)}")
    for mine, theirs in zip(made, claimed, strict=False):
        if theirs != mine:
            complaints.append(f"{mine.type}: the evidence claims other numbers than the data has")
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
