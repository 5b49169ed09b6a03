"""Where the ranges of a drafted hierarchy begin and end: at bounds that anybody could have said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from privet import hierarchy
from privet.core import Hierarchy
from privet.drafts import lexicon
from privet.hierarchy.numbers import read as number

YEARS = (1000, 2200)  # numbers that are all between are years
STEPS = 20  # at least, from one bound of a column to the other: how finely ranges are drawn


def bounded(name: str, drafted: Hierarchy, values: Sequence[str]) -> Hierarchy:
    """Intervals with bounds that anybody could have said, wide enough for the data; others as they are.

    Without them labels would end where the data does, and without a step ranges in between would begin and
    end at values of records. The steward reads the draft, and knows better.
    """
    found = [n for value in values if (n := number(value)) is not None]
    if not isinstance(drafted, hierarchy.Intervals) or not found:
        return drafted
    least, most = min(found), max(found)
    whole = all(n == int(n) for n in found)
    if whole and least >= YEARS[0] and most < YEARS[1] and _dated(name):
        first, last = int(least) // 100 * 100, int(most) // 100 * 100 + 100
    else:
        first = 0 if least >= 0 else -_round_above(-least)
        last = _round_above(most) if most >= 0 else 0
    return replace(drafted, low=first, high=last, step=_step(last - first, whole=whole))


def _step(span: int, *, whole: bool) -> int | Decimal:
    """The largest of 1, 2, 5, 10, … that fits STEPS times; of other than whole numbers, tenths too."""
    power = Decimal(1).scaleb((Decimal(span) / STEPS).adjusted())
    step = max(times * power for times in (1, 2, 5) if times * power * STEPS <= span)
    return int(step) if step >= 1 else 1 if whole else step.normalize()


def _dated(name: str) -> bool:
    return lexicon.DATES.speak(name) or lexicon.DATE_PARTS.speak(name)


def _round_above(most: Decimal) -> int:
    """The first of 10, 20, 50, 100, 200, … above a number."""
    power = 10
    while True:
        for times in (1, 2, 5):
            if most < times * power:
                return times * power
        power *= 10
