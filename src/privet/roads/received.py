"""How a release is read by who received it: as its policy says, and in no other way.

Whoever may say how a file is read may say what it holds: where all values are "missing" there is one class.
So neither the evidence nor the file decides. The policy does, within bounds: one text at most stands for a
missing value (privet writes one), the encoding gives every text one spelling, and nothing is trimmed,
translated or left out on the way. What is not the strict default is said with the verdict.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from privet import parts
from privet.core import Form, Nulls
from privet.engine import SUFFIX
from privet.engines import text
from privet.engines.documents import files as documents
from privet.errors import InputError, TamperedError
from privet.evidence import sealed
from privet.evidence.folder import named
from privet.evidence.notes import form_notes
from privet.evidence.sealed import said
from privet.evidence.values import DataNote
from privet.policy.notation import fill
from privet.policy.values import Policy
from privet.release import read_private

BASKETS = "baskets"
ENDINGS = {**SUFFIX, BASKETS: ".basket", **{kind: f".{kind}" for kind in documents.FORMATS.values()}}
# Encodings in which one text has several spellings: two records that look different would read alike.
LOOSE = frozenset({"utf-7", "unicode-escape", "raw-unicode-escape", "idna", "punycode"})
CELLS, WORD = ("parquet", "arrow"), 8  # formats of columns, and the bytes that a value takes at least
WIDE = 1_000  # columns that a table may have beside those that its policy speaks of
LONGEST_TOKEN = 64  # characters of the text that stands for a missing value
UNSAID = ("query", "sheet", "trim", "numbers", "missing", "header")  # of a form: how a source was read


def read_as(notes: DataNote, policy: Policy) -> tuple[DataNote, list[str]]:
    """Where the data lies and how it is read, by the policy; and what the evidence says otherwise."""
    form, usual = policy.form, Form()
    complaints = [
        f"policy.toml: form.{name}: says how a source was read; a release is read as it stands"
        for name in UNSAID
        if getattr(form, name) != getattr(usual, name)
    ]
    if len(form.nulls) > 1:
        complaints.append("policy.toml: form.nulls: in a release one text at most stands for a missing value")
    if any(len(token) > LONGEST_TOKEN or not token.isprintable() for token in form.nulls):
        complaints.append("policy.toml: form.nulls: is a short text that can be shown")
    complaints += _encoding(form.encoding) + _delimiter(form.delimiter)
    if complaints:
        raise TamperedError(*complaints)
    kind = form.format if form.format is not None else notes.format
    complaints += _names(notes, kind)
    if complaints:
        raise TamperedError(*complaints)
    strict = replace(form, format=kind, nulls=form.nulls[:1])
    read = DataNote.read({**_files(notes), **form_notes(strict)}, "data")
    if read.to_dict() != notes.to_dict():
        complaints.append("data: the evidence says another way to read the data than the policy")
    return read, complaints


def spoken(policy: Policy) -> tuple[str, ...]:
    """What of the reading is not the strict default, for the verdict's sentence."""
    form, told = policy.form, []
    if form.format in {None, "csv", "tsv", BASKETS}:
        if form.nulls[:1] not in {(), ("",)}:
            told.append(f"missing values are written {form.nulls[0]!r}")
        if not text.is_utf8(form.encoding):
            told.append(f"the encoding is {form.encoding}")
        if form.format != "tsv" and form.delimiter not in {None, ","}:
            told.append(f"the delimiter is {form.delimiter!r}")
    if policy.nulls is not Nulls.VALUE:
        told.append("a missing value matches every value")
    if policy.publish_only:
        told.append("only some rows of a population have left")
    return tuple(told)


def refuse_endless(folder: Path, notes: DataNote, policy: Policy, limit: int) -> None:
    """Refuse data that is small as it lies there and too much when it is read."""
    complaints = []
    widest = WIDE + 2 * len(policy.attributes)
    for name in named(notes):
        path = folder / name
        if not path.is_file() and not (path.is_dir() and notes.parts is not None):
            complaints.append(f"{said(name)} is missing")
            continue
        every = parts.listed(path) if path.is_dir() else [path]
        if name.endswith(".gz"):
            complaints += sealed.unpack(every, limit)
        elif notes.format in CELLS:
            cells = sum(_cells(one, str(notes.format)) for one in every)
            if cells > limit // WORD:
                complaints.append(f"{said(name)} announces {cells:,} cells; --limit raises what is read")
            elif (letters := sum(_letters(one, str(notes.format)) for one in every)) > limit:
                complaints.append(
                    f"{said(name)} holds {letters:,} bytes of text; --limit raises what is read"
                )
        if not complaints and any(_columns(one, notes, widest) > widest for one in every):
            complaints.append(f"{said(name)} has more columns than any release of this policy")
    if complaints:
        raise TamperedError(*(f"{folder}: {complaint}" for complaint in complaints))


def _columns(path: Path, notes: DataNote, widest: int) -> int:
    """How many columns a table says that it has, before anybody who is slow with many of them reads it."""
    if notes.format in {"csv", "tsv"}:
        return len(text.first_fields(path, notes.form))
    most = 0
    if notes.format == "jsonl":
        with text.opened(path) as lines:
            for line in lines:
                if line.count(b'":') > widest:
                    with suppress(ValueError, RecursionError):  # whoever reads it says what is wrong
                        found = json.loads(line)
                        most = max(most, len(found) if isinstance(found, dict) else 0)
    return most


def _cells(path: Path, kind: str) -> int:
    """How many values a file of columns says that it holds, by its own description."""
    import polars as pl  # noqa: PLC0415 - loads the engine's library

    with _scanned(path, kind) as lazy:
        return len(lazy.collect_schema()) * int(lazy.select(pl.len()).collect().item())


def _letters(path: Path, kind: str) -> int:
    """How many bytes its texts have, written out: a long one that stands once may be meant by every row."""
    import polars as pl  # noqa: PLC0415 - loads the engine's library

    sizes = []
    with _scanned(path, kind) as lazy:
        for name, whole in lazy.collect_schema().items():
            inner = getattr(whole, "inner", None)  # of a list
            column, type_ = (pl.col(name), whole) if inner is None else (pl.col(name).explode(), inner)
            if type_ == pl.Binary:
                sizes.append(column.bin.size().cast(pl.UInt64).sum())
            elif type_ in {pl.String, pl.Categorical, pl.Enum}:
                sizes.append(column.cast(pl.String).str.len_bytes().cast(pl.UInt64).sum())
        return sum(int(lazy.select(one).collect().item() or 0) for one in sizes)


@contextmanager
def _scanned(path: Path, kind: str) -> Iterator[Any]:
    """A file of columns that is not read yet; whatever is asked of it may find that it is none."""
    import polars as pl  # noqa: PLC0415 - loads the engine's library

    from privet.engines.files import opened  # noqa: PLC0415 - which loads it, too
    from privet.engines.sound import refuse_unsound  # noqa: PLC0415 - beside it

    try:
        source = opened(path)
        refuse_unsound(path, kind)
        yield pl.scan_parquet(source) if kind == "parquet" else pl.scan_ipc(source)
    except (pl.exceptions.PolarsError, OSError, ValueError):
        raise InputError(f"{path}: this cannot be read as {kind}") from None


def at_home(folder: Path, policy: Policy) -> Policy:
    """The policy of a release with the form of its source, for who compares the two."""
    said = (read_private(folder) or {}).get("form")
    form = replace(policy.form, format=None, delimiter=None) if said is None else fill(Form, said)
    return replace(policy, form=form)


def _files(notes: DataNote) -> Mapping[str, Any]:
    named_here = {"file", "buckets", "counts", "tables", "parts"}
    return {key: value for key, value in notes.to_dict().items() if key in named_here}


def _names(notes: DataNote, kind: str | None) -> list[str]:
    """Names that privet gives: `data` and its like, with the ending of the format."""
    if kind not in ENDINGS:
        return ["policy.toml: form.format: is not one that a release has"]
    packed = ".gz" if notes.file.endswith(".gz") else ""
    wanted = {"file": "data", "buckets": "buckets", "counts": "counts"}
    stems = [stem for key, stem in wanted.items() if notes.get(key) is not None]
    expected = [f"{stem}{ENDINGS[kind]}{packed}" for stem in stems]
    if notes.tables is not None:
        expected = [f"data.{name}{ENDINGS[kind]}{packed}" for name in notes.tables]
        if notes.file != next(iter(expected), None):
            return ["evidence.json: data.file: is the first of the tables"]
    return [
        f"evidence.json: data: {said(name)} is not a name of a data file here"
        for name, right in zip(named(notes), expected, strict=False)
        if name != right
    ] + ([] if len(named(notes)) == len(expected) else ["evidence.json: data: names a file twice"])


def _encoding(encoding: str) -> list[str]:
    try:
        known = codecs.lookup(encoding)
        fine = known.name.replace("_", "-") not in LOOSE and bool(
            " ".encode(encoding)
        )  # raises where it is not one of texts
    except (LookupError, UnicodeError, TypeError):
        fine = False
    return [] if fine else ["policy.toml: form.encoding: is not one in which every text has one spelling"]


def _delimiter(delimiter: str | None) -> list[str]:
    if delimiter is None or (len(delimiter) == 1 and delimiter.isascii() and not delimiter.isalnum()):
        return []
    return ["policy.toml: form.delimiter: is one character, not a letter or a digit"]
