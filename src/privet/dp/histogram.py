"""Class counts along the codes of one column: all that a search needs to score any split of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]

DENSE = 1 << 23  # codes times classes that are counted in one array


@dataclass(frozen=True, eq=False)
class Histogram:
    """The codes that occur, ascending, and for each class how many records stand before each of them."""

    codes: Ints = field(repr=False)
    before: Ints = field(repr=False)  # one row more than codes

    @classmethod
    def of(cls, codes: Ints, by_class: Ints) -> Histogram:
        """From the codes that occur, ascending, and the records of each by class."""
        before = np.zeros((len(codes) + 1, by_class.shape[1]), dtype=np.int64)
        np.cumsum(by_class, axis=0, out=before[1:])
        return cls(codes, before)

    @staticmethod
    def counted(codes: NDArray[Any], class_codes: NDArray[Any], size: int, classes: int) -> tuple[Ints, Ints]:
        """The codes that occur among these, and the records of each by class."""
        if size * classes <= DENSE:
            counts = np.bincount(pairs(codes, class_codes, classes), minlength=size * classes)
            table = counts.reshape(size, classes)
            here = np.flatnonzero(table.any(axis=1))
            found = table[here]
        else:
            here, place = np.unique(codes, return_inverse=True)
            counts = np.bincount(pairs(place, class_codes, classes), minlength=len(here) * classes)
            found = counts.reshape(len(here), classes)
        return here.astype(np.int64), found.astype(np.int64, copy=False)

    def within(self, lo: int, hi: int) -> Ints:
        """How many records of each class have a code in `[lo, hi)`."""
        first, last = np.searchsorted(self.codes, (lo, hi))
        found: Ints = self.before[last] - self.before[first]
        return found

    def regions(self, lo: int, hi: int) -> Regions:
        """Where an interval can be split, as runs of places that part the records alike.

        Both border runs are there, with all records on one side: whether the first place is free of
        records may not show.
        """
        first, last = np.searchsorted(self.codes, (lo, hi))
        inside = self.codes[first:last]
        # A split at s puts codes below s to the left, so places (previous value, value] are alike.
        starts = np.concatenate([[lo], inside]) + 1
        stops = np.concatenate([inside, [hi - 1]]) + 1
        left = self.before[first : last + 1] - self.before[first]
        right = self.before[last] - self.before[first : last + 1]
        some = stops > starts
        return Regions(starts[some], (stops - starts)[some], np.stack([left, right], axis=1)[some])


@dataclass(frozen=True, eq=False)
class Regions:
    """Runs of split places: the first place, how many, and the class counts of both sides."""

    first: Ints
    length: Ints
    counts: Ints  # [region, side, class]


def pairs(codes: NDArray[Any], class_codes: NDArray[Any], classes: int) -> NDArray[np.intp]:
    """Code and class of each record as one number."""
    key = codes.astype(np.intp)
    key *= classes
    key += class_codes
    return key
