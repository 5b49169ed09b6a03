"""What there is to see of one column: what kind it is, how its values lie, and what is guessed of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from typing import Any

import polars as pl

from privet.core import Role
from privet.drafts.draft import Draft
from privet.drafts.guess import Guess
from privet.engines.plain_text import as_said
from privet.hierarchy.dates import Dates
from privet.hierarchy.numbers import read as number
from privet.registry import find
from privet.roads.stations import in_frame

SHOWN = 8  # values of a column that a page draws
FEW = 2000  # different values up to which the count of each is kept
BINS = 24
KINDS = {
    "intervals": "numbers",
    "dates": "dates",
    "prefix": "codes",
    "flat": "categories",
    "tree": "categories",
}


@dataclass(frozen=True)
class Bin:
    """So many records between two numbers; days are numbers, too."""

    low: float
    high: float
    records: int


def as_day(number: float) -> str:
    """A number of days as a date; the calendar ends with the year 9999."""
    return date.fromordinal(min(max(int(number), 1), date.max.toordinal())).isoformat()


@dataclass(frozen=True)
class Column:
    """A column as it stands in the data."""

    name: str
    guess: str  # a role, or what a path is read from
    reason: str
    type: str
    different: int
    missing: int
    alone: int  # records whose value nobody else has
    common: tuple[tuple[str, int], ...] = field(repr=False)  # the commonest values
    every: Mapping[str, int] = field(default_factory=dict, repr=False)  # all of them, where they are few
    values: tuple[Any, ...] = field(
        default=(), repr=False
    )  # the same as the engine has them, for hierarchies
    bins: tuple[Bin, ...] = field(default=(), repr=False)
    highest: float | None = field(default=None, repr=False)  # of its numbers; the last bin may end beyond it
    hierarchy: Mapping[str, Any] = field(default_factory=dict)
    of_path: bool = False
    dated: bool = False

    def span(self, one: Bin) -> str:
        """What stands in a bin, for people: one whole number is that number."""
        if not self.dated and float(one.low).is_integer() and one.high - one.low == 1:
            return self.edge(one.low)
        return f"{self.edge(one.low)} to {self.edge(one.high)}"

    @property
    def ends(self) -> tuple[str, str]:
        """Between what its numbers or days lie."""
        last = self.bins[-1].high if self.highest is None else self.highest
        return self.edge(self.bins[0].low), self.edge(last)

    def edge(self, number: float) -> str:
        """Where a bin begins or ends, for people."""
        return as_day(number) if self.dated else f"{number:g}"


def columns_of(source: str, drafted: Draft) -> list[Column]:
    """Every column of a table, counted on all of its records."""
    engine = find("engines", "embedded")()
    table = engine.read(source, drafted.form)
    frame = in_frame(engine, table)
    guesses = {guess.name: guess for guess in drafted.guesses}
    found = []
    for name, said, reason in drafted.told():
        column = _column(frame.get_column(name), said, reason, guesses[name], drafted)
        if column.every:
            absent = {None, *drafted.form.nulls, *drafted.form.missing.get(name, ())}
            values = tuple(value for value in engine.distinct(table, name) if value not in absent)
            column = replace(column, values=values)
        found.append(column)
    return found


def _column(column: pl.Series, said: str, reason: str, guess: Guess, drafted: Draft) -> Column:
    form, name = drafted.form, column.name
    absent = {None, *form.nulls, *form.missing.get(name, ())}
    counted = column.cast(pl.String).value_counts(sort=True)
    every = zip(counted.get_column(name).to_list(), counted.get_column("count").to_list(), strict=True)
    there = [(value, many) for value, many in every if value not in absent]
    values, counts = [value for value, _ in there], [many for _, many in there]
    present = sum(counts)
    kind = KINDS.get(guess.hierarchy.name, "text")
    numbers: list[Decimal | None] = []
    if guess.hierarchy.name == "intervals":
        read = (as_said(value, name, form) for value in values)
        numbers = [None if value is None else number(value) for value in read]
    elif isinstance(guess.hierarchy, Dates):
        numbers = days(values, guess.hierarchy)
    elif guess.role is Role.IDENTIFIER and len(there) * 2 > present:
        kind = "names or numbers of people"
    bins = binned(numbers, counts) if numbers else ()
    return Column(
        name=name,
        guess=said,
        reason=reason,
        type=kind,
        different=len(there),
        missing=len(column) - present,
        alone=counts.count(1),
        common=tuple(there[:SHOWN]),
        every=dict(there) if len(there) <= FEW else {},
        bins=bins,
        highest=max((float(one) for one in numbers if one is not None), default=None),
        hierarchy=guess.hierarchy.to_policy(),
        of_path=name in drafted.of_paths,
        dated=guess.hierarchy.name == "dates",
    )


def days(values: Sequence[str], hierarchy: Dates) -> list[Decimal | None]:
    """Dates as numbers of days; None: not a date."""
    found = (hierarchy.day(value) for value in values)
    return [None if day is None else Decimal(day.toordinal()) for day in found]


def binned(values: Sequence[Decimal | None], counts: Sequence[int]) -> tuple[Bin, ...]:
    """A histogram of equal widths; whole numbers get whole edges."""
    read = [(found, many) for found, many in zip(values, counts, strict=True) if found is not None]
    if not read:
        return ()
    low, high = min(read)[0], max(read)[0]
    whole = all(found == found.to_integral_value() for found, _ in read)
    width = (high - low) / BINS
    if whole:
        width = Decimal(max(1, -(-int(high - low + 1) // BINS)))
    if width <= 0:
        return (Bin(float(low), float(high), sum(many for _, many in read)),)
    made = [0] * (int((high - low) / width) + 1)
    for found, many in read:
        made[min(len(made) - 1, int((found - low) / width))] += many
    return tuple(
        Bin(float(low + width * at), float(low + width * (at + 1)), many) for at, many in enumerate(made)
    )
