"""The owner's table in SQLite, DuckDB or PostgreSQL: read-only, and watched for changes."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Sequence
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from privet.disclose.audit.sql import Literal, Query, RefusedError, select
from privet.errors import InputError, MissingExtraError

SCHEMES = ("sqlite:", "duckdb:", "postgresql:", "postgres:")
CONNECTED = 10  # seconds for a server to be reached
SLOWEST = 120  # seconds for a query
CANNOT_COMPARE = "the database cannot compare these; give each column a literal of its own type"


class UnreachableError(InputError):
    """The database does not answer: that says nothing about the query."""


def _plain(value: object) -> object:
    """A public value as JSON has it; other kinds as their text."""
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


class Kind(Enum):
    """What a column is declared to hold."""

    WHOLE = "whole numbers"
    NUMBER = "numbers"
    OTHER = "other"


def _kind(declared: str, *numbers: str) -> Kind:
    said = declared.upper()
    if "INT" in said and "INTERVAL" not in said and "POINT" not in said:
        return Kind.WHOLE
    return Kind.NUMBER if any(word in said for word in numbers) else Kind.OTHER


class Database(ABC):
    """A table that is only ever read. Errors carry neither a password nor a value."""

    dialect: str
    place: str

    @abstractmethod
    def fetch(self, sql: str, literals: Sequence[Literal] = ()) -> list[tuple[Any, ...]]:
        """Rows."""

    @abstractmethod
    def stamp(self) -> object:
        """Equal stamps: nothing was written in between. None: cannot tell, look at everything."""

    @abstractmethod
    def columns(self, table: str) -> dict[str, Kind]:
        """Names of a table's columns, and what they are declared to hold."""

    @abstractmethod
    def close(self) -> None: ...

    def table(self, table: str, columns: tuple[str, ...]) -> list[tuple[Any, ...]]:
        """These columns of everybody."""
        there = self.columns(table)
        if not there:
            raise InputError(f"{self.place}: there is no table {table}")
        if missing := [name for name in columns if name not in there]:
            raise InputError(f"{self.place}: {table} has no column {', '.join(missing)}")
        return self.fetch(select(columns, table, None, self.dialect))

    def people(self, table: str, person: str, query: Query) -> list[object]:
        """Who meets the condition of a query."""
        return [row[0] for row in self._matching((person,), table, query)]

    def groups(self, table: str, person: str, query: Query) -> list[tuple[tuple[object, ...], list[object]]]:
        """The same people by their public values, in the order of these: nobody's secret moves a group."""
        found: dict[tuple[object, ...], list[object]] = {}
        for one, *by in self._matching((person, *query.by), table, query):
            found.setdefault(tuple(_plain(value) for value in by), []).append(one)
        return sorted(
            found.items(),
            key=lambda group: [(type(value).__name__, 0 if value is None else value) for value in group[0]],
        )

    def _matching(self, columns: tuple[str, ...], table: str, query: Query) -> list[tuple[Any, ...]]:
        sql = select(columns, table, query.condition, self.dialect)
        try:
            return self.fetch(sql, query.literals)
        except UnreachableError:
            raise
        except InputError:
            raise RefusedError(CANNOT_COMPARE) from None


class Sqlite(Database):
    """A file of SQLite."""

    dialect = "sqlite"

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise InputError(
                f"{path}: no such SQLite file (an absolute path has four slashes: sqlite:////data/a.db)"
            )
        self._path, self.place = path, str(path)
        self._open()

    def _open(self) -> None:
        self._inode = self._path.stat().st_ino
        # Quoted: a ? or # in a path must not end it, and with it the word that makes it read-only.
        place = f"file:{quote(str(self._path))}?mode=ro"
        self._db = sqlite3.connect(place, uri=True, check_same_thread=False)

    def fetch(self, sql: str, literals: Sequence[Literal] = ()) -> list[tuple[Any, ...]]:
        given = [float(one) if isinstance(one, Decimal) else one for one in literals]
        try:
            return self._db.execute(sql, given).fetchall()
        except (sqlite3.Error, OverflowError) as error:
            raise InputError(f"{self.place}: the query failed ({type(error).__name__})") from None

    def stamp(self) -> object:
        if self._path.stat().st_ino != self._inode:  # another file stands in its place
            self.close()
            self._open()
            return None
        return self.fetch("pragma data_version")[0][0]

    def columns(self, table: str) -> dict[str, Kind]:
        rows = self.fetch("select name, type from pragma_table_info(?)", [table])
        return {name: _kind(declared, "REAL", "FLOA", "DOUB", "NUM", "DEC") for name, declared in rows}

    def close(self) -> None:
        self._db.close()


class DuckDb(Database):
    """A file of DuckDB. While it is open for reading, DuckDB lets nobody write to it."""

    dialect = "duckdb"

    def __init__(self, path: Path) -> None:
        try:
            import duckdb  # noqa: PLC0415 - an optional extra
        except ImportError:
            raise MissingExtraError("a duckdb:// source", "audit") from None
        if not path.is_file():
            raise InputError(
                f"{path}: no such DuckDB file (an absolute path has four slashes: duckdb:////data/a.db)"
            )
        self._duckdb, self._path, self.place = duckdb, path, str(path)
        self._open()

    def _open(self) -> None:
        try:
            self._db = self._duckdb.connect(str(self._path), read_only=True)
        except self._duckdb.Error as error:
            raise InputError(f"{self.place}: cannot be opened ({type(error).__name__})") from None
        self._mark = self._now()

    def _now(self) -> tuple[int, int, int]:
        found = self._path.stat()
        return found.st_ino, found.st_mtime_ns, found.st_size

    def fetch(self, sql: str, literals: Sequence[Literal] = ()) -> list[tuple[Any, ...]]:
        try:
            rows: list[tuple[Any, ...]] = self._db.execute(sql, list(literals)).fetchall()
        except self._duckdb.Error as error:
            raise InputError(f"{self.place}: the query failed ({type(error).__name__})") from None
        return rows

    def stamp(self) -> object:
        if self._now() != self._mark:
            self.close()
            self._open()
            return None
        return self._mark

    def columns(self, table: str) -> dict[str, Kind]:
        rows = self.fetch(
            "select column_name, data_type from information_schema.columns where table_name = ?", [table]
        )
        return {name: _kind(declared, "FLOAT", "DOUBLE", "DECIMAL") for name, declared in rows}

    def close(self) -> None:
        self._db.close()


class Postgres(Database):
    """A table of a PostgreSQL server."""

    dialect = "postgres"

    def __init__(self, url: str) -> None:
        try:
            import psycopg  # noqa: PLC0415 - an optional extra
        except ImportError:
            raise MissingExtraError("a postgresql:// source", "postgres") from None
        self._psycopg, self._url = psycopg, url
        self.place = f"postgresql://{urlsplit(url).hostname or ''}"
        self._open()

    def _open(self) -> None:
        try:
            # The server itself refuses to write: with autocommit, the driver's own setting would do nothing.
            # A server that falls silent must not hold everybody up.
            self._db = self._psycopg.connect(
                self._url,
                autocommit=True,
                options=f"-c default_transaction_read_only=on -c statement_timeout={1000 * SLOWEST}",
                connect_timeout=CONNECTED,
                tcp_user_timeout=1000 * CONNECTED,
            )
        except self._psycopg.Error as error:
            raise UnreachableError(f"{self.place}: no connection ({type(error).__name__})") from None

    def fetch(self, sql: str, literals: Sequence[Literal] = ()) -> list[tuple[Any, ...]]:
        for last in (False, True):
            try:
                rows: list[tuple[Any, ...]] = self._db.execute(sql, list(literals)).fetchall()
            except self._psycopg.Error as error:
                if self._db.closed and not last:  # the server went away: once more, on a new connection
                    self._db.close()
                    self._open()
                    continue
                code = f", SQLSTATE {error.sqlstate}" if error.sqlstate else ""
                raise InputError(f"{self.place}: the query failed ({type(error).__name__}{code})") from None
            return rows
        raise InputError(f"{self.place}: no connection")

    def stamp(self) -> object:
        # Where the server's journal has not moved, nothing was written. A replica cannot say.
        try:
            return self.fetch("select pg_current_wal_insert_lsn()::text, pg_postmaster_start_time()::text")[0]
        except InputError:
            return None

    def columns(self, table: str) -> dict[str, Kind]:
        rows = self.fetch(
            "select attname, format_type(atttypid, null) from pg_attribute "
            "where attrelid = to_regclass(quote_ident(%s)) and attnum > 0 and not attisdropped",
            [table],
        )
        return {name: _kind(declared, "NUMERIC", "REAL", "DOUBLE") for name, declared in rows}

    def close(self) -> None:
        self._db.close()


def opened(url: str) -> Database:
    """A source by its URL."""
    if url.startswith(("postgresql:", "postgres:")):
        return Postgres(url)
    path = Path(unquote(urlsplit(url).path.removeprefix("/")))
    if url.startswith("sqlite:"):
        return Sqlite(path)
    if url.startswith("duckdb:"):
        return DuckDb(path)
    raise InputError(f"--db: is a URL that begins with one of {', '.join(SCHEMES)}")
