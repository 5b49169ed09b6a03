"""Publications as tables: quasi-identifiers by type, sensitive values apart, joined by nothing but the group.

`to_tables` gives one table for each type (`group`, `tree`, `vertex`, `parent`, its fields; in v-v also `sag`)
and the table `sensitive`. In t-t its rows are the vertices of the trees of sensitive values, each with count
1; in v-v they are the values of each bag with their counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from privet.document.forest import Vertex
from privet.document.publication import (
    SAG,
    Bag,
    Publication,
    Published,
    quasi_fields,
    sensitive_value,
    with_bags,
)
from privet.document.schema import Schema
from privet.document.style import Style
from privet.errors import InputError

PLACES = ("group", "tree", "vertex", "parent")
SENSITIVE = "sensitive"


def to_tables(publication: Publication) -> Mapping[str, pl.DataFrame]:
    """One table for each type, and one with all sensitive values."""
    schema = with_bags(publication.schema) if publication.style is Style.VERTICES else publication.schema
    if SENSITIVE in schema.position or any(f.name in PLACES for kind in schema.kinds for f in kind.published):
        raise InputError(f"as tables, no type is called {SENSITIVE} and no field {', '.join(PLACES)}")
    rows: dict[str, list[tuple[Any, ...]]] = {kind.name: [] for kind in schema.kinds}
    kept = {kind.name: [kind.position(name) for name in quasi_fields(kind)] for kind in schema.kinds}
    values: list[tuple[Any, ...]] = []
    for group in publication.groups:
        for number, tree in enumerate(group.qi):
            for at, parent, vertex in numbered(tree):
                own = [vertex.values[i] for i in kept[vertex.type]]
                rows[vertex.type].append((group.id, number, at, parent, *own))
        for number, tree in enumerate(group.sa):
            for at, parent, vertex in numbered(tree):
                known = schema.kind(vertex.type).sensitive is not None
                value = sensitive_value(vertex, schema) if known else None
                values.append((group.id, str(number), at, parent, vertex.type, value, 1))
        for name, bag in group.bags.items():
            values += [(group.id, name, None, None, bag.type, value, n) for value, n in bag.values]
    tables = {
        kind.name: pl.DataFrame(
            rows[kind.name],
            schema=[*_places(), *((name, pl.String) for name in quasi_fields(kind))],
            orient="row",
        )
        for kind in schema.kinds
    }
    columns = [("group", pl.String), ("tree", pl.String), ("vertex", pl.Int64), ("parent", pl.Int64)]
    columns += [("type", pl.String), ("value", pl.String), ("count", pl.Int64)]
    tables[SENSITIVE] = pl.DataFrame(values, schema=columns, orient="row")
    if publication.style is Style.VERTICES:
        tables[SENSITIVE] = tables[SENSITIVE].rename({"tree": SAG}).drop("vertex", "parent")
    return tables


def _places() -> list[tuple[str, Any]]:
    return [("group", pl.String), ("tree", pl.Int64), ("vertex", pl.Int64), ("parent", pl.Int64)]


def numbered(tree: Vertex) -> list[tuple[int, int | None, Vertex]]:
    """Vertices in preorder with their own number and their parent's."""
    found: list[tuple[int, int | None, Vertex]] = []
    waiting: list[tuple[Vertex, int | None]] = [(tree, None)]
    while waiting:
        vertex, parent = waiting.pop()
        at = len(found)
        found.append((at, parent, vertex))
        waiting += [(child, at) for child in reversed(vertex.children)]
    return found


def from_tables(tables: Mapping[str, pl.DataFrame], schema: Schema, style: Style, l: int) -> Publication:
    """The publication that tables hold; the order of groups is that of the first table's rows."""
    wide = with_bags(schema) if style is Style.VERTICES else schema
    half: dict[str, dict[int, list[_Row]]] = {}
    for kind in wide.kinds:
        for row in tables[kind.name].rows(named=True):
            values = tuple(row.get(f.name) for f in kind.published)
            place = half.setdefault(row["group"], {}).setdefault(row["tree"], [])
            place.append((row["vertex"], row["parent"], kind.name, values))
    other: dict[str, dict[int, list[_Row]]] = {}
    bags: dict[str, dict[str, tuple[str, list[str | None]]]] = {}
    for row in tables[SENSITIVE].rows(named=True):
        if style is Style.VERTICES:
            named = bags.setdefault(row["group"], {}).setdefault(row[SAG], (row["type"], []))
            named[1].extend([row["value"]] * row["count"])
            continue
        kind = schema.kind(row["type"])
        values = tuple(row["value"] if f is kind.sensitive else None for f in kind.published)
        place = other.setdefault(row["group"], {}).setdefault(int(row["tree"]), [])
        place.append((row["vertex"], row["parent"], kind.name, values))
    groups = tuple(
        Published(
            name,
            tuple(_tree(trees[at]) for at in sorted(trees)),
            tuple(_tree(other[name][at]) for at in sorted(other.get(name, {}))),
            {sag: Bag.of(*bag) for sag, bag in bags.get(name, {}).items()},
        )
        for name, trees in half.items()
    )
    return Publication(schema, style, l, groups)


_Row = tuple[int, int | None, str, tuple[str | None, ...]]


def _tree(rows: list[_Row]) -> Vertex:
    below: dict[int | None, list[Vertex]] = {}
    for at, parent, kind, values in sorted(rows, key=lambda row: row[0], reverse=True):
        made = Vertex(kind, values, tuple(reversed(below.pop(at, []))))
        below.setdefault(parent, []).append(made)
    if list(below) != [None] or len(below[None]) != 1:
        raise InputError("a tree in the tables has a vertex without a parent, or two roots")
    return below[None][0]
