"""Uniques of a population from a sample: against sums written out, and against populations that are known."""

from __future__ import annotations

from fractions import Fraction
from math import comb, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.measure.classes import Ints, at_risk, journalist
from privet.models import population, snb

sizes = st.lists(st.integers(1, 12), min_size=1, max_size=12).map(lambda s: np.array(s, dtype=np.int64))
fractions = st.sampled_from([Fraction(1), Fraction(1, 2), Fraction(1, 10), Fraction(1, 33)])


@settings(max_examples=80, deadline=None)
@given(sizes, fractions)
def test_zayatz_is_bayes_over_the_sizes_of_classes(found: Ints, fraction: Fraction) -> None:
    n = int(found.sum())
    people = round(n / fraction)

    def one_of(j: int) -> Fraction:
        return Fraction(j * comb(people - j, n - 1), comb(people, n))

    alone = sum(size == 1 for size in found.tolist())
    total = sum((one_of(size) for size in found.tolist()), Fraction(0))
    expected = alone * (alone * one_of(1) / total) / fraction if alone else 0
    assert population.zayatz(found, fraction) == pytest.approx(float(expected), rel=1e-6)


def likelihood(found: list[int], theta: float, alpha: float) -> float:
    """Pitman's sampling formula, factor by factor, without what does not depend on the parameters."""
    return (
        sum(log(theta + i * alpha) for i in range(1, len(found)))
        - sum(log(theta + i) for i in range(1, sum(found)))
        + sum(log(i - alpha) for size in found for i in range(1, size))
    )


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=3, max_size=15).filter(lambda s: 1 in s and max(s) > 1))
def test_no_other_parameters_make_the_sample_likelier(found: list[int]) -> None:
    theta, alpha = population.fitted(np.array(found))
    assert 0 < alpha < 1
    assert theta > -alpha
    best = likelihood(found, theta, alpha)
    for other in np.linspace(0.02, 0.98, 25):
        for shift in np.logspace(-3, 3, 25):
            assert likelihood(found, float(shift - other), float(other)) <= best + 1e-6


def test_expected_uniques_are_those_who_stay_alone() -> None:
    for theta, alpha, people in ((3.0, 0.4, 7), (0.2, 0.9, 30), (-0.1, 0.3, 12)):
        alone = 1.0
        for here in range(1, people):
            alone *= (theta + here - 1 + alpha) / (theta + here)
        assert population.expected_uniques(people, theta, alpha) == pytest.approx(people * alone)


def test_estimates_are_near_the_truth_where_the_model_is_true() -> None:
    """A population that grew as Pitman's model says, and a sample of it."""
    rng = np.random.default_rng(4)
    theta, alpha, people = 40.0, 0.5, 20_000
    of_person = np.empty(people, dtype=np.int64)
    classes = 0
    for person in range(people):
        if rng.random() < (theta + alpha * classes) / (theta + person):
            of_person[person], classes = classes, classes + 1
        else:  # joins a class with a chance of its size less alpha: that of a person, if a coin agrees
            while True:
                chosen = of_person[rng.integers(person)]
                if rng.random() < 1 - alpha / np.count_nonzero(of_person[:person] == chosen):
                    break
            of_person[person] = chosen
    truth = int((np.bincount(of_person) == 1).sum())
    for fraction, within in ((Fraction(1, 4), 0.15), (Fraction(1, 20), 0.35)):
        drawn = rng.choice(people, size=round(people * fraction), replace=False)
        sample = np.bincount(of_person[drawn])
        estimate = population.pitman(sample[sample > 0], fraction)
        assert estimate == pytest.approx(truth, rel=within)
        naive = int((sample == 1).sum()) / fraction  # every sample unique is believed
        assert abs(float(estimate or 0) - truth) < abs(float(naive) - truth)


def drawn_from(size: int, alpha: float, beta: float, pi: float) -> float:
    """The chance that a sample has so many of a class, summed over what the class may be."""
    chance, total = beta**alpha, 0.0  # of a class of one
    for people in range(1, 3000):
        if people >= size:
            total += chance * comb(people, size) * pi**size * (1 - pi) ** (people - size)
        chance *= (alpha + people - 1) / people * (1 - beta)
    return total


@settings(max_examples=25, deadline=None)
@given(
    st.floats(0.1, 3),
    st.floats(0.1, 0.9),
    st.sampled_from([Fraction(1, 20), Fraction(1, 3), Fraction(1, 2)]),
)
def test_snb_finds_the_parameters_that_a_sample_was_made_with(
    alpha: float, beta: float, fraction: Fraction
) -> None:
    pi, classes = float(fraction), 10**12  # so many that rounding to whole classes does not matter
    ones, twos = (round(classes * drawn_from(size, alpha, beta, pi)) for size in (1, 2))
    found = snb.fitted(ones, twos, classes, pi)
    assert found is not None
    assert found == pytest.approx((alpha, beta), rel=1e-3)


@settings(max_examples=60, deadline=None)
@given(sizes, st.sampled_from([Fraction(1, 2), Fraction(1, 10), Fraction(1, 33)]))
def test_the_classes_of_a_population_are_haas_and_stokes_s(found: Ints, q: Fraction) -> None:
    n = found.tolist()
    once = sum((1 - q) ** i * ((1 + q) ** i - 1) for i in n)
    twice = sum(i * q**2 * (1 - q**2) ** (i - 1) for i in n)
    missed, seen = sum((1 - q) ** i for i in n), sum(i * q * (1 - q) ** (i - 1) for i in n)
    expected = len(n) + n.count(1) * twice / once * (missed / seen) ** 2
    assert snb.population_classes(found, q) == pytest.approx(float(expected), rel=1e-9)


def test_snb_is_near_the_truth_where_the_model_is_true() -> None:
    rng = np.random.default_rng(7)
    people = 1 + rng.negative_binomial(0.5, 0.15, size=20_000)
    truth = int((people == 1).sum())
    for fraction in (Fraction(1, 2), Fraction(1, 4)):
        sample = rng.binomial(people, float(fraction))
        estimate = snb.snb(sample[sample > 0], fraction)
        assert estimate == pytest.approx(truth, rel=0.15)


def test_snb_of_a_whole_population_and_of_samples_that_fit_nothing() -> None:
    assert snb.snb(np.array([1, 1, 2, 5]), Fraction(1)) == pytest.approx(2)
    assert snb.snb(np.array([2, 3]), Fraction(1, 5)) == 0
    assert snb.snb(np.array([1, 1, 4]), Fraction(1, 5)) is None  # no class of two
    assert population.uniqueness(np.array([1, 1, 4]), Fraction(1, 5))["estimates"]["snb"] is None


@given(st.none() | st.floats(0, 9), st.none() | st.floats(0, 9), st.floats(0, 9), fractions)
def test_the_rule_believes_pitman_of_few_and_else_the_smaller(
    pitman: float | None, other: float | None, zayatz: float, fraction: Fraction
) -> None:
    chosen = population.believed({"zayatz": zayatz, "pitman": pitman, "snb": other}, fraction)
    if fraction <= Fraction(1, 10):
        assert chosen == ("pitman" if pitman is not None else "zayatz")
    else:
        assert chosen == ("snb" if other is not None and other < zayatz else "zayatz")


def test_a_sample_of_everybody_has_the_population_s_uniques() -> None:
    found = np.array([1, 1, 1, 4, 2])
    assert population.zayatz(found, Fraction(1)) == pytest.approx(3)
    told = population.uniqueness(found, Fraction(1))
    assert (told["people"], told["chosen"]) == (9, "zayatz")
    assert told["estimates"]["zayatz"]["share"] == pytest.approx(1 / 3)


def test_what_cannot_be_estimated_is_said() -> None:
    assert population.pitman(np.array([1, 1, 1]), Fraction(1, 20)) is None
    assert population.uniqueness(np.array([1, 1, 1]), Fraction(1, 20))["chosen"] == "zayatz"
    assert population.uniqueness(np.array([1, 1, 3]), Fraction(1, 20))["chosen"] == "pitman"
    assert population.uniqueness(np.array([1, 1, 3]), Fraction(1, 9))["chosen"] == "zayatz"
    assert population.pitman(np.array([2, 3]), Fraction(1, 20)) == 0
    assert population.zayatz(np.array([2, 3]), Fraction(1, 20)) == 0


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 9)), min_size=1, max_size=9))
def test_a_journalist_picks_among_the_population(classes: list[tuple[int, int]]) -> None:
    pairs = [(people, min(people, shown)) for people, shown in classes]
    chances = [Fraction(1, people) for people, shown in pairs for _ in range(shown)]
    found = journalist(*(np.array(each) for each in zip(*pairs, strict=True)))
    assert found["highest"] == pytest.approx(float(max(chances, default=Fraction(0))))
    assert found["average"] == pytest.approx(float(sum(chances, Fraction(0)) / max(1, len(chances))))


def test_records_at_risk_are_strictly_above_each_chance() -> None:
    found = {one["above"]: one["records"] for one in at_risk(np.array([1, 2, 5, 100]))}
    assert found == {"1/2": 1, "1/3": 3, "1/5": 3, "1/10": 8, "1/20": 8, "1/50": 8, "1/100": 8}
