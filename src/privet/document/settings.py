"""Tree anatomy as a policy names it; what it promises stands in the policy's promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from privet.declared import AlgorithmFacts, settle
from privet.document.anatomy import COSTS, ORDERS, Anatomize
from privet.document.anatomy_rules import Rules
from privet.document.promises import KINDS, AnatomyDiversity, PMPrivacy
from privet.document.style import Style
from privet.errors import PolicyError, one_of

if TYPE_CHECKING:
    from privet.core import Terms


@dataclass(frozen=True, kw_only=True)
class TreeAnatomy(AlgorithmFacts):
    """Trees in two halves: quasi-identifiers as they are, and sensitive values of l people in one heap.

    `style`: "t-t" publishes trees of sensitive values beside trees of quasi-identifiers, which keeps the
    links among one person's sensitive values; "v-v" publishes a small bag of values for every vertex, so
    that one known value tells nothing of the others. `parts`: people are sorted by the size of their trees
    and compared inside so many parts only. `order`: how siblings are matched. `cost`: what a lost vertex
    counts. `absorb_leftovers`: who is left over may join a finished group where every promise still holds.
    """

    style: Style = Style.TREES
    parts: int = 1
    order: str = "document"
    cost: str = "vertices"
    absorb_leftovers: bool = False

    name: ClassVar[str] = "tree-anatomy"
    kinds: ClassVar[tuple[str, ...]] = KINDS
    road: ClassVar[str | None] = "tree-anatomy"

    def __post_init__(self) -> None:
        settle(self)
        complaints = []
        if self.parts < 1:
            complaints.append("parts: is at least 1")
        if self.order not in ORDERS:
            complaints.append(f"order: {one_of('it', ORDERS, self.order)}")
        if self.cost not in COSTS:
            complaints.append(f"cost: {one_of('it', COSTS, self.cost)}")
        if complaints:
            raise PolicyError(*complaints)

    def complaints(self, policy: Terms) -> list[str]:
        """One promise of diversity, at most one with rules, and no other."""
        names = [model.name for model in policy.models]
        found = [
            f"models[{at}]: {name} is about trees that are published whole; "
            f"{self.name} keeps {AnatomyDiversity.name} and {PMPrivacy.name}"
            for at, name in enumerate(names)
            if name not in {AnatomyDiversity.name, PMPrivacy.name}
        ]
        if names.count(AnatomyDiversity.name) != 1 and not found:
            found.append(f"models: {self.name} needs one promise {AnatomyDiversity.name}: it says l")
        if names.count(PMPrivacy.name) > 1:
            found.append(f"models: one {PMPrivacy.name} with all rules")
        return found

    def search(self, policy: Terms) -> Anatomize:
        """The search, with what the policy promises."""
        return Anatomize(
            promised_l(policy),
            rules_of(policy),
            self.style,
            parts=self.parts,
            order=self.order,
            cost=self.cost,
            absorb_leftovers=self.absorb_leftovers,
        )


def promised_l(policy: Terms) -> int:
    """How many people a group has, as the policy promises."""
    models: tuple[Any, ...] = policy.models
    return next(int(model.l) for model in models if isinstance(model, AnatomyDiversity))


def rules_of(policy: Terms) -> Rules:
    """All rules that the policy promises."""
    models: tuple[Any, ...] = policy.models
    return Rules(tuple(rule for model in models if isinstance(model, PMPrivacy) for rule in model.rules))
