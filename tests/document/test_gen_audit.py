"""The auditor against the definition: all bijections, all classes, and releases broken on purpose."""

from __future__ import annotations

import random
from collections import Counter
from decimal import Decimal
from itertools import permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.document.forests import SCHEMA, collections

from privet.core import Role
from privet.document.audit import audit
from privet.document.clustree import CToff
from privet.document.edits import published
from privet.document.forest import Forest, Vertex
from privet.document.promises import DocumentAnonymity, DocumentDiversity
from privet.document.schema import Buckets, Field, Kind, Schema
from privet.document.truth import truthful
from privet.errors import InputError, PolicyError
from privet.hierarchy import Tree

QUASI, SENSITIVE, OTHER = Role.QUASI, Role.SENSITIVE, Role.OTHER
NESTED = Schema(
    "r",
    (
        Kind("r", (Field("q", QUASI), Field("s", SENSITIVE)), (("c", "c"),)),
        Kind("c", (Field("q", QUASI), Field("s", SENSITIVE)), (("d", "d"),)),
        Kind("d", (Field("q", QUASI), Field("s", SENSITIVE))),
    ),
)


def vertices(level: int) -> st.SearchStrategy[Vertex]:
    kind = "rcd"[level]
    below = st.lists(vertices(level + 1), max_size=2) if level < 2 else st.just([])
    return st.builds(
        lambda q, s, children: Vertex(kind, (q, s), tuple(children)),
        st.just("1") if level else st.sampled_from("12"),
        st.sampled_from("xyz"),
        below,
    )


def orders(vertex: Vertex) -> list[Vertex]:
    """Every way to write a tree."""
    found = []
    for children in permutations(vertex.children):
        found += [Vertex(vertex.type, vertex.values, below) for below in product(*map(orders, children))]
    return found


def bare(vertex: Vertex) -> Vertex:
    return Vertex(vertex.type, vertex.values[:1], tuple(map(bare, vertex.children)))


def naive(records: list[Vertex], l: int) -> bool:
    """Try everything: classes by isomorphism, and every way to lay their members over each other."""
    left = list(records)
    while left:
        shapes = [bare(order) for order in orders(left[0])]
        members = [record for record in left if bare(record) in shapes]
        left = [record for record in left if bare(record) not in shapes]
        if len(members) < l:
            return False
        ways = [[order for order in orders(m) if bare(order) == shapes[0]] for m in members]
        if not any(laid(chosen, l) for chosen in product(*ways)):
            return False
    return True


def laid(members: tuple[Vertex, ...], l: int) -> bool:
    return all(
        max(Counter(v.values[1] for v in place).values()) * l <= len(place)
        for place in zip(*(member.walk() for member in members), strict=True)
    )


@settings(max_examples=150, deadline=None)
@given(st.lists(vertices(0), min_size=1, max_size=3), st.integers(1, 3))
def test_the_definition(records: list[Vertex], l: int) -> None:
    assert audit(NESTED, records, l).holds == naive(records, l)


@settings(max_examples=80, deadline=None)
@given(vertices(0), st.lists(st.permutations("xyz"), min_size=8, max_size=8), st.integers(2, 3), st.randoms())
def test_equal_siblings_in_any_order(
    record: Vertex, letters: list[list[str]], l: int, rng: random.Random
) -> None:
    """Members that can be laid over each other, then shuffled: the search finds the way back."""

    def filled(vertex: Vertex, column: int, at: list[int]) -> Vertex:
        value = letters[at[0] % len(letters)][column]
        at[0] += 1
        return Vertex(
            vertex.type, (vertex.values[0], value), tuple(filled(c, column, at) for c in vertex.children)
        )

    def mixed(vertex: Vertex) -> Vertex:
        children = list(map(mixed, vertex.children))
        rng.shuffle(children)
        return Vertex(vertex.type, vertex.values, tuple(children))

    assert audit(NESTED, [mixed(filled(record, column, [0])) for column in range(l)], l).holds


def test_a_search_that_gives_up_is_no_pass() -> None:
    def record(*letters: str) -> Vertex:
        return Vertex("r", ("1", letters[0]), tuple(Vertex("c", ("1", letter)) for letter in letters[1:]))

    pair = [record("x", *"abcdef"), record("y", *"fbcdea")]
    verdict = audit(NESTED, pair, 2, steps=1)
    assert (verdict.undecided, verdict.broken, verdict.at_risk) == (1, 0, 2)
    assert not verdict.holds
    assert audit(NESTED, pair, 2).holds


def test_numbers_in_a_verdict() -> None:
    def record(q: str, s: str) -> Vertex:
        return Vertex("r", (q, s))

    verdict = audit(
        NESTED, [record("1", "x"), record("1", "x"), record("2", "x"), record("3", "x"), record("3", "y")], 2
    )
    assert (verdict.records, verdict.classes, verdict.k) == (5, 3, 1)
    assert (verdict.small, verdict.broken, verdict.at_risk, verdict.alone, verdict.l) == (1, 1, 3, 1, 1)
    nothing = audit(NESTED, [], 2)
    assert (nothing.records, nothing.k, nothing.holds) == (0, 0, True)


def test_promises() -> None:
    def record(q: str, s: str) -> Vertex:
        return Vertex("r", (q, s))

    alike = [record("1", s) for s in "xxyz"]
    verdict = DocumentDiversity(2).check(NESTED, alike)
    assert verdict.holds
    assert verdict.achieved == {"k": 4, "l": 2}
    assert not DocumentDiversity(3).check(NESTED, alike).holds
    assert DocumentDiversity(3).nearest(audit(NESTED, alike, 3)) == DocumentDiversity(2)
    assert DocumentAnonymity(4).check(NESTED, alike).achieved == {"k": 4}
    assert DocumentAnonymity(4).check(NESTED, [record("1", "x")] * 4).holds
    one = DocumentAnonymity(2).check(NESTED, [*alike, record("2", "x")])
    assert (one.broken, one.at_risk) == (1, 1)
    assert DocumentAnonymity(5).nearest(audit(NESTED, alike, 5)) == DocumentAnonymity(4)
    for promise in (DocumentDiversity, DocumentAnonymity):
        with pytest.raises(PolicyError):
            promise(1)


@settings(max_examples=60, deadline=None)
@given(st.lists(vertices(0), min_size=1, max_size=3), st.integers(1, 3))
def test_what_was_kept_is_kept(records: list[Vertex], l: int) -> None:
    found = audit(NESTED, records, l)
    assert found.l >= l or not found.holds
    assert found.l == 0 or audit(NESTED, records, found.l).holds


def test_what_is_no_release() -> None:
    with pytest.raises(InputError):
        audit(NESTED, [Vertex("z", ())], 2)
    with pytest.raises(InputError):
        audit(NESTED, [Vertex("r", ("1",))], 2)


BUCKETS = Schema(
    "r",
    (
        Kind(
            "r",
            (
                Field("name", Role.IDENTIFIER),
                Field("q", QUASI, Tree.of({"*": {"ab": ["a", "b"], "cd": ["c", "d"]}})),
                Field("s", SENSITIVE, buckets=Buckets((Decimal(0), Decimal(5), Decimal(10)), labelled=True)),
                Field("note", OTHER),
            ),
        ),
    ),
)


def test_buckets_may_be_published_instead_of_values() -> None:
    records = [Vertex("r", ("a", "1", "n1")), Vertex("r", ("b", "7.5", None))]
    forest = Forest.of(BUCKETS, records)
    release = list(published(forest, CToff().cluster(forest, 2)))
    expected = {Vertex("r", ("ab", "[0-5)", "n1")), Vertex("r", ("ab", "[5-10]", None))}
    assert set(release) == expected
    assert audit(BUCKETS, release, 2).holds
    assert truthful(BUCKETS, records, release).holds
    lie = [Vertex("r", ("ab", "[5-10]", "n1"))]
    assert not truthful(BUCKETS, records, lie).holds


# ---- releases broken on purpose -------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(collections(6, 10), st.randoms(use_true_random=False))
def test_every_lie_is_found(records: list[Vertex], rng: random.Random) -> None:
    forest = Forest.of(SCHEMA, records)
    edits = CToff().cluster(forest, 2)
    release = list(published(forest, edits))
    if not release:
        return
    truth = truthful(SCHEMA, records, release)
    assert (truth.records, truth.true) == (len(release), len(release))
    at = rng.randrange(len(release))
    record = release[at]
    gpa, year, club = record.values
    # a record published once more than it exists
    assert not truthful(SCHEMA, records, [*release, *[record] * len(records)]).holds
    # a child that was never there
    unheard = Vertex("course", ("*", "Z", None))
    assert not truthful(
        SCHEMA, records, [Vertex("student", record.values, (*record.children, unheard))]
    ).holds
    # another sensitive value, a label that is not above the value
    assert not truthful(SCHEMA, records, [Vertex("student", ("9.9", year, club), record.children)]).holds
    assert not truthful(SCHEMA, records, [Vertex("student", (gpa, "nobody", club), record.children)]).holds


@pytest.mark.parametrize(
    ("label", "true"),
    [("1993", True), ("199x", True), ("*", True), ("1994", False), ("200x", False), ("2000", False)],
)
def test_labels_that_stand_above_a_value(label: str, true: bool) -> None:
    records = [Vertex("student", ("1", "1993", "golf"))]
    assert truthful(SCHEMA, records, [Vertex("student", ("1", label, "golf"))]).holds == true
    twins = [Vertex("student", ("1", "2000", "golf"))]
    assert not truthful(SCHEMA, twins, [Vertex("student", ("1", "199x", "golf"))]).holds


@settings(max_examples=40, deadline=None)
@given(collections(6, 10), st.integers(2, 3), st.randoms(use_true_random=False))
def test_every_breach_is_found(records: list[Vertex], l: int, rng: random.Random) -> None:
    forest = Forest.of(SCHEMA, records)
    release = list(published(forest, CToff().cluster(forest, l)))
    if not release:
        return
    at = rng.randrange(len(release))
    alone = Vertex("student", release[at].values, (*release[at].children, Vertex("stay", ("elsewhere",))))
    assert not audit(SCHEMA, [*release[:at], alone, *release[at + 1 :]], l).anonymous  # one child too many
    same = [Vertex("student", ("1.5", *record.values[1:]), record.children) for record in release]
    assert not audit(SCHEMA, same, l).holds  # everybody has the same sensitive value


def test_nothing_of_the_input_order_is_left() -> None:
    """Children stand in the order of their labels, whatever order they came in; identifiers are gone."""
    books = [Vertex("course", (name, "A", None)) for name in ("M1", "CS201", "M2")]
    other = [Vertex("course", (name, "B", None)) for name in ("M2", "M1", "CS201")]
    records = [
        Vertex("student", ("0.5", "1993", "golf"), tuple(books)),
        Vertex("student", ("1.5", "1993", "golf"), tuple(other)),
    ]
    forest = Forest.of(SCHEMA, records)
    edits = CToff().cluster(forest, 2)
    release = list(published(forest, edits))
    assert [[child.values[0] for child in record.children] for record in release] == [
        ["CS201", "M1", "M2"]
    ] * 2
    back = Forest.of(SCHEMA, records[::-1])
    again = published(back, CToff().cluster(back, 2))
    assert [record.values for record in again] == [record.values for record in release]
