"""How much a union gives away: the formulas against the spec's tables, and both against measuring."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import UnsupportedError
from privet.parties.primitives.extremes import Rounds
from privet.parties.virtual import harness
from privet.parties.virtual.exposure import Asked, Exposure, set_by_result

USUAL = Asked(100_000, 1_000, 20)

# Spec 08, 4.2.
BY_DECOYS = {
    0: (1.00000, 0.05263), 25: (0.78770, 0.04146), 50: (0.62047, 0.03266), 100: (0.38499, 0.02026),
    150: (0.23888, 0.01257), 200: (0.14822, 0.00780), 300: (0.05706, 0.00300), 400: (0.02197, 0.00116),
    500: (0.00846, 0.00045),
}  # fmt: skip
BY_SITES = {
    3: (0.51227, 0.25614), 5: (0.44789, 0.11197), 10: (0.40492, 0.04499), 15: (0.39152, 0.02797),
    20: (0.38499, 0.02026), 30: (0.37856, 0.01305), 50: (0.37350, 0.00762), 75: (0.37100, 0.00501),
    100: (0.36975, 0.00373),
}  # fmt: skip
ITEM_BY_DECOYS = {
    0: (1.94737, 0.94737, 0.94737), 1000: (1.62804, 0.94737, 0.79611), 2500: (1.30330, 0.94737, 0.64228),
    5000: (0.97301, 0.94737, 0.48583), 10000: (0.63702, 0.63702, 0.32668), 15000: (0.46685, 0.46685, 0.24607),
    20000: (0.36404, 0.36404, 0.19737), 30000: (0.24588, 0.24588, 0.14140),
    50000: (0.13784, 0.13784, 0.09023),
}  # fmt: skip
ITEM_BY_SITES = {
    5: (1.17857, 0.53571), 10: (0.94152, 0.46784), 15: (0.76190, 0.38690), 20: (0.63702, 0.32668),
    30: (0.47834, 0.24757), 50: (0.31857, 0.16603), 100: (0.17339, 0.09082),
}  # fmt: skip
DECOYS = {
    "0.05": (6, 97301), "0.04": (29, None), "0.03": (59, None), "0.02": (102, None), "0.01": (174, None),
    "0.005": (247, None), "0.001": (416, None), "0.1": (0, 63703), "0.2": (0, 36404), "0.3": (0, 24588),
    "0.5": (0, 13785), "0.6": (0, 10866), "0.8": (0, 7083),
}  # fmt: skip


def rounded(number: Fraction | Decimal) -> float:
    return round(float(number), 5)


def test_sets_by_decoys_and_by_sites() -> None:
    assert {r: (rounded(USUAL.set_worst(r)), rounded(USUAL.set_average(r))) for r in BY_DECOYS} == BY_DECOYS
    some = {n: Asked(100_000, 1_000, n) for n in BY_SITES}
    found = {n: (rounded(one.set_worst(100)), rounded(one.set_average(100))) for n, one in some.items()}
    assert found == BY_SITES


def test_items_by_decoys_and_by_sites() -> None:
    found = {
        r: (rounded(USUAL.item_bound(r)), rounded(USUAL.item_worst(r)), rounded(USUAL.item_realistic(r)))
        for r in ITEM_BY_DECOYS
    }
    assert found == ITEM_BY_DECOYS
    some = {n: Asked(100_000, 1_000, n) for n in ITEM_BY_SITES}
    by_sites = {
        n: (rounded(one.item_bound(10_000)), rounded(one.item_realistic(10_000))) for n, one in some.items()
    }
    assert by_sites == ITEM_BY_SITES
    assert USUAL.item_average() == 0
    assert USUAL.item_bound(4737) < 1 <= USUAL.item_bound(4736)


def test_decoys_for_a_target() -> None:
    for loss, (of_set, of_item) in DECOYS.items():
        assert USUAL.decoys_for_set(Fraction(loss)) == of_set
        if of_item is not None:
            assert USUAL.decoys_for_item(Fraction(loss)) == of_item
    assert USUAL.decoys(Fraction("0.05"), Exposure.BOTH) == 97301
    assert USUAL.decoys(Fraction("0.05"), Exposure.SET) == 6
    assert USUAL.decoys(Fraction("0.05"), Exposure.ITEM) == 97301


def test_facts_of_the_report() -> None:
    """Spec 08, 4.1."""
    assert rounded(USUAL.set_average(0)) == 0.05263
    assert rounded(USUAL.set_average(100)) == 0.02026
    assert round(float(USUAL.set_without_repetition(100)) / 19, 5) == 0.02025
    assert set_by_result(10) == Fraction(1, 1024)


@given(
    domain=st.integers(10, 3_000),
    share=st.fractions(Fraction(1, 50), Fraction(9, 10)),
    sites=st.integers(3, 12),
    loss=st.fractions(Fraction(1, 1_000), 1),
)
def test_as_few_decoys_as_it_takes(domain: int, share: Fraction, sites: int, loss: Fraction) -> None:
    asked = Asked(domain, int(domain * share), sites)
    few = asked.decoys_for_set(loss)
    if asked.items:
        assert asked.set_average(few) <= Decimal(loss.numerator) / loss.denominator
        if few:
            assert asked.set_average(few - 1) > Decimal(loss.numerator) / loss.denominator
        some = asked.decoys_for_item(loss)
        assert asked.item_bound(some) <= loss
        assert not some or asked.item_bound(some - 1) > loss


@given(domain=st.integers(1, 60), sites=st.integers(3, 6), decoys=st.integers(0, 10), data=st.data())
def test_repetition_makes_it_a_bound(domain: int, sites: int, decoys: int, data: Any) -> None:
    asked = Asked(domain, data.draw(st.integers(0, domain)), sites)
    if decoys < domain:
        assert float(asked.set_without_repetition(decoys)) <= float(asked.set_worst(decoys)) + 1e-12


@pytest.mark.parametrize("decoys", [0, 1, 2, 3])
def test_the_chance_of_a_set_claim_by_counting_every_draw(decoys: int) -> None:
    """(E3), exhaustively: 5 items could occur, 3 do, the leader has the first."""
    draws = list(product(range(5), repeat=decoys))
    true = sum(not set(drawn) & {1, 2} for drawn in draws)
    asked = Asked(5, 3, 3)
    assert asked.set_worst(decoys) == Decimal(true) / len(draws)


def test_what_is_not_asked() -> None:
    for wrong in ((10, 11, 3), (10, 5, 2), (0, 0, 3)):
        with pytest.raises(UnsupportedError):
            Asked(*wrong)
    with pytest.raises(UnsupportedError):
        Asked(10, 5, 3, Fraction(6))
    with pytest.raises(UnsupportedError):
        USUAL.decoys_for_set(Fraction(0))
    assert Asked(10, 0, 3).decoys(Fraction(1, 100), Exposure.BOTH) == 0
    assert Asked(10, 10, 3, Fraction(0)).decoys_for_set(Fraction(1, 100)) == 1


# Measured. Seeded: the figures are always the same.


@pytest.mark.parametrize(
    ("nodes", "mean", "worst", "open_mean", "open_worst"),
    [(3, 0.110, 0.205, 0.390, 0.890), (5, 0.085, 0.165, 0.332, 0.958), (10, 0.050, 0.095, 0.240, 0.991),
     (20, 0.027, 0.054, 0.157, 0.998), (50, 0.012, 0.026, 0.080, 1.000)],
)  # fmt: skip
def test_the_maximum_gives_away_what_the_spec_says(
    nodes: int, mean: float, worst: float, open_mean: float, open_worst: float
) -> None:
    """Spec 08, 5.2: five rounds against one without chance."""
    hidden = harness.maximum(nodes, 20_000, Rounds(5, exact=False), seed=1)
    assert hidden.mean == pytest.approx(mean, abs=0.012)
    assert hidden.worst == pytest.approx(worst, abs=0.02)
    shown = harness.maximum(nodes, 20_000, Rounds(1), seed=1)
    assert shown.mean == pytest.approx(open_mean, abs=0.015)
    assert shown.worst == pytest.approx(open_worst, abs=0.012)
    assert harness.maximum(nodes, 100, Rounds(), seed=2) == harness.maximum(nodes, 100, Rounds(), seed=2)


def test_a_sum_gives_nothing_away() -> None:
    found = harness.added(5, 50_000, 101, seed=3)
    assert abs(found.mean) < 0.002
    assert abs(found.worst) < 0.004


def test_an_answer_gives_away_less_of_larger_groups() -> None:
    """Spec 08, 5.2: with k the groups that match are fewer, and a decoy more often looks like a row."""
    rng = np.random.default_rng(3)

    def dealt(groups: int) -> list[Any]:
        return [rng.integers(0, groups, 600) for _ in range(3)]

    losses = [harness.answers(dealt(m), m, 100, runs=60, seed=6) for m in (2_000, 200, 20)]
    assert losses[0].item_worst > losses[1].item_worst > losses[2].item_worst
    assert losses[2].item_worst == pytest.approx(0, abs=0.01)
    none = harness.answers(dealt(2_000), 2_000, 0, runs=60, seed=6)
    assert none.set_worst == 1, "without decoys whoever follows the leader knows its set"
    assert none.set_average == 1 / 2


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("domain", "items", "sites"), [(4, 3, 3), (100, 9, 3), (100, 10, 5), (1_000, 200, 20)]
)
@pytest.mark.parametrize("loss", [Fraction(1, 20), Fraction(1, 4)])
def test_who_counts_learns_more_than_the_report_says_and_no_more_than_is_planned_for(
    domain: int, items: int, sites: int, loss: Fraction
) -> None:
    """The leader's items have one copy on top of the decoys: the likeliest are those that occur most."""
    asked = Asked(domain, items, sites)
    runs, few = 3_000, asked.decoys(loss, Exposure.BOTH)
    error = 4 * (0.25 / runs) ** 0.5
    if loss == Fraction(1, 20):
        assert harness.united(domain, items, sites, few, runs=runs, seed=1).item_counted > 0.15
    many = asked.decoys(loss, Exposure.COUNTED)
    assert many > few
    assert asked.counted(many) <= loss < asked.counted(many - 1)
    assert harness.united(domain, items, sites, many, runs=runs, seed=2).item_counted < float(loss) + error


def test_a_union_gives_away_what_the_formulas_say() -> None:
    """Spec 08, 5.3: set 1.000, 0.623, 0.368, 0.148 at 0, 50, 100, 200; item 0.799 and 0.327."""
    for decoys, rate in {0: 1.0, 50: 0.623, 100: 0.368, 200: 0.148}.items():
        found = harness.united(100_000, 1_000, 20, decoys, runs=3_000, seed=4)
        assert found.set_worst == pytest.approx(rate, abs=0.03)
        assert found.set_worst == pytest.approx(float(USUAL.set_worst(decoys)), abs=0.03)
        assert found.set_average == pytest.approx(float(USUAL.set_average(decoys)), abs=0.002)
    for decoys, loss in {1_000: 0.799, 10_000: 0.327}.items():
        found = harness.united(100_000, 1_000, 20, decoys, runs=300, seed=5)
        assert found.item_worst == pytest.approx(loss, abs=0.01)
        assert found.item_worst < float(USUAL.item_bound(decoys))
