"""Publications as JSON, XML and tables, and back again without loss.

JSON:  {"method": "t-t", "l": 2, "groups": [{"id": "g0", "qi_trees": [...], "sa_trees": [...]}]}
       {"method": "v-v", "l": 2, "groups": [{"id": "g0", "aqi_trees": [...], "sa_groups": {...}}]}
XML:   the same names as elements, `qi-trees` for `qi_trees`; trees keep the names of the input.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from privet.document.forest import Vertex
from privet.document.publication import Bag, Publication, Published, quasi_fields, with_bags
from privet.document.schema import Schema
from privet.document.style import Style
from privet.engines.documents import jsontext, xmltext
from privet.engines.documents.bind import JsonBinder, XmlBinder
from privet.engines.documents.files import format_of
from privet.engines.documents.jsontext import Number
from privet.engines.documents.shape import Shape, Writer, dumps
from privet.errors import InputError, one_of

ROOT = "publication"
METHODS = {style.value: style for style in Style}


def write(publication: Publication, target: Path, shape: Shape) -> None:
    """Write a publication, in the shape in which the records were read."""
    kind = format_of(target)
    lines = xml_lines(publication, shape) if kind == "xml" else json_lines(publication, shape)
    with target.open("w", encoding="utf-8", newline="\n") as out:
        out.writelines(lines)


def writers(publication: Publication, shape: Shape) -> tuple[Writer, Writer]:
    """For the half with quasi-identifiers, and for the half with sensitive values."""
    schema = publication.schema
    qi = {kind.name: quasi_fields(kind) for kind in schema.kinds}
    sa = {kind.name: [kind.sensitive.name] if kind.sensitive else [] for kind in schema.kinds}
    if publication.style is Style.VERTICES:
        schema = with_bags(schema)
        qi = {kind.name: quasi_fields(kind) for kind in schema.kinds}
    return Writer(schema, shape, qi), Writer(publication.schema, shape, sa)


def json_lines(publication: Publication, shape: Shape) -> Iterator[str]:
    left, right = writers(publication, shape)
    yield f'{{"method": "{publication.style.value}", "l": {publication.l}, "groups": ['
    between = "\n"
    for group in publication.groups:
        made: dict[str, Any] = {"id": group.id}
        if publication.style is Style.TREES:
            made["qi_trees"] = [left.json(tree) for tree in group.qi]
            made["sa_trees"] = [right.json(tree) for tree in group.sa]
        else:
            made["aqi_trees"] = [left.json(tree) for tree in group.qi]
            made["sa_groups"] = {
                name: {"attribute": _attribute(publication.schema, bag), **_counts(bag)}
                for name, bag in group.bags.items()
            }
        yield between + dumps(made)
        between = ",\n"
    yield "\n]}\n"


def _attribute(schema: Schema, bag: Bag) -> str:
    sensitive = schema.kind(bag.type).sensitive
    assert sensitive is not None
    others = [kind for kind in schema.kinds if kind.sensitive and kind.sensitive.name == sensitive.name]
    return sensitive.name if len(others) == 1 else f"{bag.type}.{sensitive.name}"


def _counts(bag: Bag) -> Mapping[str, Any]:
    """Null cannot be a key of an object, so it is counted beside the others."""
    counted: dict[str, Any] = {"values": {value: count for value, count in bag.values if value is not None}}
    nulls = sum(count for value, count in bag.values if value is None)
    return {**counted, "nulls": nulls} if nulls else counted


def xml_lines(publication: Publication, shape: Shape) -> Iterator[str]:
    left, right = writers(publication, shape)
    name = shape.place.rsplit("/", 1)[-1] if shape.format == "xml" else publication.schema.root

    def trees(writer: Writer, vertices: tuple[Vertex, ...]) -> Iterator[str]:
        for vertex in vertices:
            yield from (line + "\n" for line in writer.xml(vertex, name, indent="      "))

    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f'<{ROOT} method="{publication.style.value}" l="{publication.l}">\n'
    for group in publication.groups:
        yield f"  <group id={quoteattr(group.id)}>\n"
        half = "qi-trees" if publication.style is Style.TREES else "aqi-trees"
        yield f"    <{half}>\n"
        yield from trees(left, group.qi)
        yield f"    </{half}>\n"
        if publication.style is Style.TREES:
            yield "    <sa-trees>\n"
            yield from trees(right, group.sa)
            yield "    </sa-trees>\n"
        else:
            yield "    <sa-groups>\n"
            for label, bag in group.bags.items():
                attribute = quoteattr(_attribute(publication.schema, bag))
                yield f"      <sa-group id={quoteattr(label)} attribute={attribute}>\n"
                for value, count in bag.values:
                    if value is None:
                        yield f'        <null count="{count}"/>\n'
                    else:
                        yield f'        <value count="{count}">{escape(value)}</value>\n'
                yield "      </sa-group>\n"
            yield "    </sa-groups>\n"
        yield "  </group>\n"
    yield f"</{ROOT}>\n"


def read(path: Path, schema: Schema, shape: Shape | None = None) -> Publication:
    """A publication from its file; whatever does not read as one is an InputError."""
    shape = Shape() if shape is None else shape
    return _read_xml(path, schema, shape) if format_of(path) == "xml" else _read_json(path, schema, shape)


def _style(path: Path, said: Any) -> Style:
    if said not in METHODS:
        raise InputError(f"{path}: {one_of('method', tuple(METHODS), 'another word')}")
    return METHODS[said]


def _whole(path: object, what: str, said: Any) -> int:
    text = said.text if isinstance(said, Number) else said
    if not isinstance(text, str) or not text.isdecimal():
        raise InputError(f"{path}: {what} is a whole number")
    return int(text)


def _read_json(path: Path, schema: Schema, shape: Shape) -> Publication:
    method = next(jsontext.records(path, "$.method"))
    style = _style(path, method)
    l = _whole(path, "l", next(jsontext.records(path, "$.l")))
    left_schema = with_bags(schema) if style is Style.VERTICES else schema
    left, right = (JsonBinder(s, shape, str(path)) for s in (left_schema, schema))
    groups = []
    for number, raw in enumerate(jsontext.records(path, "$.groups[*]"), 1):
        place = f"{path}: group {number}"
        wanted = {"id", "qi_trees", "sa_trees"} if style is Style.TREES else {"id", "aqi_trees", "sa_groups"}
        if not isinstance(raw, dict) or set(raw) != wanted or not isinstance(raw["id"], str):
            raise InputError(f"{place}: a group has {', '.join(sorted(wanted))}")
        half = raw["qi_trees" if style is Style.TREES else "aqi_trees"]
        other = raw["sa_trees"] if style is Style.TREES else []
        if not isinstance(half, list) or not isinstance(other, list):
            raise InputError(f"{place}: trees stand in a list")
        bags = _bags(place, schema, raw["sa_groups"]) if style is Style.VERTICES else {}
        qi, sa = tuple(left.record(t) for t in half), tuple(right.record(t) for t in other)
        groups.append(Published(raw["id"], qi, sa, bags))
    return Publication(schema, style, l, tuple(groups))


def _bags(place: str, schema: Schema, raw: Any) -> Mapping[str, Bag]:
    if not isinstance(raw, dict):
        raise InputError(f"{place}: sa_groups is an object")
    bags = {}
    for at, (name, said) in enumerate(raw.items(), 1):
        where = f"{place}: sa_group {at}"
        if not isinstance(said, dict) or not isinstance(said.get("values"), dict):
            raise InputError(f"{where}: a group of values has an attribute and values with counts")
        counts = [(value, _whole(where, "a count", count)) for value, count in said["values"].items()]
        if "nulls" in said:
            counts.append((None, _whole(where, "nulls", said["nulls"])))
        bags[name] = Bag.of(
            _type(where, schema, said.get("attribute")), [v for v, count in counts for _ in range(count)]
        )
    return bags


def _type(place: str, schema: Schema, attribute: Any) -> str:
    """Which type a bag belongs to; the bare name of the field is enough if no other type has it."""
    fits = [
        kind.name
        for kind in schema.kinds
        if kind.sensitive is not None
        and attribute in {f"{kind.name}.{kind.sensitive.name}", kind.sensitive.name}
    ]
    if len(fits) != 1:
        raise InputError(f"{place}: the attribute is not one sensitive field of the schema")
    return fits[0]


def _read_xml(path: Path, schema: Schema, shape: Shape) -> Publication:
    frame: dict[str, str] = {}
    groups: list[Published] = []
    style: Style | None = None
    left = right = XmlBinder(schema, shape, str(path))
    for number, element in enumerate(xmltext.elements(path, f"/{ROOT}/group", around=frame), 1):
        place = f"{path}: group {number}"
        if style is None:
            style = _style(path, frame.get("method"))
            left = XmlBinder(with_bags(schema), shape, str(path)) if style is Style.VERTICES else right
        parts = {inner.name: inner for inner in element.children}
        wanted = {"qi-trees", "sa-trees"} if style is Style.TREES else {"aqi-trees", "sa-groups"}
        if set(parts) != wanted or len(element.children) != len(wanted) or "id" not in element.attributes:
            raise InputError(f"{place}: a group has an id, {' and '.join(sorted(wanted))}")
        half = parts["qi-trees" if style is Style.TREES else "aqi-trees"].children
        other = parts["sa-trees"].children if style is Style.TREES else []
        bags = _xml_bags(place, schema, parts["sa-groups"]) if style is Style.VERTICES else {}
        qi, sa = tuple(map(left.record, half)), tuple(map(right.record, other))
        groups.append(Published(element.attributes["id"], qi, sa, bags))
    if style is None:
        raise InputError(f"{path}: there is not one group")
    return Publication(schema, style, _whole(path, "l", frame.get("l")), tuple(groups))


def _xml_bags(place: str, schema: Schema, element: xmltext.Element) -> Mapping[str, Bag]:
    bags: dict[str, Bag] = {}
    for at, said in enumerate(element.children, 1):
        where = f"{place}: sa-group {at}"
        if said.name != "sa-group" or "id" not in said.attributes or said.attributes["id"] in bags:
            raise InputError(f"{where}: every sa-group has an id of its own")
        values = [
            None if one.name == "null" else one.text
            for one in said.children
            for _ in range(_whole(where, "a count", one.attributes.get("count")))
        ]
        bags[said.attributes["id"]] = Bag.of(_type(where, schema, said.attributes.get("attribute")), values)
    return bags
