"""Hiding by deleting single items, guided by the border of what is innocent.

Spec 09, section 3.11, "border-based", after Sun and Yu, "A border-based approach for hiding sensitive
frequent itemsets", ICDM 2005. The support of each sensitive rule is lowered by deleting items from
records that support it; each time the record and item are taken whose deletion weighs least on the
border: the largest innocent itemsets that are frequent. An element weighs more the nearer it is to being
lost. Without a border it is the plain heuristic of Verykios et al. (TKDE 2004): shortest records first.

Of equal weights the item with the lower support goes first, then the record that comes first. An element
of the border that is lost weighs nothing any more. Weights are whole numbers wherever their denominators
allow it, so that equal ones are equal; where they do not, they are rounded.

Differs from the spec: a rule may be hidden by its confidence, by deleting items of its consequent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from heapq import heappop, heappush
from math import inf, lcm
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.core import Progress, silent
from privet.errors import InternalError
from privet.rules.baskets import Baskets, Ints
from privet.rules.hidden import Sensitive
from privet.rules.mining import Itemset, Mined, maximal

Heap: TypeAlias = list[tuple[float, int, int, int]]  # weight, rules served below 0, length, record

EXACT = 1 << 52  # whole numbers up to here are added up without rounding
FINE = 1 << 20  # parts of a unit to which weights are rounded that have no small common denominator


class By(Enum):
    """What is lowered until a rule is not seen."""

    SUPPORT = "support"
    CONFIDENCE = "confidence"  # of rules; an itemset has none, its support is lowered
    EITHER = "either"  # whatever needs fewer deletions


@dataclass(frozen=True, slots=True)
class Goal:
    """How one rule is hidden: what must fall, and which items may be deleted for it."""

    sensitive: Sensitive
    by: By  # never EITHER

    @property
    def victims(self) -> Itemset:
        # With an item of the antecedent its support falls too, and the confidence hardly.
        rule = self.sensitive.rule
        return rule.itemset if self.by is By.SUPPORT else rule.consequent

    def reached(self, support: int, antecedent: int, records: int) -> bool:
        return Bounds.of(self, records).reached(support, antecedent)


@dataclass(frozen=True, slots=True)
class Bounds:
    """When one rule is hidden among so many records, in whole numbers."""

    least: int  # from this support on it is seen
    top: int  # and from this share of its antecedent on, where its confidence is lowered
    bottom: int

    @classmethod
    def of(cls, goal: Goal, records: int) -> Bounds:
        thresholds = goal.sensitive.thresholds
        share = Fraction(0)
        if goal.by is By.CONFIDENCE and thresholds.confidence is not None:
            share = thresholds.confidence
        return cls(thresholds.least(records), share.numerator, share.denominator)

    def reached(self, support: int, antecedent: int) -> bool:
        return support < self.least or support * self.bottom < self.top * antecedent


def goals(baskets: Baskets, sensitive: Sequence[Sensitive], by: By) -> tuple[Goal, ...]:
    """How each rule is hidden; of either way the one that needs fewer deletions for this rule alone."""
    return tuple(Goal(one, _way(baskets, one, by)) for one in sensitive)


def common(denominators: Sequence[int]) -> int:
    """The least common denominator of so many weights; 0 where their sums would be too long to be exact.

    >>> common([2, 3, 4]), common(range(1, 100))
    (12, 0)
    """
    unit = 1
    for one in set(denominators):
        unit = lcm(unit, one)
        if 4 * unit * (len(denominators) + 1) ** 2 > EXACT:
            return 0
    return unit


def _way(baskets: Baskets, one: Sensitive, by: By) -> By:
    if not one.confident or by is By.SUPPORT:
        return By.SUPPORT
    if by is By.CONFIDENCE:
        return by
    share = one.thresholds.confidence
    assert share is not None
    both, before = baskets.support(one.itemset), baskets.support(one.rule.antecedent)
    by_support = both - one.thresholds.least(baskets.records) + 1
    by_confidence = both - -(-share.numerator * before // share.denominator) + 1
    return By.SUPPORT if by_support <= by_confidence else By.CONFIDENCE


def innocent_border(mined: Mined, aims: Sequence[Goal]) -> list[Itemset]:
    """The positive border of what is frequent and contains nothing that must become infrequent.

    The itemset of a rule that is to be hidden by its confidence is innocent: its support may stay.
    """
    gone = [set(goal.sensitive.itemset) for goal in aims if goal.by is By.SUPPORT]
    kept = {itemset for itemset in mined.support if not any(one <= set(itemset) for one in gone)}
    return maximal(kept)


def delete_items(
    baskets: Baskets, aims: Sequence[Goal], mined: Mined, *, border: bool, progress: Progress = silent
) -> list[tuple[int, int]]:
    """The deletions, each as a record and an item, in the order in which they were chosen."""
    elements = innocent_border(mined, aims) if border else []
    state = Deleting(baskets, aims, elements, mined, by_border=border)
    done = []
    for deletion in state.run():
        done.append(deletion)
        if len(done) % 1000 == 0:
            progress("search", len(done))
    return done


class Deleting:
    """The state: supports of rules and border, and for each item its candidates, the lightest first."""

    def __init__(
        self,
        baskets: Baskets,
        aims: Sequence[Goal],
        border: Sequence[Itemset],
        mined: Mined,
        *,
        by_border: bool,
    ) -> None:
        self._by_border = by_border
        self._aims = aims
        self._least = mined.thresholds.least(baskets.records)
        holding = [baskets.holding(goal.sensitive.itemset) for goal in aims]
        self._records: Ints = np.unique(np.concatenate([*holding, np.zeros(0, np.int32)])).astype(np.int64)
        size = len(self._records)
        self._inside = np.zeros((len(aims), size), dtype=bool)  # has the record all items of the rule?
        self._before = np.zeros((len(aims), size), dtype=bool)  # and of its antecedent?
        for at, (goal, records) in enumerate(zip(aims, holding, strict=True)):
            self._inside[at, self._at(records)] = True
            self._before[at, self._at(baskets.holding(goal.sensitive.rule.antecedent))] = True
        self._support = np.array([len(records) for records in holding], dtype=np.int64)
        self._antecedent = np.array(
            [baskets.support(goal.sensitive.rule.antecedent) for goal in aims], dtype=np.int64
        )
        self._victims = sorted({item for goal in aims for item in goal.victims})
        self._touched = {  # rules that an item is part of
            item: [at for at, goal in enumerate(aims) if item in goal.sensitive.itemset]
            for item in self._victims
        }
        self._items = baskets.supports.copy()
        self._lengths = baskets.lengths[self._records]
        self._gone: dict[int, set[int]] = {}
        self._watch(baskets, border)
        self._goals = [Bounds.of(goal, baskets.records) for goal in aims]
        self._open = {at for at in range(len(aims)) if not self._reached(at)}
        self._serves = self._serving()

    def _watch(self, baskets: Baskets, border: Sequence[Itemset]) -> None:
        """Where in the candidates each element of the border is that a deletion could hit."""
        victims = set(self._victims)
        self._border = [itemset for itemset in border if victims & set(itemset)]
        every = [baskets.holding(itemset) for itemset in self._border]
        self._first = np.array([len(records) for records in every], dtype=np.int64)
        self._now = self._first.copy()
        self._unit = common(np.maximum(self._first - self._least, 1).tolist())
        # What it weighs to lose an element: more than all others together could, kept or near their end.
        self._huge = 4 * (self._unit or FINE) * (len(self._border) + 1)
        places = [self._at(records) for records in every]
        self._hit = places
        where = np.concatenate([*places, np.zeros(0, np.int64)]).astype(np.int64)
        of = np.repeat(np.arange(len(places)), [len(one) for one in places])
        order = np.argsort(where, kind="stable")
        self._elements = of[order]
        self._rows = np.concatenate(([0], np.cumsum(np.bincount(where, minlength=len(self._records)))))
        self._has = {
            item: np.array([item in itemset for itemset in self._border], dtype=bool)
            for item in {item for itemset in self._border for item in itemset} | victims
        }

    def run(self) -> Iterator[tuple[int, int]]:
        heaps = self._heaps()
        while self._open:
            at, item = self._best(heaps)
            heappop(heaps[item])
            yield int(self._records[at]), item
            if self._deleted(at, item):
                self._serves = self._serving()
                heaps = self._heaps()
            else:
                self._again(at, heaps)

    def _best(self, heaps: dict[int, Heap]) -> tuple[int, int]:
        """The record and the item to delete next.

        What is on top of a heap may since have become heavier, never lighter (what becomes lighter is put
        there again): so only the heap whose top looks best is looked at, until its top is what it says.
        """
        tops = {item: self._top(item, heap) for item, heap in heaps.items() if heap}
        while tops:
            item = min((key, item) for item, key in tops.items())[1]
            heap, looked = heaps[item], 0
            while heap and not self._settled(item, heap):
                looked += 1
            if not looked:
                return heap[0][3], item
            if heap:
                tops[item] = self._top(item, heap)
            else:
                del tops[item]
        raise InternalError("a rule is seen that no record supports")

    def _top(self, item: int, heap: Heap) -> tuple[float, int, int, int, int]:
        """How good the best choice of an item looks: of equals the item that fewer records have."""
        many = int(self._items[item])
        return (*heap[0][:3], many if self._by_border else -many, heap[0][3])

    def _serving(self) -> dict[int, Ints]:
        """For each item that may be deleted, how many open rules that serves, by record."""
        made = {item: np.zeros(len(self._records), dtype=np.int64) for item in self._victims}
        for rule in self._open:
            for item in self._aims[rule].victims:
                made[item] += self._inside[rule]
        return made

    def _heaps(self) -> dict[int, Heap]:
        """For each item that may be deleted, where: the lightest first."""
        weights = self._weights(slice(None))
        made = {}
        for item in self._victims:
            total = np.zeros(len(self._records))
            for element in np.flatnonzero(self._has[item]).tolist() if self._border else ():
                total[self._hit[element]] += weights[element]
            places = np.flatnonzero(self._serves[item])
            served, lengths = -self._serves[item][places], self._lengths[places]
            if self._by_border:
                served, lengths = np.zeros_like(served), np.zeros_like(lengths)
            order = np.lexsort((places, lengths, served, total[places]))  # sorted is a heap already
            columns = (total[places], served, lengths, places)
            made[item] = list(zip(*(one[order].tolist() for one in columns), strict=True))
        return made

    def _settled(self, item: int, heap: Heap) -> bool:
        """Is what is on top what it says? If not, it goes where it belongs: weights only rise, and fewer
        rules are open.
        """
        weight, covered, length, at = heap[0]
        serves = int(self._serves[item][at])
        now = self._weight(at, item) if serves else inf
        if serves and now <= weight and (self._by_border or -serves <= covered):
            return True
        heappop(heap)
        if serves:
            heappush(heap, (now, 0 if self._by_border else -serves, length, at))
        return False

    def _again(self, at: int, heaps: dict[int, Heap]) -> None:
        """A record that lost an item may be a lighter choice for its others."""
        if not self._by_border:
            return
        for item in self._victims:
            serves = int(self._serves[item][at])
            if serves:
                heappush(heaps[item], (self._weight(at, item), 0, 0, at))

    def _weights(self, elements: Ints | slice) -> NDArray[np.float64]:
        first, now = self._first[elements], self._now[elements]
        above = np.maximum(first - self._least, 1)
        if self._unit:
            weights = (first - now + 1) * (self._unit / above)
        else:
            weights = np.rint((first - now + 1) / above * FINE)
        weights[now == self._least] = self._huge
        weights[now < self._least] = 0  # lost already
        return weights

    def _weight(self, at: int, item: int) -> float:
        if not self._border:
            return 0.0
        elements = self._standing(at, item)
        return float(self._weights(elements).sum()) if len(elements) else 0.0

    def _standing(self, at: int, item: int) -> Ints:
        """The elements of the border that a record still has and would lose with an item."""
        elements = self._elements[self._rows[at] : self._rows[at + 1]]
        stays = self._has[item][elements]
        for gone in self._gone.get(at, ()):
            stays &= ~self._has[gone][elements]
        return np.asarray(elements[stays])

    def _deleted(self, at: int, item: int) -> bool:
        """Take an item from a record; whether other choices became better: a rule came back, or an element
        of the border is lost, and what it weighed with it.
        """
        better = False
        if self._border:
            hit = self._standing(at, item)
            self._now[hit] -= 1
            better = bool((self._now[hit] == self._least - 1).any())
        self._gone.setdefault(at, set()).add(item)
        self._items[item] -= 1
        for rule in self._touched[item]:
            inside, before = bool(self._inside[rule, at]), bool(self._before[rule, at])
            goal = self._aims[rule]
            if inside:
                self._inside[rule, at] = False
                self._support[rule] -= 1
                if rule in self._open:
                    for victim in goal.victims:
                        self._serves[victim][at] -= 1
            if before and item in goal.sensitive.rule.antecedent:
                self._before[rule, at] = False
                self._antecedent[rule] -= 1
            elif not inside:
                continue
            reached = self._reached(rule)
            if reached and rule in self._open:
                self._open.remove(rule)
                for victim in goal.victims:
                    self._serves[victim] -= self._inside[rule]
            elif not reached and rule not in self._open:
                self._open.add(rule)
                better = True
        return better

    def _reached(self, rule: int) -> bool:
        return self._goals[rule].reached(int(self._support[rule]), int(self._antecedent[rule]))

    def _at(self, records: NDArray[np.int32]) -> Ints:
        """Candidates' numbers of those of some records that are candidates."""
        if not len(self._records):
            return np.zeros(0, np.int64)
        at = np.searchsorted(self._records, records)
        at[at == len(self._records)] = 0
        return np.asarray(at[self._records[at] == records])
