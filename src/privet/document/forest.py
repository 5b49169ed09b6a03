"""A forest: many trees as a few arrays, so that comparing two of them touches numbers only.

All vertices of all records stand in one preorder, so a subtree is a range `[v, ends[v])`, and a record
is a range too. Values are codes: those of quasi-identifiers in the leaf order of their hierarchy, so
that a generalised value is a range of codes. `Vertex` is the same thing for people and files: a plain
nested object, all values as text.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.core import Role
from privet.document.schema import DEEPEST, Buckets, Field, Kind, Schema
from privet.domain import Domain, Value, flat
from privet.engine import spelt
from privet.equality import key
from privet.errors import HierarchyError, InputError

Ints: TypeAlias = NDArray[np.int32]
NONE = -1  # where an array has no code: padding, a type without a sensitive field, the parent of a root


@dataclass(frozen=True, slots=True)
class Vertex:
    """A vertex with all below it: one value for each of `Kind.published`, in that order."""

    type: str
    values: tuple[Value, ...] = field(default=(), repr=False)
    children: tuple[Vertex, ...] = field(default=(), repr=False)

    def walk(self) -> Iterator[Vertex]:
        """This vertex and all below it, in preorder."""
        waiting = [self]
        while waiting:
            vertex = waiting.pop()
            yield vertex
            waiting.extend(reversed(vertex.children))


@dataclass(frozen=True, eq=False)
class Forest:
    """Records as arrays over their vertices: one entry a vertex in all but `starts`."""

    schema: Schema = field(repr=False)
    domains: Mapping[tuple[str, str], Domain] = field(repr=False)  # by type and field, published fields only
    starts: NDArray[np.int64] = field(repr=False)  # record r is vertices starts[r] .. starts[r + 1]
    kinds: Ints = field(repr=False)  # which of `schema.kinds`
    parents: Ints = field(repr=False)  # -1 at a root
    ends: Ints = field(repr=False)  # one past the last vertex below
    codes: Ints = field(repr=False)  # [vertices, published fields]; column i is field i of the vertex' type
    buckets: Ints = field(repr=False)  # the sensitive value as promises see it; -1 without a sensitive field

    @classmethod
    def of(cls, schema: Schema, records: Iterable[Vertex]) -> Forest:
        """Encode records, one at a time: they may come from a stream."""
        builder = Builder(schema)
        for record in records:
            builder.add(record)
        return builder.forest()

    def __len__(self) -> int:
        """How many records."""
        return len(self.starts) - 1

    @property
    def vertices(self) -> int:
        return len(self.kinds)

    @cached_property
    def roots(self) -> NDArray[np.int64]:
        return self.starts[:-1]

    @cached_property
    def levels(self) -> Ints:
        """How deep each vertex is; a root is at 0."""
        level = np.zeros(self.vertices, dtype=np.int32)
        for vertex in np.flatnonzero(self.parents != NONE):  # parents stand before their children
            level[vertex] = level[self.parents[vertex]] + 1
        return level

    @cached_property
    def children(self) -> tuple[NDArray[np.int64], Ints]:
        """`begins` and `members`: v has the children `members[begins[v] : begins[v + 1]]`, in order."""
        inner = np.flatnonzero(self.parents != NONE)
        count = np.bincount(self.parents[inner], minlength=self.vertices)
        order = np.argsort(self.parents[inner], kind="stable")
        return np.concatenate(([0], np.cumsum(count))).astype(np.int64), inner[order].astype(np.int32)

    @cached_property
    def records(self) -> Ints:
        """Whose each vertex is."""
        return np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.starts))

    def sizes(self) -> NDArray[np.int64]:
        """How many vertices each record has."""
        return np.diff(self.starts)

    def field(self, kind: Kind, name: str) -> tuple[NDArray[np.int64], Ints, Domain]:
        """One attribute as a column: the vertices of its type, their codes, the domain."""
        at = np.flatnonzero(self.kinds == self.schema.position[kind.name])
        return at, self.codes[at, kind.position(name)], self.domains[kind.name, name]

    def in_order(self) -> NDArray[np.int64]:
        """The records sorted by what stands in them: no search or tie may go by the order they came in."""
        offset = np.repeat(self.starts[:-1], self.sizes())
        above = np.where(self.parents == NONE, NONE, self.parents - offset)
        rows = np.column_stack((self.kinds, above, self.codes)) + 1
        said = rows.astype(">u4").tobytes()  # compares as the numbers do
        ends = (self.starts * (rows.shape[1] * 4)).tolist()
        texts = [said[a:b] for a, b in pairwise(ends)]
        return np.array(sorted(range(len(self)), key=texts.__getitem__), dtype=np.int64)

    def with_siblings_in_order(self, *, mixed: bool = False) -> Forest:
        """The same records, siblings sorted by what stands in and below them, not as they came.

        `mixed`: by what is known of them, and equal ones in an order that each record has for itself.
        """
        if not (np.diff(self.children[0]) > 1).any():
            return self
        rows = np.column_stack((self.kinds, self.codes)) + 1
        whole = self._below(rows)
        if not mixed:
            return self._rearranged(whole)
        # Equal records are told apart by their number, so that they are mixed in different ways.
        met, salts = Counter[bytes](), []
        for root in self.starts[:-1].tolist():
            met[whole[root]] += 1
            salts.append(blake2b(whole[root], salt=met[whole[root]].to_bytes(8, "big")).digest())
        mixes = [
            blake2b(key, key=salts[record]).digest()
            for key, record in zip(whole, self.records.tolist(), strict=True)
        ]
        known = self._below(np.column_stack((rows[:, 0], np.where(self._known, rows[:, 1:], 0))))
        return self._rearranged(list(zip(known, mixes, strict=True)))

    @cached_property
    def _known(self) -> NDArray[np.bool_]:
        """Which codes are those of quasi-identifiers."""
        width = self.codes.shape[1]
        quasi = [[at in kind.quasi_places for at in range(width)] for kind in self.schema.kinds]
        return np.array(quasi, dtype=bool).reshape(len(quasi), width)[self.kinds]

    def _below(self, rows: NDArray[np.integer[Any]]) -> list[bytes]:
        """For each vertex its row, and a digest of all below it, whichever order siblings have."""
        begins, members = (found.tolist() for found in self.children)
        width, said = rows.shape[1] * 4, rows.astype(">u4").tobytes()  # compares as the numbers do
        key = [said[at : at + width] for at in range(0, len(said), width)]
        nothing = blake2b(digest_size=16).digest()
        for vertex in range(self.vertices - 1, -1, -1):  # children before their parents
            below = sorted([key[child] for child in members[begins[vertex] : begins[vertex + 1]]])
            key[vertex] += blake2b(b"".join(below), digest_size=16).digest() if below else nothing
        return key

    def _rearranged(self, keys: Sequence[Any]) -> Forest:
        """The same records, siblings sorted by their keys."""
        begins, members = (found.tolist() for found in self.children)
        order = [[vertex] for vertex in range(self.vertices)]
        for vertex in range(self.vertices - 1, -1, -1):
            for child in sorted(members[begins[vertex] : begins[vertex + 1]], key=keys.__getitem__):
                order[vertex] += order[child]
                order[child] = []
        old = np.array([at for root in self.starts[:-1].tolist() for at in order[root]], dtype=np.int64)
        new = np.empty_like(old)
        new[old] = np.arange(len(old))
        parents = self.parents[old]
        return replace(
            self,
            kinds=self.kinds[old],
            parents=np.where(parents == NONE, NONE, new[parents]).astype(np.int32),
            ends=(self.ends[old] - old + np.arange(len(old))).astype(np.int32),
            codes=np.ascontiguousarray(self.codes[old]),
            buckets=self.buckets[old],
        )

    def take(self, records: Sequence[int] | NDArray[np.integer[Any]]) -> Forest:
        """Some of the records, in the given order, with the same domains."""
        chosen = np.asarray(records, dtype=np.int64)
        lengths = self.sizes()[chosen]
        starts = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        moved = np.repeat(starts[:-1] - self.starts[chosen], lengths)  # how far each vertex moves
        old = np.arange(starts[-1], dtype=np.int64) - moved
        parents = self.parents[old]
        return replace(
            self,
            starts=starts,
            kinds=self.kinds[old],
            parents=np.where(parents == NONE, NONE, parents + moved).astype(np.int32),
            ends=(self.ends[old] + moved).astype(np.int32),
            codes=np.ascontiguousarray(self.codes[old]),
            buckets=self.buckets[old],
        )

    def values(self, vertex: int) -> tuple[Value, ...]:
        """The values of a vertex, as they were read."""
        kind = self.schema.kinds[self.kinds[vertex]]
        return tuple(
            self.domains[kind.name, f.name].values[self.codes[vertex, at]]
            for at, f in enumerate(kind.published)
        )

    def record(self, at: int) -> Vertex:
        """One record as a nested object."""
        begin, end = int(self.starts[at]), int(self.starts[at + 1])
        below: dict[int, list[Vertex]] = {}
        for vertex in range(end - 1, begin - 1, -1):  # children before their parents
            children = tuple(reversed(below.pop(vertex, [])))
            made = Vertex(self.schema.kinds[self.kinds[vertex]].name, self.values(vertex), children)
            below.setdefault(int(self.parents[vertex]), []).append(made)
        return below[NONE][0]

    def __iter__(self) -> Iterator[Vertex]:
        return (self.record(at) for at in range(len(self)))


class Builder:
    """Encodes records as they come; when all are there, puts codes into leaf order."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._published = [kind.published for kind in schema.kinds]
        self._below = [frozenset(child for _, child in kind.children) for kind in schema.kinds]
        self._met: list[list[dict[Value, int]]] = [[{} for _ in fields] for fields in self._published]
        self._width = max(map(len, self._published), default=0)
        self._starts = array("q", [0])
        self._kinds, self._parents, self._codes = array("i"), array("i"), array("i")

    def add(self, record: Vertex) -> None:
        """Append one record; raises InputError when it does not follow the schema."""
        if record.type != self.schema.root:
            raise InputError(
                f"{self._place()}: a record is of type {self.schema.root}; all roots have the same type"
            )
        before = len(self._kinds)
        try:
            self._append(record)
        except InputError:  # leave no half of a record behind
            del self._kinds[before:], self._parents[before:], self._codes[before * self._width :]
            raise
        self._starts.append(len(self._kinds))

    def _append(self, record: Vertex) -> None:
        waiting: list[tuple[Vertex, int, int]] = [(record, NONE, 0)]
        while waiting:
            vertex, parent, level = waiting.pop()
            kind = self.schema.position.get(vertex.type)
            if kind is None or (parent != NONE and vertex.type not in self._below[self._kinds[parent]]):
                raise InputError(f"{self._place()}: a vertex stands where the schema has none of its type")
            if len(vertex.values) != len(self._published[kind]):
                raise InputError(
                    f"{self._place()}: a vertex of type {vertex.type} has not one value for each field"
                )
            if level >= DEEPEST:
                raise InputError(f"{self._place()}: deeper than {DEEPEST} levels")
            here = len(self._kinds)
            self._kinds.append(kind)
            self._parents.append(parent)
            codes = [
                met.setdefault(value, len(met))
                for met, value in zip(self._met[kind], vertex.values, strict=True)
            ]
            self._codes.extend(codes + [NONE] * (self._width - len(codes)))
            waiting.extend((child, here, level + 1) for child in reversed(vertex.children))

    def _place(self) -> str:
        return f"record {len(self._starts)}"

    def forest(self) -> Forest:
        """The forest of all records added so far."""
        kinds = np.array(self._kinds, dtype=np.int32)
        parents = np.array(self._parents, dtype=np.int32)
        codes = np.array(self._codes, dtype=np.int32).reshape(len(kinds), self._width)
        buckets = np.full(len(kinds), NONE, dtype=np.int32)
        domains: dict[tuple[str, str], Domain] = {}
        for number, kind in enumerate(self.schema.kinds):
            at = np.flatnonzero(kinds == number)
            for column, f in enumerate(kind.published):
                met = tuple(self._met[number][column])
                told = spelt(met) if f.role is Role.SENSITIVE else met
                domain = domains[kind.name, f.name] = domain_of(kind, f, told)
                order = np.array([domain.code(value) for value in met], dtype=np.int32)
                codes[at, column] = order[codes[at, column]] if met else NONE
                if f.role is Role.SENSITIVE:
                    buckets[at] = _bucketed(kind, f, domain)[codes[at, column]] if met else NONE
        starts = np.array(self._starts, dtype=np.int64)
        return Forest(self.schema, domains, starts, kinds, parents, ends_of(parents), codes, buckets)


def domain_of(kind: Kind, f: Field, values: Sequence[Value]) -> Domain:
    """The values of a field in leaf order; without a hierarchy, in the order of the alphabet."""
    if f.role is Role.QUASI and f.hierarchy is not None:
        try:
            return f.hierarchy.domain(values)
        except HierarchyError as error:
            raise HierarchyError(
                *(f"type {kind.name}, field {f.name}: {complaint}" for complaint in error.complaints),
                missing=error.missing,
            ) from None
    known = tuple(sorted(value for value in values if value is not None))
    return flat(known + ((None,) if None in values else ()))


def _bucketed(kind: Kind, f: Field, domain: Domain) -> Ints:
    """The bucket of each code; null has one of its own, behind all others.

    Without buckets it is the first of the codes whose values are equal: 45 and 45.0 are one value.
    """
    if f.buckets is None:
        first: dict[Value, int] = {}
        of_code = [first.setdefault(key(value), code) for code, value in enumerate(domain.values)]
        return np.array(of_code, dtype=np.int32)
    return np.array([bucket_of(kind, f, f.buckets, value) for value in domain.values], dtype=np.int32)


def bucket_of(kind: Kind, f: Field, buckets: Buckets, value: Value) -> int:
    """The bucket of a value; null is like no other value, so it has a bucket of its own."""
    try:
        found = buckets.bucket(value)
    except InputError as error:
        raise InputError(
            *(f"type {kind.name}, field {f.name}: {text}" for text in error.complaints)
        ) from None
    return len(buckets.edges) - 1 if found is None else found


def ends_of(parents: Ints) -> Ints:
    """One past the last vertex below each: every vertex pushes its end up to its parent, last ones first."""
    ends = np.arange(1, len(parents) + 1, dtype=np.int32).tolist()
    above = parents.tolist()
    for vertex in range(len(ends) - 1, -1, -1):
        parent = above[vertex]
        if parent != NONE and ends[vertex] > ends[parent]:
            ends[parent] = ends[vertex]
    return np.array(ends, dtype=np.int32)
