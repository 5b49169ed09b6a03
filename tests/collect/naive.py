"""The definitions once more, naively: channels as tables of fractions, mutual information, EM by loops."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from typing import Any

from privet.collect.channels import HALF, WORD, Additive, AsIs, Channel, Response, Unary
from privet.collect.plan import Plan

MECHANISMS = (
    *("laplace", "laplace-scale", "gaussian", "uniform", "rr", "rr-truth", "krr", "krr-truth"),
    *("unary", "optimised-unary"),
)


def table(channel: Channel) -> list[dict[Any, Fraction]]:
    """For each input, the exact probability of every output that it can give."""
    return [_row(channel, code) for code in range(channel.inputs)]


def _row(channel: Channel, code: int) -> dict[Any, Fraction]:
    row: dict[Any, Fraction] = {}
    match channel:
        case AsIs():
            row[code] = Fraction(1)
        case Response():
            for output in range(channel.inputs):
                row[output] = Fraction(channel.keep if output == code else channel.other, WORD)
        case Unary():
            for bits in product((0, 1), repeat=channel.inputs):
                chance = Fraction(1)
                for at, bit in enumerate(bits):
                    one = Fraction(channel.one if at == code else channel.zero, HALF)
                    chance *= one if bit else 1 - one
                row[sum(bit << at for at, bit in enumerate(bits))] = chance
        case Additive():
            ends = [0, *channel.cuts, WORD]
            for at in range(len(ends) - 1):
                output = code + at - channel.reach
                output = (
                    min(max(output, 0), channel.inputs - 1) if channel.clamped else output + channel.reach
                )
                row[output] = row.get(output, Fraction(0)) + Fraction(ends[at + 1] - ends[at], WORD)
    return {output: chance for output, chance in row.items() if chance}


def odds(channel: Channel) -> Fraction | None:
    """The largest ratio between two rows, over everything; None if something is possible from one only."""
    rows = table(channel)
    every = {output for row in rows for output in row}
    found = Fraction(1)
    for output in every:
        chances = [row.get(output, Fraction(0)) for row in rows]
        if min(chances) == 0:
            return None
        found = max(found, max(chances) / min(chances))
    return found


def exp_bounds(power: Fraction, digits: int = 60) -> tuple[Fraction, Fraction]:
    """exp(power) between two fractions, by its series and nothing else."""
    times = max(1, math.ceil(power * 4))
    small = power / times
    low, term, step = Fraction(0), Fraction(1), 0
    while term > Fraction(1, 10**digits) or step < 3:
        low += term
        step += 1
        term = term * small / step
    high = low + 2 * term  # what is left out falls by half or faster
    return low**times, high**times


def information(channel: Channel, prior: list[float]) -> float:
    """Mutual information in bits, by its definition."""
    rows = table(channel)
    whole: dict[Any, float] = {}
    for share, row in zip(prior, rows, strict=True):
        for output, chance in row.items():
            whole[output] = whole.get(output, 0.0) + share * float(chance)
    return sum(
        share * float(chance) * math.log2(float(chance) / whole[output])
        for share, row in zip(prior, rows, strict=True)
        for output, chance in row.items()
        if share > 0
    )


def random_column(chance: random.Random, mechanism: str, *, largest: int = 9) -> dict[str, Any]:
    """A small column of a plan with this mechanism."""
    epsilon = f"{chance.randint(1, 400)}/100"
    if mechanism in {"laplace", "laplace-scale", "gaussian", "uniform"}:
        step = Fraction(chance.choice(["1", "0.5", "2", "0.25"]))
        low = chance.randint(-20, 20) * step
        steps = chance.randint(1, largest)
        width = steps * step
        said: dict[str, Any] = {
            "type": "number",
            "low": str(low),
            "high": str(low + width),
            "step": str(step),
        }
        for key in ("low", "high", "step"):
            said[key] = said[key] if "/" not in said[key] else str(float(Fraction(said[key])))
        if mechanism == "laplace":
            return said | {"mechanism": "laplace", "epsilon": epsilon}
        if mechanism == "laplace-scale":
            return said | {
                "mechanism": "laplace",
                "scale": str(width * Fraction(chance.randint(10, 100), 100)),
            }
        if mechanism == "gaussian":
            sigma = max(step / 4, width * Fraction(chance.randint(5, 100), 100))
            return said | {"mechanism": "gaussian", "sigma": str(sigma)}
        return said | {"mechanism": "uniform", "half_width": str(chance.randint(1, steps) * step)}
    size = 2 if mechanism.startswith("rr") else chance.randint(2, largest)
    said = {"type": "category", "values": [f"v{at}" for at in range(size)]}
    if mechanism.endswith("truth"):
        truth = Fraction(chance.randint(1, 99), 100)
        truth += Fraction(1, 1000) if truth == Fraction(1, size) else 0
        name = "randomised-response" if mechanism.startswith("rr") else "k-randomised-response"
        return said | {"mechanism": name, "truth": str(truth)}
    names = {"rr": "randomised-response", "krr": "k-randomised-response"}
    return said | {"mechanism": names.get(mechanism, mechanism), "epsilon": epsilon}


def plan_of(**columns: Mapping[str, Any]) -> Plan:
    return Plan.from_document({"collect": 1, "columns": columns})


def em(matrix: list[list[float]], counts: list[float], steps: int) -> list[float]:
    """The iteration as the source prints it, observation by observation."""
    size = len(matrix[0])
    shares = [1 / size] * size
    for _ in range(steps):
        fresh, used = [0.0] * size, 0.0
        for row, count in zip(matrix, counts, strict=True):
            weights = [chance * share for chance, share in zip(row, shares, strict=True)]
            total = sum(weights)
            if total > 0 and count:
                used += count
                for at, one in enumerate(weights):
                    fresh[at] += count * one / total
        shares = [one / used for one in fresh]
    return shares


def limits(channel: Unary, codes: list[int]) -> list[int]:
    """What the word of each bit of each answer is compared with."""
    return [channel.one if at == code else channel.zero for code in codes for at in range(channel.inputs)]


def together(words: list[int], against: list[int]) -> bytes:
    """The random bytes by which many answers draw these words: upper bytes, then what these leave open."""
    open_ = [word for word, limit in zip(words, against, strict=True) if word >> 24 == limit >> 24]
    return bytes(word >> 24 for word in words) + b"".join(
        (word & 0xFFFFFF).to_bytes(3, "big") for word in open_
    )
