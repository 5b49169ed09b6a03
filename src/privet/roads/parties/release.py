"""A joint release: a folder like any other, of the same bytes at every party.

Whatever stands in it follows from what all parties know at the end: the table, the cuts, the contract and the
moment that the leader named. What only one party knows (the scores that a leader saw, its traffic) stays in
its private notes. So every party writes the release for itself, and can put its name to the others' too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from privet.core import Column, Finding, Tally, Verdicts
from privet.engine import Engine
from privet.errors import InternalError
from privet.evidence import notes as ev
from privet.measure import summary
from privet.measure.summary import dimensionality, recoding_type, worst_classes
from privet.parties.agreement import Agreement
from privet.parties.contract import Contract
from privet.parties.learned import assumed, coalitions, learned
from privet.policy.values import Policy, form_noted
from privet.recoding import Generalization
from privet.roads import absent
from privet.roads.stations import as_written
from privet.roads.tables import cautions
from privet.roads.tables.release import TableRelease
from privet.roads.tables.road import leaf_order, published_as, remarks

UNKNOWN = "unknown, no party has seen the counts of splits that were refused"


@dataclass(frozen=True)
class Run:
    """What all parties of a run know of it beside the contract."""

    session: str  # its id, in hexadecimal digits
    made: int  # when it began, by the leader's clock: seconds since 1970
    certificates: Mapping[str, str] = field(default_factory=dict)  # by party, where it showed one
    rehearsed: bool = False
    signed: bool = True  # by every party, with the key that the contract names

    @property
    def moment(self) -> str:
        return datetime.fromtimestamp(self.made, UTC).isoformat(timespec="seconds")


def release_of(
    table: Any,
    finding: Finding,
    verdicts: Verdicts,
    *,
    contract: Contract,
    run: Run,
    engine: Engine[Any],
    private: Mapping[str, Any],
) -> TableRelease:
    """What was opened, as a release; the same at every party, but for what is private."""
    policy, recoding = contract.policy, finding.recoding
    if not isinstance(recoding, Generalization):
        raise InternalError("a joint search finds cuts")
    final = engine.tally_published(table, policy)
    stand_in = standing_in(final, recoding)
    measures = summary.of_published(stand_in, final, recoding)
    k = max((n for model in policy.models if (n := model.class_size)), default=0)
    if k:
        measures["dimensionality"] = dimensionality(
            final.records, k, len(final.quasi), measures["loss"]["ncp"]
        )
    if found := worst_classes(final):
        measures["worst_classes"] = found
    columns = engine.columns(table)
    attributes = ev.attribute_notes(policy, recoding, columns, stand_in)
    for name, cut in recoding.cuts.items():
        pairs = [(code, node.label) for node in cut.nodes for code in range(node.lo, node.hi)]
        attributes[name]["recoding"] = recoding_type(cut.domain, pairs)
    form = as_written(replace(policy.form, format=policy.form.format or "csv"), None)
    aloud = cautions.of_formulas(engine, table, final, form)
    told = ev.Told(
        records=final.records,
        suppressed_records=0,
        columns=columns,
        promises=[ev.promise(model, verdict) for model, verdict in verdicts],
        recoding=recoding.name,
        attributes=attributes,
        steps=ev.step_notes([replace(step, score=None) for step in finding.steps]),
        notes=[*remarks(policy), *unmet(policy, final)],
        measures=measures,
        cautions=[*ev.CAUTIONS, *map(_sentence, assumed(contract)), *aloud],
        more={"made": run.moment, "joint": joint_note(contract, run)},
    )
    return TableRelease(
        table=table,
        engine=engine,
        policy=policy,
        recoding=recoding,
        verdicts=verdicts,
        evidence=ev.evidence_of(policy, told),
        steps=finding.steps,
        form=form,
        private={
            "form": form_noted(policy.form),
            "published_as": published_as(stand_in, recoding),
            "leaf_order": leaf_order(stand_in, recoding),
            "relaxations": [{"skipped": UNKNOWN}],
            **private,
        },
    )


def unmet(policy: Policy, final: Tally) -> list[str]:
    """What readers should know of protected values that nobody has; raises as `privet publish` does.

    Before the table is opened nobody knows what others have, and all of it is in the table.
    """
    return absent.remarks(policy, absent.of_tally(final), look="correct the contract")


def _sentence(said: str) -> str:
    return f"{said[0].upper()}{said[1:]}."


def joint_note(contract: Contract, run: Run) -> dict[str, Any]:
    """Who took part and what each saw; how much each sent tells how many rows it has, and is not said."""
    return {
        "contract": contract.digest.hex(),
        "session": run.session,
        "split": contract.split.value,
        "reveal": contract.reveal.value,
        "parties": parties_note(contract, learned(contract), run),
        "together": list(coalitions(contract)),
        **({"rehearsed": True} if run.rehearsed else {}),
    }


def parties_note(agreed: Agreement, saw: Mapping[str, Sequence[str]], run: Run) -> list[dict[str, Any]]:
    """By party what it saw, its key and the certificate that it showed."""
    parties = []
    for name in agreed.parties:
        said: dict[str, Any] = {"name": name, "saw": list(saw[name])}
        if run.signed:
            said["key"] = agreed.keys[name]
        if name in run.certificates:
            said["certificate"] = run.certificates[name]
        parties.append(said)
    return parties


def standing_in(final: Tally, recoding: Generalization) -> Tally:
    """For every published record, a value under each that it shows."""

    def under(column: Column) -> Column:
        cut = recoding.cuts[column.name]
        first = {node.label: node.lo for node in reversed(cut.nodes)}
        code = np.array([first[label] for label in column.domain.values], dtype=np.intp)
        return Column(column.name, cut.domain, cut.domain.column(code[column.codes]))

    return replace(final, quasi=tuple(map(under, final.quasi)))
