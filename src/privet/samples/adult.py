"""Reads the Adult census files of the UCI Machine Learning Repository as they are published.

`adult.data` and `adult.test` have no header; values stand after ", ", a question mark means missing, the
test file opens with a remark and ends its classes with a dot. Both may be gzipped.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path

import polars as pl

from privet.errors import InputError
from privet.samples.plans import CENSUS

COLUMNS = tuple(CENSUS.columns)
NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
CLASSES = ("<=50K", ">50K")
MISSING = "?"
REMARK = "|"
GZIP = b"\x1f\x8b"


def read_adult(
    paths: str | PathLike[str] | Iterable[str | PathLike[str]], *, complete: bool = True
) -> pl.DataFrame:
    """The records of one file, or of several one after the other; `complete` leaves out those with gaps."""
    several = [paths] if isinstance(paths, str | PathLike) else list(paths)
    if not several:
        raise InputError("adult: needs at least one file")
    table = pl.concat([_read(Path(path)) for path in several])
    return table.drop_nulls() if complete else table


def _read(path: Path) -> pl.DataFrame:
    at, records = [], []
    for number, fields in _records(path):
        if len(fields) != len(COLUMNS):
            raise InputError(f"{path}: line {number}: needs {len(COLUMNS)} fields, not {len(fields)}")
        at.append(number)
        records.append(fields)
    if not records:
        raise InputError(f"{path}: no records")
    text = pl.DataFrame(records, schema=dict.fromkeys(COLUMNS, pl.String), orient="row")
    text = text.with_columns(pl.col(pl.String).replace(MISSING, None))
    table = text.with_columns(pl.col(NUMBERS).cast(pl.Int64, strict=False))
    for name in NUMBERS:
        _refuse(path, at, name, "needs a whole number", table[name].is_null() & text[name].is_not_null())
    _refuse(
        path,
        at,
        "income",
        f"is one of {', '.join(CLASSES)}",
        ~table["income"].is_in(CLASSES).fill_null(value=False),
    )
    return table


def _refuse(path: Path, at: list[int], column: str, rule: str, wrong: pl.Series) -> None:
    """The place and the rule; what stands there is not ours to repeat."""
    if wrong.any():
        first = wrong.arg_true()[0]
        raise InputError(f"{path}: line {at[first]}: {column} {rule}")


def _records(path: Path) -> Iterator[tuple[int, list[str]]]:
    try:
        content = path.read_bytes()
        if content.startswith(GZIP):
            content = gzip.decompress(content)
        lines = content.decode("ascii").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start}: not plain text; is this an Adult file?") from None
    except (OSError, EOFError, zlib.error) as error:  # a broken gzip file is an OSError too
        raise InputError(f"{path}: cannot be read ({type(error).__name__})") from None
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.startswith(REMARK):
            fields = [field.strip() for field in line.split(",")]
            yield number, [*fields[:-1], fields[-1].removesuffix(".")]
