"""The loops of `native/trees.c` in plain Python, for where they are not built."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privet.document import mapping
from privet.document.cost import Prices
from privet.document.forest import NONE, Ints

if TYPE_CHECKING:
    from privet.document.diversify import Representative, Trees

NEVER = 2**63 - 1  # the price of what cannot be


class Both:
    """A representative (a) and the forest (b), for comparing the one with any tree of the other."""

    def __init__(self, trees: Trees, rep: Representative, allowed: int) -> None:
        self.trees = trees
        self.allowed = allowed
        self.weight_a, self.weight_b = trees.weight(rep), 1
        forest, tariff = trees.forest, trees.tariff
        self.a = _Side(rep.kinds, rep.ends, rep.nodes, rep.loss)
        self.b = _Side(forest.kinds, forest.ends, trees.nodes.nodes, tariff.loss)
        self.buckets_a, self.buckets_b = rep.buckets, forest.buckets

    def root_price(self, root: int) -> int:
        return self.price(0, root) if self.diverse(0, root) else NEVER

    def diverse(self, a: int, b: int) -> bool:
        """May these two be one vertex? Of one type, and the sensitive value not too often there already."""
        if self.a.kinds[a] != self.b.kinds[b]:
            return False
        bucket = self.buckets_b[b]
        return bool(bucket == NONE or np.count_nonzero(self.buckets_a[a] == bucket) < self.allowed)

    def price(self, a: int, b: int) -> int:
        """What is lost when two subtrees become one."""
        if not self.diverse(a, b):
            return self.weight_a * int(self.a.loss[a]) + self.weight_b * int(self.b.loss[b])
        labels = self.trees.nodes.mrca(self.a.nodes[a], self.b.nodes[b])
        price = (self.weight_a + self.weight_b) * int(self.trees.tariff.labels[labels[labels != NONE]].sum())
        own = int(self.trees.tariff.own[self.a.kinds[a]])
        left, right = self.a.children(a), self.b.children(b)
        if not left or not right:
            below = self.weight_a * (int(self.a.loss[a]) - own) + self.weight_b * (int(self.b.loss[b]) - own)
            return price + below
        prices, lost = self._matrix(left, right)
        if self.trees.mapping == "lsap":
            return price + int(lost.sum()) + mapping.least(prices - lost)
        chosen = mapping.greedy(prices)
        kept = int(lost.sum() - lost[chosen].sum())
        return price + kept + sum(int(prices[row, column]) for row, column in enumerate(chosen))

    def _matrix(self, left: list[int], right: list[int]) -> tuple[Prices, Prices]:
        """The price of every pair, the shorter list as rows, and what each column costs without a partner."""
        prices = np.array([[self.price(s, u) for u in right] for s in left], dtype=np.int64)
        if len(left) <= len(right):
            return prices, self.weight_b * self.b.loss[right]
        return prices.T, self.weight_a * self.a.loss[left]

    def merge(self, root: int) -> tuple[Ints, Ints, Ints]:
        """The merged tree in preorder: the vertex of each side, and the parent."""
        found: list[tuple[int, int, int]] = []
        waiting = [(0, root, NONE)]
        while waiting:
            a, b, parent = waiting.pop()
            here = len(found)
            found.append((a, b, parent))
            pairs = self._mapped(self.a.children(a), self.b.children(b))
            waiting.extend((s, u, here) for s, u in reversed(pairs) if self.diverse(s, u))
        of_a, of_b, parents = np.array(found, dtype=np.int32).T
        return of_a, of_b, np.ascontiguousarray(parents)

    def _mapped(self, left: list[int], right: list[int]) -> list[tuple[int, int]]:
        if not left or not right:
            return []
        prices, lost = self._matrix(left, right)
        lsap = self.trees.mapping == "lsap"
        chosen = mapping.assignment(prices - lost) if lsap else mapping.greedy(prices)
        if len(left) <= len(right):
            return [(left[row], right[column]) for row, column in enumerate(chosen)]
        return [(left[column], right[row]) for row, column in enumerate(chosen)]


class _Side:
    def __init__(self, kinds: Ints, ends: Ints, nodes: Ints, loss: Prices) -> None:
        self.kinds, self.ends, self.nodes, self.loss = kinds, ends, nodes, loss

    def children(self, vertex: int) -> list[int]:
        found = []
        child, end = vertex + 1, int(self.ends[vertex])
        while child < end:
            found.append(child)
            child = int(self.ends[child])
        return found
