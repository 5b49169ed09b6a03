"""What is left of the views, spread over the people who are left: the evenest way that has the right sums.

Iterative proportional fitting: scale each class to its people and each view to its values, again and again.
The result says about how likely each value is for the next person. Where it is off, weights of draws make up
for it, so a few rounds are enough; each step starts from what the last one found.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privet.disclose.sources.prepare import Component, Counts

FIRST, ROUNDS = 30, 2  # rounds of scaling before the first step, and before each later one
LEAST = 1e-3  # of others who may have a value: keeps a chance finite where they have none to spare

Floats = NDArray[np.float64]


class Fit:
    """Expected counts of each class, for many draws at once."""

    def __init__(self, part: Component, many: int) -> None:
        self.views = [np.flatnonzero(row).tolist() for row in part.member]
        self.of_class = [np.flatnonzero(column) for column in part.member.T]
        # Scaling keeps the odds that it starts with, so it starts with even ones.
        even = (part.caps > 0) * part.sizes[:, None].astype(np.float64)
        self.spread = np.repeat(even[:, :, None], many, axis=2)  # [class, value, draw]
        self.rounds = FIRST

    def chances(self, at: int, left: Counts, residual: Counts) -> Floats:
        """[draw, value]: about how likely, up to a factor, the next person of a class has each value.

        How likely it is in the fit, times how many more ways the views' other people have then to make up
        the rest; nothing where a view of the class has none of the value left.
        """
        wanted = np.ascontiguousarray(residual.transpose(1, 2, 0), dtype=np.float64)  # [view, value, draw]
        for _ in range(self.rounds):
            self._scaled(left, wanted)
        self.rounds = ROUNDS
        mine = self.spread[at] / left[at]
        chance = mine.copy()
        for view in self.of_class[at]:
            chance *= wanted[view] / np.maximum(wanted[view] - mine, LEAST)
        alive = (wanted[self.of_class[at]] > 0).all(axis=0)
        # What the fit has not reached yet may still be possible, and must keep a chance.
        chance = np.where(alive, np.maximum(chance, LEAST * LEAST), 0.0)
        self.spread[at] *= (left[at] - 1) / left[at]
        return chance.T

    def _scaled(self, left: Counts, wanted: Floats) -> None:
        there = np.flatnonzero(left).tolist()
        for classes, sums in zip(self.views, wanted, strict=True):
            mine = [at for at in classes if left[at]]
            if not mine:
                continue
            total = self.spread[mine[0]].copy()
            for at in mine[1:]:
                total += self.spread[at]
            factor = np.divide(sums, total, out=np.zeros_like(total), where=total > 0)
            for at in mine:
                self.spread[at] *= factor
        for at in there:
            total = self.spread[at].sum(axis=0)
            self.spread[at] *= np.divide(left[at], total, out=np.ones_like(total), where=total > 0)
