"""Linkage bounds in the search's terms: attribute numbers, and masks over cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from privet.core import Tally
from privet.models.linkage import Linkage
from privet.models.template import protected
from privet.relational.partition import Mask


@dataclass(frozen=True)
class Bound:
    """Which attributes, how many of them known, and which counts have which limit."""

    attributes: frozenset[int]
    l: int
    k: int
    shares: tuple[tuple[int, Fraction], ...]  # (which of the protected masks, at most)


def bounds_of(tally: Tally, linkages: Sequence[Linkage]) -> tuple[list[Bound], list[Mask]]:
    """The bounds, and a mask over cells for every protected value they speak of."""
    masks: list[Mask] = []
    place: dict[tuple[int, int], int] = {}
    bounds = []
    for linkage in linkages:
        columns = linkage.columns(tally)
        shares = []
        for bound in protected(tally, linkage.binding):
            for code in bound.codes:
                where = (bound.column, code)
                if where not in place:
                    place[where] = len(masks)
                    masks.append(tally.sensitive[bound.column].codes == code)
                shares.append((place[where], bound.template.at_most))
        names = {column.name for column in columns}
        attributes = frozenset(at for at, column in enumerate(tally.quasi) if column.name in names)
        bounds.append(Bound(attributes, linkage.knowledge(columns), linkage.k, tuple(shares)))
    return bounds, masks
