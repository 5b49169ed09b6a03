"""Bands that hold whatever the true distribution looks like: everything that the answers do not rule out.

An estimate is smooth because its iteration stops early, and bands around it suppose that the truth is smooth
too. Here nothing is supposed but that values are even within a small part of a bin. The band of a bin reaches
from the smallest to the largest share that it has in any distribution under which the answers are nearly as
likely as they can be: a profile likelihood, cut at the chi-square quantile of one degree of freedom (Wilks
1938; for problems with hidden detail Stark, "Inference in infinite-dimensional inverse problems", 1992).
Where the noise hides what stands in single bins such a band is wide; beside its share it is narrower where
bins are fewer.

Each end is a convex problem, solved by an interior-point method; what that may still be off is added.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from privet.collect.matrix import Binned, Floats, Method, binned
from privet.core import Progress, silent
from privet.errors import UnsupportedError

MOST = 100  # bins
PARTS = 60  # into which the domain is cut at least: within each, values are taken to be even
ROWS = 6  # groups of answers for each part; coarser ones lose little, and suppose nothing
FIRST, LAST, FALL = 1e-2, 4e-6, 8.0  # weight of the barrier: where it begins, where it ends, and its steps
INNER = 40  # Newton steps for each weight, at most


def refuse_many(bins: int) -> None:
    if bins > MOST:
        raise UnsupportedError(
            f"bands for any shape are for up to {MOST} bins, not {bins}: take fewer bins, or smooth bands"
        )


def any_shape(
    shaped: Binned, counts: Any, confidence: float, progress: Progress = silent
) -> tuple[Floats, Floats]:
    """The lowest and the highest share of every bin; `counts` are of outputs."""
    bins = shaped.bins
    values = shaped.column.channel.inputs
    parts = binned(shaped.column, min(values, bins * max(1, -(-PARTS // bins))), Method.EM)
    of = np.searchsorted(shaped.edges, parts.edges[:-1], side="right") - 1
    problem = Answers.of(parts, parts.counted(np.asarray(counts)))
    best = problem.likeliest()
    slack = NormalDist().inv_cdf((1 + confidence) / 2) ** 2 / 2
    floor = problem.fit(best) - slack
    begun = problem.inside(best, floor)
    low, high = np.zeros(bins), np.zeros(bins)
    for at in range(bins):
        inside = (of == at).astype(np.float64)
        high[at] = inside @ problem.farthest(inside, floor, begun) + problem.off
        low[at] = inside @ problem.farthest(-inside, floor, begun) - problem.off
        progress("measure", at + 1, bins)
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Aim:
    """Where to: as likely as can be, or in a direction as long as the fit stays above a floor."""

    towards: Floats | None = None
    floor: float = 0.0
    weight: float = FIRST  # of the barrier


class Answers:
    """How likely answers are under a distribution over parts, and how far a share can go."""

    def __init__(self, matrix: Floats, seen: Floats) -> None:
        self._matrix, self._seen = matrix, seen
        self._parts = matrix.shape[1]
        # A centre is this far from the end of the path at most: so much for each of the constraints.
        self.off = LAST * (self._parts + 1)

    @classmethod
    def of(cls, parts: Binned, seen: Floats) -> Answers:
        explained = parts.matrix.sum(axis=1) > 0
        matrix, seen = parts.matrix[explained], seen[explained]
        starts = np.linspace(0, len(matrix), min(len(matrix), ROWS * parts.bins) + 1).astype(np.int64)[:-1]
        matrix, seen = np.add.reduceat(matrix, starts, axis=0), np.add.reduceat(seen, starts)
        there = seen > 0  # what nobody answered is in no likelihood
        return cls(matrix[there], seen[there])

    def fit(self, shares: Floats) -> float:
        """The logarithm of how likely the answers are."""
        return float(self._seen @ np.log(self._matrix @ shares))

    def likeliest(self) -> Floats:
        return self._followed(np.full(self._parts, 1 / self._parts), Aim())

    def inside(self, best: Floats, floor: float) -> Floats:
        """A distribution near the likeliest that has no share of 0 and is well above the floor."""
        evenly, weight, wanted = np.full(self._parts, 1 / self._parts), 0.1, (self.fit(best) + floor) / 2
        while self.fit((1 - weight) * best + weight * evenly) < wanted:
            weight /= 2
        return np.asarray((1 - weight) * best + weight * evenly)

    def farthest(self, towards: Floats, floor: float, begun: Floats) -> Floats:
        """The distribution whose shares go farthest in a direction and under which the fit stays above."""
        return self._followed(begun, Aim(towards, floor))

    def _followed(self, shares: Floats, aim: Aim) -> Floats:
        """The central path: Newton's steps for ever smaller weights of the barrier."""
        while True:
            for _ in range(INNER):
                step, gain = self._step(shares, aim)
                if gain < 1e-3 * aim.weight:
                    break
                shares = self._moved(shares, step, gain, aim)
            if aim.weight <= LAST:
                return shares
            aim = replace(aim, weight=max(aim.weight / FALL, LAST))

    def _value(self, shares: Floats, aim: Aim) -> float:
        fit = self.fit(shares)
        barrier = aim.weight * float(np.log(shares).sum())
        if aim.towards is None:
            return fit / float(self._seen.sum()) + barrier
        if fit <= aim.floor:
            return -np.inf
        return float(aim.towards @ shares) + aim.weight * float(np.log(fit - aim.floor)) + barrier

    def _step(self, shares: Floats, aim: Aim) -> tuple[Floats, float]:
        """Newton's step that keeps the sum, and what it promises."""
        likely = self._matrix @ shares
        slope = self._matrix.T @ (self._seen / likely)
        bent = -(self._matrix.T * (self._seen / likely**2)) @ self._matrix
        if aim.towards is None:
            many = float(self._seen.sum())
            slope, bent = slope / many, bent / many
        else:
            room = self.fit(shares) - aim.floor
            bent = aim.weight * (bent / room - np.outer(slope, slope) / room**2)
            slope = aim.towards + aim.weight * slope / room
        slope = slope + aim.weight / shares
        bent[np.diag_indices(self._parts)] -= aim.weight / shares**2
        solved = np.linalg.solve(bent, np.stack([slope, np.ones(self._parts)], axis=1))
        step = -solved[:, 0] + solved[:, 1] * (solved[:, 0].sum() / solved[:, 1].sum())
        return step, float(slope @ step)

    def _moved(self, shares: Floats, step: Floats, gain: float, aim: Aim) -> Floats:
        """As far along a step as it is worth it, and never to a share of 0."""
        falling = step < 0
        length = min(1.0, 0.95 * float((-shares[falling] / step[falling]).min())) if falling.any() else 1.0
        now = self._value(shares, aim)
        while length > 1e-12:
            fresh = shares + length * step
            if self._value(fresh, aim) >= now + 0.1 * length * gain:
                return np.asarray(fresh)
            length /= 2
        return shares
