"""The distribution of one question's true answers, estimated from the perturbed ones, with its uncertainty.

Numbers go through the iteration of `iterate`. For a category the share of answers that indicate a value, by
naming it or by its bit, is a straight line in the true share: it is corrected for its noise, and the result
is moved to the nearest distribution (norm-sub; Wang et al., "Consistent and accurate frequency oracles
under local differential privacy", 2020).

Bands of numbers are made by repetition: answers are drawn from an estimate and estimated again, and the
errors that this makes, on average and in spread, are what the band allows for. Bands hold each bin by
itself. Detail that the noise has hidden altogether is in no estimate and in none of these bands: they suppose
that shares change slowly from bin to bin. How often they hold was measured on a dozen shapes (two mends came
from looking at these, and since then they are a quarter wider, `WIDER`), and every output says what they
suppose (`HOLDS`). Bands that suppose nothing of the kind are in `anyshape`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from statistics import NormalDist
from typing import Any

import numpy as np

from privet.collect.anyshape import any_shape, refuse_many
from privet.collect.channels import Additive, AsIs, Unary, telling
from privet.collect.column import Column
from privet.collect.iterate import MOST, Fit, Rule, Stop, advanced, iterate
from privet.collect.matrix import Binned, Floats, Method, binned
from privet.core import Progress, silent
from privet.errors import InputError


class Bands(Enum):
    """What bands of numbers suppose of the true shares; those of categories suppose nothing."""

    SMOOTH = "smooth"  # that they change slowly from bin to bin
    ANY_SHAPE = "any-shape"  # nothing, and they are as wide as that makes them


HOLDS = {
    Bands.SMOOTH: (
        "each bin by itself, if shares change slowly; measured, 95 % bands hold 84 of 100 true shares beside "
        "a sharp step and 75 where peaks are much narrower than the noise; any-shape bands suppose no shape"
    ),
    Bands.ANY_SHAPE: "each bin by itself, whatever the shape of the true shares",
}
REPEATS = 100  # of an estimate, for its bands
FEWEST = 30
WORK = 1e10  # additions and multiplications that bands may cost
WIDER = 1.25  # than repetition says: the smoothing of the rougher estimate is not in what is repeated
ROUGHER = 8  # times as many iterations as the estimate itself


@dataclass(frozen=True)
class Estimate:
    """Shares of the true answers by bin. `low` and `high` hold each share with the stated confidence."""

    column: Column
    labels: tuple[str, ...]
    shares: Floats
    low: Floats | None
    high: Floats | None
    confidence: float
    records: int
    method: str
    fit: Fit | None = None
    binned: Binned | None = None
    bands: Bands | None = None  # of numbers: what they suppose
    perturbed: Floats | None = None  # what the perturbed answers would say if they were taken for true

    @property
    def mean(self) -> float | None:
        """Of a column of numbers."""
        return (
            None
            if self.binned is None or not self.column.numeric
            else float(self.shares @ self.binned.middles())
        )


def estimate(
    column: Column,
    outputs: Any,
    *,
    bins: int | None = None,
    method: Method = Method.EM,
    stop: Stop | None = None,
    confidence: float | None = 0.95,
    bands: Bands = Bands.SMOOTH,
    progress: Progress = silent,
) -> Estimate:
    """From everybody's outputs; without a confidence, without bands."""
    if isinstance(column.channel, Unary):
        indicated = outputs.mean(axis=0, dtype=np.float64) if len(outputs) else np.zeros(0)
        return _corrected(column, indicated, len(outputs), confidence)
    counts = np.bincount(outputs, minlength=column.channel.outputs)
    return from_counts(
        column,
        counts,
        bins=bins,
        method=method,
        stop=stop,
        confidence=confidence,
        bands=bands,
        progress=progress,
    )


def from_counts(
    column: Column,
    counts: Any,
    *,
    bins: int | None = None,
    method: Method = Method.EM,
    stop: Stop | None = None,
    confidence: float | None = 0.95,
    bands: Bands = Bands.SMOOTH,
    progress: Progress = silent,
) -> Estimate:
    """From how often each output has arrived."""
    if not column.numeric:
        records = int(np.sum(counts))
        return _corrected(column, np.asarray(counts) / max(records, 1), records, confidence)
    shaped = binned(column, bins, method)
    seen = shaped.counted(counts)
    if isinstance(column.channel, AsIs):
        stop = Stop(Rule.NEVER, most=1)  # what is known needs one step, and no smoothing
    supposing = bands is Bands.SMOOTH or confidence is None or isinstance(column.channel, AsIs)
    if not supposing:
        refuse_many(shaped.bins)
    fit = iterate(shaped.matrix, seen, stop, start=shaped.evenly(), progress=progress)
    low = high = None
    if confidence is not None and not supposing:
        low, high = any_shape(shaped, counts, confidence, progress)
        low, high = np.minimum(low, fit.shares), np.maximum(high, fit.shares)
    elif confidence is not None:
        low, high = _bands(shaped, seen, fit, confidence, progress)
    return Estimate(
        column,
        tuple(shaped.labels()),
        fit.shares,
        low,
        high,
        confidence or 0.0,
        fit.observations,
        method.value,
        fit,
        shaped,
        None if confidence is None else bands,
        _taken_for_true(shaped, counts),
    )


def _taken_for_true(shaped: Binned, counts: Any) -> Floats:
    """The perturbed histogram in the bins of the true one; what lies beyond the ends counts as the end."""
    first = shaped.column.channel.first
    places = np.clip(np.arange(len(counts)) + first, 0, shaped.column.channel.inputs - 1)
    at = np.searchsorted(shaped.edges, places, side="right") - 1
    found = np.bincount(at, weights=counts, minlength=shaped.bins)
    return np.asarray(found / max(found.sum(), 1))


def _bands(
    shaped: Binned, seen: Floats, fit: Fit, confidence: float, progress: Progress
) -> tuple[Floats, Floats]:
    """Errors of estimates from drawn answers, whose truth is known: an estimate that was iterated for longer.

    Stopping early smooths, and what was smoothed away no repetition of the same would see. So bands are
    made around a rougher estimate, whose chance errors are larger and whose smoothing is smaller; both are
    in them.
    """
    rows, bins = shaped.matrix.shape
    cost = 4.0 * rows * bins
    longer = int(min(ROUGHER * max(fit.iterations, 1), MOST, max(fit.iterations, WORK / (cost * FEWEST)) + 1))
    repeats = int(min(REPEATS, max(FEWEST, WORK / (cost * longer))))
    there = shaped.matrix.sum(axis=1) > 0
    begun = shaped.evenly()
    rough = _iterated(shaped.matrix[there], seen[there][:, None], begun, longer, silent)[:, 0]
    predicted = shaped.matrix @ rough
    chance = np.random.default_rng(0)  # of an estimate, not of anybody's answer: it may repeat
    drawn = chance.multinomial(fit.observations, predicted / predicted.sum(), size=repeats).T.astype(
        np.float64
    )
    errors = _iterated(shaped.matrix, drawn, begun, longer, progress) - rough[:, None]
    middle = rough - errors.mean(axis=1)
    # Whoever answered is a sample too: the band holds their share and the share of those they stand for. A
    # share of which repetitions see almost nothing still has the uncertainty of one answer.
    sampled = np.clip(rough * (1 - rough), 0, None) / fit.observations
    spread = np.sqrt(errors.var(axis=1) + sampled + 1 / fit.observations**2)
    width = WIDER * NormalDist().inv_cdf((1 + confidence) / 2) * spread
    low = np.minimum(np.minimum(middle, rough) - width, fit.shares)
    high = np.maximum(np.maximum(middle, rough) + width, fit.shares)
    return _within(low), _within(high)


def _iterated(matrix: Floats, seen: Floats, begun: Floats, iterations: int, progress: Progress) -> Floats:
    """So many steps, for several histograms side by side."""
    shares = np.repeat(begun[:, None], seen.shape[1], axis=1)
    for step in range(iterations):
        shares = advanced(matrix, seen, shares)[0]
        progress("measure", step + 1, iterations)
    return shares


def _within(shares: Floats) -> Floats:
    return np.clip(shares, 0.0, 1.0)


def _corrected(column: Column, indicated: Floats, records: int, confidence: float | None) -> Estimate:
    """Shares of answers that indicate each value, corrected for those that do so by chance."""
    if not records:
        raise InputError("there are no answers")
    channel = column.channel
    assert not isinstance(channel, Additive)
    zero, gap = telling(channel)
    raw = (indicated - zero) / gap
    shares = nearest(raw)
    low = high = None
    if confidence is not None:
        expected = np.clip(zero + gap * shares, 1e-12, 1 - 1e-12)
        # A share that nobody indicated still has the uncertainty of one answer.
        spread = np.sqrt(expected * (1 - expected) / records + 1 / records**2) / abs(gap)
        width = NormalDist().inv_cdf((1 + confidence) / 2) * spread
        low = _within(np.minimum(raw - width, shares))
        high = _within(np.maximum(raw + width, shares))
    return Estimate(
        column,
        column.values,
        shares,
        low,
        high,
        confidence or 0.0,
        records,
        "corrected",
        perturbed=indicated / max(float(indicated.sum()), 1e-300),
    )


def nearest(raw: Floats) -> Floats:
    """The distribution nearest to numbers that add up to about 1: all lowered alike, none below 0.

    >>> nearest(np.array([0.8, 0.4, -0.2])).round(12).tolist()
    [0.7, 0.3, 0.0]
    """
    falling = np.sort(raw)[::-1]
    over = (np.cumsum(falling) - 1) / np.arange(1, len(raw) + 1)
    last = int(np.flatnonzero(falling > over)[-1])
    return np.asarray(np.maximum(raw - over[last], 0.0))
