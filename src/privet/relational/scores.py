"""How the top-down search orders its candidates.

`information-gain` serves classification: what does the split tell about the target? `discernibility`
serves general analysis: how large are the groups that it would break up? `gain-per-loss` is the score
of top-down specialisation for k-anonymity (Fung, Wang and Yu, ICDE 2005), kept as a baseline.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from privet.core import Tally
from privet.relational.gain import GainTable
from privet.relational.partition import Partition
from privet.relational.specialize import Candidate


class Gains(Protocol):
    """The information gain of a candidate."""

    def __call__(self, candidate: Candidate) -> float: ...


def gains(tables: list[GainTable]) -> Gains:
    """Information gain from the counts of each attribute."""

    def gain(candidate: Candidate) -> float:
        return tables[candidate.attribute].gain(candidate.node, candidate.children)

    return gain


def order(candidate: Candidate) -> tuple[int, int, int]:
    """The tie rule: the attribute's place in the policy, then the node's place in its hierarchy."""
    return candidate.attribute, candidate.node.lo, -candidate.node.hi


class ByGain:
    """Best gain first. A candidate's gain never changes, so a heap is all it takes."""

    def __init__(self, gain: Gains) -> None:
        self._gain = gain
        self._heap: list[tuple[float, tuple[int, int, int], int, Candidate]] = []
        self._added = 0

    def add(self, candidates: Iterable[Candidate]) -> None:
        for candidate in candidates:
            self._added += 1  # a unary chain has the same range twice: first come, first served
            heapq.heappush(self._heap, (-self._gain(candidate), order(candidate), self._added, candidate))

    def choose(self) -> tuple[Candidate, float] | None:
        if not self._heap:
            return None
        score, _, _, candidate = heapq.heappop(self._heap)
        return candidate, -score + 0.0


class ByDiscernibility:
    """Largest cost first: the sum of squared sizes of the leaves that the split would break up.

    Every split changes the cost of others, so it is added up again for each choice; ties go to the
    split that lowers the cost most.
    """

    def __init__(self, partition: Partition) -> None:
        self._partition = partition
        self._candidates: list[Candidate] = []
        self._costs: list[NDArray[np.float64]] = []
        self._as_of = -1

    def add(self, candidates: Iterable[Candidate]) -> None:
        self._candidates.extend(candidates)

    def choose(self) -> tuple[Candidate, float] | None:
        if not self._candidates:
            return None
        if self._as_of != self._partition.splits_made:  # dropping a candidate changes no cost
            self._costs = self._partition.costs()
            self._as_of = self._partition.splits_made
        scores = [float(self._costs[c.attribute][c.position]) for c in self._candidates]
        top = max(scores)
        best = [c for c, score in zip(self._candidates, scores, strict=True) if score == top]
        if len(best) > 1:
            best.sort(key=lambda c: (-self._reduction(c, top), order(c)))
        self._candidates.remove(best[0])
        return best[0], top

    def _reduction(self, candidate: Candidate, cost: float) -> float:
        return cost - float((self._partition.ahead(candidate).count.astype(np.float64) ** 2).sum())


class ByGainPerLoss:
    """Information gain for each record that the smallest group loses, plus one."""

    def __init__(self, gain: Gains, partition: Partition) -> None:
        self._gain = gain
        self._partition = partition
        self._candidates: list[Candidate] = []

    def add(self, candidates: Iterable[Candidate]) -> None:
        self._candidates.extend(candidates)

    def choose(self) -> tuple[Candidate, float] | None:
        if not self._candidates:
            return None
        scored = [(self._gain(c) / (self._loss(c) + 1), c) for c in self._candidates]
        score, best = min(scored, key=lambda pair: (-pair[0], order(pair[1])))
        self._candidates.remove(best)
        return best, score

    def _loss(self, candidate: Candidate) -> int:
        before = int(self._partition.size.min())
        others = self._partition.position[candidate.attribute] != candidate.position
        untouched = int(self._partition.size[others].min(initial=before)) if others.any() else before
        after = int(self._partition.ahead(candidate).count.min(initial=before))
        return before - min(untouched, after) if others.any() else before - after


def gain_tables(tally: Tally) -> list[GainTable]:
    """One table for each quasi-identifier; there must be a target."""
    if tally.target is None:
        return []
    return [GainTable(column, tally.target, tally.counts) for column in tally.quasi]
