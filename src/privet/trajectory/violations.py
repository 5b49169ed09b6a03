"""Minimal violating sequences: what somebody may know about a person's path and must not.

Mohammed 2012, algorithm 4.1. A sequence of at most `l` points violates a promise if fewer than `k`
records contain it, or if too large a share of those that do has a protected value. Only minimal ones
matter: a release in which none of them is left keeps the promise.

Differs from the paper: a candidate is dropped if it contains any violating sequence found so far, not
only one that is a single point shorter (from four points on the paper's rule reports sequences that are
not minimal). Candidates are those that occur in a path; nothing is joined first and counted afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from privet import native
from privet.core import Column
from privet.errors import PolicyError, UnsatisfiableError, UnsupportedError
from privet.models.linkage import Linkage
from privet.models.template import EVERY, Template
from privet.trajectory.paths import Ints, Paths
from privet.trajectory.sequences import Sequences


def violations(paths: Paths, promise: Linkage) -> Sequences:
    """Every minimal violating sequence, with its support."""
    if promise.quasi is not None:
        raise UnsupportedError("a promise about named quasi-identifiers says nothing about paths")
    longest = reach(paths, promise)
    weights, bounds = weighed(paths, promise.binding)
    if native.library() is not None and fits(paths, bounds):
        found = compiled(paths, weights, bounds, promise.k, longest)
        if found is not None:
            return found
    return plain(paths, weights, bounds, promise.k, longest)


def jointly(paths: Paths, promises: Sequence[Linkage]) -> Sequences:
    """Every minimal sequence that violates one of several promises."""
    each = [violations(paths, promise) for promise in promises]
    if len(each) == 1:
        return each[0]
    support = {
        sequence: size
        for found in each
        for sequence, size in zip(found.tuples(), found.support.tolist(), strict=True)
    }
    # What is minimal for one promise may contain what already violates another.
    lengths = sorted({len(sequence) for sequence in support})
    return Sequences.of(
        paths.points,
        (
            (sequence, size)
            for sequence, size in support.items()
            if not any(
                part in support
                for length in lengths
                if length < len(sequence)
                for part in combinations(sequence, length)
            )
        ),
    )


def feasible(paths: Paths, promises: Sequence[Linkage]) -> None:
    """Refuse a promise that only the removal of every visit would keep."""
    most = max((promise.k for promise in promises), default=1)
    if most > paths.records:
        raise UnsatisfiableError(
            f"k = {most} cannot be kept by {paths.records} records, unless every visit is removed; "
            f"the largest k that can is {paths.records}"
        )


def reach(paths: Paths, promise: Linkage) -> int:
    """How many points of one path an adversary can know at most."""
    return paths.longest if promise.l is None else min(promise.l, paths.longest)


def weighed(paths: Paths, templates: Sequence[Template]) -> tuple[Ints, tuple[Fraction, ...]]:
    """For each cell its records, then how many of them have each protected value; and the bounds."""
    columns = [paths.counts]
    bounds = []
    for template in templates:
        column = named(paths, template.attribute)
        if template.value is EVERY:
            codes: list[int] = list(range(column.domain.size))
        else:
            known = column.domain.code(template.value)
            codes = [] if known is None else [known]
        for code in codes:
            columns.append(np.where(column.codes == code, paths.counts, 0))
            bounds.append(template.at_most)
    return np.ascontiguousarray(np.array(columns, dtype=np.int64).T), tuple(bounds)


def named(paths: Paths, attribute: str) -> Column:
    for column in paths.sensitive:
        if column.name == attribute:
            return column
    raise PolicyError(f"sensitive.{attribute}: the policy has no sensitive attribute of that name")


def fits(paths: Paths, bounds: Sequence[Fraction]) -> bool:
    """Are all products of the exact comparison within 63 bits, and all places within 31?"""
    largest = max((bound.denominator for bound in bounds), default=1)
    return paths.records * largest < 2**62 and len(paths.visits) < 2**31


def compiled(
    paths: Paths, weights: Ints, bounds: Sequence[Fraction], k: int, longest: int
) -> Sequences | None:
    """Depth first, in C; None where there is no memory for it."""
    handle = np.zeros(3, dtype=np.int64)
    said = native.call(
        "privet_minimal_violations",
        np.ascontiguousarray(paths.visits),
        np.ascontiguousarray(paths.starts),
        paths.cells,
        weights,
        len(bounds),
        np.array([bound.numerator for bound in bounds], dtype=np.int64),
        np.array([bound.denominator for bound in bounds], dtype=np.int64),
        len(paths.points),
        k,
        longest,
        handle,
    )
    return None if said else Sequences.taken(paths.points, handle)


def plain(paths: Paths, weights: Ints, bounds: Sequence[Fraction], k: int, longest: int) -> Sequences:
    """Level by level, with numpy: the same answer, later."""
    found: list[tuple[tuple[int, ...], int]] = []
    clean: list[tuple[int, ...]] = [()]  # the sequences of this level that do not violate
    ends = paths.starts[1:]
    # Where each of them occurs: its number, the cell, and the place of the next visit.
    number, cell, after = np.zeros(paths.cells, dtype=np.int64), np.arange(paths.cells), paths.starts[:-1]
    for _ in range(longest):
        left = ends[cell] - after
        number, cell = np.repeat(number, left), np.repeat(cell, left)
        after = np.arange(len(cell)) + np.repeat(after - np.cumsum(left) + left, left)
        keys = number * len(paths.points) + paths.visits[after]
        distinct, position = np.unique(keys, return_inverse=True)
        totals = [sums(position, weights[cell, at], len(distinct)) for at in range(weights.shape[1])]
        shorter = set(clean)
        still: list[tuple[int, ...]] = []
        renumbered = np.full(len(distinct), -1, dtype=np.int64)
        for at, key in enumerate(distinct.tolist()):
            prefix, point = divmod(key, len(paths.points))
            sequence = (*clean[prefix], point)
            # All its parts of one point less must be clean; a part that is not clean either violates or
            # contains something that does.
            if any(sequence[:i] + sequence[i + 1 :] not in shorter for i in range(len(sequence))):
                continue
            size = totals[0][at]
            if size < k or any(
                having[at] * bound.denominator > bound.numerator * size
                for having, bound in zip(totals[1:], bounds, strict=True)
            ):
                found.append((sequence, size))
            else:
                renumbered[at] = len(still)
                still.append(sequence)
        number = renumbered[position]
        goes_on = number >= 0
        number, cell, after = number[goes_on], cell[goes_on], after[goes_on] + 1
        clean = still
        if not clean:
            break
    return Sequences.of(paths.points, found)


def sums(position: NDArray[np.intp], weight: Ints, size: int) -> list[int]:
    """The weights added up by position, as exact whole numbers."""
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, position, weight)
    found: list[int] = total.tolist()
    return found
