"""Attacks on perturbed answers: each fails against what privet gives, and succeeds on something weaker."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.collect import naive

from privet.collect import AnswerLedger, answer
from privet.errors import BudgetError

LAPLACE = {"type": "number", "low": 0, "high": 100, "mechanism": "laplace", "epsilon": 1}
UNIFORM = {"type": "number", "low": 0, "high": 100, "mechanism": "uniform", "half_width": 50}
KRR = {"type": "category", "values": list("abcdefgh"), "mechanism": "k-randomised-response", "epsilon": 1}


def guess(plan: Any, sent: list[dict[str, str]]) -> int:
    """The collector's best guess: the true value that makes everything that was sent likeliest."""
    column = plan.columns["q"]
    table = naive.table(column.channel)
    outputs = [column.output(one["q"]) for one in sent]
    scores = [sum(math.log(row.get(output, Fraction(0)) or 1e-300) for output in outputs) for row in table]
    return int(np.argmax(scores))


def test_averaging_finds_who_answers_with_fresh_noise_and_not_who_keeps_a_ledger(tmp_path: Path) -> None:
    """A daily question over a year: every redrawn answer tells a little, a repeated one nothing new."""
    plan = naive.plan_of(q=KRR)
    found = {"fresh": 0, "kept": 0}
    for person in range(24):
        truth = "abcdefgh"[person % 8]
        fresh = [answer(plan, {"q": truth})["answers"] for _ in range(400)]
        ledger = AnswerLedger(tmp_path / f"{person}.json")
        kept = [answer(plan, {"q": truth}, ledger=ledger)["answers"] for _ in range(30)]
        assert len({one["q"] for one in kept}) == 1
        found["fresh"] += plan.columns["q"].values[guess(plan, fresh)] == truth
        found["kept"] += plan.columns["q"].values[guess(plan, kept)] == truth
    assert found["fresh"] >= 22
    assert found["kept"] <= 18  # expected e / (e + 7) of 24, about 7


def test_an_answer_at_the_edge_of_bounded_noise_is_the_true_value_and_laplace_has_no_edge() -> None:
    """Why uniform noise has no finite epsilon."""
    uniform, laplace = naive.plan_of(q=UNIFORM).columns["q"], naive.plan_of(q=LAPLACE).columns["q"]

    def explained(column: Any) -> int:
        """From how few true values an answer can come, at the least."""
        table = naive.table(column.channel)
        return min(sum(output in row for row in table) for output in range(column.channel.outputs))

    assert explained(uniform) == 1
    assert explained(laplace) == 101
    assert uniform.epsilon is None


def test_the_low_bits_of_an_answer_tell_nothing() -> None:
    """Mironov's attack: floating noise leaves prints of the true value in its digits. A grid has none."""

    def floating(truth: float, source: random.Random) -> float:
        return truth + source.expovariate(1.0) * source.choice((-1, 1)) * 3

    def low_bits(numbers: list[float]) -> set[float]:
        return {math.fmod(abs(number), 2**-47) for number in numbers}

    source = random.Random(1)
    weak = [low_bits([floating(truth, source) for _ in range(300)]) for truth in (0.0, 64.0)]
    assert weak[1] == {0.0}  # a larger number has no room for small digits: 0 and 64 are told apart
    assert len(weak[0]) > 10
    plan = naive.plan_of(q=LAPLACE)
    texts = [{answer(plan, {"q": truth})["answers"]["q"] for _ in range(3_000)} for truth in (0, 64)]
    for text in texts[0] ^ texts[1]:
        assert text.isdigit()
    column = plan.columns["q"]
    assert {frozenset(row) for row in naive.table(column.channel)} == {frozenset(range(101))}


def test_the_same_question_in_other_words_is_stopped_by_the_budget(tmp_path: Path) -> None:
    """A collector who renames the question gets a fresh draw each time; the respondent's budget ends it."""
    ledger = AnswerLedger(tmp_path / "mine.json", budget=Fraction(3))
    for name in ("age", "years", "alter"):
        answer(naive.plan_of(**{name: LAPLACE}), {name: 40}, ledger=ledger)
    for name in ("edad", "ikä"):
        with pytest.raises(BudgetError):
            answer(naive.plan_of(**{name: LAPLACE}), {name: 40}, ledger=ledger)


def test_what_everybody_concludes_from_several_answers_is_bounded_by_the_sum_of_epsilons() -> None:
    """The same value asked twice: enumerated, no pair of answers gives odds above the product."""
    one = naive.plan_of(q={**KRR, "values": ["a", "b", "c"]}).columns["q"]
    table = naive.table(one.channel)
    odds = max(
        (left[x] * left[y]) / (right[x] * right[y])
        for left in table
        for right in table
        for x in left
        for y in left
    )
    assert one.channel.odds is not None
    assert odds == one.channel.odds**2 <= naive.exp_bounds(Fraction(2))[1]


def test_a_prior_of_the_attacker_is_moved_by_no_more_than_epsilon() -> None:
    """Whatever somebody believes beforehand, an answer moves the odds of two true values by exp(epsilon)."""
    chance = random.Random(2)
    for mechanism in ("laplace", "krr", "rr-truth", "unary", "optimised-unary"):
        column = naive.plan_of(q=naive.random_column(chance, mechanism, largest=5)).columns["q"]
        assert column.epsilon is not None
        most = naive.exp_bounds(column.epsilon)[1]
        table = naive.table(column.channel)
        prior = [Fraction(chance.randint(1, 100)) for _ in table]
        for output in table[0]:
            after = [share * row[output] for share, row in zip(prior, table, strict=True)]
            for a in range(len(table)):
                for b in range(len(table)):
                    assert after[a] * prior[b] <= most * after[b] * prior[a]
