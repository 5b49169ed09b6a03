"""The searches over paths as a policy names them, and what every one of them returns.

Each takes the tally of paths and the policy, as the searches over tables do, and hands the work to
`suppress`, `local` or `choose`. `support` says from when on a route is worth keeping: it costs privacy
nothing, so it may have a default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar, TypeAlias

from privet.core import Progress, Terms, silent
from privet.declared import AlgorithmFacts, settle
from privet.errors import PolicyError, UnsupportedError
from privet.models.linkage import Linkage, LinkageModel
from privet.trajectory.choose import Lightest, Trial, Way
from privet.trajectory.claims import Proof
from privet.trajectory.coarse import Level
from privet.trajectory.grid import Grid
from privet.trajectory.local import LocalThinning, SuppressLocally
from privet.trajectory.loss import Loss
from privet.trajectory.paths import Paths
from privet.trajectory.recode import PathRecoding
from privet.trajectory.sequences import Sequences
from privet.trajectory.slots import Slot
from privet.trajectory.suppress import Cover, PointScore, Suppress, Thinning

Thinned: TypeAlias = Thinning | LocalThinning
AS_IT_IS = "as it is"


@dataclass(frozen=True, eq=False)
class PathFinding:
    """What a search over paths returns: the recoding, and how it was reached."""

    recoding: PathRecoding
    thinned: Thinned  # on paths that were made coarser first, where they were
    patterns: Sequences = field(repr=False)  # of the raw data
    proof: Proof | None = field(default=None, repr=False)
    trials: tuple[Trial, ...] = ()
    trial: Trial | None = None  # the one that won
    grid: Grid | None = None  # of the release, where it is coarser than that of the data
    levels: tuple[Level, Level] | None = field(default=None, repr=False)  # of places and times, where tried

    @property
    def place(self) -> str:
        """The level of places."""
        return AS_IT_IS if self.trial is None else self.trial.place

    @property
    def time(self) -> str:
        """The level of times."""
        return AS_IT_IS if self.trial is None else self.trial.time

    @property
    def everywhere(self) -> bool:
        """Was every point that was removed removed from every path?"""
        return isinstance(self.thinned, Thinning)


def promises_of(policy: Terms) -> tuple[Linkage, ...]:
    """What the policy promises about paths."""
    odd = [model.name for model in policy.models if not isinstance(model, LinkageModel)]
    if odd:
        raise UnsupportedError(*(f"{name} promises nothing about paths" for name in odd))
    return tuple(model.linkage() for model in policy.models if isinstance(model, LinkageModel))


def at_least(support: Fraction) -> int | Fraction:
    """Records from 1 on, a share below.

    >>> at_least(Fraction(50)), at_least(Fraction(1, 100))
    (50, Fraction(1, 100))
    """
    if support <= 0 or (support > 1 and support.denominator != 1):
        raise PolicyError(
            "support: is a whole number of records from 1 on, or a share above 0 and below 1 in quotes, "
            f'such as "1/100" or "1%", not {support}'
        )
    return int(support) if support.denominator == 1 else support


class PathSearch(AlgorithmFacts):
    """What every search over paths declares."""

    __slots__ = ()

    name: ClassVar[str] = "a search over paths"
    kinds: ClassVar[tuple[str, ...]] = ("trajectories",)
    proves: ClassVar[bool] = False  # does its result carry a proof?

    @property
    def worth(self) -> Fraction:
        """From when on a sequence is worth keeping: records, or a share of them."""
        return Fraction(1, 100)

    @property
    def scored(self) -> PointScore | None:
        """What made a point the next to go, where that is known."""
        return None

    @property
    def covering(self) -> Cover:
        """How violating sequences are chosen from, where there is a choice."""
        return Cover.GREEDY

    @property
    def cells(self) -> tuple[int, ...]:
        """The sizes of cells to try, in metres."""
        return ()

    @staticmethod
    def of(policy: Terms) -> PathSearch:
        """The policy's search; for one that is no `PathSearch`, what most of them declare."""
        search: object = policy.algorithm
        return search if isinstance(search, PathSearch) else PathSearch()


@dataclass(frozen=True, slots=True)
class _Scored(PathSearch):
    """What all searches have in common that take out the best point by score, again and again."""

    support: Fraction = Fraction(1, 100)  # from when on a sequence is worth keeping
    score: PointScore = PointScore.GAIN_PER_LOSS

    def __post_init__(self) -> None:
        settle(self)
        at_least(self.support)

    @property
    def worth(self) -> Fraction:
        return self.support

    @property
    def scored(self) -> PointScore:
        return self.score


@dataclass(frozen=True, slots=True)
class SuppressPoints(_Scored):
    """Take points out of every path, the best by score first, until no violating sequence is left.

    What survives keeps its true support.
    """

    cover: Cover = Cover.GREEDY

    name: ClassVar[str] = "suppress-points"

    @property
    def covering(self) -> Cover:
        return self.cover

    def search(self, paths: Paths, policy: Terms, progress: Progress = silent) -> PathFinding:
        plan = Suppress(at_least(self.support), self.score, self.cover)
        found = plan.search(paths, promises_of(policy), progress)
        return PathFinding(found.suppression.recoding, found, found.patterns)


@dataclass(frozen=True, slots=True)
class SuppressPointsLocally(_Scored):
    """Take points out of the paths in which they violate, and leave them in the others.

    More routes survive, some with less support than they had. The result carries its proof.
    """

    name: ClassVar[str] = "suppress-points-locally"
    proves: ClassVar[bool] = True

    def search(self, paths: Paths, policy: Terms, progress: Progress = silent) -> PathFinding:
        found = SuppressLocally(at_least(self.support), self.score).search(
            paths, promises_of(policy), progress
        )
        return PathFinding(found.recoding, found, found.patterns, found.proof)


@dataclass(frozen=True, slots=True)
class LightestPaths(_Scored):
    """Try coarser places and longer slots with both ways of removing, and take what loses least.

    `slots` and `grids` name levels to try; the zones of places stand in the policy's [trajectories].
    """

    loss: Loss = Loss.PATTERNS
    ways: tuple[Way, ...] = (Way.GLOBAL, Way.LOCAL)
    slots: tuple[str, ...] = ()
    grids: tuple[int, ...] = ()  # metres

    name: ClassVar[str] = "lightest"
    proves: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle(self)
        self.plan(None)

    @property
    def cells(self) -> tuple[int, ...]:
        return self.grids

    def plan(self, policy: Terms | None) -> Lightest:
        """The search that this asks for."""
        return Lightest(
            at_least(self.support),
            self.score,
            self.loss,
            self.ways,
            None if policy is None or policy.shape is None else policy.shape.zones,
            tuple(Grid(metres) for metres in self.grids),
            tuple(Slot.parse(slot) for slot in self.slots),
        )

    def search(self, paths: Paths, policy: Terms, progress: Progress = silent) -> PathFinding:
        plan = self.plan(policy)
        found = plan.search(paths, promises_of(policy), progress)
        return PathFinding(
            found.recoding,
            found.found,
            found.patterns,
            found.proof,
            found.trials,
            found.trial,
            _coarser(plan.grids, found.trial.place),
            found.levels,
        )


def _coarser(grids: Sequence[Grid], level: str) -> Grid | None:
    return next((grid for grid in grids if level == f"cells of {grid.metres} m"), None)
