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
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from privet import equality, native, parts
from privet.core import Form
from privet.engine import SUFFIX
from privet.engines import flatjson, packed, parquet
from privet.engines.frames import WORDLESS, WORDLESS_SAID, as_bytes, refuse_timeless
from privet.engines.panic import unpanicked
from privet.engines.sound import refuse_unsound
from privet.engines.text import (
    COMPOSED,
    DELIMITERS,
    FEW,
    FORMATS,
    LONGEST_FIELD,
    NESTED,
    NOTATIONS,
    PACKED,
    complain_about_missing,
    flat_lines,
    header,
    is_utf8,
    listed,
    refuse_patterns,
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
    "opened",
    "read",
    "refuse_patterns",
    "settled",
    "sniff",
    "write",
]

PATTERN = frozenset("*?[")  # letters by which polars takes a name for a pattern


def read(
    path: Path, form: Form, columns: Iterable[str] | None = None, *, empty: bool = False
) -> pl.DataFrame:
    """The table in a file, with only the columns that are asked for; without a record only if it may be.

    A folder is read as its parts, one after the other; each has the columns of the first.
    """
    if path.is_dir():
        return _read_parts(path, form, columns, empty=empty)
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


def _read_parts(folder: Path, form: Form, columns: Iterable[str] | None, *, empty: bool) -> pl.DataFrame:
    wanted = None if columns is None else list(columns)
    found: list[pl.DataFrame] = []
    for part in parts.listed(folder):
        frame = read(part, form, wanted, empty=True)
        if found and frame.schema.keys() == found[0].schema.keys():
            frame = frame.select(found[0].columns)  # by their names, in whatever order they stand
            # In JSON lines nothing says of what type a column without a value is: the other parts do.
            found = [_typed_as(one, frame.schema) for one in found]
            frame = _typed_as(frame, found[0].schema)
        if found and frame.schema != found[0].schema:
            raise InputError(f"{part}: has other columns than the parts before it, or columns of other types")
        found.append(frame)
    frame = pl.concat(found)
    if not frame.height and not empty:
        raise InputError(f"{folder}: the parts have not one record")
    return frame


def _typed_as(frame: pl.DataFrame, schema: pl.Schema) -> pl.DataFrame:
    """Columns without a type have that of this schema."""
    untyped = [name for name, kind in frame.schema.items() if kind == pl.Null and schema[name] != pl.Null]
    return frame.with_columns(frame.get_column(name).cast(schema[name]) for name in untyped)


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


def opened(path: Path) -> Path | bytes:
    """What polars can read: a name is UTF-8 to it, whatever the locale says, and has no bytes but letters.

    `*`, `?` and `[` in a name would make it a pattern, which stands for other files.
    """
    try:
        plain = str(path).encode() == os.fsencode(path)
    except UnicodeEncodeError:
        plain = False
    return path if plain and not PATTERN & set(str(path)) else path.read_bytes()


def _read_text(path: Path, form: Form, wanted: Sequence[str] | None) -> pl.DataFrame:
    names = header(path, form)
    if wanted is not None:
        complain_about_missing(str(path), wanted, names, form.delimiter)
    source: Path | bytes = opened(path)
    if path.suffix == ".gz" or not is_utf8(form.encoding):
        source = utf8(path, form.encoding)
    refuse_patterns(str(path), names)
    chosen = names if wanted is None else [name for name in names if name in wanted]
    if 0 < len(chosen) < len(names) and (lines := even_lines(source, form, len(names))) is not None:
        frame = _parsed(path, source, form, names, chosen)
        if frame.height == lines - form.header:
            return frame
    # Every column is read, whatever is wanted: only then does polars refuse a row that is too long, and
    # a comma in a name that is not quoted would move what identifies into a column that is published.
    frame = _parsed(path, source, form, names, names)
    last = frame.get_column(names[-1])
    # In a file with one column a blank line is a record: that is how its null is written.
    if len(names) == 1:
        return frame
    # A null in the last column may be a row that ends too soon.
    if (last.null_count() or (last == "").any()) and not surely_even(source, form, len(names), frame.height):
        faults = _faults(path, form, names, unknown_is_fine=True)
        if faults:
            raise InputError(*faults)
        frame = frame.head(_records(path, form))
    return frame.select(chosen)


def _parsed(
    path: Path, source: Path | bytes, form: Form, names: Sequence[str], chosen: Sequence[str]
) -> pl.DataFrame:
    """Some columns of a text file, as polars finds them."""
    try:
        frame = pl.read_csv(
            source,
            columns=None if chosen is names else [names.index(name) for name in chosen],
            separator=form.delimiter or ",",
            infer_schema=False,
            has_header=form.header,
            null_values=[token for token in form.nulls if token] or None,
            empty_string_is_null="" in form.nulls,
            encoding="utf8",
        )
    except pl.exceptions.PolarsError:
        raise InputError(*_faults(path, form, names)) from None
    if frame.width != len(chosen):  # a quote in the header that polars and we read in two ways
        raise InputError(f"{path}: the header cannot be read: is a quote left open in it?")
    frame.columns = list(chosen)  # polars leaves doubled quotes in a header as they are
    return frame


def _read_typed(path: Path, form: Form, wanted: Sequence[str] | None) -> pl.DataFrame:
    if form.format in PACKED:
        return _some(path, packed.read(path, form), wanted)
    try:
        lines = form.format in {"json", "jsonl"}
        frame = _read_json(path, form, wanted) if lines else _read_columns(path, form)
    except (pl.exceptions.PolarsError, OSError, EOFError, ValueError, zlib.error):
        raise InputError(f"{path}: this cannot be read as {form.format}") from None
    frame = _some(path, composed(frame), wanted)
    if form.format in {"json", "jsonl"} and wanted is not None:
        frame = frame.select(wanted)  # not as the first line has its keys: that would tell who came first
    refuse_nested(str(path), frame)
    refuse_timeless(str(path), frame)
    return frame


def _read_json(path: Path, form: Form, wanted: Sequence[str] | None) -> pl.DataFrame:
    if form.format == "json":
        return flatjson.read(path, flat_lines(path, utf8(path, "utf-8")), "record", wanted)
    source = utf8(path, "utf-8") if path.suffix == ".gz" else opened(path)
    return flatjson.read(path, source, "line", wanted)


def _read_columns(path: Path, form: Form) -> pl.DataFrame:
    source = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else opened(path)
    refuse_unsound(source, str(form.format))
    with unpanicked():
        return pl.read_parquet(source) if form.format == "parquet" else pl.read_ipc(source)


def refuse_nested(place: str, frame: pl.DataFrame) -> None:
    """A cell of a table is one value: what holds more is named, with what to do."""
    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    if nested:
        raise InputError(f"{place}: {NESTED.format(listed(nested))}")


def composed(frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with the names of its columns as policies compare them: é is one letter, however composed."""
    names = {name: equality.name(name) for name in frame.columns}
    if all(name == other for name, other in names.items()):
        return frame
    if len(set(names.values())) < len(names):
        raise InputError(COMPOSED)
    return frame.rename(names)


def _some(path: Path, frame: pl.DataFrame, wanted: Sequence[str] | None) -> pl.DataFrame:
    refuse_patterns(str(path), frame.columns)
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
    _no_lost_values(frame, form)
    if form.format not in {"parquet", "arrow"}:
        # In the texts by which values are counted: a writer of text has spellings of its own for these.
        frame = frame.with_columns(
            pl.col(name).cast(pl.String)
            for name, dtype in frame.schema.items()
            if dtype.base_type() in {pl.Datetime, pl.Time}
        )
    gzipped = target.suffix == ".gz"
    with io.BytesIO() if gzipped else target.open("wb") as out:
        if form.format in {"csv", "tsv"}:
            frame.write_csv(
                out,
                separator=form.delimiter or ("\t" if form.format == "tsv" else ","),
                null_value=form.nulls[0] if form.nulls else "",
            )
        elif form.format == "parquet":
            parquet.write(frame, out)
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


def _no_lost_values(frame: pl.DataFrame, form: Form) -> None:
    """What a format cannot say would be another table than was checked, or no table at all."""
    if form.format in {"parquet", "arrow"}:
        return
    complaints = [
        f"{WORDLESS_SAID.format(name)}; leave it out, or say --to parquet"
        for name, dtype in frame.schema.items()
        if dtype.base_type() in WORDLESS
    ]
    if form.format == "jsonl":
        complaints += [
            f"column {name!r} holds numbers that are not finite, which JSON cannot say; say --to parquet"
            for name, dtype in frame.schema.items()
            if dtype.is_float() and not frame.get_column(name).drop_nulls().is_finite().all()
        ]
    if complaints:
        raise InputError(*complaints)


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
    whole, packed = target.read_bytes(), target.suffix == ".gz"
    text = (gzip.decompress(whole) if packed else whole).decode()
    # A label of ours that the encoding lacks must not stop a release at its last step.
    coded = text.encode(encoding, errors="xmlcharrefreplace")
    target.write_bytes(gzip.compress(coded, mtime=0) if packed else coded)  # packed without a name and a time


def _no_endless_fields(path: Path, frame: pl.DataFrame) -> pl.DataFrame:
    # By columns, not by names: one that is called "*" would be every column.
    found = [column for column in frame.get_columns() if column.dtype == pl.String]
    if found:
        texts, longest = [column.name for column in found], [column.str.len_bytes().max() for column in found]
        faults = [
            f"{path}: column {name!r} has a field of {length:,} bytes; at most {LONGEST_FIELD:,} are read "
            "(is a quote not closed?)"
            for name, length in zip(texts, longest, strict=True)
            if isinstance(length, int) and length > LONGEST_FIELD
        ]
        if faults:
            raise InputError(*faults)
    return frame


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


def even_lines(source: Path | bytes, form: Form, fields: int) -> int | None:
    """How many lines there are if all have these fields and no reader could see it otherwise; or None.

    Where all have, columns that nobody wants need not be read. None says nothing: there may be an odd quote,
    or the compiled loops are not built.
    """
    delimiter = (form.delimiter or ",").encode()
    if native.library() is None or len(delimiter) != 1 or fields == 1:
        return None
    raw = as_bytes(source)
    found = native.call("privet_even_lines", raw, len(raw), delimiter[0], fields)
    return None if found < 0 else found


def surely_even(source: Path | bytes, form: Form, fields: int, records: int) -> bool:
    """Has every line all its delimiters? A quick count that is sure only where nothing is quoted."""
    raw = as_bytes(source)
    if np.count_nonzero(raw == ord('"')):
        return False
    delimiters = int(np.count_nonzero(raw == ord(form.delimiter or ",")))
    return delimiters == (fields - 1) * (records + form.header)
