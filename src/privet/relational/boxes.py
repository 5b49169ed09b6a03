"""Boxes of records, cut again and again, all at once: the loop of Mondrian over arrays.

A round looks at every box that is still open: it takes the widest attribute that was not tried in vain, asks
how often each value of each box occurs there, finds its cut, and has it carried out. No box is looked at by
itself, so a round is a handful of questions, however many boxes there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.counts.door import Boxing, Indexes, Ints
from privet.domain import Domain, Node
from privet.relational.judge import Judge
from privet.relational.lattice import halved
from privet.relational.objective import Floats

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
    """A table in boxes, cut until no cut keeps every promise."""

    def __init__(
        self, table: Boxing, judge: Judge, axes: list[Axis], weights: Floats, *, best: bool, relaxed: bool
    ) -> None:
        self._table = table
        self._judge = judge
        self.axes = axes
        self._weights = weights
        self._best = best
        self._relaxed = relaxed
        self._tried = np.zeros((1, len(axes)), dtype=bool)  # by open box and attribute
        self.count = 0  # boxes that are closed
        self._extremes: list[tuple[Indexes, Indexes]] = []

    def run(self) -> None:
        """Cut until no box is open."""
        while len(self._tried):
            self._round()

    @property
    def extremes(self) -> tuple[Indexes, Indexes]:
        """By closed box and attribute, the smallest and the largest code."""
        low, high = zip(*self._extremes, strict=True)
        return np.concatenate(low), np.concatenate(high)

    def _round(self) -> None:
        low, high, records = self._table.extremes()
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
        if self._relaxed:
            done = self._table.propose_evenly(attribute, self._judge.smallest)
        else:
            places = Places(attribute, low[boxes, attribute], high[boxes, attribute])
            cut = self._cuts(places, self._table.histogram(attribute, places.first, places.last), records)
            done = cut < places.last
            self._table.propose(attribute, cut)
        if self._judge.sensitive and done.any():
            done &= self._parts_keep()
        self._tried[boxes[~done], attribute[~done]] = True
        if done.any():
            self._split(done)

    def _cuts(self, places: Places, count: Ints, records: Ints) -> Indexes:
        """For each box, the last value of its left part; its own last value where no cut is valid."""
        owner, here, offset = places.owner, places.code, places.offset
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

    def _parts_keep(self) -> NDArray[np.bool_]:
        """Do both parts of each box keep every promise?"""
        keeps, found = self._table.parts()  # a part without records is no part
        keeps[keeps] = ~self._judge.broken(found)
        return np.asarray(keeps.reshape(-1, 2).all(axis=1))

    def _split(self, done: NDArray[np.bool_]) -> None:
        self._table.split(done)
        tried = self._tried
        if self._judge.sensitive:
            # What a promise about values refused in the whole, it may allow in a part.
            tried = np.where(done[:, None], False, tried)  # noqa: FBT003
        self._tried = np.repeat(tried, 1 + done, axis=0)

    def _close(self, closed: NDArray[np.bool_], low: Indexes, high: Indexes) -> None:
        """Number the boxes that cannot be cut, and go on without them."""
        self._table.close(closed)
        self.count += int(closed.sum())
        self._extremes.append((low[closed], high[closed]))
        self._tried = self._tried[~closed]


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
