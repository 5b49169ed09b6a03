"""Zero-concentrated differential privacy: a second currency, in which Gaussian noise has a price.

Bun and Steinke, "Concentrated differential privacy: simplifications, extensions, and lower bounds", TCC 2016.
Pure epsilon has no price for Gaussian noise at all. In zero-concentrated differential privacy (rho-zCDP) it
is `sensitivity² / (2 sigma²)`. Prices of one data set add up (lemma 1.7), a mechanism that is epsilon-DP
costs at most epsilon²/2 (proposition 1.4), and a person with m records pays m² times as much (proposition
1.9). All of that is rational, so a ledger adds it up exactly; only what rho means at some delta is a real
number, and it is rounded up.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

from privet.errors import BudgetError

_DIGITS = 40


def rho_of_epsilon(epsilon: Fraction) -> Fraction:
    """What a mechanism with pure epsilon costs at most.

    >>> rho_of_epsilon(Fraction(1, 2))
    Fraction(1, 8)
    """
    return epsilon * epsilon / 2


def rho_of_gaussian(sensitivity: Fraction, sigma: Fraction) -> Fraction:
    """What Gaussian noise of that standard deviation costs, discrete or not, on a query of that sensitivity.

    >>> rho_of_gaussian(Fraction(1), Fraction(2))
    Fraction(1, 8)
    """
    if sensitivity <= 0 or sigma <= 0:
        raise BudgetError("sensitivity and sigma are above 0")
    return (sensitivity / sigma) ** 2 / 2


def epsilon_at(rho: Fraction, delta: Fraction) -> Decimal:
    """The epsilon of (epsilon, delta)-differential privacy that rho implies (proposition 1.3), rounded up.

    >>> epsilon_at(Fraction(1, 8), Fraction(1, 10**6))
    Decimal('2.754')
    """
    if not 0 < delta < 1:
        raise BudgetError("delta is between 0 and 1")
    if not rho:
        return Decimal("0.000")
    up, down = Context(prec=_DIGITS, rounding=ROUND_CEILING), Context(prec=_DIGITS, rounding=ROUND_FLOOR)
    # -ln(delta), and so the whole, only grows when delta is rounded down and the logarithm away from zero.
    least = down.divide(Decimal(delta.numerator), Decimal(delta.denominator))
    far = up.next_plus(up.copy_abs(up.ln(least)))
    price = up.divide(Decimal(rho.numerator), Decimal(rho.denominator))
    root = up.next_plus(up.sqrt(up.multiply(price, far)))
    return up.quantize(up.add(price, up.multiply(2, root)), Decimal("0.001"))
