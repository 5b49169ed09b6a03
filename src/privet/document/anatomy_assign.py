"""An alternative to first fit: siblings are matched so that most vertices survive, as an assignment problem.

Not in the source. How much a pair of vertices keeps is computed first, without rules; the pairs are then
accepted in order as long as every rule holds, so rules may still cost what the assignment hoped for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from privet.document.anatomy_merge import Counters, Group, Grove, Ints
from privet.document.forest import NONE
from privet.errors import MissingExtraError


def merge_by_assignment(group: Group, grove: Grove, record: int) -> Ints | None:
    """As `anatomy_merge.merge`, with the best pairs of siblings instead of the first."""
    solve = _solver()
    counters = Counters(grove, len(group.members) + 1)
    match = np.full(len(group), NONE, dtype=np.int32)
    known: dict[tuple[int, int], int] = {}

    def kept(position: int, vertex: int) -> int:
        """How many vertices survive below and at this pair, if rules allow; 0 if the two cannot meet."""
        if group.kinds[position] != grove.kinds[vertex]:
            return 0
        key = int(grove.keys[vertex])
        if key != NONE and key in group.keys[position]:
            return 0
        if (position, vertex) not in known:
            pairs = assigned(group.below(position), grove.below(vertex))
            known[position, vertex] = 1 + sum(kept(a, b) for a, b in pairs)
        return known[position, vertex]

    def assigned(below: Sequence[int], beside: Sequence[int]) -> list[tuple[int, int]]:
        if not below or not beside:
            return []
        worth = np.array([[kept(a, b) for b in beside] for a in below])
        rows, columns = solve(worth, maximize=True)
        return [(below[i], beside[j]) for i, j in zip(rows, columns, strict=True) if worth[i, j]]

    def accept(position: int, vertex: int) -> None:
        if not kept(position, vertex):
            return
        if not counters.accept([*group.keys[position].tolist(), int(grove.keys[vertex])]):
            return
        match[position] = vertex
        for a, b in assigned(group.below(position), grove.below(vertex)):
            accept(a, b)

    accept(0, int(grove.roots[record]))
    return None if match[0] == NONE else match


def _solver() -> Any:
    try:
        from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("matching siblings by assignment", "documents") from None
    return linear_sum_assignment
