"""The search's side of a proof: it counts every sequence of its result, longer ones out of shorter ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from privet.models.linkage import Linkage
from privet.trajectory.claims import Argument, Proof
from privet.trajectory.paths import Paths
from privet.trajectory.violations import reach, weighed


def prove(paths: Paths, promises: Sequence[Linkage]) -> Proof:
    """The classes of all sequences that occur, for each promise."""
    return Proof(tuple(argued(paths, promise) for promise in promises))


def argued(paths: Paths, promise: Linkage) -> Argument:
    weights, bounds = weighed(paths, promise.binding)
    found: Counter[tuple[int, ...]] = Counter()
    # Where each sequence of this length occurs: its number, the cell, and the place of the next visit.
    number, cell = np.zeros(paths.cells, dtype=np.int64), np.arange(paths.cells)
    after, ends = paths.starts[:-1], paths.starts[1:]
    for length in range(1, reach(paths, promise) + 1):
        left = ends[cell] - after
        number, cell = np.repeat(number, left), np.repeat(cell, left)
        after = np.arange(len(cell)) + np.repeat(after - np.cumsum(left) + left, left)
        keys = number * len(paths.points) + paths.visits[after]
        order = np.argsort(keys, kind="stable")
        first = np.flatnonzero(np.diff(keys[order], prepend=-1))
        if not len(first):
            break
        totals = np.add.reduceat(weights[cell[order]], first, axis=0)
        kinds, sequences = np.unique(totals, axis=0, return_counts=True)
        for kind, many in zip(kinds.tolist(), sequences.tolist(), strict=True):
            found[length, *kind] += many
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.repeat(np.arange(len(first)), np.diff(first, append=len(order)))
        after = after + 1
    return Argument.of(promise, bounds, found)
