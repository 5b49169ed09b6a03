"""A node's data: a file, or the rows that a query selects from a database, read when a run begins.

Rows are known again by their values, in whichever order they stand: a file that was sorted anew, or written
with other ends of lines, other quotes or columns in another order, has the same rows.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from privet.core import Form
from privet.engines import databases
from privet.errors import InputError, PrivetError
from privet.registry import find
from privet.roads.stations import in_frame, settle


def opened(place: str, query: str | None) -> Any:
    """What a road reads: the file, or the selected rows as a table; refused now rather than among peers."""
    if databases.is_url(place):
        return databases.read(place, query)
    if query is not None:
        raise InputError("--query: only of a database; a file is read whole")
    path = Path(place)
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    return path.absolute()


def content(source: Any) -> bytes:
    """The digest of a file as it stands, or of a database's rows: has anybody changed it?"""
    if not isinstance(source, Path):
        return _rows(source)
    try:
        with source.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest()
    except OSError:
        raise InputError("the data: no such file any more, or it cannot be read") from None


def values(source: Any, form: Form) -> bytes:
    """The digest of the rows, whatever their order; `form`: how the file is written.

    What the form says of the meaning of values (which mean "missing", how numbers are written) is left out:
    under another contract they are the same rows.
    """
    if not isinstance(source, Path):
        return _rows(source)
    engine = find("engines", "embedded")()
    usual = Form()
    plain = replace(
        form,
        query=None,
        nulls=usual.nulls,
        trim=usual.trim,
        numbers=usual.numbers,
        missing=usual.missing,
    )
    try:
        return _rows(in_frame(engine, engine.read(source, settle(source, plain))))
    except (PrivetError, pl.exceptions.PolarsError):
        return content(source)  # whatever is wrong with it is said when it is run


def _rows(frame: pl.DataFrame) -> bytes:
    """A digest that is the same in any order of rows and columns.

    Each value stands with its length before it, so that no value can look like two.
    """
    names = sorted(frame.columns)
    text = pl.DataFrame({name: _text(frame[name]) for name in names})
    lines = text.select(row=pl.concat_str([pl.lit(""), *(_cell(pl.col(name)) for name in names)]))[
        "row"
    ].sort()
    found = hashlib.sha256(json.dumps([names, frame.height]).encode())
    for line in lines:
        found.update(line.encode())
    return found.digest()


def _text(column: pl.Series) -> pl.Series:
    """A column's values as texts; of a database they may be anything (UUIDs, lists, bytes)."""
    try:
        return column.cast(pl.String)
    except pl.exceptions.PolarsError:
        said = [None if value is None else repr(value) for value in column.to_list()]
        return pl.Series(column.name, said, dtype=pl.String)


def _cell(value: pl.Expr) -> pl.Expr:
    there = pl.concat_str([value.str.len_bytes().cast(pl.String), pl.lit(":"), value])
    return pl.when(value.is_null()).then(pl.lit("-")).otherwise(there)


def mark(digest: bytes, secret: bytes) -> str:
    """What this node knows the same rows by again; without its secret it confirms no guess."""
    return hmac.new(secret, b"privet rows " + digest, "sha256").hexdigest()
