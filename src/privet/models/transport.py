"""The earth mover's distance for costs that somebody wrote down: a transport problem, solved exactly.

What a class has too much of some values is carried to values of which it has too little. Everything is whole
numbers: shares over a common denominator, costs over theirs. Goods may pass through other values, so the cost
of a pair is that of its cheapest way; where costs keep the triangle inequality that is the cost itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import gcd, lcm
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.domain import Value
from privet.equality import finder

Costs: TypeAlias = Mapping[str, Mapping[str, Fraction]]
Matrix: TypeAlias = tuple[tuple[int, ...], ...]
Floats: TypeAlias = NDArray[np.float64]

PRICES = 500  # kept of problems that were solved


@dataclass(frozen=True, slots=True)
class Ways:
    """The cheapest way from each value to each other, in parts of `bottom`."""

    cost: Matrix
    bottom: int
    detours: int  # pairs that are cheaper by way of others than they were said to be

    @classmethod
    def among(cls, values: Iterable[Value], costs: Costs) -> Ways:
        """The ways among these values; a pair that is not named costs 1, one named once costs that both ways.

        >>> Ways.among(("a", "b", "c"), {"a": {"b": Fraction(1, 2)}}).cost
        ((0, 1, 2), (1, 0, 2), (2, 2, 0))
        """
        rows = tuple((one, tuple(row.items())) for one, row in costs.items())
        said = finder({name: name for one, row in costs.items() for name in (one, *row)})
        return _cheapest(tuple(said(value) or value for value in values), rows)


@lru_cache(maxsize=64)  # a search asks for the same ones again and again
def _cheapest(
    values: tuple[Value, ...], rows: tuple[tuple[str, tuple[tuple[str, Fraction], ...]], ...]
) -> Ways:
    costs = {one: dict(row) for one, row in rows}
    bottom = lcm(1, *(cost.denominator for row in costs.values() for cost in row.values()))
    direct = [[0 if a == b else int(stated(costs, a, b) * bottom) for b in values] for a in values]
    cost = [row[:] for row in direct]
    for middle in range(len(values)):
        for row in cost:
            first = row[middle]
            for at, second in enumerate(cost[middle]):
                row[at] = min(row[at], first + second)
    pairs = [
        (a, b) for found, said in zip(cost, direct, strict=True) for a, b in zip(found, said, strict=True)
    ]
    return Ways(tuple(map(tuple, cost)), bottom, sum(a < b for a, b in pairs))


def stated(costs: Costs, one: Value, other: Value) -> Fraction:
    """What changing one value into another costs, as it was written down."""
    if one is None or other is None:
        return Fraction(1)
    for a, b in ((one, other), (other, one)):
        if b in costs.get(a, {}):
            return costs[a][b]
    return Fraction(1)


def least_work(cost: Matrix, surplus: Sequence[int]) -> int:
    """The cheapest way to carry all that is too much to where it is too little; both add up to the same."""
    shared = gcd(*surplus) or 1  # classes of the same shares are one problem
    return shared * _solved(cost, tuple(one // shared for one in surplus))[0]


class Bounds:
    """What many classes cost at least and at most, by the thousand, without solving them.

    At most: what a greedy carrier pays, who takes the cheapest pair first. At least: prices. If each value
    has a price and no way costs less than the price rises on it, carrying costs at least what prices gain.
    Every problem that was solved leaves the prices that prove it, which are good for its neighbours too.
    """

    def __init__(self, ways: Ways) -> None:
        self._ways = ways
        self._cost = np.array(ways.cost, dtype=np.float64).reshape(len(ways.cost), -1) / ways.bottom
        pairs = [(a, b) for a in range(len(self._cost)) for b in range(len(self._cost)) if a != b]
        self._pairs = sorted(pairs, key=lambda pair: ways.cost[pair[0]][pair[1]])
        self._prices: dict[tuple[int, ...], None] = {}

    def solve(self, surplus: Sequence[int]) -> int:
        """The least work, exactly; its prices are kept."""
        shared = gcd(*surplus) or 1
        work, prices = _solved(self._ways.cost, tuple(one // shared for one in surplus))
        if len(self._prices) < PRICES:
            self._prices[prices] = None
        return shared * work

    def at_most(self, surplus: Floats) -> Floats:
        left, paid = surplus.copy(), np.zeros(len(surplus))
        for a, b in self._pairs:
            moved = np.minimum(np.maximum(left[:, a], 0), np.maximum(-left[:, b], 0))
            left[:, a] -= moved
            left[:, b] += moved
            paid += self._cost[a, b] * moved
        return paid

    def at_least(self, surplus: Floats) -> Floats:
        cheapest = np.where(np.eye(len(self._cost), dtype=bool), 1.0, self._cost).min(axis=1, initial=1.0)
        found = np.maximum(surplus, 0) @ cheapest
        if self._prices:
            prices = np.array(list(self._prices), dtype=np.float64) / self._ways.bottom
            found = np.maximum(found, (surplus @ -prices.T).max(axis=1))
        return np.asarray(found)


@lru_cache(maxsize=16)
def bounds(ways: Ways) -> Bounds:
    """The bounds for some costs, which a search sharpens as it goes."""
    return Bounds(ways)


@lru_cache(maxsize=1 << 16)
def _solved(cost: Matrix, surplus: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """The least work, and prices that prove it.

    Successive shortest ways: each carries as much as it can, on the way that is cheapest now.

    Going from one value to another costs what it costs, or gives back what the opposite way had cost, as
    far as something was carried there. That no way is a shorter one at the end is what makes it the least.
    """
    left = list(surplus)
    carried: dict[tuple[int, int], int] = {}
    work = 0
    while any(n > 0 for n in left):
        far, before = _ways(cost, carried, [0 if n > 0 else None for n in left])
        end = min((at for at, n in enumerate(left) if n < 0), key=lambda at: far[at])
        way = [end]
        while before[way[0]] is not None:
            way.insert(0, before[way[0]])
        steps = list(pairwise(way))
        back = [carried[b, a] for a, b in steps if carried.get((b, a))]
        much = min([left[way[0]], -left[end], *back])
        for a, b in steps:
            if carried.get((b, a)):
                carried[b, a] -= much
            else:
                carried[a, b] = carried.get((a, b), 0) + much
        left[way[0]] -= much
        left[end] += much
        work += much * far[end]
    # How far every value is from anywhere, now that no way back is left that would gain something.
    return work, tuple(_ways(cost, carried, [0] * len(left))[0])


def _ways(
    cost: Matrix, carried: Mapping[tuple[int, int], int], start: list[Any]
) -> tuple[list[Any], list[Any]]:
    """How far each value is from those that have too much, and the value before it on its way."""
    far: list[Any] = list(start)
    before: list[Any] = [None] * len(start)
    changed = [at for at, here in enumerate(far) if here is not None]
    while changed:
        better: dict[int, None] = {}
        for a in changed:
            for b, forward in enumerate(cost[a]):
                taken = carried.get((b, a))
                there = far[a] + (-cost[b][a] if taken else forward)
                if a != b and (far[b] is None or there < far[b]):
                    far[b], before[b] = there, a
                    better[b] = None
        changed = list(better)
    return far, before
