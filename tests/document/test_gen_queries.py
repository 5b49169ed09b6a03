"""Answers of a generalised release against every world it may stand for; the outlook before clustering."""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.document.forests import BOOKS, COURSES, SCHEMA, YEARS, collections, students

from privet.document.clustree import CToff
from privet.document.edits import published
from privet.document.forest import Forest, Vertex
from privet.document.preflight import preflight
from privet.document.query import Query, Step, count
from privet.document.spread import Spread, at_least, estimated
from privet.errors import InputError
from privet.hierarchy import Tree

TREES = {("student", 1): YEARS, ("course", 0): COURSES, ("book", 0): BOOKS}


def leaves(tree: Tree, label: str) -> list[str]:
    (node,) = (node for node in tree.root.walk() if node.label == label)
    return [below.label for below in node.walk() if not below.children]


def worlds(vertex: Vertex) -> Iterator[Vertex]:
    """Every tree that a generalised one may stand for, each as often as the others."""
    choices = [
        leaves(TREES[vertex.type, at], value) if (vertex.type, at) in TREES and value is not None else [value]
        for at, value in enumerate(vertex.values)
    ]
    for values in product(*choices):
        for below in product(*(list(worlds(child)) for child in vertex.children)):
            yield Vertex(vertex.type, values, below)


def queries() -> st.SearchStrategy[Query]:
    def asked(tree: Tree) -> st.SearchStrategy[frozenset[str | None]]:
        return st.frozensets(st.sampled_from(tree.leaves), min_size=1, max_size=3)

    book = st.builds(lambda title: (Step("book", {"title": title}),), asked(BOOKS)) | st.just(())
    course = st.builds(
        lambda name, grade, below, many: Step(
            "course", {"course": name, **({"grade": frozenset({"A", "B"})} if grade else {})}, below, many
        ),
        asked(COURSES),
        st.booleans(),
        book,
        st.integers(1, 2),
    )
    root = st.builds(lambda year, step: Step("student", {"year": year}, (step,)), asked(YEARS), course)
    return st.builds(
        lambda step, vertices: Query(step, vertices=vertices and step.below[0].at_least == 1),
        root,
        st.booleans(),
    )


def small(label: str, tree: Tree, level: int) -> str:
    """The label so many levels above, or the root."""
    above = {child.label: node.label for node in tree.root.walk() for child in node.children}
    for _ in range(level):
        label = above.get(label, label)
    return label


@settings(max_examples=60, deadline=None)
@given(students(2), queries(), st.randoms(use_true_random=False))
def test_every_world(record: Vertex, query: Query, rng: random.Random) -> None:
    room = [0]

    def general(vertex: Vertex) -> Vertex:
        values = list(vertex.values)
        for at, value in enumerate(values):
            tree = TREES.get((vertex.type, at))
            if tree is not None and value is not None and room[0] < 3:  # few labels: worlds multiply
                room[0] += 1
                values[at] = small(value, tree, rng.randrange(3))
        return Vertex(vertex.type, tuple(values), tuple(general(child) for child in vertex.children))

    shown = general(record)
    possible = list(worlds(shown))
    truth = Fraction(count(query, possible, SCHEMA), len(possible))
    domains = Forest.of(SCHEMA, [record]).domains
    assert Spread(query, SCHEMA, domains).of(shown) == truth


@settings(max_examples=30, deadline=None)
@given(collections(1, 6), queries())
def test_raw_records_are_answered_exactly(records: list[Vertex], query: Query) -> None:
    domains = Forest.of(SCHEMA, records).domains
    assert estimated(query, records, SCHEMA, domains) == count(query, records, SCHEMA)


def test_a_release_is_answered() -> None:
    records = [
        Vertex("student", ("0.5", "1993", "golf"), (Vertex("course", ("CS201", "A", None)),)),
        Vertex("student", ("1.5", "1994", "golf"), (Vertex("course", ("CS204", "B", None)),)),
    ]
    forest = Forest.of(SCHEMA, records)
    release = list(published(forest, CToff().cluster(forest, 2)))
    asked = Query(Step("student", {}, (Step("course", {"course": frozenset({"CS201"})}),)))
    assert estimated(asked, release, SCHEMA, forest.domains) == 1  # twice one half
    both = Query(
        Step("student", {"year": frozenset({"1993"})}, (Step("course", {"course": frozenset({"CS201"})}),))
    )
    assert estimated(both, release, SCHEMA, forest.domains) == Fraction(1, 2)  # twice a quarter
    with pytest.raises(InputError, match="not in the hierarchy"):
        estimated(
            asked,
            [Vertex("student", ("1", "*", "golf"), (Vertex("course", ("PHYS", "A", None)),))],
            SCHEMA,
            forest.domains,
        )


@given(st.lists(st.fractions(0, 1), max_size=5), st.integers(1, 4))
def test_at_least(chances: list[Fraction], wanted: int) -> None:
    naive = Fraction(0)
    for happens in product([True, False], repeat=len(chances)):
        if sum(happens) >= wanted:
            share = Fraction(1)
            for yes, chance in zip(happens, chances, strict=True):
                share *= chance if yes else 1 - chance
            naive += share
    assert at_least(wanted, chances) == naive


def test_outlook() -> None:
    records = [
        Vertex("student", (gpa, "1993", "golf"), (Vertex("course", ("CS201", "A", None)),))
        for gpa in ("0.5", "0.7", "1.5", "2.5")
    ]
    root, course, book = preflight(Forest.of(SCHEMA, records))
    assert (root.values, root.largest, root.root) == (3, Fraction(1, 2), True)
    assert root.warning(2) is None
    assert "50%, more than one in 3; records with it will be suppressed" in str(root.warning(3))
    assert "fewer than l = 4; every record will be suppressed" in str(root.warning(4))
    assert "1 different values, fewer than l = 2; every vertex of type course" in str(course.warning(2))
    assert (book.vertices, book.warning(5)) == (0, None)
