"""A channel between bins: how likely each group of answers is from each bin of true values.

A bin of numbers is a run of the grid; within it true values are taken to be spread evenly. EM averages the
channel over the bin, which makes the iteration an exact expectation maximisation; the Bayes iteration of
Agrawal and Srikant looks at the bin's midpoint only, as their equation does.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.collect.channels import WORD, Additive, AsIs, Response
from privet.collect.column import Column
from privet.errors import UnsupportedError

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

CELLS = 4_096  # groups of outputs at most; neighbours share one beyond that
BINS = 20  # of a column of numbers, unless said


class Method(Enum):
    """How a bin is looked at."""

    EM = "em"
    BAYES = "bayes"


@dataclass(frozen=True)
class Binned:
    """A column whose true values stand in bins, and its answers in cells.

    `edges` are places of the grid, one more than bins; `cell` is the group of each output; `matrix` has a
    row for each cell and a column for each bin.
    """

    column: Column
    edges: Ints
    cell: Ints
    matrix: Floats

    @property
    def bins(self) -> int:
        return len(self.edges) - 1

    def labels(self) -> list[str]:
        """What a bin holds: a value, or the first and the last of them."""
        name = self.column.input_text
        ends = zip(self.edges[:-1].tolist(), self.edges[1:].tolist(), strict=True)
        return [name(low) if high == low + 1 else f"{name(low)} to {name(high - 1)}" for low, high in ends]

    def middles(self) -> Floats:
        """The mean of the values of each bin, for numbers."""
        low, step = float(self.column.low), float(self.column.step)
        return low + step * (self.edges[:-1] + self.edges[1:] - 1) / 2

    def evenly(self) -> Floats:
        """Shares of the bins if all values of the grid were alike: a wider bin has more."""
        return np.asarray(np.diff(self.edges) / self.edges[-1], dtype=np.float64)

    def counted(self, counts: Ints) -> Floats:
        """Counts of outputs, by cells."""
        return np.bincount(self.cell, weights=counts, minlength=len(self.matrix)).astype(np.float64)


def bins_of(column: Column, bins: int | None) -> int:
    """How many there are: a grid has no more than it has values, and each value of a category is one."""
    return min(column.channel.inputs, bins or BINS) if column.numeric else column.channel.inputs


def bin_of(column: Column, codes: Any, bins: int | None = None) -> Ints:
    """The bin of each true value."""
    return np.asarray(codes * bins_of(column, bins) // column.channel.inputs)


def binned(column: Column, bins: int | None = None, method: Method = Method.EM) -> Binned:
    """The bins of a column: each value of a category, and equal runs of a grid of numbers."""
    inputs, outputs = column.channel.inputs, column.channel.outputs
    size = bins_of(column, bins)
    edges = np.array([-(-at * inputs // size) for at in range(size + 1)], dtype=np.int64)
    cells = min(outputs, CELLS)
    if isinstance(column.channel, AsIs):
        cells = size
    cell = np.arange(outputs) * cells // outputs
    starts = np.array([-(-at * outputs // cells) for at in range(cells + 1)], dtype=np.int64)
    match column.channel:
        case AsIs():
            cell = np.repeat(np.arange(size), np.diff(edges))
            return Binned(column, edges, cell, np.eye(size))
        case Response() as channel:
            other, keep = channel.other / WORD, channel.keep / WORD
            matrix = np.full((inputs, inputs), other)
            np.fill_diagonal(matrix, keep)
            if cells < inputs:
                matrix = np.add.reduceat(matrix, starts[:-1], axis=0)
            return Binned(column, edges, cell, matrix)
        case Additive() as channel:
            low, high = edges[:-1], edges[1:]
            if method is Method.BAYES:  # the place in the middle, or the two that are there
                low, high = (low + high - 1) // 2, (low + high) // 2 + 1
            return Binned(column, edges, cell, _noise(channel, starts, low, high))
    raise UnsupportedError(f"{column.name}: {column.mechanism} is counted bit by bit")


def _noise(channel: Additive, starts: Ints, low: Ints, high: Ints) -> Floats:
    """P(output between two starts | input evenly between a low and a high), by two running sums."""
    weights = np.diff(np.array([0, *channel.cuts, WORD], dtype=np.float64)) / WORD
    below = np.concatenate(([0.0], np.cumsum(weights)))  # P(step number < t)
    reach, far = len(weights), len(weights) + 1
    area = np.concatenate(([0.0], np.cumsum(below)))  # sum of `below` before t
    ends = starts + (channel.reach if channel.clamped else 0)

    def summed(t: Ints) -> Floats:
        """The sum of P(step number < s) over all s up to t; certain from `reach` on."""
        inside = np.clip(t + 1, 0, far)
        return np.asarray(area[inside] + np.maximum(t - reach, 0))

    sums = summed(ends[:, None] - low[None, :]) - summed(ends[:, None] - high[None, :])
    sums /= (high - low)[None, :]
    if channel.clamped:  # what would go beyond an end is at the end
        sums[0], sums[-1] = 0.0, 1.0
    found = np.diff(sums, axis=0)
    found[found < 1e-12] = 0.0
    return np.asarray(found)


def density_matrix(observed: Floats, noise: str, size: float, middles: Floats) -> Floats:
    """f_Y(z - a) for every observation z and midpoint a: the source's own matrix, for noise that was
    continuous.

    `noise` is uniform (`size` is the half width), gaussian (sigma) or laplace (scale).
    """
    apart = observed[:, None] - middles[None, :]
    if noise == "uniform":
        return np.asarray((np.abs(apart) <= size) / (2 * size))
    if noise == "gaussian":
        return np.asarray(np.exp(-((apart / size) ** 2) / 2) / (size * np.sqrt(2 * np.pi)))
    if noise == "laplace":
        return np.asarray(np.exp(-np.abs(apart) / size) / (2 * size))
    raise UnsupportedError(f"noise is one of uniform, gaussian, laplace, not {noise!r}")
