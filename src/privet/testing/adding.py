"""Adding up: answers of several parts that speak of the same things."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.core import Column, Tally
from privet.counts.door import (
    Indexes,
    Ints,
)

Rows: TypeAlias = NDArray[Any]


def parts_of(tally: Tally, of_cell: Sequence[int]) -> list[Tally]:
    """A tally in parts: which part each cell goes to."""
    of = np.array(of_cell, dtype=np.intp)
    return [tally.where(of == part) for part in range(int(of.max(initial=0)) + 1)]


def joined(parts: Sequence[Tally]) -> Tally:
    """Tallies with the same columns, one after the other."""
    first = parts[0]

    def along(columns: Sequence[Column]) -> Column:
        return replace(columns[0], codes=np.concatenate([column.codes for column in columns]))

    return replace(
        first,
        quasi=tuple(map(along, zip(*(part.quasi for part in parts), strict=True))),
        sensitive=tuple(map(along, zip(*(part.sensitive for part in parts), strict=True))),
        target=None if first.target is None else along([part.target for part in parts if part.target]),
        counts=np.concatenate([part.counts for part in parts]),
    )


def added(keys: Sequence[Rows], counts: Sequence[Ints]) -> tuple[Rows, Indexes, Ints]:
    """Rows that occur in any part, ascending; where each given row went; and the sum of their counts."""
    found, at = np.unique(np.concatenate(keys), axis=0, return_inverse=True)
    summed = np.zeros(len(found), dtype=np.int64)
    np.add.at(summed, at.ravel(), np.concatenate(counts))
    return found, at.ravel(), summed


def total(answers: Sequence[Ints]) -> Ints:
    """Arrays of the same shape, added up."""
    return np.asarray(np.sum(answers, axis=0), dtype=np.int64)
