"""Which generalisations a table is released in: a walk and a chain that look at quasi-identifiers only.

Every column has levels, from its values as they are to one value for all. A node of the lattice names a level
for each column. The walk goes by the sum of levels, and later columns are generalised first; the first node
whose groups all have l people begins the chain, and each next node raises the last column that can still be
raised. Both rules are public and read nothing secret, so they tell an adversary nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from privet.core import Tally
from privet.domain import Cut, Domain, Node
from privet.errors import UnsatisfiableError
from privet.relational.lattice import Tags, at_height, cuts_by_level

Node_ = tuple[int, ...]  # a level for each column
Groups = NDArray[np.int64]

ROOM = 1 << 40  # largest number of a group on the way


@dataclass(frozen=True, eq=False)
class Levels:
    """One column: for each level, the group of every code; the first as it is, the last all in one."""

    name: str
    groups: tuple[Groups, ...] = field(repr=False)
    nodes: tuple[tuple[Node, ...], ...] = field(default=(), repr=False)  # what each level publishes

    @property
    def top(self) -> int:
        return len(self.groups) - 1


def levels(name: str, domain: Domain) -> Levels:
    """A column's levels by its hierarchy, the finest first; one that merges nothing is left out."""
    found: list[Cut] = []
    for cut in cuts_by_level(domain):
        if not found or len(cut.nodes) < len(found[-1].nodes):
            found.append(cut)
    groups = tuple(cut.positions.astype(np.int64) for cut in found)
    return Levels(name, groups, tuple(cut.nodes for cut in found))


def suppression(name: str, codes: int) -> Levels:
    """A column that is shown as it is, or not at all."""
    shown = np.arange(codes, dtype=np.int64)
    return Levels(name, (shown, np.zeros(codes, dtype=np.int64)) if codes > 1 else (shown,))


@dataclass(frozen=True, eq=False)
class Lattice:
    """The columns of a table with their levels; cells stand for `counts` people who agree in every column."""

    columns: tuple[Levels, ...]
    codes: NDArray[np.int64] = field(repr=False)  # [cell, column]
    counts: NDArray[np.int64] = field(repr=False)

    @classmethod
    def of(cls, tally: Tally) -> Lattice:
        columns = tuple(levels(column.name, column.domain) for column in tally.quasi)
        codes = np.stack([column.codes.astype(np.int64) for column in tally.quasi], axis=1)
        return cls(columns, codes, tally.counts)

    @property
    def top(self) -> Node_:
        return tuple(column.top for column in self.columns)

    def walk(self) -> Iterator[Node_]:
        """Nodes by the sum of their levels; of equal ones, those that generalise later columns first."""
        every = product(*(range(top + 1) for top in self.top))
        yield from sorted(every, key=lambda node: (sum(node), node))

    def groups(self, node: Node_) -> Groups:
        """The group of every cell, numbered from 0."""
        found, room = np.zeros(len(self.codes), dtype=np.int64), 1
        for at, (column, level) in enumerate(zip(self.columns, node, strict=True)):
            group = column.groups[level][self.codes[:, at]]
            wide = int(group.max(initial=0)) + 1
            if room * wide > ROOM:  # numbered anew, so that the numbers stay small enough
                found = np.unique(found, return_inverse=True)[1]
                room = len(self.codes)
            found, room = found * wide + group, room * wide
        return np.unique(found, return_inverse=True)[1]

    def chain(self, l: int) -> tuple[Node_, ...]:
        """From the first node with at least l people in every group up to the top."""
        if not len(self.counts) or int(self.counts.sum()) < l:
            raise UnsatisfiableError(f"there are fewer than {l} people in the whole table")
        node = self.first(l)
        found = [node]
        while node != self.top:
            at = max(i for i, (level, top) in enumerate(zip(node, self.top, strict=True)) if level < top)
            node = (*node[:at], node[at] + 1, *node[at + 1 :])
            found.append(node)
        return tuple(found)

    def first(self, l: int) -> Node_:
        """The first node of the walk with at least l people in every group.

        Groups only grow on the way up, so that heights can be halved: where some node of a height will do,
        some of each greater one does.
        """
        crowd = _Crowd(self, l)
        low, high = 0, sum(self.top)
        while low < high:
            middle = (low + high) // 2
            if any(crowd.everywhere(node) for node in at_height(self.top, middle)):
                high = middle
            else:
                low = middle + 1
        return next(node for node in at_height(self.top, low) if crowd.everywhere(node))


class _Crowd:
    """Has every group of a node at least l people? Remembers, and looks at pairs of columns first."""

    def __init__(self, lattice: Lattice, l: int) -> None:
        self.lattice, self.l = lattice, l
        self.tags = Tags()
        self.widths = [[int(groups.max(initial=0)) + 1 for groups in c.groups] for c in lattice.columns]
        self.pairs: dict[tuple[int, int, int, int], bool] = {}

    def everywhere(self, node: Node_) -> bool:
        columns = range(len(node))
        # Few in a group of two columns are few in a group of all; and many nodes share such a pair.
        if not all(self._pair(i, node[i], j, node[j]) for i in columns for j in columns if i < j):
            return False
        known = self.tags.known(node)
        if known is None:
            sizes = np.bincount(self.lattice.groups(node), weights=self.lattice.counts)
            known = bool(sizes.min() >= self.l)
            self.tags.tag(node, keeps=known)
        return known

    def _pair(self, one: int, level: int, other: int, its: int) -> bool:
        key = (one, level, other, its)
        if key not in self.pairs:
            first, second = self._codes(one, level), self._codes(other, its)
            sizes = np.bincount(first * self.widths[other][its] + second, weights=self.lattice.counts)
            self.pairs[key] = bool(sizes[sizes > 0].min() >= self.l)
        return self.pairs[key]

    def _codes(self, at: int, level: int) -> Groups:
        found: Groups = self.lattice.columns[at].groups[level][self.lattice.codes[:, at]]
        return found


def chained(lattice: Lattice, nodes: Sequence[Node_]) -> tuple[Groups, ...]:
    """The groups of each node of a chain; each is made of whole groups of the one before."""
    return tuple(lattice.groups(node) for node in nodes)
