"""Spec 09, sections 4.7 to 4.9, and spec 01, section 4.1: diversity and closeness, number by number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import exp, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.test_class_models import S, table_of

from privet.models.classes import Classes
from privet.models.kanonymity import KAnonymity
from privet.models.ldiversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from privet.models.tcloseness import Distance, TCloseness

F = Fraction

# Spec 01, table 2.1b.
PATIENTS = table_of(
    [
        ("Professional, Male, [35-40)", ["Hepatitis", "Hepatitis", "HIV"]),
        ("Writer, Female, [30-35)", ["Flu", "HIV"]),
        ("Dancer, *, 30", ["HIV", "HIV"]),
    ]
)
# Spec 09, table 20.3.
NORTHEAST, WEST = ["HIV", "HIV", "HIV"], ["Hepatitis C", "Hepatitis C", "Diabetes"]
TABLE = table_of([("[20,30], Northeastern US", NORTHEAST), ("[30,40], Western US", WEST)])


def equal() -> TCloseness:
    return TCloseness(t=F(1), sensitive=S, distance=Distance.EQUAL)


def distances(model: TCloseness, tally: Any) -> list[Fraction]:
    histogram = Classes.of(tally, "test").histogram(tally, "s")
    top, bottom = model.distances(histogram)
    return [F(int(t), int(b)) for t, b in zip(top, bottom, strict=True)]


def test_closeness_of_table_2_1b() -> None:
    assert [round(float(d), 4) for d in distances(equal(), PATIENTS)] == [0.3810, 0.3571, 0.4286]
    assert equal().check(PATIENTS).achieved == {"t": F(3, 7)}


def test_diversity_of_table_2_1b() -> None:
    assert DistinctLDiversity(l=2, sensitive=S).check(PATIENTS).achieved == {"l": 1}
    buckets = table_of(
        [("1", ["Hepatitis", "HIV"]), ("2", ["Hepatitis", "HIV"]), ("3", ["Flu", "HIV", "HIV"])]
    )
    assert DistinctLDiversity(l=2, sensitive=S).check(buckets).holds


def test_diversity_of_table_20_3() -> None:
    assert DistinctLDiversity(l=2, sensitive=S).check(TABLE).achieved == {"l": 1}
    second = table_of([("x", WEST)])
    assert float(EntropyLDiversity(l=1, sensitive=S).check(second).achieved["l"]) == pytest.approx(
        1.8899, abs=5e-5
    )
    whole = table_of([("x", [*NORTHEAST, *WEST])])
    effective = float(EntropyLDiversity(l=1, sensitive=S).check(whole).achieved["l"])
    assert effective == pytest.approx(2.7495, abs=5e-5)
    assert log(effective) == pytest.approx(1.0114, abs=5e-5)
    # "recursive l = 2 needs c >": never, 2, 1
    assert "c" not in RecursiveLDiversity(c=F(9), l=2, sensitive=S).check(TABLE).achieved
    assert RecursiveLDiversity(c=F(9), l=2, sensitive=S).check(second).achieved["c"] == 2
    assert RecursiveLDiversity(c=F(9), l=2, sensitive=S).check(whole).achieved["c"] == 1


def test_closeness_of_table_20_3() -> None:
    assert distances(equal(), TABLE) == [F(1, 2), F(1, 2)]
    divergence = TCloseness(t=F(9), sensitive=S, distance=Distance.KL).check(TABLE).achieved["t"]
    assert float(divergence) == pytest.approx(0.6931, abs=5e-5)
    tree = {"ill": {"virus": ["HIV", "Hepatitis C"], "Diabetes": None}}
    model = TCloseness(t=F(1), sensitive=S, distance=Distance.HIERARCHICAL, tree=tree)
    assert distances(model, TABLE) == [F(1, 3), F(1, 3)]


def test_skewness() -> None:
    """4.8: one in a hundred in the population, one in two in a class."""
    tally = table_of([("group", ["HIV", "normal"]), ("rest", [*["HIV"], *["normal"] * 197])])
    assert tally.records == 200
    group = Classes.of(tally, "test").histogram(tally, "s")
    top, bottom = equal().distances(group)
    assert F(int(top[0]), int(bottom[0])) == F(49, 100)
    kl = TCloseness(t=F(9), sensitive=S, distance=Distance.KL).check(tally).achieved["t"]
    assert float(kl) == pytest.approx(1.6145, abs=5e-5)
    assert EntropyLDiversity(l=2, sensitive=S).check(table_of([("group", ["HIV", "normal"])])).holds
    population = table_of([("x", ["HIV", *["normal"] * 99])])
    effective = float(EntropyLDiversity(l=1, sensitive=S).check(population).achieved["l"])
    assert effective == pytest.approx(1.058, abs=5e-4)
    assert effective == pytest.approx(exp(0.0560), abs=5e-5)


NINE = [str(n) for n in range(1, 10)]
SIX = {"any": {"first": ["1", "2", "3"], "second": ["4", "5", "6"]}}


def against_uniform(group: Sequence[str], values: Sequence[str]) -> Any:
    """A table in which the values are equally common, and one class of it."""
    each = len(group)  # so often stands each value in the table: the rest has what the group has not
    rest = [value for value in values for _ in range(each - group.count(value))]
    return table_of([("group", group), ("rest", rest)])


@pytest.mark.parametrize(
    ("group", "expected"), [(["1", "2", "3"], F(3, 8)), (["4", "6", "9"], F(1, 6))], ids=["low", "spread"]
)
def test_ordered(group: list[str], expected: Fraction) -> None:
    model = TCloseness(t=F(1), sensitive=S, distance=Distance.ORDERED)
    assert distances(model, against_uniform(group, NINE))[0] == expected


@pytest.mark.parametrize(
    ("group", "expected", "apart"),
    [
        (["1", "2", "3"], F(1, 2), F(1, 2)),
        (["1", "2", "4"], F(1, 3), F(1, 2)),
        (["1", "2"], F(7, 12), F(2, 3)),
    ],
    ids=["one group", "both groups", "two values"],
)
def test_hierarchical(group: list[str], expected: Fraction, apart: Fraction) -> None:
    model = TCloseness(t=F(1), sensitive=S, distance=Distance.HIERARCHICAL, tree=SIX)
    tally = against_uniform(group, ["1", "2", "3", "4", "5", "6"])
    assert distances(model, tally)[0] == expected
    assert distances(equal(), tally)[0] == apart


# 4.17: the closed forms are the linear program.

DEEP = {"any": {"a": {"b": ["1", "2"], "3": None}, "4": None, "c": ["5", "6"]}}
HEIGHT = {**{frozenset(p): 1 for p in ("12", "56")}, **{frozenset(p): 2 for p in ("13", "23")}}


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from("123456"), min_size=1, max_size=9),
    st.lists(st.sampled_from("123456"), max_size=9),
)
def test_the_closed_forms_are_the_least_work(group: list[str], rest: list[str]) -> None:
    optimize = pytest.importorskip("scipy.optimize")
    table = [*group, *rest]
    tally = table_of([("x", group), *([("y", rest)] if rest else [])])
    ranks = sorted(set(table))
    forms: dict[Distance, Callable[[str, str], float]] = {
        Distance.EQUAL: lambda a, b: float(a != b),
        Distance.ORDERED: lambda a, b: abs(ranks.index(a) - ranks.index(b)) / max(1, len(ranks) - 1),
        Distance.HIERARCHICAL: lambda a, b: 0 if a == b else HEIGHT.get(frozenset(a + b), 3) / 3,
    }
    n = len(ranks)
    for distance, far in forms.items():
        cost = [far(a, b) for a in ranks for b in ranks]
        leave, arrive = np.zeros((n, n, n)), np.zeros((n, n, n))
        for at in range(n):
            leave[at, at, :] = arrive[at, :, at] = 1
        solved = optimize.linprog(
            cost,
            A_eq=np.vstack([leave.reshape(n, -1), arrive.reshape(n, -1)]),
            b_eq=[
                *(group.count(v) / len(group) for v in ranks),
                *(table.count(v) / len(table) for v in ranks),
            ],
        )
        tree = DEEP if distance is Distance.HIERARCHICAL else None
        model = TCloseness(t=F(1), sensitive=S, distance=distance, tree=tree)
        assert float(distances(model, tally)[0]) == pytest.approx(solved.fun, abs=1e-7)


@settings(max_examples=100)
@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=9), min_size=1, max_size=4))
def test_entropy_diversity_implies_the_others(groups: list[list[str]]) -> None:
    """4.17: entropy l means l values, so l records; and a table is no less diverse than its classes."""
    tally = table_of(list(zip("wxyz", groups, strict=False)))
    l = EntropyLDiversity(l=1, sensitive=S).check(tally).achieved["l"]
    least = -(-F(l).numerator // F(l).denominator) if F(l).denominator == 1 else int(l) + 1
    assert DistinctLDiversity(l=least, sensitive=S).check(tally).holds
    assert KAnonymity(k=least).check(tally).holds
    whole = table_of([("x", [value for group in groups for value in group])])
    assert EntropyLDiversity(l=1, sensitive=S).check(whole).achieved["l"] >= l
