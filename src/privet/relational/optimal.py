"""The best node of the generalisation lattice, with proof, or the best that a time limit allowed.

Every node has a lower bound on its loss: what it loses with nothing suppressed. Looking at a node says
more: records that must go there must go below it too, and a node that breaks the promise has only broken
nodes below. So nodes are looked at along ways up from the most promising one, halving each way, until no
bound is below the best that was found. (Kohlmayer et al., "Flash", PASSAT 2012, walks such ways.)

A lattice too large to enumerate, or for anything to be proven in the time or the number of nodes that is
allowed, is walked from its top, better neighbours first, and then by chance, again and again (`annealing`),
until these are used up.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import ClassVar

from privet.core import Finding, PrivacyModel, Progress, Tally, Terms, silent
from privet.counts.door import Counts, Frequencies, Grouping, Levels
from privet.counts.memory import counted
from privet.errors import PolicyError
from privet.relational.annealing import anneal
from privet.relational.field import Field
from privet.relational.fulldomain import FullDomain
from privet.relational.judge import Judge, published_at
from privet.relational.lattice import ENUMERABLE, Lattice, Tags
from privet.relational.looks import CLOSE, Looks
from privet.relational.objective import Objective
from privet.relational.suits import raise_unsatisfiable

# For a lattice that cannot be enumerated, where the policy names no limit: half a minute or so, but counted
# in work and not by the clock, so that the same table leaves in the same form however busy the machine is.
WORK, COLUMN, FEWEST = 600_000_000, 425, 500  # records; what a node costs for each column besides them; nodes
SECOND = 20_000_000  # of that work in a second, about
# Nodes of a lattice for each that may be looked at. Of more than that few are settled by then, while what is
# learned of a node is told to all of them, which takes longer than to look at another.
HOPELESS = 1_000
FAR = 1.5  # times as many records as may go: then a coarser node may well break the promise, too
FIRST = 0.1  # of the work: downwards from the top, before the walks by chance
SOON, HALF = 0.1, 0.5  # of the work: a lattice that is settled by then needs no chance; chance ends there
AGAIN = 30  # steps of these walks for each node that may be looked at: nodes that are known cost time, too

UNPROVEN = "the search was stopped after {:,} nodes: this is the best of them, and there may be a better one"


@dataclass(frozen=True)
class Optimum:
    """The best node that was found."""

    levels: Mapping[str, int]  # by attribute, as its hierarchy counts them
    node: Levels
    loss: float
    suppressed: int  # records
    classes: int  # that are published
    looked_at: int  # nodes
    proven: bool  # False: the time was up, or the lattice is too large; there may be a better node


@dataclass(frozen=True, slots=True)
class Optimal(FullDomain):
    """Full-domain generalisation with the least loss, records of bad classes suppressed within a limit.

    Where no time limit is hit the result is the optimum over all nodes. For t-closeness with one sensitive
    attribute, which records of a node go is chosen one by one (`trim`), and that choice is not an optimum.
    Where classes as a whole are too many, and promises are about shares of one attribute, it is looked for a
    node again of which the fewest records go, one by one.
    """

    time_limit: float | None = None  # seconds; the best so far is returned
    nodes: int | None = None  # that are looked at; the best of them is returned, the same on every machine
    seed: int = 0  # of the walk through a lattice that is too large to enumerate
    trim: bool = True  # drop only the records that make a class break a promise, where that can be told

    name: ClassVar[str] = "optimal"
    asks: ClassVar[bool] = True
    persons: ClassVar[bool] = True

    def __post_init__(self) -> None:
        FullDomain.__post_init__(self)  # slots leave no way for super()
        if self.time_limit is not None and not self.time_limit > 0:
            raise PolicyError("time_limit is a number of seconds above 0")
        if self.nodes is not None and self.nodes < 1:
            raise PolicyError("nodes is a whole number from 1 on")

    def search(self, data: Tally | Counts, policy: Terms, progress: Progress = silent) -> Finding:
        walk, best = self._best(counted(data), policy.models, progress)
        notes = () if best.proven else (UNPROVEN.format(best.looked_at),)
        return Finding(published_at(walk.rollups, walk.judge, best.node), notes=notes)

    def solve(
        self, data: Tally | Counts, models: Sequence[PrivacyModel], progress: Progress = silent
    ) -> Optimum:
        """The node itself, and whether it is proven to be the best."""
        return self._best(counted(data), models, progress)[1]

    def _best(
        self, counts: Counts, models: Sequence[PrivacyModel], progress: Progress
    ) -> tuple[Walk, Optimum]:
        """The best node; where no class may go as a whole, the best of which a few records go."""
        walk = self._walk(counts, models, progress)
        best = walk.run()
        if best is None and self.trim:
            again = self._walk(counts, models, progress, one_by_one=True)
            walk, best = (again, again.run()) if again.judge.one_by_one else (walk, None)
        if best is None:
            needed = self._needed(counts, models, walk) if walk.judge.one_by_one else None
            raise_unsatisfiable(counts, models, may_go=walk.judge.limit, needed=needed)
        return walk, best

    def _needed(self, counts: Counts, models: Sequence[PrivacyModel], walk: Walk) -> int:
        """How many records would have to go, one by one, with everything generalised as far as it may be."""
        judge = Judge(counts, models, Fraction(1), one_by_one=True)
        return judge.rule(walk.rollups, Lattice.of(counts.heading, self.levels).top).suppressed

    def _walk(
        self, counts: Counts, models: Sequence[PrivacyModel], progress: Progress, *, one_by_one: bool = False
    ) -> Walk:
        lattice = Lattice.of(counts.heading, self.levels)
        judge = Judge(counts, models, self.suppression, trim=self.trim, one_by_one=one_by_one)
        objective = Objective(counts, lattice, self.loss, self.weights)
        limit, nodes = self.time_limit, self.nodes
        cost = COLUMN * len(lattice.shape) + counts.records
        if limit is None and nodes is None and lattice.size > ENUMERABLE:
            nodes = max(FEWEST, WORK // cost)
        allowed = min(nodes or float("inf"), SECOND * (limit or float("inf")) / cost)
        proves = lattice.size <= min(ENUMERABLE, HOPELESS * allowed)
        until = float("inf") if limit is None else time.monotonic() + limit
        rollups = counts.grouping(lattice.ladders, judge.sensitive)
        return Walk(
            lattice,
            rollups,
            judge,
            objective,
            progress,
            proves=proves,
            until=until,
            nodes=nodes,
            seed=self.seed,
        )


class Walk:
    """One search: what is known so far, and where to look next."""

    def __init__(
        self,
        lattice: Lattice,
        rollups: Grouping,
        judge: Judge,
        objective: Objective,
        progress: Progress,
        *,
        proves: bool,
        until: float,
        nodes: int | None,
        seed: int = 0,
    ) -> None:
        self.rollups = rollups
        self.judge = judge
        self._lattice = lattice
        self._proves = proves  # is there time enough that it may be proven which node is the best?
        self._objective = objective
        self._until = until
        self._most = nodes
        self._seed = seed
        self._began = time.monotonic()
        self._looks = Looks(rollups, judge, objective, progress)

    def run(self) -> Optimum | None:
        """The best node; None where not one keeps every promise."""
        proven = self._enumerate() if self._proves else self._wander() or self._anneal()
        if self._looks.best is None:
            return None
        loss, levels, ruling = self._looks.best
        classes = int((~ruling.bad).sum())
        return Optimum(
            self._lattice.named(levels), levels, loss, ruling.suppressed, classes, self._looks.number, proven
        )

    @property
    def _limited(self) -> bool:
        return self._most is not None or self._until < float("inf")

    def _enumerate(self) -> bool:
        """Look until no bound is below the best; was that reached in time?

        Where work is limited and soon not done, chance finds good nodes first: they close most of the others,
        and are what is returned where there is no time for these.
        """
        field = Field(self._lattice.shape, self._objective.floors)
        self._settle(field, self._lattice.top)
        if self._limited and not self._close(field, SOON):
            self._anneal(HALF)
            field.close_from(self._looks.least - CLOSE)
        return self._close(field, 1)

    def _close(self, field: Field, share: float) -> bool:
        """Settle nodes until none is open, or so much of the work is used up; is none open?"""
        while (start := field.next()) is not None:
            way = field.way(start)
            # The end of a way settles all of it where it breaks a promise: whatever is below is broken too.
            self._settle(field, way[-1])
            low, high = 0, len(way) - 2
            while low <= high and field.open(start):
                if self._used() >= share:
                    return field.next() is None
                middle = (low + high) // 2
                if field.open(way[middle]) and not self._settle(field, way[middle]):
                    low = middle + 1
                else:
                    high = middle - 1
            if self._used() >= share:
                return field.next() is None
        return True

    def _settle(self, field: Field, node: Levels) -> bool:
        """Look at a node, and close the nodes about which that says enough; does it keep every promise?"""
        if field.broken(node):  # as something above it is, so there is nothing to count
            self._looks.count()
            field.close_below(node)
            return False
        ruling = self._looks.at(node)
        field.close(node)
        found = ruling.beyond or self.rollups.at(node)
        if self.judge.monotone and ruling.at_least > self.judge.limit:
            field.close_below(node)
            if self._objective.additive:  # other losses are bounded by what is seen of the nodes below
                field.break_below(node)
                if ruling.at_least > FAR * self.judge.limit:
                    field.climb_over_open(node, partial(self.judge.breaks, self.rollups))
        elif (
            self.judge.monotone
            and isinstance(found, Frequencies)
            and (more := self._objective.below(found, ruling)) is not None
        ):
            field.raise_below(node, more)
        if (least := self._objective.above(found)) > 0:
            field.raise_above(node, least)
        field.close_from(self._looks.least - CLOSE)
        return ruling.holds

    def _used(self) -> float:
        """How much of the work that is allowed was done, from 0 to 1."""
        counted = 0.0 if self._most is None else self._looks.number / self._most
        if self._until == float("inf"):
            return counted
        return max(counted, (time.monotonic() - self._began) / max(1e-9, self._until - self._began))

    def _anneal(self, share: float = 1) -> bool:
        """By chance, until so much of the work is used up; nothing is proven by it."""

        def over(steps: int) -> bool:
            counted = 0.0 if self._most is None else steps / (AGAIN * self._most)
            return max(self._used(), counted) >= share

        anneal(self._lattice, self._looks, over, self._seed)
        return False

    def _wander(self) -> bool:
        """Downwards from the top, the best node first; has every node that may be kept been seen?"""
        top = self._lattice.top
        tags = Tags()
        self._looks.lost(top)
        seen, heap = {top}, [(0.0, top)]
        while heap:
            _, here = heapq.heappop(heap)
            for node in self._lattice.predecessors(here):
                if node in seen or (self.judge.prunes and tags.known(node) is False):
                    continue
                if self._used() > FIRST:
                    return False
                seen.add(node)
                loss = self._looks.lost(node)
                if loss < float("inf"):
                    heapq.heappush(heap, (loss, node))
                elif self.judge.prunes:
                    tags.tag(node, keeps=False)
        return self.judge.prunes
