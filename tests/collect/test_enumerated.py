"""Epsilon by enumeration of what is drawn: every word that a channel may meet, and none of its own sums."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from tests.collect import naive

from privet.collect.channels import Unary
from privet.collect.column import Column

EPSILONS = ("1/50", "1/3", "1", "5/2", "7")
WORD, HALF = 1 << 64, 1 << 32


def drawn(column: Column, code: int) -> dict[int, int]:
    """How many of all words of 64 bits give each output; each has one run of words, found by halving."""

    def at(word: int) -> int:
        return column.channel.draw(code, lambda size: word.to_bytes(8, "little")[:size])

    found: dict[int, int] = {}
    todo = [(0, WORD - 1, at(0), at(WORD - 1))]
    while todo:
        low, high, first, last = todo.pop()
        if first == last:
            found[first] = found.get(first, 0) + high - low + 1
            continue
        middle = (low + high) // 2
        todo += [(low, middle, first, at(middle)), (middle + 1, high, at(middle + 1), last)]
    return found


def set_by(column: Column, code: int, bit: int) -> int:
    """How many of all words of 32 bits set a bit."""
    low, high = 0, HALF
    while low < high:
        middle = (low + high) // 2
        words = [HALF - 1] * column.channel.inputs
        words[bit] = middle
        given = b"".join(word.to_bytes(4, "little") for word in words)
        if column.channel.draw(code, _giving(given)) >> bit & 1:
            low = middle + 1
        else:
            high = middle
    return low


def _giving(given: bytes) -> Callable[[int], bytes]:
    return lambda size: given[:size]


def enumerated(column: Column) -> Fraction | None:
    """The largest odds of any output between two inputs; None where one cannot come from every input."""
    inputs = range(column.channel.inputs)
    if isinstance(column.channel, Unary):
        of = [[set_by(column, code, bit) for bit in inputs] for code in inputs]
        worst = Fraction(1)
        for one, other in permutations(inputs, 2):
            odds = Fraction(1)
            for a, b in zip(of[one], of[other], strict=True):
                odds *= max(Fraction(a, b), Fraction(HALF - a, HALF - b))
            worst = max(worst, odds)
        return worst
    rows = [drawn(column, code) for code in inputs]
    assert all(sum(row.values()) == WORD for row in rows)
    every = [[row.get(output, 0) for row in rows] for output in set().union(*rows)]
    if any(min(weights) == 0 for weights in every):
        return None
    return max(Fraction(max(weights), min(weights)) for weights in every)


def private(odds: Fraction, epsilon: Fraction) -> bool:
    with localcontext() as exact:
        exact.prec = 60
        ratio = Decimal(odds.numerator) / Decimal(odds.denominator)
        return ratio.ln() <= Decimal(epsilon.numerator) / Decimal(epsilon.denominator)


def columns(mechanism: str, chance: random.Random) -> list[Column]:
    made = []
    for epsilon in EPSILONS:
        size = 2 if mechanism == "randomised-response" else chance.randint(2, 7)
        said: dict[str, Any] = {"mechanism": mechanism, "epsilon": epsilon}
        if mechanism == "laplace":
            low = chance.randint(-5, 5)
            said |= {"type": "number", "low": low, "high": low + size - 1}
        else:
            said |= {"type": "category", "values": [f"v{at}" for at in range(size)]}
        made.append(naive.plan_of(a=said).columns["a"])
    return made


@pytest.mark.parametrize(
    "mechanism", ["laplace", "randomised-response", "k-randomised-response", "unary", "optimised-unary"]
)
def test_what_is_drawn_keeps_epsilon_and_has_the_odds_that_are_stated(mechanism: str) -> None:
    for column in columns(mechanism, random.Random(mechanism)):
        odds = enumerated(column)
        assert odds == column.channel.odds
        assert odds is not None
        assert column.epsilon is not None
        assert private(odds, column.epsilon)


@pytest.mark.parametrize("truth", ["1/20", "9/20", "19/20"])
def test_truth_has_the_smallest_epsilon_that_it_keeps(truth: str) -> None:
    said = {"type": "category", "values": list("abcd"), "mechanism": "k-randomised-response", "truth": truth}
    column = naive.plan_of(a=said).columns["a"]
    odds = enumerated(column)
    assert odds is not None
    assert column.epsilon is not None
    assert private(odds, column.epsilon)
    assert not private(odds, column.epsilon - Fraction(1, 10**5))


@pytest.mark.parametrize(
    "noise", [{"mechanism": "uniform", "half_width": 3}, {"mechanism": "gaussian", "sigma": 2}]
)
def test_noise_with_an_end_has_outputs_that_some_inputs_never_give(noise: dict[str, Any]) -> None:
    column = naive.plan_of(a={"type": "number", "low": 0, "high": 6, **noise}).columns["a"]
    assert enumerated(column) is None
    assert column.epsilon is None
