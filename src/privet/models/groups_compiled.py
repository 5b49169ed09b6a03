"""The dense counting loop of `groups`, compiled: the same numbers, some twenty times sooner.

Needs the extra `fast`. Measured on a million published Adult records, 715 combinations of four out of
thirteen: see bench/check.py.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from privet.core import Column, Tally
from privet.models.template import Protected

CHUNK = 2048  # records whose keys are packed at a time: the vectorised half of the loop


def survey(
    tally: Tally,
    columns: Sequence[Column],
    subsets: Sequence[tuple[int, ...]],
    k: int,
    bounds: Sequence[Protected],
) -> tuple[int, tuple[Fraction, ...], list[tuple[int, ...]]]:
    """The smallest group, the largest share for each bound, and the subsets with a broken group."""
    wide = np.uint8 if all(c.domain.size <= 2**8 for c in columns) else np.uint32
    codes = np.array([c.codes for c in columns], dtype=wide)
    radix = np.array([c.domain.size for c in columns], dtype=np.int64)
    counts = tally.counts.astype(np.int32)
    # one row for each protected code: 1 where a cell has it
    flags = [
        (tally.sensitive[bound.column].codes == code, bound.template.at_most, at)
        for at, bound in enumerate(bounds)
        for code in bound.codes
    ]
    marks = np.array([flag for flag, _, _ in flags], dtype=np.uint8).reshape(len(flags), tally.cells)

    def look(subset: tuple[int, ...]) -> tuple[int, list[Fraction]]:
        chosen = np.array(subset, dtype=np.int64)
        room = int(np.prod(radix[chosen]))
        smallest, having, size = _count(codes, radix, counts, marks, chosen, room)
        return int(smallest), [Fraction(int(h), int(n)) for h, n in zip(having, size, strict=True)]

    smallest = tally.records
    shares = [Fraction(0)] * len(bounds)
    broken = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for subset, (found, largest) in zip(subsets, pool.map(look, subsets), strict=True):
            smallest = min(smallest, found)
            bad = found < k
            for (_, at_most, at), share in zip(flags, largest, strict=True):
                shares[at] = max(shares[at], share)
                bad = bad or share > at_most
            if bad:
                broken.append(subset)
    return smallest, tuple(shares), broken


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator] # numba has no types
def _count(  # noqa: PLR0917 - compiled code takes no keywords
    codes: NDArray[Any],
    radix: NDArray[np.int64],
    counts: NDArray[np.int32],
    marks: NDArray[np.uint8],
    chosen: NDArray[np.int64],
    room: int,
) -> tuple[np.int64, NDArray[np.int64], NDArray[np.int64]]:
    cells = len(counts)
    flags = marks.shape[0]
    size = np.zeros(room, dtype=np.int32)
    having = np.zeros((flags, room), dtype=np.int32)
    key = np.empty(CHUNK, dtype=np.uint32)
    for start in range(0, cells, CHUNK):
        n = min(CHUNK, cells - start)
        first = chosen[0]
        for i in range(n):
            key[i] = codes[first, start + i]
        for c in chosen[1:]:
            r = np.uint32(radix[c])
            for i in range(n):
                key[i] = key[i] * r + np.uint32(codes[c, start + i])
        for i in range(n):
            size[key[i]] += counts[start + i]
        for f in range(flags):
            for i in range(n):
                if marks[f, start + i]:
                    having[f, key[i]] += counts[start + i]
    smallest = np.int64(2**62)
    for g in range(room):
        if 0 < size[g] < smallest:
            smallest = np.int64(size[g])
    top = np.zeros(flags, dtype=np.int64)
    bottom = np.ones(flags, dtype=np.int64)
    for f in range(flags):
        for g in range(room):
            # compare h/n with top/bottom by multiplying out: exact in 64 bits, both are below 2**31
            if np.int64(having[f, g]) * bottom[f] > top[f] * np.int64(size[g]):
                top[f] = having[f, g]
                bottom[f] = size[g]
    return smallest, top, bottom
