"""Long samples from the operating system's randomness: both sources against the formulas, and each other.

Each call of `implausible` raises a false alarm at most once in a million runs (see `odds`).
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from random import SystemRandom

import numpy as np
import pytest
from tests.dp.odds import RATE, divergence, implausible, laplace_law
from tests.dp.test_noise import exponential, permute_and_flip

from privet.dp import noise
from privet.dp.exact import FEW, Exact

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def vetted() -> noise.NamedSource:
    pytest.importorskip("opendp")
    return noise.production()


@pytest.mark.parametrize(
    "scale", [Fraction(1, 2), Fraction(2), Fraction(5, 3), Fraction(52), Fraction(1000, 7)]
)
def test_exact_noise(scale: Fraction) -> None:
    drawn = noise.production("exact").laplace(scale, 3_000_000)
    assert not implausible(drawn.tolist(), laplace_law(float(scale), int(6 * scale) + 3))


@pytest.mark.parametrize("scale", [Fraction(2), Fraction(52)])
def test_exact_noise_one_by_one(scale: Fraction) -> None:
    source = Exact(SystemRandom())
    drawn = np.concatenate([source.laplace(scale, FEW) for _ in range(40_000 // FEW)])
    assert not implausible(drawn.tolist(), laplace_law(float(scale), int(6 * scale) + 3))


@pytest.mark.parametrize("scale", [Fraction(2), Fraction(5, 3), Fraction(52)])
def test_the_two_sources_agree(vetted: noise.NamedSource, scale: Fraction) -> None:
    """Without the formula: in a pool of both samples, each value is OpenDP's as often as chance says."""
    ours = Counter(noise.production("exact").laplace(scale, 300_000).tolist())
    theirs = Counter(vetted.laplace(scale, 300_000).tolist())
    seen = set(ours) | set(theirs)
    allowed = math.log(2 * len(seen) / RATE)
    for value in seen:
        both = ours[value] + theirs[value]
        assert both * divergence(theirs[value] / both, 0.5) <= allowed
    assert not implausible(theirs.elements(), laplace_law(float(scale), int(6 * scale) + 3))


def test_choices(vetted: noise.NamedSource) -> None:
    scores, weights, hot = [0, 1, 2, 4, 4, 3], [5, 4, 3, 2, 1, 7], Fraction(7, 3)
    ours = noise.production("exact")
    plain = exponential(scores, hot, [1] * 6)
    heavy = exponential(scores, hot, weights)
    flipped = permute_and_flip(scores, hot)
    assert not implausible((ours.choose(scores, hot) for _ in range(20_000)), dict(enumerate(plain)))
    assert not implausible((ours.choose(scores, hot, weights) for _ in range(20_000)), dict(enumerate(heavy)))
    assert not implausible((vetted.choose(scores, hot) for _ in range(15_000)), dict(enumerate(flipped)))
    # the attentive test: a sample of one law is not a plausible sample of the other
    assert implausible((ours.choose(scores, hot) for _ in range(20_000)), dict(enumerate(flipped)))


def test_neighbouring_counts_stay_within_epsilon() -> None:
    """Released counts of 7 and 8, epsilon = 1/2: no value is more than exp(1/2) times as frequent for one."""
    epsilon, n = Fraction(1, 2), 3_000_000
    source = noise.production("exact")
    seven, eight = (Counter((c + source.laplace(1 / epsilon, n)).tolist()) for c in (7, 8))
    for value in set(seven) | set(eight):
        a, b = seven[value], eight[value]
        bound = math.exp(epsilon) / (1 + math.exp(epsilon))  # share of one count among both, at most
        allowed = math.log(4 * 100 / RATE)
        for share in (a / (a + b), b / (a + b)):
            assert share <= bound or (a + b) * divergence(share, bound) <= allowed
