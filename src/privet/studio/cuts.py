"""Cuts that are set by sliders over a histogram: ranges of numbers, and spans of days."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from math import floor, log10
from typing import Any, Literal

from privet.errors import InputError
from privet.hierarchy.dates import Dates
from privet.hierarchy.tree import Branch
from privet.studio.seen import Column, as_day

STEPS = 200  # of a slider, where numbers are not whole


@dataclass(frozen=True)
class Sliders:
    """Where the cuts are, and between what they may go."""

    low: float
    high: float
    first: float  # where a slider begins, so that its steps are round numbers
    step: float | Literal["any"]  # any: a cut lies between the steps, and stays where it is
    inner: tuple[float, ...]
    dated: bool

    def shown(self, number: float) -> str:
        return as_day(number) if self.dated else f"{number:g}"


def sliders(spec: Mapping[str, Any], column: Column | None) -> Sliders | None:
    """The sliders of a column of numbers or dates; None: it is neither."""
    if column is None or not column.bins or column.bins[0].low == column.bins[-1].high:
        return None
    low, high = column.bins[0].low, column.bins[-1].high
    given = spec.get("edges", ())
    flat = list(given[0]) if given and isinstance(given[0], (list, tuple)) else list(given)
    inner = tuple(float(edge) for edge in flat if low < float(edge) < high)
    whole = column.dated or all(float(one.low).is_integer() for one in column.bins)
    step = 1 if whole else rounded((high - low) / STEPS)
    if not inner:
        cuts = (step * round((low + (high - low) * part / 4) / step) for part in (1, 2, 3))
        inner = tuple(dict.fromkeys(float(f"{cut:.12g}") for cut in cuts if low < cut < high))
    if not inner:  # one whole number, which nothing cuts
        return None
    between = any(abs(edge / step - round(edge / step)) > 1e-6 for edge in inner)
    first = plain(float(f"{floor(low / step) * step:.12g}"))
    return Sliders(low, high, first, "any" if between else step, inner, column.dated)


def rounded(width: float) -> float:
    """The next smaller width that people count in.

    >>> [rounded(width) for width in (0.293, 0.005, 7, 1400)]
    [0.2, 0.005, 5.0, 1000.0]
    """
    power = 10.0 ** floor(log10(width) + 1e-9)
    return float(f"{max(part for part in (1, 2, 5) if part * power <= width * (1 + 1e-9)) * power:.12g}")


def ranges(column: Column, given: Iterable[str]) -> dict[str, Any]:
    """Intervals with these cuts, as a policy says it."""
    low, high = plain(column.bins[0].low), plain(column.bins[-1].high)
    inner = sorted({exact(word) for word in given if word})
    return {"type": "intervals", "edges": [low, *(edge for edge in inner if low < edge < high), high]}


def spans(values: Sequence[str], given: Iterable[str], hierarchy: Dates) -> Branch:
    """A tree of spans of days: each cut is the first day of the next span.

    >>> tree = spans(["2024-03-05", "2024-04-01"], ["738977"], Dates())  # 1 April 2024
    >>> [node.label for node in tree.walk()]
    ['*', '2024-03-05 to 2024-03-31', '2024-03-05', '2024-04-01 to 2024-04-01', '2024-04-01']
    """
    days = sorted((day, value) for value in values if (day := hierarchy.day(value)) is not None)
    if not days:
        raise InputError("this column is not one of dates")
    first, last = days[0][0], days[-1][0]
    wanted = {date.fromisoformat(as_day(exact(word))) for word in given if word}
    starts = [first, *sorted(day for day in wanted if first < day <= last)]
    groups: list[list[Branch]] = [[] for _ in starts]
    for day, value in days:
        groups[bisect_right(starts, day) - 1].append(Branch(value))
    ends = [*(start - timedelta(days=1) for start in starts[1:]), last]
    return Branch(
        "*",
        tuple(
            Branch(f"{start.isoformat()} to {end.isoformat()}", tuple(inside))
            for start, end, inside in zip(starts, ends, groups, strict=True)
            if inside
        ),
    )


def exact(word: str) -> int | float:
    """A number that a slider or a field says."""
    try:
        return plain(float(word))
    except (ValueError, OverflowError):  # also of what is infinite
        raise InputError("an edge is a number") from None


def plain(number: float) -> int | float:
    """A whole number without its point."""
    return int(number) if number == int(number) else number
