"""What a virtual database loses: how large its groups are, and how wide its boxes.

Leaves with the same box are one group. (The source prints discernibility as a sum over rows of squared sizes;
it is the sum over groups of squared sizes.)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privet.parties.primitives.extremes import Ints
from privet.parties.virtual.growing import groups_of


@dataclass(frozen=True)
class Lost:
    """Measures of loss."""

    groups: int
    average: Fraction  # records in a group
    discernibility: int
    ncp: Fraction  # the average width of a range, as a share of the whole column's


def lost(low: Ints, high: Ints, sizes: Ints) -> Lost:
    """Of boxes with so many records each."""
    classes = np.bincount(groups_of(low, high), weights=sizes).astype(np.int64)
    records = int(sizes.sum())
    span = high.max(axis=0) - low.min(axis=0)
    wide = sum(
        (
            Fraction(int(((high[:, at] - low[:, at]) * sizes).sum()), int(span[at]))
            for at in range(low.shape[1])
            if span[at]
        ),
        Fraction(0),
    )
    return Lost(
        groups=len(classes),
        average=Fraction(records, len(classes)),
        discernibility=int((classes**2).sum()),
        ncp=wide / (records * low.shape[1]),
    )
