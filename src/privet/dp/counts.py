"""Making noisy counts look like counts: free, because only published numbers are used.

Clamping at zero is what the source does, and it is biased: of the many leaves without records those with
noise above zero stay, those below vanish, and the table grows. Where the total of each class is known,
by noise of its own or by adding up, the nearest counts with that total take the same amount off
every count and stop at zero, which removes most of what is only noise.
"""

from __future__ import annotations

from enum import Enum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.dp.noisytable import NoisyTable

Ints: TypeAlias = NDArray[np.int64]


class Consistency(Enum):
    """What becomes of counts that no table could have."""

    CLAMP = "clamp"  # negative ones become 0
    TOTALS = "totals"  # the nearest counts, none negative, that add up to the noisy total of each class
    RAW = "raw"  # nothing: unbiased, for those who add counts up


def consistent(table: NoisyTable, how: Consistency) -> NoisyTable:
    """The table with counts worked on; never costs anything."""
    if how is Consistency.RAW:
        return table
    if how is Consistency.CLAMP:
        return table.with_counts(np.maximum(table.counts, 0))
    totals = table.counts.sum(axis=0) if table.totals is None else table.totals
    made = [project(table.counts[:, at], max(int(total), 0)) for at, total in enumerate(totals)]
    return table.with_counts(np.stack(made, axis=1) if made else table.counts)


def project(counts: Ints, total: int) -> Ints:
    """The whole numbers from 0 on that add up to `total` and are nearest to these, in squares.

    The same amount is taken off each, no further than zero. What does not divide evenly is taken one
    by one from counts spread over all of them: to whom it happens does not matter, but it should not be
    always the first ones.

    >>> project(np.array([5, -2, 1, 3]), 6).tolist()
    [4, 0, 0, 2]
    """
    if not len(counts):
        return counts
    down = np.sort(counts)[::-1]
    added = np.cumsum(down)
    # With the k largest above zero, each loses (their sum - total) / k; k is the most that stay above.
    places = np.arange(1, len(down) + 1)
    stay = np.flatnonzero(down * places > added - total)
    if not len(stay):  # a total of zero
        return np.zeros_like(counts)
    number = int(stay[-1]) + 1
    off = int((int(added[number - 1]) - total) // number)
    kept = np.maximum(counts - off, 0)
    extra = int(kept.sum()) - total  # at most one for each that is above zero
    above = np.flatnonzero(kept)
    if extra > 0:
        kept[above[np.arange(extra) * len(above) // extra]] -= 1
    return kept
