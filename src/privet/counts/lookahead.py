"""What a split would do, asked before it is made: how much it tells, and whether it keeps a linkage bound.

*Information gain*: how much a split tells about the target. It depends on one attribute's raw values and the
target alone, so one table of counts for each attribute, added up along the codes, answers every question
about nodes and splits.

*Bounds*: a split of `x` is valid iff for every child and every combination of up to `l` attributes with
the one of `x` among them, each group that occurs is large enough and within every template.

Attributes that are still at their root add nothing to a combination, so only *active* ones (more than
one value in the cut) are combined; that is exact, and it is what makes many attributes feasible.

Bounds are said in the search's terms here: attributes by number, and which sensitive values are counted.
Large tables are counted by the compiled loop, over blocks of attributes instead of combinations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import combinations, pairwise
from math import comb
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from privet import native
from privet.blocks import dealt, unions
from privet.core import Tally
from privet.counts.door import Ahead, Candidate
from privet.domain import Node
from privet.models.linkage import Linkage
from privet.models.template import protected
from privet.sidebyside import CORES, side_by_side

DENSE = 1 << 16  # a table of counts this small is dense whatever the number of entries
WORTH_THREADS = 500_000  # places of blocks; fewer are counted sooner than threads for them have started
DIGITS = 12  # gains that differ by less are a tie: rounding noise must not order candidates


class Gains(Protocol):
    """What each split would tell about the target, whoever counted it."""

    def of(self, candidates: Sequence[Candidate]) -> list[float]: ...

    def places(self, attribute: int, node: Node, places: NDArray[np.intp]) -> list[int]:
        """The places where an interval can be split, best first."""


class TableGains:
    """From the histograms of every attribute by target."""

    def __init__(self, histograms: Sequence[NDArray[np.int64]]) -> None:
        self._tables = [GainTable(by_code) for by_code in histograms]
        self._known: dict[Candidate, float] = {}  # a candidate's gain never changes, so it is worked out once

    def of(self, candidates: Sequence[Candidate]) -> list[float]:
        for one in candidates:
            if one not in self._known:
                self._known[one] = self._tables[one.attribute].gain(one.node, one.children)
        return [self._known[one] for one in candidates]

    def places(self, attribute: int, node: Node, places: NDArray[np.intp]) -> list[int]:
        return self._tables[attribute].splits(node, places)


class GainTable:
    """Counts of every target value, added up along the codes of one attribute."""

    def __init__(self, by_code: NDArray[np.int64]) -> None:
        """From a row for each code and a column for each target value."""
        self._up_to = np.vstack([np.zeros(by_code.shape[1]), by_code.cumsum(axis=0)])

    def gain(self, node: Node, children: Sequence[Node]) -> float:
        """The entropy of the target under a node, less what is left of it under its children."""
        whole = self._up_to[node.hi] - self._up_to[node.lo]
        return gain(whole, np.array([self._up_to[child.hi] - self._up_to[child.lo] for child in children]))

    def splits(self, node: Node, places: NDArray[np.intp]) -> list[int]:
        """The places where an interval can be split, best first; ties go to the smaller threshold."""
        if not len(places):
            return []
        left = self._up_to[places] - self._up_to[node.lo]
        right = self._up_to[node.hi] - self._up_to[places]
        share = left.sum(axis=1) / (left.sum(axis=1) + right.sum(axis=1))
        rest = np.round(share * entropy(left) + (1 - share) * entropy(right), DIGITS)
        found: list[int] = places[np.argsort(rest, kind="stable")].tolist()
        return found


def gain(whole: NDArray[np.float64], parts: NDArray[np.float64]) -> float:
    """From how often each target value occurs under a node, and under each of its children.

    >>> gain(np.array([5.0, 6.0]), np.array([[5.0, 1.0], [0.0, 5.0]]))
    0.639472526941
    """
    total = whole.sum()
    if not total:
        return 0.0
    rest = float((parts.sum(axis=1) / total) @ entropy(parts))
    return round(float(entropy(whole[None])[0]) - rest, DIGITS) + 0.0  # no minus zero


def entropy(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bits for each row; an empty row has none.

    >>> entropy(np.array([[1.0, 1.0], [4.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    total = counts.sum(axis=1, keepdims=True)
    share = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    return np.asarray(-(share * np.log2(share, out=np.zeros_like(share), where=share > 0)).sum(axis=1)) + 0.0


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
        for bound in protected(heading, linkage.binding) if linkage.binding else ():
            for code in bound.codes:
                where = place.setdefault((bound.column, code), len(place))
                shares.append((where, bound.template.at_most))
        names = {column.name for column in columns}
        attributes = frozenset(at for at, column in enumerate(heading.quasi) if column.name in names)
        bounds.append(Bound(attributes, linkage.knowledge(columns), linkage.k, tuple(shares)))
    return bounds, list(place)


def telling(
    bounds: Sequence[Bound], protected: Sequence[tuple[int, int]], records: Sequence[int]
) -> tuple[list[Bound], list[tuple[int, int]]]:
    """The same bounds without values so rare that no group of k records could have too many of them.

    `records`: how many have each protected value. In a column of amounts nearly all values are that rare.
    """
    kept: dict[int, int] = {}
    found = []
    for bound in bounds:
        shares = tuple(
            (kept.setdefault(at, len(kept)), at_most)
            for at, at_most in bound.shares
            if records[at] > bound.k * at_most
        )
        found.append(replace(bound, shares=shares))
    return found, [protected[at] for at in kept]


def keeps(ahead: Ahead, width: Sequence[int], candidate: Candidate, bound: Bound) -> bool:
    """Would every group still be within the bound after the split? `width`: values in each cut before it."""
    others = [at for at in sorted(bound.attributes) if at != candidate.attribute and width[at] > 1]
    reach = min(bound.l - 1, len(others))
    # Wide attributes first: their combinations are the smallest groups, and a split that fails should
    # fail at once.
    others.sort(key=lambda at: -width[at])
    everything = reach == len(others) and len(bound.attributes) == len(width)
    if everything and ahead.whole:
        return within(ahead.count, [ahead.having[at] for at, _ in bound.shares], bound)
    if native.pays(comb(len(others), reach) * len(ahead.unit)):
        verdict = keeps_by_blocks(ahead, width, candidate, others, reach, bound)
        if verdict is not None:
            return verdict
    return keeps_plainly(ahead, width, candidate, others, reach, bound)


def keeps_by_blocks(  # noqa: PLR0917 - what `keeps` has at hand
    ahead: Ahead, width: Sequence[int], candidate: Candidate, others: Sequence[int], reach: int, bound: Bound
) -> bool | None:
    """The same by the compiled loop; None where it cannot tell."""
    fan = len(candidate.children)
    widths = [width[at] for at in others]
    total = int(ahead.count.sum())
    bottoms = np.array([min(at_most.denominator, 2**62) for _, at_most in bound.shares], dtype=np.int64)
    if max((fan, *widths)) > 256 or total * int(bottoms.max(initial=1)) >= 2**62 or total >= 2**31:
        return None
    groups = dealt(widths, reach, len(ahead.unit), fan)
    if groups is None:
        return None
    blocks = unions(groups, reach)
    entries = len(ahead.unit)
    codes = np.empty((len(others) + 1, entries), dtype=np.uint8)
    codes[0] = ahead.child

    def fill(row: int) -> None:  # "clip": places are in range, so nothing need be compared
        position = ahead.position[others[row]].astype(np.uint8, copy=False)
        np.take(position, ahead.unit, out=codes[row + 1], mode="clip")

    radix = np.array([fan, *widths], dtype=np.int64)
    counts = ahead.count.astype(np.int32)
    tops = np.array([at_most.numerator for _, at_most in bound.shares], dtype=np.int64)
    having = np.array([ahead.having[at] for at, _ in bound.shares], dtype=np.int32).reshape(
        len(tops), entries
    )

    def look(part: slice) -> bool | None:
        some = blocks.part(part)
        said = native.call(
            "privet_blocks_keep",
            codes,
            entries,
            radix,
            counts,
            having,
            len(tops),
            some.attributes,
            some.groups,
            some.vanish,
            len(some),
            blocks.attributes.shape[1],
            reach,
            bound.k,
            tops,
            bottoms,
        )
        return None if said < 0 else said == 1

    # Others come widest first, so the first block is the likeliest to break: look at it alone before
    # the rest share the cores.
    begun = {int(row) for row in blocks.attributes[0] if row >= 0}
    for row in begun:
        fill(row)
    first = look(slice(0, 1))
    if not first:
        return first
    rest = [row for row in range(len(others)) if row not in begun]
    if len(blocks) * entries < WORTH_THREADS:
        for row in rest:
            fill(row)
        return look(slice(1, None))
    side_by_side([partial(fill, row) for row in rest])
    edges = np.linspace(1, len(blocks), min(len(blocks), 4 * CORES) + 1).astype(int).tolist()
    found = side_by_side([partial(look, slice(*edge)) for edge in pairwise(edges)])
    if False in found:
        return False
    return None if None in found else True


def keeps_plainly(  # noqa: PLR0917 - what `keeps` has at hand
    ahead: Ahead, width: Sequence[int], candidate: Candidate, others: Sequence[int], reach: int, bound: Bound
) -> bool:
    """The same without the compiled loop, one combination after the other."""
    columns = {at: ahead.position[at][ahead.unit] for at in others}
    return all(
        _combination_keeps(
            ahead,
            len(candidate.children),
            [columns[at] for at in subset],
            [width[at] for at in subset],
            bound,
        )
        for subset in combinations(others, reach)
    )


def _combination_keeps(
    ahead: Ahead, fan: int, columns: Sequence[NDArray[Any]], widths: Sequence[int], bound: Bound
) -> bool:
    key, room = ahead.child.astype(np.int64, copy=False), fan
    for column, width in zip(columns, widths, strict=True):
        key, room = key * width + column, room * width
        if room > max(DENSE, 4 * len(key)):
            found, key = np.unique(key, return_inverse=True)
            room = len(found)
    size = np.bincount(key, weights=ahead.count, minlength=room)
    having = [np.bincount(key, weights=ahead.having[at], minlength=room) for at, _ in bound.shares]
    return within(size, having, bound)


def within(size: NDArray[Any], having: Sequence[NDArray[Any]], bound: Bound) -> bool:
    """Are all groups that occur large enough, and no share above its limit? Exactly, by integers."""
    if bool(((size > 0) & (size < bound.k)).any()):
        return False
    for count, (_, at_most) in zip(having, bound.shares, strict=True):
        top, bottom = at_most.numerator, at_most.denominator
        if float(size.max(initial=0)) * bottom >= 2**53:
            pairs = zip(count.tolist(), size.tolist(), strict=True)
            if any(int(c) * bottom > int(s) * top for c, s in pairs):
                return False
        elif bool((count * bottom > size * top).any()):
            return False
    return True
