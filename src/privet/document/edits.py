"""Document edits: which records become one tree, and what is cut. `published` applies them."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from privet.core import Role
from privet.document.diversify import Representative
from privet.document.forest import NONE, Forest, Vertex
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


def published(forest: Forest, edits: DocumentEdits, rng: random.Random | None = None) -> Iterator[Vertex]:
    """The records that leave, in random order, as plain trees.

    All members of a class have their children in the same order, that of the labels, so who stands at the
    same place in two of them is aligned, and nothing is told by the order of the input. The order of
    records comes from the system's own randomness unless a test brings another.
    """
    order = [(at, member) for at, group in enumerate(edits.classes) for member in range(len(group.members))]
    (rng or random.SystemRandom()).shuffle(order)
    sorted_children: dict[int, list[list[int]]] = {}  # made once a class
    left = [len(group.members) for group in edits.classes]
    for at, member in order:
        rep = edits.classes[at].rep
        if at not in sorted_children:
            sorted_children[at] = _ordered(edits.nodes, rep)
        yield _written(forest, edits.nodes, rep, sorted_children[at], member)
        left[at] -= 1
        if not left[at]:
            del sorted_children[at]


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
