"""Counting questions about trees: how many people match a pattern, or how many vertices do.

A pattern is a step at the root and steps below it: a vertex meets a step if it has the type, its values
are among those asked for, and for each step below enough of its children meet that one. Two steps may be
met by the same vertex.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import TypeAlias

from privet.core import Role
from privet.document.forest import Vertex
from privet.document.schema import Field, Schema
from privet.domain import Value
from privet.errors import InputError
from privet.hierarchy.numbers import decimal


@dataclass(frozen=True, slots=True)
class Between:
    """Numbers from `low` up to, and without, `high`."""

    low: Decimal
    high: Decimal

    def __contains__(self, value: object) -> bool:
        try:
            return isinstance(value, str) and self.low <= decimal(value) < self.high
        except (ValueError, InvalidOperation):  # not a number, or not to be compared
            return False


Condition: TypeAlias = frozenset[Value] | Between


@dataclass(frozen=True)
class Step:
    """What one vertex must be; `at_least` so many of the children must be it."""

    type: str
    where: Mapping[str, Condition] = field(default_factory=dict, repr=False)
    below: tuple[Step, ...] = ()
    at_least: int = 1

    def walk(self) -> Iterator[Step]:
        yield self
        for step in self.below:
            yield from step.walk()


@dataclass(frozen=True)
class Query:
    """How many people match; or, with `vertices`, how many vertices meet the last step of a single path."""

    root: Step
    vertices: bool = False

    def check(self, schema: Schema) -> None:
        """Raises InputError where the pattern cannot stand on this schema."""
        complaints = []
        if self.root.type != schema.root:
            complaints.append(f"query: the records are of type {schema.root}, not {self.root.type}")
        for step in self.root.walk():
            if step.type not in schema.position:
                complaints.append(f"query: there is no type {step.type}")
                continue
            kind = schema.kind(step.type)
            known = [f.name for f in kind.published]
            complaints += [
                f"query: type {step.type} has no field {name}" for name in step.where if name not in known
            ]
            below = [child for _, child in kind.children]
            complaints += [
                f"query: {inner.type} does not stand below {step.type}"
                for inner in step.below
                if inner.type not in below
            ]
            if step.at_least < 1:
                complaints.append("query: at_least is 1 or more")
            if self.vertices and (len(step.below) > 1 or step.at_least > 1):
                complaints.append("query: vertices are counted along a single path")
        if complaints:
            raise InputError(*complaints)


@dataclass(frozen=True)
class Conditions:
    """The conditions of a step on one type: those on the sensitive field, and the others by position."""

    quasi: tuple[tuple[int, Condition], ...]
    sensitive: Condition | None

    @classmethod
    def of(cls, step: Step, schema: Schema) -> Conditions:
        kind = schema.kind(step.type)

        def field_(name: str) -> Field:
            return next(f for f in kind.published if f.name == name)

        quasi = tuple(
            (kind.position(name), wanted)
            for name, wanted in step.where.items()
            if field_(name).role is not Role.SENSITIVE
        )
        sensitive = [w for name, w in step.where.items() if field_(name).role is Role.SENSITIVE]
        return cls(quasi, sensitive[0] if sensitive else None)

    def known(self, vertex: Vertex) -> bool:
        """Does everything but the sensitive value fit?"""
        return all(vertex.values[at] in wanted for at, wanted in self.quasi)


class Exact:
    """Answers on whole trees: the original records, or trees that were put together again."""

    def __init__(self, query: Query, schema: Schema) -> None:
        query.check(schema)
        self.query, self.schema = query, schema
        self._where = {
            id(step): tuple((schema.kind(step.type).position(name), c) for name, c in step.where.items())
            for step in query.root.walk()
        }

    def own(self, step: Step, vertex: Vertex) -> bool:
        return vertex.type == step.type and all(
            vertex.values[at] in wanted for at, wanted in self._where[id(step)]
        )

    def meets(self, step: Step, vertex: Vertex) -> bool:
        return self.own(step, vertex) and all(
            sum(self.meets(inner, child) for child in vertex.children) >= inner.at_least
            for inner in step.below
        )

    def ends(self, step: Step, vertex: Vertex) -> int:
        """How many vertices meet the end of a path that begins here."""
        if not self.own(step, vertex):
            return 0
        return sum(self.ends(step.below[0], child) for child in vertex.children) if step.below else 1

    def of(self, tree: Vertex) -> int:
        """What one person adds to the answer."""
        return self.ends(self.query.root, tree) if self.query.vertices else self.meets(self.query.root, tree)


def count(query: Query, records: Iterable[Vertex], schema: Schema) -> int:
    """The answer on whole records."""
    exact = Exact(query, schema)
    return sum(exact.of(record) for record in records)
