"""Estimates and beliefs against plain enumeration of every way to put a group together."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path
from random import Random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.document.anatomised import FIGURE_34, published
from tests.document.naive_anatomy import SCHEMA, trees

from privet.document import estimate
from privet.document.anatomy import Anatomize
from privet.document.anatomy_rules import at_least
from privet.document.estimate import Chances, expected, is_product, sampled, states
from privet.document.forest import Forest, Vertex
from privet.document.posterior import linked, posterior, reconstruct, worlds
from privet.document.publication import Publication, Published, combined, publish, with_sensitive
from privet.document.query import Between, Query, Step, count
from privet.document.style import Style
from privet.errors import InputError, UnsupportedError

STYLE = st.sampled_from(list(Style))
SOME = st.sets(st.sampled_from(["x", "y", "z", None]), min_size=1).map(frozenset)


def where() -> st.SearchStrategy[dict[str, frozenset[str | None]]]:
    return st.dictionaries(st.sampled_from(["q", "s"]), SOME, max_size=2)


def inner() -> st.SearchStrategy[Step]:
    b = st.builds(lambda few, n: Step("b", {"n": few}, at_least=n), SOME_N, st.integers(1, 2))
    a = st.builds(
        lambda w, below, n: Step("a", w, tuple(below), n), where(), st.lists(b, max_size=2), st.integers(1, 2)
    )
    d = st.builds(lambda w: Step("d", w), where())
    c = st.builds(lambda below: Step("c", {}, tuple(below)), st.lists(d, max_size=2))
    return st.one_of(a, c)


SOME_N = st.one_of(
    st.sets(st.sampled_from(["1", "9", "15"]), min_size=1).map(frozenset),
    st.just(Between(Decimal(5), Decimal(20))),
)


def queries() -> st.SearchStrategy[Query]:
    root = st.builds(
        lambda few, below: Query(Step("r", {"q": few}, tuple(below))), SOME, st.lists(inner(), max_size=2)
    )
    paths = st.builds(
        lambda w, n: Query(Step("r", {}, (Step("a", w, (Step("b", {"n": n}),)),)), vertices=True),
        where(),
        SOME_N,
    )
    return st.one_of(root, root, paths)


def naive(query: Query, tree: Vertex) -> int:
    """The meaning of a query, without any preparation."""

    def fits(step: Step, vertex: Vertex) -> bool:
        names = [f.name for f in SCHEMA.kind(vertex.type).published]
        return vertex.type == step.type and all(
            vertex.values[names.index(name)] in wanted for name, wanted in step.where.items()
        )

    def meets(step: Step, vertex: Vertex) -> bool:
        return fits(step, vertex) and all(
            sum(meets(b, child) for child in vertex.children) >= b.at_least for b in step.below
        )

    def ends(step: Step, vertex: Vertex) -> int:
        if not fits(step, vertex):
            return 0
        if not step.below:
            return 1
        return sum(ends(step.below[0], child) for child in vertex.children)

    return ends(query.root, tree) if query.vertices else int(meets(query.root, tree))


def ways(publication: Publication, group: Published) -> Iterator[list[Vertex]]:
    """Every way to put a group together."""
    if publication.style is Style.TREES:
        for order in permutations(group.sa):
            yield [combined(qi, sa, SCHEMA) for qi, sa in zip(group.qi, order, strict=True)]
        return
    names = [v.values[-1] for v in group.qi[0].walk() if v.values[-1] is not None]
    for deal in product(*(permutations(list(group.bags[name])) for name in names)):
        yield [
            with_sensitive(tree, iter([one[at] for one in deal]), SCHEMA) for at, tree in enumerate(group.qi)
        ]


def made(records: list[Vertex], style: Style, l: int = 2) -> Publication:
    publication, _ = publish(Anatomize(l, style=style).search(Forest.of(SCHEMA, records)), Random(3))
    return publication


def small(records: list[Vertex], style: Style, l: int = 2) -> Publication:
    """One that can be enumerated."""
    publication = made(records, style, l)
    assume(publication.groups)
    assume(all(len(group.bags) <= 7 for group in publication.groups))
    return publication


@given(st.lists(trees(), min_size=2, max_size=4), queries(), STYLE)
@settings(max_examples=60, deadline=None)
def test_the_estimate_is_the_mean_over_all_ways(records: list[Vertex], query: Query, style: Style) -> None:
    publication = small(records, style)
    total = Fraction(0)
    for group in publication.groups:
        answers = [sum(naive(query, tree) for tree in way) for way in ways(publication, group)]
        total += Fraction(sum(answers), len(answers))
    assert expected(query, publication) == total
    assert count(query, records, SCHEMA) == sum(naive(query, record) for record in records)


@given(st.lists(trees(), min_size=2, max_size=4), queries())
@settings(max_examples=25, deadline=None)
def test_the_product_is_the_joint_where_it_applies(records: list[Vertex], query: Query) -> None:
    publication = small(records, Style.VERTICES)
    assume(is_product(query.root) and not query.vertices)
    for group in publication.groups:
        chances = Chances(query, SCHEMA, group.bags)
        for tree in group.qi:
            assert chances.closed_form(query.root, tree) == chances.joint(query.root, tree)


def tree(root: str, *items: str) -> Vertex:
    return Vertex("r", ("x", root), tuple(Vertex("a", ("x", item)) for item in items))


TWO = [tree("u", "x", "y", "z"), tree("v", "y", "z", "x")]


def test_sampling_comes_near() -> None:
    publication = made(TWO, Style.VERTICES)
    step = Step("a", {"s": frozenset("x")})
    query = Query(Step("r", {}, (step, Step("a", {"s": frozenset("y")}))))
    exact = expected(query, publication)
    near = sampled(query, publication.groups[0], SCHEMA, Random(1), samples=4_000)
    assert abs(near - exact) < Fraction(1, 20)


def test_patterns_with_too_many_conditions_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    publication = made(TWO, Style.VERTICES)
    query = Query(Step("r", {}, tuple(Step("a", {"s": frozenset(v)}, at_least=2) for v in "xyz")))
    assert states(query.root) == 27
    exact = expected(query, publication)
    monkeypatch.setattr(estimate, "MOST_STATES", 26)
    near = expected(query, publication, Random(2))
    assert near != exact or exact == 0
    assert abs(near - exact) < Fraction(1, 10)


@given(st.lists(trees(), min_size=3, max_size=5), STYLE, st.integers(2, 3), st.data())
@settings(max_examples=40, deadline=None)
def test_beliefs(records: list[Vertex], style: Style, l: int, data: st.DataObject) -> None:
    publication = small(records, style, l)
    group = publication.groups[0]
    assume(l == 2 or len(group.bags) <= 4)
    who = data.draw(st.integers(0, len(group) - 1))
    every = list(ways(publication, group))
    truth = data.draw(st.sampled_from(every))

    def level(vertex: Vertex) -> list[Vertex]:
        found = [vertex]
        for one in found:
            found.extend(one.children)
        return found

    def sensitive(vertex: Vertex) -> str | None:
        kind = SCHEMA.kind(vertex.type)
        return None if kind.sensitive is None else vertex.values[kind.position(kind.sensitive.name)]

    places = [
        (person, at)
        for person, one in enumerate(truth)
        for at, vertex in enumerate(level(one))
        if SCHEMA.kind(vertex.type).sensitive is not None
    ]
    known = {
        place: sensitive(level(truth[place[0]])[place[1]])
        for place in data.draw(st.lists(st.sampled_from(places), max_size=2, unique=True))
    }
    fitting = [way for way in every if all(sensitive(level(way[p])[at]) == v for (p, at), v in known.items())]
    belief = posterior(publication, group, who, known)
    for at, chance in enumerate(belief):
        if chance is not None:
            seen = [sensitive(level(way[who])[at]) for way in fitting]
            assert chance == {value: Fraction(seen.count(value), len(seen)) for value in set(seen)}
    for m in (1, 2):
        reach = sum(
            sum(SCHEMA.kind(v.type).sensitive is not None and sensitive(v) == "x" for v in way[who].walk())
            >= m
            for way in fitting
        )
        assert linked(publication, group, who, "x", m=m, known=known) == Fraction(reach, len(fitting))


def test_impossible_knowledge() -> None:
    for style in Style:
        publication = made(TWO, style)
        group = publication.groups[0]
        with pytest.raises(InputError, match=r"known value|no way") as caught:
            posterior(publication, group, 0, {(0, 1): "never"})
        assert "never" not in str(caught.value)
        with pytest.raises(InputError, match="has 2 trees"):
            posterior(publication, group, 2)
    trees_only = made(TWO, Style.TREES)
    with pytest.raises(InputError, match="no way"):
        linked(trees_only, trees_only.groups[0], 0, "x", m=1, known={(0, 1): "never"})


def test_reconstruction() -> None:
    for style in Style:
        publication = made(TWO, style)
        possible = [sorted(map(repr_of, way)) for way in ways(publication, publication.groups[0])]
        seen = set()
        for seed in range(40):
            whole = list(reconstruct(publication, Random(seed)))
            assert sorted(map(repr_of, whole)) in possible
            seen.add(tuple(map(repr_of, whole)))
        assert len(seen) > 1
        assert len(list(reconstruct(publication))) == 2
    assert len(list(worlds(made(TWO, Style.TREES), made(TWO, Style.TREES).groups[0]))) == 2
    with pytest.raises(UnsupportedError, match="v-v"):
        list(worlds(made(TWO, Style.VERTICES), made(TWO, Style.VERTICES).groups[0]))
    with pytest.raises(UnsupportedError, match="more than 1 ways"):
        list(worlds(made(TWO, Style.TREES), made(TWO, Style.TREES).groups[0], most=1))


def repr_of(vertex: Vertex) -> str:
    return f"{vertex.type}{vertex.values}{[repr_of(child) for child in vertex.children]}"


@given(st.lists(st.fractions(0, 1, max_denominator=6), max_size=6), st.integers(1, 4))
def test_at_least(shares: list[Fraction], m: int) -> None:
    chance = Fraction(0)
    for way in product([0, 1], repeat=len(shares)):
        if sum(way) >= m:
            term = Fraction(1)
            for hit, share in zip(way, shares, strict=True):
                term *= share if hit else 1 - share
            chance += term
    assert at_least(shares, m) == chance


@pytest.mark.parametrize(
    ("query", "words"),
    [
        (Query(Step("a")), "records are of type r"),
        (Query(Step("r", {"nothing": frozenset()})), "no field nothing"),
        (Query(Step("r", {}, (Step("b"),))), "b does not stand below r"),
        (Query(Step("r", {}, (Step("new"),))), "no type new"),
        (Query(Step("r", {}, (Step("a", at_least=0),))), "1 or more"),
        (Query(Step("r", {}, (Step("a"), Step("c"))), vertices=True), "single path"),
    ],
)
def test_wrong_queries(query: Query, words: str) -> None:
    with pytest.raises(InputError, match=words):
        expected(query, made(TWO, Style.TREES))


def test_two_steps_of_one_type_of_which_one_asks_for_several(tmp_path: Path) -> None:
    """Figure 3.4: alcohol poisoning twice (1/4) and a cold (1/2), for each of two people."""
    publication = published(tmp_path, FIGURE_34)
    twice = Step("visit", {"diagnosis": frozenset({"Alcohol P."})}, at_least=2)
    cold = Step("visit", {"diagnosis": frozenset({"Cold"})})
    assert not is_product(Step("patient", {}, (twice, cold)))
    assert expected(Query(Step("patient", {}, (twice, cold))), publication) == Fraction(1, 4)
