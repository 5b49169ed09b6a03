"""How records were written, learnt while they are read, so that what leaves is written in the same way.

A vertex holds texts. Whether `1993` was a number or a text, whether a course stood in a wrapper, whether a
grade was an attribute or an element: that is the shape. It is one for all records of a type: a release in
which one record is written unlike the others would single it out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from json.encoder import encode_basestring
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from privet.document.described import LISTS
from privet.document.forest import Vertex
from privet.document.schema import Field, Kind, Schema
from privet.domain import Value
from privet.engines.documents.jsontext import Number, steps
from privet.engines.documents.xmltext import Frame
from privet.errors import InputError, PolicyError

NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
WHOLE = re.compile(r"-?[0-9]+")
OBJECT_ID = re.compile(r"[0-9a-fA-F]{24}")
TIMES = ("$date", "$date/$numberLong", "$date/number")  # the three ways MongoDB writes a moment
VALUE = "value"  # the one field of a type whose vertices are written as bare values
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class Shape:
    """What was seen: counts of the ways in which each field and each list of children was written."""

    format: str = "json"  # or "xml"
    place: str = "$[*]"  # where the records were
    fields: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    lists: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)
    declared: dict[str, dict[str, str]] = field(default_factory=dict)  # name spaces declared at a type
    frame: Frame = field(default_factory=Frame)

    def note(self, kind: str, name: str, form: str) -> None:
        counted = self.fields.get((kind, name))
        if counted is None:
            counted = self.fields[kind, name] = Counter()
        counted[form] += 1

    def note_list(self, kind: str, key: str, form: str) -> None:
        counted = self.lists.get((kind, key))
        if counted is None:
            counted = self.lists[kind, key] = Counter()
        counted[form] += 1

    def form(self, kind: str, name: str, otherwise: str) -> str:
        """The way a field is written most often; null says nothing about the others."""
        counted = Counter(self.fields.get((kind, name), {}))
        counted.pop("null", None)
        return max(counted, key=lambda form: (counted[form], form)) if counted else otherwise

    def list_form(self, kind: str, key: str, otherwise: str) -> str:
        counted = self.lists.get((kind, key))
        return max(counted, key=lambda form: (counted[form], form)) if counted else otherwise

    def has_nulls(self, kind: str, name: str) -> bool:
        """Was a missing value ever written out as null, rather than left away?"""
        return self.fields.get((kind, name), Counter[str]())["null"] > 0


def from_json(raw: Any) -> tuple[Value, str] | None:
    """A JSON value as text, and how it was written; None for what is not a single value."""
    if isinstance(raw, str):
        return raw, "text"
    if isinstance(raw, Number):
        return raw.text, "number"
    if raw is None:
        return None, "null"
    if isinstance(raw, bool):
        return ("true" if raw else "false"), "boolean"
    if isinstance(raw, dict) and len(raw) == 1:
        return _extended(*next(iter(raw.items())))
    return None


def _extended(key: str, raw: Any) -> tuple[Value, str] | None:
    """The values that MongoDB's export writes as objects with one key."""
    if key in {"$oid", "$numberLong", "$numberInt", "$numberDouble", "$numberDecimal", "$symbol", "$uuid"}:
        return (raw, key) if isinstance(raw, str) else None
    if key == "$date":
        if isinstance(raw, str):
            return raw, "$date"
        if isinstance(raw, Number):
            return _moment(raw.text), "$date/number"
        if isinstance(raw, dict) and isinstance(raw.get("$numberLong"), str) and len(raw) == 1:
            return _moment(raw["$numberLong"]), "$date/$numberLong"
    return None


def _moment(milliseconds: str) -> str:
    try:
        moment = EPOCH + timedelta(milliseconds=int(milliseconds))
    except (ValueError, OverflowError):
        raise InputError("a date that MongoDB counts in milliseconds is out of range") from None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def to_json(text: Value, form: str) -> Any:
    """A text written as its field is; a generalised label is not a number and no date, and stays a text."""
    if text is None:
        return None
    if form == "number":
        return Number(text) if NUMBER.fullmatch(text) else text
    if form == "boolean":
        return {"true": True, "false": False}.get(text, text)
    if form in {"$numberLong", "$numberInt"}:
        return {form: text} if WHOLE.fullmatch(text) else text
    if form in {"$numberDouble", "$numberDecimal"}:
        return {form: text} if NUMBER.fullmatch(text) else text
    if form == "$oid":
        return {form: text} if OBJECT_ID.fullmatch(text) else text
    if form in TIMES:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return text
        if form == "$date":
            return {"$date": text}
        # A moment without a zone is in UTC: that is how milliseconds were read.
        since = moment.replace(tzinfo=moment.tzinfo or UTC) - EPOCH
        milliseconds = str(since // timedelta(milliseconds=1))
        return {"$date": Number(milliseconds) if form == "$date/number" else {"$numberLong": milliseconds}}
    return {form: text} if form.startswith("$") else text


SCALARS = (str, Number, int, type(None))


def dumps(value: Any) -> str:
    """JSON text, with numbers as they were written; without recursion, however deep a record is nested."""
    said: list[str] = []
    open_ = [_pieces([value])]
    while open_:
        for piece in open_[-1]:
            if isinstance(piece, str):
                said.append(piece)
            else:
                open_.append(piece)
                break
        else:
            open_.pop()
    return "".join(said)[1:-1]  # less the brackets around the whole


def _pieces(value: Any) -> Iterator[Any]:
    """The texts of a table or list; what is inside it as pieces of its own."""
    named = isinstance(value, (dict, Mapping))
    said = "{" if named else "["  # texts that follow each other leave as one
    apart = ""
    for one in value:
        said += f"{apart}{encode_basestring(one)}: " if named else apart
        inner = value[one] if named else one
        if isinstance(inner, SCALARS) or not isinstance(inner, (dict, list, tuple, Mapping)):
            said += _scalar(inner)
        else:
            yield said
            yield _pieces(inner)
            said = ""
        apart = ", "
    yield said + ("}" if named else "]")


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, Number):
        return value.text
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


class Writer:
    """Vertices as text in the shape in which they were read; some fields only, where asked."""

    def __init__(
        self, schema: Schema, shape: Shape, fields: Mapping[str, Iterable[str]] | None = None
    ) -> None:
        one_key_each(schema)
        self.schema, self.shape = schema, shape
        self.kept = {
            kind.name: [
                (at, f)
                for at, f in sorted(enumerate(kind.published), key=_listed)
                if fields is None or f.name in set(fields.get(kind.name, ()))
            ]
            for kind in schema.kinds
        }
        self.forms = {
            (kind.name, f.name): (
                shape.form(kind.name, f.name, otherwise),
                shape.has_nulls(kind.name, f.name),
            )
            for otherwise in ["attribute" if shape.format == "xml" else "text"]
            for kind in schema.kinds
            for f in kind.published
        }
        self.key_of = {kind.name: {child: key for key, child in kind.children} for kind in schema.kinds}

    def json(self, vertex: Vertex) -> Any:
        """A vertex as the object that `dumps` writes."""
        kind = self.schema.kind(vertex.type)
        made: dict[str, Any] = {}
        for at, f in self.kept[kind.name]:
            text = vertex.values[at]
            form, nulls = self.forms[kind.name, f.name]
            if text is not None or nulls:
                made[f.name] = to_json(text, form)
        for key, members in self.grouped(kind, vertex):
            form = self.shape.list_form(kind.name, key, "array")
            below = [self.json(child) for child in members]
            if form == "scalars" and is_bare(self.schema.kind(members[0].type)):
                below = [next(iter(child.values()), None) for child in below]
            made[key] = below[0] if form == "object" and len(below) == 1 else below
        return made

    def grouped(self, kind: Kind, vertex: Vertex) -> Iterator[tuple[str, list[Vertex]]]:
        """The children of a vertex by the key they stand under."""
        groups: dict[str, list[Vertex]] = {key: [] for key, _ in kind.children}
        for child in vertex.children:
            groups[self.key_of[kind.name][child.type]].append(child)
        return ((key, members) for key, members in groups.items() if members)

    def xml(
        self,
        vertex: Vertex,
        name: str | None = None,
        indent: str = "",
    ) -> Iterator[str]:
        """The lines of an element."""
        kind = self.schema.kind(vertex.type)
        name = name or kind.name
        head, inside, own = [name], [], ""
        head += [f"{k}={quoteattr(v)}" for k, v in self.shape.declared.get(kind.name, {}).items()]
        for at, f in self.kept[kind.name]:
            text, written = vertex.values[at], f.xml or f.name
            _can_be_xml(kind, f.name, text)
            form, nulls = self.forms[kind.name, f.name]
            if text is None:
                if form == "element" and nulls:
                    inside.append(f"{indent}  <{written}/>")
            elif form == "element":
                inside.append(f"{indent}  <{written}>{escape(text)}</{written}>")
            elif form == "value":
                inside.append(f"{indent}  <{written} value={quoteattr(text)}/>")
            elif form == "own":
                own = escape(text)
            else:
                head.append(f"{written}={quoteattr(text)}")
        for key, members in self.grouped(kind, vertex):
            element = key.partition("/")[2] or self.type_of(kind, key)
            form = self.shape.list_form(kind.name, key, f"wrapped {element}")
            style, element = form.split(" ", 1)
            deeper = indent + ("    " if style == "wrapped" else "  ")
            lines = [line for child in members for line in self.xml(child, element, deeper)]
            around = key.partition("/")[0]
            wrapped = [f"{indent}  <{around}>", *lines, f"{indent}  </{around}>"]
            inside += wrapped if style == "wrapped" else lines
        opening = " ".join(head)
        if not inside:
            yield f"{indent}<{opening}>{own}</{name}>" if own else f"{indent}<{opening}/>"
            return
        yield f"{indent}<{opening}>{own}"
        yield from inside
        yield f"{indent}</{name}>"

    def type_of(self, kind: Kind, key: str) -> str:
        return dict(kind.children)[key]

    def text(self, vertices: Iterable[Vertex]) -> Iterator[str]:
        """The whole file, piece by piece."""
        return self._xml_file(vertices) if self.shape.format == "xml" else self._json_file(vertices)

    def _json_file(self, vertices: Iterable[Vertex]) -> Iterator[str]:
        way = steps(self.shape.place)
        if not way:
            yield from (dumps(self.json(vertex)) + "\n" for vertex in vertices)
            return
        way = way if way[-1] is None else (*way, None)
        yield "".join("[" if step is None else "{" + encode_basestring(step) + ": " for step in way)
        between = "\n"
        for vertex in vertices:
            yield between + dumps(self.json(vertex))
            between = ",\n"
        yield "\n" + "".join("]" if step is None else "}" for step in reversed(way)) + "\n"

    def _xml_file(self, vertices: Iterable[Vertex]) -> Iterator[str]:
        yield '<?xml version="1.0" encoding="UTF-8"?>\n'
        frame = self.shape.frame
        for name, declared in zip(frame.way, frame.declared, strict=True):
            yield f"<{' '.join([name, *(f'{k}={quoteattr(v)}' for k, v in declared.items())])}>\n"
        name = self.shape.place.rsplit("/", 1)[-1]
        for vertex in vertices:
            yield from (line + "\n" for line in self.xml(vertex, name, indent="  " * len(frame.way)))
        yield from (f"</{name}>\n" for name in reversed(frame.way))


def _can_be_xml(kind: Kind, name: str, text: Value) -> None:
    """Refuse what would be no XML, or read as another value than was checked."""
    if text is None:
        return
    if not text.strip():
        raise InputError(
            f"type {kind.name}, field {name}: a text is blank, which in XML reads like a missing one; "
            "write JSON (--to json)"
        )
    if NOT_XML.search(text) is not None:
        raise InputError(
            f"type {kind.name}, field {name}: a text holds a character that XML cannot write; "
            "write JSON (--to json)"
        )


def _listed(one: tuple[int, Field]) -> int:
    """The order in which a policy lists fields; so a reader of the policy writes them in the same one."""
    order = [*LISTS.values()]
    return order.index(one[1].role) if one[1].role in order else len(order)


def is_bare(kind: Kind) -> bool:
    """May a vertex of this type be written as a bare value, without an object around it?"""
    return [f.name for f in kind.published] == [VALUE]


def one_key_each(schema: Schema) -> None:
    """A vertex knows its type and not its key, so two keys of one type could not be told apart again."""
    for kind in schema.kinds:
        types = [child for _, child in kind.children]
        if len(set(types)) < len(types):
            raise PolicyError(f"type {kind.name}: two keys have children of one type; name a type for each")
