"""Siblings that look alike: their order follows from what is published, and keeps the promise."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import privet as pv
from privet.document import settling
from privet.document.audit import audit
from privet.document.forest import Vertex
from privet.document.schema import Schema
from privet.roads.documents.data import shape_of

POLICY = """
policy = 1
kind = "documents"
[documents.record]
type = "student"
[documents.types.student]
quasi = ["year"]
children = { terms = "term" }
[documents.types.term]
sensitive = "mood"
children = { courses = "course" }
[documents.types.course]
quasi = ["course"]
sensitive = "grade"
[[models]]
type = "document-l-diversity"
l = 2
[algorithm]
type = "ctoff"
"""


@pytest.fixture(scope="module")
def schema() -> Schema:
    return shape_of(pv.Policy.loads(POLICY)).schema


def student(moods: str) -> Vertex:
    return Vertex("student", ("1990",), tuple(Vertex("term", (mood,)) for mood in moods))


def turned(tree: Vertex, chance: random.Random) -> Vertex:
    """The same tree with its children in another order."""
    below = [turned(one, chance) for one in tree.children]
    return replace(tree, children=tuple(chance.sample(below, len(below))))


@given(data=st.data(), many=st.integers(2, 4), size=st.integers(2, 7), l=st.integers(2, 4))
def test_leaves_are_dealt_out_whenever_that_is_possible(
    schema: Schema, data: Any, many: int, size: int, l: int
) -> None:
    texts = data.draw(st.lists(st.text("wxyz", min_size=many, max_size=many), min_size=size, max_size=size))
    trees = [student(text) for text in texts]
    found = settling.Settling(schema, l)(trees)
    assert sorted(sorted(str(v.values[0]) for v in tree.children) for tree in found) == sorted(
        map(sorted, texts)
    )
    counts = Counter("".join(texts))
    possible = all(count <= (size // l) * many for count in counts.values())
    places = zip(*([one.values[0] for one in tree.children] for tree in found), strict=True)
    assert (max(max(Counter(place).values()) for place in places) <= size // l) == possible
    if possible:  # the order in which they came is nowhere to be seen
        chance = random.Random(size)
        again = chance.sample([turned(tree, chance) for tree in trees], len(trees))
        assert found == settling.Settling(schema, l)(again)


def test_with_k_anonymity_alone_they_are_sorted(schema: Schema) -> None:
    found = settling.Settling(schema, None)([student("yx"), student("xw"), student("zz")])
    assert ["".join(str(v.values[0]) for v in tree.children) for tree in found] == ["wx", "xy", "zz"]


def test_what_looks_alike_in_no_way_stays(schema: Schema) -> None:
    one = Vertex("term", ("x",), (Vertex("course", ("c", "A")),))
    trees = [Vertex("student", ("1990",), (one, Vertex("term", ("y",)))) for _ in range(3)]
    assert settling.Settling(schema, 2)(trees) == trees


@given(seed=st.integers(0, 10_000))
def test_trees_below_trees_keep_what_the_search_found(schema: Schema, seed: int) -> None:
    """Members that are diverse as they were laid are so afterwards, in an order that follows from none."""
    chance = random.Random(seed)
    l, terms, courses = 2, chance.randint(1, 3), chance.randint(1, 3)
    columns = [[chance.sample("wxyz", 4) for _ in range(courses + 1)] for _ in range(terms)]
    trees = [
        Vertex("student", ("1990",), tuple(
            Vertex("term", (own[at],), tuple(Vertex("course", ("c", one[at])) for one in grades))
            for own, *grades in columns
        ))
        for at in range(4)
    ]  # fmt: skip
    assert audit(schema, trees, l).holds
    found = settling.Settling(schema, l)(trees)
    assert audit(schema, found, l, steps=0).holds, "as written, without a search"
    assert audit(schema, found, l).records == len(trees)


@given(data=st.data(), colours=st.integers(1, 5))
def test_no_two_edges_of_a_vertex_share_a_colour(data: Any, colours: int) -> None:
    edges: list[tuple[int, int]] = []
    left, right = Counter[int](), Counter[int]()
    for one, other in data.draw(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=40)):
        if left[one] < colours and right[other] < colours:
            edges.append((one, other))
            left[one] += 1
            right[other] += 1
    found = settling._coloured(edges, colours)
    assert all(0 <= colour < colours for colour in found)
    for side in (0, 1):
        ends = [(edge[side], colour) for edge, colour in zip(edges, found, strict=True)]
        assert len(set(ends)) == len(ends)
