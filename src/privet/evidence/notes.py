"""What evidence notes of promises, columns and steps, and evidence made of such notes: in one place.

What a road tells goes through the same reader as a file from a stranger, so that nothing is written that
could not be read again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np

from privet.core import Choice, Column, Form, PrivacyModel, Role, Step, Tally, Terms, Verdict
from privet.declared import Order
from privet.domain import Domain, Node, Value, plain
from privet.errors import InternalError, TamperedError
from privet.evidence.part import at as placed
from privet.evidence.values import VERSION, Evidence, Promise
from privet.policy.notation import describe
from privet.recoding import Generalization, Perturbation, Recoding, Regions, Shown

CAUTIONS = (
    "Release one version only: two releases of the same records can be combined by whoever has both.",
    (
        "Promises of this kind do not stop minimality, composition, deFinetti or foreground-knowledge "
        "attacks; differential privacy does."
    ),
)


ORDER_KEPT = (
    'The records stand in the order in which they came (the policy says order = "kept"): whoever has the '
    "register in that order reads off whose record is whose, whatever else is promised."
)


SUPPRESSED = (
    "Records were suppressed, and what became of the others was chosen with them in the table: whoever knows "
    "all other records and how privet searches may conclude something of those that are not there."
)


def chosen_with(suppressed: int | None, recoding: str) -> list[str]:
    """What suppressed records have a part in: no label, count or promise, but which recoding was chosen."""
    return [SUPPRESSED] if suppressed and recoding != Perturbation.name else []


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


def evidence_of(policy: Terms, told: Told) -> Evidence:
    """The evidence of a release that is not written yet."""
    said: dict[str, Any] = {
        **header(),
        "kind": policy.kind,
        "purpose": policy.purpose,
        "nulls": policy.nulls.value,
        **{one.name: getattr(told, one.name) for one in fields(told) if one.name != "more"},
        "algorithm": describe(policy.algorithm),
        "cautions": [*told.cautions, *kept_order(policy)],
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


def kept_order(policy: Terms) -> list[str]:
    """What has to be said wherever records leave in the order in which they came."""
    return [ORDER_KEPT] if policy.order is Order.KEPT else []


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
        holds=None,  # nobody has looked, and nobody can
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


def other_columns(evidence: Evidence, found: Sequence[str]) -> list[str]:
    """The evidence names the columns of the data, in their order."""
    if list(evidence.columns) == list(found):
        return []
    return ["columns: the evidence names other columns than the data has, or in another order"]


def other_terms(evidence: Evidence, policy: Terms) -> list[str]:
    """What the evidence says of the policy, and the policy does not."""
    said = [
        ("kind", evidence.kind, policy.kind),
        ("purpose", evidence.purpose, policy.purpose),
        ("nulls", evidence.nulls, policy.nulls.value),
        ("algorithm", evidence.algorithm, describe(policy.algorithm)),
        ("measures: records", evidence.measures.records, evidence.records),
    ]
    complaints = [f"{what}: the evidence speaks of another than the policy" for what, a, b in said if a != b]
    if evidence.suppressed_records is None and evidence.ledger is None:  # none is said with 0
        complaints.append("suppressed_records: is missing")
    roles = {a.name: a.role.value for a in policy.attributes}
    shape = policy.shape  # paths and sets stand in columns that have no role of their own
    own = () if shape is None else shape.columns
    for name, note in evidence.attributes.items():
        allowed = {roles.get(name)} if name in roles else set[str | None]()
        if not allowed and policy.kind == "documents":  # a field that does not leave is not described
            allowed = {"identifier"}
        if name in own:
            allowed |= {"set"} if policy.kind == "transactions" else {"path"}
            allowed |= {"person"} if shape is not None and name == shape.whose else set()
        if note.role not in allowed:
            complaints.append(
                f"attributes: {placed('', name)}: the evidence says another role than the policy"
            )
    missing = [name for name in (*roles, *own) if name not in evidence.attributes]
    return complaints + [f"attributes: {placed('', name)}: is missing" for name in missing]


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


def attribute_notes(policy: Terms, recoding: Recoding, columns: Sequence[str], raw: Tally) -> dict[str, Any]:
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


def choice_notes(choice: Choice | None, *, exact: bool = False) -> dict[str, Any] | None:
    """What was tried and what it lost; whoever receives the release is told whole per cent.

    They are numbers of releases that were not made, and finer ones would tell of the table.
    """
    if choice is None:
        return None
    tried = []
    for one in choice.tried:
        note: dict[str, Any] = {"algorithm": describe(one.algorithm)}
        if one.loss is not None:
            note["loss"] = round(float(one.loss), 9 if exact else 2)
        elif exact:
            note["refused"] = one.refused
        tried.append(note)
    return {"algorithm": describe(choice.algorithm), "by": choice.by, "tried": tried}


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


@cache
def software() -> str:
    """This version of privet, as evidence names it."""
    return f"privet {version('privet')}"


def header() -> dict[str, Any]:
    """Who says this, and when."""
    return {
        "evidence": VERSION,
        "software": software(),
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
    }
