"""Classes of quasi-identifiers in which items can be generalised: as many records hold something as k asks.

Above all items stands the root of their tree. A class in which fewer than k records hold anything shows
even that too rarely; one in which no record does shows nothing. So a search for classes that keeps this
promise as well always leaves a way to generalise the items within each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from privet.core import Tally
from privet.models.classcheck import ClassCheck, Reading
from privet.models.classes import Histogram

EMPTY, FULL = "empty", "full"


@dataclass(frozen=True, slots=True)
class Filled(ClassCheck):
    """In every class no record holds anything, or at least `k` do; `sensitive` says which are full.

    Joining classes keeps it: what is 0 or at least k on both sides is so together. No policy names it.
    """

    k: int
    sensitive: tuple[str, ...]

    name: ClassVar[str] = "filled"
    worst: ClassVar[Mapping[str, Callable[[Sequence[Any]], Any]]] = {"k": min}

    def read(self, histogram: Histogram) -> Reading:
        full = np.array([value == FULL for value in histogram.column.domain.values], dtype=bool)
        many = histogram.summed(np.where(full[histogram.value], histogram.count, 0))
        return Reading((many > 0) & (many < self.k), {"k": int(many[many > 0].min(initial=self.k))})

    def nearest(self, tally: Tally) -> Self:
        return replace(self, k=int(self.check(tally).achieved["k"]))
