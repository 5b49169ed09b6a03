"""Records as they are beside what leaves of them: for the steward's own eyes, from the private notes.

A release does not say which of its records is whose. What each value may leave as stands in the notes, and
together the values of a record leave few published records, mostly one kind: those are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

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
class Prepared:
    """All records of the data, and every kind of published record, ready to be looked through."""

    frame: pl.DataFrame = field(repr=False)  # words are numbers here: a million records take little room
    kinds: pl.DataFrame = field(repr=False)
    became: Mapping[str, Mapping[Any, set[Any]]] = field(repr=False)
    columns: tuple[str, ...]
    telling: tuple[str, ...]  # columns of the kinds, the one with most different values first

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
        found = self._fitting({**labels, **same})
        if not found.height:  # a value was missing, and leaves as nothing
            found = self._fitting(labels)
        return Record(
            tuple(raw.values()),
            tuple(_said(found.get_column(name), value) for name, value in raw.items()),
            found.height,
            int(found.get_column(_MANY_RECORDS).sum()),
        )

    def _fitting(self, labels: Mapping[str, set[Any]]) -> pl.DataFrame:
        """Column by column, what tells most apart first: each looks only at what the others have left."""
        found = self.kinds
        for name in self.telling:
            if name in labels and found.height:
                texts = [label for label in labels[name] if label is not None]
                here = pl.col(name).is_in(texts)
                fits = here | pl.col(name).is_null() if None in labels[name] else here.fill_null(value=False)
                found = found.filter(fits)
        return found


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
    kinds = released.group_by([*columns, *same]).len(_MANY_RECORDS)
    different = {name: kinds.get_column(name).n_unique() for name in (*columns, *same)}
    telling = sorted(different, key=lambda name: -different[name])
    return Prepared(frame, kinds, became, (*columns, *same), tuple(telling))


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


def _said(labels: pl.Series, raw: Any) -> str | None:
    """The labels of one value, few of them; None: it leaves as it is."""
    every = labels.unique().cast(pl.String).sort().to_list()
    if not every or every == [raw]:
        return None
    told = ["null" if label is None else str(label) for label in every[:MANY]]
    return " or ".join(told) + (" or …" if len(every) > MANY else "")


def _labels(pairs: list[Mapping[str, Any]]) -> dict[Any, set[Any]]:
    found: dict[Any, set[Any]] = {}
    for pair in pairs:
        label = pair["published"]
        found.setdefault(pair["raw"], set()).add(None if label is None else str(label))
    return found
