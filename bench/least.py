"""How far local recoding is from the least that any partition could lose: k-anonymity on Adult, ARX's trees.

Nobody knows the optimum of a table of this size (small ones: tests/relational/test_optimum.py). But whatever
class a record is in, its box holds the record and k - 1 others, so the record loses at least what the
smallest such box loses; found exactly, by branch and bound, for every record. The distance to the k-th
nearest record is a smaller bound of the same kind, sooner counted. No partition gives all records their own
smallest box at once. Prices (bench/duality.py) say what must be lost by all records together, and so are a
larger bound. The optimum lies between it and what is reached; where in between is not known.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from numpy.typing import NDArray

from bench import duality
from bench.lattice import K5, ncp, prepared
from bench.outcome import Cell, Outcome, Table
from privet.core import Tally
from privet.errors import InternalError
from privet.recoding import Regions
from privet.relational.geometry import ONE, Codes, Geometry, Whole
from privet.relational.local import Local

K = 5
SAMPLE = 400  # records in the short form: a table of its own, whose records are further apart
EACH = 120  # CPU seconds for the bounds of each record by itself
ROUNDS, PRICED = 12, 240  # of cutting planes, and the CPU seconds after which none begins
EVENLY = (5**0.5 - 1) / 2  # multiples of the golden section, modulo 1, lie evenly


def run(*, full: bool) -> Outcome:
    tally, policy = prepared((K5,), Local(), quasi=9, sample=None if full else SAMPLE)
    geometry = Geometry.of(tally.quasi, [True] * len(tally.quasi), [1 / len(tally.quasi)] * len(tally.quasi))
    told: list[tuple[str, float, float]] = []  # what by, how much, in how many seconds

    def tell(name: str, lost: float, seconds: float) -> None:
        told.append((name, lost, seconds))
        say(f"{name}: {lost:.4f}, {seconds:.1f} CPU s")

    nearest, smallest, looked, spent = bounds(tally, geometry)
    every = looked == tally.cells
    some = "" if every else f", of {looked:,} of {tally.cells:,} combinations, taken evenly in {EACH} s"
    tell(f"distance of the k-th nearest record{some}", nearest, spent)
    tell(f"smallest box with k records{some}", smallest, spent)
    for name, search in (("local, refine = 0", Local(refine=0)), ("local", Local())):
        begun = time.process_time()
        found = search.search(tally, policy).recoding
        tell(name, ncp(tally, found), time.process_time() - begun)
    if not isinstance(found, Regions) or found.of_cell is None:
        raise InternalError("local recoding has a class for each cell")
    begun = time.process_time()
    prices = duality.prices(tally, geometry, K, found.of_cell, ROUNDS, seconds=PRICED, say=say)
    spent = time.process_time() - begun
    late = f", bound after {PRICED} s" if spent > PRICED else ""
    say("every box is looked at again")
    if wrong := duality.broken(tally, geometry, K, prices):
        raise InternalError(f"prices are too high in {wrong} boxes")
    most = int(prices @ tally.counts) / ONE / tally.records
    tell(f"prices{late}", most, spent)
    rows: list[list[Cell]] = [
        [name, lost, lost - most if name.startswith("local") else None, cpu] for name, lost, cpu in told
    ]
    return Outcome(
        "least",
        f"local recoding of Adult, {tally.records:,} records, nine columns, k = 5, and lower bounds",
        "Losses are the mean over records and columns (NCP); of some combinations, a mean of these.",
        (
            Table(
                "what must be lost, and what is",
                {"": "", "NCP": ".4f", "above the bound": ".4f", "CPU s": ".1f"},
                rows,
            ),
        ),
    )


def say(what: str) -> None:
    """As it goes: the whole takes minutes."""
    print(what, file=sys.stderr, flush=True)


def bounds(tally: Tally, geometry: Geometry) -> tuple[float, float, int, float]:
    """The two bounds for each record by itself, as means; how many cells were looked at, and the seconds.

    Cells are taken evenly; where the time is up, those that were looked at stand for all.
    """
    codes: Codes = np.stack([column.codes.astype(np.int32) for column in tally.quasi], axis=1)
    begun = time.process_time()
    order = np.argsort(np.arange(tally.cells) * EVENLY % 1, kind="stable")
    found: list[tuple[int, int]] = []
    for number, cell in enumerate(order.tolist()):
        if not number % 1000:
            say(f"{number:,} of {tally.cells:,} combinations: {time.process_time() - begun:.0f} CPU s")
        if time.process_time() - begun > EACH:
            break
        found.append(_bounds(cell, codes, tally.counts, geometry))
    weights = tally.counts[order[: len(found)]]
    near, box = (
        float(np.array(part, dtype=float) @ weights) / ONE / int(weights.sum())
        for part in zip(*found, strict=True)
    )
    return near, box, len(found), time.process_time() - begun


def _bounds(cell: int, codes: Codes, counts: Whole, geometry: Geometry) -> tuple[int, int]:
    one = codes[cell]
    if counts[cell] >= K:
        own = int(geometry.loss(one[None], one[None])[0])
        return own, own
    apart = geometry.loss(np.minimum(codes, one), np.maximum(codes, one))
    order = np.argsort(apart, kind="stable")
    have = np.cumsum(counts[order])
    return int(apart[order[np.searchsorted(have, K)]]), smallest_box(codes, counts, geometry, order, apart)


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
