"""Samarati's search: the lowest height of the lattice at which some node keeps every promise.

Samarati, "Protecting respondents' identities in microdata release", TKDE 2001. Binary search on the height,
which is right because a generalisation of a node that keeps the promise keeps it too. Of all nodes that do at
the lowest height, the one that loses least is published.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from privet.core import Finding, PrivacyModel, Progress, Tally, Terms, silent
from privet.counts.door import Counts, Grouping, Levels
from privet.counts.memory import counted
from privet.relational import suits
from privet.relational.field import Known
from privet.relational.fulldomain import FullDomain
from privet.relational.judge import Judge, published_at
from privet.relational.lattice import Lattice
from privet.relational.objective import Objective
from privet.relational.suits import raise_unsatisfiable


@dataclass(frozen=True)
class Probe:
    """One step of the binary search: a height, and whether some node of it keeps every promise."""

    height: int
    keeps: bool


@dataclass(frozen=True)
class Lowest:
    """All nodes of the lowest height that keep every promise, the least loss first."""

    height: int
    nodes: tuple[Levels, ...]
    probes: tuple[Probe, ...]


@dataclass(frozen=True, slots=True)
class Samarati(FullDomain):
    """Full-domain generalisation with the fewest steps up, by binary search on the height of the lattice.

    It counts steps, not what they lose; of several nodes at the lowest height the one that loses least is
    published. See optimal for the node that loses least of all.
    """

    name: ClassVar[str] = "samarati"
    asks: ClassVar[bool] = True
    persons: ClassVar[bool] = True

    def complaints(self, policy: Terms) -> list[str]:
        return [f"algorithm: {wrong}" for wrong in suits.prunes(self.name, policy)]

    def search(self, data: Tally | Counts, policy: Terms, progress: Progress = silent) -> Finding:
        counts = counted(data)
        lattice, rollups, judge = self.pruning(counts, policy.models)
        found = self._lowest(counts, lattice, rollups, judge, progress)
        if found is None:
            raise_unsatisfiable(counts, policy.models, may_go=judge.limit)
        return Finding(published_at(rollups, judge, found.nodes[0]))

    def solve(
        self, data: Tally | Counts, models: Sequence[PrivacyModel], progress: Progress = silent
    ) -> Lowest:
        """All nodes of the lowest height, and the heights that were probed."""
        counts = counted(data)
        lattice, rollups, judge = self.pruning(counts, models)
        found = self._lowest(counts, lattice, rollups, judge, progress)
        if found is None:
            raise_unsatisfiable(counts, models, may_go=judge.limit)
        return found

    def _lowest(
        self, counts: Counts, lattice: Lattice, rollups: Grouping, judge: Judge, progress: Progress
    ) -> Lowest | None:
        known = Known(lattice.shape)
        breaks = partial(judge.fails, rollups)
        probes: list[Probe] = []
        if known.breaks(lattice.top, breaks):
            return None
        low, high = 0, lattice.highest
        while low < high:
            progress("search", lattice.highest - (high - low), lattice.highest)
            middle = (low + high) // 2
            nodes = lattice.of_height(middle)
            kept = len(known.whole(nodes)) > 0 or any(True for _ in known.settle(nodes, breaks))
            probes.append(Probe(middle, kept))
            low, high = (low, middle) if kept else (middle + 1, high)
        objective = Objective(counts, lattice, self.loss, self.weights)

        def lost(node: Levels) -> float:
            return objective.of(rollups.at(node), judge.rule(rollups, node))

        nodes = lattice.of_height(low)
        for _ in known.settle(nodes, breaks):
            pass
        lowest = sorted(map(tuple, known.whole(nodes).tolist()), key=lost)
        return Lowest(low, tuple(lowest), tuple(probes))
