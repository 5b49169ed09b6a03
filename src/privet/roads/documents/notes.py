"""What evidence says of published documents: what is left by depth, what each field lost, one class drawn.

All numbers, and labels that somebody generalised to; values as they came stand in the data and nowhere else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isinf
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.core import Role
from privet.document.anatomy_rules import Rules
from privet.document.edits import DocumentEdits, TreeClass
from privet.document.forest import NONE, Forest, Vertex, bucket_of
from privet.document.measures import divergence, kept
from privet.document.preflight import preflight
from privet.document.publication import Publication, Published, sensitive_value
from privet.document.schema import Buckets, Kind, Schema
from privet.document.taxonomy import Taxonomy, taxonomy
from privet.domain import Value
from privet.evidence.documents import DocumentsNote
from privet.measure.summary import tidy
from privet.policy.values import Policy

Held: TypeAlias = Mapping[str, Counter[int | Value]]
DRAWN = 40  # vertices of the class that a report draws


class Watch:
    """Counts what passes, so that a release is read once for everything."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.records = 0
        self.places: Counter[tuple[int, str]] = Counter()  # vertices by level and type
        self._held: dict[str, Counter[Value]] = {}  # by type: sensitive values
        self._at = {k.name: k.position(k.sensitive.name) for k in schema.kinds if k.sensitive is not None}

    def __call__(self, records: Iterable[Vertex]) -> Iterator[Vertex]:
        for record in records:
            self.records += 1
            self.count(record)
            yield record

    def count(self, record: Vertex) -> None:
        waiting = [(record, 0)]
        while waiting:
            vertex, level = waiting.pop()
            self.places[level, vertex.type] += 1
            if (at := self._at.get(vertex.type)) is not None:
                self._held.setdefault(vertex.type, Counter())[vertex.values[at]] += 1
            waiting += [(child, level + 1) for child in vertex.children]

    @property
    def vertices(self) -> int:
        return self.places.total()

    @property
    def held(self) -> Held:
        """How often each sensitive value (or bucket) passed, as `measures.divergence` wants it."""
        return {
            name: as_promised(self.schema.kind(type_), counted.items())
            for type_, counted in self._held.items()
            for name in [_named(self.schema.kind(type_))]
        }


def as_promised(kind: Kind, counted: Iterable[tuple[Value, int]]) -> Counter[int | Value]:
    """Counts of sensitive values as promises see them: by bucket, where the field has buckets."""
    f = kind.sensitive
    assert f is not None
    found: Counter[int | Value] = Counter()
    for value, count in counted:
        if f.buckets is None:
            found[value] += count
        elif f.buckets.labelled and value in (labels := _labels(f.buckets)):
            found[labels[value]] += count
        else:
            found[bucket_of(kind, f, f.buckets, value)] += count
    return found


def _labels(buckets: Buckets) -> dict[Value, int]:
    return {buckets.label(at): at for at in range(len(buckets.edges) - 1)}


def _named(kind: Kind) -> str:
    assert kind.sensitive is not None
    return f"{kind.name}.{kind.sensitive.name}"


def held(forest: Forest) -> Held:
    """The same of a forest."""
    found = {}
    for kind in forest.schema.kinds:
        if kind.sensitive is not None:
            _, codes, domain = forest.field(kind, kind.sensitive.name)
            counts = np.bincount(codes, minlength=domain.size).tolist()
            if len(codes):
                found[_named(kind)] = as_promised(kind, zip(domain.values, counts, strict=True))
    return found


def before(forest: Forest) -> Counter[tuple[int, str]]:
    """The vertices of a forest by level and type."""
    kinds = len(forest.schema.kinds)
    counted = np.bincount(forest.levels.astype(np.int64) * kinds + forest.kinds)
    return Counter(
        {(at // kinds, forest.schema.kinds[at % kinds].name): n for at, n in enumerate(counted.tolist()) if n}
    )


def levels(
    schema: Schema, raw: Mapping[tuple[int, str], int], now: Mapping[tuple[int, str], int]
) -> list[dict[str, Any]]:
    """What is left at each depth, types below those they stand in: who is cut takes all below along."""
    order: dict[tuple[int, str], None] = {}
    waiting = [(0, schema.root)]
    while waiting:
        place = waiting.pop()
        if place not in order and place in raw:
            order[place] = None
            below = schema.kind(place[1]).children
            waiting += [(place[0] + 1, child) for _, child in reversed(below)]
    return [
        {"level": level, "type": type_, "before": raw[level, type_], "after": now.get((level, type_), 0)}
        for level, type_ in order
    ]


def levels_again(schema: Schema, said: DocumentsNote, watch: Watch) -> list[dict[str, Any]]:
    """The same of a release, where how many there were before is the steward's word."""
    before = {(one.level, one.type): one.before for one in said.levels}
    before |= {place: before.get(place, 0) for place in watch.places}
    try:
        return levels(schema, before, watch.places)
    except KeyError:  # of a type that the policy does not have
        return []


def shifted(forest: Forest, now: Held) -> dict[str, float | None]:
    """How far the sensitive values of a release are from the original ones; None: nothing is left."""
    apart = divergence(now, held(forest))
    return {name: None if isinf(one) else tidy(one) for name, one in apart.items()}


def losses(forest: Forest, edits: DocumentEdits) -> dict[str, dict[str, Any]]:
    """For each quasi-identifier: what is lost of it, and how much of that because vertices are gone."""
    nodes, schema = edits.nodes, forest.schema
    often = np.zeros((nodes.nodes.shape[1], len(nodes.labels)), dtype=np.int64)
    for group in edits.classes:
        for column in range(often.shape[0]):
            there = group.rep.nodes[:, column]
            often[column] += len(group.members) * np.bincount(there[there != NONE], minlength=often.shape[1])
    all_ = np.bincount(forest.kinds, minlength=len(schema.kinds)).tolist()
    left = kept(forest, edits)
    loss = _losses(nodes)
    found = {}
    for number, kind in enumerate(schema.kinds):
        for column, f in enumerate(kind.quasi):
            dulled = float(often[column][nodes.kinds == number] @ loss[nodes.kinds == number])
            gone = all_[number] - left[number]
            many = max(all_[number], 1)
            found[f"{kind.name}.{f.name}"] = {"lm": tidy((dulled + gone) / many), "cut": tidy(gone / many)}
    return found


def _losses(nodes: Taxonomy) -> NDArray[np.float64]:
    return np.asarray((nodes.high - nodes.low - 1) / np.maximum(nodes.sizes - 1, 1), dtype=np.float64)


def label_losses(forest: Forest) -> dict[tuple[str, str], dict[Value, float]]:
    """By type and field: what each label that could be published loses."""
    nodes = taxonomy(forest)
    loss = _losses(nodes)
    attribute = np.cumsum(nodes.up == np.arange(len(nodes.up))) - 1  # every attribute begins with its root
    names = [
        (kind.name, f.name)
        for kind in forest.schema.kinds
        for f in kind.quasi
        if forest.domains[kind.name, f.name].size
    ]
    found: dict[tuple[str, str], dict[Value, float]] = {name: {} for name in names}
    for at, label in enumerate(nodes.labels):
        known = found[names[attribute[at]]]
        known[label] = max(known.get(label, 0.0), float(loss[at]))
    return found


def counted_loss(forest: Forest, release: Iterable[Vertex]) -> tuple[float, dict[str, float]]:
    """LM of a release, and of each field, counted again from its labels alone."""
    known = label_losses(forest)
    lost = dict.fromkeys(known, 0.0)
    left: Counter[str] = Counter()
    for record in release:
        for vertex in record.walk():
            left[vertex.type] += 1
            for f, value in zip(forest.schema.kind(vertex.type).published, vertex.values, strict=True):
                if f.role is Role.QUASI:
                    # A label that no hierarchy has tells nothing: it is charged like one that is gone.
                    lost[vertex.type, f.name] += known[vertex.type, f.name].get(value, 1.0)
    total, paid = 0, 0.0
    fields = {}
    for kind in forest.schema.kinds:
        many = int(np.count_nonzero(forest.kinds == forest.schema.position[kind.name]))
        for f in kind.quasi:
            here = lost.get((kind.name, f.name), 0.0) + many - left[kind.name]
            fields[f"{kind.name}.{f.name}"] = tidy(here / many if many else 0.0)
            total, paid = total + many, paid + here
    return tidy(paid / total if total else 0.0), fields


def attribute_notes(policy: Policy, *, halves: bool = False) -> dict[str, Any]:
    """For each field: its role and what became of it."""
    how = {
        Role.IDENTIFIER: "dropped",
        Role.QUASI: "unchanged" if halves else "generalised",
        Role.SENSITIVE: "in groups" if halves else "unchanged",
    }
    return {
        a.name: {"role": a.role.value, "published": how.get(a.role, "unchanged")} for a in policy.attributes
    }


def outlook(forest: Forest, l: int) -> list[dict[str, Any]]:
    """What the steward should know of the sensitive values; shares of raw values, so it stays at home."""
    return [
        {
            "attribute": f"{one.type}.{one.field}",
            "vertices": one.vertices,
            "values": one.values,
            "largest": str(one.largest),
            "warning": one.warning(l),
        }
        for one in preflight(forest)
    ]


def warnings(forest: Forest, l: int, rules: Rules | None = None) -> list[str]:
    """What a steward should know before: what stands out, and rules that erase or say nothing."""
    foreseen = [one["warning"] for one in outlook(forest, l) if one["warning"]]
    return foreseen + ([] if rules is None else rules.warnings(l, forest))


def drawn(forest: Forest, edits: DocumentEdits) -> dict[str, Any] | None:
    """One class as a tree, for a picture: the richest that fits, or the smallest if none does."""
    if not edits.classes:
        return None
    fits = [group for group in edits.classes if len(group.rep.kinds) <= DRAWN]
    if fits:
        chosen = max(fits, key=lambda group: len(group.rep.kinds))
    else:
        chosen = min(edits.classes, key=lambda group: len(group.rep.kinds))
    return {"records": len(chosen.members), "vertices": list(_drawn(forest, edits.nodes, chosen))}


def _drawn(forest: Forest, nodes: Taxonomy, group: TreeClass) -> Iterator[dict[str, Any]]:
    """Vertices in preorder. A label is said where it was generalised to, not where it is a value."""
    rep = group.rep
    order, place = _by_level(rep.parents.tolist())
    for vertex in order:
        kind = forest.schema.kinds[rep.kinds[vertex]]
        labels = []
        for f, node in zip(kind.quasi, rep.nodes[vertex].tolist(), strict=False):
            lost = float(nodes.loss(node))
            said: dict[str, Any] = {"field": f.name, "loss": tidy(lost)}
            if lost:
                said["label"] = nodes.labels[node]
            labels.append(said)
        parent = int(rep.parents[vertex])
        one: dict[str, Any] = {"type": kind.name, "labels": labels}
        if parent != NONE:
            one["parent"] = place[parent]
        if kind.sensitive is not None:
            different = len(set(rep.buckets[vertex].tolist()))
            one["sensitive"] = {"field": kind.sensitive.name, "different": different}
        yield one


def drawn_group(publication: Publication) -> dict[str, Any] | None:
    """One group of a release in halves as a tree: the shape that all its trees have, without their values."""
    sized = [(sum(1 for _ in group.qi[0].walk()), group) for group in publication.groups if group.qi]
    if not sized:
        return None
    fits = [one for one in sized if one[0] <= DRAWN]
    chosen = (max(fits, key=_first) if fits else min(sized, key=_first))[1]
    return {
        "records": len(chosen),
        "style": publication.style.value,
        "vertices": list(_drawn_group(publication.schema, chosen)),
    }


def _first(one: tuple[int, Published]) -> int:
    return one[0]


def _drawn_group(schema: Schema, group: Published) -> Iterator[dict[str, Any]]:
    tree, parents = _preorder(group.qi[0])
    order, place = _by_level(parents)
    others = [_preorder(sa)[0] for sa in group.sa]
    for at in order:
        vertex, kind = tree[at], schema.kind(tree[at].type)
        one: dict[str, Any] = {
            "type": kind.name,
            "labels": [{"field": f.name, "loss": 0} for f in kind.quasi],
        }
        if parents[at] != NONE:
            one["parent"] = place[parents[at]]
        if kind.sensitive is not None:
            bag = vertex.values[-1] if group.bags else None
            values = (
                [sensitive_value(other[at], schema) for other in others]
                if bag is None
                else list(group.bags[bag])
            )
            different = len(as_promised(kind, Counter(values).items()))
            one["sensitive"] = {"field": kind.sensitive.name, "different": different}
        yield one


def _preorder(root: Vertex) -> tuple[list[Vertex], list[int]]:
    """The vertices of a tree, and for each the place of its parent."""
    vertices: list[Vertex] = []
    parents: list[int] = []
    waiting = [(root, NONE)]
    while waiting:
        vertex, parent = waiting.pop()
        waiting += [(child, len(vertices)) for child in reversed(vertex.children)]
        vertices.append(vertex)
        parents.append(parent)
    return vertices, parents


def _by_level(parents: Sequence[int]) -> tuple[list[int], dict[int, int]]:
    """The vertices of a tree that are drawn: all, or the first ones level by level; and their new numbers."""
    level: list[int] = []
    for parent in parents:
        level.append(0 if parent == NONE else level[parent] + 1)
    first = sorted(range(len(parents)), key=lambda vertex: (level[vertex], vertex))[:DRAWN]
    chosen = sorted(first)
    return chosen, {vertex: at for at, vertex in enumerate(chosen)}
