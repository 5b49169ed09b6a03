"""How many tables agree with every view, and in what share of them a person has a value: exactly.

The number of tables is a sum over all ways to give each class its values, of the product of multinomials.
Classes are taken one after another in an order that closes views early; what is left open of the views is
all that the rest depends on, so ways that leave the same are added up (a dynamic programme). One pass
forwards and one backwards give the chances of everybody. In general this is hard to count (Theorem 18), so
there is a limit on the work.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import factorial, lgamma, prod

import numpy as np

from privet.disclose.sources.prepare import Component, contradiction

STEPS = 300_000  # ways from one state to the next that are looked at before giving up; about two seconds

State = tuple[tuple[int, ...], ...]  # what is left of each open view
Way = tuple[State, tuple[int, ...], int, State]  # from, values of the class, in how many orders, to


@dataclass(frozen=True)
class Chances:
    """For each class of a component, the chance of each value; and how many tables there are."""

    instances: int
    shares: tuple[tuple[Fraction, ...], ...] = field(repr=False)  # [class][value]

    @property
    def worst(self) -> Fraction:
        return max(share for shares in self.shares for share in shares)


def count(part: Component, *, steps: int = STEPS) -> Chances | None:
    """Exact chances, or None where that takes more steps than allowed."""
    if len(part.views) == 1:
        return _single(part)
    order = closing_order(part)
    passes = _forward(part, order, steps)
    if passes is None:
        return None
    return _backward(part, order, passes)


def _single(part: Component) -> Chances:
    """One view: everybody has each value with its share (Theorem 16)."""
    counts = tuple(count for _, count in part.views[0].counts)
    held = {value: Fraction(count, sum(counts)) for value, count in part.views[0].counts}
    return Chances(multinomial(counts), (tuple(held[value] for value in part.values),))


@lru_cache(maxsize=1 << 14)
def multinomial(counts: tuple[int, ...]) -> int:
    """In how many orders a multiset can be laid out.

    >>> multinomial((2, 1, 1))
    12
    """
    return factorial(sum(counts)) // prod(map(factorial, counts))


def closing_order(part: Component) -> list[int]:
    """Classes such that few views are open at a time: the next is the one that leaves the least open."""
    weight = np.array([_log_states(row) for row in part.margins.tolist()])
    left = part.member.sum(axis=1)  # classes of each view still to come
    opened = np.zeros(len(part.views), dtype=bool)
    todo, order = list(range(len(part.classes))), []
    while todo:
        columns = part.member[:, todo]
        after = (opened[:, None] | columns) & (left[:, None] - columns > 0)
        cost = (after * weight[:, None]).sum(axis=0)
        at = min(range(len(todo)), key=lambda i: (float(cost[i]), todo[i]))
        chosen = todo.pop(at)
        opened |= part.member[:, chosen]
        left = left - part.member[:, chosen]
        order.append(chosen)
    return order


def _log_states(margin: Sequence[int]) -> float:
    """About how many parts of a multiset there are, as a logarithm."""
    return sum(lgamma(count + 2) - lgamma(count + 1) for count in margin)


def _forward(part: Component, order: Sequence[int], steps: int) -> list[list[Way]] | None:
    margins = [tuple(row) for row in part.margins.tolist()]
    left = part.member.sum(axis=1).tolist()
    open_: list[int] = []
    states: set[State] = {()}
    passes, taken = [], 0
    for at in order:
        mine = np.flatnonzero(part.member[:, at]).tolist()
        fresh = [view for view in mine if view not in open_]
        before = [*open_, *fresh]
        started = tuple(margins[view] for view in fresh)
        for view in mine:
            left[view] -= 1
        after = [view for view in before if left[view]]
        touched = [place for place, view in enumerate(before) if view in mine]
        closing = [place for place in touched if not left[before[place]]]
        kept = [place for place, view in enumerate(before) if left[view]]
        ways: list[Way] = []
        size = len(part.classes[at])
        for state in states:
            residual = state + started
            for chosen in _choices(residual, touched, closing, size):
                taken += 1
                if taken > steps:
                    return None
                moved = tuple(
                    tuple(a - b for a, b in zip(residual[place], chosen, strict=True))
                    if place in touched
                    else residual[place]
                    for place in kept
                )
                ways.append((state, chosen, multinomial(chosen), moved))
        states = {way[3] for way in ways}
        open_ = after
        passes.append(ways)
        if not states:
            raise contradiction()
    return passes


def _choices(
    residual: State, touched: Sequence[int], closing: Sequence[int], size: int
) -> Iterator[tuple[int, ...]]:
    """The multisets that a class may have, by what is left of its views."""
    caps = [min(column) for column in zip(*(residual[place] for place in touched), strict=True)]
    if closing:  # the last class of a view has what is left of it
        rest = residual[closing[0]]
        if all(a <= b for a, b in zip(rest, caps, strict=True)):
            yield rest
        return
    yield from _bounded(caps, size)


def _bounded(caps: Sequence[int], size: int) -> Iterator[tuple[int, ...]]:
    """Every way to take `size` things, no more of each than its cap."""
    if len(caps) == 1:
        if size <= caps[0]:
            yield (size,)
        return
    room = sum(caps[1:])
    for first in range(max(0, size - room), min(caps[0], size) + 1):
        for rest in _bounded(caps[1:], size - first):
            yield (first, *rest)


def _backward(part: Component, order: Sequence[int], passes: Sequence[Sequence[Way]]) -> Chances:
    reach: list[dict[State, int]] = [{(): 1}]  # tables up to here, by state
    for ways in passes:
        now: dict[State, int] = {}
        for before, _, orders, after in ways:
            if before in reach[-1]:
                now[after] = now.get(after, 0) + reach[-1][before] * orders
        reach.append(now)
    finish: dict[State, int] = {(): 1}  # tables from here on
    sums: list[list[int]] = [[] for _ in part.classes]
    for number in range(len(order) - 1, -1, -1):
        held = [0] * len(part.values)
        earlier: dict[State, int] = {}
        for before, chosen, orders, after in passes[number]:
            onwards = finish.get(after, 0) * orders
            if not onwards:
                continue
            earlier[before] = earlier.get(before, 0) + onwards
            weight = reach[number].get(before, 0) * onwards
            for value, many in enumerate(chosen):
                if many:
                    held[value] += weight * many
        sums[order[number]] = held
        finish = earlier
    total = finish.get((), 0)
    if not total:
        raise contradiction()
    return Chances(
        total,
        tuple(
            tuple(Fraction(held, total * len(members)) for held in row)
            for row, members in zip(sums, part.classes, strict=True)
        ),
    )
