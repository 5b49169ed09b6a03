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
from privet.domain import Domain, Node
from privet.errors import UnsatisfiableError

Node_ = tuple[int, ...]  # a level for each column
Groups = NDArray[np.int64]


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
    """A column's levels by its hierarchy: each goes one step up from the leaves of the tree that are
    deepest.
    """
    cuts: list[tuple[Node, ...]] = [tuple(Node(v, at, at + 1) for at, v in enumerate(domain.values))]
    by_depth: list[tuple[Node, ...]] = [(domain.root,)]
    while any(node.children for node in by_depth[-1]):
        deeper = [child for node in by_depth[-1] for child in (node.children or (node,))]
        by_depth.append(tuple(deeper))
    for cut in reversed(by_depth):
        if len(cut) < len(cuts[-1]):
            cuts.append(cut)
    groups = tuple(
        np.repeat(np.arange(len(cut), dtype=np.int64), [node.leaves for node in cut]) for cut in cuts
    )
    return Levels(name, groups, tuple(cuts))


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
        found = np.zeros(len(self.codes), dtype=np.int64)
        for at, (column, level) in enumerate(zip(self.columns, node, strict=True)):
            group = column.groups[level][self.codes[:, at]]
            # Numbered anew for each column, so that the numbers never grow beyond the cells.
            found = np.unique(found * (int(group.max(initial=0)) + 1) + group, return_inverse=True)[1]
        return found

    def chain(self, l: int) -> tuple[Node_, ...]:
        """From the first node with at least l people in every group up to the top."""
        if not len(self.counts) or int(self.counts.sum()) < l:
            raise UnsatisfiableError(f"there are fewer than {l} people in the whole table")
        node = next(node for node in self.walk() if self._smallest(node) >= l)
        found = [node]
        while node != self.top:
            at = max(i for i, (level, top) in enumerate(zip(node, self.top, strict=True)) if level < top)
            node = (*node[:at], node[at] + 1, *node[at + 1 :])
            found.append(node)
        return tuple(found)

    def _smallest(self, node: Node_) -> int:
        return int(np.bincount(self.groups(node), weights=self.counts).min())


def chained(lattice: Lattice, nodes: Sequence[Node_]) -> tuple[Groups, ...]:
    """The groups of each node of a chain; each is made of whole groups of the one before."""
    return tuple(lattice.groups(node) for node in nodes)
