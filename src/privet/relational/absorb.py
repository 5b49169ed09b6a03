"""Records that are left over join classes that are there, where that costs least.

A class that takes records in is lifted, in each attribute, to the lowest level at which they all read alike.
First leftovers are taken in together, group by group, where what they save pays for lifting the class. Then
one by one. What is left then becomes a class of its own, with as many others as it needs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from privet.core import Column, Tally
from privet.counts.door import Entries, Frequencies, Indexes, Levels
from privet.counts.rollup import Rollups, numbered
from privet.domain import Node
from privet.recoding import Regions
from privet.relational.judge import Judge
from privet.relational.lattice import Lattice
from privet.relational.objective import Floats, Objective

MANY = 100  # leftovers of more than one in so many records are first taken in by groups
PARTS = 8  # how finely leftovers that a class cannot take whole are portioned
TRIED = 32  # classes that are asked at a time


@dataclass(frozen=True, eq=False)
class Shaped:
    """A class for each cell, or -1 for those left over; and the level of each class in each attribute."""

    tally: Tally
    lattice: Lattice
    of_cell: Indexes
    levels: Indexes  # classes x attributes

    def recoding(self, tally: Tally) -> Regions:
        """The labels of each cell's class."""
        nodes: dict[str, tuple[Node, ...]] = {}
        positions: dict[str, Indexes] = {}
        for at, (ladder, column) in enumerate(zip(self.lattice.ladders, tally.quasi, strict=True)):
            begins = np.cumsum([0, *(len(cut.nodes) for cut in ladder.cuts)])
            table = np.stack([cut.positions + begin for cut, begin in zip(ladder.cuts, begins, strict=False)])
            nodes[column.name] = tuple(node for cut in ladder.cuts for node in cut.nodes)
            positions[column.name] = table[self.levels[self.of_cell, at], column.codes]
        return Regions(nodes, positions)


def absorb(
    shaped: Shaped, judge: Judge, objective: Objective, rollups: Rollups, order: Iterator[Levels]
) -> Shaped:
    """The same with nothing left over."""
    if (shaped.of_cell >= 0).all():
        return shaped
    hosts = Hosts(shaped, judge, objective, rollups)
    if hosts.left * MANY > shaped.tally.records:
        hosts.take_groups(order)
    hosts.take_cells()
    hosts.take_rest()
    return replace(shaped, of_cell=hosts.of_cell, levels=hosts.levels)


class Hosts:
    """Classes that may take records in."""

    def __init__(self, shaped: Shaped, judge: Judge, objective: Objective, rollups: Rollups) -> None:
        self._tally = shaped.tally
        self._codes = [column.codes for column in shaped.tally.quasi]
        self._lattice = shaped.lattice
        self._judge = judge
        self._objective = objective
        self._rollups = rollups
        self.of_cell = shaped.of_cell.copy()
        self.levels = shaped.levels.copy()
        self._free = np.flatnonzero(self.of_cell < 0)
        self._columns = [next(c for c in self._tally.sensitive if c.name == name) for name in judge.sensitive]
        classes = len(self.levels)
        here = np.flatnonzero(self.of_cell >= 0)
        self._cell = np.zeros(classes, dtype=np.intp)
        self._cell[self.of_cell[here]] = here
        self._size = np.bincount(
            self.of_cell[here], weights=self._tally.counts[here], minlength=classes
        ).astype(np.int64)
        self._having = []
        for column in self._columns:
            wide = max(1, column.domain.size)
            key = self.of_cell[here] * wide + column.codes[here]
            table = np.bincount(key, weights=self._tally.counts[here], minlength=classes * wide)
            self._having.append(table.astype(np.int64).reshape(classes, wide))

        self._table = (
            having_all(self._columns[0], self._tally) if self._columns else np.zeros(0, dtype=np.int64)
        )

    @property
    def left(self) -> int:
        return int(self._tally.counts[self._free].sum())

    def _told(self, levels: Indexes, cells: Indexes) -> Floats:
        return self._objective.told(levels, self._codes, cells)

    def take_groups(self, order: Iterator[Levels]) -> None:
        """At each node, classes take in the leftovers of their group where that pays."""
        for node in order:
            if not len(self._free):
                return
            at = np.array(node)
            hosts = np.flatnonzero((self.levels <= at).all(axis=1))
            if len(hosts):
                self._take_at(node, hosts)

    def _take_at(self, node: Levels, hosts: Indexes) -> None:
        key, room = self._rollups.keys(np.concatenate((self._cell[hosts], self._free)), node)
        number, one = numbered(key, room)
        of_host, of_free = number[: len(hosts)], number[len(hosts) :]
        pool = np.bincount(of_free, weights=self._tally.counts[self._free], minlength=len(one))
        told = self._told(np.array(node), self._cell[hosts])
        before = self._told(self.levels[hosts], self._cell[hosts])
        gain = pool[of_host] * told - self._size[hosts] * (before - told)
        pairs = [at for at in np.argsort(-gain, kind="stable")[:TRIED].tolist() if gain[at] > 0]
        if not pairs:
            return
        members = [np.flatnonzero(of_free == of_host[at]) for at in pairs]
        shares = [
            self._shares(int(hosts[at]), self._free[some]) for at, some in zip(pairs, members, strict=True)
        ]
        tables = [
            self._tables(self._free[some], share)
            for at, some, share in zip(pairs, members, shares, strict=True)
        ]
        fits = self._fit(np.repeat(hosts[pairs], PARTS + 1), _stacked(tables)).reshape(len(pairs), -1)
        # Of each class's offers the largest that fits.
        most = np.where(fits.any(axis=1), PARTS - np.argmax(fits[:, ::-1], axis=1), -1)
        taken = [
            int(self._tally.counts[self._free[some[share <= part]]].sum()) if part >= 0 else 0
            for some, share, part in zip(members, shares, most.tolist(), strict=True)
        ]
        worth = np.array(taken) * told[pairs] - (self._size[hosts] * (before - told))[pairs]
        used: set[int] = set()
        gone = np.zeros(len(self._free), dtype=bool)
        for best in np.argsort(-worth, kind="stable").tolist():
            group = int(of_host[pairs[best]])
            if worth[best] <= 0:
                break
            if group not in used:
                used.add(group)
                chosen = members[best][shares[best] <= most[best]]
                self._join(int(hosts[pairs[best]]), self._free[chosen], np.array(node))
                gone[chosen] = True
        self._free = self._free[~gone]

    def _shares(self, host: int, cells: Indexes) -> Indexes:
        """In which of the growing parts of the cells each cell first is.

        Values that the class has too few of are welcome: they are in every part. Of the others, parts hold
        ever larger shares.
        """
        if not self._columns:
            return np.zeros(len(cells), dtype=np.intp)
        value = self._columns[0].codes[cells].astype(np.intp)
        welcome = self._having[0][host] * self._tally.records < self._size[host] * self._table
        return np.where(welcome[value], 0, np.floor(_ranks(value) * PARTS).astype(np.intp) + 1)

    def _tables(self, cells: Indexes, share: Indexes) -> list[NDArray[np.int64]]:
        """For each part, the records and then their sensitive values, by column."""
        counts = self._tally.counts[cells]
        made = [np.cumsum(np.bincount(share, weights=counts, minlength=PARTS + 1))]
        for column, having in zip(self._columns, self._having, strict=True):
            wide = having.shape[1]
            key = share * wide + column.codes[cells]
            each = np.bincount(key, weights=counts, minlength=(PARTS + 1) * wide).reshape(-1, wide)
            made.append(np.cumsum(each, axis=0))
        return [part.astype(np.int64) for part in made]

    def _fit(self, hosts: Indexes, more: list[NDArray[np.int64]]) -> NDArray[np.bool_]:
        """Would each of the classes keep every promise with so many more records, and values, each?"""
        entries = []
        for column, having, values in zip(self._columns, self._having, more[1:], strict=True):
            table = having[hosts] + values
            owner, value = np.nonzero(table)
            entries.append(Entries(column, owner, value, table[owner, value]))
        found = Frequencies((), self._cell[hosts], self._size[hosts] + more[0], tuple(entries))
        return ~self._judge.broken(found)

    def _of_cell(self, cell: int) -> list[NDArray[np.int64]]:
        """The records of a cell, and their sensitive values."""
        count = self._tally.counts[cell]
        values = [np.zeros(having.shape[1], dtype=np.int64) for having in self._having]
        for column, each in zip(self._columns, values, strict=True):
            each[column.codes[cell]] = count
        return [np.array(count), *values]

    def _join(self, host: int, cells: Indexes, levels: Indexes) -> None:
        counts = self._tally.counts[cells]
        self.levels[host] = levels
        self._size[host] += int(counts.sum())
        self.of_cell[cells] = host
        for column, having in zip(self._columns, self._having, strict=True):
            np.add.at(having[host], column.codes[cells], counts)

    def take_cells(self) -> None:
        """Each cell that is left joins the class that loses least by it and keeps every promise."""
        left = []
        for cell in self._free.tolist():
            here, more = np.array([cell]), self._of_cell(cell)
            levels = self._meeting(cell)
            told = self._told(levels, self._cell)
            before = self._told(self.levels, self._cell)
            cost = self._size * (before - told) - int(self._tally.counts[cell]) * told
            for some in np.array_split(np.argsort(cost, kind="stable"), max(1, len(cost) // TRIED)):
                if (fits := self._fit(some, more)).any():
                    host = int(some[np.argmax(fits)])
                    self._join(host, here, levels[host])
                    break
            else:
                left.append(cell)
        self._free = np.array(left, dtype=np.intp)

    def _meeting(self, cell: int) -> Indexes:
        """For each class, the lowest levels at which it and the cell read alike."""
        levels = self.levels.copy()
        for at, (ladder, column) in enumerate(zip(self._lattice.ladders, self._tally.quasi, strict=True)):
            codes = column.codes[self._cell]
            for level in range(len(ladder) - 1):
                groups = ladder.groups[level]
                apart = (levels[:, at] == level) & (groups[codes] != groups[column.codes[cell]])
                levels[apart, at] = level + 1
        return levels

    def take_rest(self) -> None:
        """What no class can take becomes one at the top, with as many others as it needs."""
        if not len(self._free):
            return
        top = np.array(self._lattice.top)
        host = int(np.argmin(self._size))
        self._join(host, self._free, top)
        self._free = self._free[:0]
        before = self._told(self.levels, self._cell)
        others = [at for at in np.argsort(before * self._size, kind="stable").tolist() if at != host]
        nobody = [np.zeros((), dtype=np.int64), *(np.zeros(h.shape[1], dtype=np.int64) for h in self._having)]
        for other in others:
            if self._fit(np.array([host]), nobody)[0]:
                break
            self._join(host, np.flatnonzero(self.of_cell == other), top)


def having_all(column: Column, tally: Tally) -> NDArray[np.int64]:
    """How many records of the table have each value."""
    wide = max(1, column.domain.size)
    return np.bincount(column.codes, weights=tally.counts, minlength=wide).astype(np.int64)


def _ranks(value: Indexes) -> Floats:
    """For each entry, how large a share of those with the same value stands before it."""
    order = np.argsort(value, kind="stable")
    ascending = value[order]
    first = np.searchsorted(ascending, ascending)
    last = np.searchsorted(ascending, ascending, side="right")
    rank = np.empty(len(value))
    rank[order] = (np.arange(len(value)) - first) / np.maximum(1, last - first)
    return rank


def _stacked(tables: list[list[NDArray[np.int64]]]) -> list[NDArray[np.int64]]:
    return [np.concatenate(parts) for parts in zip(*tables, strict=True)]
