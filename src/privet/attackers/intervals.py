"""How sure a success rate is: Clopper and Pearson's interval, which is never too narrow.

Clopper and Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
Biometrika 1934. The limits are quantiles of beta distributions, found by bisection on the incomplete beta
function, so that no library is needed.
"""

from __future__ import annotations

from math import exp, lgamma, log, log1p

USUAL = 0.05  # an interval that is shown misses the truth once in twenty
ALARM = 1e-6  # a promise is called broken by chance once in a million attacks


def interval(succeeded: int, tried: int, miss: float = USUAL) -> tuple[float, float]:
    """Between which rates the true one lies, but for a share `miss` of all cases.

    >>> [round(end, 6) for end in interval(0, 10)]
    [0.0, 0.308497]
    """
    if not 0 <= succeeded <= tried or tried < 1:
        raise ValueError(f"{succeeded} of {tried}")
    low = 0.0 if succeeded == 0 else _quantile(miss / 2, succeeded, tried - succeeded + 1)
    high = 1.0 if succeeded == tried else _quantile(1 - miss / 2, succeeded + 1, tried - succeeded)
    return low, high


def at_least(succeeded: int, tried: int, miss: float = ALARM) -> float:
    """The rate is at least this, but for a share `miss` of all cases."""
    return 0.0 if succeeded == 0 else _quantile(miss, succeeded, tried - succeeded + 1)


def at_most(succeeded: int, tried: int, miss: float = ALARM) -> float:
    """The rate is at most this, but for a share `miss` of all cases."""
    return 1.0 if succeeded == tried else _quantile(1 - miss, succeeded + 1, tried - succeeded)


def _quantile(level: float, a: float, b: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if incomplete_beta(middle, a, b) < level:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def incomplete_beta(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Lentz's method)."""
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # where the fraction of the mirrored one converges faster
        return 1 - incomplete_beta(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    found = d
    for m in range(1, 10_000):
        for step in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 + step * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + step / c
            c = c if abs(c) > tiny else tiny
            found *= d * c
        if abs(d * c - 1) < 1e-15:
            break
    return front * found
