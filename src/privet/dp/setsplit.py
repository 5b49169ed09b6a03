"""One split of a column of sets: which partitions are tested, and the leaves rebuilt from those that stay."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privet.counts.door import Ints
from privet.counts.live import LiveCounts, Parting
from privet.dp.leaves import Leaves
from privet.dp.sets import Subsets, generalised


class SetSplit:
    """A node of the cut, to be replaced by subsets of its children in every leaf that has it."""

    def __init__(
        self, leaves: Leaves, begins: Sequence[Ints], columns: tuple[int, int], subsets: Subsets
    ) -> None:
        column, which = columns  # of the table, and among its columns of sets
        self._leaves = leaves
        self._which = which
        self._subsets = subsets
        grid = leaves.grid(begins)
        self._sets = leaves.frames.sets[grid.frame]  # of each leaf
        has = [any(node is subsets.node for node in nodes) for nodes in leaves.node_sets[which]]
        self._affected = np.flatnonzero(np.array(has, dtype=bool)[self._sets[:, which]])
        row = np.full(grid.number, -1, dtype=np.int64)
        row[self._affected] = np.arange(len(self._affected))
        self.parting = Parting(column, subsets.node, grid, row, subsets.masks)

    @property
    def parts(self) -> int:
        """How many partitions are tested; a public number."""
        return self.parting.parts

    def keep(self, kept: Ints, live: LiveCounts) -> None:
        """Rebuild the leaves; records of partitions that are not kept are gone."""
        number, grid = self._subsets.number, self.parting.grid
        whole = np.setdiff1d(np.arange(grid.number), self._affected)
        parent = np.concatenate([whole, self._affected[kept // number]])
        subset = np.concatenate([np.full(len(whole), -1), kept % number])
        order = np.lexsort((subset, parent))
        sets = self._sets[parent]
        sets[len(whole) :, self._which] = self._named(sets[len(whole) :, self._which], kept % number)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        of_leaf = np.full(grid.number, -1, dtype=np.int64)
        of_leaf[whole] = place[: len(whole)]
        of_partition = np.full(self.parts, -1, dtype=np.int64)
        of_partition[kept] = place[len(whole) :]
        live.part(self.parting, of_leaf, of_partition)
        self._leaves.reframe(grid, parent[order], sets[order])

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
