"""What somebody who counts keeps: how columns lie by themselves, by two, and how they hang together.

Records are spread evenly over the ranges they are published in, as a reader would, and what comes out is
compared with the raw table. Columns by two are counted in a few even stretches of each, as a table of a
report would; how two columns hang together is the correlation of their places in leaf order.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.core import Tally
from privet.measure.spread import Boxes

STRETCHES = 8  # of a column, when columns are counted by two
PAIRS = 40  # of columns that are counted; of more, the first in a fixed order

Floats = NDArray[np.float64]


def kept(raw: Tally, boxes: Boxes) -> dict[str, Any]:
    """Shares from 0 to 1, where 1 is all: `marginals`, `pairs`, and `correlations`; None: there is none."""
    if not raw.records or not len(boxes.counts):
        return {"marginals": None, "pairs": None, "correlations": None}
    names = [column.name for column in raw.quasi]
    sizes = {column.name: column.domain.size for column in raw.quasi}
    codes = {column.name: column.codes.astype(np.intp) for column in raw.quasi}
    shares = {name: _in_stretches(boxes, name, sizes[name]) for name in names}
    exact = {name: np.eye(_many(sizes[name]))[_stretch(codes[name], sizes[name])] for name in names}
    counts = boxes.counts.astype(np.float64)
    alone = [_alike(exact[n].T @ raw.counts, shares[n].T @ counts, boxes.missing) for n in names]
    two, hang = [], []
    middle = {name: (boxes.lo[name] + boxes.hi[name] - 1) / 2 for name in names}
    for one, other in list(combinations(names, 2))[:PAIRS]:
        before = (exact[one] * raw.counts[:, None]).T @ exact[other]
        after = (shares[one] * counts[:, None]).T @ shares[other]
        two.append(_alike(before.ravel(), after.ravel(), boxes.missing))
        before_r = _correlation(codes[one].astype(float), codes[other].astype(float), raw.counts)
        after_r = _correlation(middle[one], middle[other], boxes.counts)
        if before_r is not None:
            hang.append(1 - abs(before_r - (after_r or 0.0)) / 2)
    return {
        "marginals": _mean(alone),
        "pairs": _mean(two),
        "correlations": _mean(hang),
    }


def _many(size: int) -> int:
    return min(STRETCHES, size)


def _stretch(codes: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    return np.minimum(codes * _many(size) // size, _many(size) - 1)


def _in_stretches(boxes: Boxes, name: str, size: int) -> Floats:
    """By published cell, the share of its range that lies in each stretch of the column."""
    lo, hi = boxes.lo[name][:, None], boxes.hi[name][:, None]
    of_code = _stretch(np.arange(size), size)
    first = np.searchsorted(of_code, np.arange(_many(size)))
    last = np.append(first[1:], size)
    return np.asarray(np.maximum(0, np.minimum(hi, last) - np.maximum(lo, first)) / (hi - lo))


def _alike(before: Floats, after: Floats, missing: int) -> float:
    """One less the total variation distance; who is not published may be anywhere."""
    after = after + missing / len(after)
    return 1 - float(np.abs(before / before.sum() - after / after.sum()).sum()) / 2


def _correlation(one: Floats, other: Floats, counts: NDArray[np.int64]) -> float | None:
    total = counts.sum()
    x, y = one - one @ counts / total, other - other @ counts / total
    wide = float(np.sqrt((x * x) @ counts) * np.sqrt((y * y) @ counts))
    return None if wide == 0 else float((x * y) @ counts) / wide


def _mean(found: list[float]) -> float | None:
    return round(float(np.mean(found)), 9) if found else None
