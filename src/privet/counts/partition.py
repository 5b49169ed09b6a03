"""Leaf partitions: which records share one generalised record, kept up to date while cuts move down.

The literature calls this TIPS, taxonomy indexed partitions. A *unit* is either a leaf (all records
with one generalised record) or, once leaves have become nearly as many as cells and merging no longer
pays, a cell of the tally. Positions are those of the cut: value `p` of attribute `a`'s cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet import native
from privet.core import Tally
from privet.counts.door import Ahead, Candidate, Indexes, Ints, Mask
from privet.domain import Codes, Node

MERGE_UNTIL = 4  # cells for each leaf; with fewer, counting cells is cheaper than merging them


@dataclass(frozen=True, eq=False)
class _Look:
    """A look ahead, and what it takes to make the split without looking again."""

    candidate: Candidate
    ahead: Ahead
    cells: NDArray[np.intp]
    child: NDArray[np.integer[Any]]  # of each cell, where no leaves are kept
    key: NDArray[np.intp]  # else leaf and child of each cell, as one number
    entry: NDArray[np.intp]  # for each such number, its entry in `ahead`


class Partition:
    """All records in one leaf at first; `split` moves a cut down and keeps every count current."""

    def __init__(self, tally: Tally, protected: Sequence[Mask], *, needs_leaves: bool) -> None:
        self._codes: list[Codes] = [column.codes for column in tally.quasi]
        self._sizes = [column.domain.size for column in tally.quasi]
        self._counts: Ints = tally.counts
        self._single = bool((tally.counts == 1).all())  # a table whose records hardly repeat
        self._protected = tuple(protected)
        self._layers = layered(protected)
        self._needs_leaves = needs_leaves
        self._leaf_of_cell: NDArray[np.intp] | None = np.zeros(tally.cells, dtype=np.intp)
        self._last: _Look | None = None
        self.splits_made = 0
        self.width = [1] * len(tally.quasi)  # values in each attribute's cut
        self.position: list[NDArray[Any]] = [np.zeros(1, dtype=np.uint8) for _ in tally.quasi]
        self.size: Ints = np.array([tally.records], dtype=np.int64)  # of each unit

    @property
    def units(self) -> int:
        return len(self.size)

    def ahead(self, candidates: Sequence[Candidate]) -> list[Ahead]:
        """What each of these splits would leave, without making any."""
        return [self._look(candidate).ahead for candidate in candidates]

    def split(self, candidate: Candidate) -> list[int]:
        """Make the split; the cut positions of the children, in order."""
        look = self._look(candidate)
        self._last = None
        self.splits_made += 1
        at, fan = candidate.attribute, len(candidate.children)
        positions = [candidate.position, *range(self.width[at], self.width[at] + fan - 1)]
        self.width[at] += fan - 1
        if self.width[at] - 1 > np.iinfo(self.position[at].dtype).max:
            self.position[at] = self.position[at].astype(np.uint32)
        of_child = np.array(positions, dtype=self.position[at].dtype)
        if self._leaf_of_cell is None:
            self.position[at][look.cells] = of_child[look.child]
        else:
            self.position, self.size, leaf = divided(self.position, self.size, at, look.ahead, of_child)
            if native.pays(len(look.cells)):
                native.call(
                    "privet_cells_moved", look.cells, look.key, len(look.cells), look.entry, leaf,
                    self._leaf_of_cell,
                )  # fmt: skip
            else:
                self._leaf_of_cell[look.cells] = leaf[look.entry[look.key]]
            if not self._needs_leaves and self.units * MERGE_UNTIL > len(self._counts):
                self._forget_leaves(self._leaf_of_cell)
        return positions

    def along(self, attribute: int, node: Node) -> tuple[Indexes, Indexes, Ints] | None:
        """The records of each leaf by code under a node, by leaf, then code. None: no leaves are kept."""
        if self._leaf_of_cell is None:
            return None
        codes = self._codes[attribute]
        cells = np.flatnonzero((codes >= node.lo) & (codes < node.hi))
        code, leaf = codes[cells].astype(np.intp), self._leaf_of_cell[cells]
        along = np.lexsort((code, leaf))
        return leaf[along], code[along], self._counts[cells][along]

    def _forget_leaves(self, leaf_of_cell: NDArray[np.intp]) -> None:
        self.position = [position[leaf_of_cell] for position in self.position]
        self.size = self._counts
        self._leaf_of_cell = None

    def _look(self, candidate: Candidate) -> _Look:
        if self._last is not None and self._last.candidate is candidate:
            return self._last
        if self._leaf_of_cell is None:
            cells, child = self._under(candidate)
            counts = self._counts[: len(cells)] if self._single else self._counts[cells]
            having = tuple(np.where(mask[cells], counts, 0) for mask in self._protected)
            key = entry = np.empty(0, dtype=np.intp)
            ahead = Ahead(cells, child, counts, having, self.position, whole=False)
        else:
            child, fan = np.empty(0, dtype=np.uint8), len(candidate.children)
            cells, key, total = self._leaves_under(candidate, self._leaf_of_cell)
            here = np.flatnonzero(total)
            entry = np.empty(len(total), dtype=np.intp)
            entry[here] = np.arange(len(here))
            having = self._having(cells, entry[key], len(here))
            ahead = Ahead(here // fan, here % fan, total[here], having, self.position, whole=True)
        self._last = _Look(candidate, ahead, cells, child, key, entry)
        return self._last

    def _having(self, cells: Indexes, entry: Indexes, entries: int) -> tuple[Ints, ...]:
        """Of each entry how many records have each protected value, by the values."""
        found = np.empty((len(self._protected), entries), dtype=np.int64)
        for values, which in self._layers:
            at = which[cells]
            marked = np.flatnonzero(at >= 0)
            key = at[marked] * entries + entry[marked]
            counts = None if self._single else self._counts[cells[marked]]
            found[values] = _add_up(key, counts, len(values) * entries).reshape(len(values), entries)
        return tuple(found)

    def _leaves_under(
        self, candidate: Candidate, leaf_of_cell: NDArray[np.intp]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp], Ints]:
        """The cells under the node, the leaf and child of each as one number, and their records."""
        node, codes, fan = candidate.node, self._codes[candidate.attribute], len(candidate.children)
        room = self.units * fan
        if fan > 256 or not native.pays(len(codes)):
            cells, child = self._under(candidate)
            key = leaf_of_cell[cells] * fan + child
            return cells, key, _add_up(key, None if self._single else self._counts[cells], room)
        of_code = np.repeat(np.arange(fan, dtype=np.uint8), [child.leaves for child in candidate.children])
        cells, key = (np.empty(len(codes), dtype=np.int64) for _ in range(2))
        total = np.zeros(room, dtype=np.int64)
        found = native.call(
            f"privet_leaves_under_{8 * codes.itemsize}", np.ascontiguousarray(codes), len(codes), node.lo,
            node.hi, of_code, fan, leaf_of_cell, self._counts, cells, key, total,
        )  # fmt: skip
        return cells[:found], key[:found], total

    def _under(self, candidate: Candidate) -> tuple[NDArray[np.intp], NDArray[np.integer[Any]]]:
        """The cells under the candidate's node, and under which of its children each is."""
        node, codes = candidate.node, self._codes[candidate.attribute]
        widths = [child.leaves for child in candidate.children]
        if len(widths) <= 256 and native.pays(len(codes)):
            return _under_native(codes, node, widths)
        if node.leaves == self._sizes[candidate.attribute]:
            cells = np.arange(len(codes))
        else:
            cells = np.flatnonzero((codes >= node.lo) & (codes < node.hi))
        fan = np.repeat(np.arange(len(widths)), widths)
        return cells, fan[codes[cells].astype(np.intp) - node.lo]


def layered(masks: Sequence[Mask]) -> list[tuple[list[int], Indexes]]:
    """Masks that have no cell in common in one layer: which ones, and for each cell its place there, or -1.

    The values of one attribute are such masks, and hundreds of them are then counted at a time.
    """
    layers: list[tuple[list[int], Indexes]] = []
    for number, mask in enumerate(masks):
        cells = np.flatnonzero(mask)
        free = (one for one in reversed(layers) if (one[1][cells] < 0).all())
        layer = next(free, None)
        if layer is None:
            layer = ([], np.full(len(mask), -1, dtype=np.intp))
            layers.append(layer)
        layer[1][cells] = len(layer[0])
        layer[0].append(number)
    return layers


def divided(
    position: Sequence[NDArray[Any]], size: Ints, at: int, ahead: Ahead, of_child: NDArray[Any]
) -> tuple[list[NDArray[Any]], Ints, Indexes]:
    """Leaves after a split: their positions, their records, and the leaf of each entry of `ahead`.

    The first part of a leaf keeps its number, the others get new ones.
    """
    first = np.ones(len(ahead.unit), dtype=bool)
    first[1:] = ahead.unit[1:] != ahead.unit[:-1]
    fresh = np.flatnonzero(~first)
    leaf = ahead.unit.copy()
    leaf[fresh] = len(size) + np.arange(len(fresh))
    parents = ahead.unit[fresh]
    position = [np.concatenate([one, one[parents]]) for one in position]
    size = np.concatenate([size, size[parents]])
    position[at][leaf] = of_child[ahead.child]
    size[leaf] = ahead.count
    return position, size, leaf


def _add_up(key: NDArray[Any], counts: Ints | None, room: int) -> Ints:
    # with weights bincount adds doubles, which are exact for whole numbers below 2**53
    return np.bincount(key, weights=counts, minlength=room).astype(np.int64, copy=False)


def _under_native(
    codes: Codes, node: Node, widths: list[int]
) -> tuple[NDArray[np.intp], NDArray[np.integer[Any]]]:
    of_code = np.repeat(np.arange(len(widths), dtype=np.uint8), widths)
    cells, child = np.empty(len(codes), dtype=np.int64), np.empty(len(codes), dtype=np.uint8)
    loop = f"privet_cells_under_{8 * codes.itemsize}"
    found = native.call(
        loop, np.ascontiguousarray(codes), len(codes), node.lo, node.hi, of_code, cells, child
    )
    return cells[:found], child[:found]
