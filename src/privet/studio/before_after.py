"""Records as they are beside what leaves of them: for the steward's own eyes, from the private notes.

A release does not say which of its records is whose. What each value may leave as stands in the notes, and
together the values of a record leave few published records, mostly one kind: those are shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from privet.core import Form
from privet.evidence import folder as ev
from privet.policy.notation import fill
from privet.registry import find
from privet.release import read_private
from privet.roads.stations import data_file, in_frame, settle

SHOWN = 20  # records on a page
MANY = 3  # labels of one value, where records with it may leave differently
_MANY_RECORDS = " number of records"  # a column beside those of the release


@dataclass(frozen=True)
class Record:
    """One record, before and after."""

    raw: tuple[Any, ...]
    published: tuple[str | None, ...]  # None: as it is
    kinds: int  # different published records that it may have become; none: it was left out
    alike: int  # published records that look like the one or those


@dataclass(frozen=True)
class Beside:
    """Some records of the data, each with what it leaves as."""

    columns: tuple[str, ...]
    rows: tuple[Record, ...]
    first: int  # the number of the first that is shown, from 0
    found: int  # records that match the search
    records: int


@dataclass(frozen=True, eq=False)
class Kinds:
    """Every kind of published record: for each column the number of its word, and how many records it is."""

    codes: Mapping[str, NDArray[np.uint32]] = field(repr=False)  # what tells most apart first
    words: Mapping[str, Sequence[str | None]] = field(repr=False)  # by their numbers; the last is no word
    numbers: Mapping[str, Mapping[str | None, int]] = field(repr=False)
    many: NDArray[np.int64] = field(repr=False)

    @classmethod
    def of(cls, released: pl.DataFrame, columns: Sequence[str]) -> Kinds:
        counted = released.group_by(columns).len(_MANY_RECORDS)
        words: dict[str, Sequence[str | None]] = {}
        codes = {}
        for name in columns:
            column = counted.get_column(name).cast(pl.String)
            known = column.drop_nulls().unique(maintain_order=True)
            numbers = column.cast(pl.Enum(known)).to_physical().cast(pl.UInt32)
            words[name] = [*known.to_list(), None]
            codes[name] = numbers.fill_null(len(known)).to_numpy()
        telling = sorted(columns, key=lambda name: -len(words[name]))
        return cls(
            {name: codes[name] for name in telling},
            words,
            {name: {word: at for at, word in enumerate(words[name])} for name in columns},
            counted.get_column(_MANY_RECORDS).cast(pl.Int64).to_numpy(),
        )

    def fitting(self, labels: Mapping[str, Collection[Any]]) -> NDArray[np.int64]:
        """The kinds with one of these labels in each column: each looks only at what the others have left."""
        found = np.arange(len(self.many))
        for name, codes in self.codes.items():
            if name in labels and len(found):
                numbers = self.numbers[name]
                wanted = [numbers[label] for label in labels[name] if label in numbers]
                found = found[np.isin(codes[found], wanted)]
        return found

    def said(self, name: str, found: NDArray[np.int64]) -> list[str | None]:
        """The different labels of a column among some kinds, in order; one that is missing first."""
        words = {self.words[name][at] for at in np.unique(self.codes[name][found]).tolist()}
        return sorted(words, key=lambda word: (word is not None, word or ""))


@dataclass(frozen=True, eq=False)
class Prepared:
    """All records of the data, and every kind of published record, ready to be looked through."""

    frame: pl.DataFrame = field(repr=False)  # words are numbers here: a million records take little room
    kinds: Kinds = field(repr=False)
    became: Mapping[str, Mapping[Any, set[Any]]] = field(repr=False)
    columns: tuple[str, ...]

    def some(self, search: str, first: int = 0) -> Beside:
        """A few records that hold the searched text."""
        matching = self.frame.filter(_holds(self.frame, search)) if search.strip() else self.frame
        rows = matching.select(self.columns).slice(first, SHOWN).select(pl.all().cast(pl.String))
        return Beside(
            self.columns,
            tuple(self._record(dict(zip(self.columns, row, strict=True))) for row in rows.iter_rows()),
            first,
            matching.height,
            self.frame.height,
        )

    def _record(self, raw: Mapping[str, Any]) -> Record:
        """What a record may have become: the kinds of published records that fit all of its values."""
        labels = {name: self.became[name].get(raw[name], {raw[name]}) for name in raw if name in self.became}
        same = {name: {value} for name, value in raw.items() if name not in self.became}
        found = self.kinds.fitting({**labels, **same})
        if not len(found):  # a value was missing, and leaves as nothing
            found = self.kinds.fitting(labels)
        return Record(
            tuple(raw.values()),
            tuple(_said(self.kinds.said(name, found), value) for name, value in raw.items()),
            len(found),
            int(self.kinds.many[found].sum()),
        )


def prepared(source: str, folder: Path) -> Prepared | None:
    """What there is to look through; None: no notes lie beside the release."""
    notes = read_private(folder)
    if notes is None or not notes.get("published_as"):
        return None
    engine = find("engines", "embedded")()
    form = fill(Form, notes.get("form", {}))
    words = pl.all().cast(pl.String)
    frame = in_frame(engine, engine.read(source, settle(source, form))).select(words.cast(pl.Categorical))
    released = in_frame(engine, engine.read(*data_file(folder, ev.read(folder))))
    released = released.select(words.cast(pl.Categorical))
    became = {name: _labels(pairs) for name, pairs in notes["published_as"].items()}
    columns = [name for name in frame.columns if name in became and name in released.columns]
    same = [name for name in released.columns if name not in became and _untouched(frame, released, name)]
    every = (*columns, *same)
    return Prepared(frame, Kinds.of(released, every), became, every)


def _untouched(frame: pl.DataFrame, released: pl.DataFrame, name: str) -> bool:
    """Does a column leave in the very words in which it came?"""
    if name not in frame.columns:
        return False
    left = released.get_column(name).drop_nulls().unique().cast(pl.String)
    return bool(left.is_in(frame.get_column(name).unique().cast(pl.String).implode()).all())


def _holds(frame: pl.DataFrame, search: str) -> pl.Expr:
    """Is the text in any value of a record? Each different value is looked at once."""
    wanted, found = search.strip().lower(), pl.lit(value=False)
    for column in frame:
        every = column.unique().drop_nulls().cast(pl.String)
        fits = every.filter(every.str.to_lowercase().str.contains(wanted, literal=True))
        if len(fits):
            found |= pl.col(column.name).is_in(fits.cast(pl.Categorical).implode()).fill_null(value=False)
    return found


def _said(every: Sequence[str | None], raw: Any) -> str | None:
    """The labels of one value, few of them; None: it leaves as it is."""
    if not every or every == [raw]:
        return None
    told = ["null" if label is None else label for label in every[:MANY]]
    return " or ".join(told) + (" or …" if len(every) > MANY else "")


def _labels(pairs: list[Mapping[str, Any]]) -> dict[Any, set[Any]]:
    found: dict[Any, set[Any]] = {}
    for pair in pairs:
        label = pair["published"]
        found.setdefault(pair["raw"], set()).add(None if label is None else str(label))
    return found
