"""Databases as a source: `sqlite:///file.db` and `postgresql://…`, with a query or a table's name."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from urllib.parse import unquote, urlsplit

import polars as pl

from privet.engines.text import SCHEMES, is_url
from privet.errors import InputError, MissingExtraError

__all__ = ["SCHEMES", "is_url", "read"]


def read(url: str, query: str | None, *, empty: bool = False) -> pl.DataFrame:
    """The rows that the query selects; errors say what failed, without the URL's password or any data."""
    if not query:
        raise InputError(
            "a database source needs a query: --query 'SELECT … FROM …' or form.query in the policy"
        )
    if (path := sqlite_file(url)) is not None:
        return _sqlite(path, query, empty=empty)
    return _postgres(url, query, empty=empty)


def sqlite_file(url: str) -> Path | None:
    """The file of an SQLite database; None: it is no such database."""
    return Path(unquote(urlsplit(url).path.removeprefix("/"))) if url.startswith("sqlite:") else None


def _sqlite(path: Path, query: str, *, empty: bool) -> pl.DataFrame:
    if not path.is_file():
        raise InputError(
            f"{path}: no such SQLite file (an absolute path has four slashes: sqlite:////data/a.db)"
        )
    try:
        # immutable reading: a source is never written to, whatever the query says
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            cursor = connection.execute(query)
            if cursor.description is None:
                raise InputError(f"{path}: the query selects nothing")
            names = [column[0] for column in cursor.description]
            rows = cursor.fetchall()
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise InputError(f"{path}: the query failed ({error.sqlite_errorname})") from None
    return _frame(str(path), names, rows, empty=empty)


def _postgres(url: str, query: str, *, empty: bool) -> pl.DataFrame:
    try:
        import psycopg  # noqa: PLC0415 - an optional extra
    except ImportError:
        raise MissingExtraError("a postgresql:// source", "postgres") from None
    place = f"postgresql://{urlsplit(url).hostname or 'localhost'}"
    try:
        with psycopg.connect(url) as connection:
            connection.read_only = True
            cursor = connection.execute(query)
            if cursor.description is None:
                raise InputError(f"{place}: the query selects nothing")
            names = [column.name for column in cursor.description]
            rows = cursor.fetchall()
    except psycopg.Error as error:
        raise InputError(f"{place}: {_what_failed(error)}") from None
    return _frame(place, names, rows, empty=empty)


def _what_failed(error: Exception) -> str:
    # The server's own sentence may quote a value; its class and code say enough.
    code = getattr(error, "sqlstate", None)
    return f"the query failed ({type(error).__name__}{f', SQLSTATE {code}' if code else ''})"


def _frame(place: str, names: list[str], rows: list[tuple[object, ...]], *, empty: bool) -> pl.DataFrame:
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise InputError(f"{place}: the query selects {', '.join(map(repr, doubled))} more than once; use AS")
    if not rows and not empty:
        raise InputError(f"{place}: the query selects not one record")
    try:
        return pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None)
    except (pl.exceptions.PolarsError, TypeError, OverflowError):
        # A column of mixed types, which SQLite allows: everything as text.
        text = [[None if value is None else str(value) for value in row] for row in rows]
        return pl.DataFrame(text, schema=dict.fromkeys(names, pl.String), orient="row")
