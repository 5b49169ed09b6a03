"""Which records support which sensitive rules, while items are deleted from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from privet.rules.baskets import Baskets, Ints
from privet.rules.goals import Bounds, Goal


class Supporting:
    """The candidates: records that support a rule, and for each item how many open rules its deletion serves.

    Candidates have numbers of their own, in the order of the records.
    """

    def __init__(self, baskets: Baskets, aims: Sequence[Goal]) -> None:
        self.aims = aims
        holding = [baskets.holding(goal.sensitive.itemset) for goal in aims]
        self.records: Ints = np.unique(np.concatenate([*holding, np.zeros(0, np.int32)])).astype(np.int64)
        size = len(self.records)
        self._inside = np.zeros((len(aims), size), dtype=bool)  # has the record all items of the rule?
        self._before = np.zeros((len(aims), size), dtype=bool)  # and of its antecedent?
        for rule, (goal, records) in enumerate(zip(aims, holding, strict=True)):
            self._inside[rule, self.places(records)] = True
            self._before[rule, self.places(baskets.holding(goal.sensitive.rule.antecedent))] = True
        self._support = [len(records) for records in holding]
        self._antecedent = [baskets.support(goal.sensitive.rule.antecedent) for goal in aims]
        self.victims = sorted({item for goal in aims for item in goal.victims})
        self._touched = {  # rules that an item is part of
            item: [rule for rule, goal in enumerate(aims) if item in goal.sensitive.itemset]
            for item in self.victims
        }
        self.items: list[int] = baskets.supports.tolist()  # how many records have each, now
        self.lengths: Ints = baskets.lengths[self.records]
        self._bounds = [Bounds.of(goal, baskets.records) for goal in aims]
        self.open = {rule for rule in range(len(aims)) if not self._reached(rule)}
        self.serves = {item: np.zeros(size, dtype=np.int32) for item in self.victims}
        for rule in self.open:
            self._count(rule, 1)

    def places(self, records: NDArray[np.int32]) -> Ints:
        """The candidates among some records."""
        if not len(self.records):
            return np.zeros(0, np.int64)
        at = np.searchsorted(self.records, records)
        at[at == len(self.records)] = 0
        return np.asarray(at[self.records[at] == records])

    def of_victim(self, item: int) -> Ints:
        """The candidates that support a rule, open or not, for which this item may be deleted."""
        rules = [rule for rule, goal in enumerate(self.aims) if item in goal.victims]
        return np.flatnonzero(self._inside[rules].any(axis=0))

    def delete(self, at: int, item: int) -> list[int]:
        """Take an item from a candidate; which rules are seen again, that were hidden before."""
        self.items[item] -= 1
        reopened = []
        for rule in self._touched[item]:
            goal = self.aims[rule]
            inside = bool(self._inside[rule, at])
            if inside:
                self._inside[rule, at] = False
                self._support[rule] -= 1
                if rule in self.open:
                    for victim in goal.victims:
                        self.serves[victim][at] -= 1
            if self._before[rule, at] and item in goal.sensitive.rule.antecedent:
                self._before[rule, at] = False
                self._antecedent[rule] -= 1
            elif not inside:
                continue
            reached = self._reached(rule)
            if reached and rule in self.open:
                self.open.remove(rule)
                self._count(rule, -1)
            elif not reached and rule not in self.open:
                self.open.add(rule)
                self._count(rule, 1)
                reopened.append(rule)
        return reopened

    def _count(self, rule: int, many: int) -> None:
        for victim in self.aims[rule].victims:
            self.serves[victim] += many * self._inside[rule]

    def _reached(self, rule: int) -> bool:
        return self._bounds[rule].reached(self._support[rule], self._antecedent[rule])
