"""Times of a whole column as numbers in their order, and back; `trajectory.slots` does it for single ones."""

from __future__ import annotations

from dataclasses import dataclass, field

import polars as pl

from privet.errors import InputError, PolicyError
from privet.trajectory.slots import CLOCK, DAY, MICRO, STAMP, UNORDERED, Kind, Slot


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
    parts = text.str.extract_groups(_named(STAMP)).struct.unnest()
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
    parts = text.str.extract_groups(_named(CLOCK)).struct.unnest()
    if parts.get_column("hour").null_count() > text.null_count():
        return None
    hour, minute = (parts.get_column(name).cast(pl.Int64) for name in ("hour", "minute"))
    second = (parts.get_column("second").cast(pl.Float64).fill_null(0) * MICRO).round().cast(pl.Int64)
    return Moments(Kind.CLOCK, (hour * 60 + minute) * (60 * MICRO) + second)


def refused(text: pl.Series) -> Moments:
    raise InputError(UNORDERED.format(text.n_unique()))


def _named(pattern: str) -> str:
    """A pattern of Python's as polars writes it."""
    return pattern.replace("(?P<", "(?<")
