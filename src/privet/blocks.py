"""Blocks of attributes: count a few large tables instead of very many small ones.

Whoever must look at every combination of `reach` attributes need not go through the records for each:
a table over a block of attributes holds all combinations inside it, and adding up a table is cheaper
than counting again. Attributes are dealt into groups, and a block is the union of `reach` groups. Any
`reach` attributes lie in at most `reach` groups, hence inside some block: nothing is left out.

Attributes that lie in fewer groups lie inside many blocks. Such a combination has one home: the block
that fills up its groups with the first ones it does not touch. So a block must let a group go untouched
only if it holds all groups before that one too (`vanish` says how many), and each combination is looked
at exactly once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
    ((0, 3), (1, 2))
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
        # An increment costs more where the table has left the cache. Adding up costs about a table for
        # each group in a block, and half as much again for every choice inside the groups.
        increment = 1.0 if room <= CACHED else 3.0
        members = max(len(group) for group in groups)
        adding = 0.4 * room * min(reach, count) * (1 if members == 1 else members)
        cost = blocks * (entries * (increment + 0.1 * members * min(reach, count)) + adding)
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


@dataclass(frozen=True)
class Blocks:
    """A row for each block: its attributes, and the group of each, both filled up with -1."""

    attributes: NDArray[np.int64]
    groups: NDArray[np.int64]
    vanish: NDArray[np.int64]  # groups before this one may go untouched

    def __len__(self) -> int:
        return len(self.vanish)

    def part(self, of: slice) -> Blocks:
        return Blocks(self.attributes[of], self.groups[of], self.vanish[of])


def unions(groups: Sequence[Sequence[int]], reach: int) -> Blocks:
    """Every union of `reach` groups.

    >>> blocks = unions([(0, 3), (1,), (2,)], 2)
    >>> blocks.attributes.tolist(), blocks.groups.tolist(), blocks.vanish.tolist()
    ([[0, 3, 1], [0, 3, 2], [1, 2, -1]], [[0, 0, 1], [0, 0, 2], [1, 2, -1]], [2, 1, 0])
    """
    chosen = list(combinations(range(len(groups)), min(reach, len(groups))))
    wide = max(sum(len(groups[at]) for at in block) for block in chosen)
    attributes = np.full((len(chosen), wide), -1, dtype=np.int64)
    of_group = np.full((len(chosen), wide), -1, dtype=np.int64)
    for row, block in enumerate(chosen):
        members = [(at, group) for group in block for at in groups[group]]
        attributes[row, : len(members)] = [at for at, _ in members]
        of_group[row, : len(members)] = [group for _, group in members]
    run = [next((at for at, group in enumerate(block) if at != group), len(block)) for block in chosen]
    return Blocks(attributes, of_group, np.array(run, dtype=np.int64))
