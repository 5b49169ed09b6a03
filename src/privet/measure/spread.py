"""What a reader makes of generalised values: each record is spread evenly over the values it may have.

A published value is a range of codes in leaf order, so a published record is a box. Spread evenly, boxes
give a distribution, and its distance from the raw one is what a reader of counts has lost. A record that
is not published may be anywhere: it is spread over everything.

Non-uniform entropy: Gionis and Tassa, "k-anonymization with minimal loss of information", TKDE 2009.
KL divergence: Kifer and Gehrke, "Injecting utility into anonymized datasets", SIGMOD 2006.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.core import Column, Tally
from privet.domain import Value
from privet.measure.classes import Ints, add_up
from privet.recoding import Generalization, Regions

DIGITS = 12  # bits that differ by less are rounding noise
EFFORT = 2_000_000_000  # comparisons for boxes that overlap: a few seconds

Span = tuple[int, int]  # codes [lo, hi)


def evenly(size: int, spans: Sequence[Span], records: NDArray[Any], missing: int = 0) -> NDArray[np.float64]:
    """How many records a reader would assume for each of `size` values.

    >>> evenly(4, [(0, 2), (2, 3)], np.array([3, 5]), missing=4).tolist()
    [2.5, 2.5, 6.0, 1.0]
    """
    ends = np.array(spans, dtype=np.intp).reshape(-1, 2)
    lo, hi = ends[:, 0], ends[:, 1]
    wide = hi - lo > 1
    found = np.bincount(lo[~wide], weights=records[~wide], minlength=size).astype(np.float64)
    if wide.any():
        each = records[wide] / (hi - lo)[wide]
        begin = np.bincount(lo[wide], weights=each, minlength=size + 1)
        found += np.cumsum(begin - np.bincount(hi[wide], weights=each, minlength=size + 1))[:size]
    return found + missing / size


def divergence(raw: NDArray[Any], assumed: NDArray[np.float64]) -> float:
    """KL divergence in bits: how much longer raw values are to write for who believes the assumed counts.

    0 where both have the same shares; never infinite, since a record may always have its own value.
    """
    there = raw > 0
    p, q = raw[there] / raw.sum(), assumed[there] / assumed.sum()
    return max(0.0, round(float(p @ np.log2(p / q)), DIGITS)) if len(p) else 0.0


def entropy_lost(raw: NDArray[Any], spans: Sequence[Span], records: NDArray[Any], missing: int = 0) -> float:
    """Non-uniform entropy: bits that tell a record's value once its published one is known, as a share of
    the bits that tell it when nothing is known.

    Unlike LM it asks how common values are: to hide a rare value among common ones hides much.
    """
    total = float(raw.sum())
    own = _weighed(raw, raw)
    most = total * np.log2(total) - own if total else 0.0
    if most <= 0:
        return 0.0  # of a single value there is nothing to lose
    ends = np.array(spans, dtype=np.intp).reshape(-1, 2)
    below = np.concatenate([[0.0], np.cumsum(raw, dtype=np.float64)])
    left = _weighed(records, below[ends[:, 1]] - below[ends[:, 0]]) + missing * np.log2(total)
    return float(min(1.0, max(0.0, round((left - own) / most, DIGITS))))


def _weighed(records: NDArray[Any], among: NDArray[Any]) -> float:
    there = records > 0
    return float(records[there] @ np.log2(among[there]))


@dataclass(frozen=True, eq=False)
class Boxes:
    """Published cells as boxes of raw values: for each attribute where a cell's range begins and ends."""

    lo: Mapping[str, NDArray[np.intp]] = field(repr=False)
    hi: Mapping[str, NDArray[np.intp]] = field(repr=False)
    counts: Ints = field(repr=False)
    missing: int = 0  # records that are not published

    @classmethod
    def of(cls, raw: Tally, recoding: Generalization | Regions) -> Boxes:
        """The boxes of the tally's own cells."""
        lo, hi = {}, {}
        for column in raw.quasi:
            shown = recoding.shown(column)
            positions = shown.positions if recoding.kept is None else shown.positions[recoding.kept]
            lo[column.name] = np.array([node.lo for node in shown.nodes], dtype=np.intp)[positions]
            hi[column.name] = np.array([node.hi for node in shown.nodes], dtype=np.intp)[positions]
        counts = raw.counts if recoding.kept is None else raw.counts[recoding.kept]
        return cls(lo, hi, counts, raw.records - int(counts.sum()))

    @classmethod
    def read(cls, published: Tally, ranges: Mapping[str, Mapping[Value, Span]], missing: int) -> Boxes:
        """The boxes of a published table, by what each label may stand for."""
        lo, hi = {}, {}
        for column in published.quasi:
            spans = np.array([ranges[column.name][label] for label in column.domain.values], dtype=np.intp)
            lo[column.name], hi[column.name] = spans[column.codes, 0], spans[column.codes, 1]
        return cls(lo, hi, published.counts, missing)

    def merged(self) -> tuple[NDArray[np.intp], Ints]:
        """The different boxes, a row of all beginnings and ends for each, and the records in each."""
        rows = np.column_stack([*self.lo.values(), *self.hi.values()])
        found, at = np.unique(rows, axis=0, return_inverse=True)
        return found, add_up(at.reshape(-1), self.counts, len(found))


def joint_divergence(raw: Tally, boxes: Boxes, *, effort: int = EFFORT) -> float | None:
    """KL divergence over all quasi-identifiers together; None where that would take too long.

    What is left of how attributes hang together: it may be large where each attribute's own is 0.
    """
    here, n = distinct(raw.quasi, raw.counts)
    sizes = [column.domain.size for column in raw.quasi]
    found, records = boxes.merged()
    if len(found) * len(here) * len(sizes) > effort:
        return None
    lo, hi = found[:, : len(sizes)], found[:, len(sizes) :]
    each = records / (hi - lo).prod(axis=1, dtype=np.float64)
    assumed = np.full(len(here), boxes.missing / prod(map(float, sizes)))
    for first, last, share in zip(lo, hi, each, strict=True):
        assumed[((here >= first) & (here < last)).all(axis=1)] += share
    p = n / n.sum()
    q = assumed / (int(records.sum()) + boxes.missing)
    return max(0.0, round(float(p @ np.log2(p / q)), DIGITS))


def distinct(columns: Sequence[Column], counts: Ints) -> tuple[NDArray[np.intp], Ints]:
    """The combinations of codes that occur, a row for each, and the records that have each."""
    rows = np.column_stack([column.codes.astype(np.intp) for column in columns])
    found, at = np.unique(rows, axis=0, return_inverse=True)
    return found, add_up(at.reshape(-1), counts, len(found))
