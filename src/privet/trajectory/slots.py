"""Time in slots: readings to the second become visits to the quarter of an hour, and slots become coarser.

A slot is named by its beginning, so that times stay times and a release can be read like the data.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import ClassVar, Self

import polars as pl

from privet.errors import InputError, PolicyError

DAY = 86_400
MICRO = 1_000_000
SIZES = {"s": 1, "min": 60, "h": 3600, "d": DAY}
WORDS = {
    "s": ("s", "sec", "second", "seconds"),
    "min": ("m", "min", "minute", "minutes"),
    "h": ("h", "hour", "hours"),
    "d": ("d", "day", "days"),
}
UNITS = {word: SIZES[unit] for unit, words in WORDS.items() for word in words}
LENGTH = re.compile(r"\s*(\d+)\s*([a-z]*)\s*", re.ASCII)
STAMP = (
    r"^(?<day>\d{4}-\d{2}-\d{2})"
    r"(?:[T ](?<minute>\d{2}:\d{2})(?<second>:\d{2}(?:\.\d{1,9})?)?(?: ?(?<zone>Z|UTC|[+-]\d{2}:?\d{2}))?)?$"
)
CLOCK = r"^(?<hour>[01]\d|2[0-3]):(?<minute>[0-5]\d)(?::(?<second>[0-5]\d(?:\.\d{1,9})?))?$"


@dataclass(frozen=True, slots=True)
class Slot:
    """How long a slot is: seconds for dates and times of day, or steps of data that count by themselves.

    >>> Slot.parse("15 min"), Slot.parse("2h"), Slot.parse(5)
    (Slot(length=900, seconds=True), Slot(length=7200, seconds=True), Slot(length=5, seconds=False))
    """

    length: int
    seconds: bool

    FORM: ClassVar[str] = (
        'a slot is a whole number for times that are numbers, or "30 s", "15 min", "1 h", "1 d" for dates '
        "and times; it divides a day, or is whole days"
    )

    def __post_init__(self) -> None:
        odd = self.seconds and DAY % max(self.length, 1) and self.length % DAY
        if self.length < 1 or odd:
            raise PolicyError(self.FORM)

    @classmethod
    def parse(cls, written: int | str) -> Self:
        match = None if isinstance(written, bool) else LENGTH.fullmatch(str(written))
        if match is None or (match[2] and match[2] not in UNITS):
            raise PolicyError(f"{cls.FORM}, not {written!r}")
        return cls(int(match[1]) * UNITS.get(match[2], 1), seconds=bool(match[2]))

    def __str__(self) -> str:
        if not self.seconds:
            return str(self.length)
        unit = next(unit for unit in reversed(SIZES) if self.length % SIZES[unit] == 0)
        return f"{self.length // SIZES[unit]} {unit}"


class Kind(Enum):
    """How the times of some data are written."""

    NUMBER = "numbers"
    STAMP = "dates and times"
    ZONED = "dates and times with a time zone"
    CLOCK = "times of day"


@dataclass(frozen=True, eq=False)
class Moments:
    """Times as numbers in their order: as they are, or in microseconds (of UTC, where there are zones)."""

    kind: Kind
    values: pl.Series = field(repr=False)

    @classmethod
    def read(cls, times: pl.Series) -> Moments:
        """Raises InputError for times that cannot be put in order; nulls are the caller's business."""
        if times.dtype.is_integer():
            return cls(Kind.NUMBER, times.cast(pl.Int64))
        if isinstance(times.dtype, pl.Datetime):
            kind = Kind.STAMP if times.dtype.time_zone is None else Kind.ZONED
            return cls(kind, times.dt.cast_time_unit("us").to_physical().cast(pl.Int64))
        text = times.cast(pl.String).str.strip_chars()
        for number in (pl.Int64, pl.Float64):
            parsed = text.cast(number, strict=False)
            if parsed.null_count() == text.null_count() and bool(parsed.cast(pl.Float64).is_finite().all()):
                return cls(Kind.NUMBER, parsed)
        return stamps(text) or clocks(text) or refused(text)

    def slotted(self, slot: Slot | None) -> pl.Series:
        """The number of each one's slot."""
        if slot is None:
            return self.values
        if slot.seconds is (self.kind is Kind.NUMBER):
            raise PolicyError(f"slot: the times here are {self.kind.value}; {Slot.FORM}")
        length = slot.length * (MICRO if slot.seconds else 1)
        return (self.values // length).cast(pl.Int64)

    def written(self, slots: pl.Series, slot: Slot) -> pl.Series:
        """The beginnings of slots, as text."""
        begin = slots * (slot.length * (MICRO if slot.seconds else 1))
        if self.kind is Kind.NUMBER:
            return begin.cast(pl.String)
        clock = "%H:%M" if slot.length % 60 == 0 else "%H:%M:%S"
        if self.kind is Kind.CLOCK:
            return (begin * 1000).cast(pl.Time).dt.strftime(clock)
        if slot.length % DAY == 0:
            return begin.cast(pl.Datetime("us")).dt.strftime("%Y-%m-%d")
        zone = "+00:00" if self.kind is Kind.ZONED else ""
        return begin.cast(pl.Datetime("us")).dt.strftime(f"%Y-%m-%dT{clock}{zone}")


def stamps(text: pl.Series) -> Moments | None:
    """Dates and times as ISO 8601 writes them; None where one is something else."""
    parts = text.str.extract_groups(STAMP).struct.unnest()
    day, zone = parts.get_column("day"), parts.get_column("zone")
    if day.null_count() > text.null_count():
        return None
    zones = zone.is_not_null().sum()
    if zones not in {0, len(text) - text.null_count()}:
        raise InputError(f"times: {zones} have a time zone and the others have none; write all in one way")
    whole = (
        day
        + "T"
        + parts.get_column("minute").fill_null("00:00")
        + parts.get_column("second").fill_null(":00")
    )
    moment = whole.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", time_unit="us", strict=False)
    if moment.null_count() > text.null_count():
        return None
    values = moment.to_physical().cast(pl.Int64)
    if not zones:
        return Moments(Kind.STAMP, values)
    digits = zone.str.replace("^(Z|UTC)$", "+0000").str.replace(":", "", literal=True)
    minutes = digits.str.slice(1, 2).cast(pl.Int64) * 60 + digits.str.slice(3, 2).cast(pl.Int64)
    sign = (digits.str.starts_with("+")).cast(pl.Int64) * 2 - 1
    return Moments(Kind.ZONED, values - sign * minutes * 60 * MICRO)


def clocks(text: pl.Series) -> Moments | None:
    """Times of day; None where one is something else."""
    parts = text.str.extract_groups(CLOCK).struct.unnest()
    if parts.get_column("hour").null_count() > text.null_count():
        return None
    hour, minute = (parts.get_column(name).cast(pl.Int64) for name in ("hour", "minute"))
    second = (parts.get_column("second").cast(pl.Float64).fill_null(0) * MICRO).round().cast(pl.Int64)
    return Moments(Kind.CLOCK, (hour * 60 + minute) * (60 * MICRO) + second)


def refused(text: pl.Series) -> Moments:
    raise InputError(
        "times are all numbers, or all dates and times such as 2024-05-01T08:30; "
        f"the {text.n_unique()} different ones here cannot be put in order"
    )


def slot_of(times: Sequence[str], slot: Slot) -> dict[str, str]:
    """The slot of each time, by its beginning.

    >>> slot_of(["08:05", "08:50", "09:10"], Slot.parse("1 h"))
    {'08:05': '08:00', '08:50': '08:00', '09:10': '09:00'}
    """
    if not times:
        return {}
    moments = Moments.read(pl.Series(times, dtype=pl.String))
    return dict(zip(times, moments.written(moments.slotted(slot), slot).to_list(), strict=True))
