"""The earth mover's distance for any costs: against the linear program, and against the closed forms."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import tally_of

from privet.core import Attribute, Role, Tally
from privet.errors import PolicyError
from privet.models.classes import Classes
from privet.models.tcloseness import Distance, TCloseness
from privet.models.transport import Ways, least_work
from privet.policy.notation import build, describe
from privet.policy.values import Policy
from privet.relational.optimal import Optimal
from privet.roads import publish

F = Fraction
S = ("s",)
ONE = F(1)
VALUES = "abcde"
shares = st.sampled_from([F(0), F(1, 7), F(1, 4), F(1, 2), F(2, 3), F(1)])
prices = st.dictionaries(
    st.sampled_from(VALUES), st.dictionaries(st.sampled_from(VALUES), shares, max_size=4), max_size=5
).map(lambda rows: {a: {b: c for b, c in row.items() if a != b} for a, row in rows.items()})
groups = st.lists(st.lists(st.sampled_from(VALUES), min_size=1, max_size=6), min_size=1, max_size=4)


def table_of(found: list[list[str]]) -> Tally:
    """A class for each list of sensitive values."""
    numbers = [str(at) for at, group in enumerate(found) for _ in group]
    return tally_of({"q": numbers}, sensitive={"s": whole(found)})


def whole(found: list[list[str]]) -> list[str]:
    return [value for group in found for value in group]


def costing(costs: Mapping[str, Mapping[str, Fraction]], t: Fraction = ONE) -> TCloseness:
    return TCloseness(t=t, sensitive=S, distance=Distance.COSTS, costs=costs)


def price(costs: Mapping[str, Mapping[str, Fraction]], a: str, b: str) -> Fraction:
    return F(0) if a == b else costs.get(a, {}).get(b, costs.get(b, {}).get(a, F(1)))


def by_program(costs: Any, group: list[str], table: list[str]) -> float:
    """The definition: goods may pass through any value of the table on their way."""
    optimize = pytest.importorskip("scipy.optimize")
    values = sorted(set(table))
    pairs = [(a, b) for a, b in product(values, values) if a != b]
    if not pairs:
        return 0.0
    balance = [[(a == v) - (b == v) for a, b in pairs] for v in values]
    need = [group.count(v) / len(group) - table.count(v) / len(table) for v in values]
    solved = optimize.linprog([float(price(costs, a, b)) for a, b in pairs], A_eq=balance, b_eq=need)
    return float(solved.fun)


@settings(max_examples=80, deadline=None)
@given(groups, prices)
def test_it_is_the_linear_program(found: list[list[str]], costs: Any) -> None:
    tally = table_of(found)
    histogram = Classes.of(tally, "test").histogram(tally, "s")
    top, bottom = costing(costs).distances(histogram)
    for at, group in enumerate(found):
        assert float(F(int(top[at]), int(bottom[at]))) == pytest.approx(
            by_program(costs, group, whole(found)), abs=1e-9
        )


@settings(max_examples=80, deadline=None)
@given(groups, prices, shares)
def test_what_is_not_solved_is_known_from_bounds(found: list[list[str]], costs: Any, t: Fraction) -> None:
    tally = table_of(found)
    histogram = Classes.of(tally, "test").histogram(tally, "s")
    top, bottom = costing(costs).distances(histogram)
    exact = [F(int(a), int(b)) for a, b in zip(top, bottom, strict=True)]
    verdict = costing(costs, t).check(tally)
    assert verdict.achieved == {"t": max(exact)}
    assert verdict.broken == sum(one > t for one in exact)
    assert verdict.at_risk == sum(len(g) for g, one in zip(found, exact, strict=True) if one > t)
    assert costing(costs, t).nearest(tally).check(tally).holds


@settings(max_examples=40, deadline=None)
@given(groups)
def test_no_costs_are_equal_distances_and_steps_are_an_order(found: list[list[str]]) -> None:
    tally = table_of(found)
    equal = TCloseness(t=F(1), sensitive=S, distance=Distance.EQUAL)
    assert costing({}).check(tally) == equal.check(tally)
    steps = {a: {b: F(abs(VALUES.index(a) - VALUES.index(b)), 4) for b in VALUES if a < b} for a in VALUES}
    ordered = TCloseness(t=F(1), sensitive=S, distance=Distance.ORDERED, order=tuple(VALUES))
    assert costing(steps).check(tally) == ordered.check(tally)


def test_the_costs_of_the_spec() -> None:
    """4.7: HIV and hepatitis half a step apart, everything else a whole one."""
    tally = table_of([["HIV"] * 3, ["HepC", "HepC", "Diabetes"]])
    assert costing({"HIV": {"HepC": F(1, 2)}}).check(tally).achieved == {"t": F(1, 3)}


def test_a_detour_is_used_and_counted_and_both_directions_may_differ() -> None:
    cheap = {"a": {"b": F(1, 4)}, "b": {"c": F(1, 4)}}
    ways = Ways.among(tuple("abc"), cheap)
    assert ways.detours == 2  # a to c and back
    assert least_work(ways.cost, [2, 0, -2]) == 2 * 2  # in quarters
    one_way = Ways.among(tuple("ab"), {"a": {"b": F(1, 4)}, "b": {"a": F(3, 4)}})
    assert (least_work(one_way.cost, [1, -1]), least_work(one_way.cost, [-1, 1])) == (1, 3)


def test_an_earlier_way_is_taken_back_where_that_is_cheaper() -> None:
    """The cheapest first step, a to c, is wrong: b can go nowhere else cheaply."""
    cost = ((0, 9, 1, 2), (9, 0, 2, 9), (1, 2, 0, 9), (2, 9, 9, 0))
    assert least_work(cost, [1, 1, -1, -1]) == 4


def test_null_is_as_far_as_can_be() -> None:
    assert Ways.among((None, "a", "b"), {"a": {"b": F(1, 2)}}).cost == ((0, 2, 2), (2, 0, 1), (2, 1, 0))


def test_a_policy_says_costs_and_wrong_ones_are_refused() -> None:
    table = {
        "type": "t-closeness",
        "t": "1/5",
        "distance": "costs",
        "sensitive": ["s"],
        "costs": {"a": {"b": "1/2"}},
    }
    model = build("models", table)
    assert model.costs == {"a": {"b": F(1, 2)}}
    assert describe(model) == table
    for wrong, said in (
        ({"a": {"b": "2"}}, "costs.a.b"),
        ({"a": {"a": "1/2"}}, "a value that stays"),
        (None, "are needed"),
    ):
        with pytest.raises(PolicyError, match=said):
            build(
                "models",
                {**{k: v for k, v in table.items() if k != "costs"}, **({"costs": wrong} if wrong else {})},
            )
    with pytest.raises(PolicyError, match="costs go with"):
        build("models", {**table, "distance": "equal"})
    with pytest.raises(PolicyError, match="use two models"):
        build("models", {**table, "sensitive": ["s", "u"]})


def test_a_search_keeps_it() -> None:
    rng = np.random.default_rng(3)
    table = pl.DataFrame(
        {"q": [str(n) for n in rng.integers(0, 9, 80)], "s": [VALUES[n] for n in rng.integers(0, 5, 80)]}
    )
    model = costing({"a": {"b": F(1, 10)}, "c": {"d": F(1, 10)}}, F(1, 5))
    policy = Policy((Attribute("q", Role.QUASI), Attribute("s", Role.SENSITIVE)), (model,), Optimal())
    release = publish(table, policy)
    assert all(verdict.holds for _, verdict in release.verdicts)
