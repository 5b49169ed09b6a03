"""Mechanisms as finite channels: to each true answer a distribution over answers, in whole numbers.

A channel gives the weight of every output in units of 2**-64 (or 2**-32 for single bits), and draws by
comparing random words with running sums of these weights. So what is drawn has exactly the stated
distribution, on every machine, and the likelihood ratio that local differential privacy bounds is a
fraction that can be enumerated.

Warner, "Randomized response", 1965; Agrawal and Srikant, "Privacy-preserving data mining", 2000 (additive
noise); Kairouz, Oh and Viswanath, "Extremal mechanisms for local differential privacy", 2014 (k-ary
response); Wang, Blocki, Li and Jha, "Locally differentially private protocols for frequency estimation",
2017 (unary encodings); Ghosh, Roughgarden and Sundararajan, "Universally utility-maximizing privacy
mechanisms", 2009.

Privacy: a channel with odds r is ln(r)-locally differentially private for one answer to one question: no
output is more than r times likelier from one true answer than from another. Odds of None are unbounded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar, TypeAlias

from privet.collect.fixedpoint import BITS, at_most_exp, exp_above, exp_below
from privet.errors import PolicyError

WORD = 1 << 64
HALF = 1 << 32
LONGEST = 1 << 17  # values of a grid of numbers, and steps of noise to either side
LARGEST = Fraction(20)  # an epsilon above that hides nothing, and its weights would not fit a word
SMALLEST = Fraction(1, 1000)

Take: TypeAlias = Callable[[int], bytes]  # so many random bytes; os.urandom, but in tests


def word(take: Take) -> int:
    return int.from_bytes(take(8), "little")


@dataclass(frozen=True, slots=True)
class AsIs:
    """The answer itself: for what is not a secret, such as the class that a classifier predicts."""

    inputs: int
    name: ClassVar[str] = "as-is"

    first: ClassVar[int] = 0  # the output number 0, as a place of the input's grid

    @property
    def outputs(self) -> int:
        return self.inputs

    @property
    def odds(self) -> None:
        return None

    def draw(self, code: int, take: Take) -> int:  # noqa: ARG002 - a channel's form
        return code


@dataclass(frozen=True, slots=True)
class Response:
    """Randomised response: the true value with weight `keep`, each other one with weight `other`."""

    inputs: int
    keep: int
    other: int
    name: ClassVar[str] = "k-randomised-response"

    first: ClassVar[int] = 0  # the output number 0, as a place of the input's grid

    @classmethod
    def of_epsilon(cls, inputs: int, epsilon: Fraction) -> Response:
        """The most truthful that is epsilon-private.

        `other` is rounded up, so keep / other never exceeds exp(epsilon).
        """
        above = exp_above(epsilon)
        return cls._of(inputs, -(-WORD * above // ((1 << BITS) + (inputs - 1) * above)))

    @classmethod
    def of_truth(cls, inputs: int, truth: Fraction) -> Response:
        """Truthful with this probability, and else any other value alike."""
        lie = (1 - truth) * WORD / (inputs - 1)
        return cls._of(inputs, -(-lie.numerator // lie.denominator))

    @classmethod
    def _of(cls, inputs: int, other: int) -> Response:
        return cls(inputs, WORD - (inputs - 1) * other, other)

    @property
    def outputs(self) -> int:
        return self.inputs

    @property
    def odds(self) -> Fraction:
        return max(Fraction(self.keep, self.other), Fraction(self.other, self.keep))

    def draw(self, code: int, take: Take) -> int:
        at = word(take) - self.keep
        if at < 0:
            return code
        other = at // self.other
        return other + (other >= code)


@dataclass(frozen=True, slots=True)
class Unary:
    """Unary encoding: one bit for each value, each perturbed by itself.

    The bit of the true value is set with weight `one`, every other with weight `zero`, of 2**32. The
    symmetric form tells both kinds of bits alike; the optimised one spends everything on the zeros, of
    which there are more.
    """

    inputs: int
    one: int
    zero: int

    first: ClassVar[int] = 0  # the output number 0, as a place of the input's grid

    @classmethod
    def symmetric(cls, inputs: int, epsilon: Fraction) -> Unary:
        """Two bits differ between two values, so each may tell exp(epsilon / 2)."""
        zero = _share(epsilon / 2)
        return cls(inputs, HALF - zero, zero)

    @classmethod
    def optimised(cls, inputs: int, epsilon: Fraction) -> Unary:
        return cls(inputs, HALF // 2, _share(epsilon))

    @property
    def outputs(self) -> int:
        return self.inputs

    @property
    def odds(self) -> Fraction:
        return Fraction(self.one * (HALF - self.zero), self.zero * (HALF - self.one))

    def draw(self, code: int, take: Take) -> int:
        drawn = take(4 * self.inputs)
        bits = 0
        for at in range(self.inputs):
            at_word = int.from_bytes(drawn[4 * at : 4 * at + 4], "little")
            bits |= (at_word < (self.one if at == code else self.zero)) << at
        return bits


def _share(epsilon: Fraction) -> int:
    """2**32 / (exp(epsilon) + 1), rounded up: never less noise than was asked for."""
    above = exp_above(epsilon)
    return -(-HALF * above // ((1 << BITS) + above))


@dataclass(frozen=True, slots=True)
class Additive:
    """Noise on a grid of numbers: a step from -`reach` to `reach`, drawn by `cuts`, is added.

    `cuts` are the running sums of the weights of the steps, without the last, which is 2**64. Where
    `clamped`, sums beyond the ends of the grid become the ends.
    """

    inputs: int
    reach: int
    cuts: tuple[int, ...]
    clamped: bool

    @property
    def outputs(self) -> int:
        return self.inputs if self.clamped else self.inputs + 2 * self.reach

    @property
    def first(self) -> int:
        """The output number 0, as a place of the input's grid."""
        return 0 if self.clamped else -self.reach

    def draw(self, code: int, take: Take) -> int:
        moved = code + bisect_right(self.cuts, word(take)) - self.reach
        return min(max(moved, 0), self.inputs - 1) if self.clamped else moved + self.reach

    def weights(self) -> list[int]:
        """Of each step, from -reach on."""
        return [high - low for low, high in pairwise((0, *self.cuts, WORD))]

    @property
    def odds(self) -> Fraction | None:
        """Exact, over every output; noise that is not clamped has outputs that only some inputs reach."""
        if not self.clamped:
            return None
        end = Fraction(self.cuts[self.reach], self.cuts[0])  # P(step <= 0) by P(step <= -reach)
        # An inner output is at most inputs - 2 steps away. Weights fall with the step, so that the output
        # beside an end meets the largest and the smallest of them.
        inner = self.weights()[self.reach : self.reach + self.inputs - 1]
        return max(end, Fraction(max(inner), min(inner))) if self.inputs > 2 else end


# Each has `inputs` and `outputs` (of a unary encoding, bits), numbered from 0; `odds`, the largest likelihood
# ratio of any output between two inputs, exactly, or None; and `draw`, one output for an input.
Channel: TypeAlias = AsIs | Response | Unary | Additive


def laplace(inputs: int, epsilon: Fraction) -> Additive:
    """Two-sided geometric noise, clamped to the grid: epsilon between its two ends, less between others.

    Nothing is lost by clamping: all outputs beyond an end favour the same inputs by the same odds. The noise
    is made a little larger than asked for, so that rounded weights keep the promise; that they do is checked.
    """
    reach = inputs - 1
    per_step = epsilon * (1 - Fraction(1, 1 << 30)) / reach
    ratio, one = exp_below(per_step), 1 << BITS
    tails, power = [], one
    for _ in range(reach):
        power = power * ratio >> BITS
        tails.append(WORD * power // (one + ratio))  # P(step >= 1), P(step >= 2), ...
    made = Additive(inputs, reach, (*reversed(tails), *(WORD - tail for tail in tails)), clamped=True)
    odds = made.odds if tails[-1] > 0 and tails[-1] < (tails[-2] if reach > 1 else WORD) else None
    if odds is None or not at_most_exp(odds, epsilon):
        raise PolicyError(f"epsilon {epsilon} is too fine for {inputs:,} values; choose a larger step")
    return made


def gaussian(inputs: int, sigma: Fraction) -> Additive:
    """Discrete Gaussian noise; sigma in steps of the grid. Steps of a weight below 2**-64 do not occur."""
    # exp(-n**2 / 2 sigma**2) by two running products; both only ever round down.
    square = sigma * sigma
    fall, faster = exp_below(1 / (2 * square)), exp_below(1 / square)
    sizes, size = list[int](), 1 << BITS
    while size >> BITS - 64 and len(sizes) <= LONGEST:
        sizes.append(size)
        size = size * fall >> BITS
        fall = fall * faster >> BITS
    if len(sizes) > LONGEST:
        raise PolicyError("so much noise takes too many steps; choose a larger step")
    return _unclamped(inputs, sizes)


def uniform(inputs: int, reach: int) -> Additive:
    """Every step from -reach to reach alike."""
    return _unclamped(inputs, [1] * (reach + 1))


def _unclamped(inputs: int, sizes: list[int]) -> Additive:
    """Steps of these relative weights, from no step to the largest; no step has what rounding leaves over."""
    whole = 2 * sum(sizes) - sizes[0]
    weights = [WORD * size // whole for size in sizes]
    while len(weights) > 1 and weights[-1] == 0:
        weights.pop()
    reach = len(weights) - 1
    weights[0] = WORD - 2 * sum(weights[1:])
    cuts, total = [], 0
    for at in range(-reach, reach):
        total += weights[abs(at)]
        cuts.append(total)
    return Additive(inputs, reach, tuple(cuts), clamped=False)


def telling(channel: AsIs | Response | Unary) -> tuple[float, float]:
    """How often a value is indicated that is not true, and how much oftener the true one.

    A value is indicated by the answer itself, or by its bit. All that estimates of categories need.
    """
    match channel:
        case AsIs():
            return 0.0, 1.0
        case Response():
            return channel.other / WORD, (channel.keep - channel.other) / WORD
        case Unary():
            return channel.zero / HALF, (channel.one - channel.zero) / HALF
