"""Clopper and Pearson's interval, against sums of binomial probabilities and against scipy."""

from __future__ import annotations

from math import comb, isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.attackers import intervals


def tail(n: int, least: int, p: float) -> float:
    """The chance of at least so many successes, added up."""
    return sum(comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(least, n + 1))


@given(st.integers(1, 60), st.data(), st.sampled_from([0.05, 0.01, 1e-6]))
def test_the_ends_are_where_chance_would_just_explain_it(n: int, data: st.DataObject, miss: float) -> None:
    s = data.draw(st.integers(0, n))
    low, high = intervals.interval(s, n, miss)
    assert 0 <= low <= s / n <= high <= 1
    if s:
        assert isclose(tail(n, s, low), miss / 2, rel_tol=1e-6)
        assert isclose(tail(n, s, intervals.at_least(s, n, miss)), miss, rel_tol=1e-6)
    if s < n:
        assert isclose(1 - tail(n, s + 1, high), miss / 2, rel_tol=1e-6)
        assert isclose(1 - tail(n, s + 1, intervals.at_most(s, n, miss)), miss, rel_tol=1e-5)


def test_large_numbers_agree_with_scipy() -> None:
    beta = pytest.importorskip("scipy.stats").beta
    for s, n in ((1, 100_000), (50_000, 100_000), (99_999, 100_000), (123, 4567)):
        low, high = intervals.interval(s, n)
        assert isclose(low, beta.ppf(0.025, s, n - s + 1), rel_tol=1e-8)
        assert isclose(high, beta.ppf(0.975, s + 1, n - s), rel_tol=1e-8)


@pytest.mark.parametrize(("s", "n"), [(1, 0), (-1, 5), (6, 5)])
def test_counts_that_are_none_are_refused(s: int, n: int) -> None:
    with pytest.raises(ValueError, match="of"):
        intervals.interval(s, n)
