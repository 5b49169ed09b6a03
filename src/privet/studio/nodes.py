"""The lattice of full-domain generalisations, looked at as a whole: what each node loses, and which keep the
promise. The nodes are judged by the code that the search asks, and what one look settles for others is not
looked at again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.core import Tally
from privet.counts.memory import counted
from privet.errors import UnsupportedError
from privet.policy.values import Policy
from privet.registry import find
from privet.relational.fulldomain import FullDomain
from privet.relational.judge import Judge
from privet.relational.lattice import Lattice
from privet.relational.objective import Loss, Objective
from privet.relational.optimal import Optimal
from privet.report.markup import label_text
from privet.roads.stations import columns_needed, settle

MOST = 200_000  # nodes that a page can show
PATIENCE = 60.0  # seconds of work; nodes that nobody has looked at by then say so
KEEPS, BREAKS, UNKNOWN = 1, 0, 2
FEW, LONG = 2, 24  # labels that stand for a level, and letters of each


@dataclass(frozen=True, eq=False)
class Explored:
    """All nodes of a lattice, in the order of their levels."""

    names: tuple[str, ...]
    top: tuple[int, ...]
    matrix: NDArray[np.uint8] = field(repr=False)
    loss: NDArray[np.float64] = field(repr=False)  # with nothing suppressed
    keeps: NDArray[np.uint8] = field(repr=False)
    looked: int
    judge: Judge = field(repr=False)
    rollups: Any = field(repr=False)
    objective: Objective = field(repr=False)
    records: int
    lattice: Lattice = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """For the page that draws it: numbers only."""
        return {
            "names": self.names,
            "top": self.top,
            "levels": [list(said) for said in self.said],
            "loss": [round(float(x), 5) for x in self.loss],
            "keeps": self.keeps.tolist(),
            "looked": self.looked,
        }

    @cached_property
    def said(self) -> tuple[tuple[str, ...], ...]:
        """Each level of each attribute by some of its labels, for people."""
        return tuple(tuple(_level(cut.labels) for cut in ladder.cuts) for ladder in self.lattice.ladders)

    def finer(self, levels: tuple[int, ...]) -> list[dict[str, Any]]:
        """What one step less of each attribute would buy: as many looks as there are attributes."""
        return [
            {"name": name, **self.node((*levels[:axis], level - 1, *levels[axis + 1 :]))}
            for axis, (name, level) in enumerate(zip(self.names, levels, strict=True))
            if level
        ]

    def node(self, levels: tuple[int, ...]) -> dict[str, Any]:
        """One node as the search would publish it."""
        ruling = self.judge.rule(self.rollups, levels)
        found = self.rollups.at(levels)
        kept = int((~ruling.bad).sum())
        smallest = found.size[~ruling.bad].min() if kept else 0
        return {
            "levels": self.lattice.named(levels),
            "holds": bool(ruling.holds),
            "suppressed": ruling.suppressed,
            "classes": kept,
            "smallest": int(smallest),
            "loss": round(float(self.objective.of(found, ruling)), 5) if ruling.holds else None,
            "records": self.records,
        }


@dataclass
class Walk:
    """How far somebody is who looks at the nodes, and the word to stop: what is known by then is shown."""

    settled: int = 0
    size: int = 0
    stop: threading.Event = field(default_factory=threading.Event, repr=False)


class Lattices:
    """The last lattice that was looked at, while neither the data nor the policy changes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: Any = None
        self._found: Future[Explored] | None = None
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="lattice")
        self.walk = Walk()

    def at(self, key: Any, source: str, policy: Policy) -> Future[Explored]:
        """What is found, now or soon: nobody waits for it with a page half made."""
        with self._lock:
            if self._found is None or key != self._key:
                self.walk.stop.set()  # nobody asks for the last one any more
                self.walk, self._key = Walk(), key
                self._found = self._beside.submit(explored, source, policy, self.walk)
            return self._found


def explored(source: str, policy: Policy, walk: Walk) -> Explored:
    """Every node of the policy's lattice."""
    engine = find("engines", "embedded")()
    table = engine.read(source, settle(source, policy.form), columns_needed(policy))
    return of_tally(engine.tally(table, policy).tally, policy, walk=walk)


def of_tally(tally: Tally, policy: Policy, patience: float = PATIENCE, walk: Walk | None = None) -> Explored:
    """The same of counts that are there already."""
    search = policy.algorithm if isinstance(policy.algorithm, FullDomain) else Optimal()
    counts = counted(tally)
    lattice = Lattice.of(counts.heading)  # all of it: levels that are pinned are shown, not hidden
    if lattice.size > MOST:
        raise UnsupportedError(f"the lattice has {lattice.size:,} nodes; up to {MOST:,} are drawn")
    judge = Judge(counts, policy.models, search.suppression)
    objective = Objective(counts, lattice, search.loss if search.loss in _ADDED else Loss.LM, search.weights)
    rollups = counts.grouping(lattice.ladders, judge.sensitive)
    keeps, looked = _judged(lattice, rollups, judge, patience, Walk() if walk is None else walk)
    return Explored(
        tuple(ladder.name for ladder in lattice.ladders),
        lattice.top,
        lattice.matrix,
        _losses(lattice, objective),
        keeps,
        looked,
        judge,
        rollups,
        objective,
        counts.records,
        lattice,
    )


def _level(labels: Sequence[Any]) -> str:
    """The labels of one level in a few words."""
    every = list(dict.fromkeys(label_text(label) for label in labels))
    some = ", ".join(label if len(label) <= LONG else f"{label[: LONG - 1]}…" for label in every[:FEW])
    return some if len(every) <= FEW else f"{some} … ({len(every):,})"


_ADDED = {Loss.LM, Loss.ENTROPY, Loss.PRECISION}


def _losses(lattice: Lattice, objective: Objective) -> NDArray[np.float64]:
    total = np.zeros(lattice.size)
    for at, floor in enumerate(objective.floors):
        total += floor[lattice.matrix[:, at]]
    return total


def _judged(
    lattice: Lattice, rollups: Any, judge: Judge, patience: float, walk: Walk
) -> tuple[NDArray[np.uint8], int]:
    """Which nodes keep every promise; halving ways between bottom and top where one look settles many."""
    grid = np.full(lattice.shape, UNKNOWN, dtype=np.uint8)
    walk.size = lattice.size
    until, looked = time.thread_time() + patience, 0  # of this thread's own work, however busy the machine
    # The middle heights first: there a look says most about those above and below.
    heights = sorted(range(lattice.highest + 1), key=lambda height: abs(2 * height - lattice.highest))
    for height in heights:
        for node in lattice.at_height(height):
            if grid[node] != UNKNOWN:
                continue
            if time.thread_time() >= until or walk.stop.is_set():
                return grid.reshape(-1), looked
            looked += 1
            if not looked % 8:
                walk.settled = int((grid != UNKNOWN).sum())
            holds = judge.rule(rollups, node).holds
            if judge.prunes and holds:
                grid[tuple(slice(level, None) for level in node)] = KEEPS
            elif judge.prunes:
                grid[tuple(slice(level + 1) for level in node)] = BREAKS
            else:
                grid[node] = KEEPS if holds else BREAKS
    return grid.reshape(-1), looked
