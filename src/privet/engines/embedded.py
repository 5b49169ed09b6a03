"""The embedded engine: polars reads and writes, numpy holds the codes; all in this process.

polars copies the million-row Adult file in about half of DuckDB's time on two cores (bench/copy.py),
and reading and writing is most of the road, so it is the only table library privet depends on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
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
from privet.engines import databases, files
from privet.engines.arrange import domains
from privet.errors import InputError, InternalError

SAMPLE = 20_000  # records looked at to see whether merging equal ones pays
REPEATS = 0.25  # share of distinct texts up to which numbers take less room than they do
FEW_REPEATS = 0.8  # share of distinct records above which it does not


@dataclass(eq=False)
class Frame:
    """A polars frame, and what has been encoded of it so far."""

    data: pl.DataFrame = field(repr=False)
    columns: dict[str, Column] = field(default_factory=dict, repr=False)  # by row, in leaf order
    merged: tuple[str, ...] | None = None  # the columns in which equal rows became one cell; None: none did
    cells: NDArray[np.intp] | None = field(default=None, repr=False)  # of each row, once it was asked for

    def cell_of_row(self) -> NDArray[np.intp] | None:
        """Which cell of the tally each row was counted in, None where each has its own.

        Found when asked for: few recodings need it, and those that do need it for every column.
        """
        if self.merged is not None and self.cells is None:
            key = _packed([self.columns[name] for name in self.merged])
            self.cells = np.unique(key, return_inverse=True)[1]
        return None if self.merged is None else self.cells


class Embedded:
    """Tables in this process, held by polars."""

    name: ClassVar[str] = "embedded"

    def read(self, source: Any, form: Form, columns: Iterable[str] | None = None) -> Frame:
        if databases.is_url(source):
            data = databases.read(source, form.query)
        elif isinstance(source, (str, Path)):
            return Frame(files.read(Path(source), form, columns))
        else:
            data = files.as_said(_frame_of(source), form)
        wanted = list(data.columns if columns is None else dict.fromkeys(columns))
        files.complain_about_missing("the data", wanted, data.columns, None)
        if not data.height:
            raise InputError("the data has not one record")
        return Frame(data.select([name for name in data.columns if name in wanted]))

    def columns(self, table: Frame) -> tuple[str, ...]:
        return tuple(table.data.columns)

    def rows(self, table: Frame) -> int:
        return table.data.height

    def distinct(self, table: Frame, column: str) -> list[Value]:
        """The values of a column, each once."""
        return encode(table.data.select(column))[column][1]

    def tally(self, table: Frame, policy: Policy) -> Tally:
        return self._tally(table, policy, {a.name: a for a in policy.quasi})

    def tally_published(self, table: Frame, policy: Policy) -> Tally:
        return self._tally(table, policy, {})

    def _tally(self, table: Frame, policy: Policy, arranged: Mapping[str, Attribute]) -> Tally:
        counted = [a.name for a in policy.with_role(Role.QUASI, Role.SENSITIVE, Role.TARGET)]
        encoded: dict[str, tuple[NDArray[Any], list[Value]]] = {}
        beside = pl.thread_pool_size()
        for first in range(0, len(counted), beside):
            # A few columns at a time: their texts can go before the next are numbered.
            some = encode(table.data.select(counted[first : first + beside]))
            table.data = _slim(table.data, some)
            encoded |= some
        found = domains({name: values for name, (_, values) in encoded.items()}, arranged)
        for name, (codes, values) in encoded.items():
            leaf_order = np.array([found[name].codes[value] for value in values], dtype=np.intp)
            table.columns[name] = Column(name, found[name], found[name].column(leaf_order)[codes])
        cells, counts = _merged([table.columns[name] for name in counted], table.data.height)
        table.merged, table.cells = None if cells is None else tuple(counted), None
        columns = {
            name: c if cells is None else Column(name, c.domain, c.codes[cells])
            for name, c in table.columns.items()
            if name in counted
        }
        target = [columns[a.name] for a in policy.with_role(Role.TARGET)]
        return Tally(
            quasi=tuple(columns[a.name] for a in policy.with_role(Role.QUASI)),
            sensitive=tuple(columns[a.name] for a in policy.with_role(Role.SENSITIVE)),
            target=target[0] if target else None,
            counts=counts,
            nulls=policy.nulls,
        )

    def apply(self, table: Frame, policy: Policy, recoding: Recoding) -> Frame:
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
        texts = _texts(table.data.select(list(rows))).with_columns(pl.all().cast(pl.String))
        wanted = texts.select(pl.all_horizontal(pl.col(name).is_in(list(v)) for name, v in rows.items()))
        data = table.data.filter(wanted.to_series().fill_null(value=False))
        return Frame(data.drop(list(rows)))

    def write(self, table: Frame, target: Path, form: Form) -> None:
        # Text formats write an Enum as its text; the others would keep its kind.
        files.write(table.data if form.format in {"csv", "tsv"} else self.frame(table), target, form)

    @staticmethod
    def frame(table: Frame) -> pl.DataFrame:
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


def _texts(data: pl.DataFrame) -> pl.DataFrame:
    """Every column as text, the form in which policies and hierarchies speak of values."""
    return data.with_columns(
        pl.col(name).cast(pl.String)
        for name, dtype in data.schema.items()
        if dtype != pl.String and not isinstance(dtype, pl.Enum)
    )


def encode(data: pl.DataFrame) -> dict[str, tuple[NDArray[Any], list[Value]]]:
    """For each column, a number for each row and the value of each number."""
    # A fresh set of categories for each column: the shared one would mix the columns' numbers. Enums
    # (labels of ours, above all) are numbered already.
    kinds: dict[str, Any] = {
        name: dtype if isinstance(dtype, pl.Enum) else pl.Categorical(pl.Categories.random())
        for name, dtype in data.schema.items()
    }
    coded = _texts(data).with_columns(
        pl.col(name).cast(kind) for name, kind in kinds.items() if data.schema[name] != kind
    )
    found = {}
    for name, kind in kinds.items():
        physical = coded.get_column(name).to_physical()
        codes = physical.fill_null(0).to_numpy() if physical.null_count() else physical.to_numpy()
        occurs = np.zeros(int(codes.max(initial=0)) + 1, dtype=bool)
        occurs[codes if not physical.null_count() else codes[physical.is_not_null().to_numpy()]] = True
        used = np.flatnonzero(occurs)
        number = (np.cumsum(occurs) - 1).astype(np.min_scalar_type(len(used)))
        values: list[Value] = pl.Series(used.astype(np.uint32)).cat.to(kind).cast(pl.String).to_list()
        codes = number[codes]  # also where the numbers stay the same: in fewer bytes
        if physical.null_count():
            codes = np.where(physical.is_null().to_numpy(), len(values), codes)
            values.append(None)
        found[name] = (codes, values)
    return found


def _slim(data: pl.DataFrame, encoded: Mapping[str, tuple[NDArray[Any], list[Value]]]) -> pl.DataFrame:
    """Texts that repeat as an Enum: a text takes sixteen bytes in every row, its number one to four."""
    return data.with_columns(
        labelled(name, values, codes)
        for name, (codes, values) in encoded.items()
        if data.schema[name] == pl.String and values != [None] and len(values) <= data.height * REPEATS
    )


def _merged(columns: Sequence[Column], rows: int) -> tuple[NDArray[np.intp] | None, NDArray[np.int64]]:
    """A row for each distinct record and how often it occurs; or every row where few repeat."""
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


def _recoder(table: Frame, recoding: Recoding) -> _Recoder:
    match recoding:
        case Generalization():
            return partial(_generalised, table, recoding)
        case Regions():
            return partial(_regional, table, recoding)
        case Perturbation():
            return partial(_perturbed, table, recoding)


def _generalised(table: Frame, recoding: Generalization, attribute: Attribute, raw: pl.Series) -> pl.Series:
    if attribute.role is not Role.QUASI:
        return raw
    cut = recoding.cuts[raw.name]
    column = table.columns.get(raw.name)
    if column is None or column.domain is not cut.domain:
        raise InternalError("a recoding is applied to the table that it was tallied from")
    if cut.untouched:
        return raw
    return labelled(raw.name, cut.labels, cut.positions[column.codes])


def _regional(table: Frame, recoding: Regions, attribute: Attribute, raw: pl.Series) -> pl.Series:
    if attribute.role is not Role.QUASI:
        return raw
    shown = recoding.shown(table.columns[raw.name])
    if shown.untouched:
        return raw
    labels = [node.label for node in shown.nodes]
    return labelled(raw.name, labels, _by_row(table, recoding, shown.positions))


def _perturbed(table: Frame, recoding: Perturbation, attribute: Attribute, raw: pl.Series) -> pl.Series:
    if attribute.name not in recoding.labels:
        return raw
    positions = _by_row(table, recoding, recoding.positions[raw.name])
    return labelled(raw.name, recoding.labels[raw.name], positions)


def _by_row(table: Frame, recoding: Recoding, found: NDArray[Any]) -> NDArray[Any]:
    """What a recoding says of cells, or of records cell by cell, in the order of the rows."""
    cells = table.cell_of_row()
    if cells is None:
        return found
    if recoding.by_record:
        rows = np.empty_like(found).reshape(-1, len(cells))  # a line for each copy
        rows[:, np.argsort(cells, kind="stable")] = found.reshape(rows.shape)
        return rows.reshape(-1)
    return found[cells]


def labelled(name: str, of_node: Sequence[Value], positions: NDArray[Any]) -> pl.Series:
    """Published labels as an Enum: one small number for each row until the file is written."""
    labels = list(dict.fromkeys(label for label in of_node if label is not None))
    number = {label: at for at, label in enumerate(labels)}
    missing = len(labels)  # stands for null, which is no category
    small = np.min_scalar_type(missing)
    codes = np.array([missing if label is None else number[label] for label in of_node], dtype=small)[
        positions
    ]
    made = pl.Series(name, np.minimum(codes, max(missing - 1, 0)).astype(small)).cat.to(pl.Enum(labels))
    return made if None not in of_node else made.set(pl.Series(codes == missing), None)


def _disguised(data: pl.DataFrame, attribute: Attribute) -> pl.Series:
    disguise = attribute.disguise
    if disguise is None:
        raise InternalError("only a disguised identifier is published")
    texts = _texts(data.select(attribute.name)).get_column(attribute.name).to_list()
    if attribute.person is not None:
        persons = _texts(data.select(attribute.person)).get_column(attribute.person).to_list()
        return pl.Series(attribute.name, disguise.cover(texts, persons), dtype=pl.String)
    distinct = list(dict.fromkeys(texts))
    cover = dict(zip(distinct, disguise.cover(distinct), strict=True))
    return pl.Series(attribute.name, [cover[text] for text in texts], dtype=pl.String)
