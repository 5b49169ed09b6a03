"""Labels whose ends come from the data: what the steward and the recipient are told of them.

What is told follows from the policy and from the labels that are published, and from nothing else: so whoever
receives a release finds the same cautions as who made it, and `verify` complains where one is not said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import TypeAlias

from privet.core import Algorithm, Column, Hierarchy, Terms
from privet.domain import Value, plain
from privet.hierarchy import Auto, Intervals
from privet.hierarchy.intervals import Number, outward
from privet.hierarchy.numbers import exact
from privet.relational.coincident import Coincident
from privet.relational.mondrian import Mondrian
from privet.relational.topdown import TopDown

BOXES = (Mondrian, Coincident)  # searches that draw a box around each class, and so a range of their own

AT_RECORDS = "ranges begin and end at values of records; a step in its hierarchy rounds them outward"
ROUNDED = (
    "where its intervals begin and end comes from the data, rounded outward to {}; low and high in its "
    "hierarchy make it public"
)
MEETING = "its intervals meet at values of records; a width or edges in its hierarchy make that public"
OF_WIDTH = (
    "where its ranges begin and end comes from the data, rounded outward to multiples of its width {}; "
    "bottom and top in its hierarchy make the ends public"
)
BOTH = 2
Span: TypeAlias = tuple[Decimal, Decimal]

_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_INTERVAL = re.compile(rf"\[({_NUMBER})(?:-|\.\.)({_NUMBER})\)")


def bounds_of_data(policy: Terms, columns: Iterable[Column]) -> list[str]:
    """A caution for each column, as published, whose intervals end where the data does."""
    hierarchies = {attribute.name: attribute.hierarchy for attribute in policy.attributes}
    return [
        f"{column.name}: {said}"
        for column in columns
        for said in _said(
            policy.algorithm, hierarchies.get(column.name), set(_intervals(column.domain.values))
        )
    ]


def _said(search: Algorithm, hierarchy: Hierarchy | None, spans: set[Span]) -> Iterator[str]:
    if not spans or not isinstance(hierarchy, Intervals | Auto | None):
        return
    given = hierarchy if isinstance(hierarchy, Intervals) else Intervals()
    boxes, ends = isinstance(search, BOXES), _public_ends(given)
    if given.edges:
        return
    if given.width:
        if boxes and len(ends) < BOTH and not all(_is_node(span, given) for span in spans):
            yield OF_WIDTH.format(plain(min(map(exact, given.width))))
    elif boxes and given.step is None:
        yield AT_RECORDS
    else:
        inside = {low for low, _ in spans} & {high for _, high in spans}
        if isinstance(search, TopDown) and inside:
            yield MEETING
        if len(ends) < BOTH:
            to = "a power of ten" if given.step is None else f"multiples of {plain(exact(given.step))}"
            yield ROUNDED.format(to)


def _public_ends(given: Intervals) -> list[Number]:
    """Where the policy says that numbers begin and end."""
    sides = ((given.bottom, given.low), (given.top, given.high))
    return [next(end for end in side if end is not None) for side in sides if side != (None, None)]


def _is_node(span: Span, given: Intervals) -> bool:
    """Is this one of the intervals of a width, or what coded ends leave of one?"""
    origin = exact(given.origin)
    low, high = (end - origin for end in span)
    return any(
        high <= end for width in map(exact, given.width) for end in [outward(low, low, width)[0] + width]
    )


def _intervals(labels: Iterable[Value]) -> Iterator[Span]:
    for label in labels:
        if label is not None and (found := _INTERVAL.search(label)):
            yield Decimal(found[1]), Decimal(found[2])
