"""Hiding by deleting single items.

Spec 09, section 3.11: the support of each sensitive rule is lowered by deleting items from records that
support it; each time the record and item are taken whose deletion weighs least on the border of what is
innocent (`lightest`), or without a border, as in the plain heuristic of Verykios et al. (TKDE 2004), where
the deletion serves the most rules, and of these the shortest record.

Of equal weights the item with the lower support goes first, then the record that comes first. Of records
that serve as many rules and are as short, the item with the higher support, then the record that comes first.

Differs from the spec: a rule may be hidden by its confidence, by deleting items of its consequent.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Protocol, TypeAlias

import numpy as np

from privet.core import Progress, silent
from privet.errors import InternalError
from privet.rules.baskets import Baskets
from privet.rules.goals import Goal, innocent_border
from privet.rules.lightest import Lightest
from privet.rules.mining import Mined
from privet.rules.supporting import Supporting

Heap: TypeAlias = list[tuple[int, int, int]]  # rules served below 0, length, candidate


class Choice(Protocol):
    """Which candidate and item go next."""

    def best(self) -> tuple[int, int]: ...

    def deleted(self, at: int, item: int, reopened: Sequence[int]) -> None: ...


def delete_items(
    baskets: Baskets, aims: Sequence[Goal], mined: Mined, *, border: bool, progress: Progress = silent
) -> list[tuple[int, int]]:
    """The deletions, each as a record and an item, in the order in which they were chosen."""
    state = Supporting(baskets, aims)
    choice: Choice = Shortest(state)
    if border:
        elements = innocent_border(mined, aims)
        choice = Lightest(state, baskets, elements, mined.thresholds.least(baskets.records))
    done: list[tuple[int, int]] = []
    while state.open:
        at, item = choice.best()
        done.append((int(state.records[at]), item))
        choice.deleted(at, item, state.delete(at, item))
        if len(done) % 1000 == 0:
            progress("search", len(done))
    return done


class Shortest:
    """For each item its candidates, those first that serve most rules and are shortest."""

    def __init__(self, state: Supporting) -> None:
        self._state = state
        self._heaps = {item: self._heap(item) for item in state.victims}

    def best(self) -> tuple[int, int]:
        """The candidate and the item to delete next.

        What is on top of a heap may since have come to serve fewer rules, never more: so only the heap
        whose top looks best is looked at, until its top is what it says.
        """
        tops = {item: self._top(item) for item, heap in self._heaps.items() if heap}
        while tops:
            item = min((key, item) for item, key in tops.items())[1]
            if self._settled(item):
                return self._heaps[item][0][2], item
            if self._heaps[item]:
                tops[item] = self._top(item)
            else:
                del tops[item]
        raise InternalError("a rule is seen that no record supports")

    def deleted(self, at: int, item: int, reopened: Sequence[int]) -> None:
        del at
        heappop(self._heaps[item])
        for victim in {victim for rule in reopened for victim in self._state.aims[rule].victims}:
            self._heaps[victim] = self._heap(victim)

    def _top(self, item: int) -> tuple[int, int, int, int]:
        """How good the best choice of an item looks: of equals the item that most records have."""
        served, length, at = self._heaps[item][0]
        return served, length, -self._state.items[item], at

    def _heap(self, item: int) -> Heap:
        serves = self._state.serves[item]
        places = np.flatnonzero(serves)
        columns = (-serves[places], self._state.lengths[places], places)
        order = np.lexsort(columns[::-1])  # sorted is a heap already
        return list(zip(*(one[order].tolist() for one in columns), strict=True))

    def _settled(self, item: int) -> bool:
        """Is what is on top what it says? If not, it goes where it belongs."""
        heap = self._heaps[item]
        served, length, at = heap[0]
        serves = int(self._state.serves[item][at])
        if serves == -served:
            return True
        heappop(heap)
        if serves:
            heappush(heap, (-serves, length, at))
        return False
