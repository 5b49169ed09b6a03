"""Records put back into bins by what was reconstructed, so that a tree can follow them.

Agrawal and Srikant's way for numbers: if the reconstruction says that a tenth of the records is in the
first bin, the tenth with the smallest perturbed values goes there, and so on. A category is drawn from what
the answer and the reconstruction together say about the record. What single records get is guesswork; only
their distribution is meant.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from privet.collect.channels import AsIs, Response, Unary, telling
from privet.collect.column import Column
from privet.collect.draw import Codes
from privet.collect.estimate import estimate
from privet.collect.iterate import Stop
from privet.collect.matrix import Floats, binned


def assigned(
    column: Column, outputs: Any, bins: int | None, stop: Stop, chance: np.random.Generator
) -> Codes:
    """A bin for each record, from their perturbed answers."""
    if not len(outputs):
        return np.zeros(0, dtype=np.int64)
    if isinstance(column.channel, AsIs):
        return np.asarray(binned(column, bins).cell[outputs])
    found = estimate(column, outputs, bins=bins, stop=stop, confidence=None)
    if column.numeric:
        return _in_order(outputs, found.shares, chance)
    if isinstance(column.channel, Unary):
        odds = float(column.channel.odds)
        weights = np.where(outputs, odds, 1.0) * found.shares
    else:
        assert isinstance(column.channel, Response)
        zero, gap = telling(column.channel)
        weights = np.tile(zero * found.shares, (len(outputs), 1))
        weights[np.arange(len(outputs)), outputs] += gap * found.shares[outputs]
    return _drawn(weights, chance)


def _in_order(outputs: Any, shares: Floats, chance: np.random.Generator) -> Codes:
    """The smallest answers to the first bin, as many as it should have; equal ones by chance."""
    ends = np.floor(np.cumsum(shares) * len(outputs) + 0.5).astype(np.int64)
    ends[-1] = len(outputs)
    order = np.lexsort((chance.random(len(outputs)), outputs))
    found = np.empty(len(outputs), dtype=np.int64)
    found[order] = np.searchsorted(ends, np.arange(len(outputs)), side="right")
    return found


def _drawn(weights: Floats, chance: np.random.Generator) -> Codes:
    sums = np.cumsum(weights, axis=1)
    at = chance.random(len(weights)) * sums[:, -1]
    return np.asarray(np.minimum((sums <= at[:, None]).sum(axis=1), weights.shape[1] - 1))
