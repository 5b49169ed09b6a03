"""The counting of `lookahead` by the compiled loop, over blocks of attributes instead of combinations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from privet import native
from privet.blocks import dealt, unions
from privet.counts.bounds import Bound
from privet.counts.door import Ahead, Candidate

THREADS = os.cpu_count() or 1


def keeps(  # noqa: PLR0917 - mirrors what the plain loop has at hand
    ahead: Ahead, width: Sequence[int], candidate: Candidate, others: Sequence[int], reach: int, bound: Bound
) -> bool | None:
    """Would every group still be within the bound? None where the loop cannot tell."""
    fan = len(candidate.children)
    widths = [width[at] for at in others]
    total = int(ahead.count.sum())
    bottoms = np.array([min(at_most.denominator, 2**62) for _, at_most in bound.shares], dtype=np.int64)
    if max((fan, *widths)) > 256 or total * int(bottoms.max(initial=1)) >= 2**62 or total >= 2**31:
        return None
    groups = dealt(widths, reach, len(ahead.unit), fan)
    if groups is None:
        return None
    blocks = unions(groups, reach)
    entries = len(ahead.unit)
    codes = np.empty((len(others) + 1, entries), dtype=np.uint8)
    codes[0] = ahead.child
    for row, at in enumerate(others, start=1):  # "clip": places are in range, so nothing need be compared
        np.take(ahead.position[at].astype(np.uint8, copy=False), ahead.unit, out=codes[row], mode="clip")
    radix = np.array([fan, *widths], dtype=np.int64)
    counts = ahead.count.astype(np.int32)
    tops = np.array([at_most.numerator for _, at_most in bound.shares], dtype=np.int64)
    having = np.array([ahead.having[at] for at, _ in bound.shares], dtype=np.int32).reshape(
        len(tops), entries
    )

    def look(part: slice) -> bool | None:
        some = blocks.part(part)
        said = native.call(
            "privet_blocks_keep",
            codes,
            entries,
            radix,
            counts,
            having,
            len(tops),
            some.attributes,
            some.groups,
            some.vanish,
            len(some),
            blocks.attributes.shape[1],
            reach,
            bound.k,
            tops,
            bottoms,
        )
        return None if said < 0 else said == 1

    # Others come widest first, so the first block is the likeliest to break: look at it alone before
    # the rest share the cores.
    first = look(slice(0, 1))
    if not first:
        return first
    if len(blocks) * entries < 500_000:
        return look(slice(1, None))
    edges = np.linspace(1, len(blocks), min(len(blocks), 4 * THREADS) + 1).astype(int).tolist()
    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(look, (slice(*edge) for edge in pairwise(edges))))
    if False in found:
        return False
    return None if None in found else True
