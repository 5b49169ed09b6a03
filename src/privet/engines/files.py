"""Files in and out: CSV, TSV, Parquet, JSON lines and Arrow, plain or gzipped, through polars.

Text files are read as text: nothing is guessed about types, so that a column that only passes through
("007", "1.50") leaves as it came. What polars says when it fails quotes the data, so its messages are
never repeated; the place of a fault is found again by a slow second look, line numbers only.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl

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
FEW = 5  # complaints of one kind; the rest is a number


def settled(path: Path, form: Form) -> Form:
    """The form with everything said that was left to be guessed."""
    name = path.with_suffix("") if path.suffix == ".gz" else path
    kind = form.format or FORMATS.get(name.suffix.lower())
    if kind is None:
        raise InputError(
            f"{path}: {one_of('format', sorted(SUFFIX), path.suffix or 'no ending')}; say --format"
        )
    if kind not in SUFFIX:
        raise InputError(f"{path}: {one_of('format', sorted(SUFFIX), kind)}")
    delimiter = form.delimiter
    if kind in {"csv", "tsv"} and delimiter is None:
        delimiter = "\t" if kind == "tsv" else sniff(_header_line(path, form.encoding))
    return replace(form, format=kind, delimiter=delimiter)


def sniff(header: str) -> str:
    """The delimiter that makes the most fields of a header line; a comma when none does.

    >>> sniff("sex;age;race, or origin")
    ';'
    """
    return max(DELIMITERS, key=lambda mark: len(next(csv.reader([header], delimiter=mark), [])))


def header(path: Path, form: Form) -> list[str]:
    """The column names of a text file, refused where they cannot name columns."""
    line = _header_line(path, form.encoding)
    names = next(csv.reader([line], delimiter=form.delimiter or ","), [])
    if not names or not line.strip():
        raise InputError(f"{path}: the file is empty")
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise InputError(
            f"{path}: line 1: {len(doubled)} column names stand more than once: {_listed(doubled)}"
        )
    if any(not name.strip() for name in names):
        raise InputError(f"{path}: line 1: column {names.index('') + 1} has no name")
    return names


def read(path: Path, form: Form, columns: Iterable[str] | None = None) -> pl.DataFrame:
    """The table in a file, with only the columns that are asked for."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if not path.stat().st_size:
        raise InputError(f"{path}: the file is empty")
    form = settled(path, form)
    wanted = None if columns is None else list(dict.fromkeys(columns))
    if form.format in {"csv", "tsv"}:
        frame = _read_text(path, form, wanted)
    else:
        frame = _read_typed(path, form, wanted)
    if not frame.height:
        raise InputError(f"{path}: there is a header but not one record")
    return _no_endless_fields(path, frame)


def _read_text(path: Path, form: Form, wanted: Sequence[str] | None) -> pl.DataFrame:
    names = header(path, form)
    if wanted is not None:
        complain_about_missing(str(path), wanted, names, form.delimiter)
    # The last column is always read: a null there may be a row that ends too soon.
    chosen = names if wanted is None else [name for name in names if name in wanted or name == names[-1]]
    source: Path | bytes = path
    if path.suffix == ".gz" or form.encoding.lower().replace("-", "") not in {"utf8", "utf8sig"}:
        source = _utf8(path, form.encoding)
    try:
        frame = pl.read_csv(
            source,
            separator=form.delimiter or ",",
            columns=chosen,
            infer_schema=False,
            null_values=[token for token in form.nulls if token] or None,
            empty_string_is_null="" in form.nulls,
            encoding="utf8",
        )
    except pl.exceptions.PolarsError:
        raise InputError(*_faults(path, form, names)) from None
    last = frame.get_column(names[-1])
    if (last.null_count() or (last == "").any()) and not _even(source, form, len(names), frame.height):
        faults = _faults(path, form, names, unknown_is_fine=True)
        if faults:
            raise InputError(*faults)
        frame = frame.head(_records(path, form))
    return frame if wanted is None else frame.select([name for name in names if name in wanted])


def _read_typed(path: Path, form: Form, wanted: Sequence[str] | None) -> pl.DataFrame:
    source: Path | io.BytesIO = path
    try:
        if path.suffix == ".gz":
            source = io.BytesIO(gzip.decompress(path.read_bytes()))
        if form.format == "parquet":
            frame = pl.read_parquet(source)
        elif form.format == "arrow":
            frame = pl.read_ipc(source)
        else:
            frame = pl.read_ndjson(source, infer_schema_length=None)
    except (pl.exceptions.PolarsError, OSError, EOFError, ValueError):
        raise InputError(f"{path}: this cannot be read as {form.format}") from None
    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    if nested:
        raise InputError(
            f"{path}: column {_listed(nested)} holds lists or objects; a table holds single values"
        )
    if wanted is None:
        return frame
    complain_about_missing(str(path), wanted, frame.columns, None)
    return frame.select([name for name in frame.columns if name in wanted])


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


def write(frame: pl.DataFrame, target: Path, form: Form) -> None:
    """Write the table as the form says; nulls become the first null token."""
    gzipped = target.suffix == ".gz"
    with io.BytesIO() if gzipped else target.open("wb") as out:
        if form.format in {"csv", "tsv"}:
            frame.write_csv(
                out,
                separator=form.delimiter or ("\t" if form.format == "tsv" else ","),
                null_value=form.nulls[0] if form.nulls else "",
            )
        elif form.format == "parquet":
            frame.write_parquet(out)
        elif form.format == "arrow":
            frame.write_ipc(out)
        else:
            frame.write_ndjson(out)
        if gzipped and isinstance(out, io.BytesIO):
            with (
                target.open("wb") as raw,
                gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as packed,
            ):
                packed.write(out.getbuffer())
    encoding = form.encoding.lower().replace("-", "")
    if form.format in {"csv", "tsv"} and encoding not in {"utf8", "utf8sig"}:
        _reencode(target, form.encoding)


def _reencode(target: Path, encoding: str) -> None:
    opener = gzip.open if target.suffix == ".gz" else open
    with opener(target, "rb") as coded:
        text = coded.read().decode()
    with opener(target, "wb") as plain:
        # A label of ours that the encoding lacks must not stop a release at its last step.
        plain.write(text.encode(encoding, errors="xmlcharrefreplace"))


def _no_endless_fields(path: Path, frame: pl.DataFrame) -> pl.DataFrame:
    texts = [name for name, dtype in frame.schema.items() if dtype == pl.String]
    if texts:
        longest = frame.select(pl.col(texts).str.len_bytes().max()).row(0)
        faults = [
            f"{path}: column {name!r} has a field of {length:,} bytes; at most {LONGEST_FIELD:,} are read "
            "(is a quote not closed?)"
            for name, length in zip(texts, longest, strict=True)
            if length is not None and length > LONGEST_FIELD
        ]
        if faults:
            raise InputError(*faults)
    return frame


def _open(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value] # a GzipFile reads bytes


def _header_line(path: Path, encoding: str) -> str:
    try:
        with _open(path) as file:
            start = file.read(1 << 20)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, EOFError):
        raise InputError(f"{path}: this cannot be read; is it really what its name says?") from None
    if b"\x00" in start and not encoding.lower().replace("-", "").startswith("utf16"):
        raise InputError(f"{path}: this is no text file (it holds NUL bytes)")
    try:
        text = start.decode(
            "utf-8-sig" if encoding.lower() in {"utf-8", "utf8"} else encoding, errors="ignore"
        )
    except LookupError:
        raise InputError(f"{path}: there is no encoding {encoding!r}") from None
    lines = io.StringIO(text, newline="").readline()
    while lines.count('"') % 2 and len(lines) < len(text):  # a quoted name may hold a line break
        lines += io.StringIO(text[len(lines) :], newline="").readline()
    return lines.rstrip("\r\n")


def _utf8(path: Path, encoding: str) -> bytes:
    try:
        with _open(path) as file:
            raw = file.read()
    except (OSError, EOFError):
        raise InputError(f"{path}: this cannot be unpacked; is it really gzip?") from None
    if encoding.lower().replace("-", "") in {"utf8", "utf8sig"}:
        return raw
    try:
        return raw.decode(encoding).encode()
    except UnicodeDecodeError as fault:
        raise InputError(_undecodable(path, encoding, raw.count(b"\n", 0, fault.start) + 1)) from None


def _undecodable(path: Path, encoding: str, line: int) -> str:
    return f"{path}: line {line} is not {encoding}; say --encoding, for example latin-1 or cp1252"


def _even(source: Path | bytes, form: Form, fields: int, records: int) -> bool:
    """Has every line all its delimiters? A quick count that is sure only where nothing is quoted."""
    raw = np.frombuffer(source, np.uint8) if isinstance(source, bytes) else np.memmap(source, np.uint8, "r")
    if np.count_nonzero(raw == ord('"')):
        return False
    delimiters = int(np.count_nonzero(raw == ord(form.delimiter or ",")))
    return delimiters == (fields - 1) * (records + 1)


def _lines(path: Path, form: Form) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and fields, as the csv module sees them; blank lines at the end left out."""
    csv.field_size_limit(1 << 30)
    text = io.StringIO(_utf8(path, form.encoding).decode("utf-8-sig"), newline="")
    reader = csv.reader(text, delimiter=form.delimiter or ",", strict=True)
    blank: list[tuple[int, list[str]]] = []
    for fields in reader:
        if fields:
            yield from blank
            blank = []
            yield reader.line_num, fields
        else:
            blank.append((reader.line_num, fields))


def _records(path: Path, form: Form) -> int:
    return sum(1 for _ in _lines(path, form)) - 1


def _faults(path: Path, form: Form, names: Sequence[str], *, unknown_is_fine: bool = False) -> list[str]:
    """What is wrong with a text file, by line; never with what stands in it."""
    found, more = [], 0
    try:
        for line, fields in _lines(path, form):
            if len(fields) != len(names):
                more += 1
                if more <= FEW:
                    found.append(f"{path}: line {line} has {len(fields)} fields, the header has {len(names)}")
    except UnicodeDecodeError as fault:
        raw = _utf8(path, form.encoding)
        return [_undecodable(path, form.encoding, raw.count(b"\n", 0, fault.start) + 1)]
    except csv.Error:
        return [*found, f"{path}: a quoted field is not closed, or text follows its closing quote"]
    if more > FEW:
        found.append(f"{path}: and {more - FEW} more lines like these")
    if not found and not unknown_is_fine:
        found.append(f"{path}: this cannot be read as {form.format} with delimiter {form.delimiter!r}")
    return found


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:FEW])
    return shown + (f" and {len(names) - FEW} more" if len(names) > FEW else "")
