"""How many people are unique in a population of which a table is a random sample: estimates, no promises.

A record that is alone in a sample may have doubles among those who were not drawn. Three estimators, and the
rule of Dankar, El Emam, Neisa and Roffey, "Estimating the re-identification risk of clinical data sets",
BMC Med Inform Decis Mak 2012, for which to believe. The third, SNB, is in snb.py.

*Zayatz* 1991: the chance that a sample unique is a population unique, with the population's class sizes
taken to lie as the sample's. *Pitman* (Hoshino, "Applying Pitman's sampling formula to microdata disclosure
risk assessment", J. Official Statistics 2001): a two-parameter model of how classes grow, fitted to the
sample by maximum likelihood.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import exp, expm1, inf, lgamma, log, log1p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.models.snb import snb

Ints = NDArray[np.int64]
FEW = Fraction(1, 10)  # up to this fraction the rule believes Pitman, above it the smaller of the others
GOLDEN = (5**0.5 - 1) / 2
STEPS = 60  # of each search: far below what an estimate is worth


def uniqueness(sizes: Ints, fraction: Fraction) -> dict[str, Any]:
    """Estimates of how many people are unique in the population, for a sample of this fraction."""
    records = int(sizes.sum())
    people = max(records, round(records / fraction))
    found = {
        "zayatz": zayatz(sizes, fraction),
        "pitman": pitman(sizes, fraction),
        "snb": snb(sizes, fraction),
    }
    return {
        "fraction": str(fraction),
        "people": people,
        "estimates": {
            name: None if number is None else {"uniques": number, "share": number / people}
            for name, number in found.items()
        },
        "chosen": believed(found, fraction),
    }


def believed(found: Mapping[str, float | None], fraction: Fraction) -> str:
    """Which estimate to go by; Zayatz's is always there."""
    if fraction <= FEW:
        return "zayatz" if found["pitman"] is None else "pitman"
    lowest, other = found["zayatz"], found["snb"]
    return "snb" if other is not None and lowest is not None and other < lowest else "zayatz"


def zayatz(sizes: Ints, fraction: Fraction) -> float:
    """Population uniques: sample uniques, times the chance that one is unique, over the fraction."""
    records = int(sizes.sum())
    people = max(records, round(records / fraction))
    size, times = np.unique(sizes, return_counts=True)
    alone = int(times[size == 1].sum())
    if not alone:
        return 0.0
    # Of a population class so large, the chance that the sample holds exactly one.
    drawn = [exp(_log_one_of(int(j), people, records)) for j in size.tolist()]
    return float(alone * (alone * drawn[0] / float(times @ np.array(drawn))) / fraction)


def _log_one_of(j: int, people: int, records: int) -> float:
    """The logarithm of j C(people - j, records - 1) / C(people, records)."""
    if records - 1 > people - j:
        return -inf
    return log(j) + _log_choose(people - j, records - 1) - _log_choose(people, records)


def _log_choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def pitman(sizes: Ints, fraction: Fraction) -> float | None:
    """Population uniques that Pitman's model expects; None where no parameters fit best.

    That is so where every record is alone, or where all are in one class.
    """
    if not (sizes == 1).any():
        return 0.0
    if len(sizes) in {1, int(sizes.sum())}:
        return None
    people = max(int(sizes.sum()), round(int(sizes.sum()) / fraction))
    return expected_uniques(people, *fitted(sizes))


def expected_uniques(people: int, theta: float, alpha: float) -> float:
    """How many of so many people are alone: each stays alone while one after the other joins.

    >>> round(expected_uniques(100, 5.0, 0.0), 6)  # Ewens: N theta / (theta + N - 1)
    4.807692
    """
    return people * exp(
        lgamma(theta + alpha + people - 1)
        - lgamma(theta + alpha)
        - lgamma(theta + people)
        + lgamma(theta + 1)
    )


def fitted(sizes: Ints) -> tuple[float, float]:
    """The theta and alpha under which these class sizes are likeliest."""
    size, times = np.unique(sizes, return_counts=True)
    classes, records = len(sizes), int(sizes.sum())

    def of_sizes(alpha: float) -> float:
        each = [lgamma(j - alpha) - lgamma(1 - alpha) for j in size.tolist()]
        return float(times @ np.array(each))

    def best_theta(alpha: float) -> tuple[float, float]:
        inner = of_sizes(alpha)

        def at(place: float) -> float:
            theta = exp(place) - alpha  # above -alpha
            return (
                (classes - 1) * log(alpha)
                + lgamma(theta / alpha + classes)
                - lgamma(theta / alpha + 1)
                - lgamma(theta + records)
                + lgamma(theta + 1)
                + inner
            )

        place, reached = _highest(at, log(1e-6), log(1e3 * records))
        return exp(place) - alpha, reached

    # Many alphas lie close to an end: the search walks on a scale that is fine there.
    place, _ = _highest(lambda x: best_theta(_between(x))[1], -14.0, 14.0)
    alpha = _between(place)
    return best_theta(alpha)[0], alpha


def _between(place: float) -> float:
    """Any number as one between 0 and 1."""
    return exp(-log1p(exp(-place))) if place > -30 else -expm1(-exp(place))


def _highest(of: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Where a function with one peak is highest: golden section."""
    left, right = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_left, at_right = of(left), of(right)
    for _ in range(STEPS):
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + GOLDEN * (high - low)
            at_right = of(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - GOLDEN * (high - low)
            at_left = of(left)
    return (left, at_left) if at_left > at_right else (right, at_right)
