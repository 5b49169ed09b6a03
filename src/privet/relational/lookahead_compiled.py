"""The counting loop of `lookahead`, compiled, over blocks of attributes instead of combinations.

Needs the extra `fast`; answers exactly as the plain loop does (tests/relational/test_lookahead.py).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
from numpy.typing import NDArray

from privet.blocks import dealt, unions
from privet.relational.bounds import Bound
from privet.relational.partition import Ahead, Partition
from privet.relational.specialize import Candidate

CHUNK = 2048  # entries whose keys are packed at a time: the vectorised half of the loop
THREADS = os.cpu_count() or 1


def keeps(  # noqa: PLR0917 - mirrors what the plain loop has at hand
    partition: Partition, candidate: Candidate, ahead: Ahead, others: Sequence[int], reach: int, bound: Bound
) -> bool | None:
    """Would every group still be within the bound? None where this loop cannot tell."""
    fan = len(candidate.children)
    widths = [partition.width[at] for at in others]
    total = int(ahead.count.sum())
    bottoms = np.array([min(at_most.denominator, 2**62) for _, at_most in bound.shares], dtype=np.int64)
    if max((fan, *widths)) > 256 or total * int(bottoms.max(initial=1)) >= 2**62 or total >= 2**31:
        return None
    groups = dealt(widths, reach, len(ahead.unit), fan)
    if groups is None:
        return None
    blocks = unions(groups, reach)
    codes = np.empty((len(others) + 1, len(ahead.unit)), dtype=np.uint8)
    codes[0] = ahead.child
    for row, at in enumerate(others, start=1):
        np.take(partition.position[at], ahead.unit, out=codes[row], mode="clip")
    radix = np.array([fan, *widths], dtype=np.int64)
    counts = ahead.count.astype(np.int32)
    having = np.array([ahead.having[at] for at, _ in bound.shares], dtype=np.int32).reshape(-1, len(counts))
    tops = np.array([at_most.numerator for _, at_most in bound.shares], dtype=np.int64)

    def look(part: NDArray[np.int64]) -> bool:
        return bool(_blocks_keep(codes, radix, counts, having, part, reach, bound.k, tops, bottoms))

    # Others come widest first, so the first block is the likeliest to break: look at it alone before
    # the rest share the cores.
    if not look(blocks[:1]):
        return False
    rest = blocks[1:]
    if len(rest) * len(counts) < 500_000:
        return look(rest)
    with ThreadPoolExecutor(THREADS) as pool:
        return all(pool.map(look, np.array_split(rest, min(len(rest), 4 * THREADS))))


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator] # numba has no types
def _blocks_keep(  # noqa: PLR0917 - compiled code takes no keywords
    codes: NDArray[np.uint8],
    radix: NDArray[np.int64],
    counts: NDArray[np.int32],
    having: NDArray[np.int32],
    blocks: NDArray[np.int64],
    reach: int,
    k: int,
    tops: NDArray[np.int64],
    bottoms: NDArray[np.int64],
) -> bool:
    """Count each block (the child is the first axis of every table), then look at all it holds."""
    flags = having.shape[0]
    entries = len(counts)
    key = np.empty(CHUNK, dtype=np.uint32)
    for b in range(blocks.shape[0]):
        axes = 1
        for at in blocks[b]:
            if at >= 0:
                axes += 1
        shape = np.empty(axes, dtype=np.int64)
        shape[0] = radix[0]
        room = radix[0]
        for j in range(1, axes):
            shape[j] = radix[blocks[b, j - 1] + 1]
            room *= shape[j]
        table = np.zeros((flags + 1, room), dtype=np.int32)
        for start in range(0, entries, CHUNK):
            n = min(CHUNK, entries - start)
            for i in range(n):
                key[i] = codes[0, start + i]
            for j in range(1, axes):
                row, width = blocks[b, j - 1] + 1, np.uint32(shape[j])
                for i in range(n):
                    key[i] = key[i] * width + np.uint32(codes[row, start + i])
            for i in range(n):
                table[0, key[i]] += counts[start + i]
            for f in range(flags):
                for i in range(n):
                    table[f + 1, key[i]] += having[f, start + i]
        if not _all_keep(table, shape, reach + 1, k, tops, bottoms):
            return False
    return True


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator] # numba has no types
def _all_keep(  # noqa: PLR0917 - compiled code takes no keywords
    table: NDArray[np.int32],
    shape: NDArray[np.int64],
    axes: int,
    k: int,
    tops: NDArray[np.int64],
    bottoms: NDArray[np.int64],
) -> bool:
    """Sum out all but the first axis and `axes - 1` others, in every way, and look at what is left.

    The axes that go are taken in ascending order like the digits of a counter; `sums[d]` holds the
    table without the first `d` of them, so that a step of the counter sums anew only what changed.
    """
    total = len(shape)
    gone = max(0, total - axes)
    sums = np.empty((gone + 1, table.shape[0], table.shape[1]), dtype=np.int32)
    sums[0] = table
    shapes = np.empty((gone + 1, total), dtype=np.int64)
    shapes[0] = shape
    rooms = np.empty(gone + 1, dtype=np.int64)
    rooms[0] = table.shape[1]
    digit = np.arange(1, gone + 1)
    stale = 0
    while True:
        for d in range(stale, gone):
            axis, dims = digit[d] - d, total - d
            width = shapes[d, axis]
            before, after = 1, 1
            for j in range(axis):
                before *= shapes[d, j]
                shapes[d + 1, j] = shapes[d, j]
            for j in range(axis + 1, dims):
                after *= shapes[d, j]
                shapes[d + 1, j - 1] = shapes[d, j]
            rooms[d + 1] = before * after
            for t in range(table.shape[0]):
                source, target = sums[d, t], sums[d + 1, t]
                for b in range(before):
                    for a in range(after):
                        target[b * after + a] = source[b * width * after + a]
                    for w in range(1, width):
                        for a in range(after):
                            target[b * after + a] += source[(b * width + w) * after + a]
        for g in range(rooms[gone]):
            size = np.int64(sums[gone, 0, g])
            if 0 < size < k:
                return False
            for f in range(len(tops)):
                if np.int64(sums[gone, f + 1, g]) * bottoms[f] > size * tops[f]:
                    return False
        stale = gone - 1
        while stale >= 0 and digit[stale] == total - gone + stale:
            stale -= 1
        if stale < 0:
            return True
        digit[stale] += 1
        for d in range(stale + 1, gone):
            digit[d] = digit[d - 1] + 1
