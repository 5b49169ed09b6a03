"""What is known of every node of a lattice that can be enumerated: is it open, what does it lose at least?

Looking at a node tells of others. Where too many records must go, too many must go below: *predictive
tagging* (El Emam et al., "A globally optimal k-anonymity method for the de-identification of health data",
JAMIA 2009). The higher such a node stands, the more it tells, and the quicker its classes are counted; so
from a broken node it pays to climb, past nodes that lose too much to be published, to the highest ones that
are broken still. A node that leaves attributes at their tops is broken by the others alone, as Incognito
looks at parts of the attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.counts.door import Levels
from privet.relational.objective import Floats

SOME = 4096  # open nodes, by which it is told where a climb leads

Shape: TypeAlias = tuple[int, ...]


class Field:
    """The whole lattice as a grid."""

    def __init__(self, shape: Shape, floors: Sequence[Floats]) -> None:
        self._shape = shape
        self._floor = _outer(floors, shape)
        self._bound = self._floor.copy()  # below the loss of each open node; infinite where it is closed
        self.broken = np.zeros(shape, dtype=bool)  # too many records must go here
        self._whole = np.zeros(shape, dtype=bool)  # it was seen, here or below, that they are not too many

    def open(self, node: Levels) -> bool:
        """May the node be the best?"""
        return bool(self._bound[node] < np.inf)

    def next(self) -> Levels | None:
        """The open node with the smallest bound; of several, the first."""
        node = tuple(int(level) for level in np.unravel_index(int(np.argmin(self._bound)), self._shape))
        return node if self.open(node) else None

    def way(self, start: Levels) -> list[Levels]:
        """A way up from a node through open nodes, each time to the smallest bound."""
        way = [start]
        while True:
            here = way[-1]
            above = [_at(here, axis, here[axis] + 1) for axis in self._axes(here)]
            ahead = [node for node in above if self.open(node)]
            if not ahead:
                return way
            way.append(min(ahead, key=lambda node: float(self._bound[node])))

    def close(self, node: Levels) -> None:
        self._bound[node] = np.inf

    def close_below(self, node: Levels) -> None:
        self._bound[_down(node)] = np.inf

    def close_from(self, loss: float) -> None:
        """Close the nodes that lose at least so much."""
        self._bound[self._bound >= loss] = np.inf

    def raise_below(self, node: Levels, more: Sequence[Floats]) -> None:
        box = _down(node)
        raised = self._floor[box] + _outer(more, tuple(level + 1 for level in node))
        np.maximum(self._bound[box], raised, out=self._bound[box])

    def raise_above(self, node: Levels, least: float) -> None:
        box = _up(node)
        np.maximum(self._bound[box], least, out=self._bound[box])

    def break_below(self, node: Levels) -> None:
        """Too many records must go at this node, and so at every finer one."""
        self.broken[_down(node)] = True

    def climb(self, node: Levels, breaks: Callable[[Levels], bool]) -> None:
        """From a broken node to one above which nothing is broken, as far as that tells of open nodes.

        One attribute after the other is lifted, always the one that leads over most open nodes.
        """
        rest = self._some_open()
        axes = self._axes(node)
        while axes:
            over = rest > node
            rest, over = rest[over.any(axis=1)], over[over.any(axis=1)]
            gain = over[over.sum(axis=1) == 1].sum(axis=0)  # what one lift by itself would lead over
            axis = max(axes, key=lambda each: int(gain[each]))
            if not gain[axis]:
                return
            axes.remove(axis)
            node = _at(node, axis, self._highest(node, axis, breaks))
            self.break_below(node)

    def _highest(self, node: Levels, axis: int, breaks: Callable[[Levels], bool]) -> int:
        """The highest level of an attribute at which a broken node is still so; the top is tried first."""
        low = node[axis]
        high = middle = self._shape[axis] - 1
        while low < high:
            if self._breaks(_at(node, axis, middle), breaks):
                low = middle
            else:
                high = middle - 1
            middle = (low + high + 1) // 2
        return low

    def _breaks(self, node: Levels, breaks: Callable[[Levels], bool]) -> bool:
        if self.broken[node] or self._whole[node]:
            return bool(self.broken[node])
        found = breaks(node)
        (self.broken if found else self._whole)[_down(node) if found else _up(node)] = True
        return found

    def _some_open(self) -> NDArray[np.intp]:
        """Some of the open nodes that are not known to be broken, evenly taken."""
        left = np.flatnonzero((self._bound < np.inf) & ~self.broken)
        return np.stack(np.unravel_index(left[:: len(left) // SOME + 1], self._shape), axis=1)

    def _axes(self, node: Levels) -> list[int]:
        return [axis for axis, levels in enumerate(self._shape) if node[axis] + 1 < levels]


def _at(node: Levels, axis: int, level: int) -> Levels:
    return (*node[:axis], level, *node[axis + 1 :])


def _down(node: Levels) -> tuple[slice, ...]:
    return tuple(slice(level + 1) for level in node)


def _up(node: Levels) -> tuple[slice, ...]:
    return tuple(slice(level, None) for level in node)


def _outer(parts: Sequence[Floats], shape: Shape) -> Floats:
    """The sum of one number for each axis, at every place."""
    total: Floats = np.zeros(())
    for part in parts:
        total = total[..., None] + part
    return np.ascontiguousarray(np.broadcast_to(total, shape)) if parts else np.zeros(shape)
