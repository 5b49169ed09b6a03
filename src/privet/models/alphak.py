"""(alpha, k)-anonymity: groups are large, and no protected value dominates one.

Wong, Li, Fu and Wang, "(alpha, k)-anonymity", KDD 2006.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar, Self

from privet.declared import settle
from privet.models.exact import at_least_one
from privet.models.linkage import Linkage, LinkageCheck
from privet.models.lkc import grouped
from privet.models.template import Sensitive, Template, exact_share, templates


@dataclass(frozen=True, slots=True)
class AlphaKAnonymity(LinkageCheck):
    """Every group on all quasi-identifiers has at least `k` records, of which at most a share `alpha`
    has any one of the `sensitive` values.

    Stops: finding a person's record, and guessing a protected value from a homogeneous group.
    Does not stop: skewness (a rare value that is common in one group, still below alpha).
    """

    alpha: Fraction
    k: int
    sensitive: Sensitive = field(compare=False)
    bounds: tuple[Template, ...] = field(init=False, repr=False)

    name: ClassVar[str] = "alpha-k-anonymity"

    def __post_init__(self) -> None:
        settle(self)
        at_least_one(self.name, k=self.k)
        exact_share(f"{self.name}: alpha", self.alpha)
        object.__setattr__(self, "bounds", templates(self.sensitive, self.alpha))

    @property
    def class_size(self) -> int:
        return self.k

    def with_classes_of(self, size: int) -> Self:
        return replace(self, k=max(self.k, size))

    @property
    def share(self) -> Fraction:
        return self.alpha

    def linkage(self) -> Linkage:
        return Linkage(None, self.k, self.bounds)

    def loosened(self, bound: Linkage) -> Self:
        return type(self)(
            alpha=max([self.alpha, *(t.at_most for t in bound.templates)]),
            k=bound.k,
            sensitive=grouped(bound.templates),
        )
