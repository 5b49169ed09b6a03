"""delta-disclosure: no class makes a value much likelier, or much unlikelier, than the whole table does.

Brickell and Shmatikov, "The cost of privacy: destruction of data-mining utility in anonymized data
publishing", KDD 2008.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from privet.core import Tally, Verdict
from privet.declared import settle
from privet.models.classcheck import ClassCheck, Number, Reading
from privet.models.classes import Histogram, attributes, without_bound
from privet.models.exact import above, exact_number, largest, powers, roughly, sign, smallest, whole


@dataclass(frozen=True, slots=True)
class DeltaDisclosure(ClassCheck):
    """In every class and for every value of the table, |ln(p / q)| < `delta`, where p is the value's share
    in the class and q its share in the table.

    The logarithm is the natural one. A value of the table that a class does not have has the logarithm of
    zero, and breaks the promise whatever delta is: `absent` says how many classes lack one. What is
    reported as delta is the largest logarithm of the others, rounded up to six decimals; the comparison
    is exact.

    Stops: learning much from a class, in either direction: neither that a person is likely to have a value,
    nor that they cannot have it.
    Does not stop: finding a person's record. Small classes cannot have every value, so it costs very much.
    """

    delta: Fraction | None  # None: only what nearest() gives where no delta would do
    sensitive: tuple[str, ...]

    name: ClassVar[str] = "delta-disclosure"
    persons: ClassVar[bool] = True
    worst: ClassVar[Mapping[str, Callable[[Sequence[Any]], Any]]] = {"delta": max, "absent": max}

    def __post_init__(self) -> None:
        settle(self)
        exact_number(f"{self.name}: delta", self.delta, 0, above=True)
        object.__setattr__(self, "sensitive", attributes(self.name, self.sensitive))

    def read(self, histogram: Histogram) -> Reading:
        n = histogram.records
        top = whole(histogram.count, n * n) * n
        bottom = whole(histogram.size, n * n)[histogram.owner] * histogram.table[histogram.value]
        size = np.abs(np.log(top.astype(np.float64) / bottom.astype(np.float64)))
        bad = np.zeros(len(top), dtype=bool)
        if self.delta is not None:
            delta = roughly(self.delta)
            bad = size >= delta
            close = np.abs(size - delta) <= 1e-9 * (1 + delta)
            for at in np.flatnonzero(close).tolist():
                bad[at] = not _allows(self.delta, Fraction(int(top[at]), int(bottom[at])))
        lacking = histogram.values < np.count_nonzero(histogram.table)
        reached: dict[str, Number] = {"delta": Fraction(0), "absent": int(lacking.sum())}
        if len(top):
            one = Fraction(1)
            farthest = max(largest(top, bottom) or one, one / (smallest(top, bottom) or one))
            shown = above(powers((farthest.numerator, 1), (farthest.denominator, -1)))
            # A value just below delta would be rounded to it, or above.
            reached["delta"] = shown if bad.any() or self.delta is None else min(shown, self.delta)
        return Reading((histogram.any(bad) | lacking) & (self.delta is not None), reached)

    def loosened(self, found: Verdict, tally: Tally) -> Self:  # noqa: ARG002 - the verdict says it all
        """A larger delta, or none at all where a class lacks a value: no delta allows that."""
        if found.holds:
            return self
        if found.achieved["absent"]:
            return without_bound(self, "delta")
        # A logarithm is never a fraction, so what is rounded up is above it.
        return replace(self, delta=Fraction(found.achieved["delta"]))


def _allows(delta: Fraction, ratio: Fraction) -> bool:
    product = powers((ratio.numerator, 1), (ratio.denominator, -1))
    return sign(product, delta) < 0 < sign(product, -delta)
