"""A baseline to compare with: k-anonymous first without looking at sensitive values, repaired afterwards.

Ozalp (2017), section 2.4, compares with dMiRaCle (multirelational k-anonymity made l-diverse). Its paper is
not at hand, so this is a stand-in that does what is said of it, under a name of its own; no claim about
dMiRaCle follows from it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from privet.document.diversify import ANYTHING, Representative, Trees
from privet.document.edits import DocumentEdits, TreeClass
from privet.document.forest import NONE, Forest, ends_of
from privet.document.mapping import Mapping
from privet.errors import PolicyError, UnsatisfiableError


@dataclass
class _Group:
    members: list[int]
    rep: Representative


@dataclass(frozen=True, kw_only=True)
class KAnonThenRepair:
    """A record joins the nearest open cluster if that costs at most the share `threshold` of both trees, or
    if `climit` clusters are open; else it opens one. Clusters close when they are large enough. Then every
    vertex whose sensitive values are not diverse is cut, with all below it.
    """

    climit: int = 150
    threshold: Fraction = Fraction(1, 2)
    mapping: Mapping = "lsap"

    name: ClassVar[str] = "k-anonymise-then-repair"

    def __post_init__(self) -> None:
        if self.climit < 1 or not 0 <= self.threshold <= 1:
            raise PolicyError("climit is at least 1, and the threshold a share from 0 to 1")

    def cluster(self, forest: Forest, size: int) -> DocumentEdits:
        if size < 1 or len(forest) < size:
            raise UnsatisfiableError(
                f"{len(forest)} records cannot form a class of {size}; make it smaller, or bring more"
            )
        trees = Trees.of(forest, 4 * size, self.mapping)
        closed = self._grouped(trees, size)
        return _repaired(trees, closed, size)

    def _grouped(self, trees: Trees, size: int) -> list[_Group]:
        opened: list[_Group] = []
        closed: list[_Group] = []
        for record in range(len(trees.forest)):
            at = self._joins(trees, opened, record)
            if at is None:
                opened.append(_Group([record], trees.start(record)))
                at = len(opened) - 1
            else:
                _join(trees, opened[at], record)
            if len(opened[at].members) == size:
                closed.append(opened.pop(at))
        if not closed:  # all clusters are too small: they become one
            first, *opened = opened
            closed.append(first)
        for group in opened:
            for record in group.members:
                _join(trees, closed[_nearest(trees, closed, record)[1]], record)
        return closed

    def _joins(self, trees: Trees, opened: list[_Group], record: int) -> int | None:
        if not opened:
            return None
        price, at = _nearest(trees, opened, record)
        whole = int(opened[at].rep.loss[0]) + int(trees.tariff.loss[trees.forest.starts[record]])
        full = len(opened) >= self.climit
        return at if full or price <= self.threshold * whole else None


def _nearest(trees: Trees, groups: list[_Group], record: int) -> tuple[int, int]:
    """The least price at which a record joins one of the groups, and which."""
    prices = [(trees.price(group.rep, record, ANYTHING), at) for at, group in enumerate(groups)]
    return min((price, at) for price, at in prices if price is not None)


def _join(trees: Trees, group: _Group, record: int) -> None:
    group.rep = trees.merged(group.rep, record, ANYTHING)
    group.members.append(record)


def _repaired(trees: Trees, groups: list[_Group], size: int) -> DocumentEdits:
    kept = [group for group in groups if _diverse(group.rep, 0, size)]
    suppressed: list[int] = []
    for group in groups:
        if _diverse(group.rep, 0, size):
            continue
        if not kept:
            suppressed += group.members
            continue
        # once: with the nearest class, where the roots of both together are diverse
        _, at = _nearest(trees, kept, group.members[0])
        both = _Group(list(kept[at].members), kept[at].rep)
        for record in group.members:
            _join(trees, both, record)
        if _diverse(both.rep, 0, size):
            kept[at] = both
        else:
            suppressed += group.members
    classes = tuple(TreeClass(tuple(group.members), _cut(trees, group.rep, size)) for group in kept)
    return DocumentEdits(trees.nodes, classes, tuple(sorted(suppressed)))


def _diverse(rep: Representative, vertex: int, l: int) -> bool:
    buckets = rep.buckets[vertex].tolist()
    return buckets[0] == NONE or max(Counter(buckets).values()) * l <= len(buckets)


def _cut(trees: Trees, rep: Representative, l: int) -> Representative:
    """Without the vertices that are not diverse, and whatever is below them."""
    left: list[int] = []
    vertex = 0
    while vertex < len(rep.kinds):
        if _diverse(rep, vertex, l):
            left.append(vertex)
            vertex += 1
        else:
            vertex = int(rep.ends[vertex])
    place = np.full(len(rep.kinds) + 1, NONE, dtype=np.int32)  # the last stands for the parent of a root
    place[left] = np.arange(len(left))
    parents = place[rep.parents[left]]
    ends = ends_of(parents)
    running = np.concatenate(([0], np.cumsum(trees.tariff.own[rep.kinds[left]])))
    loss = running[ends] - running[:-1]
    return Representative(
        rep.kinds[left], parents, ends, rep.nodes[left], rep.aligned[left], rep.buckets[left], loss
    )
