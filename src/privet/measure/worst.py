"""What the worst class gives away, by every measure that a promise could be about.

A release says what it promised and found. These are the same figures for what nobody promised: how few
sensitive values a class has, how uneven they are, how far from the whole table. They come from the published
data alone, so that anybody could count them.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from privet.core import Nulls, Tally
from privet.hierarchy import numbers
from privet.models.classes import Classes, Histogram

RECURSIVE = 2  # the l of (c, l)-diversity
FAR = Fraction(10**6)  # a bound that no class is near: what is asked for is what was reached
MOST = (
    1000  # values of an attribute; one that has more is not a category, and every class is far from the table
)


def worst_classes(published: Tally) -> dict[str, dict[str, Any]]:
    """For each sensitive attribute the figures of the class that is worst by each measure.

    Empty where a null matches every value: then classes overlap.
    """
    if published.nulls is Nulls.WILDCARD or not published.sensitive or not published.cells:
        return {}
    classes = Classes.of(published, "worst")
    found = {}
    for column in published.sensitive:
        if column.domain.size <= MOST:
            found[column.name] = _worst(_distributions(classes.histogram(published, column.name)))
    return found


def _distributions(histogram: Histogram) -> Histogram:
    """The same with one class for each value that is a class's only one.

    However many records such a class has, its distribution is that value; and in a large table most classes
    of a promise about less than all quasi-identifiers are of one record.
    """
    entries = np.diff(histogram.start, append=len(histogram.owner))
    single = np.flatnonzero(entries == 1)
    values, first = np.unique(histogram.value[histogram.start[single]], return_index=True)
    if len(values) == len(single):
        return histogram
    chosen = entries > 1
    chosen[single[first]] = True
    kept = chosen[histogram.owner]
    ends = np.cumsum(entries[chosen])
    return replace(
        histogram,
        size=histogram.size[chosen],
        start=ends - entries[chosen],
        owner=(np.cumsum(chosen) - 1)[histogram.owner[kept]],
        value=histogram.value[kept],
        count=histogram.count[kept],
    )


def _worst(histogram: Histogram) -> dict[str, Any]:
    # Loaded where there is something sensitive: a command that starts afresh pays for every model.
    from privet.models.ldiversity import (  # noqa: PLC0415
        DistinctLDiversity,
        EntropyLDiversity,
        RecursiveLDiversity,
    )
    from privet.models.tcloseness import Distance, TCloseness  # noqa: PLC0415

    about = (histogram.column.name,)
    asked: dict[str, tuple[Any, str]] = {
        "distinct_l": (DistinctLDiversity(l=1, sensitive=about), "l"),
        "entropy_l": (EntropyLDiversity(l=1, sensitive=about), "l"),
        "recursive_c": (RecursiveLDiversity(c=FAR, l=RECURSIVE, sensitive=about), "c"),
        "variational": (TCloseness(t=Fraction(1), sensitive=about, distance=Distance.VARIATIONAL), "t"),
        "kl": (TCloseness(t=FAR, sensitive=about, distance=Distance.KL), "t"),
    }
    if all(value is None or numbers.read(value) is not None for value in histogram.occurring):
        asked["ordered"] = (TCloseness(t=Fraction(1), sensitive=about, distance=Distance.ORDERED), "t")
    found: dict[str, Any] = {}
    for name, (model, number) in asked.items():
        reached = model.read(histogram).reached.get(number)
        found[name] = (
            None if reached is None else reached if name == "distinct_l" else round(float(reached), 9)
        )
    return found
