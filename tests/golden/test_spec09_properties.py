"""Spec 09, sections 4.5 and 4.17: the border of figure 20.3b, and the lemmas as properties."""

from __future__ import annotations

from fractions import Fraction
from math import log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.test_class_models import S, table_of

from privet.models.classes import Classes
from privet.models.ldiversity import EntropyLDiversity, RecursiveLDiversity
from privet.models.tcloseness import Distance, TCloseness
from privet.relational.incognito import border

F = Fraction
TREE = {"any": {"first": ["a", "b"], "second": ["c", "d"]}}
MODELS = {
    "equal": TCloseness(t=F(1), sensitive=S, distance=Distance.EQUAL),
    "ordered": TCloseness(t=F(1), sensitive=S, distance=Distance.ORDERED, order=tuple("abcd")),
    "hierarchical": TCloseness(t=F(1), sensitive=S, distance=Distance.HIERARCHICAL, tree=TREE),
    "costs": TCloseness(t=F(1), sensitive=S, distance=Distance.COSTS, costs={"a": {"c": F(1, 3)}}),
}
groups = st.lists(st.sampled_from("abcd"), min_size=1, max_size=9)


def test_the_border_of_figure_20_3b() -> None:
    """As (Z, A): both minimal nodes have height 4, and nothing below them is admissible."""
    admissible = [(3, 3), (3, 2), (2, 3), (2, 2), (1, 3)]
    assert border(admissible) == {(2, 2), (1, 3)}
    assert {sum(node) for node in border(admissible)} == {4}


@given(st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=5))
def test_the_border_is_what_has_no_admissible_specialisation(seeds: set[tuple[int, int]]) -> None:
    above = {(a, b) for a in range(4) for b in range(4) if any(x <= a and y <= b for x, y in seeds)}
    expected = {(a, b) for a, b in above if not any((x, y) != (a, b) and x <= a and y <= b for x, y in above)}
    assert border(above) == expected


def distance_of(name: str, group: list[str], rest: list[str]) -> Fraction:
    """How far a class is from the table that it and the rest make up."""
    tally = table_of([("x", group), *([("y", rest)] if rest else [])])
    histogram = Classes.of(tally, "test").histogram(tally, "s")
    top, bottom = MODELS[name].distances(histogram)
    return F(int(top[0]), int(bottom[0]))


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=60, deadline=None)
@given(groups, groups, st.lists(st.sampled_from("abcd"), max_size=9))
def test_distances_are_convex(name: str, one: list[str], other: list[str], rest: list[str]) -> None:
    """Lemma 20.3.3: a union is no farther from the table than its parts are on average."""
    union = distance_of(name, one + other, rest)
    first = distance_of(name, one, other + rest)
    second = distance_of(name, other, one + rest)
    weight = F(len(one), len(one) + len(other))
    assert union <= weight * first + (1 - weight) * second <= max(first, second)


@settings(max_examples=100)
@given(groups, groups, st.lists(st.sampled_from("abcd"), max_size=9))
def test_divergence_is_convex(one: list[str], other: list[str], rest: list[str]) -> None:
    table = [*one, *other, *rest]

    def far(group: list[str]) -> float:
        return sum(
            group.count(v) / len(group) * log(group.count(v) / len(group) * len(table) / table.count(v))
            for v in set(group)
        )

    weight = len(one) / (len(one) + len(other))
    assert far(one + other) <= weight * far(one) + (1 - weight) * far(other) + 1e-12
    found = TCloseness(t=F(99), sensitive=S, distance=Distance.KL).check(
        table_of([("x", one + other), *([("y", rest)] if rest else [])])
    )
    assert float(found.achieved["t"]) >= far(one + other) - 1e-6


@settings(max_examples=100)
@given(groups, groups, st.integers(1, 4), st.sampled_from([F(1, 2), F(1), F(2), F(7, 2)]))
def test_merging_classes_keeps_diversity(one: list[str], other: list[str], l: int, c: Fraction) -> None:
    """Lemmas 20.3.1 and 20.3.2."""
    apart, together = table_of([("x", one), ("y", other)]), table_of([("x", one + other)])
    for model in (EntropyLDiversity(l=l, sensitive=S), RecursiveLDiversity(c=c, l=l, sensitive=S)):
        assert not model.check(apart).holds or model.check(together).holds
