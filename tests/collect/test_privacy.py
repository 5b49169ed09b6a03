"""What is said about privacy is what the channel gives: intervals, epsilon, mutual information."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.collect import naive

from privet.collect.channels import Additive
from privet.collect.privacy import interval, stated, told, total, values_needed

NUMBER = {"type": "number", "low": 0, "high": 1000}


def test_intervals_of_the_spec() -> None:
    """Spec 09, 2.11: conf * 2a; 1.349, 3.920 and 6.581 sigma."""
    plan = naive.plan_of(
        u={**NUMBER, "mechanism": "uniform", "half_width": 100},
        g={**NUMBER, "mechanism": "gaussian", "sigma": 100},
        l={**NUMBER, "mechanism": "laplace", "scale": 100},
    )
    confidences = [Fraction(1, 2), Fraction(19, 20), Fraction(999, 1000)]
    found = {name: [interval(column, c) for c in confidences] for name, column in plan.columns.items()}
    np.testing.assert_allclose(found["u"], [100, 190, 199.8])
    np.testing.assert_allclose(found["g"], [134.9, 392.0, 658.1], atol=0.05)
    np.testing.assert_allclose(found["l"], [138.6, 599.1, 1381.6], atol=0.05)
    relative = stated(plan.columns["g"])["intervals"]
    assert [round(one["relative"], 3) for one in relative] == [0.135, 0.392, 0.658]


@given(st.integers(0, 10**6), st.sampled_from(["gaussian", "uniform"]), st.sampled_from(["1/2", "19/20"]))
def test_an_interval_holds_the_noise_with_its_confidence(seed: int, mechanism: str, said: str) -> None:
    """Enumerated: the steps within the interval have the confidence, to within a step at each end."""
    column = naive.plan_of(a=naive.random_column(random.Random(seed), mechanism, largest=60)).columns["a"]
    channel = column.channel
    assert isinstance(channel, Additive)
    confidence = Fraction(said)
    half = interval(column, confidence) / 2 / float(column.step)

    def within(reach: float) -> float:
        weights = channel.weights()
        return sum(w for at, w in enumerate(weights) if abs(at - channel.reach) <= reach) / 2**64

    assert within(half - 1) <= float(confidence) + 1e-9
    assert within(half + 1) >= float(confidence) - 1e-9


@given(
    st.integers(0, 10**6),
    st.sampled_from(["krr", "krr-truth", "unary", "optimised-unary"]),
    st.integers(1, 99),
)
def test_so_many_values_hold_the_true_one_given_the_answer_that_tells_most(
    seed: int, mechanism: str, percent: int
) -> None:
    column = naive.plan_of(a=naive.random_column(random.Random(seed), mechanism, largest=5)).columns["a"]
    confidence = Fraction(percent, 100)
    rows = naive.table(column.channel)
    fewest = len(rows)
    for output in {output for row in rows for output in row}:
        chances = sorted((row.get(output, Fraction(0)) for row in rows), reverse=True)
        held, needed = Fraction(0), 0
        while held < confidence * sum(chances):
            held += chances[needed]
            needed += 1
        fewest = min(fewest, max(needed, 1))
    assert values_needed(column, confidence) == fewest


@given(st.integers(0, 10**6), st.sampled_from(naive.MECHANISMS))
def test_information_is_the_mutual_information_of_the_channel(seed: int, mechanism: str) -> None:
    chance = random.Random(seed)
    column = naive.plan_of(a=naive.random_column(chance, mechanism, largest=6)).columns["a"]
    size = column.channel.inputs
    found = told(column)
    assert found is not None
    assert math.isclose(found.bits, naive.information(column.channel, [1 / size] * size), abs_tol=1e-8)
    assert math.isclose(found.of, math.log2(size))
    assert 0 <= found.lost < 1
    weights = [chance.random() for _ in range(size)]
    prior = [weight / sum(weights) for weight in weights]
    other = told(column, np.array(prior))
    if mechanism.endswith("unary"):
        assert other is None
    else:
        assert other is not None
        assert math.isclose(other.bits, naive.information(column.channel, prior), abs_tol=1e-8)


def test_less_epsilon_tells_fewer_bits() -> None:
    category = {"type": "category", "values": list("abcdefgh")}
    for mechanism in ("k-randomised-response", "unary", "optimised-unary"):
        bits = []
        for epsilon in ("1/10", "1", "4"):
            said: dict[str, Any] = {**category, "mechanism": mechanism, "epsilon": epsilon}
            found = told(naive.plan_of(a=said).columns["a"])
            assert found is not None
            bits.append(found.bits)
        assert bits == sorted(bits)
        assert bits[0] < 0.01
        assert bits[2] > 1


@pytest.mark.parametrize("mechanism", naive.MECHANISMS)
def test_a_statement_has_every_measure(mechanism: str) -> None:
    column = naive.plan_of(a=naive.random_column(random.Random(7), mechanism)).columns["a"]
    said = stated(column)
    assert len(said["intervals"]) == 3
    enumerated = naive.odds(column.channel)
    if mechanism in {"gaussian", "uniform"}:
        assert (said["epsilon"], said["odds"], enumerated) == (None, None, None)
    else:
        assert Fraction(said["odds"]) == enumerated
        assert Fraction(said["epsilon_enumerated"]) <= Fraction(said["epsilon"]) + Fraction(1, 10**6)
    assert said["information"]["prior"] == "even"


def test_what_one_person_gives_in_all() -> None:
    epsilon = {"type": "category", "values": ["a", "b"], "mechanism": "randomised-response", "epsilon": "1/3"}
    known = {"type": "category", "values": ["a", "b"], "mechanism": "as-is"}
    plan = naive.plan_of(a=epsilon, b=epsilon, c=known)
    assert total(plan) == {"epsilon": "2/3", "without_epsilon": [], "as_is": ["c"], "budget": None}
    noisy = naive.plan_of(a=epsilon, g={**NUMBER, "mechanism": "gaussian", "sigma": 9})
    assert total(noisy)["epsilon"] is None
    assert total(noisy)["without_epsilon"] == ["g"]
