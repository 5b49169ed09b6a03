"""Time in slots: readings to the second become visits to the quarter of an hour, and slots become coarser.

A slot is named by its beginning, so that times stay times and a release can be read like the data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from fractions import Fraction
from typing import ClassVar, Self

from privet.declared import settle
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
    r"^(?P<day>\d{4}-\d{2}-\d{2})(?:[T ](?P<minute>\d{2}:\d{2})(?P<second>:\d{2}(?:\.\d{1,9})?)?"
    r"(?: ?(?P<zone>Z|UTC|[+-]\d{2}:?\d{2}))?)?$"
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNORDERED = (
    "times are all numbers, or all dates and times such as 2024-05-01T08:30; "
    "the {} different ones here cannot be put in order"
)
CLOCK = r"^(?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d(?:\.\d{1,9})?))?$"


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
        settle(self)
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


@dataclass(frozen=True, slots=True)
class Instant:
    """One time: how it is written, and its number, in microseconds where it is a date or a time of day."""

    kind: Kind
    at: int | Fraction

    @classmethod
    def read(cls, written: str) -> Self | None:
        """None where it is none of them."""
        text = written.strip()
        for read in (_number, _stamp, _clock):
            if (found := read(text)) is not None:
                return cls(*found)
        return None

    def begin(self, slot: Slot) -> str:
        """The beginning of its slot, as text."""
        if slot.seconds is (self.kind is Kind.NUMBER):
            raise PolicyError(f"slot: the times here are {self.kind.value}; {Slot.FORM}")
        length = slot.length * (MICRO if slot.seconds else 1)
        begin = math.floor(self.at / Fraction(length)) * length
        if self.kind is Kind.NUMBER:
            return str(begin)
        moment = EPOCH + timedelta(microseconds=begin)
        day, clock = (
            moment.date().isoformat(),
            f"{moment:%H:%M}" if slot.length % 60 == 0 else f"{moment:%H:%M:%S}",
        )
        if self.kind is Kind.CLOCK:
            return clock
        if slot.length % DAY == 0:
            return day
        return f"{day}T{clock}" + ("+00:00" if self.kind is Kind.ZONED else "")


def _number(text: str) -> tuple[Kind, int | Fraction] | None:
    try:
        number = float(text) if "_" not in text and text.isascii() else math.nan
    except ValueError:
        return None
    if not math.isfinite(number):
        return None
    return Kind.NUMBER, int(text) if text.lstrip("+-").isdigit() else Fraction(number)


def _stamp(text: str) -> tuple[Kind, int] | None:
    """Dates and times as ISO 8601 writes them."""
    match = re.match(STAMP, text)
    if match is None:
        return None
    try:
        day = datetime.strptime(match["day"] + (match["minute"] or "00:00"), "%Y-%m-%d%H:%M").replace(
            tzinfo=UTC
        )
    except ValueError:
        return None
    second = Fraction((match["second"] or ":00")[1:])
    if second >= 60:
        return None
    at = (day - EPOCH) // timedelta(microseconds=1) + math.floor(second * MICRO)
    zone = match["zone"]
    if zone is None:
        return Kind.STAMP, at
    digits = "+0000" if zone in {"Z", "UTC"} else zone.replace(":", "")
    minutes = int(digits[1:3]) * 60 + int(digits[3:5])
    return Kind.ZONED, at - (1 if digits[0] == "+" else -1) * minutes * 60 * MICRO


def _clock(text: str) -> tuple[Kind, int] | None:
    """Times of day."""
    match = re.match(CLOCK, text, re.ASCII)
    if match is None:
        return None
    second = round(Fraction(match["second"] or 0) * MICRO)
    return Kind.CLOCK, (int(match["hour"]) * 60 + int(match["minute"])) * 60 * MICRO + second


def slot_of(times: Sequence[str], slot: Slot) -> dict[str, str]:
    """The slot of each time, by its beginning.

    >>> slot_of(["08:05", "08:50", "09:10"], Slot.parse("1 h"))
    {'08:05': '08:00', '08:50': '08:00', '09:10': '09:00'}
    """
    found = [Instant.read(time) for time in times]
    if None in found or len({instant.kind for instant in found if instant is not None}) > 1:
        raise InputError(UNORDERED.format(len(set(times))))
    return {
        time: instant.begin(slot) for time, instant in zip(times, found, strict=True) if instant is not None
    }
