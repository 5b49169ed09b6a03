"""Is a sample plausible? A test with a false-alarm rate that is proved, not approximated.

For each outcome, Chernoff's bound says that a frequency f of n draws with the probability p is as far off as
it is with a probability of at most 2 exp(-n KL(f, p)). The rate is shared out among the outcomes, so a
correct sampler fails `plausible` at most once in 1 / RATE runs, whatever n is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping

RATE = 1e-6  # false alarms per call


def divergence(f: float, p: float) -> float:
    """Kullback and Leibler's, of two coins."""

    def part(a: float, b: float) -> float:
        return 0.0 if a == 0 else math.inf if b == 0 else a * math.log(a / b)

    return part(f, p) + part(1 - f, 1 - p)


def implausible(
    sample: Iterable[Hashable], expected: Mapping[Hashable, float], rate: float = RATE
) -> list[Hashable]:
    """The outcomes whose frequencies are too far off; 'rest' is everything that is not expected by name."""
    counts = Counter(drawn if drawn in expected else "rest" for drawn in sample)
    n = counts.total()
    law = {**expected, "rest": max(0.0, 1 - math.fsum(expected.values()))}
    if law["rest"] < 1e-12:
        law["rest"] = 1e-12 if counts["rest"] == 0 else 0.0
    allowed = math.log(2 * len(law) / rate)
    return [what for what, p in law.items() if n * divergence(counts[what] / n, p) > allowed]


def laplace_law(scale: float, width: int) -> dict[Hashable, float]:
    """Discrete Laplace between -width and width, from the formula."""
    q = math.exp(-1 / scale)
    return {z: (1 - q) / (1 + q) * q ** abs(z) for z in range(-width, width + 1)}
