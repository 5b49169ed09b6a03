"""One attribute as searches over boxes see it: where it may be cut, and what a range of codes loses.

Along a hierarchy, a range is published as the lowest node above it. That is the node above the two neighbours
in the range that have the highest one in common: so one number for each pair of neighbouring codes, and the
smallest depth in a stretch of them, say what any range loses, in as much room as the codes and a logarithm.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet.counts.door import Indexes
from privet.domain import Domain
from privet.relational.objective import Floats


@dataclass(frozen=True, eq=False)
class Axis:
    """One attribute: where its values lie, where it may be cut, and what a range of it loses."""

    place: Floats  # of each code, from 0 to 1
    tree: Joints | None = None  # None: it is cut anywhere, and loses the distance of its ends

    @classmethod
    def of(cls, domain: Domain, *, hierarchy: bool) -> Axis:
        return cls(_places(domain), Joints.of(domain) if hierarchy else None)

    def loss(self, low: Indexes, high: Indexes) -> Floats:
        """What the ranges lose, both ends included."""
        return self.place[high] - self.place[low] if self.tree is None else self.tree.loss(low, high)


@dataclass(frozen=True, eq=False)
class Joints:
    """The lowest node above each code and the one before, and the highest of them in any stretch."""

    depth: NDArray[np.int32]  # of that node; the root is at 0, and nothing is before the first code
    lost: Floats  # what it loses
    own: Floats  # what each code loses by itself: those that are never told apart lose together
    highest: tuple[NDArray[np.int32], ...]  # by power of two: where in so many codes the highest node is

    @classmethod
    def of(cls, domain: Domain) -> Joints:
        depth = np.zeros(domain.size, dtype=np.int32)
        lost, own = np.zeros(domain.size), np.zeros(domain.size)
        above = [(domain.halved, 0)]
        while above:
            node, level = above.pop()
            depth[node.lo + 1 : node.hi] = level
            lost[node.lo + 1 : node.hi] = domain.loss(node)
            if not node.children:
                own[node.lo : node.hi] = domain.loss(node)
            above += [(child, level + 1) for child in node.children]
        highest = [np.arange(domain.size, dtype=np.int32)]
        while 1 << len(highest) <= domain.size:
            half, last = 1 << (len(highest) - 1), highest[-1]
            left, right = last[:-half], last[half:]
            highest.append(np.where(depth[left] <= depth[right], left, right))
        return cls(depth, lost, own, tuple(highest))

    def joint(self, low: Indexes, high: Indexes) -> Indexes:
        """Where the lowest node above each range is; ranges have two codes at least."""
        found = np.empty(len(low), dtype=np.intp)
        power = np.frexp((high - low).astype(np.float64))[1] - 1  # of the stretch from low + 1 to high
        for one in np.unique(power).tolist():
            here = np.flatnonzero(power == one)
            left = self.highest[one][low[here] + 1]
            right = self.highest[one][high[here] + 1 - (1 << one)]
            found[here] = np.where(self.depth[left] <= self.depth[right], left, right)
        return found

    def loss(self, low: Indexes, high: Indexes) -> Floats:
        """What the lowest nodes above the ranges lose."""
        found = self.own[low]
        wide = np.flatnonzero(low < high)
        found[wide] = self.lost[self.joint(low[wide], high[wide])]
        return found

    def depth_of(self, low: Indexes, high: Indexes) -> NDArray[np.int32]:
        """How deep the lowest node above each range is; ranges have two codes at least."""
        return self.depth[self.joint(low, high)]


def _places(domain: Domain) -> Floats:
    size, scale = domain.size, domain.scale
    if scale is None or not scale.numbers or scale.numbers[0] == scale.numbers[-1]:
        return np.arange(size) / max(1, size - 1)
    low, high = scale.numbers[0], scale.numbers[-1]
    known = [float((number - low) / (high - low)) for number in scale.numbers]
    return np.array([*known, *([1.0] * (size - len(known)))])  # null is as far away as can be
