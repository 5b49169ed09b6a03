"""Merging a tree into a group: which of its vertices find a place, and what is lost (Algorithms 7 and 8).

The first vertex that fits is taken, in the order of the document. A vertex fits where its type is the same,
its sensitive value is new to the position, and every rule still holds for the positions accepted so far.
Positions that are still to be visited do not count: they may yet be cut, and cutting only lowers what
rules count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.document.anatomy_rules import Limits
from privet.document.forest import NONE, Forest
from privet.document.style import Style

Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Grove:
    """All trees of a forest as the merge sees them: types, keys of values, children in order, rules."""

    kinds: Ints = field(repr=False)
    keys: Ints = field(repr=False)
    begins: NDArray[np.int64] = field(repr=False)
    members: Ints = field(repr=False)
    roots: NDArray[np.int64] = field(repr=False)
    sizes: NDArray[np.int64] = field(repr=False)
    limits: Limits = field(repr=False)
    style: Style = Style.TREES
    largest_first: bool = False

    @classmethod
    def of(cls, forest: Forest, limits: Limits, style: Style, *, largest_first: bool = False) -> Grove:
        begins, members = forest.children
        if largest_first:
            below = forest.ends - np.arange(forest.vertices)
            order = np.lexsort((members, -below[members], forest.parents[members]))
            members = np.ascontiguousarray(members[order])
        return cls(
            kinds=forest.kinds,
            keys=limits.keys,
            begins=begins,
            members=members,
            roots=forest.roots,
            sizes=forest.sizes(),
            limits=limits,
            style=style,
            largest_first=largest_first,
        )

    def below(self, vertex: int) -> list[int]:
        found: list[int] = self.members[self.begins[vertex] : self.begins[vertex + 1]].tolist()
        return found


@dataclass(frozen=True, eq=False)
class Group:
    """Aligned trees (an augmented tree): position i holds one vertex of each member, in preorder.

    `vertices[i, j]` is the vertex of member j at position i, `keys[i, j]` its sensitive value.
    """

    members: tuple[int, ...]
    kinds: Ints = field(repr=False)
    parents: Ints = field(repr=False)
    keys: Ints = field(repr=False)
    vertices: Ints = field(repr=False)

    def __len__(self) -> int:
        """How many positions."""
        return len(self.kinds)

    @cached_property
    def children(self) -> tuple[NDArray[np.int64], Ints]:
        """As in `Forest`."""
        inner = np.arange(1, len(self.parents))
        count = np.bincount(self.parents[1:], minlength=len(self.parents))
        order = np.argsort(self.parents[1:], kind="stable")
        return np.concatenate(([0], np.cumsum(count))).astype(np.int64), inner[order].astype(np.int32)

    def below(self, position: int) -> list[int]:
        begins, members = self.children
        found: list[int] = members[begins[position] : begins[position + 1]].tolist()
        return found

    def joined(self, record: int, grove: Grove, match: Ints) -> Group:
        """With one more member: only the positions that found a vertex remain."""
        kept = np.flatnonzero(match != NONE)
        new = np.full(len(match), NONE, dtype=np.int32)
        new[kept] = np.arange(len(kept))
        found = match[kept]
        parents = self.parents[kept]
        made = Group(
            (*self.members, record),
            self.kinds[kept],
            np.where(parents == NONE, NONE, new[parents]).astype(np.int32),
            np.ascontiguousarray(np.column_stack([self.keys[kept], grove.keys[found]]), dtype=np.int32),
            np.ascontiguousarray(np.column_stack([self.vertices[kept], found]), dtype=np.int32),
        )
        return made.sorted() if grove.largest_first else made

    def sorted(self) -> Group:
        """The same with larger subtrees first: what was cut may have changed their order."""
        size = np.ones(len(self), dtype=np.int64)
        for position in range(len(self) - 1, 0, -1):
            size[self.parents[position]] += size[position]
        order: list[int] = []
        waiting = [0]
        while waiting:
            position = waiting.pop()
            order.append(position)
            waiting += sorted(self.below(position), key=lambda p: (size[p], -p))
        return self.arranged(order)

    def arranged(self, order: Sequence[int]) -> Group:
        """The same positions in another order, parents first."""
        at = np.asarray(order, dtype=np.int64)
        new = np.empty(len(at), dtype=np.int32)
        new[at] = np.arange(len(at))
        parents = self.parents[at]
        return Group(
            self.members,
            self.kinds[at],
            np.where(parents == NONE, NONE, new[parents]).astype(np.int32),
            np.ascontiguousarray(self.keys[at]),
            np.ascontiguousarray(self.vertices[at]),
        )


def alone(forest: Forest, grove: Grove, record: int) -> Group:
    """A group of one: where every group begins."""
    begin, end = int(forest.starts[record]), int(forest.starts[record + 1])
    parents = forest.parents[begin:end]
    made = Group(
        (record,),
        forest.kinds[begin:end],
        np.where(parents == NONE, NONE, parents - begin).astype(np.int32),
        grove.keys[begin:end, None].copy(),
        np.arange(begin, end, dtype=np.int32)[:, None],
    )
    return made.sorted() if grove.largest_first else made


class Counters:
    """What rules count: members that have m of a value (t-t), or positions that hold it (v-v)."""

    def __init__(self, grove: Grove, members: int, mu: Ints | None = None) -> None:
        limits, self.style = grove.limits, grove.style
        self.mu_most = (limits.mu if mu is None else mu).tolist()
        self.eta_most: list[int] = limits.eta.tolist()
        self.begins, self.m = limits.begins.tolist(), limits.m.tolist()
        self.count = [[0] * limits.keyed for _ in range(members)]
        self.mu = [0] * len(self.m)
        self.eta = [0] * limits.keyed
        self.ruled = limits.ruled.tolist()

    def accept(self, keys: Sequence[int]) -> bool:
        """Count one more position with these values, one a member; undone, and False, if a rule breaks."""
        touched = [(member, self.ruled[key]) for member, key in enumerate(keys) if key != NONE]
        touched = [(member, rule) for member, rule in touched if rule != NONE]
        for member, key in touched:
            self._count(member, key, 1)
        if all(self._holds(key) for _, key in touched):
            return True
        for member, key in touched:
            self._count(member, key, -1)
        return False

    def _count(self, member: int, key: int, step: int) -> None:
        if self.style is Style.VERTICES:
            self.eta[key] += step
            return
        before = self.count[member][key]
        self.count[member][key] = before + step
        for rule in range(self.begins[key], self.begins[key + 1]):
            self.mu[rule] += (before + step >= self.m[rule]) - (before >= self.m[rule])

    def _holds(self, key: int) -> bool:
        if self.style is Style.VERTICES:
            return self.eta[key] <= self.eta_most[key]
        rules = range(self.begins[key], self.begins[key + 1])
        return all(self.mu[rule] <= self.mu_most[rule] for rule in rules)


def merge(group: Group, grove: Grove, record: int, mu: Ints | None = None) -> Ints | None:
    """For each position of the group the vertex that joins it, or NONE; None if not even the roots fit.

    `mu` are other bounds than those of groups of l.
    """
    counters = Counters(grove, len(group.members) + 1, mu)
    match = np.full(len(group), NONE, dtype=np.int32)

    def siblings(positions: Sequence[int], vertices: Sequence[int]) -> None:
        free = list(vertices)
        for position in positions:
            for at, vertex in enumerate(free):
                if fits(position, vertex):
                    match[position] = vertex
                    del free[at]
                    siblings(group.below(position), grove.below(vertex))
                    break

    def fits(position: int, vertex: int) -> bool:
        if group.kinds[position] != grove.kinds[vertex]:
            return False
        key, there = int(grove.keys[vertex]), group.keys[position].tolist()
        return (key == NONE or key not in there) and counters.accept([*there, key])

    siblings([0], [int(grove.roots[record])])
    return None if match[0] == NONE else match


def best(
    group: Group, grove: Grove, candidates: Sequence[int], weights: tuple[float, NDArray[np.float64]]
) -> int | None:
    """The candidate whose merge costs least, the earliest of equals; None if none can be merged.

    The cost is what is lost: `weights[0]` for each position cut from the group, and the record's own
    weight for each of its vertices without a place.
    """
    found, least = None, float("inf")
    for record in candidates:
        match = merge(group, grove, record)
        if match is not None:
            kept = int(np.count_nonzero(match != NONE))
            cost = cost_of(len(group), int(grove.sizes[record]), kept, weights[0], float(weights[1][record]))
            if cost < least:
                found, least = record, cost
    return found


def cost_of(positions: int, size: int, kept: int, of_group: float, of_record: float) -> float:
    """What a merge loses, when `kept` positions remain."""
    return of_group * (positions - kept) + of_record * (size - kept)
