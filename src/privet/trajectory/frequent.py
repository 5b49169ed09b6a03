"""Maximal frequent sequences: the routes that many take, and the reason for publishing paths at all.

A sequence is frequent if enough records contain it, and maximal if no longer one that contains it is.
As a sequence is a set of points, this is the mining of maximal item sets (Mohammed 2012, section 4.3.2,
takes MAFIA). Here: depth first over closed sets, each met once (Uno, Kiyomi and Arimura, "LCM ver. 2",
FIMI 2004), reporting those to which no frequent point can be added.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil

import numpy as np

from privet import native
from privet.errors import PolicyError
from privet.trajectory.paths import Ints, Paths
from privet.trajectory.sequences import Sequences


def frequent(paths: Paths, at_least: int | Fraction) -> Sequences:
    """Every maximal sequence that `at_least` so many records contain, or such a share of them."""
    least = threshold(at_least, paths.records)
    if native.library() is not None and len(paths.visits) < 2**31:
        found = compiled(condensed(paths, least), least)
        if found is not None:
            return found
    return plain(paths, least)


def threshold(at_least: int | Fraction, records: int) -> int:
    """A minimum support in records.

    >>> threshold(Fraction(1, 200), 1001), threshold(7, 1001)
    (6, 7)
    """
    if isinstance(at_least, bool) or not isinstance(at_least, (int, Fraction)):
        raise PolicyError(f"a minimum support is a whole number or an exact fraction, not {at_least!r}")
    if at_least <= 0 or (isinstance(at_least, Fraction) and at_least > 1):
        raise PolicyError(
            "a minimum support is a number of records from 1 on, or a share above 0 and at most 1, "
            f"not {at_least}"
        )
    # A share of no records is still one record: what nobody does is not frequent.
    return at_least if isinstance(at_least, int) else max(1, ceil(at_least * records))


def condensed(paths: Paths, least: int) -> Paths:
    """The same without points that are too rare to matter; paths that then agree become one cell."""
    left = paths.keeping((paths.instances >= least)[paths.visits])
    # Equal paths have equal sums of whatever numbers stand for their points.
    stand_for = np.random.default_rng(0).integers(2**63, size=len(left.points), dtype=np.int64)
    before = np.concatenate(([0], np.cumsum(stand_for[left.visits])))
    _, first, which = np.unique(np.diff(before[left.starts]), return_index=True, return_inverse=True)
    like = left.only(first[which])
    if not (np.array_equal(like.starts, left.starts) and np.array_equal(like.visits, left.visits)):
        return left  # two sums that met by chance
    counts = np.zeros(len(first), dtype=np.int64)
    np.add.at(counts, which, left.counts)
    return replace(left.only(first), counts=counts)


def compiled(paths: Paths, least: int) -> Sequences | None:
    """In C; None where there is no memory for it."""
    handle = np.zeros(3, dtype=np.int64)
    said = native.call(
        "privet_maximal_frequent",
        np.ascontiguousarray(paths.visits),
        np.ascontiguousarray(paths.starts),
        paths.cells,
        np.ascontiguousarray(paths.counts),
        len(paths.points),
        least,
        handle,
    )
    return None if said else Sequences.taken(paths.points, handle)


def plain(paths: Paths, least: int) -> Sequences:
    """The same walk with numpy."""
    found: list[tuple[tuple[int, ...], int]] = []
    todo: list[tuple[int, frozenset[int], Ints]] = [(-1, frozenset(), np.arange(paths.cells))]
    while todo:
        core, chosen, cells = todo.pop()
        support = int(paths.counts[cells].sum())
        if support < least:  # only the data as a whole can be too small
            continue
        lengths = paths.lengths[cells]
        at = np.arange(lengths.sum()) + np.repeat(
            paths.starts[:-1][cells] - np.cumsum(lengths) + lengths, lengths
        )
        visits, owner = paths.visits[at], np.repeat(cells, lengths)
        totals = np.zeros(len(paths.points), dtype=np.int64)
        np.add.at(totals, visits, paths.counts[owner])
        always = set(np.flatnonzero(totals == support).tolist())
        if any(point < core for point in always - chosen):
            continue  # with that point everything found here is as frequent, and its turn was before
        chosen |= always
        more = [point for point in np.flatnonzero(totals >= least).tolist() if point not in chosen]
        if not more and chosen:
            found.append((tuple(sorted(chosen)), support))
        todo += [(point, chosen | {point}, owner[visits == point]) for point in more if point > core]
    return Sequences.of(paths.points, found)
