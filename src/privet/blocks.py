"""Blocks of attributes: count a few large tables instead of very many small ones.

Whoever must look at every combination of `reach` attributes need not go through the records for each:
a table over a block of attributes holds all combinations inside it, and adding up a table is cheaper
than counting again. Attributes are dealt into groups, and a block is the union of `reach` groups. Any
`reach` attributes lie in at most `reach` groups, hence inside some block: nothing is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

CACHED = 1 << 16  # places of a table that stays in the processor's cache
LARGEST = 1 << 22  # places of a table at most
MOST_BLOCKS = 200_000


def dealt(
    widths: Sequence[int], reach: int, entries: int, fan: int = 1
) -> tuple[tuple[int, ...], ...] | None:
    """Groups of attributes that make counting all combinations cheapest; None where no table fits.

    `entries` go into each table; `fan` is the width of an axis that every table has besides.

    >>> dealt([2, 2, 2, 2], reach=2, entries=1000)
    ((0, 1, 2, 3),)
    """
    # Widths are rounded up, so that what was found for one table serves many others too.
    rounded = tuple(1 << (width - 1).bit_length() for width in widths)
    return _dealt(rounded, reach, 1 << entries.bit_length(), 1 << (fan - 1).bit_length())


@lru_cache(maxsize=4096)
def _dealt(widths: tuple[int, ...], reach: int, entries: int, fan: int) -> tuple[tuple[int, ...], ...] | None:
    best: tuple[float, tuple[tuple[int, ...], ...]] | None = None
    for count in range(len(widths), 0, -1):
        groups = _snake(widths, count)
        rooms = sorted((prod(widths[at] for at in group) for group in groups), reverse=True)
        room = fan * prod(rooms[:reach])
        blocks = comb(count, min(reach, count))
        if room > max(CACHED, min(LARGEST, entries)) or blocks > MOST_BLOCKS:
            continue
        # An increment costs more where the table has left the cache; adding up goes through the
        # table once for about every attribute that is summed out first.
        increment = 1.0 if room <= CACHED else 3.0
        members = max(len(group) for group in groups) * min(reach, count)
        cost = blocks * (
            entries * (increment + 0.2 * members) + 0.3 * room * 2 ** max(0, members - reach - 1)
        )
        if best is None or cost < best[0]:
            best = (cost, groups)
    return best[1] if best else None


def _snake(widths: tuple[int, ...], count: int) -> tuple[tuple[int, ...], ...]:
    """Deal attributes, widest first, to and fro, so that groups come out about equally wide."""
    groups: list[list[int]] = [[] for _ in range(count)]
    for turn, at in enumerate(sorted(range(len(widths)), key=lambda at: -widths[at])):
        lap, place = divmod(turn, count)
        groups[place if lap % 2 == 0 else count - 1 - place].append(at)
    return tuple(tuple(sorted(group)) for group in groups if group)


def unions(groups: Sequence[Sequence[int]], reach: int) -> NDArray[np.int64]:
    """Every union of `reach` groups: a row of attributes for each, filled up with -1.

    >>> unions([(0, 3), (1,), (2,)], 2).tolist()
    [[0, 1, 3], [0, 2, 3], [1, 2, -1]]
    """
    found = [
        sorted(at for group in chosen for at in group)
        for chosen in combinations(groups, min(reach, len(groups)))
    ]
    rows = np.full((len(found), max(map(len, found))), -1, dtype=np.int64)
    for row, block in zip(rows, found, strict=True):
        row[: len(block)] = block
    return rows
