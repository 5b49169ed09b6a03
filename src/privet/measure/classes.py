"""Equivalence classes: how large they are, and how likely a record in one is found.

Records that agree in every quasi-identifier are a class. Null is a value here, whatever the policy says of
nulls: two unknowns are alike.

How likely a record can be re-identified follows from the sizes of classes alone.
*Prosecutor*: knows that the target is in the table; the chance is one in the size of its class.
*Marketer*: wants as many as possible; the share of records found is the mean of these chances.
*Journalist*: does not know who is in the table; the chance is one in the number of people of the population
who share the values. With no population to compare with, the prosecutor's chance is the bound.
The names are El Emam's, "Guide to the De-Identification of Personal Health Information", 2013. What an
adversary of limited knowledge can do is `audit`'s matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.core import Column, Tally, begins

Ints: TypeAlias = NDArray[np.int64]

LIMIT = 2**62  # a packed key below it leaves room for one more factor of two
DENSE = 1 << 16  # a table of counts this small is dense whatever the number of cells
EDGES = (1, 2, 5)  # where histogram bins begin, in every decade
AT_RISK = tuple(Fraction(1, size) for size in (2, 3, 5, 10, 20, 50, 100))


def class_sizes(tally: Tally) -> Ints:
    """How many records each equivalence class over all quasi-identifiers has; in no order."""
    return group_sizes(tally.quasi, tally.counts)


def group_sizes(columns: Sequence[Column], counts: Ints) -> Ints:
    """How many records each group has whose cells agree in these columns."""
    alone = int(counts.max(initial=1)) == 1
    if prod(c.domain.size for c in columns) > roomy(len(counts)):
        first = begins(columns, len(counts))
        if first is not None:
            edges = np.flatnonzero(first)
            if alone:
                return np.diff(edges, append=len(counts)).astype(np.int64)
            return np.asarray(np.add.reduceat(counts, edges), dtype=np.int64)
    key, room = keys(columns, len(counts))
    if room <= roomy(len(counts)):
        sizes = add_up(key, counts, room)
        return sizes[sizes > 0]
    if alone:
        key.sort()  # values alone sort several times faster than positions
        edges = np.flatnonzero(np.diff(key, prepend=-1))
        return np.diff(edges, append=len(key)).astype(np.int64)
    order = np.argsort(key)
    edges = np.flatnonzero(np.diff(key[order], prepend=-1))
    return np.asarray(np.add.reduceat(counts[order], edges), dtype=np.int64)


def roomy(cells: int) -> int:
    """How many places an array of counts may have before sorting is the better way."""
    return max(DENSE, 4 * cells)


def add_up(key: NDArray[Any], counts: Ints, room: int) -> Ints:
    """The records of each key."""
    if int(counts.max(initial=1)) == 1 and int(counts.min(initial=1)) == 1:
        return np.bincount(key, minlength=room).astype(np.int64, copy=False)
    # bincount adds doubles, which are exact for whole numbers below 2**53
    return np.bincount(key, weights=counts, minlength=room).astype(np.int64)


def occurring(key: NDArray[Any], room: int) -> NDArray[Any]:
    """The keys below `room` that occur, ascending."""
    if room > roomy(len(key)):
        return np.unique(key)
    there = np.zeros(room, dtype=bool)
    there[key] = True
    return np.flatnonzero(there)


def keys(columns: Sequence[Column], cells: int) -> tuple[Ints, int]:
    """A number for each cell, equal exactly where all columns agree, and one more than the largest."""
    parts: list[tuple[NDArray[Any], int]] = [
        (column.codes, column.domain.size) for column in columns if column.domain.size > 1
    ]
    if prod(size for _, size in parts) >= LIMIT:
        parts = _ranked(parts, cells)
    key, room = np.zeros(cells, dtype=np.int64), 1
    for codes, size in parts:
        if room * size >= LIMIT:
            found, key = np.unique(key, return_inverse=True)
            room = len(found)
        key *= size
        key += codes
        room *= size
    return key, room


def _ranked(parts: Sequence[tuple[NDArray[Any], int]], cells: int) -> list[tuple[NDArray[Any], int]]:
    """The same columns, as many as need be taken together and numbered by what occurs: without sorting."""
    bins: list[tuple[list[NDArray[Any]], list[int]]] = []
    for codes, size in sorted(parts, key=lambda part: -part[1]):
        for held, sizes in bins:
            if prod(sizes) * size <= roomy(cells):
                held.append(codes)
                sizes.append(size)
                break
        else:
            bins.append(([codes], [size]))
    found: list[tuple[NDArray[Any], int]] = []
    left = prod(size for _, size in parts)
    for held, sizes in bins:
        room = prod(sizes)
        if left < LIMIT or room > roomy(cells):
            found.extend(zip(held, sizes, strict=True))
            continue
        key = held[0].astype(np.int64)
        for codes, size in zip(held[1:], sizes[1:], strict=True):
            key *= size
            key += codes
        there = np.zeros(room, dtype=bool)
        there[key] = True
        rank = np.cumsum(there, dtype=np.int32)
        rank -= 1
        found.append((rank[key], int(rank[-1]) + 1))
        left = left // room * found[-1][1]
    return found


def discernibility(sizes: Ints, suppressed: int = 0) -> int:
    """DC: every record pays for each record it cannot be told from, itself included.

    A record that is not published cannot be told from any.

    >>> discernibility(np.array([3, 2, 2])), discernibility(np.array([3, 2]), suppressed=2)
    (17, 27)
    """
    paid = sum(int(size) ** 2 * int(times) for size, times in zip(*np.unique_counts(sizes), strict=True))
    return paid + suppressed * (int(sizes.sum()) + suppressed)


def discernibility_ratio(sizes: Ints, suppressed: int = 0) -> float:
    """DR: the cost as a share of the most it could be; 1 where all records are alike."""
    records = int(sizes.sum()) + suppressed
    return discernibility(sizes, suppressed) / records**2 if records else 0.0


def average_class_size(sizes: Ints) -> float:
    """How many records share a class on average, over classes."""
    return int(sizes.sum()) / len(sizes) if len(sizes) else 0.0


def normalised_class_size(sizes: Ints, *, k: int) -> float:
    """The average class size in units of the smallest allowed; 1 is the best that k-anonymity permits.

    LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006, call it C_AVG.
    """
    return average_class_size(sizes) / k


def histogram(sizes: Ints) -> list[dict[str, int]]:
    """Class sizes in bins 1, 2-4, 5-9, 10-19, 20-49, ...; from the first bin in use to the last."""
    if not len(sizes):
        return []
    largest = int(sizes.max())
    edges = [edge * 10**power for power in range(len(str(largest)) + 1) for edge in EDGES]
    place = np.searchsorted(edges, sizes, side="right") - 1
    classes = np.bincount(place, minlength=len(edges))
    records = np.bincount(place, weights=sizes, minlength=len(edges))
    used = np.flatnonzero(classes)
    return [
        {"from": low, "to": high - 1, "classes": int(classes[at]), "records": int(records[at])}
        for at, (low, high) in enumerate(pairwise(edges))
        if used[0] <= at <= used[-1]
    ]


def highest(sizes: Ints) -> Fraction:
    """The chance to find the record that is easiest to find."""
    return Fraction(1, int(sizes.min())) if len(sizes) else Fraction(0)


def average(sizes: Ints) -> Fraction:
    """The chance to find a record, averaged over records: classes for each record."""
    return Fraction(len(sizes), int(sizes.sum())) if len(sizes) else Fraction(0)


def uniques(sizes: Ints) -> int:
    """How many records are like no other."""
    return int((sizes == 1).sum())


def above(sizes: Ints, threshold: Fraction) -> int:
    """How many records can be found with a higher chance than the threshold; exactly."""
    # 1 / size > p  is  size < 1 / p
    return int(sizes[sizes * threshold.numerator < threshold.denominator].sum())


def at_risk(sizes: Ints) -> list[dict[str, Any]]:
    """How many records can be found with more than each of some usual chances."""
    records = int(sizes.sum())
    return [
        {"above": str(chance), "records": found, "share": found / records if records else 0.0}
        for chance in AT_RISK
        for found in [above(sizes, chance)]
    ]


def journalist(people: Ints, published: Ints) -> dict[str, Any]:
    """The chance where a population is known: of each class its people, and how many of them are published.

    The marketer who knows the population picks among as many.
    """
    shown = published > 0
    people, published = people[shown], published[shown]
    if not len(people):
        return {"highest": 0.0, "average": 0.0}
    return {
        "highest": float(Fraction(1, int(people.min()))),
        "average": float((published / people).sum() / published.sum()),
    }


def risk(sizes: Ints, times: Ints | None = None) -> dict[str, Any]:
    """The numbers that go into evidence, for a table before or after.

    `times`: how many classes have each size, where each stands once.
    """
    classes = len(sizes) if times is None else int(times.sum())
    records = int(sizes.sum() if times is None else (sizes * times).sum())
    alone = uniques(sizes) if times is None else int(times[sizes == 1].sum())
    return {
        "unique_records": alone,
        "unique_share": alone / records if records else 0.0,
        "highest": float(highest(sizes)),
        "average": float(Fraction(classes, records)) if records else 0.0,
        "classes": classes,
    }
