"""What is known of every node of a lattice that can be enumerated: is it open, what does it lose at least?

Looking at a node tells of others. Where too many records must go, too many must go below: *predictive
tagging* (El Emam et al., "A globally optimal k-anonymity method for the de-identification of health data",
JAMIA 2009). The higher such a node stands, the more it tells, and the quicker its classes are counted; so
from a broken node it pays to climb, past nodes that lose too much to be published, to the highest ones that
are broken still. A node that leaves attributes at their tops is broken by the others alone, as Incognito
looks at parts of the attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.counts.door import Levels
from privet.relational.objective import Floats

SOME = 4096  # nodes, by which it is told where a climb leads

Shape: TypeAlias = tuple[int, ...]
Rows: TypeAlias = NDArray[np.intp]  # nodes x attributes: levels
Asked: TypeAlias = Callable[[Levels], bool]  # is this node broken?


class Known:
    """Which nodes are known to be broken, and which are known to be whole, as those above whole ones are."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        # A column that stands at one level is no axis of the grid: numpy has room for 64, tables have more.
        self._free = [axis for axis, levels in enumerate(shape) if levels > 1] or [0]
        self._grid = tuple(shape[axis] for axis in self._free)
        self._broken = np.zeros(self._grid, dtype=bool)
        self._whole = np.zeros(self._grid, dtype=bool)

    def broken(self, node: Levels) -> bool:
        return bool(self._broken[self._place(node)])

    def whole(self, nodes: Rows) -> Rows:
        """Those of these nodes that are known to be whole."""
        return nodes[self._whole[self._places(nodes)]]

    def break_below(self, node: Levels) -> None:
        """The node is broken, and so is every finer one."""
        self._broken[self._down(node)] = True

    def breaks(self, node: Levels, asked: Asked) -> bool:
        """Is the node broken? It is asked for only where nothing is known, and then more is known."""
        if not (self.broken(node) or self._whole[self._place(node)]):
            if asked(node):
                self.break_below(node)
            else:
                self._whole[self._up(node)] = True
        return self.broken(node)

    def settle(self, nodes: Rows, asked: Asked) -> Iterator[Levels]:
        """Find out about all of these nodes; each that is asked for and whole is told as it is found."""
        while len(nodes := nodes[~(self._broken | self._whole)[self._places(nodes)]]):
            node = tuple(nodes[0].tolist())
            if self.breaks(node, asked):
                self.climb(node, asked, nodes)
            else:
                yield node

    def climb(self, node: Levels, asked: Asked, rest: Rows) -> None:
        """From a broken node to one above which nothing is broken, as far as that tells of the rest.

        One attribute after the other is lifted, always the one that leads over most of the rest, or of some
        of it, evenly taken.
        """
        rest = rest[:: len(rest) // SOME + 1]
        axes = self._axes(node)
        while axes:
            over = rest > node
            rest, over = rest[over.any(axis=1)], over[over.any(axis=1)]
            gain = over[over.sum(axis=1) == 1].sum(axis=0)  # what one lift by itself would lead over
            axis = max(axes, key=lambda each: int(gain[each]))
            if not gain[axis]:
                return
            axes.remove(axis)
            node = _at(node, axis, self._highest(node, axis, asked))
            self.break_below(node)

    def _highest(self, node: Levels, axis: int, asked: Asked) -> int:
        """The highest level of an attribute at which a broken node is still so; the top is tried first."""
        low = node[axis]
        high = middle = self._shape[axis] - 1
        while low < high:
            if self.breaks(_at(node, axis, middle), asked):
                low = middle
            else:
                high = middle - 1
            middle = (low + high + 1) // 2
        return low

    def _axes(self, node: Levels) -> list[int]:
        return [axis for axis in self._free if node[axis] + 1 < self._shape[axis]]

    def _place(self, node: Levels) -> Levels:
        return tuple([node[axis] for axis in self._free])

    def _places(self, nodes: Rows) -> tuple[NDArray[np.intp], ...]:
        return tuple(nodes.T[self._free])

    def _nodes(self, places: NDArray[np.intp]) -> Rows:
        """The nodes at these places of the grid, counted from its first."""
        nodes = np.zeros((len(places), len(self._shape)), dtype=np.intp)
        nodes.T[self._free] = np.unravel_index(places, self._grid)
        return nodes

    def _down(self, node: Levels) -> tuple[slice, ...]:
        return tuple(slice(level + 1) for level in self._place(node))

    def _up(self, node: Levels) -> tuple[slice, ...]:
        return tuple(slice(level, None) for level in self._place(node))


class Field(Known):
    """The whole lattice. Broken are nodes at which too many records must go."""

    def __init__(self, shape: Shape, floors: Sequence[Floats]) -> None:
        super().__init__(shape)
        self._floor = self._outer(floors, self._grid)
        self._bound = self._floor.copy()  # below the loss of each open node; infinite where it is closed

    def open(self, node: Levels) -> bool:
        """May the node be the best?"""
        return self._least(node) < np.inf

    def next(self) -> Levels | None:
        """The open node with the smallest bound; of several, the first."""
        node: Levels = tuple(self._nodes(np.argmin(self._bound, keepdims=True).ravel())[0].tolist())
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
            way.append(min(ahead, key=self._least))

    def close(self, node: Levels) -> None:
        self._bound[self._place(node)] = np.inf

    def close_below(self, node: Levels) -> None:
        self._bound[self._down(node)] = np.inf

    def close_from(self, loss: float) -> None:
        """Close the nodes that lose at least so much."""
        self._bound[self._bound >= loss] = np.inf

    def raise_below(self, node: Levels, more: Sequence[Floats]) -> None:
        box = self._down(node)
        raised = self._floor[box] + self._outer(more, tuple(level + 1 for level in self._place(node)))
        np.maximum(self._bound[box], raised, out=self._bound[box])

    def raise_above(self, node: Levels, least: float) -> None:
        box = self._up(node)
        np.maximum(self._bound[box], least, out=self._bound[box])

    def climb_over_open(self, node: Levels, asked: Asked) -> None:
        """Climb as far as that tells of nodes that may be the best."""
        left = np.flatnonzero((self._bound < np.inf) & ~self._broken)
        self.climb(node, asked, self._nodes(left[:: len(left) // SOME + 1]))

    def _least(self, node: Levels) -> float:
        return float(self._bound[self._place(node)])

    def _outer(self, parts: Sequence[Floats], shape: Shape) -> Floats:
        """The sum of one number for each attribute, at every place."""
        total: Floats = np.zeros(())
        for axis, part in enumerate(parts):
            total = total[..., None] + part if axis in self._free else total + part[0]
        return np.ascontiguousarray(np.broadcast_to(total, shape)) if parts else np.zeros(shape)


def _at(node: Levels, axis: int, level: int) -> Levels:
    return (*node[:axis], level, *node[axis + 1 :])
