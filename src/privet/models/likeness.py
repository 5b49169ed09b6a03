"""beta-likeness: no value is much commoner in a class than in the whole table.

Cao and Karras, "Publishing microdata with a robust privacy guarantee", PVLDB 2012.

Only gains count, since what becomes unlikelier is not a threat to the person. The bound is relative, so that
rare values, which t-closeness may let grow many times over, are protected like common ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privet.core import Tally, Verdict
from privet.declared import settle
from privet.models.classcheck import ClassCheck, Reading
from privet.models.classes import Histogram, Mask, attributes, without_bound
from privet.models.exact import ULP, compare, exact_number, largest, powers, sign, whole


def gains(histogram: Histogram) -> tuple[NDArray[Any], NDArray[Any]]:
    """For each entry (p - q) / q as two whole numbers; negative where the value became rarer."""
    n = histogram.records
    there = whole(histogram.size, n * n)[histogram.owner] * histogram.table[histogram.value]
    return whole(histogram.count, n * n) * n - there, there


def largest_gain(top: NDArray[Any], bottom: NDArray[Any]) -> Fraction:
    return max(largest(top, bottom) or Fraction(0), Fraction(0))


@dataclass(frozen=True, slots=True)
class BetaLikeness(ClassCheck):
    """In every class each value's share p is at most (1 + `beta`) times its share q in the table.

    Stops: skewness, for rare values too: nobody in a class is shown to be more than 1 + beta times as
    likely as anybody else to have a value.
    Does not stop: learning that a person cannot have a value; finding a person's record. For a common value
    a gain of beta may mean certainty; see enhanced-beta-likeness.

    >>> BetaLikeness(beta=Fraction(1, 2), sensitive=("disease",))
    BetaLikeness(beta=Fraction(1, 2), sensitive=('disease',))
    """

    beta: Fraction
    sensitive: tuple[str, ...]

    name: ClassVar[str] = "beta-likeness"
    persons: ClassVar[bool] = True
    worst: ClassVar[Mapping[str, Callable[[Sequence[Any]], Any]]] = {"beta": max}

    def __post_init__(self) -> None:
        settle(self)
        exact_number(f"{self.name}: beta", self.beta, 0)
        object.__setattr__(self, "sensitive", attributes(self.name, self.sensitive))

    def read(self, histogram: Histogram) -> Reading:
        top, bottom = gains(histogram)
        bad = compare(top, bottom, self.beta) > 0
        return Reading(histogram.any(bad), {"beta": largest_gain(top, bottom)})

    def loosened(self, found: Verdict, tally: Tally) -> Self:  # noqa: ARG002 - the verdict says it all
        return replace(self, beta=max(self.beta, Fraction(found.achieved["beta"])))


@dataclass(frozen=True, slots=True)
class EnhancedBetaLikeness(ClassCheck):
    """In every class each value gains at most `beta`, and at most -ln q: (p - q) / q <= min(beta, -ln q).

    The second bound is the tighter one for common values, which could otherwise become certain. Reported
    are the largest gain as `beta`, and as `used` the largest part of -ln q that a gain takes up, rounded up
    to six decimals: above 1 the promise is broken whatever beta is. Comparisons are exact.

    Stops: skewness, for rare and for common values.
    Does not stop: learning that a person cannot have a value; finding a person's record.
    """

    beta: Fraction | None  # None: only what nearest() gives where no beta would do
    sensitive: tuple[str, ...]

    name: ClassVar[str] = "enhanced-beta-likeness"
    persons: ClassVar[bool] = True
    worst: ClassVar[Mapping[str, Callable[[Sequence[Any]], Any]]] = {"beta": max, "used": max}

    def __post_init__(self) -> None:
        settle(self)
        exact_number(f"{self.name}: beta", self.beta, 0)
        object.__setattr__(self, "sensitive", attributes(self.name, self.sensitive))

    def read(self, histogram: Histogram) -> Reading:
        top, bottom = gains(histogram)
        over, used = _against_logarithm(histogram, top, bottom)
        reached = {"beta": largest_gain(top, bottom), "used": used}
        if self.beta is None:
            return Reading(np.zeros(len(histogram.size), dtype=bool), reached)
        return Reading(histogram.any((compare(top, bottom, self.beta) > 0) | over), reached)

    def loosened(self, found: Verdict, tally: Tally) -> Self:  # noqa: ARG002 - the verdict says it all
        """A larger beta, or none at all where a gain is above -ln q: no beta allows that."""
        if found.holds:
            return self
        if found.achieved["used"] > 1:
            return without_bound(self, "beta")
        return replace(self, beta=Fraction(found.achieved["beta"]))


def _against_logarithm(
    histogram: Histogram, top: NDArray[Any], bottom: NDArray[Any]
) -> tuple[Mask, Fraction]:
    """Which entries gain more than -ln q, and the largest part of it that a gain takes up."""
    n = histogram.records
    over = np.zeros(len(top), dtype=bool)
    gain = np.flatnonzero(top > 0)  # a value that everybody has cannot gain, so no logarithm is zero
    if not len(gain):
        return over, Fraction(0)
    there = histogram.table[histogram.value[gain]]
    limit = np.log(n / there)
    part = top[gain].astype(np.float64) / bottom[gain].astype(np.float64) / limit
    over[gain] = part > 1

    def beyond(at: int, factor: Fraction = Fraction(1)) -> bool:
        """Is the gain above `factor` times -ln q?"""
        share = Fraction(int(top[gain[at]]), int(bottom[gain[at]])) / factor
        return sign(powers((n, 1), (int(there[at]), -1)), share) < 0

    for at in np.flatnonzero(np.abs(part - 1) <= 1e-9).tolist():
        over[gain[at]] = beyond(at)
    used = Fraction(0)
    # Entries with the same numbers are the same gain: one of each is enough.
    near = np.flatnonzero(part >= part.max() * (1 - 1e-9)).tolist()
    for at in {(int(top[gain[at]]), int(bottom[gain[at]]), int(there[at])): at for at in near}.values():
        found = ceil(Fraction(float(part[at])) / ULP) * ULP
        while beyond(at, found):
            found += ULP
        while found > ULP and not beyond(at, found - ULP):
            found -= ULP
        used = max(used, found)
    # What stays below the bound by a hair would still be rounded up to it at most: 1 is on the grid.
    return over, used
