"""Sets in a table: a column that holds them, or one row for each item of a person."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from privet.core import Form
from privet.engine import Engine
from privet.engines import text
from privet.engines.flatjson import refuse_ambiguous
from privet.engines.frames import keys_of_rows
from privet.engines.panic import unpanicked
from privet.engines.sound import refuse_unsound
from privet.engines.trajectories.frames import coded, complaint, grouped, need, refuse
from privet.errors import InputError
from privet.rules.baskets import Baskets, Ints

TYPED = ("jsonl", "parquet", "arrow")  # formats that hold lists


@dataclass(frozen=True, eq=False)
class ItemFrame:
    """Records with their sets, and what stands beside them: a row for each record."""

    baskets: Baskets
    beside: pl.DataFrame = field(repr=False)  # has no column where nothing stands beside
    person: pl.Series | None = field(default=None, repr=False)

    def in_order(self) -> Ints:
        """The records in the order of their texts: what stands beside them, their sets, whose they are."""
        sets = as_lists(self.baskets).alias("")
        frame = self.beside.with_columns(sets) if self.beside.width else sets.to_frame()
        if self.person is not None:
            frame = frame.with_columns(self.person.alias(" "))
        key = keys_of_rows(frame)
        return np.arange(self.baskets.records) if key is None else np.argsort(key, kind="stable")

    def only(self, records: Ints, baskets: Baskets) -> ItemFrame:
        """Some of the records, with other sets."""
        rows = pl.Series(records)
        return replace(
            self,
            baskets=baskets,
            beside=self.beside[records] if self.beside.width else self.beside,
            person=None if self.person is None else self.person.gather(rows),
        )


def table(
    source: Any, form: Form, columns: Sequence[str], sets: str | None, engine: Engine[Any]
) -> pl.DataFrame:
    """The columns of a source; the one that holds sets may hold lists."""
    if sets is None or not isinstance(source, (str, Path)) or text.is_url(source):
        if isinstance(source, pl.DataFrame):
            need(source, columns)
            return source.select(columns)
        return read_by(engine, source, form, columns)
    settled = text.settled(Path(source), form)
    if settled.format not in TYPED:
        return read_by(engine, source, form, columns)
    whole = typed(Path(source), settled.format)
    need(whole, columns)
    if settled.format == "jsonl":
        _refuse_mixed(Path(source), sets, whole.get_column(sets))
    return whole.select(columns)


def read_by(
    engine: Engine[Any], source: Any, form: Form, columns: Sequence[str] | None = None
) -> pl.DataFrame:
    """A table as an engine reads it."""
    return pl.DataFrame(engine.arrow(engine.read(source, form, None if columns is None else list(columns))))


def typed(path: Path, kind: str) -> pl.DataFrame:
    """A file whose columns may hold lists."""
    # The first lines alone may hold empty sets, from which polars would take it that no set holds anything.
    lines = partial(pl.read_ndjson, infer_schema_length=None)
    reader: Any = {"jsonl": lines, "parquet": pl.read_parquet, "arrow": pl.read_ipc}[kind]
    try:
        raw = _unpacked(path)
        refuse_unsound(raw, kind)
        if kind == "jsonl":
            refuse_ambiguous(path, raw, "line")
        with unpanicked():
            whole: pl.DataFrame = reader(io.BytesIO(raw))
    except InputError:
        raise
    except OSError:
        raise InputError(f"{path}: no such file, or it cannot be read") from None
    except Exception:  # noqa: BLE001 - polars has no one family, and its sentences may quote the file
        raise InputError(f"{path}: this is not {kind}, or a damaged file") from None
    text.refuse_patterns(str(path), whole.columns)
    return whole


def _unpacked(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def _refuse_mixed(path: Path, column: str, series: pl.Series) -> None:
    """Lists among texts, which polars reads as the text of their JSON: one item that nobody has."""
    listed = isinstance(series.dtype, pl.List)
    texts = series.explode() if listed else series
    if texts.dtype != pl.String or not texts.str.contains(r"^[\[{]").any():
        return
    try:
        sets = [json.loads(line).get(column) for line in _unpacked(path).splitlines() if line.strip()]
    except (ValueError, RecursionError):  # what polars lets pass, as numbers of thousands of digits
        raise InputError(f"{path}: this is not jsonl, or a damaged file") from None
    held = (item for one in sets for item in one or ()) if listed else iter(sets)
    if any(isinstance(one, (list, dict)) for one in held):
        raise InputError(
            f"{column}: holds lists or objects among single values; a set is one list of items in every "
            "record, or one text in every record"
        )


def from_column(
    frame: pl.DataFrame,
    column: str,
    separator: str,
    *,
    beside: Sequence[str],
    engine: Engine[Any],
    form: Form,
) -> ItemFrame:
    """One row for each record, its set in one column: as a list, or as text between separators."""
    need(frame, (column, *beside))
    series = frame.get_column(column)
    if series.dtype == pl.List(pl.Null):
        series = series.cast(pl.List(pl.String))
    if not isinstance(series.dtype, (pl.List, pl.Array)):
        if series.dtype.is_nested():
            raise InputError(f"{column}: holds objects; a set is a list, or a text with separators")
        series = series.cast(pl.String).str.split(separator)
    inner = getattr(series.dtype, "inner", pl.String)
    if inner.is_nested():
        raise InputError(f"{column}: holds lists inside lists; a set is one list of items")
    wanted = series.cast(pl.List(pl.String))
    lengths = wanted.list.len().fill_null(0).to_numpy().astype(np.int64)
    flat = wanted.filter(wanted.list.len() > 0).explode()
    owner = np.repeat(np.arange(frame.height, dtype=np.int64), lengths)
    items = flat.str.strip_chars()
    keep = (items.is_not_null() & (items != "")).fill_null(value=False).to_numpy()
    return ItemFrame(
        _baskets(items.filter(pl.Series(keep)), owner[keep], frame.height),
        _texts(frame, beside, engine, form),
    )


def from_rows(
    frame: pl.DataFrame,
    person: str,
    item: str,
    *,
    beside: Sequence[str],
    engine: Engine[Any],
    form: Form,
    published: bool,
) -> ItemFrame:
    """One row for each item of a person; what stands beside is the same in all rows of a person."""
    need(frame, (person, item, *beside))
    who, items = frame.get_column(person), frame.get_column(item).cast(pl.String).str.strip_chars()
    nothing = (items.is_null() | (items == "")).fill_null(value=True).to_numpy()
    refuse(
        complaint(f"{person}: missing", who.is_null().to_numpy(), "every row says whose item it is"),
        None if published else complaint(f"{item}: missing", nothing, "leave the row out"),
    )
    if who.dtype == pl.String:
        who = who.str.strip_chars()  # as items are: blanks around a name make nobody another person
        empty = (who == "").fill_null(value=False).to_numpy()
        refuse(complaint(f"{person}: missing", empty, "every row says whose item it is"))
    owner = grouped(who)
    owner = _renumbered(owner)
    records = int(owner.max(initial=-1)) + 1
    _, first = np.unique(owner, return_index=True)
    beside_frame = _texts(frame, beside, engine, form)
    for name in beside:
        codes, _ = coded(beside_frame.get_column(name))
        refuse(complaint(f"{name}: differs within a person", codes != codes[first][owner], "say it once"))
    return ItemFrame(
        _baskets(items.filter(pl.Series(~nothing)), owner[~nothing], records),
        beside_frame[first] if beside else beside_frame,
        who.gather(pl.Series(first)),
    )


def _renumbered(owner: Ints) -> Ints:
    """Persons in the order in which they first occur."""
    _, first, which = np.unique(owner, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[which]


def _baskets(items: pl.Series, owner: Ints, records: int) -> Baskets:
    codes, values = coded(items)
    labels = sorted(str(value) for value in values)
    at = {label: number for number, label in enumerate(labels)}
    order = np.array([at[str(value)] for value in values], dtype=np.int64)
    numbers = order[codes] if len(values) else codes
    return Baskets.gathered(labels, owner, numbers, records).spelt()


def _texts(frame: pl.DataFrame, beside: Sequence[str], engine: Engine[Any], form: Form) -> pl.DataFrame:
    """The columns beside the set as every engine reads them."""
    if not beside:
        return pl.DataFrame()
    return read_by(engine, frame.select(beside), form)


def as_lists(baskets: Baskets) -> pl.Series:
    """The set of each record, in alphabetical order."""
    labels = pl.Series(list(baskets.items), dtype=pl.String).gather(
        pl.Series(baskets.members.astype(np.int64))
    )
    frame = pl.DataFrame({"record": baskets.owner, "item": labels})
    sets = frame.group_by("record", maintain_order=True).agg(pl.col("item"))
    every = pl.DataFrame({"record": np.arange(baskets.records, dtype=np.int64)})
    joined = every.join(sets, on="record", how="left", maintain_order="left").get_column("item")
    return joined.fill_null(pl.Series([[]], dtype=pl.List(pl.String)))


def column_written(
    found: ItemFrame, column: str, separator: str, order: Sequence[str], form: Form
) -> pl.DataFrame:
    """One row for each record again."""
    sets = as_lists(found.baskets)
    if form.format not in TYPED:
        held = sum(separator in item for item in found.baskets.items)
        if held:
            raise InputError(
                f"{held} items hold the separator {separator!r}; say another in transactions.separator"
            )
        sets = sets.list.join(separator)
    frame = (
        found.beside.with_columns(sets.alias(column)) if found.beside.width else pl.DataFrame({column: sets})
    )
    return frame.select(order)


def rows_written(
    found: ItemFrame, person: str, item: str, *, numbers: pl.Series, order: Sequence[str]
) -> pl.DataFrame:
    """One row for each item again; who has none keeps a row without one."""
    lists = as_lists(found.baskets)
    frame = (
        found.beside.with_columns(numbers.alias(person))
        if found.beside.width
        else pl.DataFrame({person: numbers})
    )
    frame = frame.with_columns(lists.alias(item))
    return frame.explode(item, empty_as_null=True, keep_nulls=True).select(order)
