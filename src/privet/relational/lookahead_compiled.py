"""The counting loop of `lookahead`, compiled, over blocks of attributes instead of combinations.

Needs the extra `fast`; answers exactly as the plain loop does (tests/relational/test_lookahead.py).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from privet.relational.bounds import Bound
from privet.relational.cover import cover
from privet.relational.partition import Ahead, Partition
from privet.relational.specialize import Candidate

CHUNK = 2048  # entries whose keys are packed at a time: the vectorised half of the loop
ROOM = 1 << 16  # places in a block's table: it must stay in the cache
THREADS = os.cpu_count() or 1


def keeps(  # noqa: PLR0917 - mirrors what the plain loop has at hand
    partition: Partition, candidate: Candidate, ahead: Ahead, others: Sequence[int], reach: int, bound: Bound
) -> bool | None:
    """Would every group still be within the bound? None where this loop cannot tell."""
    fan = len(candidate.children)
    widths = tuple(partition.width[at] for at in others)
    total = int(ahead.count.sum())
    largest = fan * float(np.prod(sorted(map(float, widths))[-reach:])) if reach else float(fan)
    bottoms = [at_most.denominator for _, at_most in bound.shares]
    if max((fan, *widths)) > 256 or largest > max(ROOM, len(ahead.unit)) or total >= 2**31:
        return None
    if any(total * bottom >= 2**62 for bottom in bottoms):
        return None
    codes = np.empty((len(others) + 1, len(ahead.unit)), dtype=np.uint8)
    codes[0] = ahead.child
    for row, at in enumerate(others, start=1):
        np.take(partition.position[at], ahead.unit, out=codes[row], mode="clip")
    radix = np.array([fan, *widths], dtype=np.int64)
    counts = ahead.count.astype(np.int32)
    having = np.array([ahead.having[at] for at, _ in bound.shares], dtype=np.int32).reshape(-1, len(counts))
    tops = np.array([at_most.numerator for _, at_most in bound.shares], dtype=np.int64)
    # Widths are rounded up, so that the cover found for one split serves many others too.
    rounded = tuple(1 << (width - 1).bit_length() for width in widths)
    room = max(1, min(ROOM, max(1024, 2 * len(counts))) // fan)
    blocks = cover(rounded, reach, room)

    def look(block: tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]) -> bool:
        chosen, served = block
        rows = np.array([0, *(at + 1 for at in chosen)], dtype=np.int64)
        place = {at: i + 1 for i, at in enumerate(chosen)}
        kept = np.array([[0, *(place[at] for at in subset)] for subset in served], dtype=np.int64)
        return bool(
            _block_keeps(
                codes, radix, counts, having, rows, kept, bound.k, tops, np.array(bottoms, dtype=np.int64)
            )
        )

    if len(blocks) == 1 or len(blocks) * len(counts) < 1_000_000:
        return all(look(block) for block in blocks)
    # The first block is the likeliest to break: look at it alone before the others share the cores.
    if not look(blocks[0]):
        return False
    with ThreadPoolExecutor(THREADS) as pool:
        return all(pool.map(look, blocks[1:]))


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator] # numba has no types
def _block_keeps(  # noqa: PLR0917 - compiled code takes no keywords
    codes: NDArray[np.uint8],
    radix: NDArray[np.int64],
    counts: NDArray[np.int32],
    having: NDArray[np.int32],
    rows: NDArray[np.int64],
    kept: NDArray[np.int64],
    k: int,
    tops: NDArray[np.int64],
    bottoms: NDArray[np.int64],
) -> bool:
    """Count one block, then look at each combination in it."""
    shape = radix[rows]
    room = 1
    for width in shape:
        room *= width
    flags = having.shape[0]
    tables = np.zeros((flags + 1, room), dtype=np.int32)
    key = np.empty(CHUNK, dtype=np.uint32)
    entries = len(counts)
    for start in range(0, entries, CHUNK):
        n = min(CHUNK, entries - start)
        for i in range(n):
            key[i] = codes[rows[0], start + i]
        for j in range(1, len(rows)):
            r, width = rows[j], np.uint32(shape[j])
            for i in range(n):
                key[i] = key[i] * width + np.uint32(codes[r, start + i])
        for i in range(n):
            tables[0, key[i]] += counts[start + i]
        for f in range(flags):
            for i in range(n):
                tables[f + 1, key[i]] += having[f, start + i]
    for s in range(kept.shape[0]):
        sums = _add_up(tables, shape, kept[s])
        for g in range(sums.shape[1]):
            size = np.int64(sums[0, g])
            if 0 < size < k:
                return False
            for f in range(flags):
                if np.int64(sums[f + 1, g]) * bottoms[f] > size * tops[f]:
                    return False
    return True


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator] # numba has no types
def _add_up(tables: NDArray[np.int32], shape: NDArray[np.int64], kept: NDArray[np.int64]) -> NDArray[Any]:
    """The tables with every axis summed out that is not kept (both ascending)."""
    current = tables
    widths = shape.copy()
    for axis in range(len(shape) - 1, -1, -1):
        stays = False
        for place in kept:
            if place == axis:
                stays = True
        if stays:
            continue
        before, after = 1, 1
        for j in range(axis):
            before *= widths[j]
        for j in range(axis + 1, len(widths)):
            after *= widths[j]
        width = widths[axis]
        sums = np.zeros((current.shape[0], before * after), dtype=np.int32)
        for t in range(current.shape[0]):
            for b in range(before):
                for w in range(width):
                    source = (b * width + w) * after
                    target = b * after
                    for a in range(after):
                        sums[t, target + a] += current[t, source + a]
        current = sums
        widths[axis] = 1
    return current
