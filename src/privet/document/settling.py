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
from collections.abc import Iterator, Sequence
from itertools import groupby
from random import Random
from typing import Any

from privet import equality
from privet.document.forest import Vertex, bucket_of
from privet.document.ordering import key_of
from privet.document.schema import Schema

TRIES = 32  # orders in which the members of a class are dealt out


def settled(trees: Sequence[Vertex], schema: Schema, diverse: int | None) -> list[Vertex]:
    """Trees of one form with their siblings in order; `diverse`: what must hold at every place."""
    if not twins(trees[0], schema):
        return list(trees)
    plain = sorted((in_order(tree, schema) for tree in trees), key=lambda tree: key_of(tree, schema))
    if diverse is None or _keeps(plain, schema, diverse):
        return plain
    for seed in range(TRIES):
        dealt = _dealt(plain, schema, Random(seed))  # the same for the same trees: no secret
        if _keeps(dealt, schema, diverse):
            return dealt
    return list(trees)


def _runs(tree: Vertex, schema: Schema) -> list[list[Vertex]]:
    """The children of a vertex, those of one form together, as they are written."""
    return [list(run) for _, run in groupby(tree.children, key=lambda child: key_of(child, schema)[0])]


def twins(tree: Vertex, schema: Schema) -> bool:
    """Has a vertex several children that look alike?"""
    waiting = [tree]
    while waiting:
        vertex = waiting.pop()
        if len(vertex.children) > 1 and len(_runs(vertex, schema)) < len(vertex.children):
            return True
        waiting += vertex.children
    return False


def in_order(tree: Vertex, schema: Schema) -> Vertex:
    """The same tree: children that look alike by all that is published of them."""
    below: list[Vertex] = []
    for run in _runs(tree, schema):
        below += sorted((in_order(one, schema) for one in run), key=lambda one: key_of(one, schema)[1])
    return Vertex(tree.type, tree.values, tuple(below))


def _dealt(trees: Sequence[Vertex], schema: Schema, random: Random) -> list[Vertex]:
    """Trees of one form, whose children of one form are dealt out to the places of these."""
    below: list[list[Vertex]] = [[] for _ in trees]
    for runs in zip(*(_runs(tree, schema) for tree in trees), strict=True):
        places = (
            list(zip(*_places(runs, schema, random), strict=True))
            if len(runs[0]) > 1
            else [tuple(run[0] for run in runs)]
        )
        for place in places:
            for mine, one in zip(below, _dealt(place, schema, random), strict=True):
                mine.append(one)
    return [Vertex(tree.type, tree.values, tuple(b)) for tree, b in zip(trees, below, strict=True)]


def _places(runs: Sequence[Sequence[Vertex]], schema: Schema, random: Random) -> list[list[Vertex]]:
    """For each member its children by place: at each place a value stands equally often, but for one."""
    many = len(runs[0])
    met: Counter[Any] = Counter()
    edges = []
    everybody = list(range(len(runs)))
    random.shuffle(everybody)
    for member in everybody:
        for child in random.sample(list(runs[member]), many):
            value = _first(child, schema)
            edges.append((member, (value, met[value] // many), child))  # so many of a value are one vertex
            met[value] += 1
    colours = _coloured([(member, vertex) for member, vertex, _ in edges], many)
    found: list[list[Vertex | None]] = [[None] * many for _ in runs]
    for (member, _, child), colour in zip(edges, colours, strict=True):
        found[member][colour] = child
    return [[child for child in mine if child is not None] for mine in found]


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


def _first(tree: Vertex, schema: Schema) -> Any:
    """What a tree is dealt out by: its own sensitive value, or the first below it."""
    return next((value for value in _buckets(tree, schema) if value is not None), None)


def _buckets(tree: Vertex, schema: Schema) -> Iterator[Any]:
    """For each vertex, parents first, what promises see of its sensitive value; None where it has none."""
    kind = schema.kind(tree.type)
    field = kind.sensitive
    if field is None:
        yield None
    else:
        value, cut = tree.values[kind.position(field.name)], field.buckets
        plain = cut is None or cut.labelled
        yield tree.type, equality.key(value) if plain else bucket_of(kind, field, cut, value)  # type: ignore[arg-type]
    for child in tree.children:
        yield from _buckets(child, schema)


def _keeps(trees: Sequence[Vertex], schema: Schema, diverse: int) -> bool:
    """Laid over each other as they are written: is no value at any place too common?"""
    most = len(trees) // diverse
    return all(
        place[0] is None or max(Counter(place).values()) <= most
        for place in zip(*(_buckets(tree, schema) for tree in trees), strict=True)
    )
