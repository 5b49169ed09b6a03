"""Mechanisms are what they say: enumerated exactly, drawn exactly, the same one by one and by the million."""

from __future__ import annotations

import random
from bisect import bisect_right
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.collect import naive

from privet.collect.channels import (
    HALF,
    LARGEST,
    SMALLEST,
    WORD,
    Additive,
    Channel,
    Response,
    Unary,
    gaussian,
    laplace,
    uniform,
)
from privet.collect.draw import perturbed
from privet.collect.fixedpoint import BITS, ERROR, at_most_exp, exp_below, log_above
from privet.errors import InternalError, PolicyError

epsilons = st.fractions(SMALLEST, LARGEST, max_denominator=1000)


@given(st.fractions(0, 40, max_denominator=10**6))
def test_the_exponential_is_between_its_bounds(power: Fraction) -> None:
    low, high = naive.exp_bounds(power)
    found = exp_below(power)
    assert Fraction(found, 1 << BITS) <= 1 / low
    assert Fraction(found + ERROR, 1 << BITS) >= 1 / high


@given(st.fractions(1, 10**6))
def test_a_logarithm_is_rounded_up_by_less_than_two_units(odds: Fraction) -> None:
    found = log_above(odds)
    assert odds <= naive.exp_bounds(found)[1]
    assert found < 2 * Fraction(1, 10**6) or naive.exp_bounds(found - Fraction(2, 10**6))[0] < odds


def channels_of(inputs: int, epsilon: Fraction) -> list[Channel]:
    return [
        laplace(inputs, epsilon),
        Response.of_epsilon(inputs, epsilon),
        Unary.symmetric(min(inputs, 6), epsilon),
        Unary.optimised(min(inputs, 6), epsilon),
    ]


@given(st.integers(2, 12), epsilons)
def test_no_output_betrays_more_than_epsilon(inputs: int, epsilon: Fraction) -> None:
    """The local epsilon of every mechanism by enumeration of the whole channel, in fractions."""
    above = naive.exp_bounds(epsilon)[1]
    for channel in channels_of(inputs, epsilon):
        assert all(sum(row.values()) == 1 for row in naive.table(channel))
        enumerated = naive.odds(channel)
        assert enumerated is not None
        assert enumerated == channel.odds
        assert enumerated <= above
        assert at_most_exp(enumerated, epsilon)


@given(st.integers(2, 12), epsilons)
def test_and_hardly_less_than_epsilon_either(inputs: int, epsilon: Fraction) -> None:
    """Noise is not wasted: the odds come near exp(epsilon)."""
    for channel in channels_of(inputs, epsilon):
        odds = channel.odds
        assert odds is not None
        rough = isinstance(channel, Unary) and epsilon > 8  # 32 bits of a small probability
        assert odds >= naive.exp_bounds(epsilon)[0] * (Fraction(9, 10) if rough else 1 - Fraction(1, 10**6))


@given(st.integers(2, 9), st.fractions(Fraction(1, 50), Fraction(49, 50)))
def test_truth_is_the_probability_of_the_true_answer(inputs: int, truth: Fraction) -> None:
    channel = Response.of_truth(inputs, truth)
    for code, row in enumerate(naive.table(channel)):
        assert abs(row[code] - truth) <= Fraction(inputs, WORD)
    assert channel.odds == naive.odds(channel)


@given(st.integers(2, 9), st.fractions(Fraction(1, 4), 6, max_denominator=100), st.integers(1, 9))
def test_noise_without_an_end_to_its_odds_says_so(inputs: int, sigma: Fraction, reach: int) -> None:
    for channel in (gaussian(inputs, sigma), uniform(inputs, reach)):
        assert channel.odds is None
        assert naive.odds(channel) is None
        assert sum(channel.weights()) == WORD
        assert channel.weights() == channel.weights()[::-1]


def test_discrete_gaussian_and_uniform_noise_have_their_weights() -> None:
    weights = np.array(gaussian(5, Fraction(3)).weights(), dtype=float) / WORD
    steps = np.arange(len(weights)) - len(weights) // 2
    wanted = np.exp(-(steps**2) / 18)
    np.testing.assert_allclose(weights, wanted / wanted.sum(), atol=1e-15)
    assert set(uniform(5, 4).weights()) == {WORD // 9, WORD - 8 * (WORD // 9)}


@pytest.mark.parametrize("inputs", [2, 3, 1000, 100_000])
def test_large_grids_keep_the_promise_or_are_refused(inputs: int) -> None:
    for epsilon in (SMALLEST, Fraction(1), LARGEST):
        try:
            channel = laplace(inputs, epsilon)
        except PolicyError:
            assert inputs > 10_000
            continue
        assert channel.odds is not None
        assert at_most_exp(channel.odds, epsilon)


# Draws.


class Words:
    """Random bytes that are known beforehand."""

    def __init__(self, *words: int, size: int = 8) -> None:
        self.bytes = b"".join(word.to_bytes(size, "little") for word in words)

    def __call__(self, size: int) -> bytes:
        taken, self.bytes = self.bytes[:size], self.bytes[size:]
        assert len(taken) == size
        return taken


def drawn_at(channel: Channel, code: int, word: int) -> int:
    one = channel.draw(code, Words(word))
    (many,) = perturbed(channel, np.array([code]), Words(word)).tolist()
    assert one == many
    return one


@given(st.integers(2, 7), st.fractions(Fraction(1, 20), 10, max_denominator=100), st.data())
def test_every_word_falls_to_the_output_whose_weight_it_is(
    inputs: int, epsilon: Fraction, data: st.DataObject
) -> None:
    """Draws change at the running sums of the weights and nowhere else: so they are exact."""
    makes: list[Any] = [laplace, Response.of_epsilon, lambda n, e: gaussian(n, e + 1)]
    channel = data.draw(st.sampled_from(makes))(inputs, epsilon)
    code = data.draw(st.integers(0, inputs - 1))
    if isinstance(channel, Response):
        edges = [channel.keep + at * channel.other for at in range(inputs - 1)]
    else:
        assert isinstance(channel, Additive)
        edges = list(channel.cuts)
    edges = [0, *edges, WORD]
    mass: dict[int, Fraction] = {}
    for low, high in pairwise(edges):
        if high > low:
            output = drawn_at(channel, code, low)
            assert output == drawn_at(channel, code, high - 1) == drawn_at(channel, code, (low + high) // 2)
            mass[output] = mass.get(output, Fraction(0)) + Fraction(high - low, WORD)
    assert mass == naive.table(channel)[code]


@given(st.integers(2, 6), st.integers(0, 5), st.lists(st.integers(0, HALF - 1), min_size=6, max_size=6))
def test_bits_are_drawn_alike_one_by_one_and_together(inputs: int, code: int, words: list[int]) -> None:
    code %= inputs
    for channel in (Unary.symmetric(inputs, Fraction(1)), Unary.optimised(inputs, Fraction(1))):
        near = [*words[: inputs - 1], channel.zero + words[-1] % 3 - 1]  # the last word at the very edge
        for some in (words[:inputs], near):
            one = channel.draw(code, Words(*some, size=4))
            given = Words()
            given.bytes = naive.together(some, naive.limits(channel, [code]))
            (row,) = perturbed(channel, np.array([code]), given).tolist()
            assert [one >> at & 1 for at in range(inputs)] == row
            assert not given.bytes
            assert row == [
                word < limit for word, limit in zip(some, naive.limits(channel, [code]), strict=True)
            ]


def test_many_draws_follow_the_channel() -> None:
    """Chi-square at one in a million for each of thirty mechanisms: a false alarm once in 30,000 runs."""
    chance = random.Random(5)
    for at in range(30):
        mechanism = naive.MECHANISMS[at % len(naive.MECHANISMS)]
        column = naive.plan_of(a=naive.random_column(chance, mechanism, largest=5)).columns["a"]
        code = chance.randrange(column.channel.inputs)
        outputs = perturbed(column.channel, np.full(20_000, code), chance.randbytes)
        if outputs.ndim == 2:
            outputs = (outputs.astype(int) << np.arange(outputs.shape[1])).sum(axis=1)
        seen = np.unique(outputs, return_counts=True)
        wanted = {o: float(p) * 20_000 for o, p in naive.table(column.channel)[code].items()}
        assert set(seen[0].tolist()) <= set(wanted)
        common = [o for o, size in wanted.items() if size >= 5]
        counts = dict(zip(seen[0].tolist(), seen[1].tolist(), strict=True))
        distance = sum((counts.get(o, 0) - wanted[o]) ** 2 / wanted[o] for o in common)
        assert distance < len(common) + 7 * (2 * len(common)) ** 0.5 + 20, mechanism


def test_an_input_that_is_not_there_is_a_fault_of_ours() -> None:
    with pytest.raises(InternalError):
        perturbed(Response.of_epsilon(2, Fraction(1)), np.array([2]))
    assert perturbed(Unary.symmetric(3, Fraction(1)), np.zeros(0, dtype=np.int64)).shape == (0, 3)


def test_bisect_and_searchsorted_agree_at_the_cuts() -> None:
    cuts = laplace(50, Fraction(2)).cuts
    for word in (0, cuts[0] - 1, cuts[0], cuts[-1], WORD - 1):
        assert np.searchsorted(
            np.array(cuts, dtype=np.uint64), np.uint64(word), side="right"
        ) == bisect_right(cuts, word)
