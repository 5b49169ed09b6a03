"""k-anonymity: every record looks like at least k - 1 others.

Sweeney, "k-anonymity: a model for protecting privacy", IJUFKS 2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from privet.core import Tally
from privet.models.linkage import Linkage, LinkageCheck, at_least_one


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
        at_least_one(self.name, k=self.k)

    @property
    def class_size(self) -> int:
        return self.k

    def linkage(self) -> Linkage:
        return Linkage(None, self.k, ())

    def nearest(self, tally: Tally) -> Self:
        return type(self)(k=self.relaxed(tally).k)
