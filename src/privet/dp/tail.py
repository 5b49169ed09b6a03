"""How many of many noises reach a threshold, and a uniform number: what test-and-generate asks for.

Exact like everything that decides here. The chance that discrete Laplace noise reaches a whole number is
no fraction, so the binomial distribution over it is only ever known between two bounds; these are drawn
together, and more digits of a uniform number are drawn, until there is no doubt.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.dp.noise import NoiseSource

DIGIT = 256  # uniform numbers are drawn in digits of this base
AT_ONCE = 3  # digits; nearly always enough
Bounds: TypeAlias = tuple[Decimal, Decimal]


@lru_cache(maxsize=16)
def _alike(size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return np.zeros(size, dtype=np.int64), np.ones(size, dtype=np.int64)


def uniform(noise: NoiseSource, size: int) -> int:
    """A whole number below `size`, each equally likely."""
    if size <= DIGIT:
        scores, weights = _alike(size)
        return noise.choose(scores, Fraction(1), weights) if size > 1 else 0
    digits, room = 1, DIGIT
    while room < size:
        digits, room = digits + 1, room * DIGIT
    while True:
        number = 0
        for _ in range(digits):
            number = number * DIGIT + uniform(noise, DIGIT)
        if number < room - room % size:
            return number % size


def binomial(noise: NoiseSource, trials: int, epsilon: Fraction, least: int) -> int:
    """How many of `trials` draws of discrete Laplace noise of scale 1 / epsilon reach `least` > 0."""
    drawn, scale = 0, 1
    while True:
        for _ in range(AT_ONCE):
            drawn, scale = drawn * DIGIT + uniform(noise, DIGIT), scale * DIGIT
        arithmetic = Enclosed(len(str(scale)) + 25)
        below = arithmetic.fraction(Fraction(drawn, scale))[0]
        above = arithmetic.fraction(Fraction(drawn + 1, scale))[1]
        for number, (low, high) in enumerate(distribution(arithmetic, trials, epsilon, least)):
            if above <= low:
                return number
            if below < high:
                break  # too close to a step of the distribution: draw more digits


@dataclass(frozen=True, slots=True)
class Enclosed:
    """Arithmetic with lower and upper bounds of positive numbers, to that many digits."""

    digits: int

    @property
    def down(self) -> Context:
        return Context(self.digits, ROUND_FLOOR, MIN_EMIN, MAX_EMAX)

    @property
    def up(self) -> Context:
        return Context(self.digits, ROUND_CEILING, MIN_EMIN, MAX_EMAX)

    def fraction(self, value: Fraction) -> Bounds:
        number, over = Decimal(value.numerator), Decimal(value.denominator)
        return self.down.divide(number, over), self.up.divide(number, over)

    def exponential(self, power: Fraction) -> Bounds:
        """exp(-power). Decimal rounds it correctly, so one unit in the last place is room enough."""
        low, high = self.fraction(power)
        down, up = self.down, self.up
        return down.next_minus(down.exp(-high)), up.next_plus(up.exp(-low))

    def chance(self, epsilon: Fraction, least: int) -> Bounds:
        """exp(-epsilon least) / (1 + exp(-epsilon)): that discrete Laplace noise reaches `least`."""
        (low, high), (low_one, high_one) = self.exponential(epsilon * least), self.exponential(epsilon)
        down, up = self.down, self.up
        return down.divide(low, up.add(1, high_one)), up.divide(high, down.add(1, low_one))

    def raised(self, value: Bounds, power: int) -> Bounds:
        low, high = Decimal(1), Decimal(1)
        (square_low, square_high), down, up = value, self.down, self.up
        while power:
            if power & 1:
                low, high = down.multiply(low, square_low), up.multiply(high, square_high)
            square_low, square_high = (
                down.multiply(square_low, square_low),
                up.multiply(square_high, square_high),
            )
            power >>= 1
        return low, high


def distribution(arithmetic: Enclosed, trials: int, epsilon: Fraction, least: int) -> Iterator[Bounds]:
    """Bounds of P(at most 0), P(at most 1), ... up to all, which is 1."""
    down, up = arithmetic.down, arithmetic.up
    low, high = arithmetic.chance(epsilon, least)
    fail = down.subtract(1, high), up.subtract(1, low)
    odds = down.divide(low, fail[1]), up.divide(high, fail[0])
    at_low, at_high = arithmetic.raised(fail, trials)
    sum_low, sum_high = at_low, at_high
    for number in range(trials):
        yield sum_low, sum_high
        more, over = Decimal(trials - number), Decimal(number + 1)
        at_low = down.divide(down.multiply(down.multiply(at_low, odds[0]), more), over)
        at_high = up.divide(up.multiply(up.multiply(at_high, odds[1]), more), over)
        sum_low, sum_high = down.add(sum_low, at_low), up.add(sum_high, at_high)
    yield Decimal(1), Decimal(1)
