"""One split of a column of sets: its partitions counted, and the leaves rebuilt from those that stay."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.dp.leaves import Leaves
from privet.dp.sets import Subsets, generalised
from privet.errors import InternalError

Ints: TypeAlias = NDArray[np.int64]


class SetSplit:
    """A node of the cut, to be replaced by subsets of its children in every leaf that has it."""

    def __init__(self, leaves: Leaves, begins: Sequence[Ints], which: int, subsets: Subsets) -> None:
        self._leaves = leaves
        self._which = which  # among the columns of sets
        self._subsets = subsets
        self._grid = leaves.grid(begins)
        self._sets = leaves.frames.sets[self._grid.frame]  # of each leaf
        has = [any(node is subsets.node for node in nodes) for nodes in leaves.node_sets[which]]
        self._affected = np.flatnonzero(np.array(has, dtype=bool)[self._sets[:, which]])

    @property
    def parts(self) -> int:
        """How many partitions are tested; a public number."""
        return len(self._affected) * self._subsets.number

    def counts(self, masks: NDArray[Any]) -> Ints:
        """The records in each of them; `masks` has the children of every record of the table."""
        entry = self._entries(masks)
        return np.bincount(entry[entry >= 0], minlength=self.parts).astype(np.int64, copy=False)

    def keep(self, kept: Ints, masks: NDArray[Any]) -> None:
        """Rebuild the leaves; records of partitions that are not kept are gone."""
        number = self._subsets.number
        whole = np.setdiff1d(np.arange(self._grid.number), self._affected)
        parent = np.concatenate([whole, self._affected[kept // number]])
        subset = np.concatenate([np.full(len(whole), -1), kept % number])
        order = np.lexsort((subset, parent))
        sets = self._sets[parent]
        sets[len(whole) :, self._which] = self._named(sets[len(whole) :, self._which], kept % number)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        of_leaf = np.full(self._grid.number, -1, dtype=np.int64)
        of_leaf[whole] = place[: len(whole)]
        of_entry = np.full(self.parts + 1, -1, dtype=np.int64)  # the last stands for "not affected"
        of_entry[kept] = place[len(whole) :]
        _, leaf = self._placed
        entry = self._entries(masks)
        frame = np.where(entry >= 0, of_entry[entry], of_leaf[leaf])
        self._leaves.reframe(self._grid, parent[order], sets[order], frame)

    @cached_property
    def _placed(self) -> tuple[NDArray[np.intp], Ints]:
        return self._leaves.place(self._grid)

    def _entries(self, masks: NDArray[Any]) -> Ints:
        """The tested partition of each live record, -1 where its leaf does not have the node."""
        live, leaf = self._placed
        row = np.full(self._grid.number, -1, dtype=np.int64)
        row[self._affected] = np.arange(len(self._affected))
        place = np.full(int(self._subsets.masks.max()) + 1, -1, dtype=np.int64)
        place[self._subsets.masks] = np.arange(self._subsets.number)
        inside, subset = row[leaf] >= 0, place[masks[live]]
        if (inside & (subset < 0)).any():
            raise InternalError("a record has items below each node of its node set")
        return np.where(inside, row[leaf] * self._subsets.number + subset, -1)

    def _named(self, before: Ints, subset: Ints) -> Ints:
        """The node set of each kept partition, new ones entered in the list."""
        named = self._leaves.node_sets[self._which]
        known = {nodes: at for at, nodes in enumerate(named)}
        number = self._subsets.number
        pairs, back = np.unique(before * number + subset, return_inverse=True)
        found = []
        for old, place in zip((pairs // number).tolist(), (pairs % number).tolist(), strict=True):
            children = self._subsets.chosen(int(self._subsets.masks[place]))
            nodes = generalised(named[old], self._subsets.node, children)
            if nodes not in known:
                known[nodes] = len(named)
                named.append(nodes)
            found.append(known[nodes])
        return np.array(found, dtype=np.int64)[back] if found else before
