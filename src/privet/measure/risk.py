"""How likely a record can be re-identified, from the sizes of equivalence classes alone.

*Prosecutor*: knows that the target is in the table; the chance is one in the size of its class.
*Marketer*: wants as many as possible; the share of records found is the mean of these chances.
*Journalist*: does not know who is in the table; the chance is one in the number of people of the population
who share the values. With no population to compare with, the prosecutor's chance is the bound.

The names are El Emam's, "Guide to the De-Identification of Personal Health Information", 2013. What an
adversary of limited knowledge can do is `audit`'s matter.

What the worst class gives away is said by every measure that a promise could be about: a release says what
it promised and found, and these are the same figures for what nobody promised: how few sensitive values a
class has, how uneven they are, how far from the whole table. They come from the published data alone, so
that anybody could count them.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from privet.core import Nulls, Tally
from privet.hierarchy import numbers
from privet.measure.classes import Ints
from privet.models.classes import Classes, Histogram

AT_RISK = tuple(Fraction(1, size) for size in (2, 3, 5, 10, 20, 50, 100))
RECURSIVE = 2  # the l of (c, l)-diversity
FAR = Fraction(10**6)  # a bound that no class is near: what is asked for is what was reached
MOST = (
    1000  # values of an attribute; one that has more is not a category, and every class is far from the table
)


def highest(sizes: Ints) -> Fraction:
    """The chance to find the record that is easiest to find."""
    return Fraction(1, int(sizes.min())) if len(sizes) else Fraction(0)


def average(sizes: Ints) -> Fraction:
    """The chance to find a record, averaged over records: classes for each record."""
    return Fraction(len(sizes), int(sizes.sum())) if len(sizes) else Fraction(0)


def uniques(sizes: Ints) -> int:
    """How many records are like no other."""
    return int((sizes == 1).sum())


def above(sizes: Ints, threshold: Fraction) -> int:
    """How many records can be found with a higher chance than the threshold; exactly."""
    # 1 / size > p  is  size < 1 / p
    return int(sizes[sizes * threshold.numerator < threshold.denominator].sum())


def at_risk(sizes: Ints) -> list[dict[str, Any]]:
    """How many records can be found with more than each of some usual chances."""
    records = int(sizes.sum())
    return [
        {"above": str(chance), "records": found, "share": found / records if records else 0.0}
        for chance in AT_RISK
        for found in [above(sizes, chance)]
    ]


def journalist(people: Ints, published: Ints) -> dict[str, Any]:
    """The chance where a population is known: of each class its people, and how many of them are published.

    The marketer who knows the population picks among as many.
    """
    shown = published > 0
    people, published = people[shown], published[shown]
    if not len(people):
        return {"highest": 0.0, "average": 0.0}
    return {
        "highest": float(Fraction(1, int(people.min()))),
        "average": float((published / people).sum() / published.sum()),
    }


def risk(sizes: Ints, times: Ints | None = None) -> dict[str, Any]:
    """The numbers that go into evidence, for a table before or after.

    `times`: how many classes have each size, where each stands once.
    """
    classes = len(sizes) if times is None else int(times.sum())
    records = int(sizes.sum() if times is None else (sizes * times).sum())
    alone = uniques(sizes) if times is None else int(times[sizes == 1].sum())
    return {
        "unique_records": alone,
        "unique_share": alone / records if records else 0.0,
        "highest": float(highest(sizes)),
        "average": float(Fraction(classes, records)) if records else 0.0,
        "classes": classes,
    }


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
