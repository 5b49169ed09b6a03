"""Trees of people that are published whole: generalised and pruned until every one is one of many.

    read ──► forest ──► classes ──► write aside ──► read again, audit ──► measure ──► release

What leaves is read again from the file that leaves, by code that knows nothing of the search.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random, SystemRandom
from typing import Any, ClassVar

import numpy as np

from privet.core import Engine, Progress
from privet.document.audit import TreeVerdict, audit
from privet.document.edits import DocumentEdits, published
from privet.document.forest import Forest, Vertex
from privet.document.measures import discernibility, lm
from privet.document.schema import Schema
from privet.errors import InternalError, UnsatisfiableError, UnsupportedError
from privet.measure import risk as risks
from privet.measure import summary
from privet.measure.summary import tidy
from privet.policy.notation import describe
from privet.policy.values import Policy
from privet.report import evidence as ev
from privet.roads import Found, Verdicts
from privet.roads.documents import exposure as groves
from privet.roads.documents import notes as document_notes
from privet.roads.documents import relaxed as document_relaxed
from privet.roads.documents.data import collected, digest_of, laid_out, read_again, shape_of
from privet.roads.documents.release import DocumentRelease, published_policy
from privet.roads.stations import CAUTIONS, refuse_broken

SOMEWHERE = (
    "The promise is about each vertex: where every tree of a class has a value somewhere, whoever knows the "
    "class learns that. Rules against that need tree-anatomy with pm-privacy."
)


class DocumentRoad:
    """Documents: one tree for each person, generalised and pruned as a whole."""

    name: ClassVar[str] = "documents"

    def publish(
        self,
        source: Any,
        policy: Policy,
        *,
        engine: Engine[Any],
        like: Path | None,
        output: str | None,
        progress: Progress,
    ) -> DocumentRelease:
        if like is not None:
            raise UnsupportedError("trees are brought together anew for every batch: publish without --like")
        with ThreadPoolExecutor() as beside:
            digest = beside.submit(digest_of, source)
            progress("read", 0)
            read = collected(source, policy, engine)
            forest, written = read.forest, read.written.to(output, shape_of(policy).schema)
            progress("search", 0)
            size, diverse = asked(policy)
            algorithm: Any = policy.algorithm
            edits: DocumentEdits = algorithm.cluster(forest, size, diverse=diverse, progress=progress)
            refuse_empty(forest, edits, size)
            progress("apply", 0)
            seed = SystemRandom().getrandbits(128)  # the order of records; nobody keeps it
            shown = published_policy(policy, written)
            leaving = laid_out(
                lambda: published(forest, edits, Random(seed)),  # its seed is the system's
                policy,
                shape_of(shown).schema,
                written,
                engine,
            )
            progress("check", 0)
            watch = document_notes.Watch(shape_of(shown).schema)
            verdicts, audits = judged(
                lambda: read_again(leaving.folder, leaving.notes, shown, engine), shown, watch
            )
            refuse_broken(verdicts, policy, None)
            if watch.records != edits.records:
                raise InternalError("a record was lost on the way")
            progress("measure", 0)
            schema = forest.schema
            raw = document_notes.before(forest)
            sizes = np.array(audits[0].sizes, dtype=np.int64)
            alone = classes_of(schema, forest)
            evidence: dict[str, Any] = {
                **ev.header(),
                "kind": policy.kind,
                "purpose": policy.purpose,
                "nulls": policy.nulls.value,
                "records": watch.records,
                "suppressed_records": len(forest) - watch.records,
                "columns": [a.name for a in policy.attributes if a.published],
                "promises": [ev.promise(model, verdict) for model, verdict in verdicts],
                "algorithm": describe(policy.algorithm),
                "recoding": "tree edits",
                "attributes": document_notes.attribute_notes(policy),
                "steps": [],
                "notes": [],
                "measures": {
                    "records": watch.records,
                    "classes": summary.classes(sizes),
                    "risk": {"before": risks.risk(alone), "after": risks.risk(sizes)},
                    "loss": {
                        "lm": tidy(float(lm(forest, edits, weighted=False))),
                        "lm_weighted": tidy(float(lm(forest, edits))),
                        "discernibility": discernibility(forest, edits),
                        "average_class_size": tidy(len(forest) and watch.records / max(len(sizes), 1)),
                    },
                    "attributes": document_notes.losses(forest, edits),
                },
                "cautions": [*CAUTIONS, SOMEWHERE],
                "documents": {
                    "form": written.kind,
                    "vertices": {"before": forest.vertices, "after": watch.vertices},
                    "levels": document_notes.levels(schema, raw, watch.places),
                    "divergence": document_notes.shifted(forest, watch.held),
                    "drawn": document_notes.drawn(forest, edits),
                },
            }
            return DocumentRelease(
                policy=policy,
                verdicts=verdicts,
                evidence=evidence,
                engine=engine,
                aside=leaving,
                written=written,
                private={
                    "source": digest.result(),
                    "documents": shape_of(policy).to_policy(),
                    "outlook": document_notes.outlook(forest, size),
                    "relaxations": document_relaxed.whole_trees(forest, policy),
                    "warnings": document_notes.warnings(forest, size) if diverse else [],
                    "suppressed": list(edits.suppressed),
                },
            )

    def check(self, source: Any, policy: Policy, *, engine: Engine[Any]) -> Verdicts:
        return self.foreseen(source, policy, engine=engine)[0]

    def foreseen(self, source: Any, policy: Policy, *, engine: Engine[Any]) -> tuple[Verdicts, list[str]]:
        """What data achieves as it stands, and what its promises will meet."""
        forest = collected(source, policy, engine).forest
        size, diverse = asked(policy)
        verdicts = judged(lambda: forest, policy, document_notes.Watch(forest.schema))[0]
        return verdicts, document_notes.warnings(forest, size) if diverse else []

    def verify(
        self, folder: Path, evidence: Mapping[str, Any], policy: Policy, *, engine: Engine[Any]
    ) -> Found:
        notes, said = evidence["data"], evidence["documents"]
        watch = document_notes.Watch(shape_of(policy).schema)
        verdicts, audits = judged(lambda: read_again(folder, notes, policy, engine), policy, watch)
        complaints = ev.other_promises(verdicts, list(evidence["promises"]))
        sizes = np.array(audits[0].sizes, dtype=np.int64)
        after = {(one["level"], one["type"]): one["after"] for one in said["levels"] if one["after"]}
        for what, claimed, found in (
            ("records", evidence["records"], watch.records),
            ("documents: vertices", said["vertices"]["after"], watch.vertices),
            ("documents: levels", after, dict(watch.places)),
            ("measures: classes", evidence["measures"]["classes"], summary.classes(sizes)),
            ("measures: risk: after", evidence["measures"]["risk"]["after"], risks.risk(sizes)),
        ):
            if claimed != found:
                complaints.append(f"{what}: the evidence claims other numbers than the data has")
        return Found(verdicts, tuple(complaints))

    risk = staticmethod(groves.risk)
    compare = staticmethod(groves.compare)
    explain = staticmethod(groves.explain)


def asked(policy: Policy) -> tuple[int, bool]:
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
