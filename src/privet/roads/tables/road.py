"""Tables: searched on counts, recoded by an engine, checked on what is about to leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from privet.core import Finding, Hierarchy, PrivacyModel, Role, Tally, Terms, Verdict, Verdicts
from privet.declared import Order
from privet.engine import Ahead, Cluster, Engine, Tallied
from privet.errors import InputError, InternalError
from privet.evidence import notes as ev
from privet.evidence.folder import FILE, digest
from privet.evidence.values import Evidence, Promise
from privet.measure import summary
from privet.measure.classes import occurring, risk
from privet.measure.relax import relaxations
from privet.measure.summary import dimensionality, recoding_types, worst_classes
from privet.measure.utility import losses
from privet.models.linkage import LinkageCheck
from privet.policy.notation import describe
from privet.policy.values import Policy
from privet.readings import Rows
from privet.recoding import Generalization, Perturbation, Recoding
from privet.relational.fulldomain import FullDomain
from privet.relational.withheld import labels_of_who_leaves, measured_on
from privet.roads import Found, Stations, absent
from privet.roads.absent import Occurring
from privet.roads.stations import (
    Asked,
    Later,
    Once,
    Passed,
    as_written,
    checkable,
    columns_needed,
    data_file,
    judge,
    order_complaints,
    settle,
)
from privet.roads.tables import cautions, persons, population, recounted
from privet.roads.tables.earlier import recoding_of
from privet.roads.tables.release import TableRelease


def as_it_stands(source: Any, policy: Policy, *, engine: Engine[Any]) -> Tally:
    """Data counted without any recoding: what promises about it are asked of, whichever they are."""
    table = persons.opened(engine, source, settle(source, policy.form), policy)
    return engine.tally_published(table, policy)


def judged(everybody: Tally, policy: Policy) -> Verdicts:
    """Every promise that can be checked, on those it is about."""
    return population.judge_all(everybody, population.part_that_leaves(everybody, policy), policy)


@dataclass(frozen=True)
class Decided:
    """What the search found for everybody, and what that says of the rows that leave."""

    finding: Finding
    recoding: Recoding = field(repr=False)
    relaxed: Future[list[dict[str, Any]]] = field(repr=False)  # what one step less would buy


@dataclass(frozen=True)
class Left:
    """A table that is about to leave, and the one with everybody that it is a part of."""

    everybody: Any = field(repr=False)
    counted: Any = field(repr=False)  # what leaves, with whose its rows are where that is counted
    published: Any = field(repr=False)


@dataclass(frozen=True)
class Counted:
    """The same two, counted again as they stand."""

    whole: Tally
    final: Tally
    worst: Future[dict[str, dict[str, Any]]] = field(repr=False)  # the classes that give away most


class TableRoad(Stations[Any, Tallied, Decided, Left, Counted]):
    """Tables: one row for each person, generalised, split into regions or perturbed."""

    name: ClassVar[str] = "table"

    def refuse(self, asked: Asked) -> None:
        as_written(asked.form, asked.output)

    def read(self, asked: Asked) -> Any:
        policy = asked.policy
        if policy.person is None and policy.rows is Rows.PERSONS:  # nobody to look for
            return asked.engine.read(asked.source, asked.form, columns_needed(policy))
        return persons.opened(asked.engine, asked.source, asked.form, policy)

    def count(self, asked: Asked, data: Once[Any]) -> Tallied:
        if isinstance(asked.engine, Cluster) and asked.like is None:
            return asked.engine.counted(data.take(), asked.policy)
        return asked.engine.tally(data.take(), asked.policy)

    def occurring(self, counts: Tallied) -> Occurring:
        return absent.of_tally(counts.tally)

    def search(self, asked: Asked, counts: Tallied) -> Decided:
        raw, policy = counts.tally, asked.policy
        for model in policy.models:
            if isinstance(model, LinkageCheck):
                model.refuse_endless(
                    raw
                )  # the search would look at as many combinations, and again and again
        if asked.like is None:
            terms = population.searched(policy) if policy.publish_only else policy
            found = policy.algorithm.search(counts.searched, terms, asked.progress)
            if isinstance(policy.algorithm, FullDomain):  # searches over boxes draw them around who leaves
                recoding = labels_of_who_leaves(counts.slices, found.recoding, hierarchies(policy))
                found = replace(found, recoding=recoding)
        else:
            found = Finding(recoding_of(asked.like, raw, policy, asked.engine))
        recoding, told = found.recoding, found
        if policy.publish_only:
            recoding = population.recoding_of_part(raw, policy, found.recoding)
            told = Finding(recoding)
        # For the steward's notes, from here on beside all that must happen one after the other.
        relaxed = asked.beside.submit(relaxed_of, counts, policy, told)
        return Decided(found, recoding, relaxed)

    def apply(self, asked: Asked, counts: Tallied, found: Decided) -> Left:
        engine, policy = asked.engine, asked.policy
        terms = policy if policy.person is None else persons.going_along(policy)
        everybody = leaving = engine.apply(counts, terms, found.finding.recoding)
        if policy.publish_only:
            leaving = population.rows_that_leave(engine, everybody, policy)
        published = leaving
        if policy.person is not None:
            leaving = engine.settled(leaving) if isinstance(engine, Cluster) else leaving
            published = persons.left_behind(engine, leaving, policy)
        form = as_written(asked.form, asked.output)
        published = cautions.written(engine, published, policy, form)
        if policy.order is Order.CANONICAL:  # by what leaves, and by nothing that stays
            published = engine.in_order(published)
        if isinstance(engine, Cluster):
            published = engine.settled(published)
        # Beside the check, in a folder of this run's own: it is moved out of it, or gone with it.
        if isinstance(engine, Ahead):
            engine.ahead(published, form, asked.beside)
        counted = published if policy.person is None else leaving
        return Left(everybody if policy.publish_only else counted, counted, published)

    def look(self, asked: Asked, leaving: Left) -> Counted:
        engine, policy = asked.engine, asked.policy
        final = engine.tally_published(leaving.counted, terms_of_who_leaves(policy))
        if policy.person is not None and (
            final.person is None or engine.rows(leaving.counted) != engine.rows(leaving.published)
        ):
            raise InternalError("whose rows leave is not known for every one of them")
        whole = engine.tally_published(leaving.everybody, policy) if policy.publish_only else final
        worst = asked.beside.submit(worst_classes, replace(final, person=None))
        return Counted(whole, final, worst)

    def judge(self, asked: Asked, seen: Counted) -> Verdicts:
        if not asked.policy.publish_only:
            return judge(seen.final, asked.policy)
        return population.judge_all(seen.whole, seen.final, asked.policy)

    def measure(self, passed: Passed[Tallied, Decided, Left, Counted]) -> tuple[ev.Told, dict[str, Any]]:
        asked, policy = passed.asked, passed.policy
        final = replace(passed.seen.final, person=None)  # measures are of records, as anybody can count them
        finding, recoding = passed.found.finding, passed.found.recoding
        form = as_written(asked.form, asked.output)
        left = passed.counts.tally
        if policy.publish_only:
            left = population.part_that_leaves(left, policy)
        left = replace(left, person=None)
        counts = replace(passed.counts, tally=left)
        # A recoding that speaks of records is said of records; one of a cluster, attribute by attribute.
        slices = counts.slices(recoding)
        if isinstance(policy.algorithm, FullDomain):
            slices = [(measured_on(raw, part, hierarchies(policy)), part) for raw, part in slices]
        measures = measures_of(counts, slices, final)
        copies = recoding.copies if isinstance(recoding, Perturbation) else 1
        k = max((n for model in terms_of_who_leaves(policy).models if (n := model.class_size)), default=0)
        if k and "ncp" in measures["loss"]:
            measures["dimensionality"] = dimensionality(
                counts.records * copies, k, len(left.quasi), measures["loss"]["ncp"]
            )
        columns = asked.engine.columns(passed.leaving.published)
        attributes: dict[str, Any] = {}
        for raw, part in slices:
            notes = ev.attribute_notes(policy, part, columns, raw)
            for name, kind in recoding_types(raw, part).items():
                notes[name]["recoding"] = kind
            mine = {column.name for column in raw.quasi}
            attributes = {n: notes[n] if n in mine else attributes.get(n, notes[n]) for n in notes}
        aloud = [
            *cautions.of_bounds(policy, final.quasi),
            *cautions.of_formulas(asked.engine, passed.leaving.published, final, form),
        ]
        gone = counts.records * copies - final.records
        if worst := passed.seen.worst.result():
            measures["worst_classes"] = worst
        told = ev.Told(
            records=final.records,
            suppressed_records=gone,
            columns=columns,
            promises=[
                *(promise(policy, model, verdict) for model, verdict in passed.verdicts),
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
            cautions=[
                *ev.CAUTIONS,
                *aloud,
                *ev.chosen_with(gone, recoding.name),
                *([] if policy.person is None else [persons.CAUTION]),
            ],
            more={
                "choice": ev.choice_notes(finding.choice),
                "copies": copies if copies > 1 else None,
                "population": passed.seen.whole.records if policy.publish_only else None,
                "like": None if asked.like is None else digest(asked.like / FILE),
            },
        )
        return told, {
            "relaxations": passed.found.relaxed.result(),
            "published_as": {
                name: pairs for raw, part in slices for name, pairs in published_as(raw, part).items()
            },
            "leaf_order": {
                name: found for raw, part in slices for name, found in leaf_order(raw, part).items()
            },
            **({"warnings": aloud} if aloud else {}),
            **({"reasons": list(finding.reasons)} if finding.reasons else {}),
            **({"choice": ev.choice_notes(finding.choice, exact=True)} if finding.choice else {}),
        }

    def release(
        self,
        passed: Passed[Tallied, Decided, Left, Counted],
        evidence: Evidence,
        private: Mapping[str, Any],
    ) -> TableRelease:
        asked = passed.asked
        if isinstance(asked.engine, Cluster):
            # Which reads its source again for each question: counted and written may be two tables.
            final = replace(passed.seen.final, person=None)
            if any(recounted.complaints(evidence, final, asked.policy)):
                raise InputError(
                    "the source was changed while it was published: what was written is not what was "
                    "counted; nothing was released"
                )
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
        return self.foreseen(source, policy, engine=engine)[0]

    def foreseen(self, source: Any, policy: Policy, *, engine: Engine[Any]) -> tuple[Verdicts, list[str]]:
        """What data achieves as it stands, and protected values that it does not have."""
        everybody = as_it_stands(source, policy, engine=engine)
        return judged(everybody, policy), absent.remarks(policy, absent.of_tally(everybody))

    def verify(self, folder: Path, evidence: Evidence, policy: Policy, *, engine: Engine[Any]) -> Found:
        data, form = data_file(folder, evidence)
        left = persons.shown(population.leaving(policy))
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
        complaints += order_complaints(policy, evidence, sorted_=engine.is_in_order(table))
        verdicts = judge(tally, left)
        if policy.person is None:
            complaints += ev.other_promises(verdicts, evidence.promises)
        else:
            complaints += persons.complaints(policy, evidence.promises, verdicts)
        complaints += recounted.complaints(evidence, tally, policy)
        run = cautions.of_formulas(engine, table, tally, form)
        chosen = ev.chosen_with(evidence.suppressed_records, evidence.recoding)
        complaints += cautions.unsaid(evidence, [*cautions.of_bounds(policy, tally.quasi), *chosen, *run])
        complaints += cautions.bare(policy, run)
        complaints += ev.other_columns(evidence, found)
        return Found(verdicts, tuple(complaints), unseen=absent.unseen(left, absent.of_tally(tally)))

    risk = Later("exposure")
    compare = Later("comparison")
    explain = Later("explanation")


def terms_of_who_leaves(policy: Policy) -> Terms:
    """The terms of what has left, as far as it can be checked there."""
    return population.leaving(policy) if policy.publish_only else policy


def promise(policy: Policy, model: PrivacyModel, verdict: Verdict) -> Promise:
    """A promise in evidence, with whom it was checked on if not on the release."""
    if policy.person is not None:
        return persons.promise(model, verdict)
    return population.promise(model, verdict) if model.population else ev.promise(model, verdict)


def relaxed_of(counts: Tallied, policy: Policy, finding: Finding) -> list[dict[str, Any]]:
    """What one step of relaxation would buy."""
    if counts.afar is not None:
        return [
            {"skipped": "the counts stayed on the cluster, and trying refused splits asks many questions"}
        ]
    return relaxations(counts.tally, policy, finding, describe=describe)


def measures_of(counts: Tallied, slices: Sequence[tuple[Tally, Recoding]], final: Tally) -> dict[str, Any]:
    """What was lost, and what risk is left."""
    if counts.afar is None:
        ((raw, recoding),) = slices
        return summary.measures(raw, final, recoding)
    found = [
        loss
        for raw, recoding in slices
        if not isinstance(recoding, Perturbation)
        for loss in losses(raw, recoding)
    ]
    return summary.generalised(found, counts.records, risk(*counts.afar.class_sizes()), final)


def hierarchies(policy: Policy) -> dict[str, Hierarchy | None]:
    return {attribute.name: attribute.hierarchy for attribute in policy.attributes}


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
            for node in recoding.nodes[column.name]:
                # Labels that read alike (means of groups) stand for all that any of them stands for.
                old = ranges.setdefault(node.label, [node.label, node.lo, node.hi])
                old[1:] = [min(old[1], node.lo), max(old[2], node.hi)]
        found[column.name] = {"values": list(column.domain.values), "ranges": list(ranges.values())}
    return found
