"""Trees of people in two halves: quasi-identifiers as they are, sensitive values of a group in one heap.

What leaves is read again from the file that leaves and audited by code of its own. Which half belongs to
which is a secret that goes to the private folder only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import numpy as np

from privet.core import Progress, Verdicts, silent
from privet.declared import Order
from privet.document import anatomy_measure
from privet.document.anatomy import Grouping
from privet.document.anatomy_measure import query_accuracy, sensitive_of
from privet.document.anatomy_truth import anatomy_truth
from privet.document.ask import questions
from privet.document.estimate import Estimator
from privet.document.ordering import are_in_order, key_of
from privet.document.posterior import reconstruct
from privet.document.promises import AnatomyDiversity, PMPrivacy
from privet.document.publication import Links, Publication, heap_names, publish
from privet.document.query import count
from privet.document.settings import TreeAnatomy, promised_l, rules_of
from privet.document.style import Style
from privet.engine import Engine
from privet.engines.documents import publication_files
from privet.engines.documents.publication_tables import from_tables, to_tables
from privet.engines.documents.tables import Keys, to_frames
from privet.errors import InputError, InternalError, UnsatisfiableError, UnsupportedError
from privet.evidence import notes as ev
from privet.evidence.part import plain
from privet.evidence.values import DataNote, Evidence
from privet.measure import summary
from privet.measure.summary import tidy
from privet.policy.values import Policy
from privet.release import Release
from privet.roads import Found, Stations, absent
from privet.roads.absent import Occurring
from privet.roads.answers import DocumentComparison
from privet.roads.documents import exposure as groves
from privet.roads.documents import notes as document_notes
from privet.roads.documents import raw_anatomy
from privet.roads.documents import relaxed as document_relaxed
from privet.roads.documents.data import (
    TABLES,
    Collected,
    Leaving,
    Written,
    collected,
    digest_of,
    read_tables,
    shape_of,
    write_tables,
)
from privet.roads.documents.release import AsideRelease, published_policy
from privet.roads.stations import (
    SIBLINGS,
    Asked,
    Once,
    Passed,
    file_of,
    needed,
    order_complaints,
    others,
    refuse_classify,
)

ONE_KNOWN = (
    "Whoever knows one sensitive value of a person may find all others of that person: these are what style "
    "t-t keeps together. Where that may happen, style v-v is the safer choice."
)
APART = "Links among one person's sensitive values are given up in style v-v: counts with them are estimates."


@dataclass(frozen=True, kw_only=True)
class AnatomyRelease(AsideRelease):
    """Published halves, as a file or as tables, and the evidence that they keep the policy."""

    def publication(self) -> Publication:
        """What leaves, as it is read again."""
        return opened(self.aside.folder, self.aside.notes, self.published_policy(), self.engine)

    def to_polars(self) -> Any:
        """One way to put the halves together, of many that nobody can tell apart: the roots."""
        publication = self.publication()
        schema = publication.schema
        keys = {
            kind.name: Keys("record", None if kind.name == schema.root else "parent") for kind in schema.kinds
        }
        return to_frames(reconstruct(publication), schema, keys)[schema.root]


@dataclass(frozen=True)
class Halves:
    """Halves that lie in a folder of their own, the policy by which anybody reads them, and the secret."""

    files: Leaving = field(repr=False)
    form: Written
    shown: Policy = field(repr=False)
    links: Links = field(repr=False)
    records: int


Way = Passed[Collected, Grouping, Halves, Publication]


class TreeAnatomyRoad(Stations[Collected, Collected, Grouping, Halves, Publication]):
    """Documents in two halves, in the style t-t or v-v."""

    name: ClassVar[str] = "tree-anatomy"
    waits: ClassVar[Mapping[str, str]] = {k: v for k, v in Stations.waits.items() if k != "count"}

    def refuse(self, asked: Asked) -> None:
        if asked.like is not None:
            raise UnsupportedError("people are put into groups anew for every batch: publish without --like")

    def digest(self, source: Any) -> str | None:
        return digest_of(source)

    def read(self, asked: Asked) -> Collected:
        read = collected(asked.source, asked.policy, asked.engine)
        written = read.written.to(asked.output, shape_of(asked.policy).schema)
        return replace(read, written=as_one_file(written))

    def count(self, asked: Asked, data: Once[Collected]) -> Collected:
        read, l = data.take().arranged(asked.policy), promised_l(asked.policy)
        if len(read.forest) < l:
            raise UnsatisfiableError(
                f"{len(read.forest)} records cannot form a group of {l}; make l smaller, or bring more"
            )
        return read

    def occurring(self, counts: Collected) -> Occurring:
        return raw_anatomy.of_forest(counts.forest)

    def search(self, asked: Asked, counts: Collected) -> Grouping:
        policy, l = asked.policy, promised_l(asked.policy)
        grouping = settings_of(policy).search(policy).search(counts.forest, asked.progress)
        if not grouping.groups:
            reasons = document_notes.warnings(counts.forest, l, rules_of(policy))
            raise UnsatisfiableError(f"no group of {l} can be formed: nothing is left", *reasons)
        return grouping

    def apply(self, asked: Asked, counts: Collected, found: Grouping) -> Halves:
        shown = published_policy(asked.policy, counts.written)
        made, links = publish(found, order=asked.policy.order)
        leaving = Leaving()
        leaving.notes = laid_out(
            replace(made, schema=shape_of(shown).schema), leaving.folder, counts.written, asked.engine
        )
        return Halves(leaving, counts.written, shown, links, len(made))

    def look(self, asked: Asked, leaving: Halves) -> Publication:
        aside = leaving.files
        return opened(aside.folder, aside.notes, leaving.shown, asked.engine)

    def judge(self, asked: Asked, seen: Publication) -> Verdicts:
        return judged(seen, asked.policy)

    def measure(self, passed: Way) -> tuple[ev.Told, dict[str, Any]]:
        policy, forest, grouping, final = passed.policy, passed.counts.forest, passed.found, passed.seen
        if len(final) != passed.leaving.records:
            raise InternalError("a record was lost on the way")
        search, l = settings_of(policy).search(policy), promised_l(policy)
        links = passed.leaving.links
        return told_of(passed), {
            "documents": shape_of(policy).to_policy(),
            "outlook": document_notes.outlook(forest, l),
            "relaxations": document_relaxed.halves(forest, policy, search),
            "warnings": document_notes.warnings(forest, l, rules_of(policy)),
            "links": {
                side: [passed.counts.came(group) for group in made]
                for side, made in (("qi", links.qi), ("sa", links.sa))
            },
            "suppressed": sorted(passed.counts.came(grouping.suppressed)),
        }

    def release(self, passed: Way, evidence: Evidence, private: Mapping[str, Any]) -> AnatomyRelease:
        return AnatomyRelease.of(passed, evidence, private)

    def check(self, source: Any, policy: Policy, *, engine: Engine[Any]) -> Verdicts:
        return self.foreseen(source, policy, engine=engine)[0]

    def foreseen(self, source: Any, policy: Policy, *, engine: Engine[Any]) -> tuple[Verdicts, list[str]]:
        """What data achieves as it stands, and what its promises will meet."""
        forest = collected(source, policy, engine).forest
        unmet = absent.remarks(policy, raw_anatomy.of_forest(forest))
        warnings = document_notes.warnings(forest, promised_l(policy), rules_of(policy))
        return raw_anatomy.judged(forest, policy), [*warnings, *unmet]

    def verify(self, folder: Path, evidence: Evidence, policy: Policy, *, engine: Engine[Any]) -> Found:
        final = opened(folder, needed(evidence.data, "data"), policy, engine)
        said = needed(evidence.documents, "documents")
        verdicts = judged(final, policy)
        complaints = ev.other_promises(verdicts, evidence.promises)
        complaints += order_complaints(policy, evidence, sorted_=in_order(final))
        if final.l != promised_l(policy):
            complaints.append("l: the data says another one than the policy")
        if not numbered_groups(final):
            complaints.append("names: groups and their heaps of values are called otherwise than by numbers")
        if final.style is not settings_of(policy).style:
            complaints.append("style: the data is in another one than the policy says")
        watch, schema = watched(final), shape_of(policy).schema
        complaints += others(
            [
                ("records", evidence.records, len(final)),
                ("documents: vertices", said.vertices.after, watch.vertices),
                ("documents: levels", plain(said.levels), document_notes.levels_again(schema, said, watch)),
                (
                    "columns",
                    sorted(evidence.columns),
                    sorted(a.name for a in policy.attributes if a.published),
                ),
                ("measures: groups", evidence.measures.groups, summary.classes(sizes_of(final))),
            ]
        )
        unseen = policy.order is not Order.KEPT and any(
            len({child.type for child in vertex.children}) < len(vertex.children)
            for group in final.groups
            for tree in (*group.qi, *group.sa)
            for vertex in tree.walk()
        )
        there = absent.unseen(policy, raw_anatomy.of_publication(final))
        return Found(verdicts, tuple(complaints), (SIBLINGS,) if unseen else (), there)

    risk = staticmethod(groves.risk)
    explain = staticmethod(groves.explain)

    def compare(
        self,
        raw: Any,
        release: Release | Path,
        policy: Policy,
        *,
        engine: Engine[Any],
        classify: bool = False,
        seed: int = 0,
        progress: Progress = silent,
    ) -> DocumentComparison:
        """Whether every group comes from people of its own, what was cut, and how well counts come out."""
        refuse_classify("a tree", asked=classify)
        folder, notes, evidence = groves.opened(release)
        shown = release.published_policy() if isinstance(release, Release) else policy
        home, private = groves.described_at_home(release, policy)
        progress("read", 0)
        forest = groves.original_of(raw, home, evidence, engine)
        publication = replace(opened(folder, notes, shown, engine), schema=forest.schema)
        progress("measure", 0)
        original = list(forest)
        truth = anatomy_truth(publication, original, links_of(private))
        asked = list(questions(forest.schema, original, groves.QUERIES, Random(seed)))
        estimator = Estimator(publication)
        answers = [
            (float(right), float(estimator.expected(query, Random(seed))))
            for query in asked
            if (right := count(query, original, forest.schema)) >= groves.FEW
        ]
        accuracy, watch = query_accuracy(answers, groves.FEW), watched(publication)
        return DocumentComparison(
            kind="documents",
            records={"before": len(forest), "after": len(publication)},
            vertices={"before": forest.vertices, "after": watch.vertices},
            truth={
                "groups": truth.groups,
                "true": truth.true,
                "false": truth.false,
                "undecided": truth.undecided,
            },
            loss={
                "suppression_accuracy": needed(evidence.measures.loss, "measures.loss").suppression_accuracy
            },
            attributes={},
            levels=document_notes.levels(forest.schema, document_notes.before(forest), watch.places),
            divergence=document_notes.shifted(forest, sensitive_of(publication)),
            queries={
                "asked": accuracy.queries,
                "accuracy": tidy(accuracy.mean),
                "clipped": tidy(accuracy.clipped),
            },
        )


def settings_of(policy: Policy) -> TreeAnatomy:
    settings: Any = policy.algorithm
    made: TreeAnatomy = settings
    return made


def as_one_file(written: Written) -> Written:
    """Groups stand in one document, so lines of JSON become one, and it is not packed."""
    if written.kind == TABLES:
        return written
    return replace(written, kind="xml" if written.kind == "xml" else "json", gzip=False)


def laid_out(publication: Publication, folder: Path, written: Written, engine: Engine[Any]) -> DataNote:
    if written.kind == TABLES:
        return write_tables(to_tables(publication), folder, written, engine)
    name = f"data{written.ending}"
    publication_files.write(publication, folder / name, written.shape)
    return DataNote(file=name, format=written.kind, encoding="utf-8", nulls=())


def opened(folder: Path, notes: DataNote, policy: Policy, engine: Engine[Any]) -> Publication:
    """Published halves as a recipient reads them."""
    schema = shape_of(policy).schema
    if notes.tables is None:
        return publication_files.read(file_of(folder, notes.file), schema)
    frames = read_tables(folder, notes, notes.tables, engine)
    try:
        return from_tables(
            {name: numbered(frame) for name, frame in frames.items()},
            schema,
            settings_of(policy).style,
            promised_l(policy),
        )
    except (KeyError, ValueError, TypeError):
        raise InputError(f"{folder}: the tables do not read as groups of trees") from None


def numbered(frame: Any) -> Any:
    """Places and counts are numbers, whatever the file made of them."""
    import polars as pl  # noqa: PLC0415 - loads the engine's library

    whole = [name for name in ("vertex", "parent", "count") if name in frame.columns]
    if "sag" in frame.columns or "value" not in frame.columns:
        whole += [name for name in ("tree",) if name in frame.columns]
    try:
        return frame.with_columns(pl.col(name).cast(pl.Int64) for name in whole)
    except pl.exceptions.InvalidOperationError:
        raise InputError("a place or a count in the tables is not a number") from None


def judged(publication: Publication, policy: Policy) -> Verdicts:
    """Every promise; l is that of the policy, whatever the publication says of itself."""
    l = promised_l(policy)
    verdicts: list[Any] = []
    for model in policy.models:
        promise: Any = model
        if isinstance(promise, AnatomyDiversity):
            verdicts.append((promise, promise.check(publication)))
        elif isinstance(promise, PMPrivacy):
            verdicts.append((promise, promise.check(publication, l)))
    return tuple(verdicts)


def watched(publication: Publication) -> document_notes.Watch:
    watch = document_notes.Watch(publication.schema)
    for group in publication.groups:
        for tree in group.qi:
            watch.count(tree)
    return watch


def in_order(publication: Publication) -> bool:
    """Do the trees of every half, and the groups by them, stand in canonical order?"""
    schema = publication.schema
    halves = [half for group in publication.groups for half in (group.qi, group.sa)]
    groups = [[key_of(tree, schema) for tree in group.qi] for group in publication.groups]
    return all(are_in_order(half, schema) for half in halves) and groups == sorted(groups)


def numbered_groups(publication: Publication) -> bool:
    """Are groups and heaps named by where they stand? Any other name could say whose they are."""
    for number, group in enumerate(publication.groups):
        expected = heap_names(group, publication.schema, f"g{number}") if group.bags else []
        if group.id != f"g{number}" or expected != list(group.bags):
            return False
    return True


def sizes_of(publication: Publication) -> Any:
    return np.array([len(group) for group in publication.groups], dtype=np.int64)


def links_of(private: Mapping[str, Any]) -> Links | None:
    """The secret, where the steward still has it."""
    said = private.get("links")
    if said is None:
        return None
    return Links(tuple(map(tuple, said["qi"])), tuple(map(tuple, said["sa"])))


def told_of(passed: Way) -> ev.Told:
    """What may be told of halves."""
    policy, forest, grouping, final = passed.policy, passed.counts.forest, passed.found, passed.seen
    watch, style = watched(final), settings_of(policy).style
    share: Fraction = anatomy_measure.suppression_accuracy(grouping)
    return ev.Told(
        records=len(final),
        suppressed_records=len(forest) - len(final),
        columns=[a.name for a in policy.attributes if a.published],
        promises=[ev.promise(model, verdict) for model, verdict in passed.verdicts],
        recoding=f"halves ({style.value})",
        attributes=document_notes.attribute_notes(policy, halves=True),
        measures={
            "records": len(final),
            "groups": summary.classes(sizes_of(final)),
            "loss": {"suppression_accuracy": tidy(float(share))},
            "attributes": {},
        },
        cautions=[*ev.CAUTIONS, ONE_KNOWN if style is Style.TREES else APART],
        more={
            "documents": {
                "form": passed.leaving.form.kind,
                "vertices": {"before": forest.vertices, "after": watch.vertices},
                "levels": document_notes.levels(forest.schema, document_notes.before(forest), watch.places),
                "divergence": document_notes.shifted(forest, sensitive_of(final)),
                "drawn": document_notes.drawn_group(final),
            }
        },
    )
