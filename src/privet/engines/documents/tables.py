"""Records from tables that are joined by keys, and back: one table for each type.

A child's row names its parent by a key; the keys themselves are not published. What leaves gets new keys,
running numbers in the order of what leaves, so that no key of the input can be recognised.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from privet.core import Role
from privet.declared import settle
from privet.document.forest import Vertex
from privet.document.schema import Kind, Schema
from privet.engines.documents.shape import one_key_each
from privet.errors import InputError, PolicyError


@dataclass(frozen=True, slots=True)
class Keys:
    """The columns of a type's table that join it: its own key, and the key of its parent."""

    own: str | None = None  # needed where the type has children
    parent: str | None = None  # needed everywhere but at the root

    def __post_init__(self) -> None:
        settle(self)


def from_frames(schema: Schema, frames: Mapping[str, pl.DataFrame], keys: Mapping[str, Keys]) -> list[Vertex]:
    """The records, in the order of the root's table; children in the order of theirs."""
    below: dict[str, dict[Any, list[Vertex]]] = {}
    for kind in _children_first(schema):
        join = _checked(schema, kind, frames, keys)
        frame = frames[kind.name]
        names = [f.name for f in kind.published]
        values = frame.select(pl.col(name).cast(pl.String) for name in names).rows() if names else None
        own = frame.get_column(join.own).to_list() if join.own else [None] * frame.height
        up = frame.get_column(join.parent).to_list() if join.parent else [None] * frame.height
        made: dict[Any, list[Vertex]] = {}
        for row in range(frame.height):
            children = tuple(v for _, child in kind.children for v in below[child].pop(own[row], ()))
            vertex = Vertex(kind.name, values[row] if values is not None else (), children)
            made.setdefault(up[row], []).append(vertex)
        for _, child in kind.children:
            lost = sum(map(len, below[child].values()))
            if lost:
                raise InputError(
                    f"table {child}: {lost} rows name a parent in {keys[child].parent} that table "
                    f"{kind.name} has not in {join.own}"
                )
        below[kind.name] = made
    return below[schema.root].get(None, [])


def to_frames(records: Iterable[Vertex], schema: Schema, keys: Mapping[str, Keys]) -> dict[str, pl.DataFrame]:
    """Tables with the same columns, and new keys."""
    rows: dict[str, list[tuple[Any, ...]]] = {kind.name: [] for kind in schema.kinds}
    for record in records:
        waiting: list[tuple[Vertex, int | None]] = [(record, None)]
        while waiting:
            vertex, parent = waiting.pop()
            number = len(rows[vertex.type]) + 1
            rows[vertex.type].append((number, parent, *vertex.values))
            waiting += [(child, number) for child in reversed(vertex.children)]
    frames = {}
    for kind in schema.kinds:
        join = keys.get(kind.name, Keys())
        columns: list[tuple[str, Any]] = [("", pl.Int64), (" ", pl.Int64)]
        columns += [(f.name, pl.String) for f in kind.published]
        frame = pl.DataFrame(rows[kind.name], schema=columns, orient="row")
        kept = [pl.col(f.name) for f in kind.published]
        joins = [pl.col(at).alias(to) for at, to in (("", join.own), (" ", join.parent)) if to is not None]
        frames[kind.name] = frame.select(joins + kept)
    return frames


def _children_first(schema: Schema) -> Sequence[Kind]:
    """Children before their parents; a type has one parent, or a key could be one of two tables."""
    one_key_each(schema)
    order: list[Kind] = []
    waiting = [schema.root]
    while waiting:
        kind = schema.kind(waiting.pop())
        if kind in order:
            raise PolicyError(f"type {kind.name}: in tables a type stands below one other type only")
        order.append(kind)
        waiting += [child for _, child in kind.children]
    return order[::-1]


def _checked(
    schema: Schema, kind: Kind, frames: Mapping[str, pl.DataFrame], keys: Mapping[str, Keys]
) -> Keys:
    if kind.name not in frames:
        raise InputError(f"there is no table {kind.name}")
    frame, join = frames[kind.name], keys.get(kind.name, Keys())
    complaints = []
    if kind.children and join.own is None:
        complaints.append(f"table {kind.name}: say which column is its key; other tables point to it")
    if kind.name != schema.root and join.parent is None:
        complaints.append(f"table {kind.name}: say which column names its parent")
    if kind.name == schema.root and join.parent is not None:
        complaints.append(f"table {kind.name}: the records themselves have no parent")
    joins = [name for name in (join.own, join.parent) if name is not None]
    known = {f.name for f in kind.fields} | set(joins)
    published = [f.name for f in kind.fields if f.role is not Role.IDENTIFIER]
    complaints += [
        f"table {kind.name} has no column {name}"
        for name in [*joins, *published]
        if name not in frame.columns
    ]
    complaints += [
        f"table {kind.name}: the policy does not name column {name}"
        for name in frame.columns
        if name not in known
    ]
    if complaints:
        raise InputError(*complaints)
    for name in joins:
        if nulls := frame.get_column(name).null_count():
            complaints.append(f"table {kind.name}: {nulls} rows have no key in {name}")
    if join.own is not None and (twice := frame.height - frame.get_column(join.own).n_unique()):
        complaints.append(f"table {kind.name}: {twice} rows repeat a key in {join.own}")
    if complaints:
        raise InputError(*complaints)
    return join
