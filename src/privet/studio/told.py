"""What commands about a release have found, drawn by the report's own hands: loss, attackers, exposure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from privet.report import attacked, compared, exposed
from privet.report.markup import Safe

Part = tuple[str, Callable[[Mapping[str, Any]], Safe | None]]


def exposure(found: Mapping[str, Any]) -> list[tuple[str, Safe]]:
    """What `privet risk` found."""
    if "prosecutor" not in found:
        return []
    return _drawn(
        found,
        ("What three attackers find", exposed.attackers),
        ("Records at risk", exposed.at_risk),
        ("Class sizes", exposed.sizes),
        ("Unique in the population", exposed.population),
        ("What limited knowledge finds", exposed.promises),
    )


def loss(found: Mapping[str, Any]) -> list[tuple[str, Safe]]:
    """What `privet compare` found of a table."""
    if "loss" not in found or "attributes" not in found or "risk" not in found:
        return []
    return _drawn(
        found,
        ("What was lost", compared.losses),
        ("What each column can still tell", compared.columns),
        ("Counts from the release", compared.counts),
        ("A classifier on both", compared.classifier),
        ("Risk before and after", compared.risks),
        ("What the worst class gives away", compared.gives_away),
    )


def attackers(found: Mapping[str, Any]) -> list[tuple[str, Safe]]:
    """What `privet attack` found."""
    several = [
        (title, partial(attacked.outcomes, verdict=verdict)) for verdict, title in attacked.SAID.items()
    ]
    return _drawn(found, *several, ("What was not tried", attacked.not_tried))


def _drawn(found: Mapping[str, Any], *parts: Part) -> list[tuple[str, Safe]]:
    return [(title, body) for title, draw in parts if (body := draw(found)) is not None]
