"""Documents in and out: files, tables joined by keys, plain objects; what leaves has the form of what came.

A file is read record by record. What is to leave is written to a folder of its own and read again from
there, as its recipient will read it; a folder like any other holds it only once everything is checked.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from privet.core import Form
from privet.declared import Order
from privet.document.forest import Forest, Vertex
from privet.document.schema import Places, Schema
from privet.domain import Value
from privet.engine import SUFFIX, Engine, suffix
from privet.engines import text
from privet.engines.documents import files, jsontext
from privet.engines.documents.bind import JsonBinder
from privet.engines.documents.jsontext import Number
from privet.engines.documents.shape import Shape
from privet.engines.documents.tables import from_frames, to_frames
from privet.engines.documents.xmltext import Frame, steps
from privet.errors import InputError, one_of
from privet.evidence import notes as ev
from privet.evidence.values import DataNote
from privet.placing import scratch
from privet.policy.values import Policy
from privet.roads.documents.shape import DocumentShape
from privet.roads.stations import file_of, handed_out, in_frame, source_digest, strict

TABLES = "tables"


def shape_of(policy: Policy) -> DocumentShape:
    shape: DocumentShape = policy.shape
    return shape


@dataclass(frozen=True)
class Written:
    """In which form records are written: a kind of file and its shape, or tables of some format."""

    kind: str  # json, jsonl, xml or tables
    shape: Shape = field(repr=False)
    gzip: bool = False
    form: Form = field(default_factory=Form)  # of tables

    @property
    def ending(self) -> str:
        return suffix(self.form) if self.kind == TABLES else f".{self.kind}" + (".gz" if self.gzip else "")

    def schema(self, schema: Schema) -> Schema:
        """The schema with the place of records in what is written."""
        if self.kind == TABLES:
            return schema
        place = self.shape.place
        at = Places(xml=place) if self.kind == "xml" else Places(None if self.kind == "jsonl" else place)
        return replace(schema, record=at)

    def to(self, output: str | None, schema: Schema) -> Written:
        """Another kind of file than the input's; None: as it came."""
        if output is None:
            return self
        kind, packed = output.removesuffix(".gz"), output.endswith(".gz")
        if self.kind == TABLES or kind not in files.FORMATS.values():
            known = sorted(SUFFIX if self.kind == TABLES else set(files.FORMATS.values()))
            if self.kind == TABLES and kind in SUFFIX:
                delimiter = self.form.delimiter if kind == self.form.format else None
                return replace(
                    self, form=strict(replace(self.form, format=kind, delimiter=delimiter, gzip=packed))
                )
            raise InputError(one_of("the format to write", known, output))
        if kind == self.kind:
            return replace(self, gzip=packed)
        if "xml" not in {kind, self.kind}:
            place = jsontext.LINES if kind == "jsonl" else schema.record.json or jsontext.ARRAY
            return replace(self, kind=kind, gzip=packed, shape=replace(self.shape, place=place))
        # How a field was written in the one says nothing about the other.
        if kind == "xml":
            place = schema.record.xml or f"/{schema.root}s/{schema.root}"
            way = steps(place)[:-1]
            made = Shape("xml", place, frame=Frame(way, [{} for _ in way]))
        else:
            made = Shape("json", jsontext.LINES if kind == "jsonl" else schema.record.json or jsontext.ARRAY)
        return Written(kind, made, packed)


@dataclass(frozen=True)
class Collected:
    """Records as they were read, and how they were written."""

    forest: Forest = field(repr=False)
    written: Written
    order: NDArray[np.int64] | None = field(default=None, repr=False)  # of the file's records, where sorted

    def arranged(self, policy: Policy) -> Collected:
        """The same in canonical order, unless the policy keeps theirs: no tie is decided by who was first."""
        if policy.order is Order.KEPT:
            return self
        # Where values must be diverse at every place, siblings that are sorted by their values would be the
        # same everywhere, and less could be published.
        plain = all(model.name == "document-k-anonymity" for model in policy.models)
        forest = self.forest.with_siblings_in_order(mixed=not plain)
        order = forest.in_order()
        return replace(self, forest=forest.take(order), order=order)

    def came(self, records: Iterable[int]) -> list[int]:
        """Where records stand in the file."""
        return [int(at) if self.order is None else int(self.order[at]) for at in records]


def collected(source: Any, policy: Policy, engine: Engine[Any]) -> Collected:
    """All records of a source as a forest; nothing but the forest is kept."""
    shape = shape_of(policy)
    if isinstance(source, (str, Path)):
        if text.is_url(source):
            raise InputError("documents come from files or from a folder of tables, not from a database")
        path = Path(source)
        return _tables(_in_folder(path, policy), policy, engine) if path.is_dir() else _file(path, policy)
    if isinstance(source, Mapping):
        return _tables(source, policy, engine)
    if isinstance(source, Iterable) and not isinstance(source, pl.DataFrame):
        learnt = Shape()
        binder = JsonBinder(shape.schema, learnt, "records", drop_undeclared=shape.undeclared == "drop")
        forest = Forest.of(shape.schema, (binder.record(as_read(one)) for one in source))
        return Collected(forest, Written("json", learnt))
    raise InputError("documents are a file, a folder or a table of tables, or a list of objects")


def distinct(source: Any, policy: Policy, engine: Engine[Any]) -> dict[str, tuple[Value, ...]]:
    """The different values of each field, as `type.field`, whether or not a hierarchy covers them."""
    shape = shape_of(policy)
    kinds = tuple(
        replace(kind, fields=tuple(replace(f, hierarchy=None) for f in kind.fields))
        for kind in shape.schema.kinds
    )
    bare = replace(policy, attributes=(), shape=replace(shape, schema=replace(shape.schema, kinds=kinds)))
    domains = collected(source, bare, engine).forest.domains
    return {f"{kind}.{name}": tuple(domain.values) for (kind, name), domain in domains.items()}


def _file(path: Path, policy: Policy) -> Collected:
    shape = shape_of(policy)
    kind = files.format_of(path, policy.form.format)
    schema = shape.schema
    if kind == "jsonl":  # records that follow each other stand at no place
        schema = replace(schema, record=Places(xml=schema.record.xml))
    documents = files.Documents(
        path, schema, kind, drop_undeclared=shape.undeclared == "drop", doctype=shape.doctype
    )
    forest = Forest.of(shape.schema, documents)
    return Collected(forest, Written(kind, documents.shape, path.suffix == ".gz"))


def _in_folder(folder: Path, policy: Policy) -> dict[str, Path]:
    """The file of each type; its name is the type's."""
    found = {}
    for kind in shape_of(policy).schema.kinds:
        there = [
            path
            for path in sorted(folder.iterdir())
            if path.name.split(".")[0] == kind.name
            and (path.with_suffix("") if path.suffix == ".gz" else path).suffix in text.FORMATS
        ]
        if len(there) != 1:
            raise InputError(
                f"{folder}: {len(there)} files for type {kind.name}; one is needed, such as {kind.name}.csv"
            )
        found[kind.name] = there[0]
    return found


def _tables(given: Mapping[str, Any], policy: Policy, engine: Engine[Any]) -> Collected:
    shape = shape_of(policy)
    form = policy.form
    for one in given.values():
        if isinstance(one, Path):
            form = text.settled(one, policy.form)
    frames = {
        name: in_frame(
            engine, engine.read(one, text.settled(one, policy.form) if isinstance(one, Path) else form)
        )
        for name, one in given.items()
        if name in shape.schema.position
    }
    records = from_frames(shape.schema, frames, shape.keys)
    written = strict(handed_out(replace(form, format=form.format or "csv")))
    return Collected(Forest.of(shape.schema, records), Written(TABLES, Shape(), form=written))


def as_read(value: Any) -> Any:
    """A plain object as the reader of JSON would have it: numbers by their text."""
    if isinstance(value, Mapping):
        return {str(key): as_read(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_read(item) for item in value]
    if value is None or isinstance(value, (str, bool, Number)):
        return value
    if isinstance(value, int | float):
        return Number(json.dumps(value))
    return Number(str(value)) if isinstance(value, Decimal) else str(value)


def digest_of(source: Any) -> str | None:
    """What the steward can recognise a source by; of a folder, its files together."""
    if isinstance(source, (str, Path)) and Path(source).is_dir():
        every = "".join(f"{path.name} {source_digest(path)}\n" for path in sorted(Path(source).iterdir()))
        return hashlib.sha256(every.encode()).hexdigest()
    return source_digest(source)


class Leaving:
    """What is about to leave, in a folder of its own that goes when nobody holds it any more."""

    def __init__(self) -> None:
        self.folder = scratch(self, "privet") / "leaving"  # nobody else may look into it
        self.folder.mkdir()
        self.notes = DataNote(file="", format=None, encoding="utf-8", nulls=())  # nothing is there yet

    def copied(self, to: Path) -> dict[str, Any]:
        for path in sorted(self.folder.iterdir()):
            shutil.copyfile(path, to / path.name)
        return self.notes.to_dict()


def laid_out(
    records: Callable[[], Iterable[Vertex]],
    policy: Policy,
    schema: Schema,
    written: Written,
    engine: Engine[Any],
) -> Leaving:
    """Write whole records, in the form in which they came."""
    leaving = Leaving()
    if written.kind == TABLES:
        leaving.notes = write_tables(
            to_frames(records(), schema, shape_of(policy).keys), leaving.folder, written, engine
        )
        return leaving
    name = f"data{written.ending}"
    files.write(records(), leaving.folder / name, schema, written.shape)
    leaving.notes = DataNote(file=name, format=written.kind, encoding="utf-8", nulls=())
    return leaving


def write_tables(
    frames: Mapping[str, pl.DataFrame], folder: Path, written: Written, engine: Engine[Any]
) -> DataNote:
    names = {}
    for name, frame in frames.items():
        names[name] = f"data.{name}{written.ending}"
        texts = frame.with_columns(pl.all().cast(pl.String))
        engine.write(engine.read(texts, written.form), folder / names[name], written.form)
    note = {"file": next(iter(names.values())), "tables": names, **ev.form_notes(written.form)}
    return DataNote.read(note, "data")


def read_tables(
    folder: Path, notes: DataNote, tables: Mapping[str, str], engine: Engine[Any]
) -> dict[str, pl.DataFrame]:
    return {
        name: in_frame(engine, engine.read(file_of(folder, file), notes.form))
        for name, file in tables.items()
    }


def read_again(folder: Path, notes: DataNote, policy: Policy, engine: Engine[Any]) -> Iterator[Vertex]:
    """Whole records as a recipient reads them; whatever the policy does not publish is refused."""
    shape = shape_of(policy)
    if notes.tables is not None:
        return iter(from_frames(shape.schema, read_tables(folder, notes, notes.tables, engine), shape.keys))
    path = file_of(folder, notes.file)
    return iter(files.Documents(path, shape.schema, str(notes.format)))
