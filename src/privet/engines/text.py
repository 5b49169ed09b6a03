"""What every reader of text files must know: formats by their endings, delimiters, encodings, headers.

Pure Python, so that `embedded` and `plain` refuse the same files in the same words.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from privet import equality, parts
from privet.core import Form
from privet.engine import SUFFIX, unwritable
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
    ".json": "json",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".xlsb": "xlsx",
    ".xls": "xlsx",
    ".ods": "xlsx",
    ".dta": "stata",
    ".sav": "spss",
    ".zsav": "spss",
    ".sas7bdat": "sas",
    ".xpt": "sas",
}
# What is read and not written, and what it leaves as.
READ_ONLY = {"xlsx": "csv", "sas": "csv", "json": "jsonl"}
TEXTS = frozenset({"csv", "tsv"})  # formats in which everything is text
PACKED = ("xlsx", "sas", "stata", "spss")  # read through libraries of their own, by the embedded engine
DELIMITERS = (",", ";", "\t", "|")
LONGEST_FIELD = 131_072  # bytes; what a longer one is, is a broken quote
SCHEMES = ("sqlite", "postgresql", "postgres")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]+://|table:|jdbc:|dbfs:/")
HEADER = 1 << 14  # bytes that are looked at first for the line with the names
_EXCELS = re.compile(rb"(?:\xef\xbb\xbf)?\"?sep=.\"?\r?\n", re.IGNORECASE)
NESTED = (
    "column {} holds lists or objects; a table holds single values: leave it out, or write what it holds "
    "into columns of its own"
)
DOCUMENTS = (
    "{}: record {} holds lists or objects; a table holds single values: these are documents, which "
    "`privet init FILE --kind documents` drafts"
)
KEYLESS = "{}: no {} has a key: there is no column"
COMPOSED = "two columns have names that differ only in how Unicode composes a letter; rename one"
FEW = 5  # complaints of one kind; the rest is a number


@dataclass(frozen=True, slots=True)
class Notation:
    """How a column writes numbers, where it is not 1234.5."""

    pattern: str  # what a number looks like, whole
    thousands: str  # each of these characters only groups digits
    decimal: str


_WHOLE = r"[+-]?(?:[0-9]{{1,3}}(?:[{0}][0-9]{{3}})+|[0-9]+)(?:{1}[0-9]+)?"
_BLANKS = " \u00a0\u202f\u2009"
NOTATIONS = {
    "1.234,5": Notation(_WHOLE.format(".", ","), ".", ","),
    "1,234.5": Notation(_WHOLE.format(",", r"\."), ",", "."),
    "1 234,5": Notation(_WHOLE.format(_BLANKS, ","), _BLANKS, ","),
    "1 234.5": Notation(_WHOLE.format(_BLANKS, r"\."), _BLANKS, "."),
    "1'234.5": Notation(_WHOLE.format("'\u2019", r"\."), "'\u2019", "."),
}


def refuse_blank(source: object) -> None:
    """An empty text is the path of the folder that we happen to be in: nobody means that."""
    if isinstance(source, str) and not source.strip():
        raise InputError("the source is an empty text; say a path or a URL, or give a table")


def is_url(source: object) -> bool:
    """Does this name a database rather than a file?"""
    return isinstance(source, str) and source.split("://", 1)[0] in SCHEMES and "://" in source


def is_elsewhere(source: object) -> bool:
    """Does this name a place that a cluster opens, not this process: s3a://…, hdfs://…, table:…, jdbc:…?"""
    if not isinstance(source, str) or is_url(source) or _ELSEWHERE.match(source) is None:
        return False
    return not Path(source).exists()  # a file may be called so


def settled_elsewhere(source: str, form: Form) -> Form:
    """The same of what this process does not open: by its name, and columns rather than text."""
    ending = FORMATS.get(Path(source.removesuffix("/").removesuffix(".gz")).suffix.lower())
    kind = form.format or (ending if "://" in source else None) or "parquet"
    delimiter = form.delimiter or {"csv": ",", "tsv": "\t"}.get(kind)
    return replace(form, format=kind, delimiter=delimiter, gzip=False)


def settled(path: Path, form: Form) -> Form:
    """The form with everything said that was left to be guessed; of a folder of parts, by its first."""
    if path.is_dir():
        return replace(settled(parts.listed(path)[0], form), gzip=False)
    name = path.with_suffix("") if path.suffix == ".gz" else path
    kind = form.format or FORMATS.get(name.suffix.lower())
    known = sorted({*SUFFIX, *READ_ONLY})
    if kind is None:
        raise InputError(f"{path}: {one_of('format', known, path.suffix or 'no ending')}; say --format")
    if kind not in known:
        raise InputError(f"{path}: {one_of('format', known, kind)}")
    if wrong := [
        f"form.numbers.{n}: {one_of('it', list(NOTATIONS), said)}"
        for n, said in form.numbers.items()
        if said not in NOTATIONS
    ]:
        raise InputError(*wrong)
    if wrong := unwritable(form):
        raise InputError(*(f"{path}: {complaint}" for complaint in wrong))
    delimiter = form.delimiter
    if kind in {"csv", "tsv"} and delimiter is None:
        delimiter = "\t" if kind == "tsv" else sniff(header_line(path, form.encoding))
    return replace(form, format=kind, delimiter=delimiter, gzip=path.suffix == ".gz" and kind not in PACKED)


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
    """The column names of a text file, each once."""
    return naming(first_fields(path, form), said=form.header)


def first_fields(path: Path, form: Form) -> list[str]:
    """What stands in the first line, field by field."""
    line = header_line(path, form.encoding)
    if not line.strip():
        raise InputError(f"{path}: the file is empty")
    fields = _fields(line, form.delimiter or ",")
    if not fields:
        raise InputError(f"{path}: line 1: this is not a header of column names")
    return fields


def naming(fields: Sequence[str], *, said: bool = True) -> list[str]:
    """A name for every column: as the file says it without blanks around it; unnamed ones (pandas and R leave
    the first unnamed) by their number; one that stands more than once with a number behind it.

    >>> naming(["", " age ", "score", "score"])
    ['column_1', 'age', 'score', 'score_2']
    >>> naming(["39", "Private"], said=False)
    ['column_1', 'column_2']
    """
    stripped = [equality.name(field.strip()) if said else "" for field in fields]
    wanted = [name or f"column_{at}" for at, name in enumerate(stripped, start=1)]
    taken, met, names = set(wanted), dict.fromkeys(wanted, 0), []
    for name in wanted:
        met[name] += 1
        own = name
        while met[name] > 1 and (own := f"{name}_{met[name]}") in taken:
            met[name] += 1
        taken.add(own)
        names.append(own)
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


def refuse_patterns(place: str, names: Iterable[str]) -> None:
    """A column called `*` or `^…$` would be read as a pattern by polars, and stand for other columns too.

    Whichever engine reads it: a release is verified by one that has polars.
    """
    if any(name == "*" or (name.startswith("^") and name.endswith("$")) for name in names):
        raise InputError(
            f"{place}: a column is called * or ^…$, which would mean other columns too: rename it, or give "
            "the file a header if it has none"
        )


def is_utf8(encoding: str) -> bool:
    return encoding.lower().replace("-", "").replace("_", "") in {"utf8", "utf8sig"}


def opened(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")  # type: ignore[return-value] # a GzipFile reads bytes


def header_line(path: Path, encoding: str) -> str:
    """The first line; refused where the file is not a text."""
    try:
        with opened(path) as file:
            start = file.read(1 << 20)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (OSError, EOFError, zlib.error):
        raise InputError(f"{path}: this cannot be read; is it really what its name says?") from None
    if b"\x00" in start and not encoding.lower().replace("-", "").startswith(("utf16", "utf32")):
        raise InputError(f"{path}: this is not a text file (it holds NUL bytes)")
    if _EXCELS.match(start):
        raise InputError(
            f"{path}: line 1 is a note for Excel about the delimiter (sep=), not a header; remove that line"
        )
    lines = ""
    for part in (start[:HEADER], start):  # few headers are long, and decoding takes its time
        try:
            text = part.decode("utf-8-sig" if is_utf8(encoding) else encoding, errors="ignore")
        except (LookupError, UnicodeError):  # "idna" and its like are codecs too, and not for files
            raise InputError(f"{path}: there is no encoding {encoding!r} of text files") from None
        lines = io.StringIO(text, newline="").readline()
        while lines.count('"') % 2 and len(lines) < len(text):  # a quoted name may hold a line break
            lines += io.StringIO(text[len(lines) :], newline="").readline()
        if len(lines) < len(text):  # it ends within this part
            break
    return lines.rstrip("\r\n")


def utf8(path: Path, encoding: str) -> bytes:
    """The whole file, unpacked and in UTF-8."""
    try:
        with opened(path) as file:
            raw = file.read()
    except (OSError, EOFError, zlib.error):
        raise InputError(f"{path}: this cannot be unpacked; is it really gzip?") from None
    if is_utf8(encoding):
        return raw
    try:
        return raw.decode(encoding).encode()
    except UnicodeDecodeError as fault:
        raise InputError(undecodable(path, encoding, raw.count(b"\n", 0, fault.start) + 1)) from None
    except (LookupError, UnicodeError):
        raise InputError(f"{path}: there is no encoding {encoding!r} of text files") from None


# One object that holds no other and no list, up to its closing brace; nothing is tried twice.
_FLAT = re.compile(rb'[ \t\r\n]*+\{(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+\}[ \t\r\n]*+', re.DOTALL)


def flat_lines(path: Path, raw: bytes) -> bytes:
    """Flat objects in an array, or one after the other, as JSON lines: each object as it was written.

    Whether they are JSON is for whoever reads the lines. Line breaks become tabs: between the parts of an
    object one is as good as the other, and within a text neither is JSON.
    """
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    opening = re.match(rb"[ \t\r\n]*+\[", raw)
    at, end, lines = (opening.end() if opening else 0), len(raw.rstrip(b" \t\r\n")), list[bytes]()
    while at < end:
        found = _FLAT.match(raw, at)
        if found is None:
            raise _no_flat(path, raw, at, len(lines) + 1)
        lines.append(found[0].strip().replace(b"\r", b"\t").replace(b"\n", b"\t"))
        at = found.end()
        if opening:
            last = raw[at : at + 1]
            if last == b"]" and at + 1 == end:
                break
            if last != b",":
                raise InputError(f"{path}: record {len(lines)}: neither comma nor end after it: not JSON")
            at += 1
    if not lines or (opening and raw[at : at + 1] != b"]"):
        raise InputError(f"{path}: the file ends too soon: this is not JSON with a record in it")
    return b"\n".join(lines) + b"\n"


def _no_flat(path: Path, raw: bytes, at: int, record: int) -> InputError:
    """Is it an object that holds others, or none at all?"""
    begin = re.compile(rb'[ \t\r\n]*+\{(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+[{\[]', re.DOTALL)
    if begin.match(raw, at):
        return InputError(DOCUMENTS.format(path, record))
    return InputError(f"{path}: record {record} is no object with a value for each column, or is not JSON")


def undecodable(path: Path, encoding: str, line: int) -> str:
    return f"{path}: line {line} is not {encoding}; correct it, or say --encoding, for example cp1252"


def listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:FEW])
    return shown + (f" and {len(names) - FEW} more" if len(names) > FEW else "")
