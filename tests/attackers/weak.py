"""Releases made weak on purpose, for tests of the attacks that they are weak against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.contract.pairs import policy_of

from privet.attackers.opening import buckets, classes
from privet.attackers.scene import Scene, Target
from privet.core import Terms
from privet.domain import Value

Columns = Mapping[str, Sequence[Value]]


def itself(attribute: str, raw: Value) -> frozenset[Value]:
    """Labels are values."""
    return frozenset({raw})


def spans(attribute: str, raw: Value) -> frozenset[Value]:
    """Labels "low-high" stand for every whole number from low to high, and anything else for itself."""
    if attribute != "age" or raw is None:
        return frozenset({raw})
    every = [(low, high) for low in range(100) for high in range(low, 100)]
    return frozenset(f"{low}-{high}" for low, high in every if low <= int(raw) <= high) | {raw}


def terms(*models: str | Mapping[str, Any], algorithm: str = "top-down") -> Terms:
    return policy_of(models or ["k-anonymity"], algorithm)


def table(rows: Columns, policy: Terms, translation: Any = itself) -> Target:
    """A published table that somebody wrote by hand."""
    return Target("weak", "table", policy, None, translation, classes(rows, policy))


def halves(data: Columns, held: Columns, policy: Terms) -> Target:
    return Target("weak", "buckets", policy, None, itself, buckets(data, held, policy))


def scene(*targets: Target, raw: Columns | None = None, trials: int = 500) -> Scene:
    return Scene(targets, raw=raw, rows=raw, trials=trials)
