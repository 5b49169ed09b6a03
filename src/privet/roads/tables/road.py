"""Tables: searched on counts, recoded by an engine, checked on what is about to leave."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from privet.core import (
    Engine,
    Finding,
    Generalization,
    Perturbation,
    Progress,
    Recoding,
    Regions,
    Role,
    Tally,
)
from privet.errors import UnsupportedError
from privet.measure import summary
from privet.measure.classes import occurring
from privet.measure.dimensions import dimensionality
from privet.measure.relax import relaxations
from privet.measure.worst import worst_classes
from privet.policy.notation import describe
from privet.policy.values import Policy
from privet.relational.recodings import recoding_types
from privet.relational.reuse import same_cuts
from privet.relational.reuse_boxes import refuse_other_than_boxes, same_boxes
from privet.report import evidence as ev
from privet.roads import Found, Verdicts
from privet.roads.stations import (
    CAUTIONS,
    as_written,
    checkable,
    columns_needed,
    data_file,
    judge,
    refuse_broken,
    settle,
    source_digest,
)
from privet.roads.tables import comparison, explanation, exposure, population
from privet.roads.tables.release import TableRelease


class TableRoad:
    """Tables: one row for each person, generalised, split into regions or perturbed."""

    name: ClassVar[str] = "table"

    def publish(
        self,
        source: Any,
        policy: Policy,
        *,
        engine: Engine[Any],
        like: Path | None,
        output: str | None,
        progress: Progress,
    ) -> TableRelease:
        form = settle(source, policy.form)
        written = as_written(form, output)
        # Hashing and measuring need not wait for each other; the check waits for nothing and nobody.
        with ThreadPoolExecutor() as beside:
            digest = beside.submit(source_digest, source)
            progress("read", 0)
            counted = [engine.read(source, form, columns_needed(policy))]
            progress("tally", 0)
            tallied = engine.tally(counted.pop(), policy)  # nothing here holds on to the texts
            raw = tallied.tally
            progress("search", 0)
            if like is None:
                finding = policy.algorithm.search(raw, population.searched(policy), progress)
            else:
                finding = Finding(recoding_of(like, raw, policy, engine))
            recoding = population.recoding_of_part(raw, policy, finding.recoding)
            progress("apply", 0)
            everybody = engine.apply(tallied, policy, finding.recoding)
            published = population.rows_that_leave(engine, everybody, policy)
            progress("check", 0)
            final = engine.tally_published(published, population.leaving(policy))
            whole = engine.tally_published(everybody, policy) if policy.publish_only else final
            verdicts = population.judge_all(whole, final, policy)
            refuse_broken(verdicts, policy, like)
            progress("measure", 0)
            relaxed = beside.submit(
                relaxations,
                raw,
                policy,
                finding if not policy.publish_only else Finding(recoding),
                describe=describe,
            )
            worst = beside.submit(worst_classes, final)
            raw = population.part_that_leaves(raw, policy)
            if recoding.by_record:  # then it speaks of records, and so does what is said of it
                raw = recoding.over(raw)
            measures = summary.measures(raw, final, recoding)
            k = max((n for model in population.leaving(policy).models if (n := model.class_size)), default=0)
            if k and "ncp" in measures["loss"]:
                measures["dimensionality"] = dimensionality(
                    raw.records, k, len(raw.quasi), measures["loss"]["ncp"]
                )
            if found := worst.result():
                measures["worst_classes"] = found
            columns = engine.columns(published)
            attributes = ev.attribute_notes(policy, recoding, columns, raw)
            for name, kind in recoding_types(raw, recoding).items():
                attributes[name]["recoding"] = kind
            evidence: dict[str, Any] = {
                **ev.header(),
                "kind": policy.kind,
                "purpose": policy.purpose,
                "nulls": policy.nulls.value,
                "records": final.records,
                "suppressed_records": raw.records - final.records,
                "columns": list(columns),
                "promises": [
                    *(population.promise(model, verdict) for model, verdict in verdicts),
                    *(
                        ev.construction(model, finding.claims)
                        for model in policy.models
                        if model not in checkable(policy)
                    ),
                ],
                "algorithm": describe(policy.algorithm),
                "recoding": recoding.name,
                "attributes": attributes,
                "steps": ev.step_notes(finding.steps),
                "notes": [*finding.notes, *remarks(policy)],
                "measures": measures,
                "cautions": list(CAUTIONS),
            }
            if isinstance(recoding, Perturbation) and recoding.copies > 1:
                evidence["copies"] = recoding.copies
            if policy.publish_only:
                evidence["population"] = whole.records
            if like is not None:
                evidence["like"] = ev.digest(like / "evidence.json")
            return TableRelease(
                table=published,
                engine=engine,
                policy=policy,
                recoding=recoding,
                verdicts=verdicts,
                evidence=evidence,
                steps=finding.steps,
                form=written,
                private={
                    "source": digest.result(),
                    "relaxations": relaxed.result(),
                    "published_as": published_as(raw, recoding),
                    "leaf_order": leaf_order(raw, recoding),
                    **({"reasons": list(finding.reasons)} if finding.reasons else {}),
                },
            )

    def check(self, source: Any, policy: Policy, *, engine: Engine[Any]) -> Verdicts:
        table = engine.read(source, settle(source, policy.form), columns_needed(policy))
        everybody = engine.tally_published(table, policy)
        return population.judge_all(everybody, population.part_that_leaves(everybody, policy), policy)

    def verify(
        self, folder: Path, evidence: Mapping[str, Any], policy: Policy, *, engine: Engine[Any]
    ) -> Found:
        data, form = data_file(folder, evidence["data"])
        left = population.leaving(policy)
        claimed = list(evidence["promises"])
        columns, records = list(evidence["columns"]), evidence["records"]
        table = engine.read(data, form)
        found = engine.columns(table)
        allowed = {attribute.name for attribute in left.attributes if attribute.published}
        complaints = [
            f"column {name!r} is published, the policy does not allow it"
            for name in found
            if name not in allowed
        ]
        missing = [name for name in dict.fromkeys([*columns, *sorted(allowed)]) if name not in found]
        complaints += [f"column {name!r} is missing from the data" for name in missing]
        if any(a.name in missing for a in left.with_role(Role.QUASI, Role.SENSITIVE, Role.TARGET)):
            return Found((), tuple(complaints))
        tally = engine.tally_published(table, left)
        if tally.records != records:
            complaints.append(f"the evidence speaks of {records} records, the data has {tally.records}")
        verdicts = judge(tally, left)
        return Found(verdicts, (*complaints, *ev.other_promises(verdicts, claimed)))

    risk = staticmethod(exposure.risk)
    compare = staticmethod(comparison.compare)
    explain = staticmethod(explanation.explain)


def recoding_of(like: Path, raw: Tally, policy: Policy, engine: Engine[Any]) -> Recoding:
    """The recoding of an earlier release on this table's values, or a refusal that says what does not fit."""
    evidence = ev.read(like)
    how = evidence.get("recoding", Generalization.name)
    if how == Generalization.name:
        return same_cuts(raw, evidence)
    if how != Regions.name:
        raise UnsupportedError(
            f"the earlier release changed values record by record ({how}); only ranges of values fit other "
            "records: publish without --like"
        )
    refuse_other_than_boxes(evidence)
    path, form = data_file(like, evidence["data"])
    earlier = engine.tally_published(engine.read(path, form), population.leaving(policy))
    return same_boxes(raw, evidence, earlier, policy.algorithm.droppable)


def remarks(policy: Policy) -> list[str]:
    """What models have to say about themselves, for a reader of the release."""
    return [remark for model in policy.models for remark in model.remarks]


def published_as(raw: Tally, recoding: Recoding) -> dict[str, list[dict[str, Any]]]:
    """Under which labels each raw value leaves; for the steward's own eyes."""
    if isinstance(recoding, Perturbation):
        return {}  # by chance, and what became of each record is not kept
    if isinstance(recoding, Generalization):
        return {
            name: [
                {"raw": cut.domain.values[code], "published": node.label}
                for node in cut.nodes
                for code in range(node.lo, node.hi)
            ]
            for name, cut in recoding.cuts.items()
        }
    found = {}
    for column in raw.quasi:
        shown = recoding.shown(column)
        fan = len(shown.nodes)
        pairs = occurring(column.codes.astype(np.int64) * fan + shown.positions, column.domain.size * fan)
        labels = {(int(pair) // fan, shown.nodes[int(pair) % fan].label) for pair in pairs}
        found[column.name] = [
            {"raw": column.domain.values[code], "published": label}
            for code, label in sorted(labels, key=lambda pair: (pair[0], str(pair[1])))
        ]
    return found


def leaf_order(raw: Tally, recoding: Recoding) -> dict[str, dict[str, Any]]:
    """The values of each quasi-identifier in leaf order, and the range of them that each label stands for.

    With it `compare` counts again what was lost; it is for the steward's own eyes.
    """
    found = {}
    for column in raw.quasi:
        ranges: dict[Any, list[Any]] = {}
        if not isinstance(recoding, Perturbation):
            for node in recoding.shown(column).nodes:
                # Labels that read alike (means of groups) stand for all that any of them stands for.
                old = ranges.setdefault(node.label, [node.label, node.lo, node.hi])
                old[1:] = [min(old[1], node.lo), max(old[2], node.hi)]
        found[column.name] = {"values": list(column.domain.values), "ranges": list(ranges.values())}
    return found
