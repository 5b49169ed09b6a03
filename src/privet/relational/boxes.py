"""Boxes of records, cut again and again, all at once: the loop of Mondrian over arrays.

The cells of each box lie side by side. A round looks at every box that is still open: it takes the widest
attribute that was not tried in vain, counts the values of each box there, finds its cut, and moves the
cells of both parts apart. No box is looked at by itself, so a round costs about as much as reading the
table, however many boxes there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.core import Tally
from privet.domain import Domain, Node
from privet.relational.judge import Judge
from privet.relational.lattice import halved
from privet.relational.objective import Floats
from privet.relational.rollup import Entries, Frequencies, Indexes, summed

SQUARE = 2048  # values up to which the loss of every range is written down


@dataclass(frozen=True, eq=False)
class Axis:
    """One attribute: where its values lie, where it may be cut, and what a range of it loses."""

    place: Floats  # of each code, from 0 to 1
    depth: NDArray[np.int32] | None  # of the lowest node above a code and the one before; None: cut anywhere
    square: Floats | None  # what the range from one code to another loses, where that is not their distance

    @classmethod
    def of(cls, domain: Domain, *, hierarchy: bool) -> Axis:
        place = _places(domain)
        if not hierarchy:
            return cls(place, None, None)
        root = halved(domain, domain.root)
        depth = np.zeros(domain.size, dtype=np.int32)
        square = np.zeros((domain.size, domain.size)) if domain.size <= SQUARE else None
        above = [(root, 0)]
        while above:
            node, level = above.pop()
            depth[node.lo + 1 : node.hi] = level
            if square is not None:
                square[node.lo : node.hi, node.lo : node.hi] = domain.loss(node)
            above += [(child, level + 1) for child in node.children]
        return cls(place, depth, square)

    def loss(self, low: Indexes, high: Indexes) -> Floats:
        """What the ranges lose, both ends included."""
        return self.place[high] - self.place[low] if self.square is None else self.square[low, high]


def _places(domain: Domain) -> Floats:
    size, scale = domain.size, domain.scale
    if scale is None or not scale.numbers or scale.numbers[0] == scale.numbers[-1]:
        return np.arange(size) / max(1, size - 1)
    low, high = scale.numbers[0], scale.numbers[-1]
    known = [float((number - low) / (high - low)) for number in scale.numbers]
    return np.array([*known, *([1.0] * (size - len(known)))])  # null is as far away as can be


@dataclass(frozen=True, eq=False)
class Places:
    """For each box every code from its first to its last, in the attribute that it is to be cut in."""

    attribute: Indexes  # of each box
    first: Indexes
    last: Indexes

    @cached_property
    def offset(self) -> Indexes:
        """Where the places of each box begin."""
        room = self.last - self.first + 1
        return np.asarray(np.cumsum(room) - room, dtype=np.intp)

    @cached_property
    def owner(self) -> Indexes:
        return np.repeat(np.arange(len(self.first)), self.last - self.first + 1)

    @cached_property
    def code(self) -> Indexes:
        return np.arange(len(self.owner)) - (self.offset - self.first)[self.owner]

    @cached_property
    def inside(self) -> NDArray[np.bool_]:
        """A cut behind the last code is none."""
        return self.code < self.last[self.owner]

    def of(self, attribute: int) -> Indexes:
        """The places of boxes that are cut in this attribute, where there may be a cut."""
        return np.flatnonzero((self.attribute == attribute)[self.owner] & self.inside)


class Boxes:
    """A partition of the cells, refined until no cut keeps every promise."""

    def __init__(
        self, tally: Tally, judge: Judge, axes: list[Axis], weights: Floats, *, best: bool, relaxed: bool
    ) -> None:
        self._judge = judge
        self.axes = axes
        self._weights = weights
        self._best = best
        self._relaxed = relaxed
        self._codes = [column.codes for column in tally.quasi]
        self._sensitive = [next(c for c in tally.sensitive if c.name == name) for name in judge.sensitive]
        self._values = [column.codes for column in self._sensitive]
        self._counts = tally.counts
        self._cells: Indexes = np.arange(tally.cells)
        self._start = np.zeros(1, dtype=np.intp)  # where each open box begins
        self._tried = np.zeros((1, len(axes)), dtype=bool)
        self.of_cell = np.zeros(tally.cells, dtype=np.intp)
        self.count = 0  # boxes that are closed
        self._extremes: list[tuple[Indexes, Indexes]] = []

    @property
    def keeps_promises(self) -> bool:
        """Does the box of all cells keep every promise? Cutting a box that does not is in vain."""
        box = np.zeros(len(self._cells), dtype=np.intp)
        return bool(self._parts_keep(box, 1)[0])

    def run(self) -> None:
        """Cut until no box is open."""
        while len(self._start):
            self._round()

    @property
    def extremes(self) -> tuple[Indexes, Indexes]:
        """By box and attribute, the smallest and the largest code."""
        low, high = zip(*self._extremes, strict=True)
        return np.concatenate(low), np.concatenate(high)

    def _round(self) -> None:
        low = np.stack([np.minimum.reduceat(codes, self._start) for codes in self._codes], axis=1).astype(
            np.intp
        )
        high = np.stack([np.maximum.reduceat(codes, self._start) for codes in self._codes], axis=1).astype(
            np.intp
        )
        records = np.add.reduceat(self._counts, self._start)
        wide = np.stack([axis.loss(low[:, at], high[:, at]) for at, axis in enumerate(self.axes)], axis=1)
        wide = np.where(self._tried | (low == high), -1.0, wide * self._weights)
        attribute = np.argmax(wide, axis=1)
        boxes = np.arange(len(attribute))
        open_ = (wide[boxes, attribute] >= 0) & (records >= 2 * self._judge.smallest)
        if not open_.all():
            self._close(~open_, low, high)
            low, high, attribute, records = low[open_], high[open_], attribute[open_], records[open_]
            boxes = boxes[: len(attribute)]
        if not len(boxes):
            return
        length = np.diff(self._start, append=len(self._cells))
        box = np.repeat(boxes, length)
        first, last = low[boxes, attribute], high[boxes, attribute]
        value = self._chosen(attribute, box)
        if self._relaxed:
            right, done = self._evenly(box, value, records)
        else:
            cut = self._cuts(Places(attribute, first, last), box, value, records)
            right, done = value > cut[box], cut < last
        if self._sensitive and done.any():
            done &= self._keeps(box, right, len(boxes))
        self._tried[boxes[~done], attribute[~done]] = True
        if done.any():
            self._split(right & done[box], done)

    def _chosen(self, attribute: Indexes, box: Indexes) -> NDArray[Any]:
        """The value of every cell in the attribute of its box."""
        of_cell = attribute[box]
        value = np.zeros(len(box), dtype=np.intp)
        for at, codes in enumerate(self._codes):
            here = of_cell == at
            if here.all():
                return codes.astype(np.intp)
            value[here] = codes[here]
        return value

    def _cuts(self, places: Places, box: Indexes, value: NDArray[Any], records: NDArray[np.int64]) -> Indexes:
        """For each box, the last value of its left part; its own last value where no cut is valid."""
        owner, here, offset = places.owner, places.code, places.offset
        count = np.bincount(
            offset[box] + value - places.first[box], weights=self._counts, minlength=len(owner)
        )
        left: Floats = np.cumsum(count).astype(np.float64)
        left -= np.concatenate(([0.0], left))[offset[owner]]
        total = records[owner]
        least = self._judge.smallest
        valid = (left >= least) & (total - left >= least) & places.inside & self._allowed(places)
        score = self._left_over(places, left, total) if self._best else np.abs(2 * left - total)
        score = np.where(valid, score, np.inf)
        best = np.minimum.reduceat(score, offset)
        # The first place of each box that reaches its best score.
        at = np.flatnonzero(score == best[owner])[::-1]
        found = places.last.copy()
        found[owner[at]] = here[at]
        return np.where(np.isfinite(best), found, places.last)

    def _allowed(self, places: Places) -> NDArray[np.bool_]:
        """Between children of the lowest node above the whole range, where cuts follow the hierarchy."""
        if all(axis.depth is None for axis in self.axes):
            return places.inside
        depth = np.full(len(places.owner), np.iinfo(np.int32).max, dtype=np.int32)
        for at, axis in enumerate(self.axes):
            if axis.depth is not None:
                mine = places.of(at)
                depth[mine] = axis.depth[places.code[mine] + 1]
        return np.asarray(depth == np.minimum.reduceat(depth, places.offset)[places.owner])

    def _left_over(self, places: Places, left: Floats, total: NDArray[np.int64]) -> Floats:
        """What both parts lose in this attribute after a cut."""
        lost = np.zeros(len(places.owner))
        for at, axis in enumerate(self.axes):
            mine = places.of(at)
            owner, code = places.owner[mine], places.code[mine]
            lost[mine] = left[mine] * axis.loss(places.first[owner], code)
            lost[mine] += (total[mine] - left[mine]) * axis.loss(code + 1, places.last[owner])
        return lost

    def _evenly(
        self, box: Indexes, value: NDArray[Any], records: NDArray[np.int64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which cells go right where equal values may part, and which boxes have a valid cut at all."""
        order = np.argsort(box * (int(value.max(initial=0)) + 1) + value, kind="stable")
        left = np.cumsum(self._counts[order])
        left -= (left - self._counts[order])[self._start][box]  # boxes lie one after another still
        total = records[box]
        least = self._judge.smallest
        valid = (left >= least) & (total - left >= least)
        score = np.where(valid, np.abs(2.0 * left - total), np.inf)
        best = np.minimum.reduceat(score, self._start)
        at = np.flatnonzero(score == best[box])
        last = np.zeros(len(records), dtype=np.intp)
        last[box[at[::-1]]] = at[::-1]
        right = np.empty(len(box), dtype=bool)
        right[order] = np.arange(len(box)) > last[box]
        return right, np.isfinite(best)

    def _keeps(self, box: Indexes, right: NDArray[np.bool_], boxes: int) -> NDArray[np.bool_]:
        """Do both parts of each box keep every promise?"""
        return np.asarray(self._parts_keep(2 * box + right, 2 * boxes).reshape(boxes, 2).all(axis=1))

    def _parts_keep(self, part: Indexes, parts: int) -> NDArray[np.bool_]:
        size = np.bincount(part, weights=self._counts, minlength=parts).astype(np.int64)
        there = size > 0
        number = np.cumsum(there) - 1
        entries = []
        for column, values in zip(self._sensitive, self._values, strict=True):
            wide = max(1, column.domain.size)
            found, count = summed(number[part] * wide + values, self._counts, int(there.sum()) * wide)
            entries.append(Entries(column, *np.divmod(found, wide), count))
        keeps = there.copy()  # a part without records is no part
        made = Frequencies((), np.zeros(0, dtype=np.intp), size[there], tuple(entries))
        keeps[there] = ~self._judge.broken(made)
        return keeps

    def _split(self, right: NDArray[np.bool_], done: NDArray[np.bool_]) -> None:
        """Move the cells of right parts behind those of left parts; open a box for each part."""
        length = np.diff(self._start, append=len(self._cells))
        many = np.add.reduceat(right, self._start, dtype=np.intp)
        before = np.cumsum(many) - many  # right cells in boxes before
        # Both kinds come box by box, so each box shifts all of its own alike.
        order = np.empty(len(right), dtype=np.intp)
        lefts, rights = np.flatnonzero(~right), np.flatnonzero(right)
        order[np.arange(len(lefts)) + np.repeat(before, length - many)] = lefts
        order[np.arange(len(rights)) + np.repeat(self._start + length - many - before, many)] = rights
        self._take(order)
        middle = (self._start + length - many)[done]
        tried = self._tried
        if self._sensitive:
            # What a promise about values refused in the whole, it may allow in a part.
            tried = np.where(done[:, None], False, tried)  # noqa: FBT003
        start = np.concatenate((self._start, middle))
        sorting = np.argsort(start, kind="stable")
        self._start = start[sorting]
        self._tried = np.concatenate((tried, tried[done]))[sorting]

    def _close(self, closed: NDArray[np.bool_], low: Indexes, high: Indexes) -> None:
        """Number the boxes that cannot be cut, and go on without their cells."""
        length = np.diff(self._start, append=len(self._cells))
        number = np.cumsum(closed) - 1 + self.count
        gone = np.repeat(closed, length)
        self.of_cell[self._cells[gone]] = np.repeat(number, length)[gone]
        self.count += int(closed.sum())
        self._extremes.append((low[closed], high[closed]))
        self._take(np.flatnonzero(~gone))
        self._tried = self._tried[~closed]
        length = length[~closed]
        self._start = (np.cumsum(length) - length).astype(np.intp)

    def _take(self, order: Indexes) -> None:
        self._cells = self._cells[order]
        self._counts = self._counts[order]
        self._codes = [codes[order] for codes in self._codes]
        self._values = [values[order] for values in self._values]


def labelled(domain: Domain, low: int, high: int) -> Node:
    """A range of values as it is published: a node of the hierarchy where there is one, else the range."""
    node = covering(domain.root, low, high)
    if (node.lo, node.hi) == (low, high + 1) and node.label is not None:
        return node
    if low == high:
        return Node(domain.values[low], low, low + 1)
    scale = domain.scale
    if scale is not None and high < len(scale.numbers):
        bounds = scale.numbers[low], scale.numbers[high] + scale.step
        return Node(scale.label(*bounds), low, high + 1, interval=bounds)
    names = ["null" if value is None else value for value in domain.values[low : high + 1]]
    return Node("{" + ", ".join(names) + "}", low, high + 1)


def covering(node: Node, low: int, high: int) -> Node:
    """The lowest node that stands above both codes."""
    while (below := next((c for c in node.children if c.lo <= low and high < c.hi), None)) is not None:
        node = below
    return node
