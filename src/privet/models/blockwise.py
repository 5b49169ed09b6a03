"""The counting of `groups` by the compiled loop, over blocks of columns: the same numbers, much sooner."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import combinations, pairwise
from math import comb

import numpy as np

from privet import effort, native
from privet.blocks import dealt, unions
from privet.core import Column, Tally
from privet.errors import InternalError
from privet.models.template import Protected

THREADS = os.cpu_count() or 1
PARTS = 32  # for each thread, so that work that nobody waits for ends soon


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
    dealt_out = sorted(at for group in groups for at in group)
    if dealt_out != list(range(len(columns))) or len(blocks) != comb(len(groups), min(size, len(groups))):
        raise InternalError("a check that leaves a combination out is not a check")
    codes = np.array([column.codes for column in columns], dtype=np.uint16)
    radix = np.array(widths, dtype=np.int64)
    counts = tally.counts.astype(np.int32)
    marks = [(at, bound, code) for at, bound in enumerate(bounds) for code in bound.codes]
    marked = np.zeros((len(marks), tally.cells), dtype=np.int32)
    for row, (_, bound, code) in zip(marked, marks, strict=True):
        np.copyto(row, counts, where=tally.sensitive[bound.column].codes == code)

    smallest = np.empty(len(blocks), dtype=np.int64)
    top = np.zeros((len(blocks), len(marks)), dtype=np.int64)
    bottom = np.ones_like(top)

    between = effort.between()

    def look(part: slice) -> bool:
        between()
        some = blocks.part(part)
        said = native.call(
            "privet_survey_blocks",
            codes,
            tally.cells,
            radix,
            counts,
            marked,
            len(marks),
            some.attributes,
            some.groups,
            some.vanish,
            len(some),
            blocks.attributes.shape[1],
            min(size, len(columns)),
            smallest[part],
            top[part],
            bottom[part],
        )
        return said == 0

    edges = np.linspace(0, len(blocks), min(len(blocks), PARTS * THREADS) + 1).astype(int).tolist()
    with ThreadPoolExecutor(THREADS) as pool:
        if not all(pool.map(look, (slice(*edge) for edge in pairwise(edges)))):
            return None
    shares = [Fraction(0)] * len(bounds)
    broken = smallest < k
    for mark, (at, bound, _) in enumerate(marks):
        for block in range(len(blocks)):
            share = Fraction(int(top[block, mark]), int(bottom[block, mark]))
            shares[at] = max(shares[at], share)
            broken[block] |= share > bound.template.at_most
    suspect = {
        subset
        for block in blocks.attributes[broken]
        for subset in combinations([int(at) for at in block if at >= 0], min(size, len(columns)))
    }
    return int(smallest.min()), tuple(shares), sorted(suspect)
