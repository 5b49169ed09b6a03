"""Groups of records that an adversary cannot tell apart, counted.

For every combination of `size` quasi-identifiers, records that agree in it form a group. Only numbers
leave this module: the smallest group, the largest share of a protected value, how many groups break a
bound, and (as a mask over cells) which records stand in one.

The dense road counts into an array with one place for each combination of published values; where
that array would be larger than the table, the sparse road sorts. `blockwise` counts large
tables by a compiled loop. The search counts with its own code, on purpose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet import effort, native
from privet.core import Column, Nulls, Tally, begins
from privet.errors import UnsupportedError
from privet.models import blockwise
from privet.models.template import Protected

Counts: TypeAlias = NDArray[np.int64]
DENSE = 1 << 16  # an array this small is dense whatever the table's size
FEW = 4  # cells for each place of an array, below which counting into it again and again does not pay
LARGEST = 2**62  # what a combination's number stays below


@dataclass(frozen=True)
class Held:
    """How many of a group have a protected value: one place for each that occurs there."""

    group: NDArray[np.int64]
    count: Counts

    @classmethod
    def of(cls, counts: Iterable[Counts]) -> Held:
        """From a number for each group, value by value."""
        nothing = np.zeros(0, dtype=np.int64)
        found = [(np.flatnonzero(count), count) for count in counts]
        return cls(
            np.concatenate([nothing, *(here for here, _ in found)]),
            np.concatenate([nothing, *(count[here] for here, count in found)]),
        )


@dataclass(frozen=True)
class Holders:
    """The cells that have a protected value of a template, and which of its values each has."""

    cells: NDArray[np.intp]
    value: NDArray[np.int64]
    values: int
    counts: Counts

    @classmethod
    def of(cls, tally: Tally, bound: Protected) -> Holders:
        codes = tally.sensitive[bound.column].codes
        number = np.full(tally.sensitive[bound.column].domain.size, -1, dtype=np.int64)
        number[list(bound.codes)] = np.arange(len(bound.codes))
        cells = np.flatnonzero(number[codes] >= 0)
        return cls(cells, number[codes[cells]], len(bound.codes), tally.counts[cells])

    def among(self, key: NDArray[Any], room: int) -> Held:
        """How many of each group have each value: all values at once, there may be thousands."""
        both = key[self.cells] * self.values + self.value
        if room * self.values <= max(DENSE, FEW * len(both)):
            counts = _add_up(both, self.counts, room * self.values)
            both = np.flatnonzero(counts)
            return Held(both // self.values, counts[both])
        order = np.argsort(both)
        both = both[order]
        first = np.flatnonzero(np.diff(both, prepend=-1))
        return Held(both[first] // self.values, np.add.reduceat(self.counts[order], first))


@dataclass(frozen=True)
class Grouping:
    """Sizes of all groups of one combination, and how many records of each have a protected value."""

    size: Counts
    having: tuple[Held, ...]  # for each template
    of_cell: NDArray[Any] | None  # the group of each cell; None where a cell is in several


@dataclass(frozen=True)
class Survey:
    """What all groups of all combinations come to."""

    smallest: int
    shares: tuple[Fraction, ...]  # the largest share, for each template
    broken: int
    at_risk: int


def survey(
    tally: Tally, columns: Sequence[Column], sizes: Sequence[int], k: int, bounds: Sequence[Protected]
) -> Survey:
    """Every group of every combination of `sizes` columns, against `k` and the bounds."""
    # A column with one value tells nothing: a combination with it is a smaller one without it.
    columns = [column for column in columns if column.domain.size > 1]
    reach = sorted({min(size, len(columns)) for size in sizes})
    strict = tally.nulls is Nulls.VALUE
    if strict and len(reach) == 1 and native.pays(comb(len(columns), reach[0]) * tally.cells):
        compiled = blockwise.survey(tally, columns, reach[0], k, bounds)
        if compiled is not None:
            # Which groups and records break it is asked only of tables that do: the plain road says it.
            smallest, shares, suspect = compiled
            closer = _plain(tally, columns, suspect, k, bounds)
            return Survey(smallest, shares, closer.broken, closer.at_risk)
    subsets = (subset for size in reach for subset in combinations(range(len(columns)), size))
    return _plain(tally, columns, subsets, k, bounds)


def _plain(
    tally: Tally,
    columns: Sequence[Column],
    subsets: Iterable[tuple[int, ...]],
    k: int,
    bounds: Sequence[Protected],
) -> Survey:
    smallest, broken = tally.records, 0
    shares = [Fraction(0)] * len(bounds)
    risky = np.zeros(tally.cells, dtype=bool)
    holders = [Holders.of(tally, bound) for bound in bounds]
    between = effort.between()
    for subset in subsets:
        between()
        chosen = [columns[at] for at in subset]
        grouping = _grouping(tally, chosen, bounds, holders)
        smallest = min(smallest, int(grouping.size[grouping.size > 0].min(initial=smallest)))
        bad = breaking(grouping.size, grouping.having, k, bounds, shares)
        if bad.any():
            broken += int(bad.sum())
            risky |= _cells_in(tally, chosen, grouping, bad)
    return Survey(smallest, tuple(shares), broken, int(tally.counts[risky].sum()))


def breaking(
    size: Counts,
    having: Sequence[Held],
    k: int,
    bounds: Sequence[Protected],
    shares: list[Fraction],
) -> NDArray[np.bool_]:
    """Which groups break `k` or a bound; `shares` keeps the largest share of each bound that was seen."""
    bad: NDArray[np.bool_] = (size > 0) & (size < k)
    for at, (bound, held) in enumerate(zip(bounds, having, strict=True)):
        of = size[held.group]
        if shares[at] < 1:  # a larger one there is not
            shares[at] = max(shares[at], largest_share(held.count, of))
        bad[held.group[exceeds(held.count, of, bound.template.at_most)]] = True
    return bad


def exceeds(count: Counts, size: Counts, at_most: Fraction) -> NDArray[np.bool_]:
    """Is count / size above the bound? Exactly: no division, and no overflow.

    >>> exceeds(np.array([1, 2]), np.array([2, 3]), Fraction(1, 2)).tolist()
    [False, True]
    """
    top, bottom = at_most.numerator, at_most.denominator
    if int(size.max(initial=1)) * bottom < 2**62:
        return np.asarray(count * bottom > size * top)
    return np.array([int(c) * bottom > int(s) * top for c, s in zip(count, size, strict=True)], dtype=bool)


def largest_share(count: Counts, size: Counts) -> Fraction:
    """The largest count / size, exactly: floats find the candidates, fractions decide."""
    here = count > 0
    if not here.any():
        return Fraction(0)
    count, size = count[here], size[here]
    ratio = count / size
    near = ratio >= ratio.max() * (1 - 1e-12)
    pairs = set(zip(count[near].tolist(), size[near].tolist(), strict=True))
    return max(Fraction(c, s) for c, s in pairs)


def _grouping(
    tally: Tally, columns: Sequence[Column], bounds: Sequence[Protected], holders: Sequence[Holders]
) -> Grouping:
    if tally.nulls is Nulls.WILDCARD and any(c.domain.null is not None for c in columns):
        return _wildcard(tally, columns, bounds)
    key, room = group_keys(columns, tally.cells)
    size = _add_up(key, tally.counts, room)
    if holders and room > tally.cells // FEW:
        # Most combinations of values do not occur: count on with those that do.
        there = size > 0
        key = (np.cumsum(there) - 1)[key]
        size = size[there]
        room = len(size)
    having = tuple(some.among(key, room) for some in holders)
    return Grouping(size, having, key)


def _add_up(key: NDArray[Any], counts: Counts, room: int) -> Counts:
    # bincount adds doubles, which are exact for whole numbers below 2**53
    return np.bincount(key, weights=counts, minlength=room).astype(np.int64)


def group_keys(columns: Sequence[Column], cells: int) -> tuple[NDArray[np.int64], int]:
    """A number for each cell, equal where all columns agree, and one more than the largest."""
    if prod(c.domain.size for c in columns) > max(DENSE, 4 * cells):
        first = begins(columns, cells)
        if first is not None:
            key = np.cumsum(first, dtype=np.int64) - 1
            return key, int(first.sum())
    key = np.zeros(cells, dtype=np.int64)
    room = 1
    for column in columns:
        if room * column.domain.size >= LARGEST:
            # Too many combinations for a number: count on with those that occur.
            found, key = np.unique(key, return_inverse=True)
            room = len(found)
        key = key * column.domain.size + column.codes
        room *= column.domain.size
    if room > max(DENSE, 4 * cells):
        # Too many combinations for an array.
        found, key = np.unique(key, return_inverse=True)
        room = len(found)
    return key, room


def _cells_in(
    tally: Tally, columns: Sequence[Column], grouping: Grouping, bad: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    if grouping.of_cell is not None:
        return np.asarray(bad[grouping.of_cell])
    # Wildcards: a cell is at risk if any bad group matches it.
    risky = np.zeros(tally.cells, dtype=bool)
    shape = _concrete_shape(columns)
    for group in zip(*np.unravel_index(np.flatnonzero(bad), shape), strict=True):
        matches = np.ones(tally.cells, dtype=bool)
        for column, code in zip(columns, group, strict=True):
            if column.domain.size > 1 or column.domain.null is None:
                matches &= (column.codes == code) | (column.codes == column.domain.null)
        risky |= matches
    return risky


def _concrete_shape(columns: Sequence[Column]) -> tuple[int, ...]:
    """How many values besides null; a column of nothing but nulls matches one unknown value."""
    return tuple(max(1, c.domain.size - (c.domain.null is not None)) for c in columns)


def _wildcard(tally: Tally, columns: Sequence[Column], bounds: Sequence[Protected]) -> Grouping:
    """Groups where a null matches every value: each record adds to all groups it may belong to."""
    room = int(np.prod([c.domain.size for c in columns], dtype=np.float64))
    if room > 50_000_000:
        raise UnsupportedError(
            'nulls = "wildcard": too many combinations of values to match nulls with; use nulls = "value"'
        )
    shape = tuple(c.domain.size for c in columns)
    key = np.ravel_multi_index([c.codes.astype(np.intp) for c in columns], shape)

    occurring = [np.bincount(c.codes, minlength=c.domain.size) > 0 for c in columns]

    def spread(counts: Counts, at: NDArray[Any]) -> Counts:
        table = _add_up(at, counts, room).reshape(shape)
        for axis, (column, occurs) in enumerate(zip(columns, occurring, strict=True)):
            null = column.domain.null
            if null is None or column.domain.size == 1:
                continue
            # null is always the last code of a domain
            concrete, unknown = np.split(table, [null], axis=axis)
            # A value that no record has is nothing to be known, though a null would match it; where
            # there is nothing but nulls, they match one unknown value.
            seen = occurs[:null] if occurs[:null].any() else np.arange(null) == 0
            elsewhere = tuple(other for other in range(len(shape)) if other != axis)
            table = np.where(np.expand_dims(seen, elsewhere), concrete + unknown, 0)
        return table.ravel()

    def of(bound: Protected) -> Iterator[Counts]:
        for code in bound.codes:
            mask = tally.sensitive[bound.column].codes == code
            yield spread(tally.counts[mask], key[mask])

    return Grouping(spread(tally.counts, key), tuple(Held.of(of(bound)) for bound in bounds), None)
