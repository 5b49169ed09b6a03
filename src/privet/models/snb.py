"""The slide negative binomial estimator of population uniques.

Chen and Keller-McNulty, "Estimation of identification disclosure risk in microdata", J. Official Statistics
1998. A class of the population has one person and more; how many more is negative binomial with parameters
alpha and beta, so K classes have K beta**alpha uniques. A sample of a fraction pi keeps the first person with
chance pi and thins the others to a negative binomial with b = beta / (1 - (1 - pi) (1 - beta)). The two
parameters are those for which the sample has as many classes of one and of two as it has. How many classes
the population has, K, is Shlosser's estimate in the form of Haas and Stokes, "Estimating the number of
classes in a finite population", JASA 1998.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import log, log1p, sqrt

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
STEPS = 100  # halvings: to the last digit
LOW, HIGH = -40.0, 40.0  # where log(b / (1 - b)) is looked for
GRID = 400  # places between them


def snb(sizes: Ints, fraction: Fraction) -> float | None:
    """Population uniques by this model; None where no parameters fit the classes of one and of two."""
    ones, twos = int((sizes == 1).sum()), int((sizes == 2).sum())
    if not ones:
        return 0.0
    classes = population_classes(sizes, fraction)
    found = None if classes is None or not twos else fitted(ones, twos, classes, float(fraction))
    if found is None or classes is None:
        return None
    alpha, beta = found
    return float(classes * np.exp(alpha * log(beta)))


def population_classes(sizes: Ints, fraction: Fraction) -> float | None:
    """How many classes the population has; None where the sample does not tell."""
    if fraction == 1:
        return float(len(sizes))
    pi = float(fraction)
    size, times = np.unique(sizes, return_counts=True)
    missed = np.exp(size * log1p(-pi)) * times  # by classes so large, how many samples would not see them
    seen = size * pi * np.exp((size - 1) * log1p(-pi)) * times
    twice = size * pi**2 * np.exp((size - 1) * log1p(-(pi**2))) * times
    once = np.expm1(size * log1p(pi)) * missed
    if seen.sum() == 0 or once.sum() == 0:
        return None
    ones = int(times[size == 1].sum())
    return float(len(sizes) + ones * twice.sum() / once.sum() * (missed.sum() / seen.sum()) ** 2)


def fitted(ones: int, twos: int, classes: float, pi: float) -> tuple[float, float] | None:
    """The alpha and beta that expect so many classes of one and of two among so many classes."""
    wanted = log(ones / classes)

    def mean(rest: float) -> float:
        """What alpha (1 - b) is where classes of two and of one are in the right ratio; rest is 1 - b."""
        ratio = twos / ones
        square, line = (1 - pi) / 2, pi + (1 - pi) * rest / 2 - ratio * (1 - pi)
        if square == 0:
            return ratio
        # The positive root, written so that nothing cancels.
        root = sqrt(line * line + 4 * square * ratio * pi)
        return (root - line) / (2 * square) if line < 0 else 2 * ratio * pi / (root + line)

    def surplus(place: float) -> float:
        """The logarithm of how many more classes of one than wanted."""
        rest = 1 / (1 + np.exp(place))
        logarithm = -log1p(np.exp(-place))  # of b
        some = mean(rest)
        return float(some / rest * logarithm + log(pi + (1 - pi) * some)) - wanted

    places = np.linspace(LOW, HIGH, GRID + 1).tolist()
    for low, high in pairwise(places):
        if surplus(low) < 0 <= surplus(high):
            break
    else:
        return None
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if surplus(middle) < 0 else (low, middle)
    rest = 1 / (1 + np.exp(high))
    b = 1 - rest
    return mean(rest) / rest, b * pi / (1 - b * (1 - pi))
