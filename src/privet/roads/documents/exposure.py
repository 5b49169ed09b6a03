"""What is at risk in documents, what a release of them lost, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from privet.core import Progress, Role, silent
from privet.document.anatomy_measure import query_accuracy
from privet.document.ask import questions
from privet.document.audit import audit
from privet.document.forest import Forest, Vertex
from privet.document.query import count
from privet.document.schema import Schema
from privet.document.settings import rules_of
from privet.document.spread import estimated
from privet.document.truth import truthful
from privet.engine import Engine
from privet.errors import InputError
from privet.evidence.folder import read as read_evidence
from privet.evidence.part import plain
from privet.evidence.values import DataNote, Evidence
from privet.measure import classes
from privet.measure.summary import tidy
from privet.policy.values import Policy
from privet.release import Release, private_folder, read_private
from privet.roads.answers import DocumentComparison, DocumentExplanation, DocumentRisk
from privet.roads.documents import notes as document_notes
from privet.roads.documents.data import collected, read_again
from privet.roads.documents.shape import DocumentShape
from privet.roads.stations import needed, refuse_classify

QUERIES = 100
FEW = 5  # questions with a smaller true answer are not asked
SEARCHED = 2_000  # published records whose originals are looked for


def risk(
    source: Any,
    policy: Policy,
    *,
    engine: Engine[Any],
    show_values: bool = False,
    progress: Progress = silent,
) -> DocumentRisk:
    """How many records are alone, for somebody who knows the root, the shape of the tree, or all of it."""
    del show_values  # no value is shown here in any case
    progress("read", 0)
    forest = collected(source, policy, engine).forest
    schema = forest.schema
    progress("measure", 0)
    known = []
    for name, view in (("root", roots), ("shape", shapes), ("tree", trees)):
        sizes = np.array(audit(schema, view(forest), 1, steps=0).sizes, dtype=np.int64)
        known.append({"known": name, "classes": len(sizes), **classes.risk(sizes)})
    l = max(model.class_size or 1 for model in policy.models)
    return DocumentRisk(
        kind="documents",
        records=len(forest),
        vertices=forest.vertices,
        knowledge=known,
        outlook=document_notes.outlook(forest, l),
        warnings=document_notes.warnings(forest, l, rules_of(policy)),
    )


def roots(forest: Forest) -> Iterator[Vertex]:
    return (Vertex(record.type, record.values) for record in forest)


def shapes(forest: Forest) -> Iterator[Vertex]:
    """The root with its values, and what stands below without any."""
    schema = forest.schema
    return (
        Vertex(record.type, record.values, tuple(_bare(schema, child) for child in record.children))
        for record in forest
    )


def trees(forest: Forest) -> Iterator[Vertex]:
    return iter(forest)


def _bare(schema: Schema, vertex: Vertex) -> Vertex:
    fields = schema.kind(vertex.type).published
    values = tuple(
        None if f.role is Role.QUASI else value for f, value in zip(fields, vertex.values, strict=True)
    )
    return Vertex(vertex.type, values, tuple(_bare(schema, child) for child in vertex.children))


def described_at_home(release: Release | Path, policy: Policy) -> tuple[Policy, Mapping[str, Any]]:
    """The policy with its hierarchies, and the private notes: both are the steward's."""
    if isinstance(release, Release):
        return release.policy, release.private
    notes = read_private(release)
    if notes is None or "documents" not in notes:
        raise InputError(
            f"{private_folder(release)}: the steward's notes are missing; they hold the hierarchies, without "
            "which nobody can say what was lost"
        )
    shape = DocumentShape.from_policy(notes["documents"], base=Path())
    return replace(policy, shape=shape, attributes=shape.attributes), notes


def opened(release: Release | Path) -> tuple[Path, DataNote, Evidence]:
    """Where the data lies, how it is written, and the evidence."""
    if isinstance(release, Release):
        made: Any = release  # of documents: the road comes from its policy
        return made.aside.folder, made.aside.notes, release.evidence
    evidence = read_evidence(release)
    return release, needed(evidence.data, "data"), evidence


def original_of(raw: Any, policy: Policy, evidence: Evidence, engine: Engine[Any]) -> Forest:
    forest = collected(raw, policy, engine).forest
    if len(forest) != evidence.source_records:
        raise InputError(
            f"the raw data has {len(forest)} records, the release was made from "
            f"{evidence.source_records}: it was made from other data"
        )
    return forest


def compare(
    raw: Any,
    release: Release | Path,
    policy: Policy,
    *,
    engine: Engine[Any],
    classify: bool = False,
    seed: int = 0,
    progress: Progress = silent,
) -> DocumentComparison:
    """Whether the release tells the truth, what it lost, and how well it answers questions."""
    refuse_classify("a tree", asked=classify)
    folder, notes, evidence = opened(release)
    shown = release.published_policy() if isinstance(release, Release) else policy
    home, _ = described_at_home(release, policy)
    progress("read", 0)
    forest = original_of(raw, home, evidence, engine)
    schema = forest.schema
    records = list(read_again(folder, notes, shown, engine))
    progress("measure", 0)
    watch = document_notes.Watch(schema)
    for record in records:
        watch.count(record)
    lost, fields = document_notes.counted_loss(forest, records)
    original = list(forest)
    rng = Random(seed)  # which questions are asked protects nobody
    looked = records if len(records) <= SEARCHED else rng.sample(records, SEARCHED)
    truth = truthful(schema, original, looked)
    asked = list(questions(schema, original, QUERIES, rng))
    true = [count(query, original, schema) for query in asked]
    answers = [
        (float(right), float(estimated(query, records, schema, forest.domains)))
        for query, right in zip(asked, true, strict=True)
        if right >= FEW
    ]
    accuracy = query_accuracy(answers, FEW)
    return DocumentComparison(
        kind="documents",
        records={"before": len(forest), "after": len(records)},
        vertices={"before": forest.vertices, "after": watch.vertices},
        truth={"looked_at": truth.records, "true": truth.true},
        risk=needed(evidence.measures.risk, "measures.risk").to_dict(),
        loss={"lm": lost},
        attributes={name: {"lm": one} for name, one in fields.items()},
        levels=document_notes.levels(schema, document_notes.before(forest), watch.places),
        divergence=document_notes.shifted(forest, watch.held),
        queries={
            "asked": accuracy.queries,
            "accuracy": tidy(accuracy.mean),
            "clipped": tidy(accuracy.clipped),
        },
    )


def explain(
    folder: Path,
    evidence: Evidence,
    policy: Policy,
    *,
    engine: Engine[Any],
    show_values: bool = False,
) -> DocumentExplanation:
    """Where the loss is, by field and depth, and which sensitive values forced it."""
    del policy, engine, show_values
    notes, measures = read_private(folder), evidence.measures
    return DocumentExplanation(
        kind="documents",
        records=evidence.records,
        suppressed_records=evidence.suppressed_records,
        lm=needed(measures.loss, "measures.loss").lm,
        attributes=[
            {"attribute": name, **found.to_dict()}
            for name, found in sorted(
                (measures.attributes or {}).items(), key=lambda one: (-(one[1].lm or 0), one[0])
            )
        ],
        levels=plain(needed(evidence.documents, "documents").levels),
        private_notes=notes is not None,
        reasons=list((notes or {}).get("warnings", ())),
        relaxations=list((notes or {}).get("relaxations", ())),
    )
