"""What an adversary may know of every record, written out: all sequences, equal ones together.

The auditor's own way to them. No search uses it: nothing is pruned, joined or taken for granted here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.trajectory.paths import Paths

AT_ONCE = 1 << 20  # sequences that are written out at a time: larger tables cost more in fresh memory


class Knowledge(Enum):
    """What an adversary knows of a visit."""

    POINTS = "points"  # place and time
    PLACES = "places"  # was there, at some time
    TIMES = "times"  # was somewhere, at that time


@dataclass(frozen=True, eq=False)
class Known:
    """What can be known of every record; those of whom the same can be known are one group."""

    names: tuple[str, ...]
    group: NDArray[np.int64]  # of each cell
    tables: list[tuple[NDArray[np.int64], NDArray[np.int64]]]  # groups of one length, and their items

    @classmethod
    def of(cls, paths: Paths, knowledge: Knowledge) -> Known:
        items, owner, names = seen(paths, knowledge)
        lengths = np.bincount(owner, minlength=paths.cells)
        starts = np.concatenate(([0], np.cumsum(lengths)))
        group, tables, groups = np.zeros(paths.cells, dtype=np.int64), [], 0
        for length in np.unique(lengths).tolist():
            cells = np.flatnonzero(lengths == length)
            table = items[starts[cells] + np.arange(length)[:, None]]
            keys = (
                Numbers(len(names)).packed(iter(table.copy())) if length else np.zeros(len(cells), np.int64)
            )
            _, first, same = np.unique(keys, return_index=True, return_inverse=True)
            group[cells] = groups + same
            tables.append((groups + np.arange(len(first)), table[:, first]))
            groups += len(first)
        return cls(names, group, tables)

    @property
    def groups(self) -> int:
        return sum(len(numbers) for numbers, _ in self.tables)

    @property
    def longest(self) -> int:
        return max((len(table) for _, table in self.tables), default=0)

    def added(self, records: NDArray[np.int64]) -> NDArray[np.int64]:
        """Records of cells as records of groups."""
        total = np.zeros(self.groups, dtype=np.int64)
        np.add.at(total, self.group, records)
        return total


@dataclass(frozen=True, eq=False)
class Turn:
    """Some of the sequences of one size, with all their occurrences."""

    numbers: Numbers
    names: tuple[str, ...]
    ordered: NDArray[np.int64]  # sequences as numbers, equal ones together
    of: NDArray[np.int64]  # the group of each
    edges: NDArray[np.int64]  # where one sequence ends and the next begins

    def labels(self, at: int) -> tuple[str, ...]:
        return tuple(self.names[item] for item in self.numbers.unpacked(int(self.ordered[self.edges[at]])))


def by_size(known: Known, most: int | None) -> Iterator[tuple[int, Iterator[Turn]]]:
    """Every sequence of up to `most` things that occurs, size by size."""

    def turns(size: int) -> Iterator[Turn]:
        tables = [(numbers, table) for numbers, table in known.tables if len(table) >= size]
        for one_by_one, groups in written_out(tables, size, len(known.names)):
            numbers = Numbers(len(known.names))
            ordered, of = together(numbers.packed(one_by_one), groups, known.groups)
            edges = np.flatnonzero(np.diff(ordered, prepend=-1, append=-1))
            yield Turn(numbers, known.names, ordered, of, edges)

    longest = known.longest if most is None else min(most, known.longest)
    for size in range(1, longest + 1):
        yield size, turns(size)


def seen(paths: Paths, knowledge: Knowledge) -> tuple[NDArray[np.int64], NDArray[np.int64], tuple[str, ...]]:
    """What can be known of each path, each thing once and in order; whose it is; and the names of all."""
    known: dict[Knowledge, tuple[tuple[str, ...], NDArray[Any]]] = {
        Knowledge.POINTS: (paths.points.labels, np.arange(len(paths.points))),
        Knowledge.PLACES: (paths.points.places, paths.points.place),
        Knowledge.TIMES: (paths.points.times, paths.points.time),
    }
    names, of_point = known[knowledge]
    owner = np.repeat(np.arange(paths.cells), np.diff(paths.starts))
    if knowledge is Knowledge.POINTS:
        return paths.visits.astype(np.int64), owner, names
    owner, items = np.divmod(np.unique(owner * len(names) + of_point[paths.visits]), max(len(names), 1))
    return items, owner, names


def written_out(
    tables: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]], size: int, names: int
) -> Iterator[tuple[Iterator[NDArray[np.int64]], NDArray[np.int64]]]:
    """All sequences of one size from all groups: their first items, their second, ...; and whose each is.

    In several turns where there are very many; equal sequences have their turn together.
    """
    begin_here = np.zeros(names, dtype=np.int64)
    for _, table in tables:
        for at in range(len(table) - size + 1):
            begin_here += comb(len(table) - 1 - at, size - 1) * np.bincount(table[at], minlength=names)
    turn = np.cumsum(begin_here) // AT_ONCE  # when a first item is looked at
    turns = np.unique(turn[begin_here > 0]).tolist()
    for now in turns:
        parts = [
            (table, (first, *others), groups, rows)
            for groups, table in tables
            for first in range(len(table) - size + 1)
            for rows in [np.flatnonzero(turn[table[first]] == now) if len(turns) > 1 else slice(None)]
            for others in combinations(range(first + 1, len(table)), size - 1)
        ]
        one_by_one = (
            np.concatenate([table[chosen[at]][rows] for table, chosen, _, rows in parts])
            for at in range(size)
        )
        yield one_by_one, np.concatenate([groups[rows] for _, _, groups, rows in parts])


class Numbers:
    """Sequences as single numbers, and back."""

    def __init__(self, names: int) -> None:
        self._names = names
        self._ranks: list[NDArray[np.int64] | None] = []  # for each item: what the number before it ranked

    def packed(self, one_by_one: Iterator[NDArray[np.int64]]) -> NDArray[np.int64]:
        key, room = next(one_by_one), self._names
        for column in one_by_one:
            self._ranks.append(None)
            if room > 2**62 // self._names:
                self._ranks[-1], key = np.unique(key, return_inverse=True)
                room = int(key.max()) + 1
            key *= self._names
            key += column
            room *= self._names
        return key

    def unpacked(self, key: int) -> tuple[int, ...]:
        found: list[int] = []
        for ranks in reversed(self._ranks):
            key, item = divmod(key, self._names)
            found.append(item)
            key = key if ranks is None else int(ranks[key])
        return (key, *reversed(found))


def together(
    keys: NDArray[np.int64], groups: NDArray[np.int64], size: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Keys in order, and the group of each."""
    bits = size.bit_length()
    if int(keys.max()) < 2 ** (62 - bits):  # both in one number: sorting numbers is the quickest there is
        both = keys << bits
        both |= groups
        both.sort()
        return both >> bits, both & ((1 << bits) - 1)
    order = np.argsort(keys)
    return keys[order], groups[order]
