"""What evidence says of a published table and the table itself shows: counted again, and compared."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from privet.core import Column, Tally, Terms
from privet.domain import Value
from privet.evidence.values import Evidence
from privet.measure import classes, summary
from privet.measure.classes import class_sizes
from privet.measure.summary import worst_classes
from privet.policy.notation import describe
from privet.roads.stations import checkable, needed, others
from privet.roads.tables import cautions


def complaints(evidence: Evidence, final: Tally, policy: Terms) -> Iterator[str]:
    """Numbers of the evidence that are not those of the table."""
    sizes, measures = class_sizes(final), evidence.measures
    risk = needed(measures.risk, "measures.risk")
    yield from others(
        [
            ("measures: classes", measures.classes, summary.classes(sizes)),
            ("measures: risk: after", risk.after, classes.risk(sizes)),
            ("measures: worst_classes", measures.worst_classes or {}, worst_classes(final)),
        ]
    )
    yield from out_of_order(evidence, policy)
    columns = {c.name: c for c in (*final.quasi, *final.sensitive, *([final.target] if final.target else []))}
    for name, lost in (measures.attributes or {}).items():
        if name not in columns:
            yield f"measures: attributes: {name!r} is not a column of the data"
        elif lost.distribution is not None and not _fits(
            tuple((cautions.label(policy, value), n) for value, n in lost.distribution), columns[name], final
        ):
            what = f"measures: attributes: {name}: distribution"
            yield f"{what}: the evidence claims other numbers than the data has"
    # Where values were drawn anew only those columns are measured in which they were.
    if measures.loss is None or measures.loss.changed is None:
        expected = {c.name for c in final.quasi if c.name not in (measures.attributes or {})}
        yield from (f"measures: attributes: {name!r} is missing" for name in sorted(expected))


def out_of_order(evidence: Evidence, policy: Terms) -> list[str]:
    """Promises stand in the policy's order, those about how it was made at the end."""
    first = checkable(policy)
    models = [describe(model) for model in (*first, *(m for m in policy.models if m not in first))]
    if [dict(promise.model) for promise in evidence.promises] == models:
        return []
    return ["promises: the evidence speaks of other promises than the policy, or in another order"]


def _fits(said: tuple[tuple[Value, int], ...], column: Column, final: Tally) -> bool:
    """How often each value is published, as far as it is said: of many only the most frequent."""
    times = np.bincount(column.codes, weights=final.counts, minlength=column.domain.size).astype(np.int64)
    found = {value: n for value, n in zip(column.domain.values, times.tolist(), strict=True) if n}
    shown, rest = [(value, n) for value, n in said if n], 0
    if len(said) == summary.SHOWN + 1 and said[-1][0] == summary.REST:
        rest = said[-1][1]
        shown.pop()
    named: dict[Value, int] = {}
    for value, n in shown:  # means of groups may read alike
        named[value] = named.get(value, 0) + n
    if rest + sum(named.values()) != sum(found.values()):
        return False
    if not rest:
        return named == found
    alike = len(named) < len(shown)
    unsaid = [n for value, n in found.items() if value not in named]
    return all(
        n == found.get(value) or (alike and n <= found.get(value, 0)) for value, n in named.items()
    ) and (alike or min(named.values()) >= max(unsaid, default=0))
