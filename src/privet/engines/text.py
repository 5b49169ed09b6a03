"""What every reader of text files must know: formats by their endings, delimiters, encodings, headers.

Pure Python, so that `embedded` and `plain` refuse the same files in the same words.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

from privet.core import Form
from privet.errors import InputError, one_of

FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "csv",
    ".data": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
SUFFIX = {"csv": ".csv", "tsv": ".tsv", "parquet": ".parquet", "jsonl": ".jsonl", "arrow": ".arrow"}
DELIMITERS = (",", ";", "\t", "|")
LONGEST_FIELD = 131_072  # bytes; what a longer one is, is a broken quote
SCHEMES = ("sqlite", "postgresql", "postgres")
FEW = 5  # complaints of one kind; the rest is a number
SHEETS = (".xlsx", ".xlsm", ".xls", ".ods", ".numbers")


def is_url(source: object) -> bool:
    """Does this name a database rather than a file?"""
    return isinstance(source, str) and source.split("://", 1)[0] in SCHEMES and "://" in source


def settled(path: Path, form: Form) -> Form:
    """The form with everything said that was left to be guessed."""
    name = path.with_suffix("") if path.suffix == ".gz" else path
    kind = form.format or FORMATS.get(name.suffix.lower())
    if kind is None and name.suffix.lower() in SHEETS:
        raise InputError(f"{path}: a spreadsheet is not read; save the sheet as CSV (UTF-8) first")
    if kind is None:
        raise InputError(
            f"{path}: {one_of('format', sorted(SUFFIX), path.suffix or 'no ending')}; say --format"
        )
    if kind not in SUFFIX:
        raise InputError(f"{path}: {one_of('format', sorted(SUFFIX), kind)}")
    delimiter = form.delimiter
    if delimiter is not None and (len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n'):
        raise InputError(f"{path}: a delimiter is one ASCII character, not {delimiter!r}")
    if kind in {"csv", "tsv"} and delimiter is None:
        delimiter = "\t" if kind == "tsv" else sniff(header_line(path, form.encoding))
    return replace(form, format=kind, delimiter=delimiter, gzip=path.suffix == ".gz")


def sniff(header: str) -> str:
    """The delimiter that makes the most fields of a header line; a comma when none does.

    >>> sniff("sex;age;race, or origin")
    ';'
    """
    return max(DELIMITERS, key=lambda mark: len(_fields(header, mark)))


def _fields(line: str, delimiter: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=delimiter), [])
    except csv.Error:  # no header has a field of so many characters
        return []


def header(path: Path, form: Form) -> list[str]:
    """The column names of a text file, refused where they cannot name columns."""
    line = header_line(path, form.encoding)
    if not line.strip():
        raise InputError(f"{path}: the file is empty")
    names = _fields(line, form.delimiter or ",")
    if not names:
        raise InputError(f"{path}: line 1: this is no header of column names")
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise InputError(
            f"{path}: line 1: a name stands more than once: {listed(doubled)}; give each column its own"
        )
    nameless = [at for at, name in enumerate(names, start=1) if not name.strip()]
    if nameless:
        raise InputError(f"{path}: line 1: column {nameless[0]} has no name; give it one")
    return names


def complain_about_missing(
    place: str, wanted: Sequence[str], names: Sequence[str], delimiter: str | None
) -> None:
    """Every column that the policy names and the data does not have."""
    missing = [name for name in wanted if name not in names]
    if not missing:
        return
    hint = ""
    if len(names) == 1 and delimiter is not None:
        hint = f"; the header has one field, is {delimiter!r} the delimiter? say --delimiter"
    raise InputError(
        *(f"{place}: the policy names column {name!r}, the data does not have it{hint}" for name in missing)
    )


def is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("-", "").replace("_", "") in {"utf8", "utf8sig"}


def opened(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value] # a GzipFile reads bytes


def header_line(path: Path, encoding: str) -> str:
    """The first line; refused where the file is no text."""
    try:
        with opened(path) as file:
            start = file.read(1 << 20)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, EOFError):
        raise InputError(f"{path}: this cannot be read; is it really what its name says?") from None
    if b"\x00" in start and not encoding.lower().replace("-", "").startswith(("utf16", "utf32")):
        raise InputError(f"{path}: this is no text file (it holds NUL bytes)")
    try:
        text = start.decode("utf-8-sig" if is_utf8(encoding) else encoding, errors="ignore")
    except LookupError:
        raise InputError(f"{path}: there is no encoding {encoding!r}") from None
    lines = io.StringIO(text, newline="").readline()
    while lines.count('"') % 2 and len(lines) < len(text):  # a quoted name may hold a line break
        lines += io.StringIO(text[len(lines) :], newline="").readline()
    return lines.rstrip("\r\n")


def utf8(path: Path, encoding: str) -> bytes:
    """The whole file, unpacked and in UTF-8."""
    try:
        with opened(path) as file:
            raw = file.read()
    except (OSError, EOFError):
        raise InputError(f"{path}: this cannot be unpacked; is it really gzip?") from None
    if is_utf8(encoding):
        return raw
    try:
        return raw.decode(encoding).encode()
    except UnicodeDecodeError as fault:
        raise InputError(undecodable(path, encoding, raw.count(b"\n", 0, fault.start) + 1)) from None


def undecodable(path: Path, encoding: str, line: int) -> str:
    return f"{path}: line {line} is not {encoding}; say --encoding, for example latin-1 or cp1252"


def listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:FEW])
    return shown + (f" and {len(names) - FEW} more" if len(names) > FEW else "")
