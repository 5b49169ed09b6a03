"""Collections of records in files: JSON arrays, JSON lines, MongoDB's exports and XML, plain or gzipped.

Reading is a stream: whoever consumes records one by one never holds the file.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from privet.document.forest import Vertex
from privet.document.schema import Schema
from privet.engines.documents import jsontext, xmltext
from privet.engines.documents.bind import JsonBinder, XmlBinder
from privet.engines.documents.shape import Shape, Writer
from privet.errors import InputError, one_of

FORMATS = {".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".xml": "xml"}


def format_of(path: Path, given: str | None = None) -> str:
    """What a file is, by its ending unless said."""
    name = path.with_suffix("") if path.suffix == ".gz" else path
    kind = given or FORMATS.get(name.suffix.lower())
    if kind is None:
        ending = path.suffix or "no ending"
        raise InputError(f"{path}: {one_of('format', sorted(set(FORMATS.values())), ending)}; say --format")
    if kind not in FORMATS.values():
        raise InputError(f"{path}: {one_of('format', sorted(set(FORMATS.values())), kind)}")
    return kind


def place_of(
    path: Path, schema: Schema | None = None, kind: str | None = None, *, doctype: bool = False
) -> str:
    """Where the records are: as the schema says, or as the file looks."""
    kind = format_of(path, kind)
    if kind == "xml":
        if schema is not None and schema.record.xml is not None:
            return schema.record.xml
        frame = xmltext.Frame()
        first = next(iter(xmltext.elements(path, None, frame, doctype=doctype)))
        return f"/{frame.way[0]}/{first.name}"
    if schema is not None and schema.record.json is not None:
        return schema.record.json
    return jsontext.LINES if kind == "jsonl" else jsontext.place_of_records(path)


@dataclass
class Documents:
    """The records of a file, one at a time; `shape` is complete when all were read."""

    path: Path
    schema: Schema = field(repr=False)
    kind: str | None = None  # json, jsonl or xml; None to go by the ending
    drop_undeclared: bool = False
    doctype: bool = False  # accept the name of a document type in XML
    shape: Shape = field(default_factory=Shape, repr=False)

    def __iter__(self) -> Iterator[Vertex]:
        place = place_of(self.path, self.schema, self.kind, doctype=self.doctype)
        shape = self.shape
        shape.place = place
        how = {"drop_undeclared": self.drop_undeclared}
        if format_of(self.path, self.kind) == "xml":
            shape.format = "xml"
            shape.frame = xmltext.Frame()
            elements = xmltext.elements(self.path, place, shape.frame, doctype=self.doctype)
            return map(XmlBinder(self.schema, shape, str(self.path), **how).record, elements)
        shape.format = "json"
        raw = jsontext.records(self.path, place)
        return map(JsonBinder(self.schema, shape, str(self.path), **how).record, raw)


def write(vertices: Iterable[Vertex], target: Path, schema: Schema, shape: Shape) -> int:
    """Write records in their shape; how many there were."""
    written = 0

    def counted() -> Iterator[Vertex]:
        nonlocal written
        for vertex in vertices:
            written += 1
            yield vertex

    pieces = Writer(schema, shape).text(counted())
    with target.open("wb") as out:
        if target.suffix == ".gz":
            with gzip.GzipFile(filename="", fileobj=out, mode="wb", mtime=0) as packed:
                packed.writelines(piece.encode() for piece in pieces)
        else:
            out.writelines(piece.encode() for piece in pieces)
    return written
