"""The dense counting loop of `groups`, compiled: the same numbers, some twenty times sooner.

Needs the extra `fast`. It looks like the search's loop and is kept apart from it on purpose: what a
search got wrong must not be counted wrong here too.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from privet.blocks import dealt, unions
from privet.core import Column, Tally
from privet.errors import InternalError
from privet.models.template import Protected

CHUNK = 2048  # records whose keys are packed at a time: the vectorised half of the loop
THREADS = os.cpu_count() or 1


def survey(
    tally: Tally, columns: Sequence[Column], size: int, k: int, bounds: Sequence[Protected]
) -> tuple[int, tuple[Fraction, ...], list[tuple[int, ...]]] | None:
    """The smallest group, the largest share for each bound, and every combination that may be broken.

    None where no table of counts fits.
    """
    widths = [column.domain.size for column in columns]
    groups = dealt(widths, size, tally.cells)
    if groups is None or max(widths) > 2**16 or tally.records >= 2**31:
        return None
    blocks = unions(groups, size)
    if sorted(at for group in groups for at in group) != list(range(len(columns))) or len(blocks) != comb(
        len(groups), min(size, len(groups))
    ):
        raise InternalError("a check that leaves a combination out is no check")
    codes = np.array([c.codes for c in columns], dtype=np.uint8 if max(widths) <= 2**8 else np.uint16)
    radix = np.array(widths, dtype=np.int64)
    counts = tally.counts.astype(np.int32)
    flags = [(at, bound, code) for at, bound in enumerate(bounds) for code in bound.codes]
    marks = np.array(
        [np.where(tally.sensitive[bound.column].codes == code, counts, 0) for _, bound, code in flags],
        dtype=np.int32,
    ).reshape(len(flags), tally.cells)

    def look(part: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        found: tuple[Any, Any, Any] = _survey_blocks(codes, radix, counts, marks, part, size)
        return found

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(look, np.array_split(blocks, min(len(blocks), 4 * THREADS))))
    smallest, top, bottom = (np.concatenate(parts) for parts in zip(*found, strict=True))
    shares = [Fraction(0)] * len(bounds)
    broken = smallest < k
    for flag, (at, bound, _) in enumerate(flags):
        for block in range(len(blocks)):
            share = Fraction(int(top[block, flag]), int(bottom[block, flag]))
            shares[at] = max(shares[at], share)
            broken[block] |= share > bound.template.at_most
    suspect = {
        subset
        for block in blocks[broken]
        for subset in combinations([int(at) for at in block if at >= 0], min(size, len(columns)))
    }
    return int(smallest.min()), tuple(shares), sorted(suspect)


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator] # numba has no types
def _survey_blocks(  # noqa: PLR0917 - compiled code takes no keywords
    codes: NDArray[Any],
    radix: NDArray[np.int64],
    counts: NDArray[np.int32],
    marks: NDArray[np.int32],
    blocks: NDArray[np.int64],
    size: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """For each block: the smallest group, and for each mark the largest share as a fraction."""
    cells, flags = len(counts), marks.shape[0]
    smallest = np.full(len(blocks), 2**62, dtype=np.int64)
    top = np.zeros((len(blocks), flags), dtype=np.int64)
    bottom = np.ones((len(blocks), flags), dtype=np.int64)
    key = np.empty(CHUNK, dtype=np.uint32)
    for b in range(len(blocks)):
        members = blocks[b][blocks[b] >= 0]
        shape = radix[members]
        room = 1
        for width in shape:
            room *= width
        table = np.zeros((flags + 1, room), dtype=np.int32)
        for start in range(0, cells, CHUNK):
            n = min(CHUNK, cells - start)
            key[:n] = 0
            for j in range(len(members)):
                row, width = members[j], np.uint32(shape[j])
                for i in range(n):
                    key[i] = key[i] * width + np.uint32(codes[row, start + i])
            for i in range(n):
                table[0, key[i]] += counts[start + i]
            for f in range(flags):
                for i in range(n):
                    table[f + 1, key[i]] += marks[f, start + i]
        smallest[b] = _look(table, shape, size, top[b], bottom[b])
    return smallest, top, bottom


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator] # numba has no types
def _look(
    table: NDArray[np.int32],
    shape: NDArray[np.int64],
    size: int,
    top: NDArray[np.int64],
    bottom: NDArray[np.int64],
) -> np.int64:
    """The smallest group in all tables over `size` of the axes; larger shares go to top and bottom.

    A walk over the choices of axes to leave out, in order; `stack[depth]` is the table without the
    first `depth` of them. (Not recursive: Numba cannot cache a function that calls itself.)
    """
    dims = len(shape)
    depth_to = max(0, dims - size)
    stack = np.empty((depth_to + 1, table.shape[0], table.shape[1]), dtype=np.int32)
    stack[0] = table
    left_out = np.full(depth_to + 1, -1, dtype=np.int64)  # original axes, ascending
    widths = np.empty((depth_to + 1, dims), dtype=np.int64)
    widths[0] = shape
    length = np.empty(depth_to + 1, dtype=np.int64)
    length[0] = table.shape[1]
    smallest = np.int64(2**62)
    depth = 0
    while depth >= 0:
        if depth == depth_to:
            for g in range(length[depth]):
                n = np.int64(stack[depth, 0, g])
                if n > 0:
                    smallest = min(smallest, n)
                    for f in range(len(top)):
                        # h/n above top/bottom, multiplied out: exact in 64 bits, all are below 2**31
                        h = np.int64(stack[depth, f + 1, g])
                        if h * bottom[f] > top[f] * n:
                            top[f] = h
                            bottom[f] = n
            depth -= 1
            continue
        # the next axis to leave out at this depth, with enough behind it for the depths to come
        axis = max(left_out[depth] + 1, left_out[depth - 1] + 1 if depth > 0 else 0)
        if axis > dims - depth_to + depth:
            left_out[depth] = -1
            depth -= 1
            continue
        left_out[depth] = axis
        place = axis - depth
        before, width, after = 1, widths[depth, place], 1
        for j in range(place):
            before *= widths[depth, j]
            widths[depth + 1, j] = widths[depth, j]
        for j in range(place + 1, dims - depth):
            after *= widths[depth, j]
            widths[depth + 1, j - 1] = widths[depth, j]
        length[depth + 1] = before * after
        for t in range(table.shape[0]):
            whole, part = stack[depth, t], stack[depth + 1, t]
            part[: before * after] = 0
            for p in range(before):
                for w in range(width):
                    for q in range(after):
                        part[p * after + q] += whole[(p * width + w) * after + q]
        depth += 1
        if depth < depth_to:
            left_out[depth] = -1
    return smallest
