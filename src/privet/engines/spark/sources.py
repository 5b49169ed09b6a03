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
from privet.engines.files import opened
from privet.engines.frames import WORDLESS_SAID
from privet.engines.panic import unpanicked
from privet.engines.spark.jobs import functions, told
from privet.engines.spark.spread import MOMENT, Spread, Watched, composed, spread_of
from privet.engines.spark.staging import Staging, is_pattern
from privet.errors import InputError, UnsupportedError

# By name where not every polars has it.
FOREIGN = tuple(getattr(pl, name) for name in ("Time", "Categorical", "Enum", "Int128", "Null"))
FOREIGN += tuple(getattr(pl, name) for name in ("Float16", "UInt128") if hasattr(pl, name))
TABLE, JDBC = "table:", "jdbc:"
DIGITS = 38  # of a decimal
SUMMARIES = ("_metadata", "_common_metadata")  # of Parquet: what all parts are said to have


def read(session: Any, staging: Staging, source: Any, form: Form, wanted: Sequence[str] | None) -> Spread:
    """The table at a place, with only the columns that are asked for."""
    if hasattr(source, "sparkSession") and hasattr(source, "toDF"):
        with told("looking at the columns"):
            found = _named(source, columnar=False)
    elif isinstance(source, str) and source.startswith(TABLE):
        found = _catalogued(session, source)
    elif isinstance(source, str) and source.startswith(JDBC):
        found = _jdbc(session, source, form)
    elif isinstance(source, str) and text.is_elsewhere(source):
        found = _elsewhere(session, source, form)
    elif isinstance(source, (str, Path)) and not text.is_url(source):
        found = _here(session, staging, Path(source), form, wanted)
    else:
        found = _copied(session, staging, source, form, wanted)
    text.refuse_patterns(place(source), found.names)
    if wanted is not None:
        text.complain_about_missing(place(source), wanted, found.names, form.delimiter)
        chosen = [name for name in found.names if name in set(wanted)]
        found = found if chosen == list(found.names) else found.select(chosen)
    _refuse_long_numbers(found)
    return found


def _refuse_long_numbers(table: Spread) -> None:
    """Sail has decimals that are longer than those of Spark and of whoever would check the release."""
    with told("looking at the columns"):
        kinds = [one.dataType for one in table.frame.schema.fields]
    long = [
        name
        for name, kind in zip(table.names, kinds, strict=True)
        if kind.typeName() == "decimal" and getattr(kind, "precision", 0) > DIGITS
    ]
    if long:
        raise InputError(
            *(
                f"column {name!r} has decimals of more than {DIGITS} digits; round them before"
                for name in long
            )
        )


def place(source: Any) -> str:
    if isinstance(source, (str, Path)) and not str(source).startswith(JDBC):
        return str(source)
    return "the data"


def _named(frame: Any, *, columnar: bool) -> Spread:
    """Columns as policies compare them; whoever calls says what failed."""
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


def _catalogued(session: Any, source: str) -> Spread:
    """A table that the cluster knows by its name."""
    from pyspark.errors import AnalysisException, IllegalArgumentException, ParseException  # noqa: PLC0415

    with told("reading a table of the catalogue"):
        try:
            return _named(session.table(source.removeprefix(TABLE)), columnar=True)
        except (AnalysisException, IllegalArgumentException, ParseException):
            raise InputError(
                f"{source}: the catalogue of this cluster has no table of that name, or does not show it; "
                "say table:name, or table:catalogue.schema.name"
            ) from None


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
    watched = Watched.at(path)
    every = parts.listed(path) if path.is_dir() else [path]
    kinds, spelt_alike = alike(every, wanted)
    _refuse_durations(kinds)
    if not spelt_alike or any(map(_foreign, kinds.values())):
        return _copied(session, staging, path, form, wanted)
    place = path if _plainly_named(path, every) else staging.gathered(every)
    with told(f"reading {path}"):
        try:
            found = _named(session.read.parquet(str(place.absolute())), columnar=True)
        except _unknown():  # polars reads more types of Arrow, and only what is wanted
            return _copied(session, staging, path, form, wanted)
    folder = path if path.is_dir() else None
    return replace(found, folder=folder, form=form, parquet=tuple(every), watched=watched)


def _unknown() -> tuple[type[Exception], ...]:
    """What a cluster answers that does not know a type, or has columns of one name and several types."""
    from pyspark import errors  # noqa: PLC0415 - an extra

    return errors.AnalysisException, errors.UnsupportedOperationException, errors.SparkRuntimeException


def _plainly_named(path: Path, every: Sequence[Path]) -> bool:
    """Does a cluster that is given this name read what privet would: not a pattern, nothing hidden?"""
    if is_pattern(path) or any(":" in part.name for part in every):  # what is before is a scheme to Spark
        return False
    if not path.is_dir():
        return not path.name.startswith(parts.HIDDEN)
    # Folders among them are looked into, and notes about all parts are believed.
    beside = [one for one in path.iterdir() if one.name.startswith(parts.HIDDEN)]
    return not any(one.name in SUMMARIES or one.is_dir() for one in beside)


def alike(
    every: Sequence[Path], wanted: Sequence[str] | None, called: Sequence[str] = ()
) -> tuple[dict[str, Any], bool]:
    """The columns of all parts that are wanted, and whether clusters find them by one spelling in all.

    Refuses parts that cannot be read or have others: Spark fills what is missing with nulls. `called` is what
    each part is called where these are copies.
    """
    first: dict[str, Any] | None = None
    names: set[str] = set()
    complaints, spelt_alike = [], True
    for number, part in enumerate(every):
        name = called[number] if called else part
        try:
            with unpanicked():
                found = dict(pl.read_parquet_schema(opened(part)))
        except (pl.exceptions.PolarsError, OSError, ValueError):
            complaints.append(f"{name}: this cannot be read as parquet")
            continue
        here = [one for one in found if wanted is None or equality.name(one) in wanted]
        columns = {equality.name(one): found[one] for one in here}
        if first is None:
            first, names = columns, set(here)
        if columns.keys() != first.keys():
            complaints.append(f"{name}: has other columns than the parts before it")
        elif columns != first:
            complaints.append(f"{name}: a column has another type than in the parts before it")
        one_by_one = len({each.casefold() for each in found}) == len(found)  # to Spark, Age is age
        spelt_alike = spelt_alike and one_by_one and set(here) == names
    if complaints:
        rest = len(complaints) - text.FEW
        raise InputError(
            *complaints[: text.FEW], *([f"and {rest} more parts like these"] if rest > 0 else [])
        )
    return first or {}, spelt_alike


def _foreign(kind: pl.DataType) -> bool:
    """Is this a type that clusters do not have?"""
    fine = isinstance(kind, pl.Datetime) and kind.time_unit == "ns"
    return fine or isinstance(kind, FOREIGN)


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
    watched = Watched.at(source) if here and source.exists() else None
    given = parts.listed(source) if here and source.is_dir() else [source]
    engine, folder = Embedded(), staging.fresh("read")
    folder.mkdir()
    for number, part in enumerate(given):
        data = engine.read(part, form, wanted, empty=True).data  # whoever asked counts them all
        _refuse_durations(data.schema)
        engine.write(Frame(_native(data)), folder / parts.name(number, SUFFIX["parquet"]), Form("parquet"))
    alike(parts.listed(folder), None, [str(part) for part in given])
    if watched is not None and not watched.unchanged:
        raise InputError("Spark: the source was changed while it was copied; nothing was released")
    with told("reading what was copied"):
        found = _named(session.read.parquet(str(folder.absolute())), columnar=True)
    return replace(found, folder=source if here and source.is_dir() else None, form=form)
