"""How far the persons of a class are from all persons, where each may have several values.

Shares of persons add up to more than one, so there is nothing to move and no earth mover. What takes its
place are the events that the closed forms of `ground` are made of: to have a value, to have one up to a place
in an order, to have one below a node of a tree. Of each, the share of the persons of the class with such a
value in any of their rows is compared with the share of all persons. Where more is gained than lost, or less,
the larger of the two counts, up to one. With one value each it is the distance of `ground`; and with equal
costs no share differs by more than the distance.

For costs that somebody wrote down, goods are carried as ever. What is gained and not lost, or lost and not
gained, is carried from nowhere or to nowhere, which costs as much as the farthest value: 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privet.core import Tally
from privet.domain import Domain
from privet.models import persons
from privet.models.classes import Classes, Histogram
from privet.models.ground import Ratios, height_of, surplus_of
from privet.models.transport import Costs, Ways, least_work


def equal(tally: Tally, classes: Classes, histogram: Histogram) -> Ratios:
    """To have each value."""
    events = [(np.arange(len(histogram.table)) == code, 1) for code in np.flatnonzero(histogram.table)]
    gains, losses = _over(tally, classes, histogram, events)
    bottom = _bottom(classes, histogram, 1)
    return np.minimum(np.maximum(gains, losses), bottom), bottom


def ordered(
    tally: Tally, classes: Classes, histogram: Histogram, place: NDArray[np.intp], places: int
) -> Ratios:
    """To have a value up to each place; and, from the other end, to have one beyond it."""
    sides = []
    for beyond in (False, True):
        events = [((place > at) if beyond else (place <= at), 1) for at in range(places - 1)]
        gains, losses = _over(tally, classes, histogram, events)
        sides.append(gains + losses)
    return np.maximum(*sides), _bottom(classes, histogram, max(1, places - 1))


def hierarchical(
    tally: Tally, classes: Classes, histogram: Histogram, domain: Domain, place: NDArray[np.intp]
) -> Ratios:
    """To have a value below each node, by how much higher the node above it is."""
    events = [
        ((place >= child.lo) & (place < child.hi) & (histogram.table > 0), height_of(node) - height_of(child))
        for node in domain.root.walk()
        for child in node.children
    ]
    gains, losses = _over(tally, classes, histogram, events)
    bottom = _bottom(classes, histogram, height_of(domain.root))
    return np.minimum(np.maximum(gains, losses), bottom), bottom


def transported(histogram: Histogram, costs: Costs) -> Ratios:
    """What carrying costs, exactly, one class after another."""
    ways = Ways.among(histogram.occurring, costs)
    far = ways.bottom  # a change that is not named costs 1
    cost = (*((*row, far) for row in ways.cost), (*(far for _ in ways.cost), 0))
    bottom = histogram.size.astype(object) * (histogram.records * ways.bottom)
    top = []
    for at in range(len(histogram.size)):
        surplus = surplus_of(histogram, at)
        top.append(least_work(cost, [*surplus, -sum(surplus)]))
    return np.minimum(np.array([*top, 0], dtype=object)[:-1], bottom), bottom


def _over(
    tally: Tally, classes: Classes, histogram: Histogram, events: list[tuple[NDArray[np.bool_], int]]
) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
    """What each class has too much, and too little, of the persons of all events."""
    person = persons.of(tally)
    codes = next(c.codes for c in tally.sensitive if c.name == histogram.column.name)
    size, people = classes.size.astype(object), histogram.records
    gains = np.array([0] * len(size), dtype=object)
    losses = gains.copy()
    for codes_of, weight in events:
        mask = codes_of[codes]
        here = persons.count(classes.of_cell[mask], person[mask], len(size)).astype(object)
        over = (here * people - size * len(np.unique(person[mask]))) * weight
        gains, losses = gains + np.maximum(over, 0), losses + np.maximum(-over, 0)
    return gains, losses


def _bottom(classes: Classes, histogram: Histogram, width: int) -> NDArray[np.object_]:
    return np.asarray(classes.size.astype(object) * (histogram.records * width))
