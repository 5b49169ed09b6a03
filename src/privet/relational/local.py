"""Local recoding by sweeping the lattice: every record at the cheapest node where it has company.

Whatever class a local recoding makes, its values are labels of some node of the generalisation lattice. So
nodes are visited in the order of their loss; at each, the records that are still free and form classes there
that keep every promise are published at its levels, and leave. A record ends about as low as it can, and no
two records of one class could have been published lower together. What is left over at the top joins
classes that are there, where that costs least.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privet import native
from privet.core import Algorithm, Column, Finding, Progress, Tally, Terms, silent
from privet.counts.boxing import CellBoxes
from privet.counts.door import Entries, Frequencies, Indexes, Levels
from privet.counts.rollup import Rollups, numbered, people, summed
from privet.declared import settle
from privet.domain import Node
from privet.errors import PolicyError
from privet.recoding import Regions
from privet.relational import suits
from privet.relational.absorb import Shaped, absorb
from privet.relational.axis import Axis
from privet.relational.boxes import Boxes
from privet.relational.byvalue import by_value, spread
from privet.relational.geometry import Geometry
from privet.relational.judge import Judge, need_classes_that_merge
from privet.relational.lattice import ENUMERABLE, Lattice, Limits, ascending, check_limits
from privet.relational.mondrian import Cuts
from privet.relational.objective import Loss, Objective, check_weights, shares
from privet.relational.ranges import labels_of
from privet.relational.refine import refined
from privet.relational.regroup import regrouped
from privet.relational.suits import raise_unsatisfiable, refuse_beyond_reach

NODES = 5_000  # nodes that are visited of a lattice too large for all
STRETCH, HARDLY = 500, 1_000  # of so many nodes that take less than one record in so many, no more follow
WORK, FIRST = 200_000_000, 500_000_000  # values that are looked at in a stretch; before anybody is taken
REFINE = 100_000_000  # a few seconds
MANY = 1 << 16  # records that are sorted only where they may have company
PLACES, MIXED = 21, np.uint64(0x9E3779B97F4A7C15)  # bits, and what spreads keys over so many places
PAIRS = 10  # looked at in the time of a step of chance


@dataclass(frozen=True, slots=True)
class Local(Algorithm):
    """Local recoding with labels of the hierarchies: different records may stand at different levels.

    No record is suppressed. Needs promises about each class by itself that merging classes keeps.
    """

    time_limit: float | None = None  # seconds, after which records are lifted in larger steps
    looks: int | None = None  # at values, over all nodes, after which it is so: on every machine alike
    labels: Cuts = Cuts.HIERARCHY  # or sets and ranges: where no kinds are named, or wherever it may be
    refine: int = REFINE  # pairs of cells and classes that are looked at to make classes better; 0: none
    weights: Mapping[str, float] = field(default_factory=dict, compare=False)
    levels: Limits = field(default_factory=dict, compare=False)

    name: ClassVar[str] = "local"
    persons: ClassVar[bool] = True
    across: ClassVar[bool] = False  # rows of one person would have to be put together

    def __post_init__(self) -> None:
        settle(self)
        if self.time_limit is not None and not self.time_limit > 0:
            raise PolicyError("time_limit is a number of seconds above 0")
        if self.looks is not None and self.looks < 1:
            raise PolicyError("looks is a whole number from 1 on")
        if self.refine < 0:
            raise PolicyError("refine is a whole number from 0 on")
        if self.labels is not Cuts.HIERARCHY and self.levels:
            raise PolicyError('levels: limits are of labels = "hierarchy"')
        check_weights(self.weights)
        check_limits(self.levels)

    @property
    def draws_boxes(self) -> bool:
        return self.labels is not Cuts.HIERARCHY

    def named(self) -> Mapping[str, Collection[str]]:
        return {"weights": self.weights, "levels": self.levels}

    def complaints(self, policy: Terms) -> list[str]:
        persons, quasi = policy.person is not None, suits.quasi_of(policy)
        wrong = suits.merges(self.name, policy.models, policy.nulls, quasi, persons=persons)
        return [f"algorithm: {complaint}" for complaint in wrong]

    def search(self, tally: Tally, policy: Terms, progress: Progress = silent) -> Finding:
        tally, now = by_value(tally)
        judge = Judge(tally, policy.models, of_persons=True)
        need_classes_that_merge(self.name, judge, tally, policy.models)
        until = time.monotonic() + (self.time_limit or float("inf"))
        if self.labels is not Cuts.HIERARCHY:
            if tally.person is not None:
                refuse_beyond_reach(tally, policy.models)
            elif not judge.holds_for_all():
                raise_unsatisfiable(tally, policy.models)
            return Finding(spread(self._boxed(tally, judge, until, progress), now))
        lattice = Lattice.of(tally, self.levels)
        top = Judge(tally, policy.models)  # of the whole table at its coarsest, in records or persons
        if not top.rule(Rollups(tally, lattice.ladders, top.sensitive), lattice.top).holds:
            raise_unsatisfiable(tally, policy.models)
        objective = Objective(tally, lattice, Loss.LM, self.weights)
        sweep = Sweep(
            tally,
            lattice,
            judge,
            objective,
            until=until,
            looks=self.looks or float("inf"),
            weights=self.weights,
        )
        sweep.run(progress)
        order = ascending(lattice, objective.floors) if lattice.size <= ENUMERABLE else iter(())
        shaped = absorb(sweep.shaped(), judge, objective, sweep.rollups, order)
        if not self.levels and self.refine:  # a limit on levels is not one on ranges
            found = self._refined(tally, shaped.of_cell, judge, until, progress)
        else:
            found = shaped.recoding(tally)
        return Finding(spread(found, now))

    def _boxed(self, tally: Tally, judge: Judge, until: float, progress: Progress) -> Regions:
        """Mondrian's boxes, made better."""
        table = self._cut(tally, CellBoxes(tally, judge.sensitive), judge)
        return self._refined(tally, table.of_cell, judge, until, progress)

    def _cut(self, tally: Tally, table: CellBoxes, judge: Judge, of_cell: Indexes | None = None) -> CellBoxes:
        axes = [Axis.of(c.domain, hierarchy=self.labels.follows(c.domain)) for c in tally.quasi]
        weights = np.array(shares([column.name for column in tally.quasi], self.weights))
        boxes = 1 if of_cell is None else int(of_cell.max(initial=-1)) + 1
        Boxes(table, judge, axes, weights, best=True, relaxed=False, boxes=boxes).run()
        return table

    def _refined(
        self, tally: Tally, of_cell: Indexes, judge: Judge, until: float, progress: Progress
    ) -> Regions:
        # Classes that are large enough for two become two.
        table = self._cut(tally, CellBoxes(tally, judge.sensitive, of_cell), judge, of_cell)
        of_cell = table.of_cell
        along = [self.labels.follows(column.domain) for column in tally.quasi]
        weights = shares([column.name for column in tally.quasi], self.weights)
        geometry = Geometry.of(tally.quasi, along, weights)
        of_cell = refined(tally, of_cell, geometry, judge, self.refine, progress, until=until)
        of_cell = regrouped(tally, of_cell, geometry, judge, self.refine // PAIRS, progress, until=until)
        order = np.argsort(of_cell, kind="stable")
        start = np.searchsorted(of_cell[order], np.arange(int(of_cell.max(initial=-1)) + 1))
        nodes: dict[str, tuple[Node, ...]] = {}
        boxes: dict[str, Indexes] = {}
        for column, follows in zip(tally.quasi, along, strict=True):
            codes = column.codes[order].astype(np.intp)
            low, high = np.minimum.reduceat(codes, start), np.maximum.reduceat(codes, start)
            made, boxes[column.name] = labels_of(column.domain, low, high, along=follows)
            nodes[column.name] = tuple(made)
        return Regions(nodes, boxes, of_cell=of_cell)


class Sweep:
    """The records that are free, and the classes that were made of the others."""

    def __init__(
        self,
        tally: Tally,
        lattice: Lattice,
        judge: Judge,
        objective: Objective,
        *,
        until: float = float("inf"),
        looks: float = float("inf"),
        weights: Mapping[str, float] | None = None,
    ) -> None:
        self._weights = weights or {}
        self._tally = tally
        self._lattice = lattice
        self._judge = judge
        self._objective = objective
        self._until = until
        self._looks = looks
        self.rollups = Rollups(tally, lattice.ladders, judge.sensitive)
        self._sensitive = [next(c for c in tally.sensitive if c.name == name) for name in judge.sensitive]
        self._free: Indexes = np.arange(tally.cells)
        self._class = np.full(tally.cells, -1, dtype=np.intp)
        self._levels: list[Levels] = []

    def run(self, progress: Progress = silent) -> None:
        """Visit nodes by what they lose until no record is free; or some, and box what is free then."""
        free, looked, since = self._tally.cells, 0, 0
        for at, node in enumerate(ascending(self._lattice, self._objective.floors)):
            if at and (not at % STRETCH or looked - since >= WORK) and self._lattice.size > NODES:
                begun = free < self._tally.cells or at >= NODES or looked >= FIRST
                if begun and (free - len(self._free)) * HARDLY < free:
                    self._looks = -1  # what is left finds no company for a long time: it is boxed instead
                free, since = len(self._free), looked
            if not at % 256:
                progress("search", self._tally.cells - len(self._free), self._tally.cells)
            looked += len(self._free) * len(self._lattice.shape)
            self._looks -= len(self._free) * len(self._lattice.shape)
            many = at >= NODES and self._lattice.size > ENUMERABLE
            if many or self._looks < 0 or time.monotonic() > self._until:
                self._box()
                self._visit(self._lattice.top)
                return
            self._visit(node)
            if not len(self._free):
                return

    def _box(self) -> None:
        """Cut the records that are free into boxes along the hierarchies: coarser than a sweep, and quick."""
        ladders = self._lattice.ladders
        if any(ladder.widths[len(ladder) - 1] > 1 for ladder in ladders):
            return  # where the highest level is limited, no box may hold everything
        free = np.zeros(self._tally.cells, dtype=bool)
        free[self._free] = True
        some = self._tally.where(free)
        axes = [Axis.of(column.domain, hierarchy=True) for column in some.quasi]
        weights = np.array(shares([column.name for column in some.quasi], self._weights))
        table = CellBoxes(some, self._judge.sensitive)
        if self._judge.broken(table.whole())[0]:
            return  # cutting a box that does not keep every promise is in vain
        boxes = Boxes(table, self._judge, axes, weights, best=True, relaxed=False)
        boxes.run()
        self._class[self._free] = table.of_cell + len(self._levels)
        levels = np.zeros((boxes.count, len(ladders)), dtype=np.intp)
        for at, (ladder, low, high) in enumerate(
            zip(ladders, *map(np.transpose, boxes.extremes), strict=True)
        ):
            # The lowest level at which the ends of a range, and so all of it, read alike.
            apart = np.stack([groups[low] != groups[high] for groups in ladder.groups[: len(ladder)]])
            levels[:, at] = apart.sum(axis=0)
        self._levels += list(map(tuple, levels.tolist()))
        self._free = self._free[:0]

    def _visit(self, node: Levels) -> None:
        free, counts = self._free, self._tally.counts
        key, room = self.rollups.keys(free, node)
        if len(free) > MANY:
            company = _may_have_company(key, counts[free], self._judge.smallest)
            free, key = free[company], key[company]
        number, at = numbered(key, room)
        person = self._tally.person
        if person is None:
            size = np.bincount(number, weights=counts[free], minlength=len(at)).astype(np.int64)
        else:
            size = people(number, person[free], len(at))
        good = size >= self._judge.smallest
        if not good.any():
            return
        if self._sensitive:
            # Only classes that are large enough are worth a histogram.
            chosen = good[number]
            renumbered = np.cumsum(good) - 1
            cells = free[chosen]
            entries = tuple(
                _entries(column, renumbered[number[chosen]], cells, counts, int(good.sum()))
                for column in self._sensitive
            )
            found = Frequencies(node, free[at[good]], size[good], entries)
            good[good] = ~self._judge.broken(found)
            if not good.any():
                return
        taken = good[number]
        self._class[free[taken]] = (np.cumsum(good) - 1 + len(self._levels))[number[taken]]
        self._levels += [node] * int(good.sum())
        self._free = self._free[self._class[self._free] < 0]

    def shaped(self) -> Shaped:
        return Shaped(
            self._tally,
            self._lattice,
            self._class,
            np.array(self._levels, dtype=np.intp).reshape(-1, len(self._lattice.shape)),
        )


def _may_have_company(key: Indexes, counts: NDArray[np.int64], smallest: int) -> Indexes:
    """Which keys may have so many records, all that do among them: several share a place, none is sorted."""
    if native.pays(len(key)):
        plain, at = np.ascontiguousarray(key, dtype=np.int64), np.empty(len(key), dtype=np.int64)
        many = native.call("privet_company", plain, counts, len(key), PLACES, smallest, at)
        if many >= 0:
            return at[:many]
    place = ((key.astype(np.uint64) * MIXED) >> np.uint64(64 - PLACES)).astype(np.intp)
    return np.flatnonzero(np.bincount(place, weights=counts)[place] >= smallest)


def _entries(
    column: Column, owner: Indexes, cells: Indexes, counts: NDArray[np.int64], classes: int
) -> Entries:
    wide = max(1, column.domain.size)
    found, count = summed(owner * wide + column.codes[cells], counts[cells], classes * wide)
    return Entries(column, *np.divmod(found, wide), count)
