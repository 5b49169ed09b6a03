"""The iteration that turns perturbed counts into an estimate of the true distribution, and when it stops.

Each step gives every observation to the bins in proportion to how well they explain it (Bayes' rule), and
the new estimate is what the bins have received. Agrawal and Srikant, "Privacy-preserving data mining",
SIGMOD 2000; Agrawal and Aggarwal, "On the design and quantification of privacy preserving data mining
algorithms", PODS 2001, who show that it is expectation maximisation if the channel is averaged over each
bin.

Stopping matters. The estimate first approaches the true distribution and then begins to fit the noise.
Changing little (`tolerance`) says nothing about that. `cross-validation` does: the observations are split
into folds, the iteration runs on all but one, and it stops where it predicts the one left out best.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from statistics import NormalDist

import numpy as np

from privet.collect.matrix import Floats
from privet.core import Progress, silent
from privet.errors import InputError, InternalError

FOLDS = 5
MOST = 2_000  # iterations
TOLERANCE = 1e-4
PATIENCE = 1.3  # how far beyond the best iteration is looked before it is believed to be the best
MARGIN = 1.0  # of held-out log-likelihood: the earliest iteration that is as good as the best


class Rule(Enum):
    """When to stop."""

    CROSS_VALIDATION = "cross-validation"
    TOLERANCE = "tolerance"  # when probabilities change by less than that on average
    CHI_SQUARE = "chi-square"  # when a chi-square test cannot tell two estimates in a row apart
    NEVER = "never"  # after so many iterations


@dataclass(frozen=True, slots=True)
class Stop:
    """A rule, its tolerance if it has one, and the most iterations."""

    rule: Rule = Rule.CROSS_VALIDATION
    tolerance: float = TOLERANCE
    most: int = MOST


@dataclass(frozen=True, slots=True)
class Step:
    """One iteration: how much it changed, how well it fits, and how well it predicts what was held out."""

    change: float
    fit: float  # mean log-likelihood of an observation
    held_out: float | None = None


@dataclass(frozen=True)
class Fit:
    """An estimate and the way to it."""

    shares: Floats
    iterations: int
    stopped: str
    observations: int
    dropped: int  # which no bin explains
    steps: tuple[Step, ...]  # also those beyond the one that was chosen


def iterate(
    matrix: Floats,
    counts: Floats,
    stop: Stop | None = None,
    *,
    start: Floats | None = None,
    progress: Progress = silent,
) -> Fit:
    """The distribution over the columns of `matrix` that explains counts of its rows.

    It begins with `start`, all columns alike unless said: what the noise has hidden stays as it began.

    >>> likelihoods = np.array([[0.5, 0], [0.5, 0], [0.5, 0.5], [0, 0.5]])
    >>> stop = Stop(Rule.NEVER, most=2)
    >>> iterate(likelihoods, np.ones(4), stop).shares.tolist()
    [0.65625, 0.34375]
    """
    stop = stop or Stop()
    told = counts > 0
    explained = told & (matrix.sum(axis=1) > 0)
    observations, dropped = int(counts.sum()), int(counts[told & ~explained].sum())
    if observations == dropped:
        raise InputError("no answer can be explained by this plan" if dropped else "there are no answers")
    begun = np.full(matrix.shape[1], 1 / matrix.shape[1]) if start is None else start
    rows, seen = matrix[explained], counts[explained].astype(np.float64)
    if stop.rule is Rule.CROSS_VALIDATION and seen.sum() >= FOLDS:
        shares, iterations, stopped, steps = _validated(rows, seen, stop, begun, progress)
    else:
        shares, iterations, stopped, steps = _plain(rows, seen, stop, begun, progress)
    return Fit(shares, iterations, stopped, observations, dropped, tuple(steps))


def advanced(rows: Floats, seen: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """One step, for one estimate or for several side by side; and what the old one predicted."""
    predicted = rows @ shares
    pulled = np.divide(seen, predicted, out=np.zeros_like(predicted), where=predicted > 0)
    return shares * (rows.T @ pulled) / seen.sum(axis=0), predicted


def _fit(seen: Floats, predicted: Floats) -> float:
    return float(seen @ np.log(predicted)) / float(seen.sum())


def _plain(
    rows: Floats, seen: Floats, stop: Stop, begun: Floats, progress: Progress
) -> tuple[Floats, int, str, list[Step]]:
    shares, steps = begun.copy(), list[Step]()
    proper = bool(np.all(rows.sum(axis=0) <= 1 + 1e-9))
    while len(steps) < stop.most:
        fresh, predicted = advanced(rows, seen, shares)
        change = float(np.abs(fresh - shares).mean())
        fit = _fit(seen, predicted)
        if proper and steps and fit < steps[-1].fit - 1e-9 * abs(fit):
            raise InternalError("collect: the likelihood of an estimate has fallen")
        steps.append(Step(change, fit))
        progress("search", len(steps), stop.most)
        old, shares = shares, fresh
        if stop.rule is Rule.TOLERANCE and change < stop.tolerance:
            return shares, len(steps), f"changed by less than {stop.tolerance:g}", steps
        if stop.rule is Rule.CHI_SQUARE and _alike(fresh, old, float(seen.sum())):
            return shares, len(steps), "a chi-square test cannot tell two estimates in a row apart", steps
    return shares, len(steps), f"after {stop.most:,} iterations", steps


def _alike(fresh: Floats, old: Floats, observations: float) -> bool:
    """A chi-square test at 5 %."""
    there = old > 0
    distance = observations * float(((fresh - old)[there] ** 2 / old[there]).sum())
    return distance <= chi_square(max(int(there.sum()) - 1, 1), 0.95)


def chi_square(free: int, share: float) -> float:
    """The quantile of a chi-square with so many degrees of freedom, by Wilson and Hilferty.

    >>> round(chi_square(10, 0.95), 1)
    18.3
    """
    part = 2 / (9 * free)
    return float(free * (1 - part + NormalDist().inv_cdf(share) * math.sqrt(part)) ** 3)


def _validated(
    rows: Floats, seen: Floats, stop: Stop, begun: Floats, progress: Progress
) -> tuple[Floats, int, str, list[Step]]:
    """All observations and every fold's share of them side by side, until held-out ones are told worse."""
    held = folds(seen)
    every = np.column_stack((seen, seen[:, None] - held))  # the first estimate sees everything
    shares = np.repeat(begun[:, None], FOLDS + 1, axis=1)
    steps, path = list[Step](), list[Floats]()
    best, at = -math.inf, 0
    total = float(seen.sum())
    while True:
        path.append(shares[:, 0].copy())
        fresh, predicted = advanced(rows, every, shares)
        with np.errstate(divide="ignore"):
            logs = np.log(predicted[:, 1:])
        told = float(np.where(held > 0, held * np.where(held > 0, logs, 0.0), 0.0).sum())
        change = float(np.abs(fresh[:, 0] - shares[:, 0]).mean())
        steps.append(Step(change, _fit(seen, predicted[:, 0]), told / total))
        progress("search", len(steps), stop.most)
        if told > best + 1e-9 * abs(best if math.isfinite(best) else 0.0):
            best, at = told, len(steps) - 1
        if len(steps) > stop.most or len(steps) - 1 > PATIENCE * at + 20 or change < 1e-12:
            break
        shares = fresh
    # Log-likelihoods a unit apart are hardly told apart by the data: the smoother estimate is taken.
    enough = (best - MARGIN) / total
    chosen = next(n for n, step in enumerate(steps) if (step.held_out or 0.0) >= enough)
    ended = "after the most iterations" if at >= stop.most else "held-out answers are predicted best"
    return path[chosen], chosen, ended, steps


def folds(seen: Floats) -> Floats:
    """Observations dealt to folds at random; the same ones for the same counts, so that estimates repeat."""
    chance = np.random.default_rng(int(seen.sum()) % 2**32)
    rest = np.round(seen).astype(np.int64)
    dealt = np.zeros((len(seen), FOLDS))
    for fold in range(FOLDS - 1):
        dealt[:, fold] = chance.binomial(rest, 1 / (FOLDS - fold))
        rest = rest - dealt[:, fold].astype(np.int64)
    dealt[:, -1] = rest
    return dealt
