"""Trees of people that are published whole: generalised and pruned until every one is one of many.

    read ──► forest ──► classes ──► write aside ──► read again, audit ──► measure ──► release

What leaves is read again from the file that leaves, by code that knows nothing of the search.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from privet.core import Verdicts
from privet.declared import Order
from privet.document.audit import TreeVerdict, audit
from privet.document.edits import DocumentEdits, published
from privet.document.forest import Forest, Vertex
from privet.document.measures import discernibility, lm
from privet.document.ordering import Watched as InOrder
from privet.document.promises import DocumentDiversity
from privet.document.schema import Schema
from privet.engine import Engine
from privet.errors import InternalError, UnsatisfiableError, UnsupportedError
from privet.evidence import notes as ev
from privet.evidence.part import plain
from privet.evidence.values import Evidence
from privet.measure import classes, summary
from privet.measure.summary import tidy
from privet.policy.values import Policy
from privet.roads import Found, Stations
from privet.roads.documents import notes as document_notes
from privet.roads.documents import relaxed as document_relaxed
from privet.roads.documents.data import (
    Collected,
    Leaving,
    Written,
    collected,
    digest_of,
    laid_out,
    read_again,
    shape_of,
)
from privet.roads.documents.release import DocumentRelease, published_policy
from privet.roads.stations import SIBLINGS, Asked, Later, Once, Passed, needed, order_complaints, others

SOMEWHERE = (
    "The promise is about each vertex: where every tree of a class has a value somewhere, whoever knows the "
    "class learns that. Rules against that need tree-anatomy with pm-privacy."
)


@dataclass(frozen=True)
class Aside:
    """Trees that lie in a folder of their own, and the policy by which anybody reads them."""

    files: Leaving = field(repr=False)
    form: Written
    shown: Policy = field(repr=False)
    records: int


@dataclass(frozen=True)
class Watched:
    """The same, read again record by record."""

    watch: document_notes.Watch = field(repr=False)
    verdicts: Verdicts
    sizes: Any = field(repr=False)  # of the classes


Way = Passed[Collected, DocumentEdits, Aside, Watched]


class DocumentRoad(Stations[Collected, Collected, DocumentEdits, Aside, Watched]):
    """Documents: one tree for each person, generalised and pruned as a whole."""

    name: ClassVar[str] = "documents"
    waits: ClassVar[Mapping[str, str]] = {k: v for k, v in Stations.waits.items() if k != "count"}

    def refuse(self, asked: Asked) -> None:
        if asked.like is not None:
            raise UnsupportedError("trees are brought together anew for every batch: publish without --like")

    def digest(self, source: Any) -> str | None:
        return digest_of(source)

    def read(self, asked: Asked) -> Collected:
        read = collected(asked.source, asked.policy, asked.engine)
        return replace(read, written=read.written.to(asked.output, shape_of(asked.policy).schema))

    def count(self, asked: Asked, data: Once[Collected]) -> Collected:
        return data.take().arranged(asked.policy)  # trees are their own tally

    def search(self, asked: Asked, counts: Collected) -> DocumentEdits:
        size, diverse = wanted(asked.policy)
        algorithm: Any = asked.policy.algorithm
        edits: DocumentEdits = algorithm.cluster(
            counts.forest, size, diverse=diverse, progress=asked.progress
        )
        refuse_empty(counts.forest, edits, size)
        return edits

    def apply(self, asked: Asked, counts: Collected, found: DocumentEdits) -> Aside:
        shown = published_policy(asked.policy, counts.written)
        models: list[Any] = list(asked.policy.models)
        diverse = max((m.l for m in models if isinstance(m, DocumentDiversity)), default=None)
        leaving = laid_out(
            lambda: published(counts.forest, found, asked.policy.order, diverse=diverse),
            asked.policy,
            shape_of(shown).schema,
            counts.written,
            asked.engine,
        )
        return Aside(leaving, counts.written, shown, found.records)

    def look(self, asked: Asked, leaving: Aside) -> Watched:
        watch = document_notes.Watch(shape_of(leaving.shown).schema)
        aside = leaving.files
        verdicts, audits = judged(
            lambda: read_again(aside.folder, aside.notes, leaving.shown, asked.engine), leaving.shown, watch
        )
        return Watched(watch, verdicts, np.array(audits[0].sizes, dtype=np.int64))

    def judge(self, asked: Asked, seen: Watched) -> Verdicts:  # noqa: ARG002 - the auditor has looked
        return seen.verdicts

    def measure(self, passed: Way) -> tuple[ev.Told, dict[str, Any]]:
        policy, forest, edits = passed.policy, passed.counts.forest, passed.found
        watch, sizes = passed.seen.watch, passed.seen.sizes
        if watch.records != edits.records:
            raise InternalError("a record was lost on the way")
        size, diverse = wanted(policy)
        told = ev.Told(
            records=watch.records,
            suppressed_records=len(forest) - watch.records,
            columns=[a.name for a in policy.attributes if a.published],
            promises=[ev.promise(model, verdict) for model, verdict in passed.verdicts],
            recoding="tree edits",
            attributes=document_notes.attribute_notes(policy),
            measures={
                "records": watch.records,
                "classes": summary.classes(sizes),
                "risk": {
                    "before": classes.risk(classes_of(forest.schema, forest)),
                    "after": classes.risk(sizes),
                },
                "loss": {
                    "lm": tidy(float(lm(forest, edits, weighted=False))),
                    "lm_weighted": tidy(float(lm(forest, edits))),
                    "discernibility": discernibility(forest, edits),
                    "average_class_size": tidy(len(forest) and watch.records / max(len(sizes), 1)),
                },
                "attributes": document_notes.losses(forest, edits),
            },
            cautions=[*ev.CAUTIONS, SOMEWHERE],
            more={
                "documents": {
                    "form": passed.leaving.form.kind,
                    "vertices": {"before": forest.vertices, "after": watch.vertices},
                    "levels": document_notes.levels(
                        forest.schema, document_notes.before(forest), watch.places
                    ),
                    "divergence": document_notes.shifted(forest, watch.held),
                    "drawn": document_notes.drawn(forest, edits),
                }
            },
        )
        return told, {
            "documents": shape_of(policy).to_policy(),
            "outlook": document_notes.outlook(forest, size),
            "relaxations": document_relaxed.whole_trees(forest, policy),
            "warnings": document_notes.warnings(forest, size) if diverse else [],
            "suppressed": sorted(passed.counts.came(edits.suppressed)),
        }

    def release(self, passed: Way, evidence: Evidence, private: Mapping[str, Any]) -> DocumentRelease:
        return DocumentRelease.of(passed, evidence, private)

    def check(self, source: Any, policy: Policy, *, engine: Engine[Any]) -> Verdicts:
        return self.foreseen(source, policy, engine=engine)[0]

    def foreseen(self, source: Any, policy: Policy, *, engine: Engine[Any]) -> tuple[Verdicts, list[str]]:
        """What data achieves as it stands, and what its promises will meet."""
        forest = collected(source, policy, engine).forest
        size, diverse = wanted(policy)
        verdicts = judged(lambda: forest, policy, document_notes.Watch(forest.schema))[0]
        return verdicts, document_notes.warnings(forest, size) if diverse else []

    def verify(self, folder: Path, evidence: Evidence, policy: Policy, *, engine: Engine[Any]) -> Found:
        notes, said = needed(evidence.data, "data"), needed(evidence.documents, "documents")
        risk = needed(evidence.measures.risk, "measures.risk")
        schema = shape_of(policy).schema
        diverse = any(isinstance(model, DocumentDiversity) for model in policy.models)
        watch, order = document_notes.Watch(schema), InOrder(schema, diverse=diverse)
        verdicts, audits = judged(lambda: order(read_again(folder, notes, policy, engine)), policy, watch)
        sizes = np.array(audits[0].sizes, dtype=np.int64)
        complaints = (
            order_complaints(policy, evidence, sorted_=order.sorted and order.siblings)
            + ev.other_promises(verdicts, evidence.promises)
            + others(
                [
                    ("records", evidence.records, watch.records),
                    ("documents: vertices", said.vertices.after, watch.vertices),
                    (
                        "documents: levels",
                        plain(said.levels),
                        document_notes.levels_again(schema, said, watch),
                    ),
                    (
                        "columns",
                        sorted(evidence.columns),
                        sorted(a.name for a in policy.attributes if a.published),
                    ),
                    ("measures: classes", evidence.measures.classes, summary.classes(sizes)),
                    ("measures: risk: after", risk.after, classes.risk(sizes)),
                ]
            )
        )
        unseen = diverse and order.twins and policy.order is not Order.KEPT
        return Found(verdicts, tuple(complaints), (SIBLINGS,) if unseen else ())

    risk = Later("exposure")
    compare = Later("exposure")
    explain = Later("exposure")


def wanted(policy: Policy) -> tuple[int, bool]:
    """How many records a class has, and whether sensitive values matter: what keeps every promise at once."""
    models: list[Any] = list(policy.models)
    return max(model.class_size for model in models), any(model.diverse for model in models)


def judged(records: Any, policy: Policy, watch: document_notes.Watch) -> tuple[Verdicts, list[TreeVerdict]]:
    """Every promise, each on a fresh reading of what there is."""
    schema = shape_of(policy).schema
    verdicts: list[Any] = []
    audits = []
    for at, model in enumerate(policy.models):
        promise: Any = model
        found = promise.audited(schema, watch(records()) if not at else records())
        audits.append(found)
        verdicts.append((promise, promise.verdict(found)))
    return tuple(verdicts), audits


def refuse_empty(forest: Forest, edits: DocumentEdits, size: int) -> None:
    """A release of nobody keeps every promise and helps no one."""
    if edits.records:
        return
    raise UnsatisfiableError(
        f"no class of {size} records can be formed, so nothing would be left to publish",
        *document_notes.warnings(forest, size),
    )


def classes_of(schema: Schema, records: Iterable[Vertex]) -> Any:
    """The sizes of the classes of records that are alike but for sensitive values."""
    return np.array(audit(schema, records, 1, steps=0).sizes, dtype=np.int64)
