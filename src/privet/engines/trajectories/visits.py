"""One row for each visit: person, place, time, and what else is known of the person. Rows in any order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from privet.core import Column
from privet.domain import Codes
from privet.engines.trajectories.frames import (
    coded,
    columns_of,
    complaint,
    gathered,
    grouped,
    need,
    numbered,
    refuse,
    unordered,
)
from privet.errors import InputError
from privet.trajectory.paths import Ints, Paths, PointCodes, Points, misfits
from privet.trajectory.recode import PathRecoding


@dataclass(frozen=True, eq=False)
class Visits:
    """A frame of visits, and its tally."""

    paths: Paths
    frame: pl.DataFrame = field(repr=False)
    person: Ints = field(repr=False)  # of each row
    point: Ints = field(repr=False)  # of each row; -1 where a person has no visit left
    place_and_time: tuple[str, str]

    @classmethod
    def read(
        cls,
        frame: pl.DataFrame,
        *,
        person: str,
        place: str,
        time: str,
        sensitive: Sequence[str] = (),
        quasi: Sequence[str] = (),
        allow_empty: bool = False,
        copies: str | None = None,
    ) -> Visits:
        """Raises InputError for what is not a visit; only a release may have persons without one.

        `copies`: a column that says how many persons have the rows of this one.
        """
        need(frame, (person, place, time, *sensitive, *quasi))
        who = grouped(frame.get_column(person))
        where, places = coded(frame.get_column(place))
        when, times = coded(frame.get_column(time))
        missing = [frame.get_column(name).is_null().to_numpy() for name in (person, place, time)]
        nowhere = missing[1] & missing[2] & allow_empty
        refuse(
            *(
                complaint(f"{name}: nothing", lacks & ~nowhere, "a visit has a person, a place and a time")
                for name, lacks in zip((person, place, time), missing, strict=True)
            )
        )
        distinct, position = numbered(where * len(times) + when, len(places) * len(times))
        said = [(places[at // len(times)], times[at % len(times)]) for at in distinct.tolist()]
        real = [(p, t) for p, t in said if p is not None and t is not None]
        try:
            points = Points.of([p for p, _ in real], [t for _, t in real])
        except InputError as error:
            odd = misfits(t for _, t in real)
            raise unordered(time, np.array([t in odd for t in times], dtype=bool)[when], error) from None
        codes = [points.codes[p, t] if p is not None and t is not None else -1 for p, t in said]
        point = np.array(codes, dtype=np.int64)[position]
        # A quasi-identifier is told apart by how it is written; equal sensitive values are one.
        columns = (*columns_of(frame, sensitive, alike=True), *columns_of(frame, quasi, alike=False))
        order = by_person(who, point)
        refuse(*repeated(place, who, point, np.append(points.time, -1)[point], order))
        refuse(*changing(who, order, columns))
        many = None if copies is None else frame.get_column(copies).to_numpy()
        paths = merged(points, who[order], point[order], columns, order, many)
        beside = paths.sensitive[len(sensitive) :]
        paths = replace(paths, sensitive=paths.sensitive[: len(sensitive)], quasi=beside)
        return cls(paths, frame, who, point, (place, time))

    def without(self, suppressed: Iterable[int]) -> pl.DataFrame:
        """The frame as it leaves. Who has no visit left keeps one row, with neither place nor time."""
        stays = np.ones(len(self.paths.points) + 1, dtype=bool)  # the last is for no visit at all
        stays[np.fromiter(suppressed, dtype=np.int64)] = False
        return self._written(stays[self.point])

    def changed(self, recoding: PathRecoding, *, keep_empty: bool = True) -> pl.DataFrame:
        """The frame as it leaves after any recoding of paths, with or without persons that have none left."""
        order = by_person(self.person, self.point)
        order = order[self.point[order] >= 0]
        lengths = np.bincount(self.person[order], minlength=int(self.person.max(initial=-1)) + 1)
        starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        points = self.paths.points
        persons = Paths(points, self.point[order].astype(np.int32), starts, np.ones_like(lengths))
        changed = recoding.applied(persons)
        kept = np.zeros(len(self.point), dtype=bool)
        kept[order] = changed.kept
        if changed.points is points:
            return self._written(kept, keep_empty=keep_empty)
        new = np.zeros(len(kept), dtype=np.int64)
        new[order] = changed.point
        said = (
            gathered(changed.points.places, changed.points.place[new]),
            gathered(changed.points.times, changed.points.time[new]),
        )
        blank = pl.Series(self.point < 0)
        coarse = [
            pl.select(pl.when(~blank).then(text)).to_series().alias(name)
            for name, text in zip(self.place_and_time, said, strict=True)
        ]
        return self._written(kept, self.frame.with_columns(coarse), keep_empty=keep_empty)

    def _written(
        self, kept: NDArray[np.bool_], frame: pl.DataFrame | None = None, *, keep_empty: bool = True
    ) -> pl.DataFrame:
        if not keep_empty:
            return (self.frame if frame is None else frame).filter(pl.Series(kept))
        left = np.bincount(self.person[kept], minlength=int(self.person.max(initial=-1)) + 1)
        _, first = np.unique(self.person, return_index=True)
        emptied = np.zeros(len(kept), dtype=bool)
        emptied[first] = left[self.person[first]] == 0
        blank = pl.Series(emptied)
        return (
            (self.frame if frame is None else frame)
            .with_columns(pl.when(~blank).then(pl.col(name)).alias(name) for name in self.place_and_time)
            .filter(pl.Series(kept | emptied))
        )


def by_person(who: Ints, point: Ints) -> Ints:
    """Rows in the order of persons and, within a person, of time."""
    key = who * (int(point.max(initial=0)) + 2) + point
    if len(key) < 2 or bool((key[1:] >= key[:-1]).all()):
        return np.arange(len(key))
    return np.argsort(key, kind="stable")


def repeated(place: str, who: Ints, point: Ints, time: PointCodes, order: Ints) -> list[str | None]:
    """Complaints about a person who is twice somewhere, or at two places at once."""
    this, before = order[1:], order[:-1]
    same = who[this] == who[before]
    twice = point[this] == point[before]
    together = (time[this] == time[before]) & ~twice
    return [
        complaint(f"{place}: the same visit twice", marked(this[same & twice], len(who)), "keep one"),
        complaint(f"{place}: two places at one time", marked(this[same & together], len(who)), "keep one"),
    ]


def changing(who: Ints, order: Ints, columns: Sequence[Column]) -> list[str | None]:
    """Complaints about a person who has two values where a person has one."""
    this, before = order[1:], order[:-1]
    same = who[this] == who[before]
    return [
        complaint(
            f"{column.name}: differs within a person",
            marked(this[same & (column.codes[this] != column.codes[before])], len(who)),
            "what is known of a person is the same in every row",
        )
        for column in columns
    ]


def marked(rows: Ints, of: int) -> NDArray[np.bool_]:
    found = np.zeros(of, dtype=bool)
    found[rows] = True
    return found


def merged(  # noqa: PLR0917 - visits, and what is known of whose they are
    points: Points, who: Ints, point: Ints, columns: Sequence[Column], order: Ints, times: Ints | None = None
) -> Paths:
    """The tally of visits that are sorted by person and time; equal paths become one cell."""
    first = np.flatnonzero(np.concatenate(([True], who[1:] != who[:-1])))
    lengths = np.diff(first, append=len(who))
    values = [column.codes[order[first]] for column in columns]
    # A path is a set of points: equal ones have equal sums of whatever numbers stand for the points.
    stand_for = np.random.default_rng(0).integers(2**63, size=len(points) + 1, dtype=np.int64)
    mark = np.add.reduceat(stand_for[point], first)
    for codes in values:
        mark = mark * 1_000_003 + codes
    _, chosen, which, counts = np.unique(mark, return_index=True, return_inverse=True, return_counts=True)
    each = np.ones(len(first), dtype=np.int64) if times is None else times[order[first]].astype(np.int64)
    if not all_alike(point, first, lengths, values, chosen[which]):  # two sums that met by chance
        chosen, counts = np.arange(len(first)), each
    elif times is not None:
        counts = np.zeros(len(chosen), dtype=np.int64)
        np.add.at(counts, which, each)
    at, starts = stretches(first[chosen], lengths[chosen])
    real = point[at] >= 0  # a person without a visit has one row, which is none
    before = np.concatenate(([0], np.cumsum(real)))
    return Paths(
        points,
        point[at][real].astype(np.int32),
        before[starts].astype(np.int64),
        counts.astype(np.int64),
        tuple(Column(c.name, c.domain, codes[chosen]) for c, codes in zip(columns, values, strict=True)),
    )


def all_alike(point: Ints, first: Ints, lengths: Ints, values: Sequence[Codes], like: Ints) -> bool:
    """Is every person's path, with the sensitive values, the same as that of the person named for it?"""
    if not (lengths == lengths[like]).all() or any((codes != codes[like]).any() for codes in values):
        return False
    at, _ = stretches(first[like], lengths)
    return bool((point == point[at]).all())


def stretches(first: Ints, lengths: Ints) -> tuple[Ints, Ints]:
    """The places of several stretches one after the other, and where each begins among them."""
    starts = np.concatenate(([0], np.cumsum(lengths)))
    return np.arange(starts[-1]) + np.repeat(first - starts[:-1], lengths), starts
