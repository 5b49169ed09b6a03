"""The tally of paths: distinct paths as rising lists of numbers, and how many records have each.

A point is a place at a time. Points are numbered by time, and by place within a time; a person is at one
place at a time, so a path is a list of numbers that rises, and a sequence is contained in a path exactly
if its points are a subset of the path's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.core import Column
from privet.errors import InputError, InternalError

Ints: TypeAlias = NDArray[np.int64]
PointCodes: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Points:
    """Every place and time that occurs, in order of time and then of place.

    >>> points = Points.of(["b", "a", "c"], ["2", "2", "10"])
    >>> points.labels, points.times
    (('a2', 'b2', 'c10'), ('2', '10'))
    """

    labels: tuple[str, ...] = field(repr=False)  # as a path says them
    places: tuple[str, ...] = field(repr=False)
    times: tuple[str, ...] = field(repr=False)  # earliest first
    place: PointCodes = field(repr=False)  # for each point, which of the places
    time: PointCodes = field(repr=False)  # and which of the times

    @classmethod
    def of(cls, places: Sequence[str], times: Sequence[str], labels: Sequence[str] | None = None) -> Points:
        """Points from the place and the time of each, in any order; raises InputError for odd times."""
        of_time, of_place = chronological(times), tuple(sorted(set(places)))
        time_at = {text: at for at, text in enumerate(of_time)}
        place_at = {text: at for at, text in enumerate(of_place)}
        written = labels or [short(place, when) for place, when in zip(places, times, strict=True)]
        order = sorted(
            (time_at[when], place_at[place], label)
            for place, when, label in zip(places, times, written, strict=True)
        )
        return cls(
            labels=tuple(label for _, _, label in order),
            places=of_place,
            times=of_time,
            place=np.array([place for _, place, _ in order], dtype=np.int32),
            time=np.array([when for when, _, _ in order], dtype=np.int32),
        )

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def codes(self) -> dict[tuple[str, str], int]:
        """The number of each place and time."""
        pairs = zip(self.place.tolist(), self.time.tolist(), strict=True)
        return {(self.places[place], self.times[when]): code for code, (place, when) in enumerate(pairs)}

    def pair(self, code: int) -> tuple[str, str]:
        """Place and time of a point."""
        return self.places[int(self.place[code])], self.times[int(self.time[code])]


def short(place: str, when: str) -> str:
    """How a path says a point: `b2` where that can be read back, else `Berri 1@2`.

    >>> short("b", "2"), short("stop 1", "2"), short("b", "08:30")
    ('b2', 'stop 1@2', 'b@08:30')
    """
    plain = when.isascii() and when.isdigit() and "@" not in place and not place[-1:].isdigit()
    return f"{place}{when}" if plain else f"{place}@{when}"


READINGS: tuple[Callable[[str], Any], ...] = (
    Decimal,
    date.fromisoformat,
    datetime.fromisoformat,
    time.fromisoformat,
)


def chronological(times: Iterable[str]) -> tuple[str, ...]:
    """Distinct times, earliest first: numbers, or dates and times as ISO 8601 writes them.

    >>> chronological(["10", "9", "10"]), chronological(["17:05", "09:30"])
    (('9', '10'), ('09:30', '17:05'))
    """
    distinct = sorted(set(times))
    for reading in READINGS:
        try:
            moments = [reading(text) for text in distinct]
            if any(isinstance(moment, Decimal) and not moment.is_finite() for moment in moments):
                continue
            order = sorted(range(len(distinct)), key=moments.__getitem__)
            repeated = len(distinct) - len(set(moments))
        except (ValueError, InvalidOperation, TypeError):  # TypeError: with and without a time zone
            continue
        if repeated:
            raise InputError(f"times: {repeated} are written in two ways (07 and 7); write each in one")
        return tuple(distinct[at] for at in order)
    raise InputError(
        "times are all numbers, or all dates and times such as 2024-05-01T08:30; "
        f"the {len(distinct)} different ones here cannot be put in order"
    )


def misfits(times: Iterable[str]) -> set[str]:
    """Times that cannot be read in the way in which most of them can.

    >>> sorted(misfits(["7", "8", "08:30", "noon"]))
    ['08:30', 'noon']
    """
    every = set(times)
    return min(({one for one in every if not readable(reading, one)} for reading in READINGS), key=len)


def readable(reading: Callable[[str], Any], text: str) -> bool:
    try:
        moment = reading(text)
    except (ValueError, InvalidOperation):
        return False
    return not isinstance(moment, Decimal) or moment.is_finite()


@dataclass(frozen=True, eq=False)
class Paths:
    """How many records have each path and each sensitive value: all that a search or a check may see.

    A struct of arrays. Cell `i` stands for `counts[i]` records whose path is
    `visits[starts[i]:starts[i + 1]]`; two cells may agree, so readers add counts up.
    """

    points: Points = field(repr=False)
    visits: PointCodes = field(repr=False)
    starts: Ints = field(repr=False)  # one more than there are cells
    counts: Ints = field(repr=False)
    sensitive: tuple[Column, ...] = ()
    quasi: tuple[Column, ...] = ()  # what else may be known of the person, beside the path

    def __post_init__(self) -> None:
        if len(self.starts) != len(self.counts) + 1 or self.starts[0] or self.starts[-1] != len(self.visits):
            raise InternalError("the starts of paths do not fit their visits")
        if any(len(column.codes) != self.cells for column in (*self.sensitive, *self.quasi)):
            raise InternalError("every path has its sensitive values and quasi-identifiers")
        if not_rising(self.points.time[self.visits], self.starts).any():
            raise InternalError("the times of a path rise")

    @property
    def cells(self) -> int:
        return len(self.counts)

    @property
    def records(self) -> int:
        return int(self.counts.sum())

    @property
    def lengths(self) -> Ints:
        return np.diff(self.starts)

    @property
    def longest(self) -> int:
        return int(self.lengths.max(initial=0))

    @cached_property
    def owner(self) -> Ints:
        """For each visit, the cell whose path it is in."""
        return np.repeat(np.arange(self.cells, dtype=np.int64), self.lengths)

    @cached_property
    def instances(self) -> Ints:
        """For each point, how many records visit it."""
        found = np.bincount(self.visits, self.counts[self.owner], minlength=len(self.points))
        return found.astype(np.int64)

    @property
    def dimensions(self) -> int:
        """How many points somebody visits."""
        return int(np.count_nonzero(self.instances))

    def path(self, cell: int) -> tuple[int, ...]:
        return tuple(self.visits[self.starts[cell] : self.starts[cell + 1]].tolist())

    def without(self, suppressed: Iterable[int]) -> Paths:
        """The same records with these points gone from every path; a path may become empty."""
        stays = np.ones(len(self.points), dtype=bool)
        stays[np.fromiter(suppressed, dtype=np.int64)] = False
        return self.keeping(stays[self.visits])

    def keeping(self, kept: NDArray[np.bool_]) -> Paths:
        """The same records with only these of their visits."""
        before = np.concatenate(([0], np.cumsum(kept)))
        return replace(self, visits=self.visits[kept], starts=before[self.starts].astype(np.int64))

    def only(self, cells: Ints, kept: NDArray[np.bool_] | None = None) -> Paths:
        """These cells alone, with those of their visits that are kept."""
        lengths = self.lengths[cells]
        begin = np.concatenate(([0], np.cumsum(lengths)))
        at = np.arange(begin[-1]) + np.repeat(self.starts[:-1][cells] - begin[:-1], lengths)
        if kept is not None:
            stays = kept[at]
            at, begin = at[stays], np.concatenate(([0], np.cumsum(stays)))[begin]
        return replace(
            self,
            visits=self.visits[at],
            starts=begin.astype(np.int64),
            counts=self.counts[cells],
            sensitive=tuple(Column(c.name, c.domain, c.codes[cells]) for c in self.sensitive),
            quasi=tuple(Column(c.name, c.domain, c.codes[cells]) for c in self.quasi),
        )


def not_rising(times: NDArray[np.integer[Any]], starts: Ints) -> NDArray[np.bool_]:
    """For each visit: does it fail to come after the one before it in the same path?"""
    late = np.zeros(len(times), dtype=bool)
    late[1:] = times[1:] <= times[:-1]
    firsts = starts[:-1]
    late[firsts[firsts < len(times)]] = False
    return late
