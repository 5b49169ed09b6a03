"""What a search that tries others came to, in words: for the report and for the screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privet.evidence.values import ChoiceNote

BY = {  # what is made small, by its word in the policy
    "lm": "loss (LM)",
    "entropy": "loss of bits",
    "precision": "height in the hierarchies",
    "discernibility": "discernibility",
    "class-size": "share of the records in a class",
    "counts": "error of counts",
    "classification": "error of predictions",
}
BOUNDS = {
    "type",
    "looks",
    "refine",
    "nodes",
    "time_limit",
    "effort",
}  # how long a search may take says not what it is


def searched(algorithm: Mapping[str, Any]) -> str:
    """A search by its name, and what it was told beside its limits: mondrian (cuts = levels)."""
    said = [
        f"{key} = {value}"
        for key, value in algorithm.items()
        if key not in BOUNDS and value not in (None, False, {}, [], "0")
    ]
    name = str(algorithm.get("type"))
    return f"{name} ({', '.join(said)})" if said else name


def compared(choice: ChoiceNote) -> list[tuple[str, float | None, bool]]:
    """Every search that was tried, what it lost, and whether it was taken; the best first."""
    rows = [(searched(one.algorithm), one.loss, one.algorithm == choice.algorithm) for one in choice.tried]
    return sorted(rows, key=lambda row: (not row[2], row[1] is None, row[1] or 0.0, row[0]))


def measure_of(choice: ChoiceNote) -> str:
    """What was made small, in words."""
    return BY.get(choice.by, choice.by)
