"""Document edits: which records become one tree, and what is cut. `published` applies them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from privet.core import Role
from privet.declared import Order
from privet.document.diversify import Representative
from privet.document.forest import NONE, Forest, Vertex
from privet.document.ordering import key_of, whole_key
from privet.document.schema import Kind
from privet.document.settling import Settling
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


def published(
    forest: Forest, edits: DocumentEdits, order: Order = Order.CANONICAL, *, diverse: int | None = None
) -> Iterator[Vertex]:
    """The records that leave, as plain trees, in canonical order or in that of the forest.

    All members of a class have their children in the same order, that of the labels; children that look alike
    stand by what is published of them, so that nothing is told by the order of the input, or, where values
    are `diverse`, such that they are at every place.
    """
    laid = [_Layout(forest, edits.nodes, group.rep) for group in edits.classes]
    if order is Order.KEPT:
        everybody = [
            (record, at, member)
            for at, group in enumerate(edits.classes)
            for member, record in enumerate(group.members)
        ]
        for _, at, member in sorted(everybody):
            yield laid[at].tree(member)
        return
    # Classes that look alike are one to whoever reads them, so their members stand together.
    alike: dict[Any, list[int]] = {}
    for at, layout in enumerate(laid):
        alike.setdefault(key_of(layout.tree(0), forest.schema)[0], []).append(at)
    settled = Settling(forest.schema, diverse)
    for known in sorted(alike):
        trees = [
            laid[at].tree(member) for at in alike[known] for member in range(len(edits.classes[at].members))
        ]
        yield from sorted(settled(trees), key=lambda tree: whole_key(tree, forest.schema))


class _Layout:
    """How the members of a class are written: one tree of labels, and where each member's own values go."""

    def __init__(self, forest: Forest, nodes: Taxonomy, rep: Representative) -> None:
        self._forest, self._rep = forest, rep
        # Tuples of plain values: there are many, and the garbage collector passes them over.
        self._children = [tuple(below) for below in _ordered(nodes, rep)]
        self._kinds = [forest.schema.kinds[kind] for kind in rep.kinds.tolist()]
        self._labels = [
            tuple([nodes.labels[node] for node in labels[: len(kind.quasi_places)]])
            for kind, labels in zip(self._kinds, rep.nodes.tolist(), strict=True)
        ]

    def tree(self, member: int) -> Vertex:
        """The labels of the class, and a member's own sensitive values."""
        made: dict[int, Vertex] = {}
        theirs = self._rep.aligned[:, member]
        codes, buckets = self._forest.codes[theirs].tolist(), self._forest.buckets[theirs].tolist()
        for vertex in range(len(codes) - 1, -1, -1):  # children before their parents
            kind = self._kinds[vertex]
            values = self._labels[vertex]
            if len(kind.quasi_places) < len(kind.published):
                values = _values(self._forest, kind, codes[vertex], buckets[vertex], values)
            below = tuple([made.pop(child) for child in self._children[vertex]])
            made[vertex] = Vertex(kind.name, values, below)
        return made[0]


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


def _values(
    forest: Forest, kind: Kind, codes: Sequence[int], bucket: int, labels: Sequence[Value]
) -> tuple[Value, ...]:
    """What a vertex says: the labels of its class in place of quasi-identifiers, and values of its own."""
    found: list[Value] = []
    quasi = iter(labels)
    for at, f in enumerate(kind.published):
        if f.role is Role.QUASI:
            found.append(next(quasi))
            continue
        value = forest.domains[kind.name, f.name].values[codes[at]]
        if f.buckets is not None and f.buckets.labelled and value is not None:
            value = f.buckets.label(bucket)
        found.append(value)
    return tuple(found)
