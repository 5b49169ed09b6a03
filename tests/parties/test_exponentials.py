"""Whole numbers that stand for exponentials: the tables of spec 05, and what they cost."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, exp, log, log10

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.dp.budget import step_epsilon
from privet.errors import UnsupportedError
from privet.parties.noisy.exponentials import (
    WASTE,
    Taylor,
    cut_off,
    degree_for,
    simplest,
    taylor,
    truncated,
    weight,
    weights,
)
from privet.parties.primitives.drawing import SLACK


@pytest.mark.parametrize(("digits", "want"), [(1, 27), (2, 271), (3, 2718), (4, 27182)])
def test_table_7_3(digits: int, want: int) -> None:
    assert weight(Fraction(1), digits) == want


def test_selection_at_the_root_of_table_7_1() -> None:
    """Spec 05, 4.4: scores 9, 6 and 7, epsilon' = 1/10."""
    assert weights([9, 6, 7], Fraction(20), 1) == [15, 13, 14]
    assert weights([9, 6, 7], Fraction(20), 4) == [15683, 13498, 14190]
    found = weights([9, 6, 7], Fraction(20), 9)
    assert found == [1568312185, 1349858807, 1419067548]
    chances = [one / sum(found) for one in found]
    assert chances == pytest.approx([0.361592, 0.311225, 0.327182], abs=1e-6)


@given(
    power=st.fractions(0, 40, max_denominator=50),
    digits=st.integers(1, 12),
)
def test_a_weight_is_the_exponential_cut_off(power: Fraction, digits: int) -> None:
    found = weight(power, digits)
    assert found == pytest.approx(exp(power) * 10**digits, rel=1e-9, abs=1)
    assert found <= exp(power) * 10**digits * (1 + 1e-12)


def test_weights_are_exact_beyond_any_float() -> None:
    """Spec 05, 3.2.1: an exponent of 538 has hundreds of digits; a double ends at 709."""
    assert weight(Fraction(290), 9).bit_length() == 449
    large = weight(Fraction(1000), 0)
    assert str(large).startswith("19700711140170469938")  # e**1000 = 1.97007111401704699388888e434
    assert len(str(large)) == 435


@pytest.mark.parametrize(("digits", "more"), [(1, 0.2107), (2, 0.0201), (4, 0.0002), (9, 2e-9)])
def test_what_cutting_off_costs(digits: int, more: float) -> None:
    """Spec 05, 2.4: -2 ln(1 - 10**-l); ours is an upper bound of it, exact and not far above."""
    really = -2 * log(1 - 10.0**-digits)
    assert really == pytest.approx(more, rel=0.05)
    assert really <= float(cut_off(digits)) <= really * 1.06 + 1e-12


# Taylor polynomials, spec 05, 3.3.2 and 4.6.


@pytest.mark.parametrize(
    ("s", "w", "c", "values", "whole"),
    [
        (2, 4, 5, {10: 3956250000, 6: 3239610000, 8: 3580160000}, 10776020000),
        (
            4,
            8,
            500,
            {10: 6647644140625 * 10**24, 6: 5442630711921 * 10**24, 8: 6015037177856 * 10**24},
            18105312030402 * 10**24,
        ),
    ],
)
def test_horizontal_weights(s: int, w: int, c: int, values: dict[int, int], whole: int) -> None:
    made = Taylor(c, 10**s, w)
    assert {u: made.of(u) for u in values} == values
    assert sum(values.values()) == whole
    really = [exp(u * 0.05) for u in (10, 6, 8)]
    found = [made.of(u) / whole for u in (10, 6, 8)]
    assert found == pytest.approx([one / sum(really) for one in really], abs=1e-4 if w == 4 else 1e-6)


def test_truncation_spends_no_more_and_too_few_places_are_refused() -> None:
    assert truncated(Fraction(34657359, 10**8), 4) == 3465  # spec 05, 4.5: ln 2 / 2; rounding gives 3466
    with pytest.raises(UnsupportedError, match="one part in a hundred"):
        truncated(Fraction(658, 10**6), 4)  # spec 05, 3.3.2: 9 % would be lost
    with pytest.raises(UnsupportedError, match="one part in a hundred"):
        truncated(Fraction(658, 10**6), 3)  # and here all of it


ADULT = 30_162
TABLE = [
    ("1/10", 4, 53.9, 78, 5, 1755),
    ("1/10", 10, 29.0, 47, 6, 1176),
    ("1/10", 16, 19.8, 35, 6, 859),
    ("1/4", 10, 72.5, 100, 5, 2290),
    ("1/2", 10, 145.0, 184, 5, 4389),
    ("1", 4, 538.6, 612, 4, 13698),
    ("1", 10, 290.0, 344, 5, 8540),
    ("1", 16, 198.4, 243, 5, 5903),
]


@pytest.mark.parametrize(("epsilon", "h", "x", "w", "s", "bits"), TABLE)
def test_how_long_weights_are(  # noqa: PLR0917 - a line of the table
    epsilon: str, h: int, x: float, w: int, s: int, bits: int
) -> None:
    """Spec 05, 3.3.2: Adult with six numbers; only epsilon = 1/10 fits 2,048 bits."""
    c = step_epsilon(Fraction(epsilon), h, 6) / 2
    assert float(c * ADULT) == pytest.approx(x, abs=0.05)
    assert ceil(-log10(c)) + 2 == s
    made = taylor(c, ADULT, places=s)
    assert made.w == w
    assert made.of(ADULT).bit_length() == pytest.approx(bits, abs=2)  # the spec's has c untruncated
    # As a fraction it is far shorter, and wastes no more.
    short = taylor(c, ADULT)
    assert short.of(ADULT).bit_length() < 0.75 * bits
    assert c * (1 - WASTE) * Fraction(999, 1000) < Fraction(short.p, short.q) <= c - SLACK


@given(
    low=st.fractions("1/1000", 9, max_denominator=1000), more=st.fractions("1/1000", 1, max_denominator=1000)
)
def test_the_simplest_fraction(low: Fraction, more: Fraction) -> None:
    found = simplest(low, low + more)
    assert low <= found <= low + more
    for below in range(1, min(found.denominator, 60)):
        assert ceil(low * below) > (low + more) * below, "a smaller denominator would do"


@given(x=st.integers(1, 60))
def test_a_degree_is_the_lowest_that_is_near(x: int) -> None:
    found = degree_for(Fraction(x))

    def near(w: int) -> float:
        total = term = 1.0
        for at in range(1, w + 1):
            term *= x / at
            total += term
        return total / exp(x)

    assert near(found) > 0.999 - 1e-9
    assert found == 1 or near(found - 1) < 0.999 + 1e-9


@given(
    w=st.integers(1, 12),
    c=st.fractions("1/100", 1, max_denominator=100),
    u=st.integers(0, 200),
)
def test_a_polynomial_of_any_degree_costs_no_privacy(w: int, c: Fraction, u: int) -> None:
    """Spec 05, 2.4: one record more multiplies a weight by at most exp(c), exactly compared."""
    made = Taylor(c.numerator, c.denominator, w)
    up = Fraction(weight(c, 40), 10**40)  # below exp(c)
    assert Fraction(made.of(u + 1), made.of(u)) <= up * (1 + Fraction(1, 10**39))
    assert made.of(u + 1) >= made.of(u)
