"""k-anonymity: every record looks like at least k - 1 others.

Sweeney, "k-anonymity: a model for protecting privacy", IJUFKS 2002.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

from privet.declared import settle
from privet.models.exact import at_least_one
from privet.models.linkage import Linkage, LinkageCheck


@dataclass(frozen=True, slots=True)
class KAnonymity(LinkageCheck):
    """Records that agree in every quasi-identifier are at least `k`.

    Stops: finding a person's record, whatever quasi-identifying values are known (success at most 1/k).
    Does not stop: learning a sensitive value that the whole group shares; see confidence-bounding.

    >>> KAnonymity(k=5)
    KAnonymity(k=5)
    """

    k: int

    name: ClassVar[str] = "k-anonymity"
    kinds: ClassVar[tuple[str, ...]] = ("table", "trajectories")
    monotone_with_suppression: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle(self)
        at_least_one(self.name, k=self.k)

    @property
    def class_size(self) -> int:
        return self.k

    def with_classes_of(self, size: int) -> Self:
        return replace(self, k=max(self.k, size))

    def linkage(self) -> Linkage:
        return Linkage(None, self.k, ())

    def loosened(self, bound: Linkage) -> Self:
        return type(self)(k=bound.k)
