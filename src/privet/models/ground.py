"""How far the values of a class are from those of the whole table, as exact fractions.

With counts c of n in the class and Q of N in the table, the difference of shares is (c N - n Q) / (n N):
whole numbers over a denominator that is known. The earth mover's distance has closed forms for the
three usual ground distances (Li, Li and Venkatasubramanian, "t-closeness", ICDE 2007).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.core import Column
from privet.domain import Node, Value
from privet.errors import HierarchyError, PolicyError
from privet.hierarchy import numbers
from privet.hierarchy.tree import Tree
from privet.models.classes import Histogram
from privet.models.ratios import whole

Ratios: TypeAlias = tuple[NDArray[Any], NDArray[Any]]  # top and bottom, for each class


def equal(histogram: Histogram) -> Ratios:
    """All values are equally far from each other: half the sum of |p - q|, the variational distance."""
    n = histogram.records
    size = whole(histogram.size, n * n)
    surplus = whole(histogram.count, n * n) * n - size[histogram.owner] * histogram.table[histogram.value]
    # What one value has too much others have too little: the positive half is all that has to be moved.
    return histogram.summed(np.maximum(surplus, 0)), size * n


def ordered(histogram: Histogram, order: Sequence[Value] | None) -> Ratios:
    """Neighbours in an order are 1 / (m - 1) apart."""
    rank, places = _ranks(histogram, order)
    moves = max(1, places - 1)
    n = histogram.records
    largest = n * n * moves
    weight = whole(np.ones(places, dtype=np.int64), largest)
    weight[-1] = 0  # nothing is carried past the last place
    carried = _totals(histogram, rank, places, largest, weight)
    return carried, whole(histogram.size, largest) * n * moves


def _totals(
    histogram: Histogram, rank: NDArray[np.intp], places: int, largest: int, weight: NDArray[Any]
) -> NDArray[Any]:
    """Each class's sum over places of what is carried on from there."""
    found = []
    table = np.bincount(rank, weights=histogram.table, minlength=places).astype(np.int64)
    for rows, counts in histogram.dense():
        lying = np.zeros((len(counts), places), dtype=np.int64)
        for code, place in enumerate(rank.tolist()):
            lying[:, place] += counts[:, code]
        surplus = _surplus(lying, histogram.size[rows], table, histogram.records, largest)
        found.append((np.abs(np.cumsum(surplus, axis=1)) * weight).sum(axis=1))
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


def _surplus(
    counts: NDArray[np.int64], size: NDArray[np.int64], table: NDArray[np.int64], n: int, largest: int
) -> NDArray[Any]:
    return whole(counts, largest) * n - whole(size, largest)[:, None] * table


def hierarchical(histogram: Histogram, tree: Tree) -> Ratios:
    """Values are as far apart as their lowest common ancestor is high, over the height of the tree."""
    domain = _placed(histogram.column, tree)
    at = np.array([domain.codes[value] for value in histogram.column.domain.values], dtype=np.intp)
    height = _height(domain.root)
    n = histogram.records
    largest = 2 * n * n * max(1, height)
    below = [
        (child.lo, child.hi, _height(node) - _height(child))
        for node in domain.root.walk()
        for child in node.children
    ]
    lo, hi, rise = (np.array(part, dtype=np.int64) for part in zip(*below, strict=True))
    table = np.zeros(domain.size, dtype=np.int64)
    table[at] = histogram.table
    found = []
    for rows, counts in histogram.dense():
        lying = np.zeros((len(counts), domain.size), dtype=np.int64)
        lying[:, at] = counts
        surplus = _surplus(lying, histogram.size[rows], table, n, largest)
        before = np.zeros((len(counts), domain.size + 1), dtype=surplus.dtype)
        before[:, 1:] = np.cumsum(surplus, axis=1)
        # All that a subtree has too much or too little crosses the edge above it. An edge is half its
        # rise long, so that the way up to a common ancestor and down again is the ancestor's height.
        found.append((np.abs(before[:, hi] - before[:, lo]) * whole(rise, largest)).sum(axis=1))
    top = np.concatenate(found) if found else np.zeros(0, dtype=np.int64)
    return top, whole(histogram.size, largest) * n * 2 * height


def _placed(column: Column, tree: Tree) -> Any:
    try:
        return tree.domain(column.domain.values)
    except HierarchyError as error:
        raise HierarchyError(
            *(f"t-closeness: tree: {column.name}: {text}" for text in error.complaints)
        ) from None


def _height(node: Node) -> int:
    return 1 + max(map(_height, node.children)) if node.children else 0


def _ranks(histogram: Histogram, order: Sequence[Value] | None) -> tuple[NDArray[np.intp], int]:
    """The place of each code in the order, and how many places there are; null comes last.

    Without an order the values are numbers, and equal numbers have one place.
    """
    column, values = histogram.column, histogram.column.domain.values
    known: dict[Any, int]
    if order is not None:
        known = {value: at for at, value in enumerate(order)}
        read: list[Any] = list(values)
        fix = "add them to order"
    else:
        read = [None if value is None else numbers.read(value) for value in values]
        there = {number for number, count in zip(read, histogram.table, strict=True) if count}
        known = {number: at for at, number in enumerate(sorted(there - {None}))}
        fix = "give an order"
    place = np.zeros(len(values), dtype=np.intp)
    lost = 0
    for code, (value, key) in enumerate(zip(values, read, strict=True)):
        if value is None:
            place[code] = len(known)
        elif key in known:
            place[code] = known[key]
        else:
            lost += bool(histogram.table[code])
    if lost:
        raise PolicyError(
            f"t-closeness: {column.name}: {lost} of {len(values)} values have no place in the order; {fix}"
        )
    null = column.domain.null
    return place, max(1, len(known) + (null is not None and bool(histogram.table[null])))
