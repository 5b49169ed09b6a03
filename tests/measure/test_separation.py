"""Columns that tell people apart, counted pair by pair; and how wide values must become."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from tests.oracle import rows_of

from privet.core import Column, Tally
from privet.domain import flat
from privet.measure import separation, summary
from privet.testing import tallies


@settings(max_examples=60, deadline=None)
@given(tallies(quasi=4))
def test_distinctness_and_separation_pair_by_pair(tally: Tally) -> None:
    rows = rows_of(tally)
    for n in range(1, len(tally.quasi) + 1):
        for columns in combinations(tally.quasi, n):
            found = separation.telling(columns, tally.counts)
            seen = [tuple(row[c.name] for c in columns) for row in rows]
            assert found.values == len(set(seen))
            assert found.distinctness == pytest.approx(len(set(seen)) / len(rows))
            differ = [a != b for a, b in combinations(seen, 2)]
            assert found.separation == pytest.approx(sum(differ) / len(differ) if differ else 0.0)
            assert found.unique_share == pytest.approx(sum(seen.count(one) == 1 for one in seen) / len(rows))


def table(**columns: list[int]) -> Tally:
    def made(name: str, codes: list[int]) -> Column:
        domain = flat(tuple(map(str, range(max(codes) + 1))))
        return Column(name, domain, domain.column(np.array(codes)))

    height = len(next(iter(columns.values())))
    return Tally(tuple(made(n, c) for n, c in columns.items()), (), None, np.ones(height, dtype=np.int64))


def test_a_key_is_named_and_not_combined() -> None:
    tally = table(key=[*range(8)], a=[0, 1] * 4, b=[0, 0, 1, 1] * 2, c=[0] * 4 + [1] * 4, same=[0] * 8)
    assert separation.single(tally)[0].columns == ("key",)
    assert separation.single(tally)[-1].columns == ("same",)
    found = separation.together(tally)
    assert found[0].columns == ("a", "b", "c")
    assert found[0].distinctness == 1
    assert {one.columns for one in found} == {("a", "b", "c"), ("a", "b"), ("a", "c"), ("b", "c")}
    assert separation.together(tally, listed=1) == found[:1]


def test_of_many_columns_the_best_are_combined() -> None:
    tally = table(a=[0, 1, 2, 3] * 2, b=[0, 0, 1, 1] * 2, c=[0] * 4 + [1] * 4)
    found = separation.together(tally, effort=8)  # one pair
    assert [one.columns for one in found] == [("a", "b")]
    assert separation.together(tally, effort=0) == []


@pytest.mark.parametrize(
    ("records", "quasi", "width"),
    [
        (10**4, 2, 0.0316), (10**4, 5, 0.2512), (10**4, 10, 0.5012), (10**4, 20, 0.7079), (10**4, 50, 0.8710),
        (10**4, 100, 0.9333), (10**6, 2, 0.0032), (10**6, 5, 0.1), (10**6, 10, 0.3162), (10**6, 50, 0.7943),
        (10**6, 100, 0.8913),
    ],
)  # fmt: skip
def test_the_closed_form_of_the_spec(records: int, quasi: int, width: float) -> None:
    assert summary.expected_width(records, 10, quasi) == pytest.approx(width, abs=5e-5)


def test_the_warning_is_about_what_was_found_where_anything_was() -> None:
    assert summary.dimensionality(10**4, 10, 10)["too_wide"]
    assert not summary.dimensionality(10**4, 10, 9)["too_wide"]
    assert not summary.dimensionality(10**4, 10, 10, observed=0.5)["too_wide"]
    assert summary.dimensionality(10**4, 10, 9, observed=0.51)["too_wide"]
    assert summary.expected_width(10, 10, 3) == 1.0
    assert summary.dimensionality(100, 5, 0) == {
        "k": 5, "quasi_identifiers": 0, "expected": [], "observed": None, "too_wide": False,
    }  # fmt: skip
