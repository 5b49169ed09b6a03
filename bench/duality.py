"""A lower bound for every partition into classes of k records: prices, by the duality of linear programs.

Each record gets a price, so that in no box do k records have prices that add up to more than they would lose
there. (Nor do more than k then: of the k highest prices the lowest is at most what a record loses in the box,
and others are lower still.) Every class of a partition is such a box, so its records lose at least their
prices, and the records of the table lose at least the sum of all prices, however they are grouped. The best
prices are the dual solution of the set partition over all boxes.

They are looked for by cutting planes (Kelley 1960). HiGHS finds the best prices near those that hold so far
(Marsten, Hogan and Blankenship, "The boxstep method", 1975) for the boxes that are known; boxes in which they
are too high become known; and as much of the way is gone as holds in all boxes. However early this stops,
what it has is a bound: `broken` looks through all boxes again, in whole numbers.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_matrix, vstack

from privet.core import Tally
from privet.counts.door import Indexes
from privet.counts.rollup import numbered
from privet.errors import InternalError
from privet.relational.geometry import ONE, Codes, Geometry, Whole
from privet.relational.lattice import cuts_by_level
from privet.relational.objective import Floats

EACH = 4  # boxes that are learnt for each cell, in which it is most too dear
HARDLY = 1e-7  # of what a record can lose: not too dear
NEAR, SHARE = 0.03, 0.5  # how far from prices that hold others are looked for: so much, and by their height
OUT_OF_TIME = 1  # as scipy's linprog says it
KEPT = 8  # boxes for each cell that are remembered

Level: TypeAlias = tuple[Indexes, Whole]  # the node above each cell, and what each node loses
Rung: TypeAlias = tuple[Indexes, Floats]  # of each cell, where it is at some level, and what it loses there


@dataclass(frozen=True, eq=False)
class Crowds:
    """The boxes of one node of the lattice that hold k records each: their cells, the highest price first."""

    k: int
    count: Whole  # of the records of each cell
    cells: Indexes  # by box
    box: Indexes  # of each of these cells
    start: Indexes  # of each box in them
    loss: Floats  # of a record in each box

    def taken(self, order: Indexes | slice = slice(None)) -> Whole:
        """How many records of each cell are among the first k of its box."""
        count = self.count[self.cells[order]]
        before = np.cumsum(count) - count
        before -= before[self.start][self.box]
        first: Whole = np.clip(self.k - before, 0, count)
        return first

    def highest(self, prices: Floats) -> Floats:
        """What the k highest prices in each box add up to."""
        here = prices[self.cells]
        order = np.lexsort((-here, self.box))
        total: Floats = np.add.reduceat(self.taken(order) * here[order], self.start)
        return total


class Boxes:
    """Every box along the hierarchies of a table. Losses are shares of what a record can lose."""

    def __init__(self, tally: Tally, geometry: Geometry, k: int) -> None:
        self.count: Whole = tally.counts.astype(np.int64)
        self.k = k
        rungs = [[(of, loss[of] / ONE) for of, loss in levels] for levels in _levels(tally, geometry)]
        # What costs most at once is first: where a box may not be so wide, nothing below need be looked at.
        self._rungs: list[list[Rung]] = sorted(
            rungs, key=lambda levels: float(np.mean(levels[min(1, len(levels) - 1)][1])), reverse=True
        )

    def crowds(self, prices: Floats) -> Iterator[Crowds]:
        """All boxes with k records, one of which has a price above what it would lose there."""
        nothing = np.zeros(len(self.count))
        order = np.argsort(-prices, kind="stable")
        return self._below(0, order, nothing.astype(np.intp), nothing, prices)

    def _below(self, at: int, cells: Indexes, box: Indexes, lost: Floats, prices: Floats) -> Iterator[Crowds]:
        if at == len(self._rungs):
            order = np.argsort(box, kind="stable")
            box = box[order]
            start = np.flatnonzero(np.diff(box, prepend=-1))
            yield Crowds(self.k, self.count, cells[order], box, start, lost[order][start])
            return
        for of, loss in self._rungs[at]:
            here = lost + loss[cells]
            dear = prices[cells] > here
            if not dear.any():
                continue
            wide = int(of.max()) + 1
            number, there = numbered(box * wide + of[cells], (int(box.max()) + 1) * wide)
            good = np.zeros(len(there), dtype=np.bool_)
            good[number[dear]] = True
            good &= np.bincount(number, weights=self.count[cells]) >= self.k
            kept = good[number]
            if kept.any():
                again = (np.cumsum(good) - 1)[number[kept]]
                yield from self._below(at + 1, cells[kept], again, here[kept], prices)


class Program:
    """The boxes that are known, as rows of a linear program."""

    def __init__(self, boxes: Boxes, of_cell: Indexes, loss: Floats) -> None:
        """At first the classes of some partition: so no prices can add up to more than it loses."""
        self._boxes = boxes
        self._weight = boxes.count.astype(np.float64)
        shape = (len(loss), len(of_cell))
        self._rows = csr_matrix((self._weight, (of_cell, np.arange(len(of_cell)))), shape=shape)
        self._most = np.bincount(of_cell, weights=self._weight) * loss
        self._first = len(loss)

    def total(self, prices: Floats) -> float:
        return float(prices @ self._weight) / float(self._weight.sum())

    def best(self, near: Floats, most: float, seconds: float) -> tuple[Floats, bool] | None:
        """The best prices for the known boxes, no further away than that; and whether further is better.

        None where HiGHS found none in so many seconds.
        """
        away = most + SHARE * np.abs(near)
        found = linprog(
            -self._weight, A_ub=self._rows, b_ub=self._most,
            bounds=np.stack([near - away, near + away], axis=1), method="highs-ipm",
            options={"time_limit": seconds},
        )  # fmt: skip
        if found.status == OUT_OF_TIME:
            return None
        if found.x is None:
            raise InternalError(f"no prices were found: {found.message}")
        prices: Floats = found.x
        return prices, bool((np.abs(prices - near) > away - HARDLY).any())

    def learn(self, prices: Floats, held: Floats) -> tuple[Floats, int]:
        """Learn boxes in which prices are too high; as much of the way from those that hold as holds too.

        What is lower than it was stays so: lower prices hold wherever higher ones do. What is higher is taken
        back, in each box by the share that is too much: the highest k of a mixture add up to no more than
        the mixture of both.
        """
        low = np.minimum(prices, held)
        share = np.ones(len(prices))
        found: list[tuple[Indexes, Indexes, Whole, Floats, Floats]] = []
        known = 0
        for crowds in self._boxes.crowds(prices):
            most = self._boxes.k * crowds.loss
            taken = crowds.taken()
            asked = np.add.reduceat(taken * prices[crowds.cells], crowds.start)
            over = asked - most
            bad = over > 0
            if not bad.any():
                continue
            least = crowds.highest(low)
            with np.errstate(divide="ignore"):  # nothing of the way, where lower prices are too high already
                part = np.divide(most - least, asked - least, out=np.ones(len(bad)), where=bad)
            np.minimum.at(share, crowds.cells, np.clip(part, 0, 1)[crowds.box])
            bad = over > HARDLY
            here = bad[crowds.box] & (taken > 0)
            row = known + (np.cumsum(bad) - 1)[crowds.box[here]]
            found.append((row, crowds.cells[here], taken[here], most[bad], over[bad]))
            known += int(bad.sum())
        if known:
            row, cells, taken, most, over = (np.concatenate(part) for part in zip(*found, strict=True))
            self._add(row, cells, taken, most, over)
        return low + share * (prices - low), known

    def _add(self, row: Indexes, cells: Indexes, taken: Whole, most: Floats, over: Floats) -> None:
        """For each cell those in which it is most too dear."""
        order = np.lexsort((-over[row], cells))
        first = np.diff(cells[order], prepend=-1) != 0
        rank = np.arange(len(order)) - np.flatnonzero(first)[np.cumsum(first) - 1]
        kept = np.zeros(len(most), dtype=np.bool_)
        kept[row[order[rank < EACH]]] = True
        here = kept[row]
        number = (np.cumsum(kept) - 1)[row[here]]
        shape = (int(kept.sum()), len(self._weight))
        fresh = csr_matrix((taken[here].astype(np.float64), (number, cells[here])), shape=shape)
        self._rows = vstack([self._rows, fresh]).tocsr()
        self._most = np.concatenate([self._most, most[kept]])

    def forget(self, prices: Floats) -> None:
        """Boxes that are far from mattering, where too many are known."""
        if self._rows.shape[0] > self._first + KEPT * len(prices):
            slack = self._most - self._rows @ prices
            slack[: self._first] = -1
            kept = np.sort(np.argsort(slack, kind="stable")[: self._first + KEPT * len(prices) // 2])
            self._rows, self._most = self._rows[kept], self._most[kept]


def prices(
    tally: Tally,
    geometry: Geometry,
    k: int,
    of_cell: Indexes,
    rounds: int,
    *,
    seconds: float = float("inf"),
    say: Callable[[str], None] = lambda _: None,
) -> Whole:
    """A price for the records of each cell, that hold in all boxes; the more rounds, the better.

    It begins with what records lose in some partition, lowered until that holds. After so many CPU seconds
    no round begins, and a linear program that is not solved by then is given up.
    """
    begun = time.process_time()
    boxes = Boxes(tally, geometry, k)
    of_cell = np.unique(of_cell, return_inverse=True)[1]
    loss = _lost(tally, geometry, of_cell) / ONE
    program = Program(boxes, of_cell, loss)
    held, near = np.zeros(len(of_cell)), NEAR
    asked, beyond = loss[of_cell], True
    for number in range(rounds):
        kept, known = program.learn(asked, held)
        if program.total(kept) > program.total(held):
            held = kept
        if not known:
            if not beyond:
                break  # the best that there are
            near *= 2
        left = seconds - (time.process_time() - begun)
        say(f"round {number}: {program.total(held):.4f}, too high in {known:,} boxes")
        if left <= 0:
            break
        program.forget(asked)
        found = program.best(held, near, left)
        if found is None:
            break
        asked, beyond = found
    kept, _ = program.learn(asked, held)
    held = max(kept, held, key=program.total)
    return np.floor(held * ONE).astype(np.int64)


def broken(tally: Tally, geometry: Geometry, k: int, prices: Whole) -> int:
    """In how many boxes k records have prices above what they would lose: every box, in whole numbers."""
    order = np.argsort(-prices, kind="stable")
    wrong = 0
    for box, lost in _every(_levels(tally, geometry), np.zeros(tally.cells, dtype=np.intp), 0 * prices):
        by_box = order[np.argsort(box[order], kind="stable")]
        record = np.repeat(by_box, np.minimum(tally.counts[by_box], k))
        start = np.flatnonzero(np.diff(box[record], prepend=-1))
        full = start[np.diff(np.append(start, len(record))) >= k]
        asked = sum(prices[record[full + at]] for at in range(k))
        wrong += int(np.count_nonzero(asked > k * lost[record[full]]))
    return wrong


def _every(levels: list[list[Level]], box: Indexes, lost: Whole) -> Iterator[tuple[Indexes, Whole]]:
    """For each node of the lattice, the box of each cell and what a record loses in it."""
    if not levels:
        yield box, lost
        return
    for of, loss in levels[0]:
        wide = int(of.max()) + 1
        number, _ = numbered(box * wide + of, (int(box.max()) + 1) * wide)
        yield from _every(levels[1:], number, lost + loss[of])


def _levels(tally: Tally, geometry: Geometry) -> list[list[Level]]:
    """By attribute, the finest first."""
    found = []
    for at, column in enumerate(tally.quasi):
        codes = column.codes.astype(np.intp)
        levels = []
        for cut in cuts_by_level(column.domain):
            low = np.array([node.lo for node in cut.nodes], dtype=np.intp)
            high = np.array([node.hi - 1 for node in cut.nodes], dtype=np.intp)
            levels.append((cut.positions[codes].astype(np.intp), geometry.lost(at, low, high)))
        found.append(levels)
    return found


def _lost(tally: Tally, geometry: Geometry, of_cell: Indexes) -> Whole:
    """What a record loses in each class of a partition."""
    codes: Codes = np.stack([column.codes.astype(np.int32) for column in tally.quasi], axis=1)
    order = np.argsort(of_cell, kind="stable")
    start = np.flatnonzero(np.diff(of_cell[order], prepend=-1))
    ends = np.minimum.reduceat(codes[order], start), np.maximum.reduceat(codes[order], start)
    return geometry.loss(*ends)
