"""How much an answer hides, said in each of the ways that people say it.

* interval: how wide the interval is that holds the true number with a confidence, given the answer and
nothing
  else (Agrawal and Srikant 2000); of a category, how many values are needed to hold the true one;
* local epsilon: the logarithm of the channel's odds, which are enumerated exactly. Uniform and Gaussian noise
  have no finite one: some answers are impossible from some true values;
* mutual information: how many bits an answer tells about the true value on average, for a stated
distribution of
  true values, and the share of privacy that this loses, 1 - 2 ** -bits (Agrawal and Aggarwal 2001).

The first is about somebody who knows nothing else. Only epsilon holds against everybody.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np

from privet.collect.channels import HALF, AsIs, Response, Unary, telling
from privet.collect.column import Column
from privet.collect.fixedpoint import log_above
from privet.collect.joint import information
from privet.collect.matrix import Floats, binned
from privet.collect.numerals import exact, written
from privet.collect.plan import Plan

CONFIDENCES = (Fraction(1, 2), Fraction(19, 20), Fraction(999, 1000))
FINEST = 1_000  # bins over which mutual information of numbers is summed


@dataclass(frozen=True, slots=True)
class Hidden:
    """The true answer is within so much, or one of so many values, with a confidence."""

    confidence: Fraction
    width: float  # of a number, in its own unit; of a category, how many values
    relative: float  # to the whole domain


def intervals(column: Column, confidences: tuple[Fraction, ...] = CONFIDENCES) -> list[Hidden]:
    """Given the answer and no other knowledge; of a category, given the answer that tells most."""
    found = []
    for confidence in confidences:
        if column.numeric:
            width = interval(column, confidence)
            relative = width / float(column.width)
        else:
            width = values_needed(column, confidence)
            relative = width / len(column.values)
        found.append(Hidden(confidence, width, relative))
    return found


def interval(column: Column, confidence: Fraction) -> float:
    """Uniform noise: conf * 2a; Gaussian: 2 z sigma; Laplace: 2 scale ln(1 / (1 - conf))."""
    share = float(confidence)
    match column.mechanism:
        case "uniform":
            return share * 2 * float(exact(column.said["half_width"]))
        case "gaussian":
            return 2 * NormalDist().inv_cdf((1 + share) / 2) * float(exact(column.said["sigma"]))
        case "laplace":
            scale = float(column.width) / float(column.epsilon or 1)
            return 2 * scale * math.log(1 / (1 - share))
    return 0.0


def values_needed(column: Column, confidence: Fraction) -> int:
    """How many of the likeliest values hold the true one, given the answer for which these are fewest.

    An answer favours one value, or of a unary encoding as many as it has bits, by the channel's odds.
    """
    odds, size = column.channel.odds, len(column.values)
    if odds is None:
        return 1
    several = range(1, size + 1) if isinstance(column.channel, Unary) else (1,)
    if isinstance(column.channel, Response) and column.channel.keep < column.channel.other:
        several = (size - 1,)  # an answer that is likelier to be false favours all the others
    return min(_held(odds, favoured, size, confidence) for favoured in several)


def _held(odds: Fraction, favoured: int, size: int, confidence: Fraction) -> int:
    wanted = confidence * (favoured * odds + size - favoured)
    rest = wanted - favoured * odds
    return math.ceil(wanted / odds) if rest <= 0 else favoured + math.ceil(rest)


@dataclass(frozen=True, slots=True)
class Told:
    """Bits that an answer tells on average, of those that there are to tell."""

    bits: float
    of: float

    @property
    def lost(self) -> float:
        """The share of privacy lost, as Agrawal and Aggarwal measure it."""
        return 1 - 2**-self.bits


def told(column: Column, shares: Floats | None = None) -> Told | None:
    """Mutual information of true value and answer; evenly spread true values unless a distribution is given.

    Of a unary encoding only the even one is known in closed form; None for another.
    """
    if isinstance(column.channel, Unary):
        return None if shares is not None else _unary(column.channel)
    if isinstance(column.channel, Response):
        return _response(column.channel, shares)
    bins = len(shares) if shares is not None else min(FINEST, column.channel.inputs)
    shaped = binned(column, bins)
    prior = np.full(shaped.bins, 1 / shaped.bins) if shares is None else shares
    entropy = _entropy(prior)
    if isinstance(column.channel, AsIs):
        return Told(entropy, entropy)
    return Told(min(information((shaped.matrix * prior).T), entropy), entropy)


def _entropy(shares: Floats) -> float:
    there = shares > 0
    return float(-(shares[there] * np.log2(shares[there])).sum())


def _response(channel: Response, shares: Floats | None) -> Told:
    """The entropy of answers, less what the mechanism alone makes of it."""
    size = channel.inputs
    prior = np.full(size, 1 / size) if shares is None else shares
    zero, gap = telling(channel)
    row = np.full(size, zero)
    row[0] += gap
    bits = _entropy(zero + gap * prior) - _entropy(row)
    return Told(min(max(bits, 0.0), _entropy(prior)), _entropy(prior))


def _unary(channel: Unary) -> Told:
    """Answers with as many bits set are alike but for whether the true one is among them."""
    size, one, zero = channel.inputs, channel.one / HALF, channel.zero / HALF
    odds = float(channel.odds)
    bits = 0.0
    for own, chance in ((1, one), (0, 1 - one)):
        for others in range(size):
            log = (
                math.lgamma(size) - math.lgamma(others + 1) - math.lgamma(size - others)
                + others * math.log(zero) + (size - 1 - others) * math.log1p(-zero)
            )  # fmt: skip
            among = (own + others) * odds + size - own - others
            bits += chance * math.exp(log) * math.log2((odds if own else 1.0) * size / among)
    return Told(max(bits, 0.0), math.log2(size))


def stated(column: Column) -> dict[str, Any]:
    """All of it about one column, as JSON can hold it."""
    channel = column.channel
    odds, evenly = channel.odds, told(column)
    found: dict[str, Any] = {
        "column": column.name,
        "type": "number" if column.numeric else "category",
        "values": channel.inputs,
        "mechanism": column.mechanism,
        **column.said,
        "epsilon": None if odds is None else written(column.epsilon or Fraction(0)),
        "odds": None if odds is None else str(odds),
        "epsilon_enumerated": None if odds is None else written(log_above(odds)),
    }
    if column.numeric:
        found["range"] = written(column.width)
    found["intervals"] = [
        {"confidence": written(one.confidence), "width": one.width, "relative": one.relative}
        for one in intervals(column)
    ]
    if evenly is not None:
        found["information"] = {"bits": evenly.bits, "of": evenly.of, "lost": evenly.lost, "prior": "even"}
    return found


def total(plan: Plan) -> dict[str, Any]:
    """What one person's answers to all questions give away together."""
    secret = [column for column in plan.columns.values() if column.mechanism != "as-is"]
    without = [column.name for column in secret if column.epsilon is None]
    known = sum((column.epsilon for column in secret if column.epsilon is not None), Fraction(0))
    return {
        "epsilon": None if without else written(known),
        "without_epsilon": without,
        "as_is": [column.name for column in plan.columns.values() if column.mechanism == "as-is"],
        "budget": None if plan.budget is None else written(plan.budget),
    }
