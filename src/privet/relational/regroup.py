"""Classes made better by chance, where only their sizes are promised: what moves one at a time never reach.

Kirkpatrick, Gelatt and Vecchi, "Optimization by simulated annealing", Science 1983. A cell and one near it
are drawn. The first moves to the class of the second, or changes places with a cell of that class; now and
then a new class is founded around it, of cells near by whose classes can spare them, or its own is dissolved
and each cell goes where it costs least. What makes the table worse is done with a chance that falls to
nothing, and no class is ever smaller than the promises allow. What comes out worse than it was is not taken.

Losses are whole numbers and chance is a counter's digest (splitmix64), so the compiled loop and the plain one
go the same way, on every machine that has the compiled one; elsewhere classes stay as they were refined.
"""

from __future__ import annotations

import time
from math import log
from typing import TypeAlias

import numpy as np

from privet import native
from privet.core import Progress, Tally, silent
from privet.counts.door import Indexes
from privet.relational.geometry import ONE, Codes, Geometry, Whole
from privet.relational.judge import Judge
from privet.relational.refine import SEED, halved

NEAR, ROUNDS, PART = 16, 6, 512  # cells near each, looked for so often, among so many
WARM, COLD, STILL = (
    0.03,
    0.002,
    0.02,
)  # losses of one record, at first and later; share of the steps without any
BLOCK, CHUNK = 1024, 256  # steps of one heat; such blocks between two looks at the clock
LOGS, FINE = 4096, 1024  # chances, and the parts of their logarithms
MOST, RARE, OFTEN = (
    12,
    2,
    64,
)  # cells of a class that may be dissolved; of so many steps, those that found or dissolve
EACH, ENOUGH = 50, 1_000  # steps for each cell: with fewer a table becomes worse, with more hardly better
MASK = 2**64 - 1

Came: TypeAlias = tuple[int, int, int, int, int]  # a cell, from where, to where, and what both lost before


def regrouped(  # noqa: PLR0917 - a partition, what it is of, and how it is judged
    tally: Tally,
    of_cell: Indexes,
    geometry: Geometry,
    judge: Judge,
    steps: int,
    progress: Progress = silent,
    *,
    until: float = float("inf"),
) -> Indexes:
    """A class for each cell, losing no more than before; as it was where the loops are not compiled.

    In Python a step takes a thousand times as long, and nobody would wait for millions of them.
    """
    blocks = max(1, min(steps, ENOUGH * tally.cells) // BLOCK)
    if judge.asked or steps < EACH * tally.cells or tally.cells < 2 or native.library() is None:
        return of_cell
    groups = Groups(tally, of_cell, geometry, judge.smallest)
    before = groups.lost()
    beside = groups.beside()
    heat = heats(blocks)
    for first in range(0, blocks, CHUNK):
        if time.monotonic() > until:
            break
        progress("search", 0)
        groups.walk(beside, heat[first : first + CHUNK], SEED + first)
    return np.unique(groups.of_cell, return_inverse=True)[1] if groups.lost() < before else of_cell


def heats(blocks: int) -> Whole:
    """What each block of steps allows, for a chance with the logarithm 1."""
    share = np.arange(blocks) / max(1, blocks)
    heat = WARM * (COLD / WARM) ** share * ONE / FINE
    return np.where(share > 1 - STILL, 0, np.rint(heat)).astype(np.int64)


def logarithms() -> Whole:
    return np.array([round(-log((at + 0.5) / LOGS) * FINE) for at in range(LOGS)], dtype=np.int64)


class Groups:
    """A partition of cells whose classes need so many records, and nothing else."""

    def __init__(self, tally: Tally, of_cell: Indexes, geometry: Geometry, smallest: int) -> None:
        self.codes: Codes = np.ascontiguousarray(
            np.stack([column.codes for column in tally.quasi], axis=1).astype(np.int32)
        )
        self.count: Whole = tally.counts.astype(np.int64)
        self.of_cell: Codes = of_cell.astype(np.int32)
        self.smallest = smallest
        self.geometry = geometry
        # Classes that are still empty: as many as there could be, each with the fewest records.
        self.many = max(int(of_cell.max()) + 1, tally.records // max(1, smallest)) + 1

    def lost(self) -> int:
        """What all records lose together."""
        order = np.argsort(self.of_cell, kind="stable")
        there, start = np.unique(self.of_cell[order], return_index=True)
        codes = self.codes[order]
        low, high = np.minimum.reduceat(codes, start), np.maximum.reduceat(codes, start)
        size = np.bincount(self.of_cell, weights=self.count, minlength=self.many).astype(np.int64)
        return int(size[there] @ self.geometry.loss(low, high))

    def beside(self) -> Codes:
        """The cells nearest to each, by what the two would lose together; -1 where there are fewer."""
        shape = (len(self.codes), NEAR)
        found, apart = np.full(shape, -1, dtype=np.int32), np.full(shape, 2**62, dtype=np.int64)
        rng = np.random.default_rng(SEED)
        g = self.geometry
        for _ in range(ROUNDS):
            order, ends = (part.astype(np.int32) for part in halved(self.codes.astype(np.float64), rng, PART))
            if native.library() is None or native.call(
                "privet_near_cells", self.codes, self.codes.shape[1], order, ends, len(ends) - 1, g.along,
                g.widths, g.begin, g.end, g.own, g.stretch, NEAR, found, apart,
            ) < 0:  # fmt: skip
                self._near(order, ends, found, apart)
        return found

    def _near(self, order: Codes, ends: Codes, found: Codes, apart: Whole) -> None:
        """The same in numpy."""
        for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            part = order[first:last]
            for cell in part.tolist():
                one, two = self.codes[cell], self.codes[part]
                loss = self.geometry.loss(np.minimum(one, two), np.maximum(one, two))
                known = set(found[cell].tolist())
                fresh = [at for at, other in enumerate(part.tolist()) if other != cell and other not in known]
                both = np.concatenate([apart[cell], loss[fresh]])
                nearest = np.argsort(both, kind="stable")[:NEAR]  # among equal ones the first that was met
                found[cell] = np.concatenate([found[cell], part[fresh]])[nearest]
                apart[cell] = both[nearest]

    def walk(self, beside: Codes, heat: Whole, seed: int) -> None:
        """So many blocks of steps."""
        g = self.geometry
        if native.library() is None or native.call(
            "privet_regroup", self.codes, *self.codes.shape, self.count, self.of_cell, self.many,
            self.smallest, beside, beside.shape[1], heat, len(heat), logarithms(), seed, g.along, g.widths,
            g.begin, g.end, g.own, g.stretch,
        ) < 0:  # fmt: skip
            Walk(self).steps(beside, heat, seed)


class Walk:
    """The walk in Python: the same steps as the compiled loop makes, one after the other."""

    def __init__(self, groups: Groups) -> None:
        self._groups = groups
        self._count: list[int] = groups.count.tolist()
        self._of: list[int] = groups.of_cell.tolist()
        self._members: list[set[int]] = [set() for _ in range(groups.many)]
        for cell, class_ in enumerate(self._of):
            self._members[class_].add(cell)
        self._free = [class_ for class_, members in enumerate(self._members) if not members]

    def steps(self, beside: Codes, heat: Whole, seed: int) -> None:
        state, logs, near = seed, logarithms().tolist(), beside.tolist()
        for allowance in heat.tolist():
            for _ in range(BLOCK):
                state, where = _drawn(state)
                state, chance = _drawn(state)
                cell = (where >> 32) * len(self._of) >> 32
                other = near[cell][(where & 0xFFFF) % len(near[cell])]
                if other < 0 or self._of[other] == self._of[cell]:
                    continue
                allowed = allowance * logs[chance % LOGS]
                if (where >> 16) % OFTEN >= RARE:
                    self._changed(cell, self._of[other], chance, allowed)
                elif where >> 22 & 1:
                    self._founded(cell, near[cell], allowed)
                else:
                    self._dissolved(self._of[cell], near, allowed)
        self._groups.of_cell[:] = self._of

    def _changed(self, cell: int, there: int, chance: int, allowed: int) -> None:
        here, alone = self._of[cell], len(self._members[self._of[cell]]) == 1
        moves = [(cell, there)]
        if not chance >> 20 & 3 or not (alone or self._spares(cell)):
            if alone or len(self._members[there]) == 1:
                return  # would only take the name of its class along
            mixed = {(one ^ chance >> 32) * 2654435761 % 2**32: one for one in self._members[there]}
            moves.append((mixed[min(mixed)], here))
        came = self._made(moves)
        large = all(self._size(of) >= self._groups.smallest for of in (here, there) if self._members[of])
        if not large or not self._stands(came, allowed):
            self._undone(came)
        elif not self._members[here]:
            self._free.append(here)

    def _founded(self, cell: int, near: list[int], allowed: int) -> None:
        if not self._free or len(self._members[self._of[cell]]) == 1 or not self._spares(cell):
            return
        fresh = self._free[-1]
        came = self._made([(cell, fresh)])
        for other in near:
            few = self._size(fresh) < self._groups.smallest
            if few and other >= 0 and len(self._members[self._of[other]]) > 1 and self._spares(other):
                came += self._made([(other, fresh)])
        if self._size(fresh) >= self._groups.smallest and self._stands(came, allowed):
            self._free.pop()
        else:
            self._undone(came)

    def _dissolved(self, class_: int, near: list[list[int]], allowed: int) -> None:
        if len(self._members[class_]) > MOST:
            return
        came: list[Came] = []
        for cell in sorted(self._members[class_]):
            costs: dict[int, int] = {}
            for there in (self._of[other] for other in near[cell] if other >= 0):
                if there != class_ and there not in costs:
                    joined = self._loss({*self._members[there], cell})
                    costs[there] = (self._size(there) + self._count[cell]) * joined - self._paid(there)
            if not costs:
                break
            came += self._made([(cell, min(costs, key=costs.__getitem__))])  # of equal ones the first
        if not self._members[class_] and self._stands(came, allowed):
            self._free.append(class_)
        else:
            self._undone(came)

    def _made(self, moves: list[tuple[int, int]]) -> list[Came]:
        """Move cells; what it takes to undo it, and what the two classes of each lost before."""
        came = []
        for cell, to in moves:
            came.append((cell, self._of[cell], to, self._paid(self._of[cell]), self._paid(to)))
            self._move(cell, to)
        return came

    def _stands(self, came: list[Came], allowed: int) -> bool:
        before: dict[int, int] = {}
        for _, of, to, ours, theirs in came:
            before.setdefault(of, ours)
            before.setdefault(to, theirs)
        return sum(map(self._paid, before)) - sum(before.values()) <= allowed

    def _undone(self, came: list[Came]) -> None:
        for cell, of, *_ in reversed(came):
            self._move(cell, of)

    def _move(self, cell: int, to: int) -> None:
        self._members[self._of[cell]].remove(cell)
        self._members[to].add(cell)
        self._of[cell] = to

    def _spares(self, cell: int) -> bool:
        return self._size(self._of[cell]) - self._count[cell] >= self._groups.smallest

    def _size(self, class_: int) -> int:
        return sum(self._count[cell] for cell in self._members[class_])

    def _paid(self, class_: int) -> int:
        members = self._members[class_]
        return self._size(class_) * self._loss(members) if members else 0

    def _loss(self, cells: set[int]) -> int:
        some = self._groups.codes[list(cells)]
        return int(self._groups.geometry.loss(some.min(axis=0)[None], some.max(axis=0)[None])[0])


def _drawn(state: int) -> tuple[int, int]:
    """The next state and number of splitmix64 (Steele, Lea and Flood, OOPSLA 2014)."""
    state = (state + 0x9E3779B97F4A7C15) & MASK
    mixed = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EB & MASK
    return state, mixed ^ (mixed >> 31)
