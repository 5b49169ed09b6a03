"""Where answers are read from: a file, a compressed file, or a pipe."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from privet.errors import InputError

CSV, LINES, PARQUET = "csv", "jsonl", "parquet"
ENDINGS = {".csv": CSV, ".txt": CSV, ".tsv": "tsv", ".jsonl": LINES, ".ndjson": LINES, ".parquet": PARQUET}


@dataclass(frozen=True, slots=True)
class Source:
    """Bytes, what they are, and what separates cells."""

    bytes: BinaryIO
    lines: bool
    delimiter: str


def kind_of(path: str, said: str | None = None) -> str:
    """csv, tsv, jsonl or parquet: as it is said, or by the ending; a pipe is CSV unless said."""
    if said is not None:
        if said not in {CSV, "tsv", LINES, PARQUET}:
            raise InputError(f"--format: is one of csv, tsv, jsonl, parquet, not {said!r}")
        if said == PARQUET and path == "-":
            raise InputError("--format: Parquet is read from its end, so it needs a file; a pipe has none")
        return said
    if path == "-":
        return CSV
    ending = Path(path.removesuffix(".gz")).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(
            f"{path}: answers are CSV, TSV, JSON lines or Parquet; say --format for another ending"
        )
    return ENDINGS[ending]


@contextmanager
def opened(
    path: str,
    *,
    kind: str | None = None,
    delimiter: str | None = None,
    columnar: Callable[[Path], BinaryIO] | None = None,
) -> Iterator[Source]:
    """A file, or `-` for what is piped in; complaints name the place.

    `columnar` makes CSV of a Parquet file: this room knows no library that reads one.
    """
    found = kind_of(path, kind)
    apart = "," if found == PARQUET else delimiter or ("\t" if found == "tsv" else ",")
    try:
        with _bytes(path, columnar if found == PARQUET else None) as stream:
            yield Source(stream, found == LINES, apart)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: this is a folder") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(f"{path}: this is not a whole gzip file") from None
    except InputError as error:
        place = "standard input" if path == "-" else path
        raise InputError(*(f"{place}: {complaint}" for complaint in error.complaints)) from None


def standard_input() -> BinaryIO:
    """What is piped in; Python has none where it was closed before the start."""
    if sys.stdin is None:
        raise InputError("standard input is closed; name a file, or pipe one in")
    return sys.stdin.buffer


@contextmanager
def _bytes(path: str, columnar: Callable[[Path], BinaryIO] | None) -> Iterator[BinaryIO]:
    if columnar is not None:
        with columnar(Path(path)) as cells:
            yield cells
        return
    if path == "-":
        yield standard_input()
        return
    if path.endswith(".gz"):
        with gzip.open(path, "rb") as packed:
            yield cast("BinaryIO", packed)
    else:
        with Path(path).open("rb") as stream:
            yield stream
