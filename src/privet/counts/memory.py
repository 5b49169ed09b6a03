"""Counts of a tally that is all here: the first that answers, and the one that others are measured by."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.core import Column, PrivacyModel, Tally
from privet.counts import deciding
from privet.counts.boxing import CellBoxes
from privet.counts.door import Counts, Ints, Rungs, Score
from privet.counts.partition import Partition
from privet.counts.rollup import Rollups
from privet.errors import InternalError
from privet.recoding import Recoding


def counted(data: Tally | Counts) -> Counts:
    """What a search asks: a tally's own counts, or whoever answers instead."""
    return InMemory(data) if isinstance(data, Tally) else data


class InMemory:
    """A tally's counts."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    @cached_property
    def heading(self) -> Tally:
        return heading(self._tally)

    @property
    def records(self) -> int:
        return self._tally.records

    def histograms(self, columns: Sequence[str], by: str | None = None) -> list[Ints]:
        counts = self._tally.counts
        single = bool((counts == 1).all())  # then there is nothing to weigh
        other = None if by is None else self._column(by)
        found = []
        for column in map(self._column, columns):
            codes: NDArray[Any] = column.codes
            shape: tuple[int, ...] = (column.domain.size,)
            if other is not None:
                codes = codes.astype(np.intp) * other.domain.size + other.codes
                shape = (column.domain.size, other.domain.size)
            # with weights bincount adds doubles, which are exact for whole numbers below 2**53
            made = np.bincount(codes, weights=None if single else counts, minlength=int(np.prod(shape)))
            found.append(made.astype(np.int64, copy=False).reshape(shape))
        return found

    def beyond_reach(self, models: Sequence[PrivacyModel]) -> tuple[str, ...]:
        return deciding.beyond_reach(self, models)

    def cutting(self, score: Score, models: Sequence[PrivacyModel]) -> deciding.OpenCutting:
        return deciding.OpenCutting(self, score, models)

    def leaves(self, protected: Sequence[tuple[int, int]], *, needed: bool) -> Partition:
        masks = [self._tally.sensitive[column].codes == code for column, code in protected]
        return Partition(self._tally, masks, needs_leaves=needed)

    def grouping(self, ladders: Sequence[Rungs], sensitive: Sequence[str]) -> Rollups:
        return Rollups(self._tally, ladders, sensitive)

    def boxing(self, sensitive: Sequence[str]) -> CellBoxes:
        return CellBoxes(self._tally, sensitive)

    def published(self, recoding: Recoding) -> Tally:
        return self._tally.recoded(recoding)

    def _column(self, name: str) -> Column:
        column = self._tally.column(name)
        if column is None:
            raise InternalError("a search asks for columns that the heading names")
        return column


def heading(tally: Tally) -> Tally:
    """A tally's names and domains without a single cell."""
    return tally.where(np.zeros(tally.cells, dtype=bool))
