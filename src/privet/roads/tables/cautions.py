"""What whoever opens a release is told of its table: ends that come from the data, cells that may be run.

*Labels whose ends come from the data.* What is told follows from the policy and from the labels that are
published, and from nothing else: so whoever receives a release finds the same cautions as who made it, and
`verify` complains where one is not said.

*Cells that a spreadsheet may take for formulas.* Values leave as they are unless the policy says
`formulas = "escaped"`: then an apostrophe stands before each, in what is counted and checked as in what is
written, so a receiver counts what was promised.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, TypeAlias

from privet.core import Algorithm, Column, Form, Hierarchy, Tally, Terms
from privet.domain import Value, plain
from privet.engine import Cluster, Engine
from privet.evidence.values import Evidence
from privet.hierarchy import Auto, Intervals
from privet.hierarchy.intervals import Number, outward
from privet.hierarchy.numbers import exact
from privet.readings import Formulas
from privet.spreadsheets import BEGINS, escaped, like_formula

FORMATS = ("csv", "tsv")  # a typed file says that a text is a text

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


def of_bounds(policy: Terms, columns: Iterable[Column]) -> list[str]:
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
    boxes, ends = search.draws_boxes, _public_ends(given)
    if given.edges:
        return
    if given.width:
        if boxes and len(ends) < BOTH and not all(_is_node(span, given) for span in spans):
            yield OF_WIDTH.format(plain(min(map(exact, given.width))))
    elif boxes and given.step is None:
        yield AT_RECORDS
    else:
        inside = {low for low, _ in spans} & {high for _, high in spans}
        if boxes:  # a search that rounds its boxes outward, unless it was another one that cuts
            inside = {end for end in inside if end % exact(given.step or 1)}
        if search.cuts_at_values and inside:
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


def written(engine: Engine[Any], table: Any, policy: Terms, form: Form) -> Any:
    """The table as it leaves."""
    if policy.formulas is not Formulas.ESCAPED or form.format not in FORMATS:
        return table
    changes = {
        name: {value: str(escaped(value)) for value in engine.distinct(table, name) if like_formula(value)}
        for name in engine.columns(table)
    }
    return engine.respelt(table, {name: spelt for name, spelt in changes.items() if spelt})


def label(policy: Terms, value: Value) -> Value:
    """A label as it is written."""
    return escaped(value) if policy.formulas is Formulas.ESCAPED else value


def of_formulas(engine: Engine[Any], table: Any, tally: Tally, form: Form) -> list[str]:
    """A caution for each column of a table with such values; `tally` has the values that were counted."""
    if form.format not in FORMATS:
        return []
    known: dict[str, Iterable[Value]] = {
        column.name: column.domain.values
        for column in (*tally.quasi, *tally.sensitive, *([tally.target] if tally.target else []))
    }
    found: list[str] = []
    for name in engine.columns(table):
        if name in known:
            values = known[name]
        elif isinstance(engine, Cluster):  # only what may be a formula need come here
            values = engine.beginning(table, name, BEGINS)
        else:
            values = engine.distinct(table, name)
        found += _of_formulas(name, values)
    return found


def of_formulas_in(columns: Iterable[tuple[str, Iterable[Value]]], form: Form) -> list[str]:
    """The same for columns of texts, or items, of a release that is not a table of records."""
    if form.format not in (*FORMATS, "baskets"):
        return []
    return [said for name, values in columns for said in _of_formulas(name, set(values))]


def _of_formulas(name: str, values: Iterable[Value]) -> Iterator[str]:
    if like_formula(name):
        yield f"{name}: its name begins like a formula; a spreadsheet may run it: rename the column"
    if times := sum(map(like_formula, values)):
        many = f"{times} different values begin" if times > 1 else "1 value begins"
        yield f"{name}: {many} like a formula; a spreadsheet may run it: import the column as text"


def unsaid(evidence: Evidence, found: Iterable[str]) -> list[str]:
    """Cautions that the data gives cause for and the evidence does not say."""
    return [f"cautions: is not said: {one}" for one in found if one not in evidence.cautions]


def bare(policy: Terms, found: Iterable[str]) -> list[str]:
    """Complaints where such cells are there although the policy says that they are escaped."""
    if policy.formulas is not Formulas.ESCAPED:
        return []
    return [f'{one.partition(";")[0]}, and the policy says formulas = "escaped"' for one in found]
