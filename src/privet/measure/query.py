"""Aggregate queries: how far counts from a release are off, over a random workload.

A query asks how many records have values inside a box over a few attributes, as in Xiao and Tao,
"Anatomy", VLDB 2006, and LeFevre et al., "Workload-aware anonymization", KDD 2006. Boxes are ranges of codes
in leaf order, so numbers and taxonomies are asked alike. A released record counts with the share of its
region that lies inside the box: the usual assumption that values are spread evenly in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from privet.core import Column, Tally
from privet.measure.spread import Boxes
from privet.recoding import Generalization, Regions

QUERIES = 200
KNOWN = 3  # quasi-identifiers in a query, if there are as many
WIDTH = 0.3  # of each attribute's values inside the box
SANITY = 0.001  # of the records: the error of a rarer count is taken relative to this
SEED = 20_061


@dataclass(frozen=True, slots=True)
class Box:
    """A query: ranges of codes over some columns."""

    ranges: tuple[tuple[str, int, int], ...]


def workload(tally: Tally, *, queries: int = QUERIES, seed: int = SEED) -> Iterator[Box]:
    """Random boxes over quasi-identifiers, the same for the same domains."""
    rng = np.random.default_rng(seed)
    for _ in range(queries):
        chosen = rng.choice(len(tally.quasi), size=min(KNOWN, len(tally.quasi)), replace=False)
        yield Box(tuple(_range(tally.quasi[at], rng) for at in sorted(chosen.tolist())))


def _range(column: Column, rng: np.random.Generator) -> tuple[str, int, int]:
    width = max(1, round(WIDTH * column.domain.size))
    begin = int(rng.integers(0, column.domain.size - width + 1))
    return column.name, begin, begin + width


def inside(tally: Tally, box: Box) -> NDArray[np.bool_]:
    """Which cells a query is about."""
    found = np.ones(tally.cells, dtype=bool)
    for name, lo, hi in box.ranges:
        column = tally.column(name)
        if column is not None:
            found &= (column.codes >= lo) & (column.codes < hi)
    return found


def median_error(
    raw: Tally, recoding: Generalization | Regions, *, queries: int = QUERIES, seed: int = SEED
) -> float:
    """The median relative error of counts that are estimated from what a recoding publishes."""
    return box_error(raw, Boxes.of(raw, recoding), queries=queries, seed=seed)


def box_error(raw: Tally, boxes: Boxes, *, queries: int = QUERIES, seed: int = SEED) -> float:
    """The same, from published boxes of raw values. Records that are not published are not counted."""
    errors = []
    for box in workload(raw, queries=queries, seed=seed):
        share = np.ones(len(boxes.counts))
        for name, lo, hi in box.ranges:
            begins, ends = boxes.lo[name], boxes.hi[name]
            share *= np.maximum(0, np.minimum(hi, ends) - np.maximum(lo, begins)) / (ends - begins)
        truth = int(raw.counts[inside(raw, box)].sum())
        errors.append(_relative(float(share @ boxes.counts), truth, raw.records))
    return float(np.median(errors))


def split_error(
    raw: Tally, bucket_of: NDArray[np.intp], *, queries: int = QUERIES, seed: int = SEED
) -> float:
    """The same for buckets: a query also names sensitive values, and a bucket gives their share only."""
    sensitive = raw.sensitive[0]
    codes = np.repeat(sensitive.codes, raw.counts).astype(np.int64)
    many = int(bucket_of.max()) + 1
    wide = np.random.default_rng(seed)
    records = raw.by_record()
    errors = []
    for box in workload(raw, queries=queries, seed=seed):
        _, lo, hi = _range(sensitive, wide)
        matches = (codes >= lo) & (codes < hi)
        held = np.bincount(bucket_of, weights=matches, minlength=many)
        share = held / np.bincount(bucket_of, minlength=many)
        asked = inside(records, box)
        truth = int(np.count_nonzero(asked & matches))
        errors.append(_relative(float(share[bucket_of[asked]].sum()), truth, raw.records))
    return float(np.median(errors))


def _relative(estimate: float, truth: int, records: int) -> float:
    return abs(estimate - truth) / max(truth, SANITY * records, 1.0)
