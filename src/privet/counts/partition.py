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
    cells: NDArray[np.intp]  # where no leaves are kept: those under the node,
    child: NDArray[np.integer[Any]]  # and under which of its children each is


class Partition:
    """All records in one leaf at first; `split` moves a cut down and keeps every count current."""

    def __init__(self, tally: Tally, protected: Sequence[Mask], *, needs_leaves: bool) -> None:
        self._codes: list[Codes] = [column.codes for column in tally.quasi]
        self._sizes = [column.domain.size for column in tally.quasi]
        self._counts: Ints = tally.counts
        self._single = bool((tally.counts == 1).all())  # a table whose records hardly repeat
        self._protected = tuple(protected)
        self._layers = layered(protected)
        few = tally.records < 2**31 and native.pays(tally.cells)
        self._weights = tally.counts.astype(np.int32) if few else None  # as the compiled loops take them
        self._needs_leaves = needs_leaves
        self._leaf_of_cell: NDArray[np.int32] | None = np.zeros(tally.cells, dtype=np.int32)
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
            units = self.units
            self.position, self.size, leaf = divided(self.position, self.size, at, look.ahead, of_child)
            to = np.repeat(np.arange(units, dtype=np.int32)[:, None], fan + 1, axis=1)
            to[look.ahead.unit, look.ahead.child] = leaf
            self._move(candidate, to.reshape(-1), self._leaf_of_cell)
            if not self._needs_leaves and self.units * MERGE_UNTIL > len(self._counts):
                self._forget_leaves(self._leaf_of_cell)
        return positions

    def along(self, attribute: int, node: Node) -> tuple[Indexes, Indexes, Ints] | None:
        """The records of each leaf by code under a node, by leaf, then code. None: no leaves are kept."""
        if self._leaf_of_cell is None:
            return None
        codes = self._codes[attribute]
        cells = np.flatnonzero((codes >= node.lo) & (codes < node.hi))
        code, leaf = codes[cells].astype(np.intp), self._leaf_of_cell[cells].astype(np.intp)
        along = np.lexsort((code, leaf))
        return leaf[along], code[along], self._counts[cells][along]

    def _forget_leaves(self, leaf_of_cell: NDArray[np.int32]) -> None:
        of_cell = leaf_of_cell.astype(np.intp)
        self.position = [position[of_cell] for position in self.position]
        self.size = self._counts
        self._leaf_of_cell = None

    def _look(self, candidate: Candidate) -> _Look:
        if self._last is not None and self._last.candidate is candidate:
            return self._last
        if self._leaf_of_cell is None:
            cells, child = self._under(candidate)
            counts = self._counts[: len(cells)] if self._single else self._counts[cells]
            having = tuple(np.where(mask[cells], counts, 0) for mask in self._protected)
            ahead = Ahead(cells, child, counts, having, self.position, whole=False)
        else:
            cells, child = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.uint8)
            total = self._by_leaf(candidate, self._leaf_of_cell)
            here = np.flatnonzero(total)
            unit = here // (len(candidate.children) + 1)
            of_child = here - unit * (len(candidate.children) + 1)
            having = self._having(candidate, self._leaf_of_cell, here, len(total))
            ahead = Ahead(unit, of_child, total[here], having, self.position, whole=True)
        self._last = _Look(candidate, ahead, cells, child)
        return self._last

    # From here on leaf and child are one number: leaf by leaf a place for each child, and one for the rest.

    def _by_leaf(self, candidate: Candidate, leaf: NDArray[np.int32]) -> Ints:
        """The records of each leaf under each child of the node."""
        fan = len(candidate.children)
        room = self.units * (fan + 1)
        if self._weights is not None and fan < 256:
            total = np.zeros(room, dtype=np.int64)
            self._called("under", candidate, leaf, self._weights, total)
        else:
            cells, key = self._keys(candidate, leaf)
            total = _add_up(key, None if self._single else self._counts[cells], room)
        total[fan :: fan + 1] = 0
        return total

    def _having(
        self, candidate: Candidate, leaf: NDArray[np.int32], here: Indexes, keys: int
    ) -> tuple[Ints, ...]:
        """How many records have each protected value, `here` in their order, by the values."""
        if not self._layers:
            return ()
        entries = len(here)
        entry = np.zeros(keys, dtype=np.intp)
        entry[here] = np.arange(entries)
        found = np.empty((len(self._protected), entries), dtype=np.int64)
        for values, mark in self._layers:
            room = len(values) * entries
            if self._weights is not None and len(candidate.children) < 256:
                total = np.zeros(room, dtype=np.int64)
                self._called("marked", candidate, leaf, self._weights, entry, mark, entries, total)
            else:
                cells, key = self._keys(candidate, leaf)
                marked = np.flatnonzero(mark[cells] >= 0)
                at = mark[cells[marked]].astype(np.intp) * entries + entry[key[marked]]
                total = _add_up(at, None if self._single else self._counts[cells[marked]], room)
            found[values] = total.reshape(len(values), entries)
        return tuple(found)

    def _move(self, candidate: Candidate, to: NDArray[np.int32], leaf: NDArray[np.int32]) -> None:
        """Every cell goes to the leaf of its leaf and child."""
        if self._weights is not None and len(candidate.children) < 256:
            self._called("moved", candidate, to, leaf)
        else:
            cells, key = self._keys(candidate, leaf)
            leaf[cells] = to[key]

    def _called(self, loop: str, candidate: Candidate, *more: native.Argument) -> None:
        codes = np.ascontiguousarray(self._codes[candidate.attribute])
        size, fan = self._sizes[candidate.attribute], len(candidate.children)
        child = _child_of_code(candidate, size)
        native.call(f"privet_leaves_{loop}_{8 * codes.itemsize}", codes, len(codes), child, size, fan, *more)

    def _keys(
        self, candidate: Candidate, leaf: NDArray[np.int32]
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The cells under the node, and the leaf and child of each as one number."""
        cells, child = self._under(candidate)
        return cells, leaf[cells].astype(np.intp) * (len(candidate.children) + 1) + child

    def _under(self, candidate: Candidate) -> tuple[NDArray[np.intp], NDArray[np.integer[Any]]]:
        """The cells under the candidate's node, and under which of its children each is."""
        node, codes, size = candidate.node, self._codes[candidate.attribute], self._sizes[candidate.attribute]
        fan = len(candidate.children)
        if fan < 256 and native.pays(len(codes)):
            codes = np.ascontiguousarray(codes)
            cells, child = np.empty(len(codes), dtype=np.int64), np.empty(len(codes), dtype=np.uint8)
            found = native.call(
                f"privet_cells_under_{8 * codes.itemsize}", codes, len(codes),
                _child_of_code(candidate, size), size, fan, cells, child,
            )  # fmt: skip
            return cells[:found], child[:found]
        if node.leaves == size:
            cells = np.arange(len(codes))
        else:
            cells = np.flatnonzero((codes >= node.lo) & (codes < node.hi))
        widths = [child.leaves for child in candidate.children]
        return cells, np.repeat(np.arange(fan), widths)[codes[cells].astype(np.intp) - node.lo]


def _child_of_code(candidate: Candidate, size: int) -> NDArray[np.uint8]:
    """Under which child each code of the domain is; the number of children where it is not under the node."""
    fan = len(candidate.children)
    found = np.full(size, fan, dtype=np.uint8)
    widths = [child.leaves for child in candidate.children]
    found[candidate.node.lo : candidate.node.hi] = np.repeat(np.arange(fan, dtype=np.uint8), widths)
    return found


def layered(masks: Sequence[Mask]) -> list[tuple[list[int], NDArray[np.int32]]]:
    """Masks that have no cell in common in one layer: which ones, and for each cell its place there, or -1.

    The values of one attribute are such masks, and hundreds of them are then counted at a time.
    """
    layers: list[tuple[list[int], NDArray[np.int32]]] = []
    for number, mask in enumerate(masks):
        cells = np.flatnonzero(mask)
        free = (one for one in reversed(layers) if (one[1][cells] < 0).all())
        layer = next(free, None)
        if layer is None:
            layer = ([], np.full(len(mask), -1, dtype=np.int32))
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
