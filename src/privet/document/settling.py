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
from privet.document.schema import Schema
from privet.domain import Value

TRIES = 32  # orders in which the members of a class are dealt out


class Settling:
    """Trees of one form with their siblings in order; `diverse`: what must hold at every place."""

    def __init__(self, schema: Schema, diverse: int | None) -> None:
        self._schema, self._diverse, self._buckets = schema, diverse, _Buckets(schema)

    def __call__(self, trees: Sequence[Vertex]) -> list[Vertex]:
        form = _Form.of(trees[0], self._schema)
        if not form.twins:
            return list(trees)
        members = sorted((_read(tree, form, self._buckets) for tree in trees), key=lambda one: one.key)
        if self._diverse is None:
            return [one.vertex(form) for one in members]
        most = len(trees) // self._diverse
        for seed in range(TRIES):
            if _deal(members, form, Random(seed), most):  # the same for the same trees: no secret
                return [one.vertex(form) for one in members]
        return list(trees)


@dataclass(frozen=True, slots=True)
class _Form:
    """What trees of one form share: for each run of children that look alike, how many, and their form."""

    runs: tuple[tuple[int, _Form], ...]
    twins: bool  # does any run have several?

    @classmethod
    def of(cls, tree: Vertex, schema: Schema) -> _Form:
        return cls._read(tree, schema)[0]

    @classmethod
    def _read(cls, tree: Vertex, schema: Schema) -> tuple[_Form, tuple[Any, ...]]:
        """The form of a tree, and what is known of it: equal for trees that look alike."""
        inside = [cls._read(child, schema) for child in tree.children]
        runs = []
        for _, run in groupby(inside, key=lambda one: one[1]):
            alike = list(run)
            runs.append((len(alike), alike[0][0]))
        kind = schema.kind(tree.type)
        known = [one for _, one in inside]
        if len(kind.children) > 1:  # type by type, whatever stands between
            known.sort(key=lambda one: one[0])
        values = tuple([tree.values[at] for at in kind.quasi_places])
        form = cls(tuple(runs), any(many > 1 or inner.twins for many, inner in runs))
        return form, (schema.position[tree.type], values, tuple(known))


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
        self.seen: dict[tuple[str, Value], Any] = {}
        self.read = {
            kind.name: (kind.position(f.name), kind, f)
            for kind in schema.kinds
            if (f := kind.sensitive) is not None
        }

    def __call__(self, vertex: Vertex) -> Any:
        where = self.read.get(vertex.type)
        if where is None:
            return None
        at, kind, f = where
        value = vertex.values[at]
        found = self.seen.get((vertex.type, value))
        if found is None:
            cut = f.buckets
            seen = equality.key(value) if cut is None or cut.labelled else bucket_of(kind, f, cut, value)
            found = self.seen[vertex.type, value] = vertex.type, seen
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


def _deal(trees: Sequence[_Tree], form: _Form, random: Random, most: int) -> bool:
    """Give each child of a run its place, all members at once, and so on below; until one is too common."""
    if _common(trees, most):
        return False
    for tree in trees:
        tree.laid = []
    for at, (many, inner) in enumerate(form.runs):
        runs = [tree.below[at] for tree in trees]
        if many > 1:
            runs = _places(runs, random)
        for tree, run in zip(trees, runs, strict=True):
            tree.laid.append(run)
        for place in zip(*runs, strict=True):
            if not (_deal(place, inner, random, most) if inner.twins else _keeps(place, inner, most)):
                return False
    return True


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
    """Laid over each other, where none looks like its sibling: is no value at any place too common?"""
    if _common(trees, most):
        return False
    return all(
        _keeps(place, inner, most)
        for at, (_, inner) in enumerate(form.runs)
        for place in zip(*[tree.below[at] for tree in trees], strict=True)
    )


def _common(trees: Sequence[_Tree], most: int) -> bool:
    """Does a value stand too often at one place?"""
    return trees[0].bucket is not None and max(Counter([tree.bucket for tree in trees]).values()) > most
