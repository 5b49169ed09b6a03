"""A release copied into a database or a Parquet data set, with its evidence as a table beside it.

    sqlite:///clinic.db   duckdb:///clinic.duckdb   postgresql://host/clinic   parquet:///lake

The table has the rows of the release; the one beside it, called `…_evidence`, a row for each other file of
the release: the policy, the evidence, the report. Both appear together or not at all. A table that has no
evidence beside it is not ours, and is never replaced.
"""

from __future__ import annotations

import re
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote, urlsplit

import polars as pl

from privet.engines import parquet
from privet.engines.frames import WORDLESS, WORDLESS_SAID
from privet.errors import InputError, MissingExtraError
from privet.placing import aside

EVIDENCE = "_evidence"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,49}")
FILES = pl.Schema({"file": pl.String, "content": pl.String})
MANY = 50_000  # rows that are handed over at once


@dataclass(frozen=True)
class Place(ABC):
    """A table that shall be: where, under which name, and whether an earlier release may be replaced."""

    where: str  # as people may see it: no password
    url: str
    table: str
    overwrite: bool

    @abstractmethod
    def refuse(self) -> None:
        """Say now, not when the work is done, why nothing can be written here."""

    @abstractmethod
    def write(self, data: pl.DataFrame, files: Mapping[str, str]) -> None:
        """The rows, and the files of evidence by name; whole or not at all."""

    def _may_stand(self, there: set[str]) -> None:
        """`there`: those of the two tables that exist."""
        if self.table not in there and self.table + EVIDENCE not in there:
            return
        if len(there) < 2:
            raise InputError(
                f"{self.where}: {min(there)!r} is there, and is not a release: choose another --table"
            )
        if not self.overwrite:
            raise InputError(
                f"{self.where}: {self.table!r} is a release already; say --overwrite to replace it"
            )


def place(url: str, table: str | None, *, overwrite: bool) -> Place:
    """Where a URL leads to."""
    scheme, _, rest = url.partition("://")
    kinds: dict[str, tuple[type[Place], str]] = {
        "sqlite": (SQLite, ""),
        "duckdb": (DuckDB, ""),
        "parquet": (Parquet, ""),
        "postgresql": (PostgreSQL, f"postgresql://{urlsplit(url).hostname or 'localhost'}"),
    }
    kinds["postgres"] = kinds["postgresql"]
    if scheme not in kinds or not rest:
        raise InputError(
            "--into: is sqlite:///FILE, duckdb:///FILE, postgresql://HOST/NAME or parquet:///FOLDER "
            "(an absolute path has four slashes)"
        )
    if table is None or not NAME.fullmatch(table) or table.endswith(EVIDENCE):
        raise InputError("--table: is a name of at most 50 letters, digits and _, beside --into")
    kind, where = kinds[scheme]
    return kind(where or str(_path(url)), url, table, overwrite)


def _path(url: str) -> Path:
    path = unquote(urlsplit(url).path.removeprefix("/"))
    if not path:
        raise InputError("--into: names no file; an absolute path has four slashes")
    return Path(path)


def _quoted(name: str) -> str:
    if "\0" in name:
        raise InputError("a column's name holds a character that no database takes")
    return '"' + name.replace('"', '""') + '"'


def _plain(data: pl.DataFrame) -> pl.DataFrame:
    """Categories as their texts; what has none is refused by name."""
    complaints = [
        f"{WORDLESS_SAID.format(name)}; leave it out"
        for name, dtype in data.schema.items()
        if dtype.base_type() in WORDLESS or dtype.is_nested()
    ]
    if complaints:
        raise InputError(*complaints)
    return data.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))


def _type(dtype: pl.DataType) -> str:
    """The type of a column, in words that all three databases know."""
    if dtype == pl.Boolean:
        return "BOOLEAN"
    if dtype in {pl.UInt64, pl.Int128} or dtype.is_decimal():
        return "NUMERIC"
    if dtype.is_integer():
        return "BIGINT"
    if dtype.is_float():
        return "DOUBLE PRECISION"
    if isinstance(dtype, pl.Datetime):
        return "TIMESTAMP" if dtype.time_zone is None else "TIMESTAMP WITH TIME ZONE"
    return "DATE" if dtype == pl.Date else "TIME" if dtype == pl.Time else "TEXT"


def _made(table: str, schema: pl.Schema) -> str:
    columns = ", ".join(f"{_quoted(name)} {_type(dtype)}" for name, dtype in schema.items())
    return f"CREATE TABLE {_quoted(table)} ({columns})"


def _listed(files: Mapping[str, str]) -> pl.DataFrame:
    return pl.DataFrame(sorted(files.items()), schema=FILES, orient="row")


class SQLite(Place):
    """A file of SQLite; dates and times are text in it."""

    def refuse(self) -> None:
        path = _path(self.url)
        if path.is_file():
            self._run(path, lambda db: self._may_stand(self._there(db)))
        elif not path.absolute().parent.is_dir():
            raise InputError(f"{self.where}: there is no such folder")

    def write(self, data: pl.DataFrame, files: Mapping[str, str]) -> None:
        tables = {self.table: _plain(data), self.table + EVIDENCE: _listed(files)}
        lost = [
            f"{self.where}: column {name!r} holds what is not a number, which SQLite reads as missing"
            for name, dtype in data.schema.items()
            if dtype.is_float() and data.get_column(name).is_nan().any()
        ]
        if lost:
            raise InputError(*lost)

        def written(db: sqlite3.Connection) -> None:
            db.execute("BEGIN IMMEDIATE")
            self._may_stand(self._there(db))
            for name, frame in tables.items():
                timed = [c for c, dtype in frame.schema.items() if dtype.is_temporal() or dtype.is_decimal()]
                rows = frame.with_columns(pl.col(timed).cast(pl.String))
                marks = ", ".join("?" * rows.width)
                db.execute(f"DROP TABLE IF EXISTS {_quoted(name)}")
                db.execute(_made(name, rows.schema))
                db.executemany(f"INSERT INTO {_quoted(name)} VALUES ({marks})", rows.iter_rows())  # noqa: S608 - quoted
            db.execute("COMMIT")

        self._run(_path(self.url), written)

    def _there(self, db: sqlite3.Connection) -> set[str]:
        asked = "SELECT name FROM sqlite_master WHERE name IN (?, ?)"
        return {name for (name,) in db.execute(asked, (self.table, self.table + EVIDENCE))}

    def _run(self, path: Path, work: Callable[[sqlite3.Connection], None]) -> None:
        try:
            with closing(sqlite3.connect(path, isolation_level=None)) as db:
                work(db)
        except (sqlite3.Error, OverflowError) as error:
            why = getattr(error, "sqlite_errorname", None) or type(error).__name__
            raise InputError(f"{self.where}: could not be written ({why})") from None


class DuckDB(Place):
    """A file of DuckDB."""

    def refuse(self) -> None:
        path = _path(self.url)
        if path.is_file():
            self._run(lambda db: self._may_stand(self._there(db)))
        elif not path.absolute().parent.is_dir():
            raise InputError(f"{self.where}: there is no such folder")
        else:
            self._loaded()

    def write(self, data: pl.DataFrame, files: Mapping[str, str]) -> None:
        tables = {self.table: _plain(data), self.table + EVIDENCE: _listed(files)}

        def written(db: Any) -> None:
            db.execute("BEGIN")
            self._may_stand(self._there(db))
            with TemporaryDirectory() as folder:
                for number, (name, frame) in enumerate(tables.items()):
                    part = Path(folder) / f"{number}.parquet"  # a name may be a pattern to DuckDB
                    parquet.write(frame, part)
                    db.execute(f"DROP TABLE IF EXISTS {_quoted(name)}")
                    db.execute(f"CREATE TABLE {_quoted(name)} AS SELECT * FROM read_parquet(?)", [str(part)])  # noqa: S608 - quoted
            db.execute("COMMIT")

        self._run(written)

    def _there(self, db: Any) -> set[str]:
        asked = "SELECT table_name FROM information_schema.tables WHERE table_name IN (?, ?)"
        return {name for (name,) in db.execute(asked, [self.table, self.table + EVIDENCE]).fetchall()}

    def _loaded(self) -> Any:
        try:
            return import_module("duckdb")
        except ImportError:
            raise MissingExtraError("a duckdb:// place", "audit") from None

    def _run(self, work: Callable[[Any], None]) -> None:
        duckdb = self._loaded()
        try:
            with closing(duckdb.connect(str(_path(self.url)))) as db:
                work(db)
        except duckdb.Error as error:  # its sentence may quote a value
            raise InputError(f"{self.where}: could not be written ({type(error).__name__})") from None


class PostgreSQL(Place):
    """A database of PostgreSQL; the table is made in the first schema of the search path."""

    def refuse(self) -> None:
        self._run(lambda db: self._may_stand(self._there(db)))

    def write(self, data: pl.DataFrame, files: Mapping[str, str]) -> None:
        tables = {self.table: _plain(data), self.table + EVIDENCE: _listed(files)}

        def written(db: Any) -> None:
            self._may_stand(self._there(db))
            for name, frame in tables.items():
                db.execute(f"DROP TABLE IF EXISTS {_quoted(name)}")
                db.execute(_made(name, frame.schema))
                with db.cursor().copy(f"COPY {_quoted(name)} FROM STDIN") as copy:
                    for part in frame.iter_slices(MANY):
                        for row in part.iter_rows():
                            copy.write_row(row)

        self._run(written)

    def _there(self, db: Any) -> set[str]:
        asked = "SELECT relname FROM pg_class WHERE relname = ANY(%s) AND pg_table_is_visible(oid)"
        return {name for (name,) in db.execute(asked, ([self.table, self.table + EVIDENCE],)).fetchall()}

    def _run(self, work: Callable[[Any], None]) -> None:
        try:
            psycopg = import_module("psycopg")
        except ImportError:
            raise MissingExtraError("a postgresql:// place", "postgres") from None
        try:
            with psycopg.connect(self.url) as connection:  # commits at its end, or undoes everything
                work(connection)
        except psycopg.Error as error:
            code = getattr(error, "sqlstate", None)
            said = f"{type(error).__name__}{f', SQLSTATE {code}' if code else ''}"
            raise InputError(f"{self.where}: could not be written ({said})") from None


class Parquet(Place):
    """A folder of data sets, each a folder of Parquet files."""

    def refuse(self) -> None:
        folder = _path(self.url)
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{self.where}: there is a file of that name")
        names = (self.table, self.table + EVIDENCE)
        self._may_stand({name for name in names if (folder / name).exists()})

    def write(self, data: pl.DataFrame, files: Mapping[str, str]) -> None:
        folder = _path(self.url)
        with aside(folder / self.table) as made:
            self.refuse()
            tables = {self.table + EVIDENCE: _listed(files), self.table: data}
            for name, frame in tables.items():
                fresh = made.fresh(name)
                fresh.mkdir()
                parquet.write(frame, fresh / "part-0.parquet")
            made.place(list(tables))
