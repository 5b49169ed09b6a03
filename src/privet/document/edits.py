"""Document edits: which records become one tree, and what is cut. `published` applies them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from privet.core import Role
from privet.declared import Order
from privet.document.diversify import Representative
from privet.document.forest import NONE, Forest, Vertex
from privet.document.ordering import key_of
from privet.document.schema import Kind
from privet.document.taxonomy import Taxonomy
from privet.domain import Value


@dataclass(frozen=True, slots=True)
class TreeClass:
    """Records that are published as one tree; `rep.aligned[:, j]` are the vertices of `members[j]`."""

    members: tuple[int, ...] = field(repr=False)
    rep: Representative = field(repr=False)


@dataclass(frozen=True, eq=False)
class DocumentEdits:
    """Local recoding of trees: each record is in one class, or is not published at all."""

    nodes: Taxonomy = field(repr=False)
    classes: tuple[TreeClass, ...] = field(repr=False)
    suppressed: tuple[int, ...] = field(default=(), repr=False)  # records, in order

    @property
    def records(self) -> int:
        """How many records are published."""
        return sum(len(group.members) for group in self.classes)


def published(forest: Forest, edits: DocumentEdits, order: Order = Order.CANONICAL) -> Iterator[Vertex]:
    """The records that leave, as plain trees, in canonical order or in that of the forest.

    All members of a class have their children in the same order, that of the labels, so who stands at the
    same place in two of them is aligned, and nothing is told by the order of the input.
    """
    if order is Order.KEPT:
        everybody = [
            (record, at, member)
            for at, group in enumerate(edits.classes)
            for member, record in enumerate(group.members)
        ]
        laid: dict[int, list[list[int]]] = {}
        for _, at, member in sorted(everybody):
            rep = edits.classes[at].rep
            laid.setdefault(at, _ordered(edits.nodes, rep))
            yield _written(forest, edits.nodes, rep, laid[at], member)
        return
    # Classes that look alike are one to whoever reads them, so their members stand together.
    alike: dict[Any, list[int]] = {}
    for at, group in enumerate(edits.classes):
        first = _written(forest, edits.nodes, group.rep, _ordered(edits.nodes, group.rep), 0)
        alike.setdefault(key_of(first, forest.schema)[0], []).append(at)
    for known in sorted(alike):
        trees: list[Vertex] = []
        for at in alike[known]:
            rep, children = edits.classes[at].rep, _ordered(edits.nodes, edits.classes[at].rep)
            trees += [
                _written(forest, edits.nodes, rep, children, member)
                for member in range(len(edits.classes[at].members))
            ]
        yield from sorted(trees, key=lambda tree: key_of(tree, forest.schema))


def _ordered(nodes: Taxonomy, rep: Representative) -> list[list[int]]:
    """The children of each vertex, by what is published of their subtrees; equal ones as they stand."""
    size = len(rep.kinds)
    children: list[list[int]] = [[] for _ in range(size)]
    form: list[tuple[object, ...]] = [()] * size
    for vertex in range(size - 1, -1, -1):
        children[vertex].sort(key=lambda child: (form[child], child))
        labels = tuple(_sortable(nodes.labels[node]) for node in rep.nodes[vertex].tolist() if node != NONE)
        below = tuple(form[child] for child in children[vertex])
        form[vertex] = (int(rep.kinds[vertex]), labels, below)
        if rep.parents[vertex] != NONE:
            children[rep.parents[vertex]].append(vertex)
    return children


def _sortable(label: Value) -> tuple[bool, str]:
    return label is None, label or ""


def _written(
    forest: Forest, nodes: Taxonomy, rep: Representative, children: list[list[int]], member: int
) -> Vertex:
    """One member's tree: the labels of its class, its own sensitive values."""
    made: dict[int, Vertex] = {}
    for vertex in range(len(rep.kinds) - 1, -1, -1):  # children before their parents
        kind = forest.schema.kinds[rep.kinds[vertex]]
        values = _values(forest, kind, int(rep.aligned[vertex, member]), nodes, rep.nodes[vertex].tolist())
        made[vertex] = Vertex(kind.name, values, tuple(made.pop(child) for child in children[vertex]))
    return made[0]


def _values(forest: Forest, kind: Kind, vertex: int, nodes: Taxonomy, labels: list[int]) -> tuple[Value, ...]:
    found: list[Value] = []
    quasi = iter(labels)
    for at, f in enumerate(kind.published):
        if f.role is Role.QUASI:
            found.append(nodes.labels[next(quasi)])
            continue
        value = forest.domains[kind.name, f.name].values[forest.codes[vertex, at]]
        if f.buckets is not None and f.buckets.labelled and value is not None:
            value = f.buckets.label(int(forest.buckets[vertex]))
        found.append(value)
    return tuple(found)
