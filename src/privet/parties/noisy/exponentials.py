"""Whole numbers that stand for exponentials, since circuits draw by whole weights.

Across columns each party knows its scores: exp(u / t) to so many decimal places, cut off. What is cut off
costs privacy, a little, and `cut_off` is how much. (Mohammed 2012, section 7.4.1; spec 05, 2.4.)

Across people nobody knows a score, and weights are made of shares: a Taylor polynomial of exp(c u) times a
number that leaves whole coefficients only. That costs no privacy, whatever its degree: the logarithm of a
Taylor polynomial grows no quicker than its argument, and c is never rounded up. A low degree costs
usefulness. (Section 7.5.2.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import factorial

from privet.errors import UnsupportedError
from privet.parties.primitives.drawing import SLACK

WASTE = Fraction(1, 100)  # of what a choice may spend, at most, by rounding c down
NEAR = Fraction(1, 1000)  # how near a polynomial is to exp, by ratio, where no degree is said


def weight(power: Fraction, digits: int) -> int:
    """exp(power) to so many decimal places, cut off; exact, whatever its size.

    >>> [weight(Fraction(1), digits) for digits in (1, 2, 3, 4)]
    [27, 271, 2718, 27182]
    """
    precision = digits + 20 + int(power) // 2
    while True:
        down = Context(precision, ROUND_FLOOR, MIN_EMIN, MAX_EMAX)
        up = Context(precision, ROUND_CEILING, MIN_EMIN, MAX_EMAX)
        top, under = Decimal(power.numerator), Decimal(power.denominator)
        # Decimal rounds exp correctly, so one unit in the last place is room enough.
        low = down.next_minus(down.exp(down.divide(top, under)))
        high = up.next_plus(up.exp(up.divide(top, under)))
        found = [
            int(edge.scaleb(digits, Context(precision, Emin=MIN_EMIN, Emax=MAX_EMAX))) for edge in (low, high)
        ]
        if found[0] == found[1] or power == 0:
            return 10**digits if power == 0 else found[0]
        precision *= 2


def weights(scores: Sequence[int], temperature: Fraction, digits: int) -> list[int]:
    return [weight(Fraction(score) / temperature, digits) for score in scores]


def cut_off(digits: int) -> Fraction:
    """What cutting weights off costs one choice, -2 ln(1 - 10**-digits), and the draw's error; rounded up.

    >>> [round(float(cut_off(digits)), 4) for digits in (1, 2, 4)]
    [0.2222, 0.0202, 0.0002]
    """
    least = Fraction(1, 10**digits)
    return 2 * least / (1 - least) + SLACK  # -ln(1 - x) <= x / (1 - x)


@dataclass(frozen=True)
class Taylor:
    """V(u) = w! q**w T(p u / q), where T is the Taylor polynomial of exp of degree w."""

    p: int
    q: int
    w: int

    @property
    def coefficients(self) -> list[int]:
        """From the constant one up.

        >>> sum(a * 10**i for i, a in enumerate(Taylor(5, 100, 4).coefficients))
        3956250000
        """
        whole = factorial(self.w)
        return [whole // factorial(i) * self.q ** (self.w - i) * self.p**i for i in range(self.w + 1)]

    def of(self, u: int) -> int:
        found = 0
        for coefficient in reversed(self.coefficients):
            found = found * u + coefficient
        return found


def truncated(c: Fraction, places: int) -> int:
    """C in so many decimal places, cut off and never rounded up: that would spend more than was agreed.

    >>> truncated(Fraction(34657, 100000), 4)
    3465
    """
    found = int(c.numerator * 10**places // c.denominator)
    if found < 1 or Fraction(found, 10**places) < c * (1 - WASTE):
        raise UnsupportedError("places: so few would waste more than one part in a hundred; take more")
    return found


def simplest(low: Fraction, high: Fraction) -> Fraction:
    """The fraction between two positive ones that has the smallest denominator.

    >>> simplest(Fraction(99, 10400), Fraction(1, 104) - Fraction(1, 10**9))
    Fraction(1, 105)
    """
    whole = -(-low.numerator // low.denominator)
    if whole <= high:
        return Fraction(whole)
    base = low.numerator // low.denominator
    return base + 1 / simplest(1 / (high - base), 1 / (low - base))


def taylor(c: Fraction, most: int, *, places: int | None = None, degree: int | None = None) -> Taylor:
    """The polynomial for exp(c u) of scores up to `most`; what the draw itself costs comes off c first.

    Without `places` c is the simplest fraction that wastes less than one part in a hundred. Without `degree`
    the polynomial is within one part in a thousand of exp up to the largest score.
    """
    c -= SLACK
    rate = simplest(c * (1 - WASTE), c) if places is None else Fraction(truncated(c, places), 10**places)
    p, q = (rate.numerator, rate.denominator) if places is None else (int(rate * 10**places), 10**places)
    return Taylor(p, q, degree_for(c * most) if degree is None else degree)


def degree_for(x: Fraction) -> int:
    """The lowest degree at which T(x) is within one part in a thousand of exp(x).

    >>> degree_for(Fraction(29))
    47
    """
    context = Context(50, Emin=MIN_EMIN, Emax=MAX_EMAX)
    at = context.divide(Decimal(x.numerator), Decimal(x.denominator))
    wanted = context.multiply(context.exp(at), 1 - Decimal(NEAR.numerator) / NEAR.denominator)
    total, term, w = Decimal(1), Decimal(1), 0
    while total < wanted:
        w += 1
        term = context.divide(context.multiply(term, at), Decimal(w))
        total = context.add(total, term)
    return max(w, 1)
