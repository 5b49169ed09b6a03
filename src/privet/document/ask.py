"""Random counting questions about a collection, for measuring what a release still answers.

Each asks for something that somebody in the collection has: values of one person's root, and of a path
below it. Half of them count people, half vertices (Ozalp 2017, section 2.4, which gives examples only).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from random import Random

from privet.core import Role
from privet.document.forest import Vertex
from privet.document.query import Between, Condition, Query, Step
from privet.document.schema import Field, Schema
from privet.domain import Value


def questions(schema: Schema, records: Sequence[Vertex], many: int, random: Random) -> Iterator[Query]:
    """So many questions; the same for the same random numbers."""
    for number in range(many if records else 0):
        vertex = random.choice(records)
        path = [vertex]
        while vertex.children and (len(path) == 1 or random.random() < 0.5):
            vertex = random.choice(vertex.children)
            path.append(vertex)
        step: Step | None = None
        for level in range(len(path) - 1, -1, -1):
            where = _wanted(schema, path[level], random, last=level == len(path) - 1)
            step = Step(path[level].type, where, () if step is None else (step,))
        assert step is not None
        yield Query(step, vertices=number % 2 == 1)


def _wanted(schema: Schema, vertex: Vertex, random: Random, *, last: bool) -> dict[str, Condition]:
    """The last step asks for its quasi-identifiers in any case, for sensitive values now and then."""
    found: dict[str, Condition] = {}
    for f, value in zip(schema.kind(vertex.type).published, vertex.values, strict=True):
        if f.role is Role.QUASI and (last or random.random() < 0.3):
            found[f.name] = frozenset({value})
        elif f.role is Role.SENSITIVE and random.random() < 0.2:
            found[f.name] = _about(f, value)
    return found


def _about(f: Field, value: Value) -> Condition:
    """The value itself, or whatever is in its bucket."""
    if f.buckets is None or f.buckets.labelled or value is None:
        return frozenset({value})
    at = f.buckets.bucket(value)
    assert at is not None
    low, high = f.buckets.edges[at : at + 2]
    return Between(low, high + Decimal(at == len(f.buckets.edges) - 2))  # the last bucket is closed
