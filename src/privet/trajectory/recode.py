"""What may be done to paths before they leave, as a pure description: coarser places and times, removals.

A removal is global (a point goes from every path) or local (it goes from the paths that also have the rest
of a context). Local removals are told apart by what a path says, never by whose it is: the same
description does the same to the same paths, whoever applies it, in a column or in rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.trajectory.living import Living
from privet.trajectory.paths import Paths, PointCodes, Points, not_rising

Pair: TypeAlias = tuple[str, str]  # place and time


@dataclass(frozen=True, slots=True)
class Removed:
    """This pair is gone from every path that had all of the context too; an empty one: from every path."""

    pair: Pair = field(repr=False)
    context: tuple[Pair, ...] = field(default=(), repr=False)

    @property
    def everywhere(self) -> bool:
        return not self.context


@dataclass(frozen=True)
class PathRecoding:
    """First places and times become coarser, then visits are removed, in this order."""

    places: Mapping[str, str] = field(default_factory=dict, repr=False)  # others stay as they are
    times: Mapping[str, str] = field(default_factory=dict, repr=False)
    removed: tuple[Removed, ...] = ()

    def applied(self, paths: Paths) -> Changed:
        """What becomes of every visit."""
        changed = self._coarsened(paths)
        if not self.removed:
            return changed
        coarse = changed.paths(paths)
        living, codes = Living(coarse), coarse.points.codes
        for everywhere, run in groupby(self.removed, key=lambda one: one.everywhere):
            if everywhere:
                gone = np.zeros(len(coarse.points), dtype=bool)
                gone[[codes[one.pair] for one in run if one.pair in codes]] = True
                living.there &= ~gone[coarse.visits]
                continue
            for one in run:
                known = {one.pair, *one.context}
                if known <= codes.keys():
                    cells = living.holding([codes[pair] for pair in known])
                    living.remove(codes[one.pair], cells)
        kept = changed.kept.copy()
        kept[kept] = living.there
        return replace(changed, kept=kept)

    def _coarsened(self, paths: Paths) -> Changed:
        """Of several visits in one slot the first is kept: a person is at one place at a time."""
        coarse, becomes = self.image(paths.points)
        if coarse is paths.points:
            return Changed(coarse, np.ones(len(paths.visits), dtype=bool), paths.visits)
        visits = becomes[paths.visits]
        return Changed(coarse, ~not_rising(coarse.time[visits], paths.starts), visits)

    def image(self, points: Points) -> tuple[Points, PointCodes]:
        """The coarser points, and which of them stands for each."""
        places = [self.places.get(place, place) for place in points.places]
        times = [self.times.get(when, when) for when in points.times]
        if (*places,) == points.places and (*times,) == points.times:
            return points, np.arange(len(points), dtype=np.int32)
        pairs = [
            (places[at], times[when])
            for at, when in zip(points.place.tolist(), points.time.tolist(), strict=True)
        ]
        distinct = sorted(set(pairs))
        coarse = Points.of([place for place, _ in distinct], [when for _, when in distinct])
        return coarse, np.array([coarse.codes[pair] for pair in pairs], dtype=np.int32)

    def after(self, places: Mapping[str, str], times: Mapping[str, str]) -> PathRecoding:
        """The same removals, of paths that were made coarser first."""
        return replace(self, places=dict(places), times=dict(times))


def everywhere(pairs: Iterable[Pair]) -> PathRecoding:
    """Global suppression as a recoding."""
    return PathRecoding(removed=tuple(Removed(pair) for pair in pairs))


@dataclass(frozen=True, eq=False)
class Changed:
    """What became of the visits of a tally."""

    points: Points = field(repr=False)
    kept: NDArray[np.bool_] = field(repr=False)  # of each visit: is it still there?
    point: PointCodes = field(repr=False)  # of each visit: the point that stands for it

    def paths(self, before: Paths) -> Paths:
        """The tally after the change, cell by cell that of before."""
        return replace(
            before,
            points=self.points,
            visits=self.point[self.kept],
            starts=np.concatenate(([0], np.cumsum(self.kept)))[before.starts].astype(np.int64),
        )
