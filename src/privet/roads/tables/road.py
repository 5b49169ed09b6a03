"""Tables: searched on counts, recoded by an engine, checked on what is about to leave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from privet.core import Finding, Generalization, Perturbation, Recoding, Regions, Role, Tally
from privet.engine import Engine, Tallied
from privet.errors import UnsupportedError
from privet.evidence import notes as ev
from privet.evidence.folder import FILE, digest
from privet.evidence.folder import read as read_evidence
from privet.evidence.values import Evidence
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
from privet.roads import Found, Verdicts
from privet.roads.driver import Asked, Once, Passed, Stations
from privet.roads.stations import as_written, checkable, columns_needed, data_file, judge, settle
from privet.roads.tables import comparison, explanation, exposure, population
from privet.roads.tables.release import TableRelease


@dataclass(frozen=True)
class Decided:
    """What the search found for everybody, and what that says of the rows that leave."""

    finding: Finding
    recoding: Recoding = field(repr=False)


@dataclass(frozen=True)
class Left:
    """A table that is about to leave, and the one with everybody that it is a part of."""

    everybody: Any = field(repr=False)
    published: Any = field(repr=False)


@dataclass(frozen=True)
class Counted:
    """The same two, counted again as they stand."""

    whole: Tally
    final: Tally


class TableRoad(Stations[Any, Tallied, Decided, Left, Counted]):
    """Tables: one row for each person, generalised, split into regions or perturbed."""

    name: ClassVar[str] = "table"

    def refuse(self, asked: Asked) -> None:
        as_written(asked.form, asked.output)

    def read(self, asked: Asked) -> Any:
        return asked.engine.read(asked.source, asked.form, columns_needed(asked.policy))

    def count(self, asked: Asked, data: Once[Any]) -> Tallied:
        return asked.engine.tally(data.take(), asked.policy)

    def search(self, asked: Asked, counts: Tallied) -> Decided:
        raw, policy = counts.tally, asked.policy
        if asked.like is None:
            found = policy.algorithm.search(raw, population.searched(policy), asked.progress)
        else:
            found = Finding(recoding_of(asked.like, raw, policy, asked.engine))
        return Decided(found, population.recoding_of_part(raw, policy, found.recoding))

    def apply(self, asked: Asked, counts: Tallied, found: Decided) -> Left:
        everybody = asked.engine.apply(counts, asked.policy, found.finding.recoding)
        return Left(everybody, population.rows_that_leave(asked.engine, everybody, asked.policy))

    def look(self, asked: Asked, leaving: Left) -> Counted:
        engine, policy = asked.engine, asked.policy
        final = engine.tally_published(leaving.published, population.leaving(policy))
        whole = engine.tally_published(leaving.everybody, policy) if policy.publish_only else final
        return Counted(whole, final)

    def judge(self, asked: Asked, seen: Counted) -> Verdicts:
        return population.judge_all(seen.whole, seen.final, asked.policy)

    def measure(self, passed: Passed[Tallied, Decided, Left, Counted]) -> tuple[ev.Told, dict[str, Any]]:
        asked, policy, final = passed.asked, passed.policy, passed.seen.final
        finding, recoding = passed.found.finding, passed.found.recoding
        relaxed = asked.beside.submit(
            relaxations,
            passed.counts.tally,
            policy,
            finding if not policy.publish_only else Finding(recoding),
            describe=describe,
        )
        worst = asked.beside.submit(worst_classes, final)
        raw = population.part_that_leaves(passed.counts.tally, policy)
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
        columns = asked.engine.columns(passed.leaving.published)
        attributes = ev.attribute_notes(policy, recoding, columns, raw)
        for name, kind in recoding_types(raw, recoding).items():
            attributes[name]["recoding"] = kind
        copies = recoding.copies if isinstance(recoding, Perturbation) else 1
        told = ev.Told(
            records=final.records,
            suppressed_records=raw.records - final.records,
            columns=columns,
            promises=[
                *(population.promise(model, verdict) for model, verdict in passed.verdicts),
                *(
                    ev.construction(model, finding.claims)
                    for model in policy.models
                    if model not in checkable(policy)
                ),
            ],
            recoding=recoding.name,
            attributes=attributes,
            steps=ev.step_notes(finding.steps),
            notes=[*finding.notes, *remarks(policy)],
            measures=measures,
            more={
                "copies": copies if copies > 1 else None,
                "population": passed.seen.whole.records if policy.publish_only else None,
                "like": None if asked.like is None else digest(asked.like / FILE),
            },
        )
        return told, {
            "relaxations": relaxed.result(),
            "published_as": published_as(raw, recoding),
            "leaf_order": leaf_order(raw, recoding),
            **({"reasons": list(finding.reasons)} if finding.reasons else {}),
        }

    def release(
        self,
        passed: Passed[Tallied, Decided, Left, Counted],
        evidence: Evidence,
        private: Mapping[str, Any],
    ) -> TableRelease:
        asked = passed.asked
        return TableRelease(
            table=passed.leaving.published,
            engine=asked.engine,
            policy=asked.policy,
            recoding=passed.found.recoding,
            verdicts=passed.verdicts,
            evidence=evidence,
            steps=passed.found.finding.steps,
            form=as_written(asked.form, asked.output),
            private=private,
        )

    def check(self, source: Any, policy: Policy, *, engine: Engine[Any]) -> Verdicts:
        table = engine.read(source, settle(source, policy.form), columns_needed(policy))
        everybody = engine.tally_published(table, policy)
        return population.judge_all(everybody, population.part_that_leaves(everybody, policy), policy)

    def verify(self, folder: Path, evidence: Evidence, policy: Policy, *, engine: Engine[Any]) -> Found:
        data, form = data_file(folder, evidence)
        left = population.leaving(policy)
        table = engine.read(data, form)
        found = engine.columns(table)
        allowed = {attribute.name for attribute in left.attributes if attribute.published}
        complaints = [
            f"column {name!r} is published, the policy does not allow it"
            for name in found
            if name not in allowed
        ]
        missing = [name for name in dict.fromkeys([*evidence.columns, *sorted(allowed)]) if name not in found]
        complaints += [f"column {name!r} is missing from the data" for name in missing]
        if any(a.name in missing for a in left.with_role(Role.QUASI, Role.SENSITIVE, Role.TARGET)):
            return Found((), tuple(complaints))
        tally = engine.tally_published(table, left)
        if tally.records != evidence.records:
            complaints.append(
                f"the evidence speaks of {evidence.records} records, the data has {tally.records}"
            )
        verdicts = judge(tally, left)
        return Found(verdicts, (*complaints, *ev.other_promises(verdicts, evidence.promises)))

    risk = staticmethod(exposure.risk)
    compare = staticmethod(comparison.compare)
    explain = staticmethod(explanation.explain)


def recoding_of(like: Path, raw: Tally, policy: Policy, engine: Engine[Any]) -> Recoding:
    """The recoding of an earlier release on this table's values, or a refusal that says what does not fit."""
    evidence = read_evidence(like)
    how = evidence.recoding
    if how == Generalization.name:
        return same_cuts(raw, evidence)
    if how != Regions.name:
        raise UnsupportedError(
            f"the earlier release changed values record by record ({how}); only ranges of values fit other "
            "records: publish without --like"
        )
    refuse_other_than_boxes(evidence)
    path, form = data_file(like, evidence)
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
