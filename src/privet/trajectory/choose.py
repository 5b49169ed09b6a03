"""The lightest way: coarser places, coarser times and removals, global or local, whichever loses least.

Every combination of levels is tried with every way of removing; all are held against the patterns of the raw
data. Of equals the one that was tried first wins: finer before coarser, global before local.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from itertools import product
from typing import ClassVar, TypeAlias

from privet.core import Hierarchy, Progress, silent
from privet.errors import PolicyError
from privet.models.linkage import Linkage
from privet.trajectory.claims import Proof
from privet.trajectory.coarse import Level, grid_levels, slot_levels, zone_levels
from privet.trajectory.frequent import frequent, threshold
from privet.trajectory.grid import Grid
from privet.trajectory.local import LocalThinning, SuppressLocally
from privet.trajectory.loss import Loss, Losses, losses
from privet.trajectory.paths import Paths
from privet.trajectory.proof import prove
from privet.trajectory.recode import PathRecoding
from privet.trajectory.sequences import Sequences
from privet.trajectory.slots import Slot
from privet.trajectory.suppress import PointScore, Suppress, Thinning
from privet.trajectory.violations import feasible

Found: TypeAlias = Thinning | LocalThinning
MOST = 64  # combinations; more levels are a sweep, not a search


class Way(Enum):
    """From whom a point is taken."""

    GLOBAL = "global"  # from everybody: support of what survives stays true
    LOCAL = "local"  # from those to whom it does harm: support may shrink


@dataclass(frozen=True, slots=True)
class Trial:
    """One combination, and what it costs."""

    way: Way
    place: str  # the name of a level
    time: str
    removed: int  # points
    losses: Losses


@dataclass(frozen=True, eq=False)
class Choice:
    """The lightest of all trials."""

    recoding: PathRecoding
    trial: Trial
    trials: tuple[Trial, ...]  # all, in the order in which they were made
    found: Found  # the search that won, on paths that were made coarser first
    patterns: Sequences = field(repr=False)  # of the raw data
    proof: Proof = field(repr=False)
    levels: tuple[Level, Level] = field(repr=False)  # of places and times, those that won


@dataclass(frozen=True, slots=True)
class Lightest:
    """Try levels and ways, take the one that loses least."""

    at_least: int | Fraction
    score: PointScore = PointScore.GAIN_PER_LOSS
    loss: Loss = Loss.PATTERNS
    ways: tuple[Way, ...] = (Way.GLOBAL, Way.LOCAL)
    zones: Hierarchy | None = None  # of places
    grids: tuple[Grid, ...] = ()  # coarser ones, where places are cells
    slots: tuple[Slot, ...] = ()  # longer ones

    name: ClassVar[str] = "lightest"

    def __post_init__(self) -> None:
        threshold(self.at_least, 1)  # refuses what is not a support
        if not self.ways:
            raise PolicyError("ways: name global, local or both")
        if self.zones is not None and self.grids:
            raise PolicyError("zones and grids: places are stops with zones, or cells of a grid, not both")

    def search(
        self, paths: Paths, promise: Linkage | Sequence[Linkage], progress: Progress = silent
    ) -> Choice:
        promises = (promise,) if isinstance(promise, Linkage) else tuple(promise)
        feasible(paths, promises)
        places, times = self.levels(paths)
        combinations = list(product(places, times, self.ways))
        if len(combinations) > MOST:
            raise PolicyError(
                f"{len(combinations)} combinations of levels and ways; at most {MOST} are tried, name fewer"
            )
        progress("patterns", 0)
        patterns = frequent(paths, self.at_least)
        least = threshold(self.at_least, paths.records)
        trials: list[Trial] = []
        best: tuple[Trial, PathRecoding, Found, tuple[Level, Level]] | None = None
        for place, time, way in combinations:
            progress("suppress", len(trials), len(combinations))
            recoding, found = self.tried(paths, promises, place, time, way)
            cost = losses(paths, recoding, (place, time), patterns, least)
            trials.append(Trial(way, place.name, time.name, len(found.removals), cost))
            if best is None or cost.by(self.loss) < best[0].losses.by(self.loss):
                best = trials[-1], recoding, found, (place, time)
        assert best is not None  # there is at least one combination
        trial, recoding, found, levels = best
        proof = (
            found.proof
            if isinstance(found, LocalThinning)
            else prove(recoding.applied(paths).paths(paths), promises)
        )
        return Choice(recoding, trial, tuple(trials), found, patterns, proof, levels)

    def levels(self, paths: Paths) -> tuple[tuple[Level, ...], tuple[Level, ...]]:
        """Those of places, and those of times."""
        places, times = paths.points.places, paths.points.times
        if self.zones is not None:
            return zone_levels(self.zones, places), slot_levels(self.slots, times)
        return grid_levels(self.grids, places), slot_levels(self.slots, times)

    def tried(
        self, paths: Paths, promises: Sequence[Linkage], place: Level, time: Level, way: Way
    ) -> tuple[PathRecoding, Found]:
        first = PathRecoding(dict(place.of), dict(time.of))
        coarse = first.applied(paths).paths(paths)
        if way is Way.GLOBAL:
            thinned = Suppress(self.at_least, self.score).search(coarse, promises)
            return thinned.suppression.recoding.after(place.of, time.of), thinned
        local = SuppressLocally(self.at_least, self.score).search(coarse, promises)
        return local.recoding.after(place.of, time.of), local
