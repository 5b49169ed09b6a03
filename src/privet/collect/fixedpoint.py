"""exp(-x) in whole numbers, the same on every machine and in client.js.

A channel's weights are whole numbers that both ends must agree on to the last unit; floating exponentials
differ between libraries. So the exponential is a short integer program: halve the power until it is small,
sum the series, square as often as it was halved. Every step rounds down, and the error is known.
"""

from __future__ import annotations

import math
from fractions import Fraction

BITS = 192  # after the point
ERROR = 1 << 32  # far more units than the roundings of one exponential add up to


def exp_below(power: Fraction) -> int:
    """2**BITS * exp(-power) for a power from 0, at most and by less than ERROR units.

    >>> round(exp_below(Fraction(1)) / 2**BITS, 12)
    0.367879441171
    """
    one = 1 << BITS
    # The power is rounded up, and what is subtracted too: the result errs downwards only.
    small = -((-power.numerator << BITS) // power.denominator)
    halvings = 0
    while small > one >> 6:
        small = (small + 1) >> 1
        halvings += 1
    total, term, step = one, one, 0
    while term:
        step += 1
        term = term * small // (step << BITS)
        total += -term - 1 if step % 2 else term
    for _ in range(halvings):
        total = total * total >> BITS
    return max(total, 0)


def exp_above(power: Fraction) -> int:
    """The same, never too small."""
    return exp_below(power) + ERROR


def at_most_exp(odds: Fraction, epsilon: Fraction) -> bool:
    """Is odds <= exp(epsilon)? A yes is certain; a no may be closer than 2**-150."""
    return odds.numerator * exp_above(epsilon) <= odds.denominator << BITS


def log_above(odds: Fraction) -> Fraction:
    """The logarithm of odds from 1, rounded up to six decimals; that it is not too small is certain.

    >>> log_above(Fraction(3)), log_above(Fraction(1))
    (Fraction(1098613, 1000000), Fraction(0, 1))
    """
    if odds == 1:
        return Fraction(0)
    near = math.ceil((math.log(odds.numerator) - math.log(odds.denominator)) * 10**6) - 1
    while not at_most_exp(odds, Fraction(max(near, 1), 10**6)):
        near = max(near, 1) + 1
    return Fraction(max(near, 1), 10**6)
