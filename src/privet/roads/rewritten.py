"""Nothing beside the release: what was read, written again, is the file byte for byte.

A reader of records passes over much: keys beside them, comments, a number that is a text in one record only,
blanks, quotes that are not needed. Each of these can single out a record, or carry a whole table. Instead of
a list of what is refused there is one rule: in a text format a release has one spelling, that of privet.

Parquet, Arrow, Stata, SPSS and packed files have as many spellings as there are versions of what writes them.
One that is not ours byte for byte is marked: only what a reader of columns sees was checked, and that Parquet
carries no notes of its own. XML and JSON may carry words around the records (name spaces, the name of the
outermost element) that no promise speaks of: they are said with the verdict, and bounded.
"""

from __future__ import annotations

import io
import json
import re
import tempfile
from base64 import b64decode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from privet import parts
from privet.engine import Cluster, Engine
from privet.engines import text
from privet.engines.documents import files, publication_files
from privet.engines.documents.publication_tables import to_tables
from privet.engines.documents.shape import Shape
from privet.engines.documents.tables import to_frames
from privet.engines.embedded import Embedded
from privet.engines.files import opened
from privet.engines.sound import refuse_unsound
from privet.engines.transactions import frames, lines
from privet.errors import InputError
from privet.evidence import sealed
from privet.evidence.folder import named
from privet.evidence.values import DataNote
from privet.policy.values import Policy

CHUNK = 1 << 20
TEXTS = ("csv", "tsv", "jsonl")
TREES = ("json", "xml")
LISTS = "transactions"
HALVES = "tree-anatomy"
SCHEMA = "ARROW:schema"  # where a Parquet file keeps the types of its columns
USUAL = ("$[*]", "$", "")  # places of records that say nothing of themselves
MOST_WORDS, LONGEST_WORDS = 40, 300
SPARK_VERSION, SPARK_SCHEMA = "org.apache.spark.version", "org.apache.spark.sql.parquet.row.metadata"
_VERSION = re.compile(r"[0-9]{1,2}(\.[0-9]{1,3}){1,3}")
_TYPE = re.compile(r"[a-z_]{1,20}(\([0-9]{1,2},[0-9]{1,2}\))?")


@dataclass(frozen=True)
class Beside:
    """What data files hold that is not the records in their one spelling."""

    complaints: tuple[str, ...] = ()
    words: tuple[str, ...] = ()  # around the records, for the verdict's sentence
    unlooked: tuple[str, ...] = ()  # files of which not every byte was accounted for


def beside(folder: Path, notes: DataNote, policy: Policy, engine: Engine[Any]) -> Beside:
    """Look at every data file, and at every part where one is a folder of parts."""
    # One file is written again here, wherever tables are counted.
    writer = Embedded() if isinstance(engine, Cluster) else engine
    found = [
        _file(path, notes, policy, writer)
        for name in named(notes)
        for path in (parts.listed(folder / name) if (folder / name).is_dir() else [folder / name])
    ]
    joined = [] if notes.tables is None else list(_joined(folder, notes, policy, engine))
    return Beside(
        (*(one for each in found for one in each.complaints), *joined),
        tuple(dict.fromkeys(one for each in found for one in each.words)),
        tuple(one for each in found for one in each.unlooked),
    )


def _file(path: Path, notes: DataNote, policy: Policy, engine: Engine[Any]) -> Beside:
    kind = notes.format
    with tempfile.TemporaryDirectory(prefix="privet-") as made:
        if kind not in {*TEXTS, *TREES, "baskets"}:
            again = Path(made) / path.name
            _write_columns(path, again, notes, engine)
            same = _same(path, again)
            carried = tuple(_parquet(path)) if kind == "parquet" and not same else ()
            return Beside(carried, unlooked=() if same else (path.name,))
        # An ending that says nothing of packing: what is compared is the text.
        again = Path(made) / path.name.removesuffix(".gz")
        shape = _write(path, again, notes, policy, engine)
        same = _same(path, again)
    unlooked = (path.name,) if path.suffix == ".gz" and not sealed.packed_here(path) else ()
    wrong = f"{path.name} holds more than its records, or writes them in another way than privet does"
    words = [] if shape is None else list(_words(path.name, shape, policy))
    if len(words) > MOST_WORDS or any(len(one) > LONGEST_WORDS or not one.isprintable() for one in words):
        return Beside((*(() if same else (wrong,)), f"{path.name} carries a text around its records"))
    return Beside(() if same else (wrong,), tuple(words), unlooked)


def _words(name: str, shape: Shape, policy: Policy) -> Iterator[str]:
    """What a file of trees says around its records, and the policy does not."""
    spaces = (pair for each in (*shape.frame.declared, *shape.declared.values()) for pair in each.items())
    yield from dict.fromkeys(f"{name} declares {key} = {uri!r}" for key, uri in spaces)
    record = policy.shape.schema.record
    if shape.frame.way and record.xml is None:
        yield f"the records of {name} stand in /{'/'.join(shape.frame.way)}"
    elif not shape.frame.way and shape.place not in USUAL and record.json is None:
        yield f"the records of {name} stand at {shape.place}"


def _write_columns(path: Path, again: Path, notes: DataNote, engine: Engine[Any]) -> None:
    """Write a file of columns again, with all that a reader of columns sees in it."""
    try:
        refuse_unsound(path, str(notes.format))
        if notes.format == "parquet":
            pl.read_parquet(opened(path)).write_parquet(again)
        elif notes.format == "arrow":
            pl.read_ipc(opened(path)).write_ipc(again)
        else:
            engine.write(engine.read(path, notes.form, empty=True), again, notes.form)
    except (pl.exceptions.PolarsError, OSError, ValueError):
        raise InputError(f"{path}: this cannot be read as {notes.format}") from None


def _write(path: Path, again: Path, notes: DataNote, policy: Policy, engine: Engine[Any]) -> Shape | None:
    """Write the records of a file again; of trees, how they stood there."""
    form = notes.form
    if form.format == "baskets":
        lines.write(lines.read(path, form, policy.shape.separator), again, form, policy.shape.separator)
    elif policy.kind == "documents" and notes.tables is None:
        schema, shape = policy.shape.schema, Shape()
        if policy.algorithm.road == HALVES:
            publication = publication_files.read(path, schema, shape)
            publication_files.write(publication, again, _one_way(shape))
        else:
            documents = files.Documents(path, schema, form.format, shape=shape)
            records = list(documents)  # the shape is known when all were read
            files.write(records, again, schema, _one_way(shape))
        return shape
    elif policy.kind == LISTS and form.format == "jsonl":
        frames.typed(path, "jsonl").write_ndjson(again)
    else:
        engine.write(engine.read(path, form, empty=True), again, form)
    return None


def _joined(folder: Path, notes: DataNote, policy: Policy, engine: Engine[Any]) -> Iterator[str]:
    """Tables that are joined have the columns, the order and the keys of their trees written again."""
    from privet.roads.documents import anatomy, data  # noqa: PLC0415 - a table needs none of it

    theirs = data.read_tables(folder, notes, notes.tables or {}, engine)
    if policy.algorithm.road == HALVES:
        ours = dict(to_tables(anatomy.opened(folder, notes, policy, engine)))
    else:
        records = data.read_again(folder, notes, policy, engine)
        ours = to_frames(records, policy.shape.schema, policy.shape.keys)
    if list(theirs) != list(ours):
        yield "the release has other tables than its policy"
        return
    for name, frame in ours.items():
        # As texts: a file of texts has no other types.
        same = [one.cast({pl.Int64: pl.String}) for one in (frame, theirs[name])]
        if same[0].columns != same[1].columns or not same[0].equals(same[1]):
            yield f"table {name} holds more than its trees, or joins them in another way than privet does"


def _one_way(shape: Shape) -> Shape:
    """The shape that a release with these records was written in.

    A label among numbers is a text, and several children are a list where one stands alone; neither says that
    the others should.
    """
    for forms in shape.fields.values():
        if set(forms) - {"text", "null"}:
            forms.pop("text", None)
    for forms in shape.lists.values():
        if "object" in forms:
            forms.pop("array", None)
    return shape


def _same(path: Path, again: Path) -> bool:
    with text.opened(path) as left, text.opened(again) as right:
        while True:
            theirs, ours = _full(left), _full(right)
            if theirs != ours:
                return False
            if not theirs:
                return True


def _full(file: Any) -> bytes:
    """The next piece, whole: a packed file may give less than it is asked for."""
    made = io.BytesIO()
    while made.tell() < CHUNK and (piece := file.read(CHUNK - made.tell())):
        made.write(piece)
    return made.getvalue()


def _parquet(path: Path) -> Iterator[str]:
    try:
        notes = pl.read_parquet_metadata(path)
    except (pl.exceptions.PolarsError, OSError):
        raise InputError(f"{path}: this cannot be read as parquet") from None
    if set(notes) - {SCHEMA} - _of_spark(path, notes) or (SCHEMA in notes and _noted(notes[SCHEMA])):
        yield f"{path.name} carries notes beside its columns"


def _noted(schema: str) -> bool:
    """Do the types of columns carry notes? Told where pyarrow is there; else such a file is only marked."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
    except ImportError:
        return False
    try:
        found = pa.ipc.read_schema(pa.py_buffer(b64decode(schema)))
    except (ValueError, OSError, pa.ArrowException):
        return True
    return bool(found.metadata) or any(one.metadata for one in found)


def _of_spark(path: Path, notes: Mapping[str, str]) -> set[str]:
    """The notes that Spark leaves in every part, as far as they say nothing but the columns and a version."""
    fine = set()
    if _VERSION.fullmatch(notes.get(SPARK_VERSION, "")):
        fine.add(SPARK_VERSION)
    try:
        said: Any = json.loads(notes.get(SPARK_SCHEMA, "null"))
    except (ValueError, RecursionError):
        return fine
    fields = said.get("fields") if isinstance(said, dict) and said.keys() == {"type", "fields"} else None
    names = list(pl.read_parquet_schema(opened(path)))
    if isinstance(fields, list) and len(fields) == len(names) and all(map(_plain, fields, names)):
        fine.add(SPARK_SCHEMA)
    return fine


def _plain(field: Any, name: str) -> bool:
    """Does this describe the column, and say nothing else?"""
    rest = {"name": name, "nullable": True, "metadata": {}}
    kind = field.get("type") if isinstance(field, dict) else None
    return isinstance(kind, str) and _TYPE.fullmatch(kind) is not None and field == {**rest, "type": kind}
