"""Zero-concentrated differential privacy: exact prices, and an epsilon that is never too small."""

from __future__ import annotations

from decimal import Decimal, getcontext
from fractions import Fraction
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.dp.zcdp import epsilon_at, rho_of_epsilon, rho_of_gaussian
from privet.errors import BudgetError

amounts = st.fractions(Fraction(1, 1000), 50)


@given(amounts, st.integers(1, 40))
def test_an_epsilon_at_a_delta_is_the_formula_rounded_up(rho: Fraction, power: int) -> None:
    delta = Fraction(1, 10**power)
    formula = float(rho) + 2 * sqrt(float(rho) * power * log(10))
    found = epsilon_at(rho, delta)
    assert formula - 1e-9 <= float(found) <= formula + 0.001 + 1e-9


@given(amounts, amounts)
def test_prices_are_exact_and_monotone(one: Fraction, two: Fraction) -> None:
    assert rho_of_epsilon(one) * 2 == one**2
    assert rho_of_gaussian(one, two) * 2 * two**2 == one**2
    delta = Fraction(1, 10**6)
    if one <= two:
        assert epsilon_at(one, delta) <= epsilon_at(two, delta)
    # one release with the sum of two epsilons costs at least as much as the two
    assert rho_of_epsilon(one + two) >= rho_of_epsilon(one) + rho_of_epsilon(two)


def divergence(p: np.ndarray, q: np.ndarray, alpha: float) -> float:
    """Rényi's, by its definition; of logarithms of unnormalised weights, so that far tails count."""
    p, q = p - np.logaddexp.reduce(p), q - np.logaddexp.reduce(q)
    return float(np.logaddexp.reduce(alpha * p + (1 - alpha) * q) / (alpha - 1))


@pytest.mark.parametrize(("sensitivity", "sigma"), [(1, 2), (3, 4), (10, 40)])
def test_gaussian_noise_keeps_its_price_by_the_definition(sensitivity: int, sigma: int) -> None:
    """D_alpha of two neighbours is at most rho alpha, for every alpha above 1 (of the discrete one)."""
    at = np.arange(-40 * sigma, 40 * sigma + 1)
    p = -(at**2) / (2 * sigma**2)
    q = -((at - sensitivity) ** 2) / (2 * sigma**2)
    rho = float(rho_of_gaussian(Fraction(sensitivity), Fraction(sigma)))
    for alpha in (1.01, 1.5, 2, 5, 20):
        assert divergence(p, q, alpha) <= rho * alpha + 1e-9
        assert divergence(p, q, alpha) >= rho * alpha * 0.99  # and no less is enough


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_pure_epsilon_keeps_its_price_by_the_definition(epsilon: Fraction) -> None:
    """Randomised response is the worst of all mechanisms with that epsilon."""
    p, q = np.array([float(epsilon), 0.0]), np.array([0.0, float(epsilon)])
    for alpha in (1.01, 1.5, 2, 5, 20):
        assert divergence(p, q, alpha) <= float(rho_of_epsilon(epsilon)) * alpha + 1e-9


def test_nothing_costs_nothing_and_nonsense_is_refused() -> None:
    assert epsilon_at(Fraction(0), Fraction(1, 2)) == Decimal("0.000")
    for delta in (Fraction(0), Fraction(1), Fraction(2), Fraction(-1)):
        with pytest.raises(BudgetError, match="delta"):
            epsilon_at(Fraction(1), delta)
    for sensitivity, sigma in ((0, 1), (1, 0), (-1, 1)):
        with pytest.raises(BudgetError, match="above 0"):
            rho_of_gaussian(Fraction(sensitivity), Fraction(sigma))


def test_the_number_of_digits_of_a_caller_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    before = epsilon_at(Fraction(1, 7), Fraction(1, 10**9))
    monkeypatch.setattr(getcontext(), "prec", 3)
    assert epsilon_at(Fraction(1, 7), Fraction(1, 10**9)) == before
