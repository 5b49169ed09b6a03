"""Where tables come from: Spark frames, tables of the catalogue, JDBC, folders, and what lies here.

Parquet is read by the cluster. Text that this process sees is read by privet's own reader, part after part,
so that it means the same on every engine; the cluster then has it as Parquet. Text that only the cluster
sees (`s3a://…`, `file:///…`) is read by Spark, to which an empty text and a missing one are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from privet import equality, parts
from privet.core import Form
from privet.engine import SUFFIX
from privet.engines import text
from privet.engines.embedded import Embedded, Frame
from privet.engines.frames import WORDLESS_SAID
from privet.engines.spark.jobs import functions, told
from privet.engines.spark.spread import MOMENT, Spread, composed, spread_of
from privet.engines.spark.staging import Staging
from privet.errors import InputError, UnsupportedError

TABLE, JDBC = "table:", "jdbc:"


def read(session: Any, staging: Staging, source: Any, form: Form, wanted: Sequence[str] | None) -> Spread:
    """The table at a place, with only the columns that are asked for."""
    if hasattr(source, "sparkSession") and hasattr(source, "toDF"):
        found = _named(source, columnar=False)
    elif isinstance(source, str) and source.startswith(TABLE):
        with told("reading a table of the catalogue"):
            found = _named(session.table(source.removeprefix(TABLE)), columnar=True)
    elif isinstance(source, str) and source.startswith(JDBC):
        found = _jdbc(session, source, form)
    elif isinstance(source, str) and text.is_elsewhere(source):
        found = _elsewhere(session, source, form)
    elif isinstance(source, (str, Path)) and not text.is_url(source):
        found = _here(session, staging, Path(source), form, wanted)
    else:
        found = _copied(session, staging, source, form, wanted)
    if wanted is None:
        return found
    text.complain_about_missing(_place(source), wanted, found.names, form.delimiter)
    chosen = [name for name in found.names if name in set(wanted)]
    return found if chosen == list(found.names) else found.select(chosen)


def _place(source: Any) -> str:
    if isinstance(source, (str, Path)) and not str(source).startswith(JDBC):
        return str(source)
    return "the data"


def _named(frame: Any, *, columnar: bool) -> Spread:
    with told("looking at the columns"):
        found = spread_of(frame, composed(frame.columns), columnar=columnar)
        f = functions()
        # A zone is the reader's: Sail would write the source's into every part.
        moments = [found.at(name) for name, kind in found.kinds.items() if kind == MOMENT]
        if moments:
            utc = {at: f.timestamp_micros(f.unix_micros(at)) for at in moments}
            found = replace(found, frame=found.frame.withColumns(utc))
        for column in found.frame.schema.fields:
            if column.metadata:  # what a database says of its columns would be written into every part
                found = replace(found, frame=found.frame.withMetadata(column.name, {}))
        return found


def _jdbc(session: Any, url: str, form: Form) -> Spread:
    """A query of a database, through the driver that the cluster has."""
    if not form.query:
        raise InputError("a JDBC source needs a query: --query 'SELECT … FROM …' or form.query in the policy")
    with told("reading the database"):
        return _named(
            session.read.format("jdbc").option("url", url).option("query", form.query).load(), columnar=False
        )


def _elsewhere(session: Any, url: str, form: Form) -> Spread:
    """Files that only the cluster sees."""
    if form.format == "parquet":
        with told("reading the files"):
            return _named(session.read.parquet(url), columnar=True)
    if form.format not in text.TEXTS:
        raise UnsupportedError(f"the engine 'spark' reads parquet, csv and tsv from {url}, not {form.format}")
    if not text.is_utf8(form.encoding) or form.trim or form.numbers or form.missing or not form.header:
        raise UnsupportedError(
            f"{url}: Spark's own reader of text takes UTF-8 with a header and nothing else; copy it to where "
            "this process sees it, or write it as parquet"
        )
    how = {
        "header": True, "sep": form.delimiter or ",", "quote": '"', "escape": '"', "multiLine": True,
        "mode": "FAILFAST", "columnPruning": False, "inferSchema": False, "enforceSchema": False,
    }  # fmt: skip
    f = functions()
    with told("reading the files"):
        found = _named(session.read.options(**how).csv(url), columnar=False)
        cells = [f.coalesce(f.col(found.at(name)), f.lit("")) for name in found.names]
        read = [f.when(cell.isin(*form.nulls), f.lit(None)).otherwise(cell) for cell in cells]
        return spread_of(found.frame.select(*read), found.names)


def _here(session: Any, staging: Staging, path: Path, form: Form, wanted: Sequence[str] | None) -> Spread:
    if not path.exists():
        raise InputError(f"{path}: no such file or folder")
    form = text.settled(path, form)
    if form.format != "parquet" or form.trim or form.numbers or form.missing:
        return _copied(session, staging, path, form, wanted)
    alike(path)
    every = tuple(parts.listed(path)) if path.is_dir() else (path,)
    named = {equality.name(name): kind for name, kind in pl.read_parquet_schema(every[0]).items()}
    named = {name: kind for name, kind in named.items() if wanted is None or name in wanted}
    _refuse_durations(named)
    if any(map(_foreign, named.values())):
        return _copied(session, staging, path, form, wanted)
    with told(f"reading {path}"):
        found = _named(session.read.parquet(str(path.absolute())), columnar=True)
    return replace(found, folder=path if path.is_dir() else None, form=form, parquet=every)


def alike(path: Path, called: Sequence[str] = ()) -> None:
    """Refuse parts that cannot be read or have other columns: Spark fills what is missing with nulls.

    `called` is what each part is called where these are copies.
    """
    first: dict[str, Any] | None = None
    complaints = []
    every = parts.listed(path) if path.is_dir() else [path]
    for number, part in enumerate(every):
        name = called[number] if called else part
        try:
            columns: dict[str, Any] = dict(pl.read_parquet_schema(part))
        except (pl.exceptions.PolarsError, OSError):
            complaints.append(f"{name}: this cannot be read as parquet")
            continue
        first = columns if first is None else first
        if columns.keys() != first.keys():
            complaints.append(f"{name}: has other columns than the parts before it")
        elif columns != first:
            complaints.append(f"{name}: a column has another type than in the parts before it")
    if complaints:
        rest = len(complaints) - text.FEW
        raise InputError(
            *complaints[: text.FEW], *([f"and {rest} more parts like these"] if rest > 0 else [])
        )


def _foreign(kind: pl.DataType) -> bool:
    """Is this a type that clusters do not have?"""
    fine = isinstance(kind, pl.Datetime) and kind.time_unit == "ns"
    return fine or isinstance(kind, (pl.Time, pl.Categorical, pl.Enum, pl.Int128, pl.Null))


def _refuse_durations(columns: Mapping[str, pl.DataType]) -> None:
    """Where Parquet says that a number is a duration, Spark does not hear it."""
    lasting = [name for name, kind in columns.items() if isinstance(kind, pl.Duration)]
    if lasting:
        raise InputError(
            *(f"{WORDLESS_SAID}; leave it out, or give it another role".format(name) for name in lasting)
        )


def _native(data: pl.DataFrame) -> pl.DataFrame:
    """The same in types that clusters have: moments to the microsecond, else texts as privet writes them.

    Where nobody has a value, a column is one of texts, as it is in a text file.
    """
    made = []
    for one in data:
        if isinstance(one.dtype, pl.Datetime) and one.dtype.time_unit == "ns":
            if (one.to_physical() % 1000 != 0).any():
                raise UnsupportedError(
                    f"the engine 'spark': column {one.name!r} has times finer than a microsecond, which no "
                    "cluster has; round them before, or use the engine 'embedded'"
                )
            made.append(one.dt.cast_time_unit("us"))
        elif _foreign(one.dtype):
            made.append(one.cast(pl.String))
    return data.with_columns(made)


def _copied(session: Any, staging: Staging, source: Any, form: Form, wanted: Iterable[str] | None) -> Spread:
    """What privet reads itself, one part at a time, as Parquet that the cluster reads."""
    here = isinstance(source, Path)
    given = parts.listed(source) if here and source.is_dir() else [source]
    engine, folder = Embedded(), staging.fresh("read")
    folder.mkdir()
    for number, part in enumerate(given):
        data = engine.read(part, form, wanted, empty=True).data  # whoever asked counts them all
        _refuse_durations(data.schema)
        engine.write(Frame(_native(data)), folder / parts.name(number, SUFFIX["parquet"]), Form("parquet"))
    alike(folder, [str(part) for part in given])
    with told("reading what was copied"):
        found = _named(session.read.parquet(str(folder.absolute())), columnar=True)
    return replace(found, folder=source if here and source.is_dir() else None, form=form)
