"""What is known about maxima: equalities max(Q) = a and upper bounds max(Q) <= a.

Let mu[j] be the least value of all constraints that hold person j. An equality needs somebody who can
reach it: its *extremes*, the members with mu[j] = a. No extreme: contradiction. One extreme: that person
is determined. (Kleinberg, Papadimitriou and Raghavan 2003.)

Suppose max(Q) = c were added. An equality with value a > c loses its extremes inside Q and no other; one
with a <= c loses nothing; and the new one has the members of Q with mu[j] >= c. So the status of c
depends on four thresholds only, found in one pass, instead of a pass for every candidate:

    c < A0 or c > m1      inconsistent      A0, A1: the largest value of an equality that keeps
    c < A1 or c > m2      unsafe                    none / at most one of its extremes outside Q
    otherwise             safe              m1, m2: the largest and second largest mu in Q
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from privet.disclose.audit.exact import Members

NONE = -1  # a threshold that nothing reaches from below
EVER = 1 << 40  # a threshold that nothing passes
WATCHED = 16  # extremes looked at first; two of them outside the query are proof enough


class Values:
    """All values of a log in order. A place is 2i+1 for the i-th value, 2i for the gap below it."""

    def __init__(self) -> None:
        self.ordered: list[Fraction] = []
        self._ids: dict[Fraction, int] = {}
        self.places = np.array([EVER], dtype=np.int64)  # by id; the last one is for nobody's bound

    def id(self, value: Fraction) -> int:
        """A number for the value that stays when others come between."""
        if value not in self._ids:
            self._ids[value] = len(self._ids)
            self.ordered.insert(bisect_left(self.ordered, value), value)
            places = np.empty(len(self._ids) + 1, dtype=np.int64)
            places[-1] = EVER
            for rank, known in enumerate(self.ordered):
                places[self._ids[known]] = 2 * rank + 1
            self.places = places
        return self._ids[value]

    def place(self, value: Fraction) -> int:
        """Where any number stands among them."""
        rank = bisect_left(self.ordered, value)
        return 2 * rank + int(rank < len(self.ordered) and self.ordered[rank] == value)

    def candidates(self, grid: Fraction | None = None) -> tuple[NDArray[np.int64], list[Fraction]]:
        """One answer for every value and every gap; with a grid, only gaps that hold a grid point."""
        known = self.ordered
        if not known:
            return np.zeros(1, dtype=np.int64), [Fraction(0)]
        step = grid or Fraction(1)
        places, answers = [0], [known[0] - step]
        for rank, value in enumerate(known):
            places.append(2 * rank + 1)
            answers.append(value)
            if rank + 1 == len(known):
                between = value + step
            elif grid is None:
                between = (value + known[rank + 1]) / 2
            elif known[rank + 1] - value >= 2 * grid:
                between = value + grid  # the first: nothing lies between it and the value below
            else:
                continue
            places.append(2 * rank + 2)
            answers.append(between)
        return np.array(places, dtype=np.int64), answers


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Places: below `none` or above `first` inconsistent; below `one` or above `second` unsafe."""

    none: int
    one: int
    first: int
    second: int


class MaxLog:
    """Constraints over n people, added one by one."""

    def __init__(self, n: int, values: Values) -> None:
        self.n = n
        self.values = values
        self._bound = np.full(n, -1, dtype=np.int32)  # the id of mu[j]; -1 where there is none
        self._inside = np.zeros(n, dtype=bool)  # scratch: the query at hand
        self._equals: list[int] = []  # the value's id of each equality
        self._extremes: list[NDArray[np.int32]] = []  # some may have been lost since; mu tells
        self._watched = np.empty((0, WATCHED), dtype=np.int32)
        self._ids = np.empty(0, dtype=np.int32)

    def __len__(self) -> int:
        return len(self._equals)

    def thresholds(self, query: Members) -> Thresholds:
        """What would happen to every possible answer."""
        inside = self._inside
        inside[query] = True
        try:
            none, one = self._losers(inside)
        finally:
            inside[query] = False
        reach = self.values.places[self._bound[query]]
        if len(reach) == 1:
            return Thresholds(none, one, int(reach[0]), NONE)
        second, first = np.partition(reach, len(reach) - 2)[-2:]
        return Thresholds(none, one, int(first), int(second))

    def _losers(self, inside: NDArray[np.bool_]) -> tuple[int, int]:
        none = one = NONE
        held = len(self._equals)
        if not held:
            return none, one
        watched, ids = self._watched[:held], self._ids[:held]
        alive = (watched >= 0) & (self._bound[watched] == ids[:, None]) & ~inside[watched]
        doubtful = np.nonzero(alive.sum(axis=1) < 2)[0]
        for at in doubtful[np.argsort(-self.values.places[ids[doubtful]], kind="stable")]:
            place = int(self.values.places[ids[at]])
            if place <= none:  # smaller ones change nothing
                break
            if place <= one and none == NONE and not self._could_vanish(int(at), inside):
                continue
            left = self._left(int(at), inside)
            if left <= 1:
                one = max(one, place)
            if left == 0:
                none = max(none, place)
        return none, one

    def _could_vanish(self, at: int, inside: NDArray[np.bool_]) -> bool:
        """A quick no: one watched extreme outside the query is enough."""
        watched = self._watched[at]
        return not np.any((watched >= 0) & (self._bound[watched] == self._ids[at]) & ~inside[watched])

    def _left(self, at: int, inside: NDArray[np.bool_]) -> int:
        """How many extremes of an equality lie outside the query, counted in full."""
        extremes = self._extremes[at]
        alive = extremes[self._bound[extremes] == self._ids[at]]
        if len(alive) < len(extremes):
            self._extremes[at] = alive
            self._watch(at)
        return len(alive) - int(np.count_nonzero(inside[alive]))

    def _watch(self, at: int) -> None:
        extremes = self._extremes[at]
        self._watched[at] = -1
        # Spread over the set: members that come together often leave together.
        chosen = extremes[:: max(1, len(extremes) // WATCHED)][:WATCHED]
        self._watched[at, : len(chosen)] = chosen

    def at_most(self, query: Members, value: Fraction) -> None:
        """Add max(Q) <= value."""
        self._lower(query, self.values.id(value))

    def equal(self, query: Members, value: Fraction) -> None:
        """Add max(Q) = value."""
        name = self.values.id(value)
        self._lower(query, name)
        at = len(self._equals)
        if at == len(self._watched):
            grown = np.full((max(64, 2 * at), WATCHED), -1, dtype=np.int32)
            grown[:at] = self._watched
            ids = np.full(len(grown), -1, dtype=np.int32)
            ids[:at] = self._ids
            self._watched, self._ids = grown, ids
        self._equals.append(name)
        self._ids[at] = name
        self._extremes.append(query[self._bound[query] == name].astype(np.int32))
        self._watch(at)

    def _lower(self, query: Members, name: int) -> None:
        places = self.values.places
        self._bound[query[places[self._bound[query]] > places[name]]] = name

    def weakest(self) -> int | None:
        """The fewest extremes that any equality has; None where there is no equality."""
        nobody = np.zeros(self.n, dtype=bool)
        return min((self._left(at, nobody) for at in range(len(self._equals))), default=None)
