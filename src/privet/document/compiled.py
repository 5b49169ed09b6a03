"""How `native/trees.c` is called; every function has its plain twin in `plain.py`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privet import native
from privet.document.cost import Prices
from privet.document.forest import NONE, Ints

if TYPE_CHECKING:
    from privet.document.diversify import Representative, Trees

NEVER = 2**63 - 1
THREADS = 2


class Compiled:
    """A representative and a forest as the loops take them."""

    def __init__(self, trees: Trees, rep: Representative, allowed: int) -> None:
        forest, nodes, tariff = trees.forest, trees.nodes, trees.tariff
        self._whole = [
            *(rep.kinds, rep.ends, rep.nodes, rep.buckets),
            *(forest.kinds, forest.ends, nodes.leaves, forest.buckets),
            *(nodes.up, nodes.low, nodes.high, nodes.sizes),
        ]
        self._whole = [np.ascontiguousarray(each, dtype=np.int32) for each in self._whole]
        self._wide = [
            np.ascontiguousarray(each, dtype=np.int64)
            for each in (rep.loss, tariff.loss, tariff.labels, tariff.own)
        ]
        greedy = int(trees.mapping == "greedy")
        width = rep.nodes.shape[1]
        self._how = np.array([width, rep.members, allowed, trees.weight(rep), 1, greedy], dtype=np.int64)
        self._size = len(rep.kinds)

    @classmethod
    def of(cls, trees: Trees, rep: Representative, allowed: int) -> Compiled | None:
        """None where the loops are not built."""
        return None if native.library() is None else cls(trees, rep, allowed)

    def _call(self, name: str, *arguments: NDArray[Any] | int) -> None:
        if native.call(f"privet_trees_{name}", self._how, self._whole, self._wide, *arguments):
            raise MemoryError

    def prices(self, roots: NDArray[np.int64]) -> Prices:
        prices = np.empty(len(roots), dtype=np.int64)
        self._call("prices", roots, len(roots), prices)
        return prices

    def nearest(
        self, roots: NDArray[np.int64], bounds: Prices, threads: ThreadPoolExecutor | None
    ) -> int | None:
        """The root of the cheapest candidate, the smallest of equals; `bounds` are raised in place."""
        order = np.argsort(bounds, kind="stable")
        sorted_roots, sorted_bounds = roots[order], bounds[order]
        shared = np.array([NEVER], dtype=np.int64)
        step = 1 if threads is None else THREADS
        best = np.empty((step, 3), dtype=np.int64)

        def part(first: int) -> None:
            self._call("nearest", sorted_roots, sorted_bounds, len(roots), first, step, shared, best[first])

        if threads is None:
            part(0)
        else:
            list(threads.map(part, range(step)))
        bounds[order] = sorted_bounds
        found = min((price, root) for price, root, _ in best.tolist())
        return None if found[1] == NONE else int(found[1])

    def merge(self, root: int) -> tuple[Ints, Ints, Ints]:
        of_rep, of_record, parents = (np.empty(self._size, dtype=np.int32) for _ in range(3))
        count = np.zeros(1, dtype=np.int64)
        self._call("merge", root, of_rep, of_record, parents, count)
        return of_rep[: count[0]], of_record[: count[0]], parents[: count[0]]
