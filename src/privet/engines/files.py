"""Files in and out: CSV, TSV, Parquet, JSON lines and Arrow, plain or gzipped, through polars; workbooks and
the files of Stata, SPSS and SAS through `packed`.

Text files are read as text: nothing is guessed about types, so that a column that only passes through
("007", "1.50") leaves as it came. What polars says when it fails quotes the data, so its messages are
never repeated; the place of a fault is found again by a slow second look, line numbers only.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from privet.core import Form
from privet.engine import SUFFIX
from privet.engines import packed
from privet.engines.text import (
    DELIMITERS,
    FEW,
    FORMATS,
    LONGEST_FIELD,
    NOTATIONS,
    PACKED,
    complain_about_missing,
    header,
    is_utf8,
    listed,
    settled,
    sniff,
    undecodable,
    utf8,
)
from privet.errors import InputError

__all__ = [
    "DELIMITERS",
    "FORMATS",
    "SUFFIX",
    "as_said",
    "complain_about_missing",
    "header",
    "read",
    "settled",
    "sniff",
    "write",
]


def read(
    path: Path, form: Form, columns: Iterable[str] | None = None, *, empty: bool = False
) -> pl.DataFrame:
    """The table in a file, with only the columns that are asked for; without a record only if it may be."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    wanted = None if columns is None else list(dict.fromkeys(columns))
    if not path.stat().st_size and not (empty and form.format == "jsonl"):
        raise InputError(f"{path}: the file is empty")
    form = settled(path, form)
    if empty and form.format == "jsonl" and path.stat().st_size < 64 and not utf8(path, "utf-8").strip():
        return pl.DataFrame(schema=dict.fromkeys(wanted or (), pl.String))  # nothing names its columns
    if form.format in {"csv", "tsv"}:
        frame = _read_text(path, form, wanted)
    else:
        frame = _read_typed(path, form, wanted)
    if not frame.height and not empty:
        raise InputError(f"{path}: there is a header but not one record")
    return _no_endless_fields(path, as_said(frame, form))


def as_said(frame: pl.DataFrame, form: Form) -> pl.DataFrame:
    """Numbers as privet reads them, and null where the form says that a token of a column means it."""
    if form.trim:
        texts = pl.col(pl.String).str.strip_chars(" ")
        frame = frame.with_columns(
            pl.when(texts.is_in(list(form.nulls))).then(None).otherwise(texts).name.keep()
        )
    for name, tokens in form.missing.items():
        if name in frame.columns:
            column = pl.col(name)
            said = column.cast(pl.String).is_in(list(tokens))
            frame = frame.with_columns(pl.when(said).then(None).otherwise(column).alias(name))
    for name, notation in form.numbers.items():
        if name in frame.columns and frame.schema[name] == pl.String:
            how, column = NOTATIONS[notation], pl.col(name)
            plain = column
            for mark in how.thousands:
                plain = plain.str.replace_all(mark, "", literal=True)
            plain = plain.str.replace(how.decimal, ".", literal=True)
            whole = column.str.contains(f"^(?:{how.pattern})$")
            frame = frame.with_columns(pl.when(whole).then(plain).otherwise(column).alias(name))
    return frame


def _read_text(path: Path, form: Form, wanted: Sequence[str] | None) -> pl.DataFrame:
    names = header(path, form)
    if wanted is not None:
        complain_about_missing(str(path), wanted, names, form.delimiter)
    source: Path | bytes = path
    if path.suffix == ".gz" or not is_utf8(form.encoding):
        source = utf8(path, form.encoding)
    try:
        # Every column is read, whatever is wanted: only then does polars refuse a row that is too long, and
        # a comma in a name that is not quoted would move what identifies into a column that is published.
        frame = pl.read_csv(
            source,
            separator=form.delimiter or ",",
            infer_schema=False,
            has_header=form.header,
            null_values=[token for token in form.nulls if token] or None,
            empty_string_is_null="" in form.nulls,
            encoding="utf8",
        )
    except pl.exceptions.PolarsError:
        raise InputError(*_faults(path, form, names)) from None
    frame.columns = names  # polars leaves doubled quotes in a header as they are
    last = frame.get_column(names[-1])
    # In a file with one column a blank line is a record: that is how its null is written.
    if len(names) == 1:
        return frame
    # A null in the last column may be a row that ends too soon.
    if (last.null_count() or (last == "").any()) and not _even(source, form, len(names), frame.height):
        faults = _faults(path, form, names, unknown_is_fine=True)
        if faults:
            raise InputError(*faults)
        frame = frame.head(_records(path, form))
    return frame if wanted is None else frame.select([name for name in names if name in wanted])


def _read_typed(path: Path, form: Form, wanted: Sequence[str] | None) -> pl.DataFrame:
    if form.format in PACKED:
        return _some(path, packed.read(path, form), wanted)
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
    frame = _some(path, frame, wanted)
    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    if nested:
        raise InputError(
            f"{path}: column {listed(nested)} holds lists or objects; a table holds single values: leave it "
            "out of the file, or write what it holds into columns of its own"
        )
    return frame


def _some(path: Path, frame: pl.DataFrame, wanted: Sequence[str] | None) -> pl.DataFrame:
    if wanted is None:
        return frame
    complain_about_missing(str(path), wanted, frame.columns, None)
    return frame.select([name for name in frame.columns if name in wanted])


def write(frame: pl.DataFrame, target: Path, form: Form) -> None:
    """Write the table as the form says; nulls become the first null token."""
    if form.format in PACKED:
        packed.write(frame, target, form)
        return
    _no_mistaken_nulls(frame, form)
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
                gzip.GzipFile(fileobj=raw, mode="wb", filename="", mtime=0) as zipped,
            ):
                zipped.write(out.getbuffer())
    if form.format in {"csv", "tsv"} and not is_utf8(form.encoding):
        _reencode(target, form.encoding)


def _no_mistaken_nulls(frame: pl.DataFrame, form: Form) -> None:
    """A text that reads like a null token would come back as null: another table than was checked."""
    tokens = [token for token in form.nulls if token]  # an empty text is quoted, an empty field is not
    texts = [name for name, dtype in frame.schema.items() if dtype in {pl.String, pl.Enum}]
    if form.format not in {"csv", "tsv"} or not tokens or not texts:
        return
    mistaken = frame.select(pl.col(texts).cast(pl.String).is_in(tokens).any()).row(0)
    complaints = [
        f"column {name!r} holds a text that is also a null token; say other tokens (form.nulls), or write "
        "another format"
        for name, found in zip(texts, mistaken, strict=True)
        if found
    ]
    if complaints:
        raise InputError(*complaints)


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


def _even(source: Path | bytes, form: Form, fields: int, records: int) -> bool:
    """Has every line all its delimiters? A quick count that is sure only where nothing is quoted."""
    raw = np.frombuffer(source, np.uint8) if isinstance(source, bytes) else np.memmap(source, np.uint8, "r")
    if np.count_nonzero(raw == ord('"')):
        return False
    delimiters = int(np.count_nonzero(raw == ord(form.delimiter or ",")))
    return delimiters == (fields - 1) * (records + form.header)


def _lines(path: Path, form: Form) -> Iterator[tuple[int, list[str]]]:
    """Line numbers and fields, as the csv module sees them; blank lines at the end left out."""
    text = io.StringIO(utf8(path, form.encoding).decode("utf-8-sig"), newline="")
    reader = csv.reader(text, delimiter=form.delimiter or ",", strict=True)
    blank: list[tuple[int, list[str]]] = []
    usual = csv.field_size_limit(1 << 30)  # the limit is the csv module's own, for everybody
    try:
        for fields in reader:
            if fields:
                yield from blank
                blank = []
                yield reader.line_num, fields
            else:
                blank.append((reader.line_num, fields))
    finally:
        csv.field_size_limit(usual)


def _records(path: Path, form: Form) -> int:
    return sum(1 for _ in _lines(path, form)) - form.header


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
        raw = utf8(path, form.encoding)
        return [undecodable(path, form.encoding, raw.count(b"\n", 0, fault.start) + 1)]
    except csv.Error:
        return [*found, f"{path}: a quoted field is not closed, or text follows its closing quote"]
    if more > FEW:
        found.append(f"{path}: and {more - FEW} more lines like these")
    if not found and not unknown_is_fine:
        found.append(f"{path}: this cannot be read as {form.format} with delimiter {form.delimiter!r}")
    return found
