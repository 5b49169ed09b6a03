"""Quasi-identifiers beside the path: three verdicts, each by its definition."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import combinations

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.trajectory.naive import Record, frame, promise, records, violating

from privet.engines.trajectories.column import PathColumn
from privet.engines.trajectories.visits import Visits
from privet.models.kanonymity import KAnonymity
from privet.trajectory.paths import Paths
from privet.trajectory.quasi import Beside, beside, widened


def read(rows: list[Record], ages: list[str | None], zips: list[str]) -> Paths:
    table = frame(rows).with_columns(
        pl.Series("age", ages[: len(rows)], dtype=pl.String), pl.Series("zip", zips[: len(rows)])
    )
    found = PathColumn.read(table, path="path", sensitive=["status"], quasi=["age", "zip"], allow_empty=True)
    return found.paths


AGES = st.lists(st.sampled_from(["30", "40", None]), min_size=10, max_size=10)
ZIPS = st.lists(st.sampled_from(["1", "2"]), min_size=10, max_size=10)


@settings(max_examples=150)
@given(
    records(),
    AGES,
    ZIPS,
    st.tuples(st.integers(1, 3), st.integers(1, 3), st.sampled_from([Fraction(1, 2), Fraction(1)])),
)
def test_each_verdict_equals_its_definition(
    rows: list[Record], ages: list[str | None], zips: list[str], numbers: tuple[int, int, Fraction]
) -> None:
    l, k, c = numbers
    asked = promise(l, k, c)
    paths = read(rows, ages, zips)
    found = beside(paths, asked, [KAnonymity(k=k)])
    assert found.path.broken == len(violating(rows, asked))
    groups = Counter(zip(ages[: len(rows)], zips, strict=False))
    assert found.table[0].holds is (min(groups.values()) >= k)
    assert found.holds is (found.path.holds and found.table[0].holds)
    # Mixed: whatever can be known of a person is one set of things, of which any l are known.
    things = [
        ({*path, ("age", age), ("zip", code)}, status)
        for (path, status), age, code in zip(rows, ages, zips, strict=False)
    ]
    broken, at_risk = set(), set()
    for every, _ in things:
        for size in range(1, l + 1):
            for known in combinations(sorted(every, key=repr), size):
                match = [at for at, (mine, _) in enumerate(things) if set(known) <= mine]
                share = Fraction(sum(things[at][1] == "s" for at in match), len(match))
                if len(match) < k or share > c:
                    broken.add(frozenset(known))
                    at_risk.update(match)
    assert found.mixed.broken == len(broken)
    assert found.mixed.at_risk == len(at_risk)
    assert found.mixed.holds is ("hold all the same" in found.warning)


def test_both_promises_may_hold_and_the_mixture_not() -> None:
    rows: list[Record] = [(((1, "a"),), "s"), (((1, "b"),), "s"), (((1, "a"),), "s"), (((1, "b"),), "s")]
    found = beside(
        read(rows, ["30", "30", "40", "40"], ["1"] * 4), promise(2, 2, Fraction(1)), [KAnonymity(k=2)]
    )
    assert found.holds
    assert not found.mixed.holds
    assert found.warning.endswith("4 combinations break the same numbers, with 4 records at risk")


def test_nothing_beside_the_path_is_the_path_alone() -> None:
    paths = PathColumn.read(pl.DataFrame({"path": ["a1", "a1 b2"]}), path="path").paths
    assert widened(paths) is paths
    found = beside(paths, promise(2, 2, Fraction(1), ()))
    assert isinstance(found, Beside)
    assert found.path == found.mixed


def test_visits_have_quasi_identifiers_too() -> None:
    table = pl.DataFrame(
        {
            "who": [1, 1, 2],
            "at": ["a", "b", "a"],
            "when": [1, 2, 1],
            "age": ["30", "30", "40"],
            "ill": ["x"] * 3,
        }
    )
    paths = Visits.read(table, person="who", place="at", time="when", sensitive=["ill"], quasi=["age"]).paths
    assert [column.name for column in paths.quasi] == ["age"]
    assert [column.name for column in paths.sensitive] == ["ill"]
    wide = widened(paths)
    assert sorted(tuple(wide.points.labels[p] for p in wide.path(cell)) for cell in range(2)) == [
        ("age=30", "a1", "b2"),
        ("age=40", "a1"),
    ]
