"""The generalisation lattice: every attribute at one level of its hierarchy, and what lies above what.

A node says one level for each attribute, 0 the finest; its height is the sum. A node is a generalisation
of another where no level is lower. Levels are counted from the root of a hierarchy: the cut at some depth
holds the nodes of that depth, and leaves that end above it. So every level is a cut, and each is coarser
than the one before, also where some ways down are shorter than others.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, product
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.core import Column, Tally
from privet.counts.door import Levels
from privet.domain import Cut, Domain, Node, Value
from privet.errors import PolicyError
from privet.recoding import Generalization

Limits: TypeAlias = Mapping[str, int | Sequence[int]]  # the level of an attribute, or its lowest and highest

ENUMERABLE = 4_000_000  # nodes that are looked at all at once; larger lattices are walked


def cuts_by_level(domain: Domain) -> tuple[Cut, ...]:
    """The levels of a hierarchy, finest first; the last is the root alone.

    A label that a file repeats stays for as many levels: they are those of the file, as ARX counts them.
    """
    times: dict[Value, int] = dict(domain.repeat)
    row = [(domain.halved, times.get(domain.halved.label, 1))]
    rows = [row]
    while any(node.children or left > 1 for node, left in row):
        finer: list[tuple[Node, int]] = []
        for node, left in row:
            if left > 1 or not node.children:
                finer.append((node, max(1, left - 1)))
            else:
                finer += [(child, times.get(child.label, 1)) for child in node.children]
        row = finer
        rows.append(row)
    return tuple(Cut(domain, tuple(node for node, _ in row)) for row in reversed(rows))


@dataclass(frozen=True, eq=False)
class Ladder:
    """The levels that one attribute may take."""

    name: str
    cuts: tuple[Cut, ...] = field(repr=False)  # finest first
    first: int = 0  # the level of the first in the whole hierarchy

    @classmethod
    def of(cls, column: Column, limits: Limits) -> Ladder:
        cuts = cuts_by_level(column.domain)
        low, high = _between(column.name, limits.get(column.name), len(cuts) - 1)
        return cls(column.name, cuts[low : high + 1], low)

    def __len__(self) -> int:
        return len(self.cuts)

    @cached_property
    def groups(self) -> tuple[NDArray[np.int64], ...]:
        """For each level, the group of each code; and one level more, where the attribute is left out.

        Nodes that read alike are published alike, so they are one group.
        """
        found = []
        for cut in self.cuts:
            number = {label: at for at, label in enumerate(dict.fromkeys(cut.labels))}
            of_node = np.array([number[label] for label in cut.labels], dtype=np.int64)
            found.append(of_node[cut.positions])
        return (*found, np.zeros(self.cuts[0].domain.size, dtype=np.int64))

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """For each level, how many groups there are."""
        return tuple(int(groups.max(initial=0)) + 1 for groups in self.groups)


def _between(name: str, limit: int | Sequence[int] | None, top: int) -> tuple[int, int]:
    if limit is None:
        return 0, top
    low, high = (limit, limit) if isinstance(limit, int) else limit
    if high > top:
        raise PolicyError(f"algorithm: levels.{name}: the hierarchy has levels 0 to {top}, not {high}")
    return low, high


def check_limits(limits: Limits) -> None:
    """Refuse levels that no hierarchy could have."""
    wrong = [
        name
        for name, limit in limits.items()
        if not (_level(limit) or (isinstance(limit, (list, tuple)) and _pair(limit)))
    ]
    if wrong:
        raise PolicyError(
            *(
                f"levels.{name} is a level from 0 on, or the lowest and the highest of them, such as [0, 2]"
                for name in wrong
            )
        )


def _level(given: object) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and given >= 0


def _pair(given: Sequence[object]) -> bool:
    return len(given) == 2 and all(map(_level, given)) and given[0] <= given[1]  # type: ignore[operator]


def at_height(top: Levels, height: int) -> Iterator[Levels]:
    """The nodes up to a top whose levels add up to so much, in lexical order."""

    def rest(at: int, left: int) -> Iterator[Levels]:
        if at == len(top):
            yield ()
            return
        beyond = sum(top[at + 1 :])
        for level in range(max(0, left - beyond), min(top[at], left) + 1):
            for others in rest(at + 1, left - level):
                yield (level, *others)

    if 0 <= height <= sum(top):
        yield from rest(0, height)


@dataclass(frozen=True, eq=False)
class Lattice:
    """All nodes over the ladders of a table."""

    ladders: tuple[Ladder, ...]

    @classmethod
    def of(cls, tally: Tally, limits: Limits | None = None) -> Lattice:
        limits = limits or {}
        known = {column.name for column in tally.quasi}
        if unknown := [name for name in limits if name not in known]:
            raise PolicyError(
                *(f"algorithm: levels.{name}: the policy has no such quasi-identifier" for name in unknown)
            )
        return cls(tuple(Ladder.of(column, limits) for column in tally.quasi))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        return tuple(map(len, self.ladders))

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return prod(self.shape)

    @property
    def size_over_parts(self) -> int:
        """How many there are in the lattices of all parts of the attributes: each may also be left out."""
        return prod(levels + 1 for levels in self.shape)

    @property
    def bottom(self) -> Levels:
        return (0,) * len(self.shape)

    @cached_property
    def top(self) -> Levels:
        return tuple(levels - 1 for levels in self.shape)

    @property
    def highest(self) -> int:
        return sum(self.top)

    def successors(self, node: Levels) -> Iterator[Levels]:
        """The nodes that lift one attribute by one level."""
        for at, level in enumerate(node):
            if level < self.top[at]:
                yield (*node[:at], level + 1, *node[at + 1 :])

    def predecessors(self, node: Levels) -> Iterator[Levels]:
        """The nodes that lower one attribute by one level."""
        for at, level in enumerate(node):
            if level:
                yield (*node[:at], level - 1, *node[at + 1 :])

    def at_height(self, height: int) -> Iterator[Levels]:
        """The nodes of a height, in lexical order."""
        return at_height(self.top, height)

    def of_height(self, height: int) -> NDArray[np.intp]:
        """The same as rows of an array."""
        found = np.fromiter(chain.from_iterable(self.at_height(height)), dtype=np.intp)
        return found.reshape(-1, len(self.shape))

    def nodes(self) -> Iterator[Levels]:
        yield from product(*map(range, self.shape))

    @cached_property
    def matrix(self) -> NDArray[np.uint8]:
        """Every node as a row; for lattices that are enumerable."""
        grid = np.indices(self.shape, dtype=np.uint8)
        return np.ascontiguousarray(grid.reshape(len(self.shape), -1).T)

    def named(self, node: Levels) -> dict[str, int]:
        """The levels as the hierarchies count them."""
        return {ladder.name: ladder.first + at for ladder, at in zip(self.ladders, node, strict=True)}

    def recoding(self, node: Levels) -> Generalization:
        """The table at a node."""
        return Generalization({l.name: l.cuts[at] for l, at in zip(self.ladders, node, strict=True)})


class Tags:
    """What is known of nodes without looking: kept nodes are kept above, broken ones are broken below."""

    def __init__(self) -> None:
        self._kept: list[NDArray[Any]] = []
        self._broken: list[NDArray[Any]] = []

    def tag(self, node: Levels, *, keeps: bool) -> None:
        (self._kept if keeps else self._broken).append(np.array(node))

    def known(self, node: Levels) -> bool | None:
        """Does the node keep the promise? None where nothing says so."""
        if self._kept and bool((np.array(self._kept) <= node).all(axis=1).any()):
            return True
        if self._broken and bool((np.array(self._broken) >= node).all(axis=1).any()):
            return False
        return None


def ascending(lattice: Lattice, floors: list[NDArray[np.float64]]) -> Iterator[Levels]:
    """The nodes by the sum of what each attribute loses at its level, the smallest first."""
    if lattice.size <= ENUMERABLE:
        total: NDArray[np.float64] = np.zeros(())
        for each in floors:
            total = total[..., None] + each
        order = np.argsort(total.ravel(), kind="stable")
        for first in range(0, len(order), 1024):
            part = np.unravel_index(order[first : first + 1024], lattice.shape)
            yield from zip(*(axis.tolist() for axis in part), strict=True)
        return
    top = lattice.top
    rises = [np.diff(each).tolist() for each in floors]
    # A byte for each attribute is compared as levels are: of many columns there are many long nodes to keep.
    packed: Any = bytes if max(top, default=0) < 256 else tuple
    one = [packed((level,)) for level in range(max(top, default=0) + 1)]
    bottom = packed(lattice.bottom)
    heap, seen = [(0.0, bottom)], {bottom}
    while heap:
        lost, node = heapq.heappop(heap)
        yield tuple(node)
        for at, level in enumerate(node):
            if level < top[at] and (above := node[:at] + one[level + 1] + node[at + 1 :]) not in seen:
                seen.add(above)
                heapq.heappush(heap, (lost + rises[at][level], above))
