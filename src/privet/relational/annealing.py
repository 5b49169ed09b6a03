"""A lattice too large to enumerate, walked by chance: simulated annealing over its nodes.

Kirkpatrick, Gelatt and Vecchi, "Optimization by simulated annealing", Science 1983. A step lifts or lowers
one attribute by a level, or lifts one and lowers another; a worse node is taken with a chance that falls as
the work is used up, so that the walk leaves valleys that better neighbours alone never leave. Chances are
drawn by a seed: with a limit that is counted, the same table gives the same node on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, isfinite

import numpy as np

from privet.counts.door import Levels
from privet.relational.lattice import Lattice

WARM, COLD = 0.02, 0.0002  # temperatures, in losses: where the walk begins and where it ends
LONG = 0.25  # of the steps that change two attributes


def anneal(
    lattice: Lattice, start: Levels, lost: Callable[[Levels], float], used: Callable[[], float], seed: int
) -> None:
    """Walk from a node; `lost` looks at one and remembers the best, `used` says how much of the work is."""
    rng = np.random.default_rng(seed)
    here, loss = start, lost(start)
    stuck = 0
    while (share := used()) < 1 and stuck < 10_000:
        ahead = _step(lattice, here, rng)
        stuck = stuck + 1 if ahead == here else 0
        other = lost(ahead)
        heat = WARM * (COLD / WARM) ** share
        if other <= loss or (isfinite(other) and rng.random() < exp((loss - other) / heat)):
            here, loss = ahead, other


def _step(lattice: Lattice, node: Levels, rng: np.random.Generator) -> Levels:
    levels = list(node)
    for up in (1, -1) if rng.random() < LONG else (int(rng.choice((1, -1))),):
        at = int(rng.integers(len(levels)))
        levels[at] = min(max(levels[at] + up, 0), lattice.top[at])
    return tuple(levels)
