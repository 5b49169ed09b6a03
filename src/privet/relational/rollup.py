"""Counting the classes of a node from those of a finer one: the records are looked at once.

The classes of a generalisation are unions of classes, so their sizes (and how often each sensitive value
stands in them) are sums. A class is remembered by one cell of it, which tells its group at every coarser
level. `Rollups` keeps what was counted, and counts a node from the smallest of what lies below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.core import Column, Tally
from privet.relational.lattice import Lattice, Levels

Ints: TypeAlias = NDArray[np.int64]
Indexes: TypeAlias = NDArray[np.intp]

DENSE = 1 << 15  # an array this small is dense however few the keys
LIMIT = 2**62
FEW = 4_000  # classes from which a node is counted without a stop on the way
KEPT = 2_000_000  # classes that are remembered at most, over all nodes


@dataclass(frozen=True, eq=False)
class Entries:
    """How often each value of a sensitive attribute stands in each class; sorted by class, then value."""

    column: Column
    owner: Indexes
    value: Indexes
    count: Ints


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The classes of a node: a cell of each, its records, and its sensitive values."""

    levels: Levels
    cell: Indexes
    size: Ints
    sensitive: tuple[Entries, ...]

    def __len__(self) -> int:
        return len(self.size)


def summed(key: NDArray[Any], counts: Ints, room: int) -> tuple[Indexes, Ints]:
    """The keys that occur, ascending, and the sum of the counts of each."""
    if room <= max(DENSE, 4 * len(key)):
        # bincount adds doubles, which are exact for whole numbers below 2**53
        total = np.bincount(key, weights=counts, minlength=room)
        found = np.flatnonzero(total)
        return found, total[found].astype(np.int64)
    order = np.argsort(key)
    ascending = key[order]
    first = np.flatnonzero(np.diff(ascending, prepend=-1))
    return ascending[first], np.add.reduceat(counts[order], first) if len(first) else counts[:0]


def numbered(key: NDArray[Any], room: int) -> tuple[Indexes, Indexes]:
    """The number of each key among those that occur, ascending, and where each number occurs once."""
    if room <= max(DENSE, 4 * len(key)):
        there = np.zeros(room, dtype=np.intp)
        there[key] = 1
        number = (np.cumsum(there) - 1)[key]
        at = np.empty(int(there.sum()), dtype=np.intp)
        at[number] = np.arange(len(key))
        return number, at
    order = np.argsort(key)
    first = np.diff(key[order], prepend=-1) != 0
    number = np.empty(len(key), dtype=np.intp)
    number[order] = np.cumsum(first) - 1
    return number, order[first]


class Rollups:
    """The frequencies of every node that is asked for."""

    def __init__(self, tally: Tally, lattice: Lattice, sensitive: Sequence[str] = ()) -> None:
        self.lattice = lattice
        self.records = tally.records
        self._codes = [column.codes for column in tally.quasi]
        columns = [next(c for c in tally.sensitive if c.name == name) for name in sensitive]
        cells = np.arange(tally.cells)
        every = Frequencies(
            (-1,) * len(self._codes),
            cells,
            tally.counts,
            tuple(Entries(c, cells, c.codes.astype(np.intp), tally.counts) for c in columns),
        )
        self._raw = every
        self._known: dict[Levels, Frequencies] = {}
        self._total = 0
        self._levels = np.empty((64, len(self._codes)), dtype=np.int16)
        self._sizes = np.empty(64, dtype=np.intp)
        self._sources: list[Frequencies] = []
        self._order = self._by_shrinking()

    def at(self, node: Levels) -> Frequencies:
        """The classes of a node."""
        if node in self._known:
            return self._known[node]
        source = self._smallest(node)
        if FEW < len(source) <= KEPT - self._total:
            # A stop on the way serves others too: the same node with its least telling lift undone. Where
            # there is no room to remember it, it would be counted again and again.
            lifted = [at for at in self._order if node[at] > max(source.levels[at], 0)]
            if len(lifted) > 1:
                stop = list(node)
                stop[lifted[-1]] = max(source.levels[lifted[-1]], 0)
                source = self.at(tuple(stop))
        found = self._merged(source, node)[0]
        self._remember(node, found)
        return found

    def of_cells(self, node: Levels) -> Indexes:
        """The class of each cell, numbered as the node's frequencies are."""
        return self._merged(self._raw, node)[1]

    def _smallest(self, node: Levels) -> Frequencies:
        levels = self._levels[: len(self._sources)]
        below = np.flatnonzero((levels <= np.array(node, dtype=np.int16)).all(axis=1))
        if not len(below):
            return self._raw
        return self._sources[int(below[np.argmin(self._sizes[below])])]

    def _remember(self, node: Levels, found: Frequencies) -> None:
        if self._total + len(found) > KEPT:
            return
        self._total += len(found)
        self._known[node] = found
        if len(self._sources) == len(self._levels):
            self._levels = np.concatenate((self._levels, np.empty_like(self._levels)))
            self._sizes = np.concatenate((self._sizes, np.empty_like(self._sizes)))
        self._levels[len(self._sources)] = node
        self._sizes[len(self._sources)] = len(found)
        self._sources.append(found)

    def _merged(self, source: Frequencies, node: Levels) -> tuple[Frequencies, Indexes]:
        key, room = self.keys(source.cell, node)
        number, at = numbered(key, room)
        size = np.bincount(number, weights=source.size, minlength=len(at)).astype(np.int64)
        return (
            Frequencies(
                node, source.cell[at], size, tuple(_joined(e, number, len(at)) for e in source.sensitive)
            ),
            number,
        )

    def keys(self, cell: Indexes, node: Levels) -> tuple[NDArray[Any], int]:
        """A number for each cell, equal where they stand in one class, and one more than the largest."""
        key: NDArray[Any] = np.zeros(len(cell), dtype=np.int64)
        room = 1
        for ladder, codes, level in zip(self.lattice.ladders, self._codes, node, strict=True):
            width = ladder.widths[level]
            if width == 1:
                continue
            if room > LIMIT // width:
                key, at = numbered(key, room)
                room = len(at)
            # The last attribute varies slowest; which one does is the same for every source.
            key += (ladder.groups[level] * room)[codes[cell]]
            room *= width
        return key, room

    def _by_shrinking(self) -> list[int]:
        """The attributes, those whose top level merges most values first."""
        wide = [ladder.widths[0] / ladder.widths[len(ladder) - 1] for ladder in self.lattice.ladders]
        return sorted(range(len(wide)), key=lambda at: -wide[at])


def _joined(entries: Entries, number: Indexes, classes: int) -> Entries:
    wide = max(1, entries.column.domain.size)
    found, count = summed(number[entries.owner] * wide + entries.value, entries.count, classes * wide)
    owner, value = np.divmod(found, wide)
    return Entries(entries.column, owner, value, count)
