"""A tally with its cells in the order of their values, each once, and the way back.

Engines count as it suits them: in the order of rows or of keys, merging equal cells only where that pays. A
search that breaks ties by where a cell stands would publish one thing from one engine and another from
the next.
"""

from __future__ import annotations

from dataclasses import replace
from operator import methodcaller

import numpy as np
from numpy.typing import NDArray

from privet.core import Tally
from privet.recoding import Recoding, Regions


def by_value(tally: Tally) -> tuple[Tally, NDArray[np.intp]]:
    """The same counts however they were counted, and where each of the old cells is now."""
    columns = [*tally.quasi, *tally.sensitive, *((tally.target,) if tally.target else ())]
    codes = [column.codes for column in columns]
    codes += [] if tally.person is None else [tally.person]
    order = np.lexsort(codes[::-1])
    fresh = np.zeros(tally.cells, dtype=bool)
    fresh[:1] = True
    for each in codes:
        ordered = each[order]
        fresh[1:] |= ordered[1:] != ordered[:-1]
    now = np.empty(tally.cells, dtype=np.intp)
    now[order] = np.cumsum(fresh) - 1
    first = order[fresh]
    counts = np.bincount(now, weights=tally.counts, minlength=len(first)).astype(np.int64)
    found = tally.with_columns(methodcaller("at", first), counts)
    return found if tally.person is None else replace(found, person=tally.person[first]), now


def spread(recoding: Recoding, now: NDArray[np.intp]) -> Recoding:
    """What was found for cells in the order of their values, for the cells as they were counted."""
    if not isinstance(recoding, Regions):
        return recoding  # by values: the same for every cell
    boxes = now if recoding.of_cell is None else recoding.of_cell[now]
    return replace(recoding, of_cell=boxes, kept=None if recoding.kept is None else recoding.kept[now])
