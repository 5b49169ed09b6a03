"""No hierarchy at all: a value is published as it is, or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from privet.core import Hierarchy
from privet.domain import ANY, Domain, Value, distinct, flat


@dataclass(frozen=True, slots=True)
class Flat(Hierarchy):
    """Every value just under the root, in the order of their text.

    >>> Flat().domain(["b", None, "a"]).values
    ('a', 'b', None)
    """

    name: ClassVar[str] = "flat"

    def domain(self, values: Sequence[Value]) -> Domain:
        texts, null = distinct(values)
        root = ANY
        while root in texts:  # data that was suppressed before may hold stars of its own
            root += ANY
        return flat((*sorted(texts), *((None,) if null else ())), root)

    def uncovered(self, values: Sequence[Value]) -> list[str]:  # noqa: ARG002 (a rule that covers all)
        return []

    def to_policy(self) -> dict[str, object]:
        return {"type": self.name}
