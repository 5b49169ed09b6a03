"""Cells that stand in the order of their codes: a class is then a run of cells, and nothing is sorted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from privet.core import Column


def begins(columns: Sequence[Column], cells: int) -> NDArray[np.bool_] | None:
    """Does a class begin at each cell? None where cells do not stand in order, first column first.

    Engines count in that order. Looking takes a few bytes of each cell, where sorting takes all of them many
    times; and whoever hands over cells in another order is found out by the first column, nearly always.
    """
    found = np.ones(cells, dtype=bool)
    if cells < 2:
        return found
    same = np.ones(cells - 1, dtype=bool)
    for column in columns:
        here, before = column.codes[1:], column.codes[:-1]
        if (same & (here < before)).any():
            return None
        same &= here == before
    np.logical_not(same, out=found[1:])
    return found
