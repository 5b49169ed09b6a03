"""The samplers: exact distributions by enumeration, neighbours' ratios, and plausible samples."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.dp.branches import Branches, outcomes
from tests.dp.odds import implausible, laplace_law
from tests.tries import seldom

from privet.dp import noise
from privet.dp.coins import below_exp, exp_coin, exp_coins, exp_digits, runs, uniform
from privet.dp.exact import FEW, WIDEST, Exact
from privet.errors import InternalError, MissingExtraError

TINY = Fraction(1, 10**9)  # paths less likely than this are not followed


def exact(source: Branches) -> Exact:
    return Exact(source)  # type: ignore[arg-type]


# Coins


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(1), Fraction(5, 2)])
def test_a_coin_has_exactly_the_probability(x: Fraction) -> None:
    """Enumerated: the true value lies within what was not followed, on both sides."""
    found, open_ = outcomes(lambda r: exp_coin(r, x.numerator, x.denominator), TINY)  # type: ignore[arg-type]
    heads = found.get(True, Fraction(0))
    assert open_ < Fraction(1, 10**7)
    assert heads - Fraction(1, 10**15) <= math.exp(-x) <= heads + open_ + Fraction(1, 10**15)


@given(power=st.integers(0, 200), bits=st.integers(0, 500))
@settings(max_examples=60)
def test_digits_of_the_exponential(power: int, bits: int) -> None:
    with localcontext() as context:
        context.prec = 300
        assert exp_digits(power, bits) == int(Decimal(2) ** bits * Decimal(-power).exp())


@pytest.mark.parametrize(("power", "bits"), [(1, 0), (1, 2), (2, 1), (5, 4)])
def test_the_digits_that_are_left_off_are_a_coin(power: int, bits: int) -> None:
    found, open_ = outcomes(lambda r: below_exp(r, power, bits), TINY)  # type: ignore[arg-type]
    value = 2**bits * math.exp(-power)
    assert open_ < Fraction(1, 2**60)
    assert float(found[True]) == pytest.approx(value - math.floor(value), abs=1e-12)


@pytest.mark.parametrize("bound", [1, 2, 3, 5, 16, 1000, 2**16, 2**16 + 1, 2**33 + 1, 2**62])
def test_uniform_numbers_stay_below_their_bound_and_are_even(bound: int) -> None:
    drawn = uniform(Random(1), bound, 20_000)
    assert drawn.dtype == np.int64
    assert len(drawn) == 20_000
    assert drawn.min() >= 0
    assert drawn.max() < bound
    parts = min(bound, 5)
    edges = [-(-bound * part // parts) for part in range(parts + 1)]
    law: dict[Hashable, float] = {part: (edges[part + 1] - edges[part]) / bound for part in range(parts)}
    assert not implausible((int(d) * parts // bound for d in drawn), law)


@pytest.mark.parametrize("bound", [0, -1, 2**62 + 1])
def test_a_bound_that_does_not_fit_is_refused(bound: int) -> None:
    with pytest.raises(InternalError, match="bound"):
        uniform(Random(1), bound, 3)


@pytest.mark.parametrize(("numerator", "denominator"), [(0, 1), (1, 1), (1, 2), (3, 7), (999, 1000)])
def test_many_coins_are_like_one(numerator: int, denominator: int) -> None:
    law: dict[Hashable, float] = {True: math.exp(-numerator / denominator)}
    many = exp_coins(Random(2), np.full(50_000, numerator), denominator)
    one = Random(3)
    assert not implausible(map(bool, many), law | {False: 1 - law[True]})
    assert not implausible(
        (exp_coin(one, numerator, denominator) for _ in range(10_000)), law | {False: 1 - law[True]}
    )


def test_runs_are_geometric() -> None:
    law: dict[Hashable, float] = {n: math.exp(-n) * (1 - math.exp(-1)) for n in range(12)}
    assert not implausible(map(int, runs(Random(4), 100_000)), law)


# Laplace noise


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "scale",
    seldom([Fraction(1), Fraction(2), Fraction(3, 2), Fraction(2, 5)], [Fraction(1), Fraction(3, 2)]),
)
def test_laplace_noise_has_exactly_its_distribution(scale: Fraction) -> None:
    """One attempt of the real code, enumerated; what it returns is Laplace once None is taken out."""
    found, open_ = outcomes(
        lambda r: exact(r)._try_laplace(scale.numerator, scale.denominator), Fraction(1, 10**6)
    )
    found.pop(None)
    total = sum(found.values())
    assert open_ < Fraction(1, 400)
    law = laplace_law(float(scale), 3)
    for z, p in law.items():
        assert found[z] / (total + open_) - TINY <= p <= (found[z] + open_) / total + TINY
    for z in range(3):  # neighbours: counts one apart differ by exp(1 / scale), whatever comes out
        ratio = math.exp(1 / scale)
        assert found[z] / (found[z + 1] + open_) - TINY <= ratio <= (found[z] + open_) / found[z + 1] + TINY


SCALES = [Fraction(2), Fraction(5, 3), Fraction(1, 3), Fraction(52), Fraction(2**41 + 1, 2**40)]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("size", [FEW, 20_000])
def test_seeded_laplace_noise_is_plausible(scale: Fraction, size: int) -> None:
    source = Exact(Random(5))
    rounds = max(1, 8_000 // size)
    drawn = np.concatenate([source.laplace(scale, size) for _ in range(rounds)])
    assert drawn.dtype == np.int64
    assert len(drawn) == rounds * size
    assert not implausible(map(int, drawn), laplace_law(float(scale), int(8 * scale) + 3))


def test_the_spec_figures_for_epsilon_one_half() -> None:
    drawn = Exact(Random(6)).laplace(Fraction(2), 400_000)
    assert np.mean(drawn == 0) == pytest.approx(0.2449, abs=0.003)
    assert drawn.var() == pytest.approx(7.835, abs=0.12)


def test_a_scale_that_does_not_fit_64_bits_is_drawn_all_the_same() -> None:
    drawn = Exact(Random(7)).laplace(Fraction(10**30 + 1, 10**30), 3_000)
    assert max(10**30 + 1, 10**30) > WIDEST
    assert not implausible(map(int, drawn), laplace_law(1.0, 8))
    vast = Exact(Random(7)).laplace(Fraction(10**40), 20)
    assert set(map(int, vast)) == {-(2**63 - 1), 2**63 - 1}  # saturated, not wrapped around


def test_no_draws_are_no_draws() -> None:
    assert Exact().laplace(Fraction(1), 0).shape == (0,)


def test_a_seed_repeats_and_the_default_does_not() -> None:
    one, two = (Exact(Random(8)).laplace(Fraction(50), 100) for _ in range(2))
    assert (one == two).all()
    one, two = (Exact().laplace(Fraction(10**6), 100) for _ in range(2))
    assert (one != two).any()  # equal by chance: below 10**-600


@pytest.mark.parametrize("wrong", [0, -1, Fraction(-1, 2), 0.5, 1.0, float("inf"), "1", True])
def test_a_scale_is_exact_and_positive(wrong: object) -> None:
    with pytest.raises(InternalError, match="positive"):
        Exact().laplace(wrong, 1)  # type: ignore[arg-type]
    with pytest.raises(InternalError, match="positive"):
        Exact().choose([1, 2], wrong)  # type: ignore[arg-type]


# Choices


def exponential(scores: Sequence[int], temperature: Fraction, weights: Sequence[int]) -> list[float]:
    """The exponential mechanism from its formula."""
    top = max(scores)
    parts = [w * math.exp((s - top) / temperature) for s, w in zip(scores, weights, strict=True)]
    return [part / math.fsum(parts) for part in parts]


def choice_law(
    scores: Sequence[int], temperature: Fraction, weights: Sequence[int] | None = None
) -> tuple[dict[int, Fraction], Fraction]:
    """The exact distribution of the real `choose`, by enumeration of one attempt, and its uncertainty."""
    found, open_ = outcomes(
        lambda r: exact(r).choose(scores, temperature, weights), Fraction(1, 10**11), attempts_of=2**200
    )
    total = sum(found.values())
    rejected = 1 - total
    assert rejected < Fraction(64, 100)  # at most e rounds on average: 1 - 1 / e
    return {int(i): p / total for i, p in found.items()}, open_ - rejected  # type: ignore[call-overload]


SMALL = st.integers(2, 4).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(-3, 9), min_size=n, max_size=n),
        st.lists(st.integers(0, 4), min_size=n, max_size=n).filter(any),
        st.fractions(min_value=Fraction(1, 2), max_value=20, max_denominator=12),
    )
)


@settings(max_examples=25, deadline=None)
@given(SMALL)
def test_a_choice_has_exactly_its_distribution(case: tuple[list[int], list[int], Fraction]) -> None:
    scores, weights, temperature = case
    law, _ = choice_law(scores, temperature, weights)
    live = [i for i, weight in enumerate(weights) if weight]
    wanted = exponential([scores[i] for i in live], temperature, [weights[i] for i in live])
    assert set(law) <= set(live)
    for i, p in zip(live, wanted, strict=True):
        assert float(law.get(i, Fraction(0))) == pytest.approx(p, abs=1e-6)


@settings(max_examples=12, deadline=None)
@given(
    scores=st.lists(st.integers(0, 6), min_size=2, max_size=4),
    moved=st.lists(st.integers(-1, 1), min_size=4, max_size=4),
    epsilon=st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2)]),
)
def test_neighbours_choices_differ_by_at_most_exp_epsilon(
    scores: list[int], moved: list[int], epsilon: Fraction
) -> None:
    """Scores of sensitivity 1: one record moves each by at most 1. The ratio holds for every outcome."""
    neighbour = [s + m for s, m in zip(scores, moved, strict=False)]
    here, _ = choice_law(scores, 2 / epsilon)
    there, _ = choice_law(neighbour, 2 / epsilon)
    for i in range(len(scores)):
        if here.get(i, 0) > Fraction(1, 10**4):
            assert float(here[i] / there[i]) <= math.exp(epsilon) * (1 + 1e-4)


def test_the_age_split_of_the_spec() -> None:
    """Section 4.3: regions of Age with their lengths, epsilon' = 0.1, both scores."""
    lengths = [2, 5, 7, 1, 1, 3, 1, 12, 15]
    most = [4, 5, 4, 5, 6, 7, 6, 5, 4]
    printed = [0.0411, 0.1081, 0.1440, 0.0216, 0.0227, 0.0717, 0.0227, 0.2595, 0.3085]
    law, _ = choice_law(most, Fraction(20), lengths)
    assert [round(float(law[i]), 4) for i in range(9)] == printed


def test_first_selection_of_the_spec() -> None:
    law, _ = choice_law([4, 4, 7], Fraction(20))
    assert [round(float(law[i]), 4) for i in range(3)] == [0.3163, 0.3163, 0.3675]


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("scores", "temperature", "weights"),
    [
        ([0, 1, 2, 4], Fraction(2), None),
        ([0, 0, 0], Fraction(1), [1, 2, 3]),
        ([0, 300, 299, 301], Fraction(1), [10**6, 5, 9, 2]),
        ([10**18, -(10**18), 10**18 - 3], Fraction(7, 3), None),
        ([0, 10**25, 10**25 + 1], Fraction(1), [1, 10**30, 10**30]),
        ([0, 200, 200], Fraction(10**20 + 1, 10**20), None),
        ([0, 1, 2], Fraction(10**20), None),
        ([2**62, -(2**62), 2**62 - 1], Fraction(1), None),  # their distance is no 64-bit number
        ([0, 1, 2, 3, 1, 1, 2, 1], Fraction(2), [2**61] * 8),  # nor is this sum
    ],
)
def test_seeded_choices_are_plausible(
    scores: list[int], temperature: Fraction, weights: list[int] | None
) -> None:
    source = Exact(Random(9))
    drawn = [source.choose(scores, temperature, weights) for _ in range(600)]
    wanted = exponential(scores, temperature, weights or [1] * len(scores))
    assert not implausible(drawn, {i: p for i, p in enumerate(wanted) if p > 1e-12})


def test_far_candidates_share_a_shell_and_keep_their_odds() -> None:
    """A weight of a million far below every shell still gets what it should: it is never seen."""
    source = Exact(Random(10))
    assert {source.choose([0, 10_000], Fraction(1), [10**6, 1]) for _ in range(200)} == {1}
    # with the top candidate without weight, the far one is the only one
    assert source.choose([0, 10_000], Fraction(1), [10**6, 0]) == 0


@pytest.mark.parametrize(
    ("scores", "weights", "what"),
    [
        ([], None, "no candidate"),
        ([1, 2], [0, 0], "no candidate"),
        ([1, 2], [1], "one weight"),
        ([1, 2], [1, -1], "not negative"),
        ([1.5, 2.0], None, "never floats"),
        ([1, 2], [0.5, 0.5], "never floats"),
        (["a", 2], None, "whole"),
    ],
)
def test_a_choice_needs_whole_numbers(scores: list[int], weights: list[int] | None, what: str) -> None:
    with pytest.raises(InternalError, match=what):
        Exact().choose(scores, Fraction(1), weights)


# OpenDP


def permute_and_flip(scores: Sequence[int], temperature: Fraction) -> list[float]:
    """The definition: in a random order, each is taken with probability exp((score - best) / temperature)."""
    coins = [math.exp((s - max(scores)) / temperature) for s in scores]
    law = [0.0] * len(scores)
    orders = list(permutations(range(len(scores))))
    for order in orders:
        going = 1 / len(orders)
        for i in order:
            law[i] += going * coins[i]
            going *= 1 - coins[i]
    return law


@pytest.fixture(scope="module")
def vetted() -> noise.NamedSource:
    pytest.importorskip("opendp")
    return noise.production()


@pytest.mark.one_in(2)
@pytest.mark.parametrize("scale", [Fraction(2), Fraction(5, 3), Fraction(1, 3)])
def test_opendp_noise_is_plausible(vetted: noise.NamedSource, scale: Fraction) -> None:
    drawn = vetted.laplace(scale, 10_000)
    assert drawn.dtype == np.int64
    assert not implausible(map(int, drawn), laplace_law(float(scale), int(8 * scale) + 3))


def test_opendp_chooses_by_permute_and_flip(vetted: noise.NamedSource) -> None:
    scores = [0, 1, 2, 4]
    law = permute_and_flip(scores, Fraction(2))
    drawn = [vetted.choose(scores, Fraction(2)) for _ in range(1_000)]
    assert not implausible(drawn, dict(enumerate(law)))
    plain = exponential(scores, Fraction(2), [1] * 4)
    assert sum(s * p for s, p in zip(scores, law, strict=True)) > sum(
        s * p for s, p in zip(scores, plain, strict=True)
    )


@settings(max_examples=50)
@given(
    scores=st.lists(st.integers(0, 6), min_size=2, max_size=4),
    moved=st.lists(st.integers(-1, 1), min_size=4, max_size=4),
)
def test_permute_and_flip_costs_the_same_epsilon(scores: list[int], moved: list[int]) -> None:
    """Temperature 2 / epsilon keeps exp(epsilon) for it too: why a source may choose between them."""
    neighbour = [s + m for s, m in zip(scores, moved, strict=False)]
    here, there = (permute_and_flip(s, Fraction(2)) for s in (scores, neighbour))
    assert all(p <= math.exp(1) * q * (1 + 1e-9) for p, q in zip(here, there, strict=True))


def test_opendp_leaves_weighted_choices_to_us(vetted: noise.NamedSource) -> None:
    scores, weights = [0, 1, 2, 4], [9, 3, 2, 1]
    drawn = [vetted.choose(scores, Fraction(2), weights) for _ in range(2_000)]
    assert not implausible(drawn, dict(enumerate(exponential(scores, Fraction(2), weights))))


def test_opendp_agrees_that_the_price_is_covered(vetted: noise.NamedSource) -> None:
    """Its own privacy map, asked for the scales that we hand it, never says more than we charge."""
    from opendp.domains import atom_domain, vector_domain
    from opendp.measurements import make_laplace
    from opendp.metrics import l1_distance

    from privet.dp.vetted import float_above

    space = vector_domain(atom_domain(T="i64")), l1_distance(T="i64")
    for scale in (Fraction(1, 3), Fraction(7, 10), Fraction(52), Fraction(10**20 + 1, 3)):
        given_ = float_above(scale)
        assert Fraction(given_) >= scale
        assert Fraction(math.nextafter(given_, 0)) < scale
        charged = 1 / scale
        spent = Fraction(make_laplace(*space, scale=given_).map(1))
        assert spent <= charged * (1 + Fraction(1, 2**51))  # its map rounds up, too


@pytest.mark.parametrize("wrong", [[], [2**62, 0], [0.5, 1.0]])
def test_opendp_is_given_whole_numbers_that_fit(vetted: noise.NamedSource, wrong: list[int]) -> None:
    with pytest.raises(InternalError, match="choose"):
        vetted.choose(wrong, Fraction(1))


def test_evidence_can_name_the_source(vetted: noise.NamedSource) -> None:
    from importlib.metadata import version

    ours = noise.production("exact").label
    assert ours == f"privet {version('privet')} exact samplers"
    assert vetted.label == f"opendp {version('opendp')}; choices by length: {ours}"


def test_without_opendp_production_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for part in ("opendp", "opendp.mod"):
        monkeypatch.setitem(sys.modules, part, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'privet\[dp\]'"):
        noise.production()
    assert noise.production("exact").laplace(Fraction(1), 2).shape == (2,)
