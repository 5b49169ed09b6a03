"""What counts from a release are worth, from the raw table, the release and the private notes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from privet.core import Column, Tally
from privet.domain import ANY, Domain, Node, Value
from privet.hierarchy.numbers import read
from privet.measure import query, summary
from privet.measure.kept import kept
from privet.measure.spread import Boxes, Span, joint_divergence


def distribution(
    before: Tally, after: Tally, order: Mapping[str, Any] | None, missing: int, *, perturbed: bool
) -> dict[str, Any]:
    """`query_error`, `joint_kl` and what is kept of columns by one and by two, counted on the two tables.

    `order` is the private notes' leaf order; without it nobody can tell what a label stands for, and all
    are None. Of values that were replaced by chance there is no KL: the raw one may have vanished.
    """
    unknown: dict[str, Any] = dict.fromkeys(("query_error", "joint_kl", "marginals", "pairs", "correlations"))
    raw = _in_leaf_order(before, order)
    if raw is None or order is None:
        return unknown
    ranges: dict[str, dict[Value, Span]] = {}
    for column, old in zip(after.quasi, raw.quasi, strict=True):
        known = {label: (lo, hi) for label, lo, hi in order[column.name]["ranges"]}
        ranges[column.name] = _points(column, old) if perturbed else known
        if any(label not in ranges[column.name] for label in column.domain.values):
            return unknown
    boxes = Boxes.read(after, ranges, missing)
    return {
        "query_error": summary.tidy(query.box_error(raw, boxes)),
        "joint_kl": None if perturbed else summary.tidy(joint_divergence(raw, boxes)),
        **kept(raw, boxes),
    }


def _in_leaf_order(tally: Tally, order: Mapping[str, Any] | None) -> Tally | None:
    """The raw table's tally with codes as the search had them; None where that cannot be told."""
    columns = []
    for column in tally.quasi:
        values: list[Value] = (order or {}).get(column.name, {}).get("values", [])
        code = {value: at for at, value in enumerate(values)}
        if any(value not in code for value in column.domain.values):
            return None
        domain = Domain(tuple(values), Node(ANY, 0, len(values)))
        moved = np.array([code[value] for value in column.domain.values], dtype=np.intp)
        columns.append(Column(column.name, domain, domain.column(moved[column.codes])))
    return replace(tally, quasi=tuple(columns))


def _points(column: Column, raw: Column) -> dict[Value, Span]:
    """Where values that chance or a mean has made stand among the raw ones: at the nearest number."""
    texts = ((at, read(value)) for at, value in enumerate(raw.domain.values) if value is not None)
    numbers = sorted((number, at) for at, number in texts if number is not None)
    found: dict[Value, Span] = {}
    for value in column.domain.values:
        at = raw.domain.code(value)
        number = None if value is None else read(value)
        if at is None and number is not None and numbers:
            at = _nearest(numbers, number)
        if at is not None:
            found[value] = at, at + 1
    return found


def _nearest(numbers: list[tuple[Decimal, int]], wanted: Decimal) -> int:
    place = bisect_left(numbers, (wanted, 0))
    return min(numbers[max(0, place - 1) : place + 1], key=lambda pair: abs(pair[0] - wanted))[1]
