"""Before clustering: can these records keep the promise at all, and where will it hurt? Numbers only."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privet.document.forest import Forest


@dataclass(frozen=True, slots=True)
class Outlook:
    """One sensitive attribute: how many different values (or buckets), and the share of the most frequent."""

    type: str
    field: str
    vertices: int
    values: int
    largest: Fraction
    root: bool

    def warning(self, l: int) -> str | None:
        """What is to be expected at this l, in words; None where nothing stands out."""
        place = f"type {self.type}, field {self.field}"
        if self.vertices and self.values < l:
            gone = "every record" if self.root else f"every vertex of type {self.type}"
            return f"{place}: {self.values} different values, fewer than l = {l}; {gone} will be suppressed"
        if self.largest * l > 1:
            what = "records with it will be suppressed" if self.root else "many of its vertices will be cut"
            share = f"{float(self.largest):.0%}"
            return f"{place}: one value has a share of {share}, more than one in {l}; {what}"
        return None


def preflight(forest: Forest) -> tuple[Outlook, ...]:
    """The sensitive attributes, as promises see them."""
    found = []
    for number, kind in enumerate(forest.schema.kinds):
        if kind.sensitive is None:
            continue
        buckets = forest.buckets[forest.kinds == number]
        _, counts = np.unique(buckets, return_counts=True)
        largest = Fraction(int(counts.max()), len(buckets)) if len(buckets) else Fraction(0)
        root = kind.name == forest.schema.root
        found.append(Outlook(kind.name, kind.sensitive.name, len(buckets), len(counts), largest, root))
    return tuple(found)
