"""Where answers are read from: a file, a compressed file, or a pipe."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from privet.errors import InputError

CSV, LINES = "csv", "jsonl"
ENDINGS = {".csv": CSV, ".txt": CSV, ".tsv": "tsv", ".jsonl": LINES, ".ndjson": LINES}


@dataclass(frozen=True, slots=True)
class Source:
    """Bytes, what they are, and what separates cells."""

    bytes: BinaryIO
    lines: bool
    delimiter: str


def kind_of(path: str, said: str | None = None) -> str:
    """csv, tsv or jsonl: as it is said, or by the ending; a pipe is CSV unless said."""
    if said is not None:
        if said not in {CSV, "tsv", LINES}:
            raise InputError(f"--format: is one of csv, tsv, jsonl, not {said!r}")
        return said
    if path == "-":
        return CSV
    ending = Path(path.removesuffix(".gz")).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"{path}: answers are CSV, TSV or JSON lines; say --format for another ending")
    return ENDINGS[ending]


@contextmanager
def opened(path: str, *, kind: str | None = None, delimiter: str | None = None) -> Iterator[Source]:
    """A file, or `-` for what is piped in; complaints name the place."""
    found = kind_of(path, kind)
    apart = delimiter or ("\t" if found == "tsv" else ",")
    try:
        with _bytes(path) as stream:
            yield Source(stream, found == LINES, apart)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: this is a folder") from None
    except (gzip.BadGzipFile, EOFError):
        raise InputError(f"{path}: this is not a whole gzip file") from None
    except InputError as error:
        place = "standard input" if path == "-" else path
        raise InputError(*(f"{place}: {complaint}" for complaint in error.complaints)) from None


@contextmanager
def _bytes(path: str) -> Iterator[BinaryIO]:
    if path == "-":
        yield sys.stdin.buffer
        return
    if path.endswith(".gz"):
        with gzip.open(path, "rb") as packed:
            yield cast("BinaryIO", packed)
    else:
        with Path(path).open("rb") as stream:
            yield stream
