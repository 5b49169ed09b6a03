"""The cost model of docs/explain/scale.md in numbers: what a release on a cluster shuffles and takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ENTRY = 28  # bytes of a count on its way: 4 of length, 8 of flags, a packed number of 8, a count of 8
CELL = 16  # bytes of a column of a record on its way into order: its place and a short text
BESIDE = 16  # of a record, beside its columns


@dataclass(frozen=True)
class Line:
    """Seconds of processor time by records: what a release takes anyway, and what each record adds."""

    fixed: float
    each: float

    @classmethod
    def through(cls, first: tuple[int, float], second: tuple[int, float]) -> Line:
        """The line through two runs.

        >>> Line.through((1_000_000, 4.2), (3_000_000, 9.6)).at(10_000_000)
        28.5
        """
        (few, less), (many, more) = first, second
        each = (more - less) / (many - few)
        return cls(less - each * few, each)

    def at(self, records: int) -> float:
        return round(self.fixed + self.each * records, 9)

    def hours(self, records: int) -> float:
        return self.at(records) / 3600

    def wall(self, records: int, cores: int) -> float:
        """Seconds on the clock, where reading and the network keep up."""
        return self.at(records) / cores


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


def foretold(runs: Sequence[tuple[int, float]]) -> tuple[float, float] | None:
    """The largest of several runs, as the two smallest predict it; and by how much that is off."""
    if len(runs) < 3:
        return None
    first, second, *_, last = sorted(runs)
    predicted = Line.through(first, second).at(last[0])
    return predicted, off(predicted, last[1])
