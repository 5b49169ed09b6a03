"""Local recoding by sweeping the lattice: every record at the cheapest node where it has company.

Whatever class a local recoding makes, its values are labels of some node of the generalisation lattice. So
nodes are visited in the order of their loss; at each, the records that are still free and form classes there
that keep every promise are published at its levels, and leave. A record ends about as low as it can, and no
two records of one class could have been published lower together. What is left over at the top joins
classes that are there, where that costs least.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.core import Algorithm, Column, Finding, Policy, Progress, Tally, silent
from privet.counts.boxing import CellBoxes
from privet.counts.door import Entries, Frequencies, Indexes, Levels
from privet.counts.rollup import Rollups, numbered, summed
from privet.errors import PolicyError
from privet.relational.absorb import Shaped, absorb
from privet.relational.boxes import Axis, Boxes
from privet.relational.judge import Judge, need_classes_that_merge, raise_unsatisfiable
from privet.relational.lattice import ENUMERABLE, Lattice, Limits, check_limits
from privet.relational.objective import Floats, Loss, Objective, check_weights, shares

NODES = 5_000  # nodes that are visited of a lattice too large for all


@dataclass(frozen=True, slots=True)
class Local(Algorithm):
    """Local recoding with labels of the hierarchies: different records may stand at different levels.

    No record is suppressed. Needs promises about each class by itself that merging classes keeps.
    """

    time_limit: float | None = None  # seconds, after which records are lifted in larger steps
    weights: Mapping[str, float] = field(default_factory=dict, compare=False)
    levels: Limits = field(default_factory=dict, compare=False)

    name: ClassVar[str] = "local"

    def __post_init__(self) -> None:
        if self.time_limit is not None and not self.time_limit > 0:
            raise PolicyError("time_limit is a number of seconds above 0")
        check_weights(self.weights)
        check_limits(self.levels)

    def search(self, tally: Tally, policy: Policy, progress: Progress = silent) -> Finding:
        judge = Judge(tally, policy.models)
        need_classes_that_merge(self.name, judge, tally, policy.models)
        lattice = Lattice.of(tally, self.levels)
        if not judge.rule(Rollups(tally, lattice.ladders, judge.sensitive), lattice.top).holds:
            raise_unsatisfiable(tally, policy.models)
        objective = Objective(tally, lattice, Loss.LM, self.weights)
        limit = self.time_limit or float("inf")
        sweep = Sweep(tally, lattice, judge, objective, until=time.monotonic() + limit, weights=self.weights)
        sweep.run(progress)
        order = ascending(lattice, objective.floors) if lattice.size <= ENUMERABLE else iter(())
        shaped = absorb(sweep.shaped(), judge, objective, sweep.rollups, order)
        return Finding(shaped.recoding(tally))


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
        weights: Mapping[str, float] | None = None,
    ) -> None:
        self._weights = weights or {}
        self._tally = tally
        self._lattice = lattice
        self._judge = judge
        self._objective = objective
        self._until = until
        self.rollups = Rollups(tally, lattice.ladders, judge.sensitive)
        self._sensitive = [next(c for c in tally.sensitive if c.name == name) for name in judge.sensitive]
        self._free: Indexes = np.arange(tally.cells)
        self._class = np.full(tally.cells, -1, dtype=np.intp)
        self._levels: list[Levels] = []

    def run(self, progress: Progress = silent) -> None:
        """Visit nodes by what they lose until no record is free; or some, and box what is free then."""
        for at, node in enumerate(ascending(self._lattice, self._objective.floors)):
            if not at % 256:
                progress("search", self._tally.cells - len(self._free), self._tally.cells)
            if (at >= NODES and self._lattice.size > ENUMERABLE) or time.monotonic() > self._until:
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
        number, at = numbered(key, room)
        size = np.bincount(number, weights=counts[free], minlength=len(at)).astype(np.int64)
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
        self._free = free[~taken]

    def shaped(self) -> Shaped:
        return Shaped(
            self._tally,
            self._lattice,
            self._class,
            np.array(self._levels, dtype=np.intp).reshape(-1, len(self._lattice.shape)),
        )


def _entries(
    column: Column, owner: Indexes, cells: Indexes, counts: NDArray[np.int64], classes: int
) -> Entries:
    wide = max(1, column.domain.size)
    found, count = summed(owner * wide + column.codes[cells], counts[cells], classes * wide)
    return Entries(column, *np.divmod(found, wide), count)


def ascending(lattice: Lattice, floors: list[Floats]) -> Iterator[Levels]:
    """The nodes by the sum of what each attribute loses at its level, the smallest first."""
    if lattice.size <= ENUMERABLE:
        total: Floats = np.zeros(())
        for each in floors:
            total = total[..., None] + each
        order = np.argsort(total.ravel(), kind="stable")
        for first in range(0, len(order), 1024):
            part = np.unravel_index(order[first : first + 1024], lattice.shape)
            yield from zip(*(axis.tolist() for axis in part), strict=True)
        return
    heap = [(0.0, lattice.bottom)]
    seen = {lattice.bottom}
    while heap:
        lost, node = heapq.heappop(heap)
        yield node
        for above in lattice.successors(node):
            if above not in seen:
                seen.add(above)
                step = sum(float(f[b] - f[a]) for f, a, b in zip(floors, node, above, strict=True))
                heapq.heappush(heap, (lost + step, above))
