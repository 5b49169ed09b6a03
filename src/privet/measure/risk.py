"""How likely a record can be re-identified, from the sizes of equivalence classes alone.

*Prosecutor*: knows that the target is in the table; the chance is one in the size of its class.
*Marketer*: wants as many as possible; the share of records found is the mean of these chances.
*Journalist*: does not know who is in the table; the chance is one in the number of people of the population
who share the values. With no population to compare with, the prosecutor's chance is the bound.

The names are El Emam's, "Guide to the De-Identification of Personal Health Information", 2013. What an
adversary of limited knowledge can do is `audit`'s matter.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from privet.measure.classes import Ints


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


AT_RISK = tuple(Fraction(1, size) for size in (2, 3, 5, 10, 20, 50, 100))


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
