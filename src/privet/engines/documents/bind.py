"""From text to vertices: what a file holds, read by the schema.

Whatever the schema does not name is refused, and so is a field with two values: a vertex has one value of
each field, and the promises of this room speak of one sensitive value at a vertex. Identifiers are dropped
here, before anybody sees them. No value appears in a message.

In XML, children stand in the element itself, named by their type or key, or in a wrapper named by the key;
the key `List/Item` says that the wrapper is `List` and the elements in it are `Item`, whatever the type.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NoReturn

from privet.core import Role
from privet.document.forest import Vertex
from privet.document.schema import DEEPEST, Field, Kind, Schema
from privet.domain import Value
from privet.engines.documents.jsontext import Number, Repeated
from privet.engines.documents.shape import VALUE, Shape, from_json, is_bare, one_key_each
from privet.engines.documents.surrogates import HALF, is_half
from privet.engines.documents.xmltext import Element, is_declaration
from privet.errors import InputError, unknown_key


@dataclass(frozen=True, slots=True)
class Reads:
    """What the keys of one type mean."""

    kind: Kind
    fields: dict[str, tuple[int, Field]]  # published ones, with their position
    dropped: frozenset[str]
    lists: dict[str, str]  # key to type
    wrappers: dict[str, tuple[str, str]]  # XML: name of an element to the key, and to the elements inside
    width: int

    @property
    def known(self) -> list[str]:
        return [*self.fields, *sorted(self.dropped), *self.lists]

    @property
    def bare(self) -> bool:
        return is_bare(self.kind)


def _reads(kind: Kind, *, xml: bool) -> Reads:
    def written(f: Field) -> str:
        return (f.xml or f.name) if xml else f.name

    published = {written(f): (at, f) for at, f in enumerate(kind.published)}
    dropped = frozenset(written(f) for f in kind.fields if f.role is Role.IDENTIFIER)
    wrappers = {}
    for key, child in kind.children:
        around, _, inside = key.partition("/")
        wrappers[around] = (key, inside or child)
    return Reads(kind, published, dropped, dict(kind.children), wrappers, len(published))


class Binder:
    """Common to both formats: which keys there are, and how faults are said."""

    xml = False

    def __init__(self, schema: Schema, shape: Shape, source: str, *, drop_undeclared: bool = False) -> None:
        one_key_each(schema)
        self.schema, self.shape, self.source = schema, shape, source
        self.drop_undeclared = drop_undeclared
        self.reads = {kind.name: _reads(kind, xml=self.xml) for kind in schema.kinds}
        self.at = 0  # the record that is being read

    def fail(self, reads: Reads, what: str, line: int | None = None) -> NoReturn:
        where = f"record {self.at}" + ("" if line is None else f", line {line}")
        raise InputError(f"{self.source}: {where}: type {reads.kind.name}: {what}")

    def twice(self, reads: Reads, f: Field, line: int | None = None) -> NoReturn:
        sensitive = f.role is Role.SENSITIVE
        self.fail(
            reads,
            f"field {f.name} has more than one value; "
            + ("a vertex has one sensitive value: " if sensitive else "")
            + "describe the values as children of a type with the one field value",
            line,
        )

    def undeclared(self, reads: Reads, key: str, line: int | None = None) -> None:
        if not self.drop_undeclared:
            self.fail(
                reads,
                unknown_key(reads.known, key).replace("unknown key", "the policy does not name this field"),
                line,
            )

    def too_deep(self, reads: Reads, level: int) -> None:
        if level >= DEEPEST:
            self.fail(reads, f"deeper than {DEEPEST} levels")


class JsonBinder(Binder):
    """Objects to vertices."""

    def record(self, raw: Any) -> Vertex:
        """One record; records must come in the order of the file, since faults are said by number."""
        self.at += 1
        if not isinstance(raw, dict):
            raise InputError(
                f"{self.source}: record {self.at} is {_said(raw)}; every record is an object of one root type"
            )
        return self.vertex(self.reads[self.schema.root], raw, 0)

    def vertex(self, reads: Reads, raw: dict[str, Any], level: int) -> Vertex:
        self.too_deep(reads, level)
        kind = reads.kind.name
        values: list[Value] = [None] * reads.width
        children: list[Vertex] = []
        for key, inner in raw.items():
            found = reads.fields.get(key)
            if found is not None:
                at, f = found
                values[at] = self.value(reads, f, inner)
            elif key in reads.lists:
                children += self.children(reads, key, inner, level)
            elif key not in reads.dropped:
                self.undeclared(reads, key)
        return Vertex(kind, tuple(values), tuple(children))

    def value(self, reads: Reads, f: Field, raw: Any) -> Value:
        try:
            read = from_json(raw)
        except InputError as error:
            self.fail(reads, f"field {f.name}: {error}")
        if read is None:
            if raw is Repeated or isinstance(raw, list):
                self.twice(reads, f)
            self.fail(reads, f"field {f.name} holds an object; describe it as a child of a type of its own")
        text, form = read
        if text is not None and is_half(
            text
        ):  # from Python's own objects; a file's are refused as it is read
            self.fail(reads, f"field {f.name}: {HALF}")
        self.shape.note(reads.kind.name, f.name, form)
        return text

    def children(self, reads: Reads, key: str, raw: Any, level: int) -> Iterable[Vertex]:
        below = self.reads[reads.lists[key]]
        kind = reads.kind.name
        if raw is None:
            return []
        if raw is Repeated:
            self.fail(reads, f"children {key} are there twice")
        if isinstance(raw, dict) and from_json(raw) is None:
            self.shape.note_list(kind, key, "object")
            return [self.vertex(below, raw, level + 1)]
        if isinstance(raw, list):
            return [self.child(reads, below, key, item, level) for item in raw]
        return [self.child(reads, below, key, raw, level)]

    def child(self, reads: Reads, below: Reads, key: str, item: Any, level: int) -> Vertex:
        if isinstance(item, dict) and (from_json(item) is None or not below.bare):
            self.shape.note_list(reads.kind.name, key, "array")
            return self.vertex(below, item, level + 1)
        if not below.bare or isinstance(item, list):
            self.fail(reads, f"children {key} hold {_said(item)}; each child is an object")
        self.shape.note_list(reads.kind.name, key, "scalars")
        (_, f) = below.fields[VALUE]
        return Vertex(below.kind.name, (self.value(below, f, item),))


def _said(raw: Any) -> str:
    if isinstance(raw, list):
        return "a list"
    return "an object" if isinstance(raw, dict) else "a number" if isinstance(raw, Number) else "a bare value"


def blank_is_missing(text: str, form: str) -> tuple[Value, str]:
    """A blank attribute says what a blank element says: nothing. They are not two values."""
    return (text, form) if text.strip() else (None, "null")


class XmlBinder(Binder):
    """Elements to vertices."""

    xml = True

    def record(self, element: Element) -> Vertex:
        """One record; `elements` has already refused roots of other names."""
        self.at += 1
        return self.vertex(self.reads[self.schema.root], element, 0)

    def vertex(self, reads: Reads, element: Element, level: int) -> Vertex:
        self.too_deep(reads, level)
        kind = reads.kind.name
        values: list[Value] = [None] * reads.width
        seen: set[int] = set()
        children: list[Vertex] = []

        def put(at: int, f: Field, text: Value, form: str) -> None:
            if at in seen:
                self.twice(reads, f, element.line)
            seen.add(at)
            values[at] = text
            self.shape.note(kind, f.name, form)

        for key, text in element.attributes.items():
            if key in reads.fields:
                put(*reads.fields[key], *blank_is_missing(text, "attribute"))
            elif is_declaration(key):
                self.shape.declared.setdefault(kind, {})[key] = text
            elif key not in reads.dropped:
                self.undeclared(reads, key, element.line)
        by_type = {child: key for key, child in reads.lists.items()}
        for inner in element.children:
            if inner.name in reads.fields:
                at, f = reads.fields[inner.name]
                put(at, f, *self.text(reads, f, inner))
            elif inner.name in by_type:
                children.append(self.child(reads, by_type[inner.name], inner, "direct", level))
            elif inner.name in reads.wrappers:
                children += self.listed(reads, inner, level)
            elif inner.name not in reads.dropped:
                self.undeclared(reads, inner.name, inner.line)
        if element.text:
            own = next((found for found in reads.fields.items() if found[0] in {VALUE, "."}), None)
            if own is None:
                self.fail(reads, "there is text beside the elements, and no field value for it", element.line)
            put(*own[1], element.text, "own")
        return Vertex(kind, tuple(values), tuple(children))

    def listed(self, reads: Reads, element: Element, level: int) -> list[Vertex]:
        """What stands under the key of a list: a wrapper around children, or a child itself."""
        key, inside = reads.wrappers[element.name]
        wrapper = not element.attributes and not element.text
        if wrapper and all(inner.name == inside for inner in element.children):
            return [self.child(reads, key, inner, "wrapped", level) for inner in element.children]
        return [self.child(reads, key, element, "direct", level)]

    def child(self, reads: Reads, key: str, element: Element, style: str, level: int) -> Vertex:
        self.shape.note_list(reads.kind.name, key, f"{style} {element.name}")
        return self.vertex(self.reads[reads.lists[key]], element, level + 1)

    def text(self, reads: Reads, f: Field, element: Element) -> tuple[Value, str]:
        if element.children:
            self.fail(reads, f"field {f.name} holds elements; describe them as children", element.line)
        attributes = {key: text for key, text in element.attributes.items() if not is_declaration(key)}
        if list(attributes) == [VALUE] and not element.text:
            return blank_is_missing(attributes[VALUE], "value")
        for key in attributes:
            self.undeclared(reads, f"{element.name}/{key}", element.line)
        return (element.text, "element") if element.text else (None, "null")
