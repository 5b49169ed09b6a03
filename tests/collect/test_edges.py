"""Where a draw, a threshold or a band turns: cases that a wrong comparison would get wrong."""

from __future__ import annotations

import io
import random
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.collect import naive

from privet.collect.channels import Response, Unary
from privet.collect.column import Column
from privet.collect.draw import REST, perturbed
from privet.collect.estimate import estimate
from privet.collect.matrix import bin_of

NUMBER = {"type": "number", "low": 0, "high": 100, "step": 2}  # 51 values: twenty bins are not alike


def once(given: bytes) -> Callable[[int], bytes]:
    def take(size: int) -> bytes:
        assert size == len(given)
        return given

    return take


@pytest.mark.parametrize("mechanism", ["unary", "optimised-unary"])
def test_a_word_at_the_edge_sets_the_same_bit_one_by_one_and_at_once(mechanism: str) -> None:
    said = {"type": "category", "values": list("abc"), "mechanism": mechanism, "epsilon": 1}
    channel = naive.plan_of(a=said).columns["a"].channel
    assert isinstance(channel, Unary)
    one, zero = channel.one >> REST, channel.zero >> REST  # the upper bits, which are drawn first
    for words in (
        (channel.one, channel.zero, channel.zero - 1),
        (channel.one - 1, channel.zero - 1, channel.zero),
        ((one << REST) - 1, (zero << REST) - 1, zero + 1 << REST),
        (one + 1 << REST, zero + 1 << REST, (zero << REST) - 1),
    ):
        given = struct.pack("<3I", *words)
        many = io.BytesIO(naive.together(list(words), naive.limits(channel, [0])))
        bits = perturbed(channel, np.array([0]), many.read)[0]
        assert bits.tolist() == [words[0] < channel.one, words[1] < channel.zero, words[2] < channel.zero]
        assert channel.draw(0, once(given)) == sum(1 << at for at in range(3) if bits[at])


@pytest.mark.parametrize("code", range(3))
def test_a_word_at_the_edge_tells_the_same_value_one_by_one_and_at_once(code: int) -> None:
    said = {"type": "category", "values": list("abc"), "mechanism": "k-randomised-response", "epsilon": 1}
    channel = naive.plan_of(a=said).columns["a"].channel
    assert isinstance(channel, Response)
    others = [value for value in range(3) if value != code]
    expected = {
        channel.keep - 1: code,
        channel.keep: others[0],
        channel.keep + channel.other - 1: others[0],
        channel.keep + channel.other: others[1],
    }
    for word, value in expected.items():
        given = struct.pack("<Q", word)
        assert channel.draw(code, once(given)) == value
        assert perturbed(channel, np.array([code]), once(given)).tolist() == [value]


def shape(name: str, size: int, seed: int) -> Any:
    """Shapes on which coverage was measured; what they showed also mended the bands."""
    chance = np.random.default_rng(seed)
    if name == "exponential":
        return np.minimum(chance.exponential(20, size), 100)
    if name == "normal":
        return np.clip(chance.normal(60, 8, size), 0, 100)
    return chance.uniform(0, 100, size)


def drawn(column: Column, name: str, seed: int, size: int = 5_000) -> tuple[Any, Any]:
    codes = np.floor(shape(name, size, seed) / 2 + 0.5).astype(np.int64)
    true = np.bincount(bin_of(column, codes, 20), minlength=20) / size
    return perturbed(column.channel, codes, random.Random(seed).randbytes), true


def test_a_wider_bin_begins_with_more() -> None:
    """Bins of two and of three values: what noise has hidden stays even by value, not by bin."""
    column = naive.plan_of(a={**NUMBER, "mechanism": "gaussian", "sigma": 25}).columns["a"]
    for seed in range(3):
        outputs, true = drawn(column, "even", seed)
        found = estimate(column, outputs, confidence=None)
        assert np.abs(found.shares - true).sum() / 2 < 0.05  # 0.10 where all bins begin alike


@pytest.mark.one_in(2)
@pytest.mark.parametrize("name", ["exponential", "normal", "even"])
def test_bands_hold_on_shapes_that_they_were_not_made_for(name: str) -> None:
    """Twelve collections of each hold 98 of 100; fewer than 93 is another band."""
    column = naive.plan_of(a={**NUMBER, "mechanism": "gaussian", "sigma": "12.5"}).columns["a"]
    held = []
    for seed in range(12):
        outputs, true = drawn(column, name, seed)
        found = estimate(column, outputs)
        assert found.low is not None
        assert found.high is not None
        held.append(((found.low <= true) & (true <= found.high)).mean())
        assert (found.high - found.low).mean() < 0.06  # and says something
    assert np.mean(held) > 0.93
