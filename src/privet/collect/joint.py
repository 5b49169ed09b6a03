"""How two questions go together: the joint distribution of the true answers to both.

Each answer is perturbed by itself, so the channel of a pair is the product of both. Two categories are
corrected for their noise at once; where a number takes part, the same iteration as for one question finds
the joint distribution. Of a unary encoding beside a number the bits are corrected first, value by value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from privet.collect.channels import Additive, Unary, telling
from privet.collect.column import Column
from privet.collect.estimate import nearest
from privet.collect.iterate import FOLDS, MOST, PATIENCE, TOLERANCE, Rule, Stop, folds
from privet.collect.matrix import Binned, Floats, binned, bins_of
from privet.core import Progress, silent
from privet.errors import InputError, UnsupportedError

LARGEST = 1 << 22  # cells of a joint distribution


@dataclass(frozen=True)
class Joint:
    """Shares of pairs of bins, a row for each bin of the first question."""

    columns: tuple[Column, Column]
    labels: tuple[tuple[str, ...], tuple[str, ...]]
    shares: Floats
    records: int
    iterations: int | None = None

    @property
    def information(self) -> float:
        """What one answer tells about the other, in bits."""
        return information(self.shares)


def information(shares: Floats) -> float:
    """Mutual information of a joint distribution, in bits.

    >>> information(np.eye(2) / 2), information(np.full((2, 2), 1 / 4))
    (1.0, 0.0)
    """
    alone = shares.sum(axis=1, keepdims=True) @ shares.sum(axis=0, keepdims=True)
    there = (shares > 0) & (alone > 0)  # products of the smallest numbers are nothing
    return max(0.0, float((shares[there] * np.log2(shares[there] / alone[there])).sum()))


def joint(
    first: tuple[Column, Any],
    second: tuple[Column, Any],
    *,
    bins: int | None = None,
    stop: Stop | None = None,
    progress: Progress = silent,
) -> Joint:
    """From everybody's outputs to both questions."""
    (one, a), (other, b) = first, second
    if not len(a):
        raise InputError("there are no answers")
    if bins_of(one, bins) * bins_of(other, bins) > LARGEST:
        raise UnsupportedError(f"{one.name} and {other.name} have too many pairs of values; take fewer bins")
    labels = (_labels(one, bins), _labels(other, bins))
    if not one.numeric and not other.numeric:
        return Joint((one, other), labels, _categories(one, a, other, b), len(a))
    if isinstance(one.channel, Unary) or isinstance(other.channel, Unary):
        return Joint((one, other), labels, _by_bits(one, a, other, b, bins), len(a))
    left, right = binned(one, bins), binned(other, bins)
    counts = _counts(left, a, right, b)
    shares, iterations = _iterated(left.matrix, right.matrix, counts, stop or Stop(), progress)
    return Joint((one, other), labels, shares, len(a), iterations)


def _labels(column: Column, bins: int | None) -> tuple[str, ...]:
    if isinstance(column.channel, Unary):
        return column.values
    return tuple(binned(column, bins).labels())


def _counts(left: Binned, a: Any, right: Binned, b: Any) -> Floats:
    width = len(right.matrix)
    together = left.cell[a] * width + right.cell[b]
    return np.bincount(together, minlength=len(left.matrix) * width).reshape(-1, width).astype(np.float64)


def _step(left: Floats, right: Floats, counts: Floats, shares: Floats) -> tuple[Floats, Floats]:
    predicted = left @ shares @ right.T
    pulled = np.divide(counts, predicted, out=np.zeros_like(counts), where=predicted > 0)
    return shares * (left.T @ pulled @ right) / counts.sum(), predicted


def _iterated(
    left: Floats, right: Floats, counts: Floats, stop: Stop, progress: Progress
) -> tuple[Floats, int]:
    """As `iterate`, with two matrices; held out is one fold of the answers."""
    size = (left.shape[1], right.shape[1])
    start = np.full(size, 1 / (size[0] * size[1]))
    validated = stop.rule is Rule.CROSS_VALIDATION and counts.sum() >= FOLDS
    held = folds(counts.ravel())[:, 0].reshape(counts.shape) if validated else np.zeros_like(counts)
    shares, told = start, start
    best, at, kept = -np.inf, 0, start
    for step in range(min(stop.most, MOST)):
        if validated:
            fresh, predicted = _step(left, right, counts - held, told)
            there = held > 0
            with np.errstate(divide="ignore"):
                value = float((held[there] * np.log(predicted[there])).sum())
            if value > best:
                best, at, kept = value, step, shares
            if step > PATIENCE * at + 20:
                return kept, at
            told = fresh
        old = shares
        shares = _step(left, right, counts, shares)[0]
        progress("search", step + 1, stop.most)
        if stop.rule is Rule.TOLERANCE and float(np.abs(shares - old).mean()) < stop.tolerance:
            return shares, step + 1
    return (kept, at) if validated else (shares, stop.most)


def _by_bits(one: Column, a: Any, other: Column, b: Any, bins: int | None) -> Floats:
    """Bits of one side corrected for their noise; then the other side's iteration, value by value."""
    if not isinstance(one.channel, Unary):
        return np.asarray(_by_bits(other, b, one, a, bins).T)
    shaped = binned(other, bins)
    cells, rows = shaped.cell[b], len(shaped.matrix)
    totals = np.bincount(cells, minlength=rows).astype(np.float64)
    zero, gap = telling(one.channel)
    found = np.zeros((one.channel.inputs, shaped.bins))
    for value in range(one.channel.inputs):
        set_ = np.bincount(cells[a[:, value]], minlength=rows)
        found[value] = _signed(shaped.matrix, (set_ - zero * totals) / gap)
    if found.sum() > 0:
        return np.asarray(found / found.sum())
    # So few answers that chance has left nothing of any value: nothing is known of how they go together.
    return np.outer(nearest((a.mean(axis=0) - zero) / gap), _signed(shaped.matrix, totals) / len(b))


def _categories(one: Column, a: Any, other: Column, b: Any) -> Floats:
    """The chance that j and l are indicated is a product of both noises; solved for the share of j and l."""
    assert not isinstance(one.channel, Additive)
    assert not isinstance(other.channel, Additive)
    (q, g), (r, h) = telling(one.channel), telling(other.channel)
    both = _together(one, a, other, b) / len(a)
    ours, theirs = (_indicated(column, sent) / len(a) for column, sent in ((one, a), (other, b)))
    raw = (both - r * ours[:, None] - q * theirs[None, :] + q * r) / (g * h)
    return nearest(raw.ravel()).reshape(raw.shape)


def _indicated(column: Column, sent: Any) -> Floats:
    """How many answers indicate each value."""
    counts = sent.sum(axis=0) if sent.ndim == 2 else np.bincount(sent, minlength=column.channel.inputs)
    return np.asarray(counts, dtype=np.float64)


def _together(one: Column, a: Any, other: Column, b: Any) -> Floats:
    """How many pairs of answers indicate each pair of values."""
    if a.ndim == 2 and b.ndim == 2:
        return np.asarray(a.T.astype(np.float64) @ b.astype(np.float64))
    if a.ndim == 2:
        return np.asarray(_together(other, b, one, a).T)
    if b.ndim == 2:
        found = np.zeros((one.channel.inputs, other.channel.inputs))
        for value in range(one.channel.inputs):
            found[value] = b[a == value].sum(axis=0)
        return found
    width = other.channel.inputs
    counts = np.bincount(a * width + b, minlength=one.channel.inputs * width)
    return np.asarray(counts.reshape(-1, width), dtype=np.float64)


def _signed(matrix: Floats, counts: Floats) -> Floats:
    """The iteration on corrected counts, of which some are below 0 by chance; adds up to their sum."""
    total = float(counts.sum())
    size = matrix.shape[1]
    shares = np.full(size, 1 / size)
    if total <= 0:
        return np.zeros(size)
    for _ in range(MOST):
        predicted = matrix @ shares
        pulled = np.divide(counts, predicted, out=np.zeros_like(counts), where=predicted > 0)
        fresh = np.maximum(shares * (matrix.T @ pulled), 0.0)
        if fresh.sum() <= 0:
            break
        fresh /= fresh.sum()
        done = float(np.abs(fresh - shares).mean()) < TOLERANCE
        shares = fresh
        if done:
            break
    return shares * total
