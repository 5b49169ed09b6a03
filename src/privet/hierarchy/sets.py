"""Sets of items in one cell, such as diagnosis codes: `11|12|21`, under a taxonomy of the items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from privet.core import Hierarchy
from privet.declared import settle
from privet.domain import Domain, Value, distinct
from privet.equality import key
from privet.errors import HierarchyError
from privet.hierarchy.tree import Tree

FAN_OUT = 8  # children of one node of an item taxonomy, unless the policy raises it
WIDEST_FAN = 12  # and never more: every subset of the children is a partition of its own
SEPARATOR = "|"


@dataclass(frozen=True, slots=True)
class Sets(Hierarchy):
    """A cell holds several items, which are the leaves of a tree; it is published as the nodes above them.

    It serves algorithms that take public domains alone. Searches that count values know single
    values, one node above each, and a set has no such node.

    >>> codes = Sets(Tree.of({"ANY": {"Heart": ["410", "427"], "Lung": ["486"]}}))
    >>> codes.uncovered(["410|486", "427|999", None])
    ['999']
    """

    tree: Tree
    separator: str = SEPARATOR
    empty: bool = True  # may a cell hold no item?
    fan_out: int = FAN_OUT

    name: ClassVar[str] = "sets"

    def __post_init__(self) -> None:
        settle(self)
        if not self.separator:
            raise HierarchyError("separator: at least one character")
        if not 1 <= self.fan_out <= WIDEST_FAN:
            raise HierarchyError(f"fan_out: between 1 and {WIDEST_FAN}, not {self.fan_out}")
        labels = [branch.label for branch in self.tree.root.walk()]
        if any(self.separator in label or SEPARATOR in label for label in labels):
            raise HierarchyError("separator: no label of the tree holds it")
        widest = max(len(branch.children) for branch in self.tree.root.walk())
        if widest > self.fan_out:
            raise HierarchyError(
                f"tree: a node has {widest} children, and every subset of them would be a partition; "
                f"group them under new nodes, at most {self.fan_out} under each"
            )

    def items(self, value: Value) -> list[str]:
        """The items of a cell, each once, in order."""
        return sorted({part.strip() for part in (value or "").split(self.separator)} - {""})

    @property
    def public_only(self) -> bool:
        return True

    def domain(self, values: Sequence[Value]) -> Domain:  # noqa: ARG002 - a hierarchy's form
        raise HierarchyError("sets of items cannot be counted value by value; use the algorithm diffgen")

    def uncovered(self, values: Sequence[Value]) -> list[str]:
        known = set(map(key, self.tree.leaves))
        items = dict.fromkeys(item for value in distinct(values)[0] for item in self.items(value))
        return [item for item in items if key(item) not in known]

    def to_policy(self) -> dict[str, object]:
        policy: dict[str, object] = {**self.tree.to_policy(), "type": self.name}
        if self.separator != SEPARATOR:
            policy["separator"] = self.separator
        if not self.empty:
            policy["empty"] = False
        return policy if self.fan_out == FAN_OUT else policy | {"fan_out": self.fan_out}
