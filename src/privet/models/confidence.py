"""Confidence bounding: no group gives a protected value away.

Wang, Fung and Yu, "Handicapping attacker's confidence: an alternative to k-anonymization", KAIS 2007.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

from privet.declared import settle
from privet.errors import PolicyError
from privet.models.linkage import Linkage, LinkageCheck
from privet.models.lkc import grouped
from privet.models.template import Sensitive, Template, templates


@dataclass(frozen=True, slots=True)
class ConfidenceBounding(LinkageCheck):
    """In every group on the quasi-identifiers, each protected value has at most its share.

    `sensitive` gives a bound for each value. `quasi` limits the promise to some quasi-identifiers, so
    that several templates over different ones can stand side by side as several models.

    Stops: inferring a protected value from the group a person belongs to.
    Does not stop: finding the person's record; a group may have one member. See alpha-k-anonymity.
    """

    sensitive: Sensitive = field(compare=False)
    quasi: tuple[str, ...] | None = None
    bounds: tuple[Template, ...] = field(init=False, repr=False)

    name: ClassVar[str] = "confidence-bounding"
    kinds: ClassVar[tuple[str, ...]] = ("table", "trajectories")

    def __post_init__(self) -> None:
        settle(self)
        bounds = templates(self.sensitive, None)
        if not bounds:
            raise PolicyError(f"{self.name}: sensitive names at least one value and its bound")
        object.__setattr__(self, "bounds", bounds)

    def linkage(self) -> Linkage:
        return Linkage(None, 1, self.bounds, self.quasi)

    def loosened(self, bound: Linkage) -> Self:
        return type(self)(sensitive=grouped(bound.templates), quasi=self.quasi)
