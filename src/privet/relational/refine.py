"""Classes made better by moving cells between them: what a partition still has to give.

A partition that was made from above or by levels leaves records in classes that are not their nearest. So
each cell is asked which class nearby it would rather be in, by itself or in exchange for a cell of that
class; the changes that save most are made, those of different classes side by side, and the cells of the
classes that changed are asked again. No class becomes smaller than the promises allow, and every class that
changed is judged before the change stands.

Gains are whole numbers and ties go to the first, so the compiled loop and the plain one find the same.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet import native
from privet.core import Column, Progress, Tally, silent
from privet.counts.door import Entries, Frequencies, Indexes
from privet.counts.rollup import people, summed
from privet.relational.geometry import Codes, Geometry, Whole
from privet.relational.judge import Judge
from privet.relational.objective import Floats

NEAR, MEMBERS = 8, 64  # classes whose members are tried for an exchange, and how many of each
LITTLE = 1_000  # a neighbourhood that saves less than one part in so many is idle
IDLE = 3  # so many that are idle, one after another, are the last
AGAIN = 6  # times that the cells of classes that changed are asked again, before other neighbourhoods
TOGETHER = 64  # classes of a neighbourhood, at the most
SEED = 1  # of neighbourhoods: they are the same on every machine, and say nothing of the data


class Classes:
    """A partition of cells into classes, and the ends of each."""

    def __init__(self, tally: Tally, of_cell: Indexes, geometry: Geometry) -> None:
        self.codes: Codes = np.ascontiguousarray(
            np.stack([column.codes for column in tally.quasi], axis=1).astype(np.int32)
        )
        self.count: Whole = tally.counts.astype(np.int64)
        self.person = tally.person
        self.of_cell: Codes = of_cell.astype(np.int32)
        self.many = int(of_cell.max()) + 1
        self._geometry = geometry
        self.settle()

    def settle(self) -> None:
        """Count again after changes."""
        if native.pays(self.codes.size):
            self._settle_by_loops()
            return
        self.member: Codes = np.argsort(self.of_cell, kind="stable").astype(np.int32)
        self.start: Codes = np.searchsorted(self.of_cell[self.member], np.arange(self.many + 1)).astype(
            np.int32
        )
        there = np.flatnonzero(np.diff(self.start))
        sorted_ = self.codes[self.member]
        shape = (self.many, self.codes.shape[1])
        self.low, self.high = np.zeros(shape, dtype=np.int32), np.zeros(shape, dtype=np.int32)
        self.low[there] = np.minimum.reduceat(sorted_, self.start[there], axis=0)
        self.high[there] = np.maximum.reduceat(sorted_, self.start[there], axis=0)
        self.size: Whole = np.bincount(self.of_cell, weights=self.count, minlength=self.many).astype(np.int64)

    def _settle_by_loops(self) -> None:
        shape = (self.many, self.codes.shape[1])
        self.member, self.start = np.empty_like(self.of_cell), np.empty(self.many + 1, dtype=np.int32)
        self.low, self.high = np.empty(shape, dtype=np.int32), np.empty(shape, dtype=np.int32)
        self.size = np.empty(self.many, dtype=np.int64)
        native.call(
            "privet_settled", self.codes, *self.codes.shape, self.count, self.of_cell, self.many, self.member,
            self.start, self.low, self.high, self.size,
        )  # fmt: skip

    @property
    def lost(self) -> int:
        """What all records lose together."""
        return int(self.size @ self._geometry.loss(self.low, self.high))

    def best_moves(self, asked: Codes, near: Near, smallest: int) -> tuple[Whole, Whole, Whole]:
        """For each cell what it saves at most, the class that it goes to, and which cell comes back or -1."""
        # One neighbourhood after another: what its cells look at stays at hand.
        together = np.argsort(near.first[self.of_cell[asked]], kind="stable")
        offers = self._offers(asked[together], near, smallest)
        for offer in offers:
            offer[together] = offer.copy()
        return offers

    def _offers(self, asked: Codes, near: Near, smallest: int) -> tuple[Whole, Whole, Whole]:
        """The same in the order in which they are asked."""
        gain, to, back = (np.zeros(len(asked), dtype=np.int64) for _ in range(3))
        g = self._geometry
        if native.library() is not None and native.call(
            "privet_best_moves", self.codes, *self.codes.shape, self.count, self.of_cell, self.low, self.high,
            self.size, self.many, self.start, self.member, near.first, near.last, near.beside, asked,
            len(asked), smallest, g.along, g.widths, g.begin, g.end, g.own, g.stretch, gain, to, back,
        ) == 0:  # fmt: skip
            return gain, to, back
        loss = g.loss(self.low, self.high)
        for at, cell in enumerate(asked.tolist()):
            gain[at], to[at], back[at] = self._best_move(cell, near, smallest, loss)
        return gain, to, back

    def _best_move(self, cell: int, beside: Near, smallest: int, loss: Whole) -> tuple[int, int, int]:
        """The same in numpy, for one cell."""
        mine, n, code = int(self.of_cell[cell]), int(self.count[cell]), self.codes[cell]
        size = int(self.size[mine])
        rest = self.members(mine)[self.members(mine) != cell]
        here = size * int(loss[mine])
        goes = (size - n) * self._loss_of(rest) - here
        each = self._geometry.loss(np.minimum(self.low, code), np.maximum(self.high, code))
        cost = (self.size + n) * each - self.size * loss
        others = beside.beside[beside.first[mine] : beside.last[mine]]
        others = others[(others != mine) & (self.size[others] > 0)]
        near = others[np.argsort(cost[others], kind="stable")[:NEAR]].tolist()
        best = (0, -1, -1)
        if near and (size - n >= smallest or not len(rest)) and goes + int(cost[near[0]]) < 0:
            best = (-(goes + int(cost[near[0]])), near[0], -1)
        for b in near if len(rest) else ():
            there, inside = int(self.size[b]) * int(loss[b]), self.members(b)
            for other in inside[:MEMBERS].tolist() if len(inside) > 1 else ():
                k = int(self.count[other])
                ours, theirs = size - n + k, int(self.size[b]) - k + n
                if ours < smallest or theirs < smallest:
                    continue
                spent = ours * self._loss_of(np.append(rest, other))
                spent += theirs * self._loss_of(np.append(inside[inside != other], cell))
                if here + there - spent > best[0]:
                    best = (here + there - spent, b, other)
        return best

    def members(self, class_: int) -> Codes:
        return self.member[self.start[class_] : self.start[class_ + 1]]

    def _loss_of(self, cells: NDArray[np.int32]) -> int:
        if not len(cells):
            return 0
        some = self.codes[cells]
        return int(self._geometry.loss(some.min(axis=0)[None], some.max(axis=0)[None])[0])


@dataclass(frozen=True, eq=False)
class Near:
    """Neighbourhoods: which classes are looked at for the cells of each."""

    first: Codes  # by class, where its neighbourhood begins
    last: Codes
    beside: Codes  # the classes, one neighbourhood after another

    @classmethod
    def of(cls, classes: Classes, rng: np.random.Generator) -> Near:
        """Classes that lie close to each other, in one neighbourhood of many."""
        there = np.flatnonzero(classes.size).astype(np.int32)
        order, ends = halved((classes.low[there] + classes.high[there]) / 2, rng, TOGETHER)
        first, last = np.zeros(classes.many, dtype=np.int32), np.zeros(classes.many, dtype=np.int32)
        part = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        first[there[order]], last[there[order]] = ends[part], ends[part + 1]
        return cls(first, last, there[order])


def halved(points: Floats, rng: np.random.Generator, most: int) -> tuple[Indexes, Indexes]:
    """Points in an order, and where parts of it begin: halved in the attribute that they differ in most.

    How much each attribute counts is drawn anew every time: what one neighbourhood keeps apart another brings
    together.
    """
    place = points / np.maximum(points.std(axis=0), 1e-9) * rng.random(points.shape[1])
    order = np.arange(len(points))
    ends = np.array([0, len(points)])
    while np.diff(ends).max(initial=0) > most:
        here = place[order]
        wide = np.maximum.reduceat(here, ends[:-1], axis=0) - np.minimum.reduceat(here, ends[:-1], axis=0)
        part = np.repeat(np.arange(len(ends) - 1), np.diff(ends))
        value = here[np.arange(len(order)), wide.argmax(axis=1)[part]]
        order = order[np.lexsort((order, value, part))]
        ends = np.union1d(ends, (ends[:-1] + ends[1:]) // 2)
    return order, ends


def refined(  # noqa: PLR0917 - a partition, what it is of, and how it is judged
    tally: Tally,
    of_cell: Indexes,
    geometry: Geometry,
    judge: Judge,
    work: float,
    progress: Progress = silent,
    *,
    until: float = float("inf"),
) -> Indexes:
    """A class for each cell, losing no more than before; `work`: pairs of cells and classes looked at."""
    classes = Classes(tally, of_cell, geometry)
    sensitive = [next(c for c in tally.sensitive if c.name == name) for name in judge.sensitive]
    rng = np.random.default_rng(SEED)
    idle = 0
    while idle < IDLE and work > 0 and time.monotonic() <= until:
        before = classes.lost
        near = Near.of(classes, rng)
        asked = np.arange(tally.cells, dtype=np.int32)
        for _ in range(AGAIN):
            if not len(asked) or work <= 0 or time.monotonic() > until:
                break
            progress("search", 0)
            work -= int((near.last - near.first)[classes.of_cell[asked]].sum())
            offers = classes.best_moves(asked, near, judge.smallest)
            changed = _changed(classes, asked, *offers, judge, sensitive)
            asked = np.flatnonzero(np.isin(classes.of_cell, changed)).astype(np.int32)
        idle = idle + 1 if (before - classes.lost) * LITTLE <= before else 0
    return np.unique(classes.of_cell, return_inverse=True)[1]


def _changed(  # noqa: PLR0917 - offers, and how they are judged
    classes: Classes,
    asked: Codes,
    gain: Whole,
    to: Whole,
    back: Whole,
    judge: Judge,
    sensitive: Sequence[Column],
) -> Codes:
    """Make the changes that save most, one for each class at most; which classes changed."""
    used = np.zeros(classes.many, dtype=bool)
    made: list[tuple[int, int, int, int]] = []
    gains = np.flatnonzero(gain > 0)
    for at in gains[np.lexsort((asked[gains], -gain[gains]))].tolist():
        cell, there = int(asked[at]), int(to[at])
        mine = int(classes.of_cell[cell])
        if not used[mine] and not used[there]:
            used[mine] = used[there] = True
            made.append((cell, mine, there, int(back[at])))
    if not made:
        return np.zeros(0, dtype=np.int32)
    rows = np.array(made, dtype=np.int32)
    _carry_out(classes, rows)
    if judge.asked:
        bad = _broken(classes, np.flatnonzero(used), judge, sensitive)
        wrong = bad[rows[:, 1]] | bad[rows[:, 2]]
        if wrong.any():
            undone = rows[wrong]
            classes.of_cell[undone[:, 0]] = undone[:, 1]
            returned = undone[undone[:, 3] >= 0]
            classes.of_cell[returned[:, 3]] = returned[:, 2]
            rows = rows[~wrong]
    classes.settle()
    return np.unique(rows[:, 1:3])


def _carry_out(classes: Classes, rows: Codes) -> None:
    classes.of_cell[rows[:, 0]] = rows[:, 2]
    exchanged = rows[rows[:, 3] >= 0]
    classes.of_cell[exchanged[:, 3]] = exchanged[:, 1]


def _broken(
    classes: Classes, touched: Indexes, judge: Judge, sensitive: Sequence[Column]
) -> NDArray[np.bool_]:
    """Which of the classes that were touched break a promise now; one that is empty does not."""
    number = np.full(classes.many, -1, dtype=np.intp)
    cells = np.flatnonzero(np.isin(classes.of_cell, touched))
    owner = classes.of_cell[cells]
    there = np.unique(owner)
    number[there] = np.arange(len(there))
    if classes.person is None:
        size = np.bincount(number[owner], weights=classes.count[cells], minlength=len(there)).astype(np.int64)
    else:
        size = people(number[owner], classes.person[cells], len(there))
    entries = []
    for column in sensitive:
        wide = max(1, column.domain.size)
        key = number[owner] * wide + column.codes[cells]
        found, count = summed(key, classes.count[cells], len(there) * wide)
        entries.append(Entries(column, *np.divmod(found, wide), count))
    first = cells[np.unique(owner, return_index=True)[1]]
    bad = np.zeros(classes.many, dtype=bool)
    bad[there] = judge.broken(Frequencies((), first, size, tuple(entries)))
    return bad
