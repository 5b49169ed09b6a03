"""The embedded engine: polars reads and writes, numpy holds the codes; all in this process.

polars copies the million-row Adult file in about half of DuckDB's time on two cores (bench/copy.py),
and reading and writing is most of the road, so it is the only table library privet depends on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import prod
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from privet.core import (
    Attribute,
    Column,
    Form,
    Generalization,
    Perturbation,
    Policy,
    Recoding,
    Regions,
    Role,
    Tally,
)
from privet.domain import Codes, Value
from privet.engine import Tallied
from privet.engines import databases, files
from privet.engines.arrange import domains
from privet.engines.frames import encode, labelled, texts
from privet.errors import InputError, InternalError

SAMPLE = 20_000  # records looked at to see whether merging equal ones pays
REPEATS = 0.25  # share of distinct texts up to which numbers take less room than they do
FEW_REPEATS = 0.8  # share of distinct records above which it does not


@dataclass(frozen=True, eq=False)
class Frame:
    """A polars frame."""

    data: pl.DataFrame = field(repr=False)


@dataclass(frozen=True, eq=False)
class Coded:
    """A frame's rows in leaf order: what was worked out to count them, and serves to recode them."""

    data: pl.DataFrame = field(repr=False)
    columns: Mapping[str, Column] = field(repr=False)  # by row
    merged: tuple[str, ...] | None  # the columns in which equal rows became one cell; None: none did

    @cached_property
    def cell_of_row(self) -> NDArray[np.intp] | None:
        """Which cell of the tally each row was counted in, None where each has its own.

        Found when asked for: few recodings need it, and those that do need it for every column.
        """
        if self.merged is None:
            return None
        return np.unique(_packed([self.columns[name] for name in self.merged]), return_inverse=True)[1]


class Embedded:
    """Tables in this process, held by polars."""

    name: ClassVar[str] = "embedded"
    takes_tables: ClassVar[bool] = True

    def read(
        self, source: Any, form: Form, columns: Iterable[str] | None = None, *, empty: bool = False
    ) -> Frame:
        if databases.is_url(source):
            data = databases.read(source, form.query, empty=empty)
        elif isinstance(source, (str, Path)):
            return Frame(files.read(Path(source), form, columns, empty=empty))
        else:
            data = files.as_said(_frame_of(source), form)
        wanted = list(data.columns if columns is None else dict.fromkeys(columns))
        files.complain_about_missing("the data", wanted, data.columns, None)
        if not data.height and not empty:
            raise InputError("the data has not one record")
        return Frame(data.select([name for name in data.columns if name in wanted]))

    def columns(self, table: Frame) -> tuple[str, ...]:
        return tuple(table.data.columns)

    def rows(self, table: Frame) -> int:
        return table.data.height

    def distinct(self, table: Frame, column: str) -> list[Value]:
        """The values of a column, each once."""
        return encode(table.data.select(column))[column][1]

    def tally(self, table: Frame, policy: Policy) -> Tallied:
        data = table.data
        del table  # where nobody else has it, its texts can go one after the other
        return self._tally(data, policy, {a.name: a for a in policy.quasi})

    def tally_published(self, table: Frame, policy: Policy) -> Tally:
        return self._tally(table.data, policy, {}).tally

    def _tally(self, data: pl.DataFrame, policy: Policy, arranged: Mapping[str, Attribute]) -> Tallied:
        counted = [a.name for a in policy.with_role(Role.QUASI, Role.SENSITIVE, Role.TARGET)]
        encoded: dict[str, tuple[NDArray[Any], list[Value]]] = {}
        beside = pl.thread_pool_size()
        for first in range(0, len(counted), beside):
            # A few columns at a time: their texts can go before the next are numbered.
            some = encode(data.select(counted[first : first + beside]))
            data = _slim(data, some)
            encoded |= some
        found = domains({name: values for name, (_, values) in encoded.items()}, arranged)
        by_row: dict[str, Column] = {}
        for name, (codes, values) in encoded.items():
            leaf_order = np.array([found[name].codes[value] for value in values], dtype=np.intp)
            by_row[name] = Column(name, found[name], found[name].column(leaf_order)[codes])
        cells, counts = _merged([by_row[name] for name in counted], data.height)
        columns = {
            name: c if cells is None else Column(name, c.domain, c.codes[cells]) for name, c in by_row.items()
        }
        target = [columns[a.name] for a in policy.with_role(Role.TARGET)]
        tally = Tally(
            quasi=tuple(columns[a.name] for a in policy.with_role(Role.QUASI)),
            sensitive=tuple(columns[a.name] for a in policy.with_role(Role.SENSITIVE)),
            target=target[0] if target else None,
            counts=counts,
            nulls=policy.nulls,
        )
        return Tallied(tally, Coded(data, by_row, None if cells is None else tuple(counted)))

    def apply(self, tallied: Tallied, policy: Policy, recoding: Recoding) -> Frame:
        table: Coded = tallied.rows
        by_name = {attribute.name: attribute for attribute in policy.attributes}
        recoder = _recoder(table, recoding)
        copies = recoding.copies if isinstance(recoding, Perturbation) else 1
        whole = table.data if copies == 1 else pl.concat([table.data] * copies)
        made: list[pl.Series] = []
        for name in table.data.columns:
            attribute = by_name.get(name)
            if attribute is None or not attribute.published:
                continue
            raw = whole.get_column(name)
            if attribute.disguise is not None:
                made.append(_disguised(whole, attribute))
            else:
                made.append(recoder(attribute, raw))
        data = pl.DataFrame(made)
        if recoding.kept is not None:
            data = data.filter(pl.Series(_by_row(table, recoding, recoding.kept)))
        return Frame(data)

    def only(self, table: Frame, rows: Mapping[str, Sequence[Value]]) -> Frame:
        read = texts(table.data.select(list(rows))).with_columns(pl.all().cast(pl.String))
        wanted = read.select(pl.all_horizontal(pl.col(name).is_in(list(v)) for name, v in rows.items()))
        data = table.data.filter(wanted.to_series().fill_null(value=False))
        return Frame(data.drop(list(rows)))

    def write(self, table: Frame, target: Path, form: Form) -> None:
        # Text formats write an Enum as its text; the others would keep its kind.
        files.write(table.data if form.format in {"csv", "tsv"} else self.arrow(table), target, form)

    @staticmethod
    def arrow(table: Frame) -> pl.DataFrame:
        """The table as people expect it: labels as text."""
        enums = [name for name, dtype in table.data.schema.items() if isinstance(dtype, pl.Enum)]
        return table.data.with_columns(pl.col(name).cast(pl.String) for name in enums)


def _frame_of(source: Any) -> pl.DataFrame:
    if isinstance(source, pl.LazyFrame):
        return source.collect()
    if isinstance(source, pl.DataFrame):
        return source
    if hasattr(source, "__arrow_c_stream__"):  # pyarrow, pandas, duckdb, ibis, … say it alike
        return pl.DataFrame(source)
    raise InputError(
        f"a table is a path, a URL, or a polars, pandas or pyarrow table, not {type(source).__name__}"
    )


def _slim(data: pl.DataFrame, encoded: Mapping[str, tuple[NDArray[Any], list[Value]]]) -> pl.DataFrame:
    """Texts that repeat as an Enum: a text takes sixteen bytes in every row, its number one to four."""
    return data.with_columns(
        labelled(name, values, codes)
        for name, (codes, values) in encoded.items()
        if data.schema[name] == pl.String and values != [None] and len(values) <= data.height * REPEATS
    )


def _merged(columns: Sequence[Column], rows: int) -> tuple[NDArray[np.intp] | None, NDArray[np.int64]]:
    """A row for each distinct record and how often it occurs; or every row where few repeat."""
    if not columns:
        return None, np.ones(rows, dtype=np.int64)
    if rows > 2 * SAMPLE:
        sample = slice(None, None, rows // SAMPLE)
        looked = _packed([Column(c.name, c.domain, c.codes[sample]) for c in columns])
        if len(np.unique(looked)) > FEW_REPEATS * len(looked):
            return None, np.ones(rows, dtype=np.int64)
    _, cells, counts = np.unique(_packed(columns), return_index=True, return_counts=True)
    return cells, counts.astype(np.int64)


def _packed(columns: Sequence[Column]) -> NDArray[Any]:
    """One number for each row, equal where every column agrees; in four bytes where they are enough."""
    first: Codes = columns[0].codes
    small = prod(column.domain.size for column in columns) < 2**32
    key: NDArray[Any] = np.zeros(len(first), dtype=np.uint32 if small else np.int64)
    room = 1
    for column in columns:
        if room > 2**62 // column.domain.size:
            found, key = np.unique(key, return_inverse=True)
            room = len(found)
        np.multiply(key, column.domain.size, out=key, casting="unsafe")
        np.add(key, column.codes, out=key, casting="unsafe")  # in place, and it fits
        room *= column.domain.size
    return key


class _Recoder(Protocol):
    """What is published for a column."""

    def __call__(self, attribute: Attribute, raw: pl.Series) -> pl.Series: ...


def _recoder(table: Coded, recoding: Recoding) -> _Recoder:
    match recoding:
        case Generalization():
            return partial(_generalised, table, recoding)
        case Regions():
            return partial(_regional, table, recoding)
        case Perturbation():
            return partial(_perturbed, table, recoding)


def _generalised(table: Coded, recoding: Generalization, attribute: Attribute, raw: pl.Series) -> pl.Series:
    if attribute.role is not Role.QUASI:
        return raw
    cut = recoding.cuts[raw.name]
    column = table.columns.get(raw.name)
    if column is None or column.domain is not cut.domain:
        raise InternalError("a recoding is applied to the table that it was tallied from")
    if cut.untouched:
        return raw
    return labelled(raw.name, cut.labels, cut.positions[column.codes])


def _regional(table: Coded, recoding: Regions, attribute: Attribute, raw: pl.Series) -> pl.Series:
    if attribute.role is not Role.QUASI:
        return raw
    shown = recoding.shown(table.columns[raw.name])
    if shown.untouched:
        return raw
    labels = [node.label for node in shown.nodes]
    return labelled(raw.name, labels, _by_row(table, recoding, shown.positions))


def _perturbed(table: Coded, recoding: Perturbation, attribute: Attribute, raw: pl.Series) -> pl.Series:
    if attribute.name not in recoding.labels:
        return raw
    positions = _by_row(table, recoding, recoding.positions[raw.name])
    return labelled(raw.name, recoding.labels[raw.name], positions)


def _by_row(table: Coded, recoding: Recoding, found: NDArray[Any]) -> NDArray[Any]:
    """What a recoding says of cells, or of records cell by cell, in the order of the rows."""
    cells = table.cell_of_row
    if cells is None:
        return found
    if recoding.by_record:
        rows = np.empty_like(found).reshape(-1, len(cells))  # a line for each copy
        rows[:, np.argsort(cells, kind="stable")] = found.reshape(rows.shape)
        return rows.reshape(-1)
    return found[cells]


def _disguised(data: pl.DataFrame, attribute: Attribute) -> pl.Series:
    disguise = attribute.disguise
    if disguise is None:
        raise InternalError("only a disguised identifier is published")
    read = texts(data.select(attribute.name)).get_column(attribute.name).to_list()
    if attribute.person is not None:
        persons = texts(data.select(attribute.person)).get_column(attribute.person).to_list()
        return pl.Series(attribute.name, disguise.cover(read, persons), dtype=pl.String)
    distinct = list(dict.fromkeys(read))
    cover = dict(zip(distinct, disguise.cover(distinct), strict=True))
    return pl.Series(attribute.name, [cover[text] for text in read], dtype=pl.String)
