"""A public order of people in which neighbours are alike; made from quasi-identifiers alone.

Everything here is given quasi-identifiers and nothing else: who stands beside whom must not depend on a
sensitive value, or the order would tell something of it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from privet.core import Column
from privet.counts.door import Ints

Ranks = NDArray[np.intp]


def neighbours(quasi: Sequence[Column], counts: Ints, rng: np.random.Generator) -> Ranks:
    """The records, cell by cell, in an order that puts near ones side by side.

    Who of several people with the same quasi-identifiers comes first is left to chance: cells are
    split by sensitive values too, and their order would tell them apart.
    """
    tuples, of_cell = np.unique(
        np.stack([column.codes.astype(np.intp) for column in quasi], axis=1), axis=0, return_inverse=True
    )
    people = np.bincount(of_cell, weights=counts, minlength=len(tuples)).astype(np.int64)
    place = np.empty(len(tuples), dtype=np.intp)
    place[_halved(tuples, people, [column.domain.size for column in quasi])] = np.arange(len(tuples))
    of_record = np.repeat(place[of_cell], counts)
    return np.lexsort((rng.random(len(of_record)), of_record))


def _halved(tuples: NDArray[np.intp], people: Ints, sizes: Sequence[int]) -> Ranks:
    """Tuples in the order of repeated halving: each part by the attribute that it is widest in.

    All parts are cut in the same round, so a round costs one sort, however many parts there are.
    """
    order = np.arange(len(tuples))
    start = np.zeros(1, dtype=np.intp)
    room = np.maximum(np.array(sizes) - 1, 1)
    while True:
        here = tuples[order]
        low, high = np.minimum.reduceat(here, start), np.maximum.reduceat(here, start)
        widest = np.argmax((high - low) / room, axis=1)
        part = np.repeat(np.arange(len(start)), np.diff(start, append=len(order)))
        value = here[np.arange(len(order)), widest[part]]
        by_value = np.lexsort((value, part))
        order, value = order[by_value], value[by_value]
        cuts = _middles(value, people[order], part, start)
        if not len(cuts):
            return order
        start = np.sort(np.concatenate((start, cuts)))


def _middles(value: Ranks, people: Ints, part: Ranks, start: Ranks) -> Ranks:
    """Where each part is cut: at the change of value that halves its people best; none if all are alike."""
    seen = np.cumsum(people)
    before = (seen - people) - (seen - people)[start][part]
    total = np.add.reduceat(people, start)[part]
    change = np.flatnonzero((np.diff(value, prepend=-1) != 0) & (np.diff(part, prepend=-1) == 0))
    uneven = np.abs(2 * before[change] - total[change])
    best = np.lexsort((uneven, part[change]))
    first = np.flatnonzero(np.diff(part[change][best], prepend=-1))
    return np.asarray(change[best][first], dtype=np.intp)
