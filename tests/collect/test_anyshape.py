"""Bands that suppose no shape: against a search of the whole simplex, and on shapes that smooth ones miss."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import numpy as np
import pytest
from tests.collect import naive

from privet.collect.anyshape import MOST, any_shape
from privet.collect.column import Column
from privet.collect.draw import perturbed
from privet.collect.estimate import Bands, estimate
from privet.collect.matrix import bin_of, binned
from privet.errors import UnsupportedError

NUMBER = {"type": "number", "low": 0, "high": 100, "step": "0.5", "mechanism": "gaussian", "sigma": "12.5"}


def asked(**said: Any) -> Column:
    return naive.plan_of(a={**NUMBER, **said}).columns["a"]


def answers(column: Column, codes: Any, seed: int) -> Any:
    return perturbed(column.channel, codes, random.Random(seed).randbytes)


@pytest.mark.parametrize("seed", range(3))
def test_an_end_is_the_farthest_share_that_is_likely_enough(seed: int) -> None:
    """Three values and so three bins: every distribution on a fine grid is tried."""
    said = {"type": "number", "low": 0, "high": 2, "mechanism": "laplace", "epsilon": 1}
    column = naive.plan_of(a=said).columns["a"]
    codes = np.random.default_rng(seed).choice(3, 300, p=[0.6, 0.1, 0.3])
    shaped = binned(column, 3)
    counts = np.bincount(answers(column, codes, seed), minlength=3)
    low, high = any_shape(shaped, counts, 0.95)
    fine = 200
    tried = np.array([(a, b, fine - a - b) for a, b in product(range(fine + 1), repeat=2) if a + b <= fine])
    with np.errstate(divide="ignore"):
        fit = np.log(tried / fine @ shaped.matrix.T) @ counts
    likely = tried[fit >= fit.max() - 1.920729] / fine  # half the chi-square quantile of one degree
    assert np.abs(low - likely.min(axis=0)).max() < 0.011
    assert np.abs(high - likely.max(axis=0)).max() < 0.011


@pytest.mark.one_in(2)
@pytest.mark.parametrize("shape", ["peaks", "one value", "step"])
def test_they_hold_where_detail_is_finer_than_the_noise(shape: str) -> None:
    column, missed = asked(), 0
    for seed in range(1, 2):
        chance = np.random.default_rng(seed)
        true = {
            "peaks": np.clip(chance.choice([12, 40, 41, 77], 4_000) + chance.normal(0, 1, 4_000), 0, 100),
            "one value": np.full(4_000, 33.0),
            "step": np.where(chance.random(4_000) < 0.8, 50, 100) * chance.random(4_000),
        }[shape]
        codes = np.floor(true * 2 + 0.5).astype(np.int64)
        shares = np.bincount(bin_of(column, codes, 10), minlength=10) / len(codes)
        found = estimate(column, answers(column, codes, seed), bins=10, bands=Bands.ANY_SHAPE)
        assert found.low is not None
        assert found.high is not None
        assert found.bands is Bands.ANY_SHAPE
        missed += int(((found.low > shares) | (shares > found.high)).sum())
        assert (found.low <= found.shares).all()
        assert (found.shares <= found.high).all()
    assert missed <= 1  # of 10


def test_more_answers_make_them_narrower_and_fewer_bins_narrower_beside_their_shares() -> None:
    column, chance = asked(), np.random.default_rng(0)

    def width(size: int, bins: int) -> float:
        codes = chance.integers(0, 201, size)
        found = estimate(column, answers(column, codes, size), bins=bins, bands=Bands.ANY_SHAPE)
        assert found.low is not None
        assert found.high is not None
        return float((found.high - found.low).mean())

    eight = width(20_000, 8)
    assert eight < width(2_000, 8)
    assert 4 * width(20_000, 4) < 8 * eight


def test_more_bins_than_can_be_done_are_refused() -> None:
    column = asked()
    with pytest.raises(UnsupportedError, match="take fewer bins, or smooth bands"):
        estimate(column, np.zeros(10, np.int64), bins=MOST + 1, bands=Bands.ANY_SHAPE)
