"""Fewer records dropped than whole classes.

For t-closeness only those that make a class differ from the table.

A class that is too far from the table need not go as a whole. Dropping records of the values that it has
too many of brings the rest nearer, record by record, each time the one that brings it nearest. Every
record that goes changes the table as well, so the classes are gone through until none is too far; a class
of which too few records would be left goes after all. Whole numbers throughout: nothing is rounded.

Where a protected value is too common in a class, records with it go until its share is small enough: by how
many is decided exactly, since each that goes leaves fewer to share among.

Which records go is a choice made by looking at sensitive values, as dropping whole classes is; neither
hides from somebody who knows the algorithm what the dropped records were like (`privet risk
--algorithm-aware`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from privet import native
from privet.counts.door import Ints
from privet.models.tcloseness import TCloseness
from privet.relational.closeness import Flows

ROOM = 2**62


def trimmed(model: TCloseness, flows: Flows, counts: Ints, smallest: int, most: int) -> Ints | None:
    """What is left of classes x codes when all are near the table; None where more than `most` must go.

    No class is left with fewer than `smallest` records.
    """
    records = int(counts.sum())
    if records * records * int(flows.rise.sum() + 1) >= ROOM:
        return None
    kept = counts.copy()
    top, bottom = model.t.numerator * flows.bottom, model.t.denominator
    if native.library() is not None and bottom < ROOM and top < ROOM:
        gone = native.call(
            "privet_trim_classes", kept, *kept.shape, flows.over, flows.rise, len(flows.rise), top, bottom,
            smallest, most,
        )  # fmt: skip
        return kept if gone >= 0 else None
    return kept if _plainly(kept, flows, (top, bottom), smallest, most) else None


def thinned(counts: Ints, shares: Sequence[tuple[int, Fraction]], smallest: int) -> Ints:
    """The most of a class in which no code has more than its share; nothing, where `smallest` are not left.

    Every bound asks that so many records of its code go when so many of the class are left, and the more go,
    the more it asks. So from nobody on, what is asked for is the least that all of them can be content with.

    >>> thinned(np.array([5, 3]), [(0, Fraction(1, 2))], 2)
    array([3, 3])
    """
    left = counts.copy()
    while (size := int(left.sum())) >= smallest and size:
        for code, most in shares:
            left[code] = min(int(left[code]), size * most.numerator // most.denominator)
        if int(left.sum()) == size:
            return left
    return np.zeros_like(counts)


def _plainly(kept: Ints, flows: Flows, within: tuple[int, int], smallest: int, most: int) -> bool:
    """The same in numpy, one class at a time; `kept` becomes what is left. False: more than `most`."""
    over, (top, bottom) = flows.over, within
    table, records, gone = kept.sum(axis=0) @ over, int(kept.sum()), 0
    moved = True
    while moved:
        moved = False
        for here in kept:
            while size := int(here.sum()):
                crossing = here @ over
                far = int(flows.rise @ np.abs(records * crossing - size * table))
                if size >= smallest and far * bottom <= top * size * records:
                    break
                if size <= smallest:
                    code = int(np.flatnonzero(here)[0])
                    times = int(here[code])
                else:
                    left = (records - 1) * (crossing - over) - (size - 1) * (table - over)
                    each = np.where(here > 0, np.abs(left) @ flows.rise, ROOM)
                    code, times = int(each.argmin()), 1
                gone += times
                if gone > most:
                    return False
                here[code] -= times
                table, records, moved = table - times * over[code], records - times, True
    return True
