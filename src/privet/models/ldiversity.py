"""l-diversity: the sensitive values of every class are well represented.

Machanavajjhala, Gehrke, Kifer and Venkitasubramaniam, "l-diversity: privacy beyond k-anonymity", ICDE 2006.

Three readings of "well represented". All are kept by generalising: the distinct values of a union are no
fewer, its entropy is no smaller than the smaller of the two, and its rarer values have no smaller share.
Only the first is kept when any records whatever join a class, which matters once records may be dropped.

With several sensitive attributes each is looked at by itself. Where persons are counted who may have several
values, see `Histogram.distinct` and `Histogram.one_each`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, log
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from privet.core import Tally, Verdict
from privet.declared import settle
from privet.models.classcheck import ClassCheck, Number, Reading
from privet.models.classes import Histogram, Mask, attributes, histograms
from privet.models.exact import ULP, at_least_one, compare, exact_number, largest, powers, root, sign


@dataclass(frozen=True, slots=True)
class DistinctLDiversity(ClassCheck):
    """Every class has at least `l` different values of each sensitive attribute.

    Stops: learning a value from a class in which everybody has the same.
    Does not stop: guessing the commonest value, which may be that of nearly all; see entropy-l-diversity.

    >>> DistinctLDiversity(l=3, sensitive=("disease",))
    DistinctLDiversity(l=3, sensitive=('disease',))
    """

    l: int
    sensitive: tuple[str, ...]

    name: ClassVar[str] = "distinct-l-diversity"
    persons: ClassVar[bool] = True
    monotone_with_suppression: ClassVar[bool] = True
    worst: ClassVar[Mapping[str, Callable[[Sequence[Any]], Any]]] = {"l": min}

    def __post_init__(self) -> None:
        settle(self)
        at_least_one(self.name, l=self.l)
        object.__setattr__(self, "sensitive", attributes(self.name, self.sensitive))

    def read(self, histogram: Histogram) -> Reading:
        found = histogram.distinct
        return Reading(found < self.l, {"l": int(found.min(initial=2**62)) if len(found) else self.l})

    def loosened(self, found: Verdict, tally: Tally) -> Self:  # noqa: ARG002 - the verdict says it all
        return replace(self, l=min(self.l, int(found.achieved["l"])))


@dataclass(frozen=True, slots=True)
class EntropyLDiversity(ClassCheck):
    """Every class has at least the entropy of `l` equally common values: -sum p ln p >= ln l.

    What is reported is the effective l of the worst class, the exponential of its entropy, rounded down to
    six decimals; whether the promise holds is decided exactly, on whole numbers.

    Stops: learning a value from a class in which everybody, or nearly everybody, has the same.
    Does not stop: skewness: a value that is rare elsewhere may be common in a class; see t-closeness.

    >>> EntropyLDiversity(l=2, sensitive=("disease",))
    EntropyLDiversity(l=2, sensitive=('disease',))
    """

    l: int
    sensitive: tuple[str, ...]

    name: ClassVar[str] = "entropy-l-diversity"
    persons: ClassVar[bool] = True
    worst: ClassVar[Mapping[str, Callable[[Sequence[Any]], Any]]] = {"l": min}

    def __post_init__(self) -> None:
        settle(self)
        at_least_one(self.name, l=self.l)
        object.__setattr__(self, "sensitive", attributes(self.name, self.sensitive))

    def read(self, histogram: Histogram) -> Reading:
        if not len(histogram.size):
            return Reading(np.zeros(0, dtype=bool), {"l": self.l})
        histogram = histogram.one_each()
        entropy = entropies(histogram)
        asked = log(self.l)
        # Adding m logarithms of rounded numbers is off by less than (m + 9) units in the 15th place.
        slack = 1e-9 + 1e-15 * len(histogram.count)
        bad = entropy < asked
        close = np.abs(entropy - asked) <= slack * (1 + np.log(histogram.size) + asked)
        for counts, at in _alike(histogram, close).items():
            bad[at] = not _reaches(counts, self.l)
        near = entropy <= entropy.min() + slack * (1 + np.log(histogram.size))
        reached = min(effective_l(counts) for counts in _alike(histogram, near))
        return Reading(bad, {"l": reached})

    def loosened(self, found: Verdict, tally: Tally) -> Self:  # noqa: ARG002 - the verdict says it all
        return replace(self, l=min(self.l, floor(found.achieved["l"])))


def entropies(histogram: Histogram) -> NDArray[np.float64]:
    """The entropy of each class in nats, near enough to know where a closer look is needed."""
    count, size = histogram.count.astype(np.float64), histogram.size.astype(np.float64)
    return np.asarray(np.log(size) - histogram.summed(count * np.log(count)) / size)


def _alike(histogram: Histogram, chosen: Mask) -> dict[tuple[int, ...], list[int]]:
    """The chosen classes by what they hold, so that each sort of class is looked at once."""
    single = chosen & (histogram.distinct == 1)  # often most of them
    found: dict[tuple[int, ...], list[int]] = {(1,): np.flatnonzero(single).tolist()} if single.any() else {}
    for at in np.flatnonzero(chosen & ~single).tolist():
        counts = np.sort(histogram.count[histogram.members(at)])
        # Twice as many of everything is the same distribution.
        found.setdefault(tuple((counts // np.gcd.reduce(counts)).tolist()), []).append(at)
    return found


def _reaches(counts: tuple[int, ...], l: int) -> bool:
    """Is n^n >= l^n times the product of c^c? That is the definition, times n and without logarithms."""
    size = sum(counts)
    left = [(size, size), *((count, -count) for count in counts)]
    return sign(powers(*left, (l, -size))) >= 0


def effective_l(counts: tuple[int, ...]) -> Fraction:
    """The exponential of the entropy of a class, rounded down to six decimals.

    >>> effective_l((2, 2, 2)), effective_l((2, 1))
    (Fraction(3, 1), Fraction(1889881, 1000000))
    """
    size = sum(counts)
    return root(powers((size, size), *((count, -count) for count in counts)), size)


@dataclass(frozen=True, slots=True)
class RecursiveLDiversity(ClassCheck):
    """In every class the commonest value has fewer than `c` times as many records as the values from
    the l-th commonest on have together.

    Reported are the largest l that would hold with this c, and, where every class has l values, the
    number that c must exceed.

    Stops: guessing the commonest value; and, since l - 2 values may be excluded, an adversary who knows
    that a person has none of so many values.
    Does not stop: skewness: a value that is rare elsewhere may be common in a class; see t-closeness.

    >>> RecursiveLDiversity(c=Fraction(4), l=3, sensitive=("disease",))
    RecursiveLDiversity(c=Fraction(4, 1), l=3, sensitive=('disease',))
    """

    c: Fraction
    l: int
    sensitive: tuple[str, ...]

    name: ClassVar[str] = "recursive-l-diversity"
    persons: ClassVar[bool] = True
    worst: ClassVar[Mapping[str, Callable[[Sequence[Any]], Any]]] = {"l": min, "c": max}

    def __post_init__(self) -> None:
        settle(self)
        at_least_one(self.name, l=self.l)
        exact_number(f"{self.name}: c", self.c, 0, above=True)
        object.__setattr__(self, "sensitive", attributes(self.name, self.sensitive))

    def read(self, histogram: Histogram) -> Reading:
        histogram = histogram.one_each()
        head, tail, rank = _by_frequency(histogram)
        # The tail only shrinks as l grows: how often it is heavy enough is the largest l that holds.
        held = histogram.summed((compare(head, tail, self.c) < 0).astype(np.int64))
        reached: dict[str, Number] = {"l": int(held.min()) if len(held) else self.l}
        if len(held) and int(histogram.distinct.min()) >= self.l:
            at = rank == self.l - 1
            reached["c"] = largest(head[at], tail[at]) or Fraction(0)
        return Reading(held < self.l, reached)

    def loosened(self, found: Verdict, tally: Tally) -> Self:
        """A smaller l only where classes have too few values, then as much more c as that needs."""
        if found.holds:
            return self
        every = [histogram.one_each() for histogram in histograms(tally, self.name, self.sensitive)]
        l = min(self.l, *(int(histogram.distinct.min()) for histogram in every))
        c = self.c
        for histogram in every:
            head, tail, rank = _by_frequency(histogram)
            needed = largest(head[rank == l - 1], tail[rank == l - 1]) or Fraction(0)
            if needed >= c:
                c = (floor(needed / ULP) + 1) * ULP
        return replace(self, l=l, c=c)


def _by_frequency(histogram: Histogram) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.intp]]:
    """For each entry, the commonest first: the class's largest count, the records of this entry and all
    rarer ones, and how many entries are commoner.
    """
    order = np.lexsort((-histogram.count, histogram.owner))
    count = histogram.count[order]
    first = histogram.start[histogram.owner]
    before = np.cumsum(count) - count
    tail = histogram.size[histogram.owner] - (before - before[first])
    return count[first], tail, np.arange(len(count)) - first
