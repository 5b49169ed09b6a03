"""Labels that records who stay behind have no part in.

A search that may suppress records finds its intervals on the whole table, so a record that is then dropped
could still say where the last interval ends, or where two of them meet: its value would leave without it. So
the ends of intervals that were grown from the data are drawn once more, as if only the records that leave had
ever been there. Which records are together does not change; what the policy says itself stays.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from privet.core import Column, Hierarchy, Tally
from privet.domain import Node, Scale
from privet.hierarchy.intervals import Intervals
from privet.recoding import Recoding, Regions


def labels_of_who_leaves(
    slices: Callable[[Recoding], Sequence[tuple[Tally, Recoding]]],
    recoding: Recoding,
    known: Mapping[str, Hierarchy | None],
) -> Recoding:
    """The same boxes, with labels that depend on nobody who is suppressed. `known`: by column.

    `slices`: the counts of some quasi-identifiers at a time, and what the recoding says of those.
    """
    if not isinstance(recoding, Regions) or recoding.kept is None:
        return recoding
    nodes = dict(recoding.nodes)
    for tally, part in slices(recoding):
        if part.kept is None:
            continue
        for column in tally.quasi:
            seen = _among(column, part.kept, known.get(column.name))
            if seen is not None and column.name in nodes:
                nodes[column.name] = tuple(_drawn(node, *seen) for node in nodes[column.name])
    return replace(recoding, nodes=nodes)


def measured_on(tally: Tally, recoding: Recoding, known: Mapping[str, Hierarchy | None]) -> Tally:
    """A tally whose intervals are measured against what leaves: a loss would tell the span as well."""
    if not isinstance(recoding, Regions) or recoding.kept is None:
        return tally
    kept = recoding.kept

    def fitted(column: Column) -> Column:
        seen, scale = _among(column, kept, known.get(column.name)), column.domain.scale
        if seen is None or scale is None:
            return column
        ends = replace(scale, low=seen[0].low, high=seen[0].high)
        return replace(column, domain=replace(column.domain, scale=ends))

    return replace(tally, quasi=tuple(map(fitted, tally.quasi)))


def _among(
    column: Column, kept: NDArray[np.bool_], hierarchy: Hierarchy | None
) -> tuple[Scale, list[int]] | None:
    """The scale of the numbers that leave, and their codes; None where nothing is drawn anew."""
    scale = column.domain.scale
    if scale is None or not scale.grown:
        return None  # the tree is given, whoever is there
    numbers = len(scale.numbers)
    codes = [code for code in np.unique(column.codes[kept]).tolist() if code < numbers]
    if not codes or len(codes) == numbers:
        return None
    said = hierarchy if isinstance(hierarchy, Intervals) else Intervals()
    left = said.domain([column.domain.values[code] for code in codes]).scale
    return None if left is None else (left, codes)


def _drawn(node: Node, scale: Scale, codes: list[int]) -> Node:
    if node.interval is None:
        return node
    first, last = bisect_left(codes, node.lo), bisect_left(codes, node.hi)
    if first == last:
        return node  # nobody who leaves has it
    low, high = (_end(at, scale, len(codes)) for at in (first, last))
    if scale.rounded is not None and first + 1 == last and last - first < len(codes):
        # A part that is one number leaves as that number, as where a search makes it (`Domain.split`).
        one = scale.numbers[first]
        low = one if first == 0 and high == one + scale.step else low
        high = one + scale.step if last == len(codes) and low == one else high
    return replace(node, label=scale.label(low, high), interval=(low, high))


def _end(at: int, scale: Scale, size: int) -> Decimal:
    """Where an interval ends before the number `at` of those that leave."""
    if 0 < at < size:
        return scale.roundest(at)
    return scale.low if at == 0 else scale.high
