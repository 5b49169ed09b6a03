"""The cost model of docs/explain/scale.md in numbers: what a release on a cluster shuffles and takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log2
from typing import TypeAlias

Run: TypeAlias = tuple[int, float]  # records, and what was measured
UNIT = 1_000_000

ENTRY = 28  # bytes of a count on its way: 4 of length, 8 of flags, a packed number of 8, a count of 8
CELL = 16  # bytes of a column of a record on its way into order: its place and a short text
BESIDE = 16  # of a record, beside its columns


@dataclass(frozen=True)
class Line:
    """Seconds of processor time by records: what a release takes anyway, and what each record adds.

    `merged` is what each record adds for each doubling beyond a million: who sorts in memory merges runs of
    one length, and a record is compared once more where there are twice as many of them.
    """

    fixed: float
    each: float
    merged: float = 0.0

    @classmethod
    def through(cls, first: Run, second: Run, merged: float = 0.0) -> Line:
        """The line through two runs, where the merging is known.

        >>> Line.through((1_000_000, 4.2), (3_000_000, 9.6)).at(10_000_000)
        28.5
        """
        (few, less), (many, more) = ((n, taken - merged * n * log2(n / UNIT)) for n, taken in (first, second))
        each = (more - less) / (many - few)
        return cls(less - each * few, each, merged)

    @classmethod
    def bent(cls, first: Run, second: Run, third: Run) -> Line:
        """The line through three runs, which say what the merging takes.

        >>> meant = Line(5.0, 1e-6, 8e-7)
        >>> runs = [(many * UNIT, meant.at(many * UNIT)) for many in (1, 3, 10, 50)]
        >>> abs(Line.bent(*runs[:3]).at(50 * UNIT) - runs[3][1]) < 1e-6
        True
        """
        straight = cls.through(first, second).at(third[0])
        bow = cls.through(first, second, merged=1.0).at(third[0])  # how far one second of merging lifts it
        return cls.through(first, second, (third[1] - straight) / (bow - straight))

    def at(self, records: int) -> float:
        return round(self.fixed + records * (self.each + self.merged * log2(records / UNIT)), 9)

    def hours(self, records: int, share: float = 1.0) -> float:
        """Of machines each of which sorts a share as large as it would in this run of fewer records."""
        return (self.fixed + records * (self.each + self.merged * log2(records * share / UNIT))) / 3600

    def wall(self, records: int, cores: int, share: float = 1.0) -> float:
        """Seconds on the clock, where reading and the network keep up."""
        return 3600 * self.hours(records, share) / cores


def counted(tasks: int, values: int, combinations: int, records: int) -> int:
    """Bytes that are shuffled for distinct values and for counts: no task sends more than it has read.

    >>> counted(1, 174, 100_000, 1_000_000)
    2804872
    """
    return ENTRY * (min(tasks * values, records) + min(tasks * combinations, records))


def ordered(records: int, columns: int) -> int:
    """Bytes that are shuffled into canonical order.

    >>> ordered(300_000, 9)
    48000000
    """
    return records * (CELL * columns + BESIDE)


def asked(rounds: int, tasks: int, sums: int, combinations: int) -> int:
    """Bytes that are shuffled by a search whose counts stay: each round sends as many sums as there are."""
    return rounds * ENTRY * min(tasks * sums, combinations)


def off(predicted: float, measured: float) -> float:
    """By what share of what was measured the model is off."""
    return abs(predicted - measured) / measured


def foretold(runs: Sequence[Run], merged: float = 0.0) -> tuple[float, float] | None:
    """The largest of several runs, as the two smallest predict it; and by how much that is off."""
    if len(runs) < 3:
        return None
    first, second, *_, last = sorted(runs)
    predicted = Line.through(first, second, merged).at(last[0])
    return predicted, off(predicted, last[1])
