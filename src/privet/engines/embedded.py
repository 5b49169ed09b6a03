"""The embedded engine: polars reads and writes, numpy holds the codes; all in this process.

polars copies the million-row Adult file in about half of DuckDB's time on two cores (bench/copy.py),
and reading and writing is most of the road, so it is the only table library privet depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from privet.core import Attribute, Column, Form, Role, Tally, Terms
from privet.domain import Domain, Value
from privet.engine import COUNTED, Tallied, codes_of, domains, respelt, several, suffix
from privet.engines import databases, files
from privet.engines.frames import (
    encode,
    in_one_spelling,
    in_order,
    is_in_order,
    keys_of_rows,
    labelled,
    merged_cells,
    ordered,
    packed,
    refuse_timeless,
    texts,
)
from privet.engines.text import listed
from privet.equality import classes, key
from privet.errors import InputError, InternalError
from privet.parts import digest
from privet.placing.system import on_disk
from privet.recoding import Generalization, Perturbation, Recoding, Regions

REPEATS = 0.25  # share of distinct texts up to which numbers take less room than they do
SPELT = r"^[+-]?[0-9]*\.|^[0-9]+[eE]|^\+|^[0-9]{4}-"  # numbers and dates that may be written in several ways
FEW = 20_000  # rows that are counted sooner than threads for them have started
WORTH_BEGINNING = 100_000  # rows; fewer are written at once

T = TypeVar("T")


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
    kept: Future[Any]  # done when it lies on the disk
    digest: Future[str]


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
            order, fresh = ordered(packed(list(self.columns.values())))
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
        keys = packed(list(self.columns.values())) if self.columns else []
        rest = keys_of_rows(self.data.drop(list(self.columns)))
        found = [*([] if rest is None else [rest]), *reversed(keys)]
        return np.lexsort(found) if found else np.arange(self.data.height)


class Embedded:
    """Tables in this process, held by polars."""

    name: ClassVar[str] = "embedded"
    takes_tables: ClassVar[bool] = True
    _staging: Path | None = None
    _begun: _Begun | None = None
    _known: tuple[Path, str] | None = None  # the digest of what was begun, where it lies now

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
        chosen = data.select([name for name in data.columns if name in wanted])
        if columns is not None:  # a road hands its own table over whole, and sets may stand in one
            files.refuse_nested("the data", chosen)
        refuse_timeless("the data", chosen)
        return Frame(chosen)

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
            data = data.with_columns(
                in_one_spelling(data.get_column(a.name), found[a.name], *encoded[a.name])
                for a in policy.with_role(Role.SENSITIVE)
                if several(found[a.name], encoded[a.name][1])
            )
            in_leaf_order = each(lambda name: _arranged(found[name], name, *encoded[name]), counted)
            by_row = {column.name: column for column in in_leaf_order}
            person: Column | None = None
            if policy.person is not None and policy.person in data.columns:  # a release does not have it
                person = by_row[policy.person] = _persons(data, policy.person)
            cells, counts = merged_cells(list(by_row.values()), data.height)
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
            written = beside.submit(self._write, table, place, form)
            # Whoever puts it in its place would wait for the disk, and who describes it reads it again.
            kept = beside.submit(_after, written, on_disk, place)
            self._begun = _Begun(table, form, place, kept, beside.submit(_after, written, digest, place))

    def write(self, table: Frame, target: Path, form: Form) -> None:
        begun, self._begun = self._begun, None
        if begun is not None and begun.table is table and (begun.form, begun.form.gzip) == (form, form.gzip):
            begun.kept.result()
            self._known = target, begun.digest.result()
            begun.place.rename(target)
        else:
            self._known = None
            self._write(table, target, form)

    def digest(self, written: Path) -> str:
        known = self._known
        return known[1] if known is not None and known[0] == written else digest(written)

    def _write(self, table: Frame, target: Path, form: Form) -> None:
        # Text formats write an Enum as its text; the others would keep its kind.
        files.write(table.data if form.format in {"csv", "tsv"} else self.arrow(table), target, form)

    @staticmethod
    def arrow(table: Frame) -> pl.DataFrame:
        """The table as people expect it: labels as text."""
        enums = [name for name, dtype in table.data.schema.items() if isinstance(dtype, pl.Enum)]
        return table.data.with_columns(pl.col(name).cast(pl.String) for name in enums)


def _after(written: Future[None], then: Callable[[Path], T], place: Path) -> T:
    written.result()
    return then(place)


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
