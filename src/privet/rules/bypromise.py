"""The search that a policy about sets has unless it names one: whatever its promises ask for.

Rules are hidden first, by their support, and items are generalised or suppressed after that. A support that
is below its threshold stays there, whatever else goes: records stay, and no item is added to one. So the
second search cannot undo the first; that both promises hold is counted on what leaves all the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from privet.core import Progress, Terms, silent
from privet.rules.searches import (
    GeneraliseItems,
    HideBorder,
    SetFinding,
    Sets,
    SetSearch,
    SuppressItemsLocally,
    hidden_of,
    known_of,
)


@dataclass(frozen=True, slots=True)
class ByPromise(SetSearch):
    """What the promises ask for: rules are hidden along the border; for km-anonymity items are generalised
    where they have a hierarchy, and suppressed locally where they have none; for both, one after the other.
    """

    name: ClassVar[str] = "by-promise"

    def search(self, sets: Sets, policy: Terms, progress: Progress = silent) -> SetFinding:
        ways = self.stages(policy)
        found = ways[0].search(sets, policy, progress)
        for way in ways[1:]:
            found = joined(
                found, way.search(replace(sets, baskets=found.baskets), policy, progress), sets.baskets.cells
            )
        return found

    def stages(self, policy: Terms) -> tuple[SetSearch, ...]:
        ways: list[SetSearch] = [HideBorder()] if hidden_of(policy) else []
        if known_of(policy):
            flat = policy.shape is None or policy.shape.hierarchy is None  # of every shape of sets
            ways.append(SuppressItemsLocally() if flat else GeneraliseItems())
        return tuple(ways) or (SuppressItemsLocally(),)


def joined(hidden: SetFinding, kept: SetFinding, cells: int) -> SetFinding:
    """What two searches did, one on what the other had left of so many items; neither removes a record."""
    deleted = dict(hidden.private.get("deleted", {}))
    for item, many in kept.private.get("deleted", {}).items():
        deleted[item] = deleted.get(item, 0) + many
    return replace(
        hidden,
        baskets=kept.baskets,
        suppressed=hidden.suppressed + kept.suppressed,
        loss=(hidden.suppressed + kept.loss * hidden.baskets.cells) / max(cells, 1),
        how=f"{hidden.how}, then {kept.how}",
        private={**kept.private, "deleted": dict(sorted(deleted.items(), key=lambda one: (-one[1], one[0])))},
    )
