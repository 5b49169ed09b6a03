"""Codes that say less the fewer of their first characters are kept: postal codes, ICD and NACE codes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

from privet.core import Hierarchy
from privet.declared import settle
from privet.domain import Domain, Group, Path, Value, arrange, distinct, refuse
from privet.errors import HierarchyError

HIDDEN = "*"  # stands for each character that is not kept


@dataclass(frozen=True, slots=True)
class Prefix(Hierarchy):
    """Values grouped by their first `keep` characters, finest first; the rest is starred.

    Values of different lengths never share a group, since the stars show the length. A value that is
    no longer than the prefix stays itself. Values that begin with one of `hide` are never told apart: they
    are published as zeros of that length.

    >>> [node.label for node in Prefix(keep=(3, 1)).domain(["53715", "53703", "90210"]).root.walk()]
    ['*', '5****', '537**', '53703', '53715', '9****', '902**', '90210']
    """

    keep: Sequence[int]
    hide: Sequence[str] = ()

    name: ClassVar[str] = "prefix"

    def __post_init__(self) -> None:
        settle(self)
        lengths = [k for k in self.keep if k > 0]
        falling = all(finer > coarser for finer, coarser in pairwise(lengths))
        if not self.keep or len(lengths) < len(self.keep) or not falling:
            raise HierarchyError("keep: lengths of prefixes, longest first, each at least 1, as in [3, 1]")
        if not all(self.hide):
            raise HierarchyError('hide: beginnings of values, as in ["036", "059"]')

    def domain(self, values: Sequence[Value]) -> Domain:
        texts, null = distinct(values)
        starred = len(self.uncovered(texts))
        refuse(
            (starred, f"ending in {HIDDEN}, which stands for what is hidden", "recode them"), of=len(texts)
        )
        # Paths in the order of their labels: whatever shares a group then stands side by side.
        rows = sorted((self._path(text), text) for text in texts)
        # Codes of several lengths follow each other in no order that a reader of two labels knows, and
        # neither does a hidden group the others: a range would hold them unsaid.
        hidden = any(text.startswith(tuple(self.hide)) for text in texts)
        ordered = len(set(map(len, texts))) < 2 and not hidden
        return arrange([(text, path) for path, text in rows], null=null, ranged=ordered)

    def uncovered(self, values: Sequence[Value]) -> list[str]:
        """Values that already end in a star, and so could be taken for a group."""
        return [value for value in distinct(values)[0] if value.endswith(HIDDEN)]

    def to_policy(self) -> dict[str, object]:
        policy: dict[str, object] = {"type": self.name, "keep": list(self.keep)}
        return policy | ({"hide": list(self.hide)} if self.hide else {})

    def _path(self, text: str) -> Path:
        for start in self.hide:
            if text.startswith(start):
                return (Group("0" * len(start) + HIDDEN * (len(text) - len(start))),)
        hidden = [
            text[:kept] + HIDDEN * (len(text) - kept) for kept in reversed(self.keep) if kept < len(text)
        ]
        # A star inside the value can make two of them alike ("0*1" keeps "0" and "0*" as "0**"): one group.
        return tuple(Group(label) for label in dict.fromkeys((*hidden, text)))
