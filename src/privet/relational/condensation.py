"""Condensation: records are replaced by synthetic ones that share the statistics of groups of k.

Aggarwal and Yu, "A condensation approach to privacy preserving data mining", EDBT 2004. Of each group only
its size, sums and sums of products are kept; records are drawn anew, uniformly along the group's principal
axes, with the same mean and covariance. In a stream groups take what arrives and split when they hold 2k.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.core import Algorithm, Finding, Progress, Tally, Terms, silent
from privet.declared import settle
from privet.errors import PolicyError, UnsatisfiableError
from privet.models.construction import ByConstruction
from privet.recoding import Perturbation
from privet.relational.coded import refuse_coded
from privet.relational.mdav import Points, mdav, standardised
from privet.relational.numeric import points, scale_of, value
from privet.relational.perturb import checked
from privet.relational.randomness import generator


class Mode(Enum):
    """How groups come to be."""

    STATIC = "static"  # all records at once, groups of near ones
    STREAM = "stream"  # record by record; a group is split when it holds 2k


@dataclass(frozen=True, eq=False)
class Statistics:
    """All that is kept of a group; two of them can be added."""

    size: int
    sums: NDArray[np.float64]
    products: NDArray[np.float64]  # the sum of x_i * x_j

    @classmethod
    def of(cls, members: Points) -> Statistics:
        return cls(len(members), members.sum(axis=0), members.T @ members)

    @property
    def mean(self) -> NDArray[np.float64]:
        return self.sums / self.size

    @property
    def covariance(self) -> NDArray[np.float64]:
        return self.products / self.size - np.outer(self.mean, self.mean)

    def axes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The variances along the principal axes, ascending, and the axes as columns."""
        variances, vectors = np.linalg.eigh(self.covariance)
        return np.maximum(variances, 0.0), vectors  # rounding may leave a variance just below 0

    def with_(self, arrival: NDArray[np.float64]) -> Statistics:
        return Statistics(self.size + 1, self.sums + arrival, self.products + np.outer(arrival, arrival))

    def split(self) -> tuple[Statistics, Statistics]:
        """Two halves along the longest axis, as if records lay uniformly on it; they add up to the whole."""
        variances, vectors = self.axes()
        longest = vectors[:, -1]
        shift = np.sqrt(12 * variances[-1]) / 4 * longest
        variances[-1] /= 4
        covariance = vectors @ np.diag(variances) @ vectors.T
        if shift[np.argmax(np.abs(shift))] < 0:  # an axis has two directions; the lower half comes first
            shift = -shift
        halves = (self.size // 2, self.size - self.size // 2)
        low, high = (
            Statistics(size, size * mean, size * (covariance + np.outer(mean, mean)))
            for size, mean in zip(halves, (self.mean - shift, self.mean + shift), strict=True)
        )
        return low, high

    def draw(self, many: int, noise: float, rng: np.random.Generator) -> Points:
        """Synthetic records; `noise` widens them by a share of each axis' variance."""
        variances, vectors = self.axes()
        reach = np.sqrt(3 * variances * (1 + noise))
        return np.asarray(self.mean + (rng.uniform(-1, 1, (many, len(reach))) * reach) @ vectors.T)


def static_groups(places: Points, k: int) -> tuple[NDArray[np.int64], list[Statistics]]:
    """The group of each record and the statistics of each group."""
    group_of = mdav(standardised(places), k)
    order = np.argsort(group_of, kind="stable")
    edges = np.flatnonzero(np.diff(group_of[order])) + 1
    return group_of, [Statistics.of(places[rows]) for rows in np.split(order, edges)]


def stream_groups(places: Points, k: int) -> tuple[NDArray[np.int64], list[Statistics]]:
    """The same, where records arrive one by one and each joins the group with the nearest mean.

    After a split nobody knows who went where: only sums are kept. A record's group is the one it would
    join at the end, which is where its replacement is drawn from.
    """
    spread = np.where(places.std(axis=0) > 0, places.std(axis=0), 1.0)
    groups = [Statistics.of(places[:1])]
    means = np.array([groups[0].mean])
    for arrival in places[1:]:
        nearest = int(np.argmin(np.square((means - arrival) / spread).sum(axis=1)))
        grown = groups[nearest].with_(arrival)
        groups[nearest], means[nearest] = grown, grown.mean
        if grown.size == 2 * k:
            groups[nearest], other = grown.split()
            groups.append(other)
            means[nearest] = groups[nearest].mean
            means = np.vstack([means, other.mean])
    return _dealt(places / spread, means / spread, [group.size for group in groups]), groups


def _dealt(places: Points, means: Points, sizes: list[int]) -> NDArray[np.int64]:
    """Each record to the nearest mean that still has room: as many to each group as it counted."""
    room = np.array(sizes)
    group_of = np.empty(len(places), dtype=np.int64)
    for at, place in enumerate(places):
        gaps = np.where(room > 0, np.square(means - place).sum(axis=1), np.inf)
        nearest = int(np.argmin(gaps))
        group_of[at] = nearest
        room[nearest] -= 1
    return group_of


def condense(
    places: Points,
    k: int,
    *,
    rng: np.random.Generator,
    mode: Mode = Mode.STATIC,
    copies: int = 1,
    noise: float = 0.0,
) -> tuple[Points, int]:
    """Synthetic records in the order of those they replace, `copies` for each; and the smallest group."""
    group_of, groups = (static_groups if mode is Mode.STATIC else stream_groups)(places, k)
    made = np.empty((copies, *places.shape))
    for at, rows in _members(group_of, len(groups)):
        drawn = groups[at].draw(copies * len(rows), noise, rng)
        made[:, rows] = drawn.reshape(copies, len(rows), -1)
    return made.reshape(-1, places.shape[1]), min(group.size for group in groups)


def _members(group_of: NDArray[np.int64], groups: int) -> Iterator[tuple[int, NDArray[np.intp]]]:
    order = np.argsort(group_of, kind="stable")
    edges = np.searchsorted(group_of[order], np.arange(groups + 1))
    for at in range(groups):
        yield at, order[edges[at] : edges[at + 1]]


@dataclass(frozen=True, slots=True)
class Condensation(Algorithm):
    """Synthetic numbers drawn from the statistics of groups of k records; no record is anybody's own.

    `k` is the size of the groups; `mode` is "static" or "stream"; `noise` adds that share of variance;
    `alpha` is how many records are drawn for each. Every quasi-identifier must be a number. Other published
    columns keep their records' values, in each of the copies.
    """

    k: int
    mode: Mode = Mode.STATIC
    noise: Fraction = Fraction(0)
    alpha: int = 1

    name: ClassVar[str] = "condensation"
    why_records: ClassVar[str] = (
        "its groups are of the nearest records, and the nearest to a row are often those of the same person; "
        "give each person one row, or use mondrian"
    )
    spends: ClassVar[str | None] = ByConstruction.name

    def __post_init__(self) -> None:
        settle(self)
        if self.k < 2:
            raise PolicyError(f"k is at least 2: a group of one is that person; not {self.k}")
        if self.noise < 0:
            raise PolicyError(f"noise is a share of the variance, 0 or more, not {self.noise}")
        if self.alpha < 1:
            raise PolicyError(f"alpha is how many records are drawn for each, 1 or more, not {self.alpha}")

    def search(self, tally: Tally, policy: Terms, progress: Progress = silent) -> Finding:  # noqa: ARG002 - a search's form
        refuse_coded(self.name, tally)
        if tally.records < self.k:
            raise UnsatisfiableError(f"there are {tally.records} records, which is fewer than k = {self.k}")
        rng = generator()
        places = np.repeat(points(tally, self.name), tally.counts, axis=0)
        # A stream's groups depend on the order, and cells stand in the order of their values.
        order = rng.permutation(len(places)) if self.mode is Mode.STREAM else np.arange(len(places))
        drawn, smallest = condense(
            places[order], self.k, rng=rng, mode=self.mode, copies=self.alpha, noise=float(self.noise)
        )
        made = np.empty((self.alpha, *places.shape))
        made[:, order] = drawn.reshape(made.shape)
        made = made.reshape(drawn.shape)
        labels, positions = {}, {}
        for at, column in enumerate(tally.quasi):
            distinct, of_record = np.unique(made[:, at], return_inverse=True)
            labels[column.name] = tuple(value(scale_of(column), float(number)) for number in distinct)
            positions[column.name] = of_record
        recoding = Perturbation(labels, positions, copies=self.alpha)
        return checked(tally, policy, recoding, {"smallest group": smallest})
