"""How wide values become as columns are added: the curse of dimensionality on the table at hand.

`measure.summary` says what to expect if people were spread evenly. This cuts the table itself into boxes
of at least k, by its first column, by two, by three, and measures how much of every range a box covers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from privet.core import Tally
from privet.counts.boxing import CellBoxes
from privet.models.kanonymity import KAnonymity
from privet.relational.judge import Judge
from privet.relational.mondrian import Mondrian


@dataclass(frozen=True, slots=True)
class Cut:
    """A table in boxes: how many, and how much of its range each covers, over records and columns."""

    count: int
    width: float


def cut_up(tally: Tally, k: int, *, relaxed: bool = True) -> Cut:
    """The boxes of Mondrian; fewer records than k are one box that covers everything."""
    if tally.records < k:
        return Cut(1, 1.0)
    judge, table = Judge(tally, (KAnonymity(k=k),)), CellBoxes(tally, ())
    boxes = Mondrian(relaxed=relaxed).boxes(tally, table, judge)
    low, high = boxes.extremes
    wide = [axis.loss(low[:, at], high[:, at]) for at, axis in enumerate(boxes.axes)]
    records = np.bincount(table.of_cell, weights=tally.counts, minlength=boxes.count)
    return Cut(boxes.count, float(np.mean([records @ each for each in wide]) / tally.records))


def observed_widths(tally: Tally, k: int) -> list[float]:
    """The width for the first quasi-identifier, the first two, and so on."""
    many = range(1, len(tally.quasi) + 1)
    return [cut_up(replace(tally, quasi=tally.quasi[:d]), k).width for d in many]
