"""Which deletion weighs least on the border of what is innocent.

Spec 09, section 3.11, "border-based", after Sun and Yu, "A border-based approach for hiding sensitive
frequent itemsets", ICDM 2005. An element of the border weighs more the nearer it is to being lost; one that
is lost weighs nothing any more. Weights are whole numbers wherever their denominators allow it, so that equal
ones are equal; where they do not, they are rounded.

Candidates that would lose the same elements with the same item weigh alike for ever, so they wait in one
line, the first record in front, and only lines are weighed. A deletion makes other lines heavier; that is
found out when such a line looks lightest. What makes a line lighter (an element is lost, a record joins it)
is told at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush, heapreplace
from itertools import pairwise
from math import lcm
from typing import TypeAlias

import numpy as np

from privet.errors import InternalError
from privet.rules.baskets import Baskets, Ints
from privet.rules.mining import Itemset
from privet.rules.supporting import Supporting

Elements: TypeAlias = tuple[int, ...]  # numbers of elements of the border, rising
Key: TypeAlias = tuple[int, int, int, int]  # weight, support of the item, record, item: the least is the best

EXACT = 1 << 52  # weights are whole numbers as long as all together are below
FINE = 1 << 20  # parts of a unit to which weights are rounded that have no small common denominator


def common(denominators: Sequence[int]) -> int:
    """The least common denominator of so many weights; 0 where their sums would become too long.

    >>> common([2, 3, 4]), common(range(1, 100))
    (12, 0)
    """
    unit = 1
    for one in set(denominators):
        unit = lcm(unit, one)
        if 4 * unit * (len(denominators) + 1) ** 2 > EXACT:
            return 0
    return unit


class Border:
    """The elements of the border that a deletion could hit, and what each of them weighs."""

    def __init__(self, elements: Sequence[Itemset], supports: Sequence[int], least: int) -> None:
        self.elements = elements
        self._first, self._now, self._least = supports, list(supports), least
        self._unit = common([max(support - least, 1) for support in supports])
        # What it weighs to lose an element: more than all others together could, kept or near their end.
        self._huge = 4 * (self._unit or FINE) * (len(elements) + 1)
        self._weights = [self._weight(element) for element in range(len(elements))]

    def weigh(self, elements: Elements) -> int:
        """What it weighs to lower the support of these elements."""
        weights = self._weights
        return sum([weights[element] for element in elements])

    def hit(self, elements: Elements) -> list[int]:
        """Lower the support of these elements; which of them are lost with that."""
        for element in elements:
            self._now[element] -= 1
            self._weights[element] = self._weight(element)
        return [element for element in elements if self._now[element] == self._least - 1]

    def _weight(self, element: int) -> int:
        first, now = self._first[element], self._now[element]
        if now <= self._least:
            return self._huge if now == self._least else 0
        above = max(first - self._least, 1)
        if self._unit:
            return (first - now + 1) * (self._unit // above)
        return round((first - now + 1) / above * FINE)


@dataclass(slots=True)
class Line:
    """Candidates that weigh alike: a heap of their numbers."""

    item: int
    elements: Elements
    waiting: list[int] = field(default_factory=list)


class Lightest:
    """The candidates in their lines, and for each item its lines by what they seemed to weigh last."""

    def __init__(self, state: Supporting, baskets: Baskets, border: Sequence[Itemset], least: int) -> None:
        self._state = state
        victims = set(state.victims)
        watched = [itemset for itemset in border if victims & set(itemset)]
        holding = [baskets.holding(itemset) for itemset in watched]
        self._border = Border(watched, [len(records) for records in holding], least)
        self._lines: list[Line] = []
        self._number: dict[tuple[int, Elements], int] = {}
        self._with: list[list[int]] = [[] for _ in watched]  # the lines that have an element
        self._line = {item: np.full(len(state.records), -1, np.int32) for item in state.victims}
        self._idle: dict[int, list[int]] = {item: [] for item in state.victims}  # served no rule when seen
        self._heaps: dict[int, list[tuple[int, int, int]]] = {}  # weight, candidate in front, line
        self._tops: dict[int, Key] = {}
        self._best: list[Key] = []
        hits = [state.places(records) for records in holding]
        for item in state.victims:
            self._queue(item, [(at, hits[at]) for at, one in enumerate(watched) if item in one])

    def best(self) -> tuple[int, int]:
        """The candidate and the item to delete next."""
        while self._best:
            key = self._best[0]
            item = key[3]
            if self._tops.get(item) != key:
                heappop(self._best)
            elif self._settled(item):
                return key[2], item
            else:
                self._look(item)
        raise InternalError("a rule is seen that no record supports")

    def deleted(self, at: int, item: int, reopened: Sequence[int]) -> None:
        """An item was taken from a candidate, and with it these rules came to be seen again."""
        line = self._lines[self._line[item][at]]
        self._line[item][at] = -1
        changed = {item}
        elements = self._border.elements
        for other in {other for element in line.elements for other in elements[element]} & self._line.keys():
            was = int(self._line[other][at])
            if was >= 0:
                stays = tuple(one for one in self._lines[was].elements if item not in elements[one])
                self._join(at, other, stays)
                changed.add(other)
        for element in self._border.hit(line.elements):
            for lighter in self._with[element]:
                self._show(lighter)
                changed.add(self._lines[lighter].item)
        for victim in {victim for rule in reopened for victim in self._state.aims[rule].victims}:
            self._again(victim)
            changed.add(victim)
        for one in changed:
            self._look(one)

    def _queue(self, item: int, hits: Sequence[tuple[int, Ints]]) -> None:
        """Every candidate for an item into its line, at the beginning."""
        where = np.concatenate([*(places for _, places in hits), np.zeros(0, np.int64)])
        of = np.repeat([element for element, _ in hits], [len(places) for _, places in hits])
        order = np.argsort(where, kind="stable")  # of each candidate its elements stay in order
        every = of[order].tolist()
        size = len(self._state.records)
        begin = np.concatenate(([0], np.cumsum(np.bincount(where, minlength=size)))).tolist()
        spans = list(pairwise(begin))
        for at in self._state.of_victim(item).tolist():
            first, last = spans[at]
            number = self._numbered(item, tuple(every[first:last]))
            self._line[item][at] = number
            self._lines[number].waiting.append(at)  # they rise: a heap already
        self._heaps[item] = []
        for number in set(self._line[item].tolist()) - {-1}:
            self._show(number)
        self._look(item)

    def _numbered(self, item: int, elements: Elements) -> int:
        number = self._number.setdefault((item, elements), len(self._lines))
        if number == len(self._lines):
            self._lines.append(Line(item, elements))
            for element in elements:
                self._with[element].append(number)
        return number

    def _join(self, at: int, item: int, elements: Elements) -> None:
        number = self._numbered(item, elements)
        self._line[item][at] = number
        heappush(self._lines[number].waiting, at)
        self._show(number)

    def _again(self, item: int) -> None:
        """Candidates that served no rule when they were in front may serve one that is seen again."""
        idle, self._idle[item] = self._idle[item], []
        for at in idle:
            number = int(self._line[item][at])
            if number >= 0:
                heappush(self._lines[number].waiting, at)
                self._show(number)

    def _show(self, number: int) -> None:
        """A line that may be lighter than it looks, or be led by another."""
        line = self._lines[number]
        if line.waiting:
            heappush(self._heaps[line.item], (self._border.weigh(line.elements), line.waiting[0], number))

    def _look(self, item: int) -> None:
        """How good the best choice of an item looks: of equals the item that fewer records have."""
        heap = self._heaps[item]
        if not heap:
            self._tops.pop(item, None)
            return
        key = (heap[0][0], self._state.items[item], heap[0][1], item)
        if self._tops.get(item) != key:
            self._tops[item] = key
            heappush(self._best, key)

    def _settled(self, item: int) -> bool:
        """Is the best line of an item what it looks like? If not, it goes where it belongs."""
        heap = self._heaps[item]
        weight, at, number = heap[0]
        front = self._front(number)
        if front is None:
            heappop(heap)
            return False
        now = self._border.weigh(self._lines[number].elements)
        if (now, front) == (weight, at):
            return True
        heapreplace(heap, (now, front, number))
        return False

    def _front(self, number: int) -> int | None:
        """The first candidate of a line that is still in it and whose deletion serves an open rule."""
        line = self._lines[number]
        of, serves, waiting = self._line[line.item], self._state.serves[line.item], line.waiting
        while waiting:
            at = waiting[0]
            if of[at] != number:
                heappop(waiting)
            elif not serves[at]:
                self._idle[line.item].append(heappop(waiting))
            else:
                return at
        return None
