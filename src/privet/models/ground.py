"""How far the values of a class are from those of the whole table, as exact fractions.

With counts c of n in the class and Q of N in the table, the difference of shares is (c N - n Q) / (n N):
whole numbers over a denominator that is known. The earth mover's distance has closed forms for the
three usual ground distances (Li, Li and Venkatasubramanian, "t-closeness", ICDE 2007); for costs that
somebody wrote down it is a transport problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.domain import Domain, Node, Value
from privet.equality import finder
from privet.errors import HierarchyError, PolicyError
from privet.hierarchy import numbers
from privet.hierarchy.tree import Tree
from privet.models.classes import Histogram
from privet.models.exact import whole
from privet.models.transport import Costs, Ways, least_work

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
    place, places = ranks(histogram, order)
    moves = max(1, places - 1)
    n = histogram.records
    largest = n * n * moves
    table = np.bincount(place, weights=histogram.table, minlength=places).astype(np.int64)
    found = []
    for rows, counts in histogram.dense(place, places):
        surplus = _surplus(counts, histogram.size[rows], table, n, largest)
        # What the first values have too much is carried on to the next, one place at a time.
        found.append(np.abs(np.cumsum(surplus, axis=1)[:, :-1]).sum(axis=1))
    return _joined(found), whole(histogram.size, largest) * n * moves


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _surplus(
    counts: NDArray[np.int64], size: NDArray[np.int64], table: NDArray[np.int64], n: int, largest: int
) -> NDArray[Any]:
    return whole(counts, largest) * n - whole(size, largest)[:, None] * table


def hierarchical(histogram: Histogram, tree: Tree) -> Ratios:
    """Values are as far apart as their lowest common ancestor is high, over the height of the tree."""
    domain, place = placed("t-closeness", histogram, tree)
    height = height_of(domain.root)
    n = histogram.records
    largest = 2 * n * n * height
    edges = [
        (child.lo, child.hi, height_of(node) - height_of(child))
        for node in domain.root.walk()
        for child in node.children
    ]
    lo, hi, rise = (np.array(part, dtype=np.int64) for part in zip(*edges, strict=True))
    table = np.bincount(place, weights=histogram.table, minlength=domain.size).astype(np.int64)
    found = []
    for rows, counts in histogram.dense(place, domain.size):
        surplus = _surplus(counts, histogram.size[rows], table, n, largest)
        before = np.zeros((len(counts), domain.size + 1), dtype=surplus.dtype)
        before[:, 1:] = np.cumsum(surplus, axis=1)
        # All that a subtree has too much or too little crosses the edge above it. An edge is half its
        # rise long, so that the way up to a common ancestor and down again is the ancestor's height.
        found.append((np.abs(before[:, hi] - before[:, lo]) * whole(rise, largest)).sum(axis=1))
    return _joined(found), whole(histogram.size, largest) * n * 2 * height


def transported(histogram: Histogram, costs: Costs) -> Ratios:
    """Values are as far apart as somebody wrote down; exactly, one class after another."""
    ways = Ways.among(histogram.occurring, costs)  # a way leads only through what the table has
    n = histogram.records
    found = [least_work(ways.cost, surplus_of(histogram, at)) for at in range(len(histogram.size))]
    top = np.array([*found, 0], dtype=object)[:-1]
    return top, histogram.size.astype(object) * n * ways.bottom


def surplus_of(histogram: Histogram, at: int) -> list[int]:
    """What a class has too much of each value that occurs, times its size and the table's."""
    size, n = int(histogram.size[at]), histogram.records
    here = [-size * there for there in histogram.table.tolist()]
    of = histogram.members(at)
    for value, count in zip(histogram.value[of].tolist(), histogram.count[of].tolist(), strict=True):
        here[value] += count * n
    return [over for over, there in zip(here, histogram.table.tolist(), strict=True) if there]


def surpluses(histogram: Histogram) -> NDArray[np.float64]:
    """The same as shares, roughly: classes x values that occur."""
    occurs = np.flatnonzero(histogram.table)
    place = np.searchsorted(occurs, np.arange(len(histogram.table)))
    parts = [counts for _, counts in histogram.dense(place, len(occurs))]
    counts = np.concatenate([*parts, np.zeros((0, len(occurs)), dtype=np.int64)])
    return np.asarray(counts / histogram.size[:, None] - histogram.table[occurs] / histogram.records)


def placed(model: str, histogram: Histogram, tree: Tree) -> tuple[Domain, NDArray[np.intp]]:
    """A tree over the values that occur, and where in its leaf order each code of the histogram stands."""
    column = histogram.column
    try:
        domain = tree.domain(histogram.occurring)
    except HierarchyError as error:
        raise HierarchyError(
            *(f"{model}: tree: {column.name}: {text}" for text in error.complaints), missing=error.missing
        ) from None
    # A code that no record has may stand anywhere.
    return domain, np.array([domain.code(v) or 0 for v in column.domain.values], dtype=np.intp)


def height_of(node: Node) -> int:
    return 1 + max(map(height_of, node.children)) if node.children else 0


def ranks(histogram: Histogram, order: Sequence[Value] | None) -> tuple[NDArray[np.intp], int]:
    """The place of each code in the order, and how many places there are; null comes last.

    Without an order the values are numbers, and equal numbers have one place.
    """
    column, occurring = histogram.column, histogram.occurring
    said = finder({value: value for value in order or ()})
    read: dict[Value, Any] = {value: said(value) for value in occurring}
    if order is None:
        read = {value: None if value is None else numbers.read(value) for value in occurring}
        order = sorted({number for number in read.values() if number is not None})
    known = {value: at for at, value in enumerate(order)}
    lost = sum(value is not None and found not in known for value, found in read.items())
    if lost:
        raise PolicyError(
            f"t-closeness: {column.name}: {lost} of {len(occurring)} values have no place in the order; give "
            "an order that names every value"
        )
    place = {value: known.get(found, len(known)) for value, found in read.items()}  # null comes last
    # A code that no record has may stand anywhere.
    places = np.array([place.get(value, 0) for value in column.domain.values], dtype=np.intp)
    return places, max(1, len(known) + (None in read))
