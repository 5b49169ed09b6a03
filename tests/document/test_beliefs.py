"""Patterns as people write them, and what follows from them: against enumeration of every way."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.document.anatomised import FIGURE_33, FIGURE_34, PATIENTS, published
from tests.document.naive_anatomy import SCHEMA, trees
from tests.document.test_anatomy_estimates import STYLE, naive, small, ways

from privet.document.belief import concluded, exposed
from privet.document.forest import Vertex
from privet.document.pattern import pattern, sensitive_paths, without_sensitive
from privet.document.query import Between, Query, Step
from privet.document.style import Style
from privet.errors import InputError

HALF = Fraction(1, 2)
COLD = {"age": 46, "visits": [{"year": 2007, "diagnosis": "Cold"}]}


def test_a_pattern_reads_like_a_record() -> None:
    said = {
        "age": [46, "47"],
        "visits": [{"year": {"from": 2000, "to": 2007}, "at_least": 2}, {"diagnosis": None}],
    }
    assert pattern(PATIENTS, said) == Step(
        "patient",
        {"age": frozenset({"46", "47"})},
        (
            Step("visit", {"year": Between(Decimal(2000), Decimal(2007))}, at_least=2),
            Step("visit", {"diagnosis": frozenset({None})}),
        ),
    )
    assert pattern(PATIENTS, {"visits": {"year": 2006}}) == pattern(PATIENTS, {"visits": [{"year": "2006"}]})
    assert pattern(PATIENTS, {"age": {"from": 40}}).where["age"] == Between(Decimal(40), Decimal("Infinity"))


def test_every_fault_of_a_pattern_is_said_by_its_place_and_without_its_value() -> None:
    said = {"agee": "secret", "age": {"from": "secret"}, "visits": [{"year": {}, "at_least": 0}, "secret"]}
    with pytest.raises(InputError) as caught:
        pattern(PATIENTS, said)
    told = str(caught.value)
    for words in (
        "pattern: agee: unknown key; did you mean age?",
        "pattern.age: is a value",
        "pattern.visits[0].year: is a value",
        "pattern.visits[0].at_least: is a whole number",
        "pattern.visits[1]: is an object",
    ):
        assert words in told
    assert "secret" not in told
    with pytest.raises(InputError, match="pattern: is an object such as"):
        pattern(PATIENTS, [1])
    with pytest.raises(InputError, match="is a value, a list"):
        pattern(PATIENTS, {"age": []})


def test_paths_to_sensitive_fields() -> None:
    assert dict(sensitive_paths(SCHEMA)) == {
        "s": ("r",),
        "as.s": ("r", "a"),
        "as.bs.n": ("r", "a", "b"),
        "cs.ds.s": ("r", "c", "d"),
    }


def test_one_known_value_tells_all_in_trees_and_nothing_in_vertices(tmp_path: Path) -> None:
    """A6: age 46 and a cold in 2007 are known."""
    known = pattern(PATIENTS, COLD)
    trees_, vertices = (published(tmp_path, text) for text in (FIGURE_33, FIGURE_34))
    told = {(one.path, one.value): one for one in concluded(trees_, known).conclusions}
    assert told["visits.diagnosis", "AIDS"].now == 1
    assert told["visits.diagnosis", "AIDS"].before == HALF
    assert told["visits.diagnosis", "Alcohol P."].now == 0
    told = {(one.path, one.value): one for one in concluded(vertices, known).conclusions}
    assert told["visits.diagnosis", "AIDS"].now == told["visits.diagnosis", "AIDS"].before == HALF
    assert told["visits.diagnosis", "Cold"].now == 1
    assert [one.value for one in told.values() if one.given] == ["Cold"]
    assert concluded(trees_, known).surest()["visits.diagnosis"].value == "AIDS"
    assert "Cold" not in repr(concluded(vertices, known))


def test_what_cannot_be_is_said(tmp_path: Path) -> None:
    publication = published(tmp_path, FIGURE_33)
    with pytest.raises(InputError, match="nobody in the release fits"):
        concluded(publication, pattern(PATIENTS, {"age": 12}))
    with pytest.raises(InputError, match="nobody who fits can have"):
        concluded(
            publication, pattern(PATIENTS, {"age": 46, "visits": [{"year": 2000, "diagnosis": "Cold"}]})
        )


def test_how_surely_values_are_linked(tmp_path: Path) -> None:
    nothing, one = exposed(published(tmp_path, FIGURE_33))
    assert (nothing.worst, nothing.average) == (HALF, HALF)
    assert one.worst == one.average == 1
    nothing, one = exposed(published(tmp_path, FIGURE_34))
    assert nothing == one
    assert one.worst == HALF


KNOWN = st.builds(
    lambda q, few, a, b: Step(
        "r",
        {"q": q} if few is None else {"q": q, "s": few},
        tuple([Step("a", {"s": frozenset(a)})] if a else []) + ((Step("c"),) if b else ()),
    ),
    st.just(frozenset({"x", "y", None})),
    st.none() | st.sets(st.sampled_from(["x", "y", "z"]), min_size=1).map(frozenset),
    st.sets(st.sampled_from(["x", "y"])),
    st.booleans(),
)


def has(tree: Vertex, types: tuple[str, ...], value: Any) -> bool:
    """Has the tree this sensitive value at the end of a path?"""
    here = [tree] if tree.type == types[0] else []
    for type_ in types[1:]:
        here = [child for vertex in here for child in vertex.children if child.type == type_]
    kind = SCHEMA.kind(types[-1])
    assert kind.sensitive is not None
    return any(vertex.values[kind.position(kind.sensitive.name)] == value for vertex in here)


@given(st.lists(trees(), min_size=2, max_size=4), KNOWN, STYLE)
@settings(max_examples=40, deadline=None)
def test_conclusions_are_shares_of_all_ways(records: list[Vertex], known: Step, style: Style) -> None:
    publication = small(records, style)
    plain = without_sensitive(known, SCHEMA)
    fits: dict[bool, Fraction] = {False: Fraction(0), True: Fraction(0)}
    having: dict[tuple[bool, str, Any], Fraction] = {}
    values = ["x", "y", "z", None, "1", "5", "9", "12", "15", "25"]
    for group in publication.groups:
        every = list(ways(publication, group))
        for tree in (tree for way in every for tree in way):
            for sensitive, step in ((False, plain), (True, known)):
                if naive(Query(step), tree):
                    fits[sensitive] += Fraction(1, len(every))
                    for path, types in sensitive_paths(SCHEMA):
                        for value in values:
                            if has(tree, types, value):
                                key = (sensitive, path, value)
                                having[key] = having.get(key, Fraction(0)) + Fraction(1, len(every))
    assume(fits[True])
    found = concluded(publication, known)
    assert (found.fit, found.left) == (fits[False], fits[True])
    told = {(one.path, one.value): (one.before, one.now) for one in found.conclusions}
    paths = dict(sensitive_paths(SCHEMA))
    for path in paths:
        for value in values:
            before = having.get((False, path, value), Fraction(0)) / fits[False]
            now = having.get((True, path, value), Fraction(0)) / fits[True]
            assert told.get((path, value), (0, 0)) == (before, now)
    for path, one in found.surest().items():
        new = [each.now for each in found.conclusions if each.path == path and not each.given]
        assert one.now == max(new)


@given(st.lists(trees(), min_size=2, max_size=4), STYLE)
@settings(max_examples=40, deadline=None)
def test_one_known_value_by_enumeration(records: list[Vertex], style: Style) -> None:
    """The surest other value of somebody, over every value that may be known: each way alike."""
    publication = small(records, style)
    _, one = exposed(publication)
    worst = Fraction(0)
    for group in publication.groups:
        every = list(ways(publication, group))
        rows = [[values_of(tree) for tree in way] for way in every]
        positions = range(len(rows[0][0]))
        for at in positions:
            for known in {row[0][at] for row in rows}:
                left = [row[0] for row in rows if row[0][at] == known]
                for other in positions:
                    if other != at or len(positions) == 1:
                        source = left if other != at else [row[0] for row in rows]
                        seen = [row[other] for row in source]
                        worst = max(worst, *(Fraction(seen.count(v), len(seen)) for v in seen))
    assert one.worst == worst


def values_of(tree: Vertex) -> list[Any]:
    found = []
    for vertex in tree.walk():
        kind = SCHEMA.kind(vertex.type)
        if kind.sensitive is not None:
            found.append(vertex.values[kind.position(kind.sensitive.name)])
    return found


def test_a_known_value_that_several_share_leaves_the_others_open(tmp_path: Path) -> None:
    """Four trees, any value shared by two: one known value leaves two of them, with different others."""
    trees_ = [("x", "a"), ("x", "b"), ("y", "a"), ("y", "b")]
    text = {
        "method": "t-t",
        "l": 2,
        "groups": [
            {
                "id": "g0",
                "qi_trees": [{"age": age, "visits": [{"year": 2000}]} for age in range(4)],
                "sa_trees": [{"blood": one, "visits": [{"diagnosis": two}]} for one, two in trees_],
            }
        ],
    }
    nothing, one = exposed(published(tmp_path, text))
    assert nothing.worst == one.worst == one.average == HALF
