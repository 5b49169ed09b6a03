"""Paths from which visits are taken one by one, with a quick answer to who still has a set of points."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from privet.trajectory.paths import Ints, Paths


def common(lists: Sequence[Ints]) -> Ints:
    """The numbers that are in all of several rising lists."""
    found, *others = sorted(lists, key=len)
    for other in others:
        if not len(found):
            break
        at = np.searchsorted(other, found)
        found = found[other[np.minimum(at, len(other) - 1)] == found]
    return found


class Living:
    """The visits of a tally that are still there."""

    def __init__(self, paths: Paths, there: NDArray[np.bool_] | None = None) -> None:
        self._paths = paths
        self.there = np.ones(len(paths.visits), dtype=bool) if there is None else there.copy()

    @cached_property
    def _places(self) -> tuple[Ints, Ints]:
        """The places of visits, point by point; and where each point's begin."""
        counts = np.bincount(self._paths.visits, minlength=len(self._paths.points))
        return np.argsort(self._paths.visits, kind="stable"), np.concatenate(([0], np.cumsum(counts)))

    def _of(self, point: int) -> Ints:
        """The places of a point's visits that are still there, in the order of cells."""
        order, begin = self._places
        every: Ints = order[begin[point] : begin[point + 1]]
        left: Ints = every[self.there[every]]
        return left

    def holding(self, points: Sequence[int]) -> Ints:
        """The cells that still have all of these points."""
        return common([self._paths.owner[self._of(point)] for point in points])

    def remove(self, point: int, cells: Ints | None = None) -> int:
        """Take a point out of these cells, which have it, or out of all; how many records lose it."""
        places = self._of(point)
        if cells is not None:
            places = places[np.searchsorted(self._paths.owner[places], cells)]
        self.there[places] = False
        return int(self._paths.counts[self._paths.owner[places]].sum())

    def left(self, cells: Ints | None = None, but: int = -1) -> Paths:
        """The tally of what is left, of all cells or of these, with one point more left out."""
        left = self._paths.keeping(self.there) if cells is None else self._paths.only(cells, self.there)
        return left if but < 0 else left.keeping(left.visits != but)
