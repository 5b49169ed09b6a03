"""Coins with the probability exp(-x), thrown in whole numbers only.

The method is that of Canonne, Kamath and Steinke, "The discrete Gaussian for differential privacy" (2020):
a coin of probability exp(-x), x a fraction, is a short game of uniform draws, because the alternating
series of exp(-x) is a race that an odd or an even number of steps wins. Nothing is rounded, so there is
no error to account for and no low bit to attack.

Many coins are thrown together in numpy's 64-bit integers; numbers that do not fit fall back to Python's.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from privet.errors import InternalError

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

FITS = 2**62  # what 64-bit arithmetic here may reach, with a bit to spare for a sum


class Random(Protocol):
    """What is needed of `random.SystemRandom`, and in tests of `random.Random`."""

    def randbytes(self, n: int, /) -> bytes: ...
    def randrange(self, stop: int, /) -> int: ...
    def getrandbits(self, k: int, /) -> int: ...


def uniform(random: Random, bound: int, size: int) -> Ints:
    """`size` draws from 0 .. bound - 1, each equally likely: bits that fall outside are drawn again."""
    if not 0 < bound <= FITS:
        raise InternalError("dp.coins.uniform: the bound does not fit 64-bit arithmetic")
    if bound == 1:
        return np.zeros(size, dtype=np.int64)
    bits = (bound - 1).bit_length()
    width = 2 if bits <= 16 else 4 if bits <= 32 else 8
    kept: list[Ints] = []
    missing = size
    while missing > 0:
        asked = missing if bound == 1 << bits else (missing << bits) // bound + missing // 16 + 4
        words = np.frombuffer(random.randbytes(width * asked), dtype=f"<u{width}")
        drawn = (words & words.dtype.type((1 << bits) - 1)).astype(np.int64)
        drawn = drawn[drawn < bound][:missing]
        kept.append(drawn)
        missing -= len(drawn)
    return kept[0] if len(kept) == 1 else np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)


def exp_coins(random: Random, numerators: Ints, denominator: int) -> Flags:
    """One coin of probability exp(-numerator / denominator) for each numerator, at most the denominator."""
    heads = np.zeros(len(numerators), dtype=np.bool_)
    playing = np.arange(len(numerators))
    step = 1
    while len(playing):
        stays = uniform(random, denominator * step, len(playing)) < numerators[playing]
        if step % 2:
            heads[playing[~stays]] = True
        playing = playing[stays]
        step += 1
    return heads


def exp_coin(random: Random, numerator: int, denominator: int) -> bool:
    """One coin of probability exp(-numerator / denominator), for any numerator >= 0 of any length."""
    whole, rest = divmod(numerator, denominator)
    return all(_small_coin(random, 1, 1) for _ in range(whole)) and _small_coin(random, rest, denominator)


def _small_coin(random: Random, numerator: int, denominator: int) -> bool:
    step = 1
    while random.randrange(denominator * step) < numerator:
        step += 1
    return step % 2 == 1


def runs(random: Random, size: int) -> Ints:
    """How often a coin of probability exp(-1) shows heads before the first tail, `size` times."""
    lengths = np.zeros(size, dtype=np.int64)
    playing = np.arange(size)
    while len(playing):
        playing = playing[exp_coins(random, np.ones(len(playing), dtype=np.int64), 1)]
        lengths[playing] += 1
    return lengths


@lru_cache(maxsize=4096)
def exp_digits(power: int, bits: int) -> int:
    """The whole part of 2**bits * exp(-power), exactly, for power >= 0."""
    if power == 0:
        return 1 << bits
    guard = 64
    while True:
        low, high = _inverse_e(bits + guard)
        below, above = low, high
        for _ in range(power - 1):
            below = below * low >> bits + guard
            above = -(-above * high >> bits + guard)
        if below >> guard == above >> guard:
            return below >> guard
        guard *= 2


@lru_cache(maxsize=64)
def _inverse_e(bits: int) -> tuple[int, int]:
    """Whole numbers just below and just above 2**bits / e, from its alternating series."""
    terms, factorial = 1, 1
    while factorial.bit_length() <= bits + 1:
        terms += 1
        factorial *= terms
    term, total, sums = factorial, factorial, []
    for k in range(1, terms + 1):  # every term is a whole number over the common denominator terms!
        term //= k
        total += -term if k % 2 else term
        sums.append(total)
    last, before = sorted(sums[-2:])
    return (last << bits) // factorial, -((-before << bits) // factorial)


def below_exp(random: Random, power: int, bits: int) -> bool:
    """A coin whose probability is what `exp_digits(power, bits)` leaves off: the digits after the point.

    Random digits are compared with those of exp(-power), 64 at a time, until they differ.
    """
    known = exp_digits(power, bits)
    while True:
        bits += 64
        longer = exp_digits(power, bits)
        digits, drawn = longer - (known << 64), random.getrandbits(64)
        if drawn != digits:
            return drawn < digits
        known = longer


def fraction(value: object, what: str) -> tuple[int, int]:
    """Numerator and denominator of a positive number that must be exact: a float is refused."""
    if not isinstance(value, Fraction | int) or isinstance(value, bool) or value <= 0:
        raise InternalError(f"{what} is a positive whole number or Fraction, never a float")
    return value.numerator, value.denominator
