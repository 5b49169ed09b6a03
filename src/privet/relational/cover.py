"""Blocks that cover combinations: count few large tables instead of many small ones.

To look at every combination of `reach` attributes one need not count each of them: a table over a
block of more attributes holds all the combinations inside it, and adding up a table is cheaper than
going through the records once more. Blocks stay small enough for their tables to fit the processor's
cache; which block serves which combination is found greedily (a covering design need not be optimal).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from math import comb, prod

MOST_SUBSETS = 3000  # beyond, finding a cover takes longer than it saves


@lru_cache(maxsize=256)
def cover(
    widths: tuple[int, ...], reach: int, room: int
) -> tuple[tuple[tuple[int, ...], tuple[tuple[int, ...], ...]], ...]:
    """Blocks of attributes with at most `room` combinations of values, each with the subsets it serves.

    Attributes are given by their widths, widest first, and named by their places. The first blocks
    hold the widest combinations: the smallest groups, where a promise breaks first.

    >>> cover((2, 2, 2), 2, 8)
    (((0, 1, 2), ((0, 1), (0, 2), (1, 2))),)
    """
    everything = range(len(widths))
    open_subsets = dict.fromkeys(combinations(everything, reach))
    if comb(len(widths), reach) > MOST_SUBSETS:
        return tuple((subset, (subset,)) for subset in open_subsets)
    blocks = []
    while open_subsets:
        block = list(next(iter(open_subsets)))
        size = prod(widths[at] for at in block)
        while True:
            fitting = [at for at in everything if at not in block and size * widths[at] <= room]
            if not fitting:
                break
            # the attribute that brings most combinations still open
            gained = {
                at: sum(
                    1 for rest in combinations(block, reach - 1) if tuple(sorted((*rest, at))) in open_subsets
                )
                for at in fitting
            }
            best = max(fitting, key=lambda at: (gained[at], -widths[at]))
            if not gained[best]:
                break
            block.append(best)
            size *= widths[best]
        block.sort()
        served = tuple(subset for subset in combinations(block, reach) if subset in open_subsets)
        for subset in served:
            del open_subsets[subset]
        blocks.append((tuple(block), served))
    return tuple(blocks)
