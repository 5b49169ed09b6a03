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
from privet.relational.axis import Axis
from privet.relational.judge import Judge
from privet.relational.objective import Floats


@dataclass(frozen=True, eq=False)
class Places:
    """The codes that occur in each box, in the attribute that it is to be cut in: cuts are behind them.

    Codes in between would be listed in vain, and of wide columns there are more than anybody has room for.
    """

    attribute: Indexes  # of each box
    owner: Indexes  # the box of each place
    code: Indexes
    count: Ints  # the records that have it

    @cached_property
    def offset(self) -> Indexes:
        """Where the places of each box begin."""
        return np.searchsorted(self.owner, np.arange(len(self.attribute)))

    @cached_property
    def first(self) -> Indexes:
        """The first code of each box."""
        return self.code[self.offset]

    @cached_property
    def last(self) -> Indexes:
        return np.asarray(self.code[np.append(self.offset[1:], len(self.code)) - 1], dtype=np.intp)

    @cached_property
    def inside(self) -> NDArray[np.bool_]:
        """A cut behind the last code is none."""
        return self.code < self.last[self.owner]

    @cached_property
    def next(self) -> Indexes:
        """The next code that occurs; of the last of a box, itself."""
        return np.where(self.inside, np.append(self.code[1:], 0), self.code)

    def of(self, attribute: int) -> Indexes:
        """The places of boxes that are cut in this attribute, where there may be a cut."""
        return np.flatnonzero((self.attribute == attribute)[self.owner] & self.inside)


class Boxes:
    """A table in boxes, cut until no cut keeps every promise."""

    def __init__(
        self,
        table: Boxing,
        judge: Judge,
        axes: list[Axis],
        weights: Floats,
        *,
        best: bool,
        relaxed: bool,
        boxes: int = 1,
    ) -> None:
        """`boxes`: how many are open to begin with."""
        self._table = table
        self._judge = judge
        self.axes = axes
        self._weights = weights
        self._best = best
        self._relaxed = relaxed
        self._tried = np.zeros((boxes, len(axes)), dtype=bool)  # by open box and attribute
        self._along = np.array([axis.tree is not None for axis in axes], dtype=bool)
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
            places = Places(attribute, *self._table.histogram(attribute))
            cut = self._cuts(places, records)
            done = cut < places.last
            self._table.propose(attribute, cut)
        if self._judge.asked and done.any():
            done &= self._parts_keep()
        self._tried[boxes[~done], attribute[~done]] = True
        if done.any():
            self._split(done)

    def _cuts(self, places: Places, records: Ints) -> Indexes:
        """For each box, the last value of its left part; its own last value where no cut is valid."""
        owner, offset = places.owner, places.offset
        left: Floats = np.cumsum(places.count).astype(np.float64)
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
        found[owner[at]] = places.code[at]
        return np.where(np.isfinite(best), found, places.last)

    def _allowed(self, places: Places) -> NDArray[np.bool_]:
        """Between children of the lowest node above the whole range, where cuts follow the hierarchy."""
        allowed = places.inside.copy()
        for at, axis in enumerate(self.axes):
            if axis.tree is not None:
                mine = places.of(at)
                owner = places.owner[mine]
                whole = axis.tree.depth_of(places.first[owner], places.last[owner])
                allowed[mine] = axis.tree.depth_of(places.code[mine], places.next[mine]) == whole
        return allowed

    def _left_over(self, places: Places, left: Floats, total: NDArray[np.int64]) -> Floats:
        """What both parts lose in this attribute after a cut."""
        lost = np.zeros(len(places.owner))
        for at, axis in enumerate(self.axes):
            mine = places.of(at)
            owner = places.owner[mine]
            lost[mine] = left[mine] * axis.loss(places.first[owner], places.code[mine])
            lost[mine] += (total[mine] - left[mine]) * axis.loss(places.next[mine], places.last[owner])
        return lost

    def _parts_keep(self) -> NDArray[np.bool_]:
        """Do both parts of each box keep every promise?"""
        keeps, found = self._table.parts()  # a part without records is no part
        keeps[keeps] = ~self._judge.broken(found)
        return np.asarray(keeps.reshape(-1, 2).all(axis=1))

    def _split(self, done: NDArray[np.bool_]) -> None:
        self._table.split(done)
        tried = self._tried
        if self._judge.asked:
            # What a promise about values refused in the whole, it may allow in a part.
            tried = np.where(done[:, None], False, tried)  # noqa: FBT003
        elif self._along.any():
            # A part may stand under a lower node, whose children are other places to cut at.
            tried = tried & ~(done[:, None] & self._along)
        self._tried = np.repeat(tried, 1 + done, axis=0)

    def _close(self, closed: NDArray[np.bool_], low: Indexes, high: Indexes) -> None:
        """Number the boxes that cannot be cut, and go on without them."""
        self._table.close(closed)
        self.count += int(closed.sum())
        self._extremes.append((low[closed], high[closed]))
        self._tried = self._tried[~closed]
