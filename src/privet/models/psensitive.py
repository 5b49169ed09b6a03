"""p-sensitive k-anonymity: classes are large, and not everybody in one has the same value.

Truta and Vinay, "Privacy protection: p-sensitive k-anonymity property", ICDE workshops 2006.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from privet.core import Tally
from privet.declared import settle
from privet.errors import PolicyError
from privet.models.classcheck import ClassCheck, Reading
from privet.models.classes import Histogram, attributes
from privet.models.exact import at_least_one


@dataclass(frozen=True, slots=True)
class PSensitiveKAnonymity(ClassCheck):
    """Every class has at least `k` records, and at least `p` different values of each sensitive attribute.

    It is k-anonymity and distinct l-diversity together.

    Stops: finding a person's record (success at most 1/k); learning a value that everybody in a class has.
    Does not stop: guessing the commonest value of a class, which may be that of nearly all.

    >>> PSensitiveKAnonymity(p=2, k=5, sensitive=("disease", "income"))
    PSensitiveKAnonymity(p=2, k=5, sensitive=('disease', 'income'))
    """

    p: int
    k: int
    sensitive: tuple[str, ...]

    name: ClassVar[str] = "p-sensitive-k-anonymity"
    persons: ClassVar[bool] = True
    monotone_with_suppression: ClassVar[bool] = True
    worst: ClassVar[Mapping[str, Callable[[Sequence[Any]], Any]]] = {"k": min, "p": min}

    def __post_init__(self) -> None:
        settle(self)
        at_least_one(self.name, p=self.p, k=self.k)
        if self.p > self.k:
            raise PolicyError(f"{self.name}: p is at most k, since k records have no more than k values")
        object.__setattr__(self, "sensitive", attributes(self.name, self.sensitive))

    @property
    def class_size(self) -> int:
        return self.k

    def with_classes_of(self, size: int) -> Self:
        return replace(self, k=max(self.k, size))

    def read(self, histogram: Histogram) -> Reading:
        found, size = histogram.distinct, histogram.size
        if not len(size):
            return Reading(found < self.p, {"k": self.k, "p": self.p})
        return Reading((found < self.p) | (size < self.k), {"k": int(size.min()), "p": int(found.min())})

    def nearest(self, tally: Tally) -> Self:
        reached = self.check(tally).achieved
        return replace(self, k=min(self.k, int(reached["k"])), p=min(self.p, int(reached["p"])))
