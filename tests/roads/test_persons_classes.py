"""Every promise about classes, where persons with several rows are counted: by loops over sets of persons."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.equality.test_key import naive
from tests.roads.test_persons import Row, frame, policy

import privet as pv
from privet.errors import PolicyError, UnsatisfiableError

Class = dict[str, set[Any]]  # each person, and the values that they have in any of their rows there

rows = st.lists(
    st.tuples(
        st.sampled_from(["p1", "p2", "p3", "p4", "p5", "p6"]),
        st.sampled_from(["30", "31", "40"]),
        st.sampled_from(["F", "M"]),
        st.sampled_from(["1", "2", "2.0", "3", "4"]),
    ),
    min_size=1,
    max_size=16,
)
TREE = 'tree = { any = { low = ["1", "2"], high = ["3", "4"] } }'
ALL_HAVE: list[Row] = [
    (f"p{who}", "30", "F", ill) for who in range(1, 7) for ill in ("1", str(2 + who % 3))
]  # everybody has 1, and something else as well


def classes_of(rows: list[Row]) -> list[Class]:
    found: dict[Any, Class] = {}
    for who, age, sex, ill in rows:
        found.setdefault((age, sex), {}).setdefault(who, set()).add(naive(ill))
    return list(found.values())


def everybody(rows: list[Row]) -> Class:
    found: Class = {}
    for who, _, _, ill in rows:
        found.setdefault(who, set()).add(naive(ill))
    return found


def share(people: Class, wanted: set[Any]) -> Fraction:
    return Fraction(sum(bool(values & wanted) for values in people.values()), len(people))


def every_value(people: Class) -> set[Any]:
    return set().union(*people.values())


def one_each(people: Class) -> list[Fraction]:
    """Shares that add up to one: the commonest as it is, the others what is left in proportion."""
    found = sorted((share(people, {value}) for value in every_value(people)), reverse=True)
    rest = sum(found[1:], Fraction(0))
    return [found[0], *((1 - found[0]) * one / rest for one in found[1:] if found[0] < 1)]


def entropy(people: Class) -> float:
    return -sum(float(p) * math.log(p) for p in one_each(people))


def events(distance: str) -> Iterator[list[tuple[set[Any], Fraction]]]:
    """Families of events with what each weighs; in each family what is gained, or lost, is added up."""
    values = [naive(text) for text in ("1", "2", "3", "4")]
    if distance == "equal":
        yield [({value}, Fraction(1)) for value in values]
    elif distance == "hierarchical":
        low, high = set(values[:2]), set(values[2:])
        yield [*(({v}, Fraction(1, 2)) for v in values), (low, Fraction(1, 2)), (high, Fraction(1, 2))]


def farthest(people: Class, all_people: Class, distance: str) -> Fraction:
    if distance == "ordered":
        order = sorted(every_value(all_people))
        if len(order) == 1:
            return Fraction(0)
        below = [set(order[: at + 1]) for at in range(len(order) - 1)]
        above = [set(order[at + 1 :]) for at in range(len(order) - 1)]
        return max(
            sum((abs(share(people, e) - share(all_people, e)) for e in side), Fraction(0)) / (len(order) - 1)
            for side in (below, above)
        )
    best = Fraction(0)
    for family in events(distance):
        over = [(share(people, event) - share(all_people, event)) * weight for event, weight in family]
        gained = sum((x for x in over if x > 0), Fraction(0))
        lost = -sum((x for x in over if x < 0), Fraction(0))
        best = max(best, gained, lost)
    return min(best, Fraction(1))


def checked(rows: list[Row], model: str) -> Any:
    ((_, verdict),) = pv.check(frame(rows), policy(model))
    return verdict


@example(ALL_HAVE)
@settings(max_examples=60, deadline=None)
@given(rows)
def test_l_diversity_counts_persons(rows: list[Row]) -> None:
    found = checked(rows, 'type = "entropy-l-diversity"\nl = 2\nsensitive = ["ill"]')
    least = min(map(entropy, classes_of(rows)))
    assert abs(float(found.achieved["l"]) - math.exp(least)) < 2e-6
    if abs(least - math.log(2)) > 1e-9:
        assert found.holds == (least > math.log(2))
    found = checked(rows, 'type = "recursive-l-diversity"\nc = "3/2"\nl = 2\nsensitive = ["ill"]')
    assert found.holds == all(
        shares[0] < Fraction(3, 2) * sum(shares[1:], Fraction(0))
        for shares in map(one_each, classes_of(rows))
    )


@example(ALL_HAVE)
@settings(max_examples=60, deadline=None)
@given(rows)
def test_likeness_counts_persons(rows: list[Row]) -> None:
    people, groups = everybody(rows), classes_of(rows)
    gain = max(
        share(group, {value}) / share(people, {value}) - 1 for group in groups for value in every_value(group)
    )
    found = checked(rows, 'type = "beta-likeness"\nbeta = "1/2"\nsensitive = ["ill"]')
    assert found.achieved["beta"] == max(gain, 0)
    assert found.holds == (gain <= Fraction(1, 2))
    found = checked(rows, 'type = "enhanced-beta-likeness"\nbeta = "1/2"\nsensitive = ["ill"]')
    assert found.achieved["beta"] == max(gain, 0)
    found = checked(rows, 'type = "delta-disclosure"\ndelta = "1/2"\nsensitive = ["ill"]')
    lacking = sum(every_value(group) != every_value(people) for group in groups)
    assert found.achieved["absent"] == lacking
    logs = [
        abs(math.log(share(group, {value}) / share(people, {value})))
        for group in groups
        for value in every_value(group)
    ]
    assert found.holds == (not lacking and max(logs) < 0.5)


@example(ALL_HAVE, "equal")
@settings(max_examples=60, deadline=None)
@given(rows, st.sampled_from(["equal", "ordered", "hierarchical"]))
def test_closeness_counts_persons(rows: list[Row], distance: str) -> None:
    tree = f"\n{TREE}" if distance == "hierarchical" else ""
    asked = f'type = "t-closeness"\nt = "1/4"\nsensitive = ["ill"]\ndistance = "{distance}"{tree}'
    if distance == "hierarchical":
        rows = [(who, age, sex, "2" if ill == "2.0" else str(ill)) for who, age, sex, ill in rows]
        rows += [
            ("q1", "30", "F", "1"),
            ("q1", "30", "F", "2"),
            ("q2", "30", "F", "3"),
            ("q2", "30", "F", "4"),
        ]
    found = checked(rows, asked)
    far = max(farthest(group, everybody(rows), distance) for group in classes_of(rows))
    assert found.achieved["t"] == far
    assert found.holds == (far <= Fraction(1, 4))


@settings(max_examples=50, deadline=None)
@given(rows)
def test_risks_are_those_of_persons(rows: list[Row]) -> None:
    groups, people = classes_of(rows), everybody(rows)
    smallest = {who: min(len(group) for group in groups if who in group) for who in people}
    found = checked(rows, 'type = "average-risk"\nat_most = "1/2"')
    assert found.achieved["risk"] == sum(Fraction(1, size) for size in smallest.values()) / len(people)
    found = checked(rows, 'type = "records-at-risk"\nabove = "1/3"\nat_most = "1/2"')
    assert found.achieved["share"] == Fraction(sum(size < 3 for size in smallest.values()), len(people))
    found = checked(rows, 'type = "sample-uniqueness"\nat_most = "1/2"')
    assert found.achieved["share"] == Fraction(sum(size == 1 for size in smallest.values()), len(people))


MODELS = {
    "entropy": 'type = "entropy-l-diversity"\nl = 2\nsensitive = ["ill"]',
    "recursive": 'type = "recursive-l-diversity"\nc = "3"\nl = 2\nsensitive = ["ill"]',
    "t-closeness": 'type = "t-closeness"\nt = "1/2"\nsensitive = ["ill"]\ndistance = "equal"',
    "beta": 'type = "beta-likeness"\nbeta = "2"\nsensitive = ["ill"]',
    "average": 'type = "average-risk"\nat_most = "1/2"',
}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("algorithm", ["top-down", "optimal"])
@settings(max_examples=5, deadline=None)
@given(rows=rows)
def test_what_leaves_keeps_it_for_persons(model: str, algorithm: str, rows: list[Row]) -> None:
    import polars as pl

    marked = frame(rows).with_columns(row=pl.int_range(len(rows)).cast(pl.String))
    asked = policy(MODELS[model], algorithm=algorithm).dumps()
    asked = asked.replace("[attributes.ill]", '[attributes.row]\nrole = "other"\n\n[attributes.ill]')
    try:
        left = pv.publish(marked, pv.Policy.loads(asked)).to_polars()
    except UnsatisfiableError:
        return
    whose = dict(zip(marked["row"], marked["pid"], strict=True))
    found: list[Row] = [
        (whose[row["row"]], str(row["age"]), str(row["sex"]), str(row["ill"]))
        for row in left.iter_rows(named=True)
    ]
    people, groups = everybody(found), classes_of(found)
    kept = {
        "entropy": lambda: min(map(entropy, groups)) > math.log(2) - 1e-9,
        "recursive": lambda: all(s[0] < 3 * sum(s[1:], Fraction(0)) for s in map(one_each, groups)),
        "t-closeness": lambda: max(farthest(g, people, "equal") for g in groups) <= Fraction(1, 2),
        "beta": lambda: all(share(g, {v}) <= 3 * share(people, {v}) for g in groups for v in every_value(g)),
        "average": lambda: (
            sum(Fraction(1, min(len(g) for g in groups if who in g)) for who in people)
            <= Fraction(len(people), 2)
        ),
    }
    assert kept[model]()


@settings(max_examples=40, deadline=None)
@given(rows, st.sampled_from(["samarati", "incognito"]), st.integers(1, 4))
def test_searches_that_prune_count_persons_where_only_sizes_matter(
    rows: list[Row], algorithm: str, k: int
) -> None:
    import polars as pl

    marked = frame(rows).with_columns(row=pl.int_range(len(rows)).cast(pl.String))
    asked = policy(f'type = "k-anonymity"\nk = {k}', algorithm=algorithm).dumps()
    asked = asked.replace("[attributes.ill]", '[attributes.row]\nrole = "other"\n\n[attributes.ill]')
    try:
        left = pv.publish(marked, pv.Policy.loads(asked)).to_polars()
    except UnsatisfiableError:
        assert len({row[0] for row in rows}) < k
        return
    whose = dict(zip(marked["row"], marked["pid"], strict=True))
    people: dict[Any, set[str]] = {}
    for row in left.iter_rows(named=True):
        people.setdefault((row["age"], row["sex"]), set()).add(whose[row["row"]])
    assert min(map(len, people.values())) >= k


@pytest.mark.parametrize("algorithm", ["samarati", "incognito"])
def test_and_refuse_shares_of_persons(algorithm: str) -> None:
    with pytest.raises(PolicyError, match="shares of persons"):
        policy(MODELS["entropy"], algorithm=algorithm)
