"""Numbers under intervals: grown at run time, of equal widths, or between given edges.

Intervals are half-open, `[from, to)`. Grown intervals follow Fung, Wang and Yu, "Top-down
specialization for information and privacy preservation", ICDE 2005: only the root is fixed here, and
the search chooses where to split.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from functools import cache
from itertools import pairwise
from typing import ClassVar, TypeAlias, cast

from privet.core import Hierarchy
from privet.declared import settle
from privet.domain import (
    ANY,
    Domain,
    Group,
    Node,
    Path,
    Scale,
    Value,
    arrange,
    distinct,
    flat,
    interval_label,
    plain,
    refuse,
)
from privet.errors import HierarchyError
from privet.hierarchy.numbers import EXACT, exact, read, step

Number: TypeAlias = int | Decimal
Bounds: TypeAlias = tuple[Decimal, Decimal]
Edges: TypeAlias = tuple[Decimal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals(Hierarchy):
    """A hierarchy of intervals over numbers.

    Without `width` and `edges` the tree is grown by the search, from one root interval `[low, high)`. Where
    these are not given they come from the data, rounded outward to multiples of `step` or of a power of
    ten: the exact values of the smallest and the largest record are nobody's business. Ranges that a search
    makes are rounded outward to the same `step`, or to the finest `width` or `edges`.

    `width=(5, 10)`: intervals that start at multiples of their width, counted from `origin`.
    `edges=(0, 18, 65)`, or several such lists, finest first: the intervals between them. Below both
    stand the numbers themselves; with `raw=False` the finest interval is the most that is published.

    `unit`: with `low` and `high`, the step of the numbers that could be; `null`: whether a missing one
    could; only where the data must not say it.

    `bottom` and `top`: numbers below, or from there on, are never told apart.

    >>> ages = Intervals(width=(5, 10), top=90).domain(["34", "31", "38", "97", "90"])
    >>> [node.label for node in ages.root.walk()]
    ['*', '[30-40)', '[30-35)', '31', '34', '[35-40)', '38', '>=90']
    """

    width: Sequence[Number] = ()
    edges: Sequence[Number] | Sequence[Sequence[Number]] = ()
    origin: Number = 0
    low: Number | None = None
    high: Number | None = None
    bottom: Number | None = None
    top: Number | None = None
    raw: bool = True
    unit: Number | None = None
    null: bool = False
    step: Number | None = None

    name: ClassVar[str] = "intervals"

    def __post_init__(self) -> None:
        settle(self)
        if self.edges and isinstance(self.edges[0], int | Decimal):
            object.__setattr__(self, "edges", (self.edges,))
        edges = (e for level in self._edges for e in level)
        steps = [step for step in (self.step,) if step is not None]
        for number in (*self.width, *edges, self.origin, *self._limits, *steps):
            exact(number)
        if complaints := [
            *self._wrong_shape(),
            *self._wrong_width(),
            *self._wrong_edges(),
            *self._wrong_limits(),
        ]:
            raise HierarchyError(*complaints)

    def domain(self, values: Sequence[Value]) -> Domain:
        texts, null = distinct(values)
        # Equal numbers written differently ("7", "7.0") are different values side by side, by their text.
        found = {text: number for text in sorted(texts) if (number := read(text)) is not None}
        order = sorted(found, key=found.__getitem__)
        numbers = tuple(found[text] for text in order)
        low, high = self._reach()
        outside = (bisect_left(numbers, low) if low is not None else 0) + (
            len(numbers) - bisect_left(numbers, high) if high is not None else 0
        )
        refuse(
            (len(texts) - len(numbers), "not numbers", "choose another hierarchy"),
            (outside, "outside the intervals", "widen them, or code them with bottom and top"),
            of=len(texts),
        )
        if not numbers:
            return flat((None,) if null else ())
        with localcontext(EXACT):
            unit = step(found)
            scale = Scale(numbers, numbers[0], numbers[-1] + unit, unit, integral=unit == 1)
            if self.width or self.edges:
                return self._given(order, scale, null=null)
            return self._growing(order, scale, null=null)

    def uncovered(self, values: Sequence[Value]) -> list[str]:
        low, high = self._reach()
        return [
            text
            for text in distinct(values)[0]
            if (number := read(text)) is None
            or (low is not None and number < low)
            or (high is not None and number >= high)
        ]

    def to_policy(self) -> dict[str, object]:
        policy: dict[str, object] = {"type": self.name}
        if self.width:
            policy["width"] = [_written(width) for width in self.width]
        if self.edges:
            levels = [[_written(edge) for edge in level] for level in self._edges]
            policy["edges"] = levels if len(levels) > 1 else levels[0]
        if self.origin:
            policy["origin"] = _written(self.origin)
        for key in ("low", "high", "step", "unit", "bottom", "top"):
            if (limit := getattr(self, key)) is not None:
                policy[key] = _written(limit)
        if self.null:
            policy["null"] = True
        return policy if self.raw else policy | {"raw": False}

    @property
    def public_only(self) -> bool:
        """Does it say what only an algorithm with public domains can use?"""
        return self.unit is not None or self.null

    @property
    def _edges(self) -> tuple[tuple[Number, ...], ...]:
        return cast("tuple[tuple[Number, ...], ...]", self.edges)

    @property
    def _limits(self) -> list[Number]:
        return [limit for limit in (self.low, self.high, self.bottom, self.top) if limit is not None]

    def _reach(self) -> tuple[Number | None, Number | None]:
        """Between what the values must lie; None where there is no limit."""
        low, high = (self._edges[0][0], self._edges[0][-1]) if self.edges else (self.low, self.high)
        return (None if self.bottom is not None else low), (None if self.top is not None else high)

    # Grown at run time: the root is all that is given.

    def _growing(self, values: Sequence[str], scale: Scale, *, null: bool) -> Domain:
        numbers, size = scale.numbers, len(values)
        below = 0 if self.bottom is None else bisect_left(numbers, self.bottom)
        above = size if self.top is None else bisect_left(numbers, self.top)
        # A coded end has no interval, so that no search can split it.
        first = [Node(f"<{_plain(self.bottom)}", 0, below)] if self.bottom is not None and below else []
        last = [Node(f">={_plain(self.top)}", above, size)] if self.top is not None and above < size else []
        middle = []
        if below < above:
            ends = numbers[below], numbers[above - 1] + scale.step
            said = None if self.step is None else exact(self.step)
            round_to = said or _coarse(ends[1] - ends[0], scale.step)
            lows = [exact(x) for x in (self.bottom, self.low) if x is not None]
            highs = [exact(x) for x in (self.top, self.high) if x is not None]
            alone = numbers[below] == numbers[above - 1]  # then everybody has it, and it leaves as it is
            low, high = ends if alone else outward(*ends, round_to)
            low, high = next(iter(lows), low), next(iter(highs), high)
            public = bool(lows and highs)
            scale = replace(
                scale, low=low, high=high, rounded=None if public or alone else round_to, said=said
            )
            middle = [Node(scale.label(low, high), below, above, interval=(low, high))]
        if middle and not null and self.bottom is None and self.top is None:
            return Domain(tuple(values), middle[0], scale)
        nulls = [Node(None, size, size + 1)] if null else []
        parts = (*first, *middle, *last, *nulls)
        return Domain((*values, *(None for _ in nulls)), Node(ANY, 0, size + len(nulls), parts), scale)

    # Given: each number has one interval at each level.

    def _given(self, values: Sequence[str], scale: Scale, *, null: bool) -> Domain:
        levels = self._levels()
        bottom = None if self.bottom is None else exact(self.bottom)
        top = None if self.top is None else exact(self.top)
        signed = any(level(max(scale.low, bottom or scale.low))[0] < 0 for level in levels)

        @cache
        def group(low: Decimal | None, high: Decimal | None) -> Group | None:
            if low is None:
                return None if high is None else Group(f"<{plain(high)}")
            if high is None:
                return Group(f">={plain(low)}")
            return Group(interval_label(low, high, signed=signed), (low, high))

        def above(number: Decimal) -> Path:
            # An interval that reaches into a coded end has no edge on that side, whether or not the
            # data has values there: labels do not depend on the data.
            path = []
            for level in levels:
                if bottom is not None and number < bottom:
                    low, high = level(bottom)
                    path.append(group(None, high if low < bottom else bottom))
                elif top is not None and number >= top:
                    path.append(group(level(top)[0], None))
                else:
                    low, high = level(number)
                    open_low = bottom is not None and low < bottom
                    open_high = top is not None and high > top
                    path.append(group(None if open_low else low, None if open_high else high))
            return tuple(dict.fromkeys(g for g in path if g is not None))

        def leaf(text: str, number: Decimal) -> Path:
            if bottom is not None and number < bottom:
                return (Group(f"<{plain(bottom)}"),)
            if top is not None and number >= top:
                return (Group(f">={plain(top)}"),)
            return (Group(text),) if self.raw else ()

        rows = [
            (text, tuple(dict.fromkeys((*above(number), *leaf(text, number)))))
            for text, number in zip(values, scale.numbers, strict=True)
        ]
        spans = [g.interval for _, path in rows for g in path if g.interval is not None]
        low = min((span[0] for span in spans), default=scale.low)
        high = max((span[1] for span in spans), default=scale.high)
        scale = replace(scale, low=low, high=high, grown=False)
        lift = bool(self.edges) and bottom is None and top is None
        return arrange(rows, null=null, scale=scale, lift=lift)

    def _levels(self) -> list[Callable[[Decimal], Bounds]]:
        """For each level, coarsest first, where the interval of a number begins and ends."""
        if self.width:
            origin = exact(self.origin)
            return [_of_width(exact(width), origin) for width in reversed(self.width)]
        ends = (self._edges[0][0], self._edges[0][-1])
        return [_between(tuple(map(exact, level))) for level in (ends, *reversed(self._edges))]

    # What can be wrong.

    def _wrong_shape(self) -> list[str]:
        fixed = bool(self.width or self.edges)
        return [
            complaint
            for wrong, complaint in (
                (self.width and self.edges, "width, edges: give one of them"),
                (self.origin and not self.width, "origin: only with width"),
                (fixed and (self.low, self.high) != (None, None), "low, high: not with width or edges"),
                (not fixed and not self.raw, "raw: only with width or edges"),
                (self.low is not None and self.bottom is not None, "low, bottom: give one of them"),
                (self.high is not None and self.top is not None, "high, top: give one of them"),
                (
                    self.unit is not None and (self.low is None or self.high is None),
                    "unit: only with low and high",
                ),
                (self.unit is not None and self.unit <= 0, "unit: above 0"),
                (
                    fixed and self.step is not None,
                    "step: not with width or edges, which are steps themselves",
                ),
                (self.step is not None and self.step <= 0, "step: above 0"),
            )
            if wrong
        ]

    def _wrong_width(self) -> list[str]:
        if any(width <= 0 for width in self.width):
            return ["width: each is above 0"]
        with localcontext(EXACT):
            nested = all(
                wide > narrow and exact(wide) % exact(narrow) == 0 for narrow, wide in pairwise(self.width)
            )
        return [] if nested else ["width: finest first, each a multiple of the one before"]

    def _wrong_edges(self) -> list[str]:
        complaints = []
        if any(len(level) < 2 or any(a >= b for a, b in pairwise(level)) for level in self._edges):
            complaints.append("edges: at least two, in ascending order")
        elif any(not set(coarse) < set(fine) for fine, coarse in pairwise(self._edges)):
            complaints.append("edges: finest first, the edges of each level among those of the one before")
        elif any((fine[0], fine[-1]) != (coarse[0], coarse[-1]) for fine, coarse in pairwise(self._edges)):
            complaints.append("edges: every level begins and ends at the same numbers")
        return complaints

    def _wrong_limits(self) -> list[str]:
        lower = self.low if self.bottom is None else self.bottom
        upper = self.high if self.top is None else self.top
        complaints = []
        if lower is not None and upper is not None and lower >= upper:
            complaints.append("low, high, bottom, top: the lower limit is below the upper")
        codes = [code for code in (self.bottom, self.top) if code is not None]
        if self.edges and any(not self._edges[0][0] <= code <= self._edges[0][-1] for code in codes):
            complaints.append("bottom, top: between the first and the last edge")
        return complaints


def _coarse(span: Decimal, unit: Decimal) -> Decimal:
    """A step that tells little of where the data ends: the power of ten in its span, ten units at least."""
    return max(10 * unit, Decimal(1).scaleb(span.adjusted()))


def outward(low: Decimal, high: Decimal, to: Decimal) -> Bounds:
    """A range widened until it begins and ends at multiples of a step.

    >>> outward(Decimal(17), Decimal(91), Decimal(10))
    (Decimal('10'), Decimal('100'))
    """
    below, above = _of_width(to, Decimal(0)), high % to
    return below(low)[0], high if not above else below(high)[1]


def _of_width(width: Decimal, origin: Decimal) -> Callable[[Decimal], Bounds]:
    def bounds(number: Decimal) -> Bounds:
        over = (number - origin) % width  # has the sign of the number, and is exact, as division is not
        low = number - over - (width if over < 0 else 0)
        return low, low + width

    return bounds


def _between(edges: Edges) -> Callable[[Decimal], Bounds]:
    def bounds(number: Decimal) -> Bounds:
        at = bisect_right(edges, number) - 1
        return edges[at], edges[min(at + 1, len(edges) - 1)]

    return bounds


def _plain(number: Number) -> str:
    return plain(exact(number))


def _written(number: Number) -> int | str:
    """As in a policy file: an integer, or a quoted decimal."""
    return int(number) if number == int(number) else plain(exact(number))
