"""Classifiers on reconstructed distributions: the spec's figures, each strategy, what cannot be learned."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from tests.collect import naive

from privet.collect import bayes, tree
from privet.collect.assign import assigned
from privet.collect.draw import perturbed
from privet.collect.estimate import estimate
from privet.collect.iterate import Rule, Stop
from privet.collect.matrix import bin_of, binned
from privet.collect.observe import Answers
from privet.collect.training import Strategy, Training
from privet.errors import InputError

STOP = Stop(Rule.TOLERANCE)
LABEL = {"type": "category", "values": ["x", "y"], "mechanism": "as-is"}
NUMBER = {"type": "number", "low": 0, "high": 100, "step": "0.5"}


def people(size: int, seed: int) -> tuple[Any, Any, Any]:
    """Two classes that overlap in two attributes."""
    chance = np.random.default_rng(seed)
    label = chance.integers(0, 2, size)
    one, two = (
        np.where(label == 0, chance.triangular(0, 30, 60, size), chance.triangular(40, 70, 100, size))
        for _ in range(2)
    )
    return label, np.floor(one * 2 + 0.5).astype(int), np.floor(two * 2 + 0.5).astype(int)


def training(noise: dict[str, Any], seed: int = 0, size: int = 10_000) -> Training:
    plan = naive.plan_of(a={**NUMBER, **noise}, b={**NUMBER, **noise}, c=LABEL)
    label, one, two = people(size, seed)
    draw = random.Random(seed).randbytes
    sent = {
        name: perturbed(plan.columns[name].channel, codes, draw) for name, codes in (("a", one), ("b", two))
    }
    return Training.of(Answers(plan, size, {**sent, "c": label}), "c")


def accuracy(model: Any, seed: int = 99) -> float:
    label, one, two = people(5_000, seed)
    return float((model.predict({"a": one, "b": two}) == label).mean())


CLEAN = accuracy(bayes.train(training({"mechanism": "as-is"}), Strategy.BY_CLASS, bins=20, stop=STOP))


@pytest.mark.parametrize("half_width", [25, 50, 100])
def test_naive_bayes_as_in_the_spec(half_width: int) -> None:
    """Spec 09, 5.1: within 2 points of clean data at every level; the noise taken for true falls behind."""
    noisy = training({"mechanism": "uniform", "half_width": half_width})
    rebuilt = accuracy(bayes.train(noisy, Strategy.BY_CLASS, bins=20, stop=STOP))
    raw = accuracy(bayes.train(noisy, Strategy.PERTURBED, bins=20, stop=STOP))
    assert CLEAN > 0.97
    assert rebuilt > CLEAN - 0.02
    if half_width == 50:
        assert raw < rebuilt


def test_noise_as_wide_as_the_domain_taken_for_true_is_a_coin() -> None:
    """At least 45 points below reconstruction: nothing of a class is left in the histogram.

    What is left is chance, from 30 to 71 of 100 (the spec's one run has 47); so the mean of twenty runs.
    """
    raw, rebuilt = [], []
    for seed in range(20):
        noisy = training({"mechanism": "uniform", "half_width": 100}, seed)
        raw.append(accuracy(bayes.train(noisy, Strategy.PERTURBED, bins=20, stop=STOP)))
        rebuilt.append(accuracy(bayes.train(noisy, Strategy.BY_CLASS, bins=20, stop=STOP)))
    assert np.mean(rebuilt) > CLEAN - 0.02
    assert np.mean(rebuilt) - np.mean(raw) > 0.45
    assert min(rebuilt) > CLEAN - 0.02


@pytest.mark.one_in(2)
@pytest.mark.parametrize("strategy", [Strategy.GLOBAL, Strategy.BY_CLASS, Strategy.LOCAL])
def test_trees_grow_on_what_was_reconstructed(strategy: Strategy) -> None:
    clean = accuracy(tree.train(training({"mechanism": "as-is"}), strategy, bins=20, stop=STOP))
    noisy = accuracy(
        tree.train(training({"mechanism": "gaussian", "sigma": 25}), strategy, bins=20, stop=STOP)
    )
    assert clean > 0.97
    assert noisy > (0.9 if strategy is Strategy.GLOBAL else 0.95)


def test_by_class_and_local_withstand_noise_that_global_does_not() -> None:
    noisy = training({"mechanism": "uniform", "half_width": 100})
    found = {one: accuracy(tree.train(noisy, one, bins=20, stop=STOP)) for one in Strategy}
    assert min(found[Strategy.BY_CLASS], found[Strategy.LOCAL]) > 0.95
    assert found[Strategy.GLOBAL] < 0.95
    assert found[Strategy.PERTURBED] < 0.9


def test_where_nothing_is_to_be_learned_a_tree_stays_small() -> None:
    """Reconstruction by class makes differences out of noise; the tree must not believe them."""
    plan = naive.plan_of(
        a={**NUMBER, "mechanism": "laplace", "epsilon": 2},
        b={"type": "category", "values": list("abcde"), "mechanism": "unary", "epsilon": 1},
        c=LABEL,
    )
    chance = np.random.default_rng(3)
    sizes = []
    for seed in range(5):
        label = chance.integers(0, 2, 4_000)
        sent = {
            "a": perturbed(
                plan.columns["a"].channel, chance.integers(0, 201, 4_000), random.Random(seed).randbytes
            ),
            "b": perturbed(
                plan.columns["b"].channel, chance.integers(0, 5, 4_000), random.Random(seed + 9).randbytes
            ),
        }
        task = Training.of(Answers(plan, 4_000, {**sent, "c": label}), "c")
        sizes.append(str(tree.train(task, Strategy.LOCAL, bins=20, stop=STOP).document()).count("counts"))
    assert np.median(sizes) == 1


def test_categories_and_three_classes() -> None:
    category = {"type": "category", "values": list("abcd")}
    plan = naive.plan_of(
        k={**category, "mechanism": "k-randomised-response", "epsilon": 2},
        u={**category, "mechanism": "optimised-unary", "epsilon": 3},
        c={"type": "category", "values": ["x", "y", "z"], "mechanism": "as-is"},
    )
    chance = np.random.default_rng(1)
    label = chance.integers(0, 3, 20_000)
    true = {
        name: np.where(chance.random(20_000) < 0.8, label, chance.integers(0, 4, 20_000)) for name in "ku"
    }
    sent = {
        name: perturbed(plan.columns[name].channel, true[name], random.Random(1).randbytes) for name in "ku"
    }
    task = Training.of(Answers(plan, 20_000, {**sent, "c": label}), "c")
    for strategy in Strategy:
        if strategy is not Strategy.LOCAL:
            model = bayes.train(task, strategy, bins=20, stop=STOP)
            assert (model.predict(true) == label).mean() > 0.8
        grown = tree.train(task, strategy, bins=20, stop=STOP)
        assert (grown.predict(true) == label).mean() > (0.6 if strategy is Strategy.PERTURBED else 0.75)


def test_a_class_is_sent_as_it_is_or_nothing_is_learned() -> None:
    secret = {"type": "category", "values": ["x", "y"], "mechanism": "randomised-response", "epsilon": 1}
    plan = naive.plan_of(c=secret, d=LABEL, a={**NUMBER, "mechanism": "as-is"})
    zeros = np.zeros(3, dtype=np.int64)
    with pytest.raises(InputError, match='collected as it is \\(mechanism = "as-is"\\)'):
        Training.of(Answers(plan, 3, dict.fromkeys("cda", zeros)), "c")
    with pytest.raises(InputError, match="collected as it is"):
        Training.of(Answers(plan, 3, dict.fromkeys("cda", zeros)), "a")
    with pytest.raises(InputError, match="there are no answers"):
        Training.of(Answers(plan, 0, dict.fromkeys("cda", zeros[:0])), "d")
    alone = naive.plan_of(d=LABEL)
    with pytest.raises(InputError, match="no other column than the class"):
        Training.of(Answers(alone, 3, {"d": zeros}), "d")


def test_a_class_without_records_is_never_predicted() -> None:
    plan = naive.plan_of(a={**NUMBER, "mechanism": "gaussian", "sigma": 5}, c=LABEL)
    outputs = perturbed(plan.columns["a"].channel, np.full(500, 40))
    task = Training.of(Answers(plan, 500, {"a": outputs, "c": np.zeros(500, dtype=int)}), "c")
    for strategy in Strategy:
        for model in (
            bayes.train(task, strategy, bins=5, stop=STOP),
            tree.train(task, strategy, bins=5, stop=STOP),
        ):
            assert not model.predict({"a": np.arange(201)}).any()


def test_records_are_put_back_in_order_and_in_number() -> None:
    column = naive.plan_of(a={**NUMBER, "mechanism": "gaussian", "sigma": 10}).columns["a"]
    outputs = perturbed(column.channel, np.random.default_rng(1).integers(0, 201, 3_000))
    places = assigned(column, outputs, 10, STOP, np.random.default_rng(0))
    order = np.argsort(outputs, kind="stable")
    assert (np.diff(places[order][np.flatnonzero(np.diff(outputs[order], prepend=-1))]) >= 0).all()
    for size in (1, 7, 20, 201, 500):
        codes = np.arange(201)
        edges = binned(column, size).edges
        assert np.array_equal(bin_of(column, codes, size), np.searchsorted(edges, codes, side="right") - 1)


def test_local_places_records_again_but_never_by_the_columns_that_brought_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever is at a node was chosen by some columns' answers: their noise is not the channel's any more."""
    seen: list[tuple[int, frozenset[str]]] = []
    whole = tree._Grower.placed

    def placed(self: Any, rows: Any, but: frozenset[str] = frozenset()) -> Any:
        seen.append((len(rows), but))
        found = whole(self, rows, but)
        assert not set(found) & but
        return found

    monkeypatch.setattr(tree._Grower, "placed", placed)
    monkeypatch.setattr(tree, "AGAIN", 50)
    noisy = training({"mechanism": "gaussian", "sigma": 20})
    tree.train(noisy, Strategy.BY_CLASS, bins=20, stop=STOP)
    assert seen == [(10_000, frozenset())]
    seen.clear()
    tree.train(noisy, Strategy.LOCAL, bins=20, stop=STOP)
    assert seen[0] == (10_000, frozenset())
    assert len(seen) > 1
    assert all(but and size >= 2 * tree.AGAIN for size, but in seen[1:])


def test_what_is_known_is_counted_and_not_smoothed() -> None:
    column = naive.plan_of(a={**NUMBER, "mechanism": "as-is"}).columns["a"]
    codes = np.repeat([0, 40, 200], [70, 20, 10])
    found = estimate(column, codes, bins=5)
    assert found.shares.tolist() == [0.9, 0.0, 0.0, 0.0, 0.1]


def test_shares_are_smoothed_as_if_every_bin_had_one_more_record() -> None:
    plan = naive.plan_of(a={**NUMBER, "mechanism": "as-is"}, c=LABEL)
    sent = {"a": np.array([0, 0, 0, 200]), "c": np.array([0, 0, 0, 1])}
    model = bayes.train(Training.of(Answers(plan, 4, sent), "c"), Strategy.BY_CLASS, bins=3, stop=STOP)
    np.testing.assert_allclose(np.exp(model.shares["a"]), [[4 / 6, 1 / 6, 1 / 6], [1 / 4, 1 / 4, 2 / 4]])
    np.testing.assert_allclose(np.exp(model.classes), [4 / 6, 2 / 6])
