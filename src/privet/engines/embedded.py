"""The embedded engine: polars reads and writes, numpy holds the codes; all in this process.

polars copies the million-row Adult file in about half of DuckDB's time on two cores (bench/copy.py),
and reading and writing is most of the road, so it is the only table library privet depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import expm1, prod, sqrt
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from privet.core import Attribute, Column, Form, Role, Tally, Terms
from privet.domain import Domain, Value
from privet.engine import COUNTED, Tallied, suffix
from privet.engines import databases, files
from privet.engines.arrange import codes_of, domains, respelt
from privet.engines.frames import encode, in_order, is_in_order, keys_of_rows, labelled, texts
from privet.engines.text import listed
from privet.equality import classes, key
from privet.errors import InputError, InternalError
from privet.recoding import Generalization, Perturbation, Recoding, Regions

SAMPLE = 20_000  # records looked at to see whether merging equal ones pays
REPEATS = 0.25  # share of distinct texts up to which numbers take less room than they do
SPELT = r"^[+-]?[0-9]*\.|^[0-9]+[eE]|^\+|^[0-9]{4}-"  # numbers and dates that may be written in several ways
FEW = 20_000  # rows that are counted sooner than threads for them have started
WORTH_BEGINNING = 100_000  # rows; fewer are written at once
FEW_REPEATS = 0.8  # share of distinct records above which it does not


@dataclass(frozen=True, eq=False)
class Frame:
    """A polars frame."""

    data: pl.DataFrame = field(repr=False)


@dataclass(frozen=True, eq=False)
class _Begun:
    """A file that is being written before it is asked for."""

    table: Frame
    form: Form
    place: Path
    written: Future[None]


@dataclass(frozen=True, eq=False)
class Coded:
    """A frame's rows in leaf order: what was worked out to count them, and serves to recode them."""

    data: pl.DataFrame = field(repr=False)
    columns: Mapping[str, Column] = field(repr=False)  # by row
    merged: bool  # did equal rows become one cell?
    # quasi-identifiers in which equal values are written in several ways
    respelt: frozenset[str] = frozenset()

    @cached_property
    def cell_of_row(self) -> NDArray[np.intp]:
        """Which cell of the tally each row was counted in.

        Found when asked for: few recodings need it, and those that do need it for every column.
        """
        if self.merged:
            order, fresh = _ordered(_packed(list(self.columns.values())))
            place = np.empty(self.data.height, dtype=np.intp)
            place[order] = np.cumsum(fresh) - 1
            return place
        place = np.empty(self.data.height, dtype=np.intp)
        place[self.order] = np.arange(self.data.height)
        return place

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The rows in the order of `Tally.by_record`; what was not counted decides among equal ones.

        Not the order in which they came: that would tell which of those alike came first.
        """
        keys = _packed(list(self.columns.values())) if self.columns else []
        rest = keys_of_rows(self.data.drop(list(self.columns)))
        found = [*([] if rest is None else [rest]), *reversed(keys)]
        return np.lexsort(found) if found else np.arange(self.data.height)


class Embedded:
    """Tables in this process, held by polars."""

    name: ClassVar[str] = "embedded"
    takes_tables: ClassVar[bool] = True
    _staging: Path | None = None
    _begun: _Begun | None = None

    def __init__(self, staging: Path | None = None) -> None:
        """`staging`: a folder on the disk of the release, for what can be written before it is asked for."""
        self._staging = staging

    def read(
        self, source: Any, form: Form, columns: Iterable[str] | None = None, *, empty: bool = False
    ) -> Frame:
        if databases.is_url(source):
            data = databases.read(source, form.query, empty=empty)
        elif isinstance(source, (str, Path)):
            return Frame(files.read(Path(source), form, columns, empty=empty))
        else:
            data = files.as_said(files.composed(_frame_of(source)), form)
        files.refuse_patterns("the data", data.columns)
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

    def repeated(self, table: Frame, column: str) -> tuple[int, int]:
        series = table.data.get_column(column)
        lacking = series.null_count()
        if (
            series.dtype == pl.String
            and series.n_unique() == series.len() - max(lacking - 1, 0)
            and not series.str.contains(SPELT).any()
            and (series.str.len_bytes() == series.str.len_chars()).all()  # é has several spellings
        ):
            return 0, lacking  # the usual case, and a quick one
        codes, values = encode(table.data.select(column))[column]
        times = np.bincount(codes, minlength=len(values))
        for alike in classes(values).values():
            if len(alike) > 1:
                same = [values.index(value) for value in alike]
                times[same] = times[same].sum()
        missing = np.array([value is None for value in values], dtype=bool)
        return int(((times > 1) & ~missing)[codes].sum()), lacking

    def tally(self, table: Frame, policy: Terms) -> Tallied:
        data = table.data
        del table  # where nobody else has it, its texts can go one after the other
        return self._tally(data, policy, {a.name: a for a in policy.quasi})

    def tally_published(self, table: Frame, policy: Terms) -> Tally:
        return self._tally(table.data, policy, {}).tally

    def _tally(self, data: pl.DataFrame, policy: Terms, arranged: Mapping[str, Attribute]) -> Tallied:
        counted = [a.name for role in COUNTED for a in policy.with_role(role)]
        files.complain_about_missing("the table", counted, data.columns, None)
        # A column does not wait for another: numpy and polars let other threads run while they count.
        with ThreadPoolExecutor(pl.thread_pool_size()) as beside:
            each: Callable[..., Iterator[Any]] = beside.map if data.height > FEW else map
            numbered = list(each(partial(_numbered, data), counted))
            encoded = {name: found for name, (found, _) in zip(counted, numbered, strict=True)}
            data = data.with_columns(slim for _, slim in numbered if slim is not None)
            seen = () if arranged else [a.name for a in policy.quasi]
            found = domains({name: values for name, (_, values) in encoded.items()}, arranged, seen)
            in_leaf_order = each(lambda name: _arranged(found[name], name, *encoded[name]), counted)
            by_row = {column.name: column for column in in_leaf_order}
            person: Column | None = None
            if policy.person is not None and policy.person in data.columns:  # a release does not have it
                person = by_row[policy.person] = _persons(data, policy.person)
            cells, counts = _merged(list(by_row.values()), data.height)
            columns = by_row
            if cells is not None:
                merged = each(lambda c: Column(c.name, c.domain, c.codes[cells]), by_row.values())
                columns = {column.name: column for column in merged}
        target = [columns[a.name] for a in policy.with_role(Role.TARGET)]
        tally = Tally(
            quasi=tuple(columns[a.name] for a in policy.with_role(Role.QUASI)),
            sensitive=tuple(columns[a.name] for a in policy.with_role(Role.SENSITIVE)),
            target=target[0] if target else None,
            counts=counts,
            nulls=policy.nulls,
            person=None if person is None else columns[person.name].codes,
            across=policy.across,
        )
        other = frozenset(name for name in arranged if respelt(found[name], encoded[name][1]))
        return Tallied(tally, Coded(data, by_row, merged=len(counts) < data.height, respelt=other))

    def apply(self, tallied: Tallied, policy: Terms, recoding: Recoding) -> Frame:
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
        kept = np.ones(table.data.height, dtype=bool)
        for name, (codes, values) in encode(table.data.select(list(rows))).items():
            asked = set(map(key, rows[name]))
            kept &= np.array([key(value) in asked for value in values], dtype=bool)[codes]
        return Frame(table.data.filter(pl.Series(kept)).drop(list(rows)))

    def respelt(self, table: Frame, changes: Mapping[str, Mapping[Value, str]]) -> Frame:
        texts = [
            pl.col(name).cast(pl.String).replace(list(spelt), list(spelt.values()))
            for name, spelt in changes.items()
        ]
        return Frame(table.data.with_columns(texts))

    def in_order(self, table: Frame) -> Frame:
        return Frame(in_order(table.data))

    def is_in_order(self, table: Frame) -> bool:
        return is_in_order(table.data)

    def ahead(self, table: Frame, form: Form, beside: Executor) -> None:
        if self._staging is not None and table.data.height >= WORTH_BEGINNING:
            place = self._staging / f"ahead{suffix(form)}"
            self._begun = _Begun(table, form, place, beside.submit(self._write, table, place, form))

    def write(self, table: Frame, target: Path, form: Form) -> None:
        begun, self._begun = self._begun, None
        if begun is not None and begun.table is table and begun.form == form:
            begun.written.result()
            begun.place.rename(target)
        else:
            self._write(table, target, form)

    def _write(self, table: Frame, target: Path, form: Form) -> None:
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
        try:
            return pl.DataFrame(source)
        except (ValueError, TypeError):  # of pyarrow, which quotes a value
            raise _mixed(source) from None
    raise InputError(
        f"a table is a path, a URL, or a polars, pandas or pyarrow table, not {type(source).__name__}"
    )


def _mixed(source: Any) -> InputError:
    """A column of objects in which not everything is of one type, as pandas allows: which one, never what."""
    odd = []
    for name in getattr(source, "columns", ()):
        try:
            pl.DataFrame(source[[name]])
        except (ValueError, TypeError):
            odd.append(str(name))
    named = f"column {listed(odd)} holds" if odd else "a column holds"
    return InputError(
        f"{named} values of several types, such as numbers among texts; make it one type, for example with "
        '.astype("string")'
    )


def _persons(data: pl.DataFrame, column: str) -> Column:
    """Whose each row is; equal values name one person."""
    codes, values = encode(data.select(column))[column]
    return _arranged(domains({column: values}, {})[column], column, codes, values)


def _arranged(domain: Domain, name: str, codes: NDArray[Any], values: Sequence[Value]) -> Column:
    """A column's numbers in leaf order."""
    return Column(name, domain, domain.column(codes_of(domain, values))[codes])


def _numbered(data: pl.DataFrame, name: str) -> tuple[tuple[NDArray[Any], list[Value]], pl.Series | None]:
    """A column in numbers; and, where its texts repeat, as an Enum.

    A text takes sixteen bytes in every row, its number one to four.
    """
    codes, values = encode(data.select(name))[name]
    slim = data.schema[name] == pl.String and values != [None] and len(values) <= data.height * REPEATS
    return (codes, values), labelled(name, values, codes) if slim else None


def _merged(columns: Sequence[Column], rows: int) -> tuple[NDArray[np.intp] | None, NDArray[np.int64]]:
    """A row for each distinct record and how often it occurs; or every row where few repeat.

    Either in the order of their codes: no search can go by the order in which rows came. (Sorting a million
    rows is free: what it takes, a search saves that finds equal records side by side.) None: the rows as they
    stand, which is in that order already.
    """
    if not columns or not rows:
        return None, np.ones(rows, dtype=np.int64)
    keys = _packed(columns)
    if (alike := _alike(keys)) is not None:
        cells = np.flatnonzero(np.concatenate([[True], ~alike]))
        if len(cells) > FEW_REPEATS * rows:
            return None, np.ones(rows, dtype=np.int64)
        return cells, np.diff(cells, append=rows).astype(np.int64)
    few = rows > 2 * SAMPLE and _kinds([some[:: rows // SAMPLE] for some in keys]) > FEW_REPEATS * rows
    order, fresh = _ordered(keys)
    if few:
        return order, np.ones(rows, dtype=np.int64)
    first = np.flatnonzero(fresh)
    return order[first], np.diff(first, append=rows).astype(np.int64)


def _alike(keys: Sequence[NDArray[Any]]) -> NDArray[np.bool_] | None:
    """Is each row as the one before it? None where the rows do not stand in the order of their keys."""
    alike = np.ones(len(keys[0]) - 1, dtype=bool)
    for some in keys:
        if (alike & (some[1:] < some[:-1])).any():
            return None
        alike &= some[1:] == some[:-1]
    return alike


def _ordered(keys: Sequence[NDArray[Any]]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The rows in the order of their keys, and which of them, in that order, differ from the one before.

    Few rows agree in all columns of the first key where one is not enough, so only those are sorted again.
    """
    order = np.argsort(keys[0])
    found = keys[0][order]
    fresh = np.ones(len(order), dtype=bool)
    np.not_equal(found[1:], found[:-1], out=fresh[1:])
    for some in keys[1:]:
        tied = ~fresh
        tied[:-1] |= tied[1:]
        at = np.flatnonzero(tied)
        order[at] = order[at][np.lexsort((some[order[at]], np.cumsum(fresh)[at]))]
        found = some[order[at]]
        fresh[at[1:]] |= found[1:] != found[:-1]
    return order, fresh


def _kinds(sample: Sequence[NDArray[Any]]) -> float:
    """How many kinds of records there are, from how many of a sample are different: about as many.

    Of equally frequent kinds a sample meets `kinds * (1 - exp(-size / kinds))`. Counting the sample's
    own repeats would not do: of 100,000 kinds a sample of 20,000 has few twice, and ten million rows have
    each a hundred times.
    """
    size, met = len(sample[0]), int(_ordered(sample)[1].sum())
    low, high = float(met), float(size) ** 2
    while high > low * 1.01:
        middle = sqrt(low * high)
        low, high = (middle, high) if -middle * expm1(-size / middle) < met else (low, middle)
    return high


def _packed(columns: Sequence[Column]) -> list[NDArray[Any]]:
    """Numbers for each row, equal where every column agrees and in the order of their codes.

    One where the columns fit into it, in four bytes where they are enough; else the first columns are in the
    first number.
    """
    keys: list[NDArray[Any]] = []
    small = prod(column.domain.size for column in columns) < 2**32
    room = 2**62  # none is begun
    for column in columns:
        if room > 2**62 // column.domain.size or not keys:
            keys.append(np.zeros(len(column.codes), dtype=np.uint32 if small else np.int64))
            room = 1
        np.multiply(keys[-1], column.domain.size, out=keys[-1], casting="unsafe")
        np.add(keys[-1], column.codes, out=keys[-1], casting="unsafe")  # in place, and it fits
        room *= column.domain.size
    return keys


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
    if cut.untouched and raw.name not in table.respelt:
        return raw
    return labelled(raw.name, cut.labels, cut.positions[column.codes])


def _regional(table: Coded, recoding: Regions, attribute: Attribute, raw: pl.Series) -> pl.Series:
    if attribute.role is not Role.QUASI:
        return raw
    shown = recoding.shown(table.columns[raw.name])
    if shown.untouched and raw.name not in table.respelt:
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
    if recoding.by_record:
        rows = np.empty_like(found).reshape(-1, table.data.height)  # a line for each copy
        rows[:, table.order] = found.reshape(rows.shape)
        return rows.reshape(-1)
    return found[table.cell_of_row]


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
