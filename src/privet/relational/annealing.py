"""A lattice too large to enumerate, walked by chance: simulated annealing over its nodes, begun anew.

Kirkpatrick, Gelatt and Vecchi, "Optimization by simulated annealing", Science 1983. A step lifts or lowers
one attribute, or lifts one and lowers another, by a level or to any; a worse node is taken with a chance that
falls as a walk goes on, so that it leaves valleys that better neighbours alone never leave. How much worse
the next node may be is drawn before it is looked at: what surely loses more need not be looked at.

Which of several deep valleys a walk ends in is decided early. So many short walks find more than a long one:
one from the top, one from the best node so far, and so on. How long each is follows Luby, Sinclair and
Zuckerman, "Optimal speedup of Las Vegas algorithms", 1993 (1, 1, 2, 1, 1, 2, 4, …), which is nearly as good
as the best length, whichever that is. Chances are drawn by a seed: with a limit that is counted, the same
table gives the same node on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite, log
from typing import Any, Protocol

import numpy as np

from privet.counts.door import Levels
from privet.relational.lattice import Lattice

WARM, AGAIN, COLD = (
    0.04,
    0.02,
    0.0004,
)  # temperatures, as shares of a loss: from the top, from the best, at last
LONG = 0.25  # of the steps that change two attributes
FAR = 0.5  # of the changes that go to any level
SHORT = 12  # nodes to look at for each attribute, on the shortest walks
STEPS = 4  # of a walk for each of these nodes: many are known, or need not be looked at
DRY = 30  # walks one after the other that look at nothing new: there is nothing more to find


class Looks(Protocol):
    """The losses of nodes, and what was looked at for that."""

    number: int  # of nodes that were looked at

    @property
    def best(self) -> tuple[float, Levels, Any] | None:
        """Of these nodes the one that loses least."""

    def lost(self, node: Levels, enough: float) -> float:
        """What a node loses; or, where that is surely more than `enough`, any number above it."""


def anneal(lattice: Lattice, looks: Looks, over: Callable[[int], bool], seed: int) -> None:
    """Walk again and again, until it is `over` (which is told how many steps were made) or all is known."""
    rng = np.random.default_rng(seed)
    free = [at for at, top in enumerate(lattice.top) if top]
    walks = steps = dry = 0
    while free and dry < DRY and not over(steps):
        walks += 1
        start, heat = lattice.top, WARM
        if walks % 2 == 0 and looks.best is not None:
            start, heat = looks.best[1], AGAIN
        before = looks.number
        most = SHORT * len(free) * luby(walks)
        here, loss, made = start, looks.lost(start, inf), 0
        while not over(steps) and (share := max((looks.number - before) / most, made / (STEPS * most))) < 1:
            steps, made = steps + 1, made + 1
            ahead = _step(lattice.top, free, here, rng)
            warm = heat * (COLD / heat) ** share * loss
            enough = loss - warm * log(1 - rng.random()) if isfinite(loss) else inf
            if (other := looks.lost(ahead, enough)) <= enough:
                here, loss = ahead, other
        dry = 0 if looks.number > before else dry + 1


def luby(walk: int) -> int:
    """How many times the shortest a walk is, the first of them 1.

    >>> [luby(walk) for walk in range(1, 16)]
    [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]
    """
    while walk & (walk + 1):  # not the last of a round, so it is as one of the round before
        walk -= (1 << (walk.bit_length() - 1)) - 1
    return (walk + 1) // 2


def _step(top: Levels, free: list[int], node: Levels, rng: np.random.Generator) -> Levels:
    levels = list(node)
    for up in (True, False) if rng.random() < LONG else (bool(rng.random() < 0.5),):
        at = free[int(rng.integers(len(free)))]
        low, high = (levels[at] + 1, top[at]) if up else (0, levels[at] - 1)
        if low <= high:
            near = low if up else high
            levels[at] = int(rng.integers(low, high + 1)) if rng.random() < FAR else near
    return tuple(levels)
