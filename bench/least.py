"""How far local recoding is from the least that any partition could lose: k-anonymity on Adult, ARX's trees.

Nobody knows the optimum of a table of this size (small ones: tests/relational/test_optimum.py). But whatever
class a record is in, its box holds the record and k - 1 others, so the record loses at least what the
smallest such box loses; found exactly, by branch and bound, for every record. The distance to the k-th
nearest record is a smaller bound of the same kind, sooner counted. No partition gives all records their own
smallest box at once, so the optimum lies above the bound, and how far is not known.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bench.lattice import K5, ncp, prepared
from bench.outcome import Cell, Outcome, Table
from privet.core import Tally
from privet.relational.geometry import ONE, Codes, Geometry, Whole
from privet.relational.local import Local

K = 5
SAMPLE = 400  # cells for which the smallest box is looked for in the short form


def run(*, full: bool) -> Outcome:
    tally, policy = prepared((K5,), Local(), quasi=9)
    geometry = Geometry.of(tally.quasi, [True] * len(tally.quasi), [1 / len(tally.quasi)] * len(tally.quasi))
    cells = np.arange(tally.cells)
    if not full:
        cells = np.sort(np.random.default_rng(0).choice(cells, SAMPLE, replace=False))
    nearest, smallest, spent = bounds(tally, geometry, cells)
    rows: list[list[Cell]] = [
        ["distance of the k-th nearest record", nearest, None, None],
        ["smallest box with k records", smallest, None, spent],
    ]
    for name, search in (("local, not regrouped", Local(refine=0)), ("local", Local())):
        begun = time.process_time()
        lost = ncp(tally, search.search(tally, policy).recoding)
        rows.append([name, lost, lost / smallest - 1, time.process_time() - begun])
    how = "every cell" if full else f"{SAMPLE} cells by chance: an estimate of the bounds, not bounds"
    return Outcome(
        "least",
        "local recoding of Adult, 30,162 records, nine columns, k = 5, and lower bounds",
        f"Bounds from {how}. Losses are the mean over records and columns (NCP).",
        (
            Table(
                "what must be lost, and what is",
                {"": "", "NCP": ".4f", "above the bound": ".1%", "CPU s": ".1f"},
                rows,
            ),
        ),
    )


def bounds(tally: Tally, geometry: Geometry, cells: NDArray[np.intp]) -> tuple[float, float, float]:
    """The two bounds for the records of some cells, as means over them; and the seconds of the second."""
    codes: Codes = np.stack([column.codes.astype(np.int32) for column in tally.quasi], axis=1)
    begun = time.process_time()
    found = list(_each(codes, tally.counts, geometry, cells))
    weight = tally.counts[cells]
    near, box = (
        float(np.array(part, dtype=float) @ weight) / ONE / int(weight.sum())
        for part in zip(*found, strict=True)
    )
    return near, box, time.process_time() - begun


def _each(
    codes: Codes, counts: Whole, geometry: Geometry, cells: NDArray[np.intp]
) -> Iterator[tuple[int, int]]:
    for cell in cells.tolist():
        one = codes[cell]
        if counts[cell] >= K:
            own = int(geometry.loss(one[None], one[None])[0])
            yield own, own
            continue
        apart = geometry.loss(np.minimum(codes, one), np.maximum(codes, one))
        order = np.argsort(apart, kind="stable")
        have = np.cumsum(counts[order])
        yield int(apart[order[np.searchsorted(have, K)]]), smallest_box(codes, counts, geometry, order, apart)


def smallest_box(
    codes: Codes, counts: Whole, geometry: Geometry, order: NDArray[np.intp], apart: Whole
) -> int:
    """What the box loses that holds the first cell of the order, at least k records, and loses least."""
    first = codes[order[0]]
    best = _greedy(codes[order], counts[order], geometry)
    close = order[apart[order] < best]  # a box that holds a cell further off loses more
    some, have = codes[close], counts[close]

    def within(low: Codes, high: Codes) -> NDArray[np.bool_]:
        inside: NDArray[np.bool_] = np.logical_and.reduce((some >= low) & (some <= high), axis=1)
        return inside

    def look(low: Codes, high: Codes, barred: NDArray[np.bool_]) -> None:
        nonlocal best
        inside = within(low, high)
        if int(have[inside].sum()) >= K:
            best = min(best, int(geometry.loss(low[None], high[None])[0]))
            return
        lows, highs = np.minimum(some, low), np.maximum(some, high)
        loss = geometry.loss(lows, highs)
        tried = barred.copy()  # boxes with these were looked at by those before
        for at in np.argsort(loss, kind="stable").tolist():
            if loss[at] >= best:
                return
            if not inside[at] and not barred[at]:
                if not (tried & within(lows[at], highs[at])).any():
                    look(lows[at], highs[at], tried)
                tried[at] = True

    look(first, first, np.zeros(len(close), dtype=bool))
    return best


def _greedy(codes: Codes, counts: Whole, geometry: Geometry) -> int:
    """A box that holds the first cell, grown by whatever makes it lose least: not the smallest, but one."""
    low = high = codes[0]
    while int(counts[((codes >= low) & (codes <= high)).all(axis=1)].sum()) < K:
        outside = ~((codes >= low) & (codes <= high)).all(axis=1)
        lows, highs = np.minimum(codes[outside], low), np.maximum(codes[outside], high)
        at = int(np.argmin(geometry.loss(lows, highs)))
        low, high = lows[at], highs[at]
    return int(geometry.loss(low[None], high[None])[0])
