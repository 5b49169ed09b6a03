"""Whether a release tells the truth: every published tree is a pruned, generalised version of an original.

For the steward's eyes, since it needs the original. No two published records may come from one original,
so this is a matching twice over: records to records, and inside a pair of them children to children.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from privet.core import Role
from privet.document.forest import Forest, Vertex
from privet.document.schema import Schema
from privet.domain import Domain, Value


@dataclass(frozen=True, slots=True)
class Truth:
    """How many records were published, and how many of them have an original of their own."""

    records: int
    true: int

    @property
    def holds(self) -> bool:
        return self.records == self.true


def truthful(schema: Schema, original: Sequence[Vertex], release: Iterable[Vertex]) -> Truth:
    """Match the records of a release with originals that they may have come from."""
    compare = _Compare(schema, Forest.of(schema, original).domains)
    having: dict[_Mark, list[int]] = {}  # originals by what is published of their vertices as it is
    for at, record in enumerate(original):
        for mark in compare.marks(record, compare.written):
            having.setdefault(mark, []).append(at)
    published = list(release)

    def candidates(at: int) -> Iterable[int]:
        record = published[at]
        if not all(compare.is_whole(vertex) for vertex in record.walk()):
            return ()
        marks = compare.marks(record, lambda vertex: vertex.values)
        lists = sorted((having.get(mark, []) for mark in marks), key=len)
        near: Iterable[int] = set(lists[0]).intersection(*lists[1:]) if lists else range(len(original))
        return (of for of in sorted(near) if compare.embeds(record, original[of]))

    return Truth(len(published), matched(len(published), candidates))


_Mark: TypeAlias = tuple[int, str, tuple[Value, ...], int]  # depth, type, values, and which of several alike


class _Compare:
    def __init__(self, schema: Schema, domains: Mapping[tuple[str, str], Domain]) -> None:
        self.schema = schema
        self.covers = {key: _ranges(domain) for key, domain in domains.items()}
        self.codes = {key: domain.codes for key, domain in domains.items()}
        self.exact = {
            kind.name: [at for at, f in enumerate(kind.published) if f.role is not Role.QUASI]
            for kind in schema.kinds
        }

    def written(self, vertex: Vertex) -> tuple[Value, ...]:
        """The values of an original as a release would write them if nothing were generalised."""
        kind = self.schema.kind(vertex.type)
        found: list[Value] = []
        for f, value in zip(kind.published, vertex.values, strict=True):
            bucket = f.buckets.bucket(value) if f.buckets is not None and f.buckets.labelled else None
            found.append(value if bucket is None or f.buckets is None else f.buckets.label(bucket))
        return tuple(found)

    def is_whole(self, vertex: Vertex) -> bool:
        """Is the vertex of a known type, with a value for each field?"""
        known = vertex.type in self.schema.position
        return known and len(vertex.values) == len(self.schema.kind(vertex.type).published)

    def marks(self, tree: Vertex, values: Callable[[Vertex], tuple[Value, ...]]) -> set[_Mark]:
        """What of a tree no generalisation changes: a tree that came from another has marks of that one."""
        met: Counter[tuple[int, str, tuple[Value, ...]]] = Counter()
        found: set[_Mark] = set()
        waiting = [(0, tree)]
        while waiting:
            level, vertex = waiting.pop()
            if self.exact[vertex.type] or not level:
                now = values(vertex)
                key = (level, vertex.type, tuple(now[at] for at in self.exact[vertex.type]))
                met[key] += 1
                found.add((*key, met[key]))
            waiting += [(level + 1, child) for child in vertex.children]
        return found

    def embeds(self, published: Vertex, original: Vertex) -> bool:
        """Could this vertex, with all that is left below it, have come from that one?"""
        if published.type != original.type or len(published.children) > len(original.children):
            return False
        kind = self.schema.kind(published.type)
        for f, now, before in zip(kind.published, published.values, self.written(original), strict=True):
            if f.role is not Role.QUASI:
                if now != before:
                    return False
                continue
            code = self.codes[kind.name, f.name][before]
            if now != before and not any(
                low <= code < high for low, high in self.covers[kind.name, f.name].get(now, ())
            ):
                return False
        fits = [
            [at for at, old in enumerate(original.children) if self.embeds(new, old)]
            for new in published.children
        ]
        return matched(len(fits), fits.__getitem__) == len(fits)


def _ranges(domain: Domain) -> dict[Value, list[tuple[int, int]]]:
    found: dict[Value, list[tuple[int, int]]] = {}
    for node in domain.root.walk():
        found.setdefault(node.label, []).append((node.lo, node.hi))
    return found


def matched(count: int, candidates: Callable[[int], Iterable[int]]) -> int:
    """How many of the first `count` numbers can have a candidate of their own, at most (augmenting paths)."""
    known: dict[int, list[int]] = {}
    asking: dict[int, Iterator[int]] = {}
    owner: dict[int, int] = {}  # by candidate
    mine: dict[int, int] = {}
    for start in range(count):
        # Breadth first, so that no long chain of exchanges runs into Python's limit on recursion.
        way: dict[int, int] = {}  # by candidate: who reached it
        waiting = deque([start])
        free: int | None = None
        while waiting and free is None:
            who = waiting.popleft()
            if who not in known:
                known[who], asking[who] = [], iter(candidates(who))
            for one in _all(known[who], asking[who]):
                if one in way:
                    continue
                way[one] = who
                if one not in owner:
                    free = one
                    break
                waiting.append(owner[one])
        while free is not None:  # everybody on the way moves on to the next one
            who = way[free]
            before = mine.get(who)
            owner[free], mine[who] = who, free
            free = before
    return len(mine)


def _all(known: list[int], more: Iterator[int]) -> Iterator[int]:
    """What is known, then what is found out now; nothing is asked twice, or before it is wanted."""
    yield from known
    for one in more:
        known.append(one)
        yield one
