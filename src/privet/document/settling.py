"""Siblings that look alike, in an order that follows from what is published and from nothing else.

Whose child stands where in the input, or which of its raw values is the smaller, would tell which sensitive
value belongs to which of two children that look alike. So, once it is settled who is published as one tree,
children of one form are brought into an order by their published values. With k-anonymity alone they are
sorted. Where values must be diverse at every place, each member of a class is sorted in its own way: its
children are dealt out to the places such that a value stands at each place as often as at any other, or once
more. Children without children of their own can always be dealt out so (König: the edges of a bipartite graph
whose vertices have at most m edges have m colours). Where others stand below, some orders are tried; if
none keeps the promise the members stay as the search has laid them, which follows from no order of the
input either.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from random import Random
from typing import Any

from privet import equality
from privet.document.forest import Vertex, bucket_of
from privet.document.ordering import key_of
from privet.document.schema import Schema
from privet.domain import Value

TRIES = 32  # orders in which the members of a class are dealt out


def settled(trees: Sequence[Vertex], schema: Schema, diverse: int | None) -> list[Vertex]:
    """Trees of one form with their siblings in order; `diverse`: what must hold at every place."""
    form = _Form.of(trees[0], schema)
    if not form.twins:
        return list(trees)
    buckets = _Buckets(schema)
    members = sorted((_read(tree, form, buckets) for tree in trees), key=lambda one: one.key)
    if diverse is None:
        return [one.vertex(form) for one in members]
    for seed in range(TRIES):
        _deal(members, form, Random(seed))  # the same for the same trees: no secret
        if _keeps(members, form, len(trees) // diverse):
            return [one.vertex(form) for one in members]
    return list(trees)


@dataclass(frozen=True, slots=True)
class _Form:
    """What trees of one form share: for each run of children that look alike, how many, and their form."""

    runs: tuple[tuple[int, _Form], ...]
    twins: bool  # does any run have several?

    @classmethod
    def of(cls, tree: Vertex, schema: Schema) -> _Form:
        runs = []
        for _, run in groupby(tree.children, key=lambda child: key_of(child, schema)[0]):
            alike = list(run)
            runs.append((len(alike), cls.of(alike[0], schema)))
        return cls(tuple(runs), any(many > 1 or inner.twins for many, inner in runs))


@dataclass(eq=False, slots=True)
class _Tree:
    """A member of a class, or what stands below one."""

    own: Vertex
    key: tuple[Any, ...]  # all that is published of it
    bucket: Any  # what promises see of its sensitive value; None without one
    first: Any  # what it is dealt out by: that, or the first below it
    below: list[list[_Tree]] = field(repr=False)  # run by run, sorted
    laid: list[list[_Tree]] = field(default_factory=list, repr=False)  # run by run, by place

    def vertex(self, form: _Form) -> Vertex:
        if not form.twins:
            return self.own
        runs = zip(self.laid or self.below, form.runs, strict=True)
        return Vertex(
            self.own.type, self.own.values, tuple([one.vertex(of) for run, (_, of) in runs for one in run])
        )


class _Buckets:
    """What promises see of sensitive values."""

    def __init__(self, schema: Schema) -> None:
        self.kinds = {kind.name: kind for kind in schema.kinds}
        self.seen: dict[tuple[str, Value], Any] = {}

    def __call__(self, vertex: Vertex) -> Any:
        kind = self.kinds[vertex.type]
        if kind.sensitive is None:
            return None
        value, cut = vertex.values[kind.position(kind.sensitive.name)], kind.sensitive.buckets
        found = self.seen.get((vertex.type, value))
        if found is None:
            plain = cut is None or cut.labelled
            found = (
                equality.key(value) if plain or cut is None else bucket_of(kind, kind.sensitive, cut, value)
            )
            found = self.seen[vertex.type, value] = vertex.type, found
        return found


def _read(vertex: Vertex, form: _Form, buckets: _Buckets) -> _Tree:
    below: list[list[_Tree]] = []
    at = 0
    for many, inner in form.runs:
        run = [_read(child, inner, buckets) for child in vertex.children[at : at + many]]
        if many > 1:
            run.sort(key=lambda one: one.key)
        below.append(run)
        at += many
    key = (
        tuple([(value is None, value or "") for value in vertex.values]),
        tuple([one.key for run in below for one in run]),
    )
    bucket = buckets(vertex)
    first = bucket or next((one.first for run in below for one in run if one.first), None)
    return _Tree(vertex, key, bucket, first, below)


def _deal(trees: Sequence[_Tree], form: _Form, random: Random) -> None:
    """Give each child of a run its place, all members at once, and so on below."""
    for tree in trees:
        tree.laid = []
    for at, (many, inner) in enumerate(form.runs):
        runs = [tree.below[at] for tree in trees]
        if many > 1:
            runs = _places(runs, random)
        for tree, run in zip(trees, runs, strict=True):
            tree.laid.append(run)
        if inner.twins:
            for place in zip(*runs, strict=True):
                _deal(place, inner, random)


def _places(runs: Sequence[Sequence[_Tree]], random: Random) -> list[list[_Tree]]:
    """For each member its children by place: at each place a value stands equally often, but for one."""
    many = len(runs[0])
    met: Counter[Any] = Counter()
    edges, children = [], []
    everybody = list(range(len(runs)))
    random.shuffle(everybody)
    for member in everybody:
        for child in random.sample(runs[member], many):
            edges.append(
                (member, (child.first, met[child.first] // many))
            )  # so many of a value are one vertex
            children.append(child)
            met[child.first] += 1
    found: list[dict[int, _Tree]] = [{} for _ in runs]
    for (member, _), child, colour in zip(edges, children, _coloured(edges, many), strict=True):
        found[member][colour] = child
    return [[mine[place] for place in range(many)] for mine in found]


def _coloured(edges: Sequence[tuple[int, Any]], colours: int) -> list[int]:
    """A colour for each edge of a bipartite graph, such that no two at one vertex share it.

    No vertex has more edges than there are colours. An edge takes a colour that is free on its left side; if
    it is taken on the right, it changes places with one that is free there, along the path of these two.
    """
    found = [-1] * len(edges)
    at: dict[Any, list[int | None]] = defaultdict(lambda: [None] * colours)  # by vertex and colour: the edge
    for number, (left, right) in enumerate(edges):
        here, there = at["left", left], at["right", right]
        one, other = here.index(None), there.index(None)
        path, side, vertex, colour = [], 1, ("right", right), one
        while (met := at[vertex][colour]) is not None:
            path.append(met)
            side = 1 - side
            vertex = (("left", edges[met][0]), ("right", edges[met][1]))[side]
            colour = other if colour == one else one
        for edge in path:
            for vertex in (("left", edges[edge][0]), ("right", edges[edge][1])):
                if at[vertex][found[edge]] == edge:
                    at[vertex][found[edge]] = None
        for edge in path:
            found[edge] = other if found[edge] == one else one
            at["left", edges[edge][0]][found[edge]] = at["right", edges[edge][1]][found[edge]] = edge
        found[number] = one
        here[one] = there[one] = number
    return found


def _keeps(trees: Sequence[_Tree], form: _Form, most: int) -> bool:
    """Laid over each other: is no value at any place too common?"""
    if trees[0].bucket is not None and max(Counter([tree.bucket for tree in trees]).values()) > most:
        return False
    for at in range(len(form.runs)):
        inner = form.runs[at][1]
        for place in zip(*[(tree.laid or tree.below)[at] for tree in trees], strict=True):
            if not _keeps(place, inner, most):
                return False
    return True
