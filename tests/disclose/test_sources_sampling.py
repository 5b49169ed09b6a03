"""Drawing tables: E5 of spec 13, weights, confidence, and what is said when nothing can be."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.disclose.sources import ALAN, DONALD, ELLEN, HALF, SARS, SEVEN, VI, every_table, views
from tests.disclose.test_sources_counting import disclosures

from privet.disclose.sources.counting import count
from privet.disclose.sources.gamma import Confidence, Decision, assess, estimate
from privet.disclose.sources.prepare import Component, component, components
from privet.disclose.sources.sampling import Draws, Sampler
from privet.disclose.sources.views import View, counted
from privet.errors import InputError, PolicyError

SURE = Confidence(Fraction(1, 10), Fraction(19, 20))


def drawn(part: Component, many: int, seed: int = 1, **how: object) -> Draws:
    return Sampler(part, **how).draw(many, np.random.default_rng(seed))  # type: ignore[arg-type]


def at(part: Component, person: int, value: str | None) -> tuple[int, int]:
    return next(i for i, members in enumerate(part.classes) if person in members), part.values.index(value)


@pytest.mark.parametrize(
    ("order", "weights", "plain"),
    [(range(7), {18, 24, 36, 48, 54, 72, 108}, 0.75), ((3, 0, 1, 2, 4, 5, 6), {8, 16, 32, 72}, 0.5)],
)
def test_the_sources_sampler(order: range | tuple[int, ...], weights: set[int], plain: float) -> None:
    part = component(views("AB", SEVEN))
    draws = drawn(part, 4000, order=order, proposal="uniform")
    assert {round(float(w)) for w in np.exp(draws.log_weights)} == weights
    assert np.exp(draws.log_weights).mean() == pytest.approx(45, rel=0.05)
    place = (slice(None), *at(part, DONALD, SARS))
    assert draws.counts[place].mean() == pytest.approx(plain, abs=0.04)  # unweighted draws mislead
    found = estimate(part, draws, 1.96)
    for person, value, chance in ((DONALD, SARS, 0.8), (ALAN, SARS, 0.4), (ELLEN, VI, 4 / 15)):
        assert found.shares[at(part, person, value)] == pytest.approx(chance, abs=0.05)
    assert found.effective < found.draws


@pytest.mark.parametrize("proposal", ["uniform", "fitted"])
@settings(max_examples=25, deadline=None)
@given(given_=disclosures(people=5), seed=st.integers(0, 2**32 - 1))
def test_every_draw_is_a_table_and_is_drawn_as_often_as_it_says(
    proposal: str, given_: list[View], seed: int
) -> None:
    for part in components(given_):
        order = sorted(person for members in part.classes for person in members)
        draws = drawn(part, 60, seed, order=order, proposal=proposal)
        tables = {tuple(table[p] for p in order) for table in every_table(part.views)}
        weight: dict[tuple[str | None, ...], float] = {}
        assert draws.assigned is not None
        for row, log_weight, held in zip(draws.assigned, draws.log_weights, draws.counts, strict=True):
            if log_weight == -np.inf:
                assert proposal == "fitted"
                continue
            table = tuple(part.values[code] for code in row)
            assert table in tables
            # A table always weighs the same: it says how seldom it is drawn.
            assert weight.setdefault(table, log_weight) == pytest.approx(log_weight)
            assert (part.member @ held == part.margins).all()
        inverse = sum(np.exp(-one) for one in weight.values())
        if proposal == "uniform" and len(weight) == len(tables):
            assert inverse == pytest.approx(1)
        assert inverse <= 1 + 1e-9


@settings(max_examples=10, deadline=None)
@given(disclosures(people=6), st.integers(0, 2**32 - 1))
def test_the_mean_weight_counts_the_tables(given_: list[View], seed: int) -> None:
    for part in components(given_):
        draws = drawn(part, 3000, seed)
        exact = count(part)
        assert exact is not None
        weights = np.exp(draws.log_weights)
        spread = weights.std() / np.sqrt(len(weights))
        assert abs(weights.mean() - exact.instances) <= 6 * spread + 1e-6 * exact.instances


def test_the_class_form_says_the_same_as_the_form_by_people() -> None:
    part = component(views("ABC", SEVEN))
    people = tuple(person for members in part.classes for person in members)
    shares = [estimate(part, drawn(part, 6000, order=order), 1.96).shares for order in (None, people)]
    assert shares[0] == pytest.approx(shares[1], abs=0.04)


def large() -> list[View]:
    """Two hundred people in eight views; too many tables to count in a moment."""
    rng = np.random.default_rng(5)
    base = rng.choice(list("abcde"), 200, p=np.array([16, 8, 5, 4, 2]) / 35)
    places = [rng.permutation(200) for _ in range(4)]
    found = []
    for number in range(8):
        low, wide = rng.integers(0, 150), rng.integers(25, 50)
        people = np.flatnonzero((places[number % 4] >= low) & (places[number % 4] < low + wide))
        found.append(View.of(people.tolist(), base[people].tolist()))
    return found


def test_sampled_chances_agree_with_exact_ones_within_the_confidence() -> None:
    """Intervals of 99.9 % around 100 runs' chances: no run misses by chance more than once in a while."""
    part = component(views("ABC", SEVEN))
    exact = count(part)
    assert exact is not None
    true = np.array([[float(s) for s in row] for row in exact.shares])
    missed = 0
    for seed in range(100):
        found = estimate(part, drawn(part, 500, seed), 3.29)
        missed += bool((np.abs(found.shares - true) > found.half + 1e-12).any())
    assert missed <= 5


def test_a_large_disclosure_is_sampled_until_it_is_sure() -> None:
    given = large()
    found = assess(given, HALF, confidence=SURE, steps=2000, rng=np.random.default_rng(1))
    assert found.decision is not Decision.UNDECIDED
    part = found.worst
    assert part.method == "sampled"
    assert part.effective >= SURE.draws()
    assert part.half <= float(SURE.epsilon) / 2
    # All of a view's people together have its values, so their chances add up to its counts.
    for one in part.part.views:
        for value, many in one.counts:
            assert sum(part.chance(p, value) for p in one.people) == pytest.approx(many, abs=1e-6)


def test_a_sampled_violation_is_one() -> None:
    found = assess(views("AB", SEVEN), HALF, confidence=SURE, steps=3, rng=np.random.default_rng(2))
    assert found.decision is Decision.NOT_PRIVATE
    assert found.exposed == {DONALD}
    assert found.worst.worst == pytest.approx(0.8, abs=0.05)
    assert found.instances is None
    assert found.log_instances == pytest.approx(np.log(45), abs=0.05)


def test_an_interval_that_reaches_beyond_the_tolerance_is_a_violation() -> None:
    """Donald's chance is gamma + epsilon exactly; a sample that comes out lower must not let it pass."""
    low = 0
    for seed in range(8):
        rng = np.random.default_rng(seed)
        found = assess(views("AB", SEVEN), Fraction(7, 10), confidence=SURE, steps=3, rng=rng)
        assert found.worst.half < 0.05
        if found.worst.worst < 0.8 < found.worst.worst + found.worst.half:
            low += 1
            assert found.decision is Decision.NOT_PRIVATE
    assert low


def test_the_interval_is_that_of_a_ratio_of_weighted_sums() -> None:
    part = component([View.of([0, 1], "ab")])
    draws = Draws(np.log([3.0, 1.0, 1.0]), np.array([[[2, 0]], [[0, 2]], [[1, 1]]]))
    found = estimate(part, draws, 1.0)
    share = (3 * 1 + 0 + 0.5) / 5
    spread = (9 * (1 - share) ** 2 + share**2 + (0.5 - share) ** 2) / 25
    assert found.shares[0, 0] == pytest.approx(share)
    assert found.effective == pytest.approx(25 / 11)
    assert found.half[0, 0] == pytest.approx(max(spread**0.5, 1 / (25 / 11 + 1)))
    wide = estimate(part, draws, 3.0)
    assert wide.half[0, 0] == pytest.approx(max(3 * spread**0.5, 9 / (25 / 11 + 9)))


def test_within_epsilon_is_private_and_is_said() -> None:
    gamma = Fraction(76, 100)
    found = assess(views("AB", SEVEN), gamma, confidence=SURE, steps=3, rng=np.random.default_rng(3))
    assert found.decision is Decision.PRIVATE
    assert found.worst.tolerated == 1


def test_uneven_weights_are_undecided_never_private() -> None:
    given = large()
    starved = Confidence(Fraction(1, 50), Fraction(99, 100), most=0)
    found = assess(given, HALF, confidence=starved, steps=10, rng=np.random.default_rng(4))
    assert found.decision is Decision.UNDECIDED
    assert not found.exposed


def test_a_contradiction_is_found_while_sampling_too() -> None:
    given = [View.of([0, 1], "ab"), View.of([1, 2], "cd")]
    with pytest.raises(InputError, match="contradict"):
        assess(given, HALF, confidence=SURE, steps=0, rng=np.random.default_rng(1))


@pytest.mark.parametrize(
    ("epsilon", "theta", "draws"),
    [("0.1", "0.95", 1537), ("0.05", "0.95", 6147), ("0.1", "0.99", 2654), ("0.05", "0.99", 10616)],
)
def test_how_many_draws(epsilon: str, theta: str, draws: int) -> None:
    assert Confidence(Fraction(epsilon), Fraction(theta)).draws() == draws


def test_bonferroni_asks_for_more() -> None:
    everywhere = Confidence(Fraction(1, 10), Fraction(19, 20), everywhere=True)
    assert everywhere.draws(20) == Confidence(Fraction(1, 10), 1 - Fraction(1, 20) / 20).draws()


def test_wrong_confidence_is_refused() -> None:
    with pytest.raises(PolicyError, match="epsilon is an exact fraction"):
        Confidence(0.1, Fraction(1, 2))  # type: ignore[arg-type]
    with pytest.raises(PolicyError, match="smaller than gamma and than 1 - gamma"):
        assess(views("A", SEVEN), Fraction(95, 100), confidence=SURE)
    with pytest.raises(InputError, match="every person"):
        Sampler(component(views("A", SEVEN)), order=[0, 1])
    with pytest.raises(InputError, match="proposal is one of"):
        Sampler(component(views("A", SEVEN)), proposal="best")


def test_draws_of_a_given_source_are_the_same_again() -> None:
    part = component(views("ABC", SEVEN))
    assert (drawn(part, 50, 7).counts == drawn(part, 50, 7).counts).all()
    assert counted("ab") == (("a", 1), ("b", 1))
