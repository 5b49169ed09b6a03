"""Condensation: the printed split, the invariants, and that groups are of k."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import tally_of

from privet.core import Attribute, Role, Terms
from privet.errors import PolicyError, UnsatisfiableError
from privet.hierarchy import Auto
from privet.models.construction import ByConstruction
from privet.recoding import Perturbation
from privet.relational.condensation import (
    Condensation,
    Mode,
    Statistics,
    condense,
    static_groups,
    stream_groups,
)

clouds = st.integers(1, 3).flatmap(
    lambda d: st.lists(st.tuples(*[st.integers(-50, 50)] * d), min_size=4, max_size=60)
)


def test_the_split_of_the_spec() -> None:
    whole = Statistics.of(np.array([[2.0, 1], [4, 3], [6, 2], [8, 6]]))
    assert whole.sums.tolist() == [20, 12]
    assert whole.products.tolist() == [[120, 74], [74, 50]]
    assert np.allclose(whole.covariance, [[5, 3.5], [3.5, 3.5]])
    variances, _ = whole.axes()
    assert np.allclose(variances, [0.670545, 7.829455], atol=1e-6)
    low, high = whole.split()
    assert (low.size, high.size) == (2, 2)
    assert np.allclose(low.mean, [3.115529, 1.476564], atol=1e-6)
    assert np.allclose(high.mean, [6.884471, 4.523436], atol=1e-6)
    assert np.allclose(low.covariance, [[1.448767, 0.629127], [0.629127, 1.179141]], atol=1e-6)
    assert np.allclose(low.covariance, high.covariance)
    assert np.allclose(low.sums, [6.231057, 2.953127], atol=1e-6)
    assert np.allclose(low.products, [[22.310571, 10.458806], [10.458806, 6.718762]], atol=1e-6)
    assert np.allclose(high.products, [[97.689429, 63.541194], [63.541194, 43.281238]], atol=1e-6)


def test_the_diagonal_check_of_the_spec() -> None:
    whole = Statistics(2, np.zeros(2), 2 * np.diag([12.0, 3.0]))
    low, high = whole.split()
    assert np.allclose(low.mean, [-3, 0])
    assert np.allclose(high.mean, [3, 0])
    assert np.allclose(low.covariance, np.diag([3.0, 3.0]))


@settings(max_examples=100)
@given(clouds)
def test_the_halves_add_up_to_the_whole(cloud: list[tuple[int, ...]]) -> None:
    whole = Statistics.of(np.array(cloud[: len(cloud) // 2 * 2], dtype=np.float64))
    low, high = whole.split()
    assert low.size == high.size
    assert np.allclose(low.sums + high.sums, whole.sums, atol=1e-6)
    assert np.allclose(low.products + high.products, whole.products, atol=1e-4)


@settings(max_examples=60)
@given(clouds, st.integers(2, 5))
def test_groups_hold_k_to_2k_less_one(cloud: list[tuple[int, ...]], k: int) -> None:
    places = np.array(cloud, dtype=np.float64)
    for groups_of in (static_groups, stream_groups):
        group_of, groups = groups_of(places, k)
        assert [group.size for group in groups] == np.bincount(group_of, minlength=len(groups)).tolist()
        assert sum(group.size for group in groups) == len(cloud)
        if len(cloud) >= k:
            assert min(group.size for group in groups) >= k
            assert max(group.size for group in groups) < 2 * k
    _, groups = stream_groups(places, k)
    assert np.allclose(sum(group.sums for group in groups), places.sum(axis=0), atol=1e-6)


def test_drawn_records_have_the_groups_statistics() -> None:
    # False alarm below 1e-6: 200,000 draws put a mean within 5 of its standard errors of the truth.
    whole = Statistics.of(np.array([[2.0, 1], [4, 3], [6, 2], [8, 6]]))
    drawn = whole.draw(200_000, 0.0, np.random.default_rng(5))
    assert np.allclose(drawn.mean(axis=0), whole.mean, atol=5 * np.sqrt(5 / 200_000))
    assert np.allclose(np.cov(drawn.T, bias=True), whole.covariance, atol=0.1)
    variances, vectors = whole.axes()
    along = (drawn - whole.mean) @ vectors
    assert (np.abs(along) <= np.sqrt(3 * variances) + 1e-9).all()
    wider = whole.draw(200_000, 1.0, np.random.default_rng(6))
    assert np.allclose(np.cov(wider.T, bias=True), 2 * whole.covariance, atol=0.2)


def test_copies_are_drawn_from_the_same_groups() -> None:
    places = np.array([[0.0], [1.0], [100.0], [101.0]])
    drawn, smallest = condense(places, 2, rng=np.random.default_rng(1), copies=3)
    assert smallest == 2
    assert drawn.shape == (12, 1)
    assert (drawn.reshape(3, 4)[:, :2] < 50).all()
    assert (drawn.reshape(3, 4)[:, 2:] > 50).all()


@pytest.mark.parametrize("mode", Mode)
def test_on_a_tally_every_value_stays_in_its_range(mode: Mode) -> None:
    tally = tally_of({"age": [20, 21, 22, 60, 61, 63] * 5}, sensitive={"s": list("abcdef") * 5})
    policy = Terms((Attribute("age", Role.QUASI, Auto()),), (ByConstruction(),), Condensation(k=3, mode=mode))
    finding = policy.algorithm.search(tally, policy)
    assert isinstance(finding.recoding, Perturbation)
    assert finding.claims["smallest group"] >= 3
    values = [int(finding.recoding.labels["age"][at] or "") for at in finding.recoding.positions["age"]]
    assert len(values) == tally.records
    assert min(values) >= 20
    assert max(values) <= 63


def test_what_it_cannot_do_is_refused() -> None:
    with pytest.raises(PolicyError, match="k is at least 2"):
        Condensation(k=1)
    with pytest.raises(PolicyError, match="noise"):
        Condensation(k=2, noise=Fraction(-1))
    tally = tally_of({"age": [20, 21]}, sensitive={"s": ["a", "b"]})
    policy = Terms((Attribute("age", Role.QUASI, Auto()),), (ByConstruction(),), Condensation(k=3))
    with pytest.raises(UnsatisfiableError, match="fewer than k = 3"):
        policy.algorithm.search(tally, policy)
