"""Merging and grouping against their definitions, with the compiled loops and without."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.document.anatomised import seeded
from tests.document.naive_anatomy import (
    SCHEMA,
    Position,
    lonely,
    naive_anatomize,
    naive_merge,
    some_rules,
    trees,
)

from privet import native
from privet.document import anatomy_best
from privet.document.anatomy import Anatomize, Grouping
from privet.document.anatomy_assign import merge_by_assignment
from privet.document.anatomy_audit import audit
from privet.document.anatomy_merge import Group, Grove, alone, best, merge
from privet.document.anatomy_rules import Rule, Rules, eta_max, limits
from privet.document.forest import NONE, Forest, Vertex
from privet.document.publication import publish
from privet.document.style import Style
from privet.errors import InputError, PolicyError

STYLE = st.sampled_from(list(Style))


def nested(group: Group, forest: Forest) -> list[tuple[int, list[Vertex]]]:
    """Every position as its parent and its vertices, less what is below them."""
    return [
        (int(parent), [bare(forest, int(v)) for v in row])
        for parent, row in zip(group.parents, group.vertices, strict=True)
    ]


def bare(forest: Forest, vertex: int) -> Vertex:
    return Vertex(forest.schema.kinds[forest.kinds[vertex]].name, forest.values(vertex))


def laid(position: Position) -> list[tuple[int, list[Vertex]]]:
    found: list[tuple[int, list[Vertex]]] = []

    def walk(one: Position, parent: int) -> None:
        here = len(found)
        found.append((parent, [Vertex(v.type, v.values) for v in one.vertices]))
        for child in one.below:
            walk(child, here)

    walk(position, NONE)
    return found


@given(st.lists(trees(), min_size=2, max_size=4), some_rules(), STYLE)
@settings(max_examples=70, deadline=None)
def test_merge(records: list[Vertex], rules: Rules, style: Style) -> None:
    l = len(records)
    forest = Forest.of(SCHEMA, records)
    grove = Grove.of(forest, limits(forest, rules, l), style)
    group, slow = alone(forest, grove, 0), lonely(records[0])
    for record in range(1, l):
        match = merge(group, grove, record)
        expected = naive_merge(slow, records[record], rules, l, trees=style is Style.TREES)
        assert (match is None) == (expected is None)
        if match is None or expected is None:
            return
        group, slow = group.joined(record, grove, match), expected
        assert nested(group, forest) == laid(slow)


@given(
    st.lists(trees(), min_size=3, max_size=9),
    some_rules(),
    STYLE,
    st.integers(2, 3),
    st.integers(1, 3),
)
@settings(max_examples=35, deadline=None)
def test_grouping(records: list[Vertex], rules: Rules, style: Style, l: int, parts: int) -> None:
    forest = Forest.of(SCHEMA, records)
    found = Anatomize(l, rules, style, parts).search(forest)
    members, groups, suppressed = naive_anatomize(records, rules, l, trees=style is Style.TREES, parts=parts)
    assert [group.members for group in found.groups] == members
    assert [nested(group, forest) for group in found.groups] == [laid(group) for group in groups]
    assert list(found.suppressed) == suppressed
    in_groups = [record for group in found.groups for record in group.members]
    assert sorted([*in_groups, *suppressed]) == list(range(len(records)))


@pytest.mark.skipif(native.library() is None, reason="the compiled loops are not built")
@given(st.lists(trees(), min_size=3, max_size=8), some_rules(), STYLE, st.booleans(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_compiled_scan_finds_the_same(
    records: list[Vertex], rules: Rules, style: Style, relative: bool, largest_first: bool
) -> None:
    forest = Forest.of(SCHEMA, records)
    grove = Grove.of(forest, limits(forest, rules, 3), style, largest_first=largest_first)
    per_type = anatomy_best.counts(grove, len(SCHEMA.kinds))
    weight = 1 / forest.sizes() if relative else np.ones(len(forest))
    group = alone(forest, grove, 0)
    others = np.arange(1, len(forest), dtype=np.int64)
    for _ in range(2):
        weights = (float(weight[list(group.members)].sum()), weight)
        plain = best(group, grove, others.tolist(), weights)
        quick = anatomy_best.best(group, grove, others, weights, per_type)
        assert (plain is None) == (quick is None)
        if plain is None or quick is None:
            return
        assert quick[0] == plain
        match = merge(group, grove, plain)
        assert match is not None
        assert quick[1].tolist() == match.tolist()
        group = group.joined(plain, grove, match)
        others = others[others != plain]


@given(st.lists(trees(), min_size=2, max_size=2))
@settings(max_examples=50, deadline=None)
def test_assignment_never_keeps_less_than_first_fit_when_there_are_no_rules(records: list[Vertex]) -> None:
    forest = Forest.of(SCHEMA, records)
    grove = Grove.of(forest, limits(forest, Rules(), 2), Style.TREES)
    group = alone(forest, grove, 0)
    first, assigned = merge(group, grove, 1), merge_by_assignment(group, grove, 1)
    assert (first is None) == (assigned is None)
    if first is not None and assigned is not None:
        assert np.count_nonzero(assigned != NONE) >= np.count_nonzero(first != NONE)
        used = assigned[assigned != NONE]
        assert len(set(used.tolist())) == len(used)
        below = np.flatnonzero(group.parents != NONE)
        matched = below[assigned[below] != NONE]
        assert (forest.parents[assigned[matched]] == assigned[group.parents[matched]]).all()


def checked(found: Grouping, rules: Rules, l: int) -> None:
    if found.groups:
        publication, _ = publish(found, seeded(0))
        told = audit(publication, l, rules)
        assert told.holds, told.findings
        assert audit(publication, l, rules, exact=True).holds


@given(
    st.lists(trees(), min_size=2, max_size=8),
    some_rules(),
    STYLE,
    st.sampled_from(["document", "by-subtree-size", "assignment"]),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_every_option_keeps_the_promise(
    records: list[Vertex], rules: Rules, style: Style, order: str, more: bool
) -> None:
    forest = Forest.of(SCHEMA, records)
    cost = "relative" if more else "vertices"
    how = Anatomize(2, rules, style, order=order, cost=cost, absorb_leftovers=more)
    checked(how.search(forest), rules, 2)


def tree(root: str, *items: str) -> Vertex:
    return Vertex("r", ("x", root), tuple(Vertex("a", ("x", item)) for item in items))


def test_a_left_over_record_joins_where_it_gains() -> None:
    records = [tree("u", "x", "y"), tree("v", "y", "z"), tree("w", "z", "x")]
    forest = Forest.of(SCHEMA, records)
    assert Anatomize(2).search(forest).suppressed == (2,)
    found = Anatomize(2, absorb_leftovers=True).search(forest)
    assert found.suppressed == ()
    assert [group.members for group in found.groups] == [(0, 1, 2)]
    checked(found, Rules(), 2)
    # Its root is like another's, so it fits nowhere.
    same = Forest.of(SCHEMA, [tree("u", "x"), tree("v", "y"), tree("u", "z")])
    assert Anatomize(2, absorb_leftovers=True).search(same).suppressed == (2,)


def test_a_left_over_record_joins_only_as_far_as_rules_allow() -> None:
    """One of two people has an x; with the third it would be two of three, which is more than a half."""
    rules = Rules((Rule("x", 1, Fraction(1, 2), "a.s"),))
    forest = Forest.of(SCHEMA, [tree("u", "x", "y"), tree("v", "y", "z"), tree("w", "z", "x")])
    found = Anatomize(2, rules, absorb_leftovers=True).search(forest)
    assert [(group.members, len(group)) for group in found.groups] == [((0, 1), 3)]
    assert found.suppressed == (2,)
    checked(found, rules, 2)


def test_nobody_fits() -> None:
    forest = Forest.of(SCHEMA, [tree("u", "x"), tree("u", "y"), tree("u", "z")])
    found = Anatomize(2).search(forest)
    assert found.groups == ()
    assert found.suppressed == (0, 1, 2)
    assert found.cost() == 6


def test_members_return_when_a_seed_fails() -> None:
    """The seed takes one partner, finds no second, and gives the partner back."""
    records = [tree("u"), tree("v"), tree("u"), tree("v", "x"), tree("w", "x")]
    found = Anatomize(3).search(Forest.of(SCHEMA, records))
    assert [group.members for group in found.groups] == [(0, 1, 4)]
    assert found.suppressed == (2, 3)


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_l(count: int) -> None:
    forest = Forest.of(SCHEMA, [tree("u", "secret")] * count)
    with pytest.raises(InputError, match=f"{count} records cannot form a group of l = 2") as caught:
        Anatomize(2).search(forest)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"l": 1}, "l is at least 2"),
        ({"l": 2, "parts": 0}, "parts is at least 1"),
        ({"l": 2, "order": "random"}, "order is one of"),
        ({"l": 2, "cost": "free"}, "cost is one of"),
    ],
)
def test_wrong_parameters(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        Anatomize(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("m", "p", "words"),
    [
        (0, Fraction(1, 2), "at least 1"),
        (1, Fraction(0), "above 0"),
        (1, Fraction(3, 2), "at most 1"),
        (1, 0.5, "p: is an exact fraction"),
    ],
)
def test_wrong_rules(m: int, p: Fraction, words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        Rule("x", m, p)


def test_rules_speak_of_sensitive_fields_only() -> None:
    forest = Forest.of(SCHEMA, [tree("u", "x"), tree("v", "y")])
    with pytest.raises(PolicyError, match="attribute is one of"):
        Anatomize(2, Rules((Rule("x", 1, Fraction(1, 2), "q"),))).search(forest)
    with pytest.raises(PolicyError, match="in no bucket") as caught:
        Anatomize(2, Rules((Rule("99", 1, Fraction(1, 2), "n"),))).search(forest)
    assert "99" not in str(caught.value)


def test_warnings() -> None:
    def said(records: Sequence[Vertex], *rules: Rule) -> list[str]:
        return Rules(rules).warnings(2, Forest.of(SCHEMA, records))

    people = [tree("u", "x", "x"), tree("v", "y")]
    half = Fraction(1, 2)
    assert said(people, Rule("x", 2, half, "a.s")) == []
    assert "never binds" in said(people, Rule("x", 3, half, "a.s"))[0]
    assert "never binds" in said(people, Rule("q", 1, half, "a.s"))[0]
    assert "never binds" in said(people, Rule("x", 1, Fraction(1)))[0]
    assert "erased" in said(people, Rule("x", 1, Fraction(1, 3)))[0]


def test_a_value_without_hope_vanishes() -> None:
    rules = Rules((Rule("x", 1, Fraction(1, 3), "a.s"),))
    forest = Forest.of(SCHEMA, [tree("u", "x", "y"), tree("v", "y", "x"), tree("w", "z"), tree("u", "y")])
    for style in Style:
        found = Anatomize(2, rules, style).search(forest)
        published = {forest.values(int(v)) for group in found.groups for v in group.vertices.ravel()}
        assert ("x", "x") not in published


@given(
    st.integers(2, 6),
    st.integers(1, 6),
    st.fractions(min_value="1/50", max_value="49/50", max_denominator=50),
)
def test_eta_max_is_the_largest(l: int, m: int, p: Fraction) -> None:
    def chance(n: int) -> Fraction:
        share = Fraction(1, l)
        return sum((comb(n, j) * share**j * (1 - share) ** (n - j) for j in range(m, n + 1)), Fraction(0))

    eta = eta_max(l, m, p)
    assert chance(eta) <= p < chance(eta + 1)
