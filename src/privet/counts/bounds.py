"""Linkage bounds in the search's terms: attribute numbers, and which sensitive values are counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from privet.core import Tally
from privet.models.linkage import Linkage
from privet.models.template import protected


@dataclass(frozen=True)
class Bound:
    """Which attributes, how many of them known, and which counts have which limit."""

    attributes: frozenset[int]
    l: int
    k: int
    shares: tuple[tuple[int, Fraction], ...]  # (which of the protected values, at most)


def bounds_of(heading: Tally, linkages: Sequence[Linkage]) -> tuple[list[Bound], list[tuple[int, int]]]:
    """The bounds, and every protected value they speak of: which sensitive column, and its code there."""
    place: dict[tuple[int, int], int] = {}
    bounds = []
    for linkage in linkages:
        columns = linkage.columns(heading)
        shares = []
        for bound in protected(heading, linkage.binding):
            for code in bound.codes:
                where = place.setdefault((bound.column, code), len(place))
                shares.append((where, bound.template.at_most))
        names = {column.name for column in columns}
        attributes = frozenset(at for at, column in enumerate(heading.quasi) if column.name in names)
        bounds.append(Bound(attributes, linkage.knowledge(columns), linkage.k, tuple(shares)))
    return bounds, list(place)
