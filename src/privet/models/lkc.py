"""LKC-privacy: a bound on what an adversary who knows at most L values can learn.

Mohammed, Fung, Hung and Lee, "Anonymizing healthcare data", KDD 2009.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar, Self

from privet.declared import settle
from privet.models.exact import at_least_one
from privet.models.linkage import Linkage, LinkageCheck
from privet.models.template import Protectable, Sensitive, Template, exact_share, templates


@dataclass(frozen=True, slots=True)
class LKC(LinkageCheck):
    """Any `l` known values match at least `k` records, of which at most a share `c` has any one of the
    `sensitive` values. Each value is bounded by itself; `sensitive` may give one its own bound.

    Stops: finding a person's record (success at most 1/k), and guessing a protected value from a
    homogeneous group (at most c), for an adversary who knows up to l quasi-identifying values.
    Does not stop: an adversary who knows more than l values; minimality, composition and deFinetti
    attacks; learning a value that is not protected.

    >>> LKC(l=4, k=20, c=Fraction(1, 5), sensitive={"surgery": ["Transgender"]})
    LKC(l=4, k=20, c=Fraction(1, 5), sensitive={'surgery': ('Transgender',)})
    """

    l: int
    k: int
    c: Fraction
    sensitive: Sensitive = field(compare=False)
    bounds: tuple[Template, ...] = field(init=False, repr=False)

    name: ClassVar[str] = "lkc-privacy"
    kinds: ClassVar[tuple[str, ...]] = ("table", "trajectories")

    def __post_init__(self) -> None:
        settle(self)
        at_least_one(self.name, l=self.l, k=self.k)
        exact_share(f"{self.name}: c", self.c)
        object.__setattr__(self, "bounds", templates(self.sensitive, self.c))

    @property
    def class_size(self) -> int:
        return self.k

    def with_classes_of(self, size: int) -> Self:
        return replace(self, k=max(self.k, size))

    @property
    def share(self) -> Fraction:
        return self.c

    def linkage(self) -> Linkage:
        return Linkage(self.l, self.k, self.bounds)

    def loosened(self, bound: Linkage) -> Self:
        return type(self)(
            l=self.l,
            k=bound.k,
            c=max([self.c, *(t.at_most for t in bound.templates if self.is_default(t))]),
            sensitive=grouped(bound.templates),
        )

    def is_default(self, loosened: Template) -> bool:
        return any(
            (t.attribute, t.value) == (loosened.attribute, loosened.value) and t.at_most == self.c
            for t in self.bounds
        )


def grouped(bounds: tuple[Template, ...]) -> dict[str, dict[Protectable, Fraction]]:
    """Templates as {attribute: {value: bound}}."""
    found: dict[str, dict[Protectable, Fraction]] = {}
    for template in bounds:
        found.setdefault(template.attribute, {})[template.value] = template.at_most
    return found
