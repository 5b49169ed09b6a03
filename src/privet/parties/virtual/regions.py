"""One site's rows, by the region that each lies in: whatever is counted here is counted locally.

Codes are whole numbers from 0; a region is a number, or -1 for rows that lie in none that is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.parties.primitives.extremes import Ints, Mask
from privet.parties.primitives.randomness import fresh
from privet.parties.virtual.rules import Ties

Codes = NDArray[Any]  # rows x columns


@dataclass
class Here:
    """The rows of some regions, numbered from 0."""

    codes: Codes = field(repr=False)
    region: Ints = field(repr=False)  # by row
    regions: int

    def sizes(self) -> Ints:
        return np.bincount(self.region, minlength=self.regions)

    def extremes(self) -> tuple[Ints, Ints, Mask]:
        """By region and column the smallest and the largest code; and which regions have rows here."""
        there = self.sizes() > 0
        low = np.zeros((self.regions, self.codes.shape[1]), dtype=np.int64)
        high = low.copy()
        if len(self.region):
            order = np.argsort(self.region, kind="stable")
            sorted_ = self.codes[order].astype(np.int64)
            begins = np.flatnonzero(np.diff(self.region[order], prepend=-1))
            low[there] = np.minimum.reduceat(sorted_, begins, axis=0)
            high[there] = np.maximum.reduceat(sorted_, begins, axis=0)
        return low, high, there

    def among(self, chosen: Ints) -> Here:
        """Only the rows of these regions, numbered in this order; and which rows they are."""
        number = np.full(self.regions, -1)
        number[chosen] = np.arange(len(chosen))
        found = number[self.region]
        kept = np.flatnonzero(found >= 0)
        return Here(self.codes[kept], found[kept], len(chosen))

    def along(self, column: Ints) -> Ints:
        """Every row's code in the column that its region is split by."""
        return self.codes[np.arange(len(self.region)), column[self.region]].astype(np.int64)

    def counted(self, which: Mask) -> Ints:
        """By region how many of these rows."""
        return np.bincount(self.region[which], minlength=self.regions)

    def left(self, values: Ints, median: Ints, share: Ints, order: Ints, ties: Ties) -> Mask:
        """The rows that go left: those below the median, and so many of those at it."""
        at = median[self.region]
        found: Mask = values < at
        tied = np.flatnonzero(values == at)
        if not len(tied):
            return found
        region = self.region[tied]
        if ties is Ties.SHUFFLE:
            keys = [fresh(len(tied), np.uint64)]
        else:
            keys = [self.codes[tied, order[region, rank]] for rank in range(order.shape[1])][::-1]
        ranked = np.lexsort((*keys, region))
        first = np.searchsorted(region[ranked], np.arange(self.regions))
        place = np.arange(len(tied)) - first[region[ranked]]
        found[tied[ranked]] = place < share[region[ranked]]
        return found
