"""Trees in canonical order: by what is published of them, so that their order tells nothing besides.

What is known of a person comes before what is sensitive, so trees that look alike stand together. A key is
flat, vertex after vertex with its level: comparing two never goes deeper than their values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from privet.document.forest import Vertex
from privet.document.schema import Schema

Key: TypeAlias = tuple[Any, ...]


def key_of(tree: Vertex, schema: Schema) -> Key:
    """What a tree is sorted by: what is known of it, then all of it."""
    whole = whole_key(tree, schema)
    quasi = [kind.quasi_places for kind in schema.kinds]
    known = [
        (level, position, tuple([values[at] for at in quasi[position]])) for level, position, values in whole
    ]
    return tuple(known), whole


def whole_key(tree: Vertex, schema: Schema) -> Key:
    """What trees that look alike are sorted by.

    Children count type by type, in the order of the schema, as every notation can write them.
    """
    whole: list[Any] = []
    waiting = [(tree, 0)]
    places, kinds = schema.position, schema.kinds
    while waiting:
        vertex, level = waiting.pop()
        position = places[vertex.type]
        kind = kinds[position]
        # Where a vertex names a bag, that stands behind the values of its fields.
        own = vertex.values[: len(kind.published)]
        whole.append((level, position, tuple([(value is None, value or "") for value in own])))
        if below := vertex.children:
            if len(kind.children) > 1:
                below = tuple(sorted(below, key=lambda child: places[child.type]))
            level += 1
            waiting += [(child, level) for child in below[::-1]]
    return tuple(whole)


class Watched:
    """Trees that are looked at as they pass: do they stand in canonical order, and siblings in them?

    `diverse`: siblings that look alike were dealt out, so that values are diverse at every place; `twins`
    tells whether there are any, whose order nobody can check then.
    """

    def __init__(self, schema: Schema, *, diverse: bool = True) -> None:
        self.schema, self.diverse = schema, diverse
        self.sorted, self.siblings, self.twins = True, True, False

    def __call__(self, trees: Iterable[Vertex]) -> Iterator[Vertex]:
        before: Key | None = None
        for tree in trees:
            key = key_of(tree, self.schema)
            self.sorted = self.sorted and (before is None or before <= key)
            self._look_inside(*key)
            before = key
            yield tree

    def _look_inside(self, known: Key, whole: Key) -> None:
        for one, other in _siblings(known):
            here, there = known[one], known[other]
            self.siblings = self.siblings and here <= there
            if here == there:
                self.twins = True
                self.siblings = self.siblings and (self.diverse or whole[one] <= whole[other])


def _siblings(known: Key) -> Iterator[tuple[slice, slice]]:
    """Where each vertex stands with all below it, and its next sibling of the same type."""
    ends = [len(known)] * len(known)
    above: list[int] = []
    for at, (level, *_) in enumerate(known):
        while above and known[above[-1]][0] >= level:
            ends[above.pop()] = at
        above.append(at)
    for at, end in enumerate(ends):
        if end < len(known) and known[at][:2] == known[end][:2]:
            yield slice(at, end), slice(end, ends[end])


def are_in_order(trees: Iterable[Vertex], schema: Schema) -> bool:
    """Do these trees stand in canonical order?"""
    watched = Watched(schema)
    for _ in watched(trees):
        pass
    return watched.sorted
