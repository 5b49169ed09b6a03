"""Anatomy by its definitions: nested objects, rules recounted from scratch, nothing remembered."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb
from typing import Any

from hypothesis import strategies as st

from privet.document.anatomy_rules import ANY, Rule, Rules
from privet.document.described import described
from privet.document.forest import Vertex
from privet.document.schema import Schema

SCHEMA = described(
    {
        "types": {
            "r": {"quasi": ["q"], "sensitive": "s", "children": {"as": "a", "cs": "c"}},
            "a": {"quasi": ["q"], "sensitive": "s", "children": {"bs": "b"}},
            "b": {"sensitive": "n"},
            "c": {"quasi": ["q"], "children": {"ds": "d"}},
            "d": {"quasi": ["q"], "sensitive": "s"},
        },
        "attributes": {"n": {"buckets": {"edges": [0, 10, 20, 30]}}},
    }
)


@dataclass
class Position:
    """A vertex of every member, and the positions below."""

    vertices: list[Vertex]
    below: list[Position] = field(default_factory=list)

    def size(self) -> int:
        return 1 + sum(p.size() for p in self.below)

    def walk(self) -> list[Position]:
        return [self, *(q for p in self.below for q in p.walk())]


def key(vertex: Vertex, schema: Schema = SCHEMA) -> Any:
    """Type and bucket of the sensitive value; None without one."""
    kind = schema.kind(vertex.type)
    if kind.sensitive is None:
        return None
    value = vertex.values[kind.position(kind.sensitive.name)]
    buckets = kind.sensitive.buckets
    if buckets is None or value is None:
        return vertex.type, value
    inside = sum(edge <= float(value) for edge in buckets.edges)
    return vertex.type, min(inside, len(buckets.edges) - 1)


def speaks(rule: Rule, k: Any, schema: Schema = SCHEMA) -> bool:
    kind = schema.kind(k[0])
    assert kind.sensitive is not None
    if rule.attribute not in {ANY, kind.sensitive.name, f"{kind.name}.{kind.sensitive.name}"}:
        return False
    if rule.value == ANY:
        return True
    probe = [rule.value if f is kind.sensitive else None for f in kind.published]
    return bool(key(Vertex(kind.name, tuple(probe)), schema) == k)


def confident(accepted: Sequence[Position], rule: Rule, l: int, *, trees: bool, size: int) -> bool:
    """Does the rule hold for what was accepted?"""
    keys = {key(v) for p in accepted for v in p.vertices} - {None}
    for k in keys:
        if not speaks(rule, k):
            continue
        if trees:
            members = len(accepted[0].vertices)
            reach = sum(sum(key(p.vertices[i]) == k for p in accepted) >= rule.m for i in range(members))
            if Fraction(reach, size) > rule.p:
                return False
        else:
            eta = sum(any(key(v) == k for v in p.vertices) for p in accepted)
            below = sum(
                comb(eta, j) * Fraction(1, l) ** j * (1 - Fraction(1, l)) ** (eta - j) for j in range(rule.m)
            )
            if below < 1 - rule.p:
                return False
    return True


def naive_merge(
    group: Position, tree: Vertex, rules: Rules, l: int, *, trees: bool, size: int | None = None
) -> Position | None:
    accepted: list[Position] = []

    def siblings(positions: Sequence[Position], vertices: Sequence[Vertex]) -> list[Position]:
        free, kept = list(vertices), []
        for position in positions:
            for vertex in free:
                if vertex.type != position.vertices[0].type:
                    continue
                if key(vertex) is not None and key(vertex) in [key(v) for v in position.vertices]:
                    continue
                new = Position([*position.vertices, vertex])
                accepted.append(new)
                holds = [confident(accepted, r, l, trees=trees, size=size or l) for r in rules.rules]
                if not all(holds):
                    accepted.pop()
                    continue
                free = [v for v in free if v is not vertex]
                new.below = siblings(position.below, vertex.children)
                kept.append(new)
                break
        return kept

    found = siblings([group], [tree])
    return found[0] if found else None


def lonely(tree: Vertex) -> Position:
    return Position([tree], [lonely(child) for child in tree.children])


def vertices_of(tree: Vertex) -> int:
    return sum(1 for _ in tree.walk())


def naive_anatomize(
    records: Sequence[Vertex], rules: Rules, l: int, *, trees: bool, parts: int = 1
) -> tuple[list[tuple[int, ...]], list[Position], list[int]]:
    """Groups as members and positions, and who is suppressed."""
    order = sorted(range(len(records)), key=lambda at: (vertices_of(records[at]), at))
    size, more = divmod(len(order), parts)
    cut, at = [], 0
    for number in range(parts):
        step = size + (number < more)
        cut.append(order[at : at + step])
        at += step
    left: list[int] = []
    suppressed: list[int] = []
    members: list[tuple[int, ...]] = []
    groups: list[Position] = []
    for last, part in [(False, p) for p in cut] + [(True, left)]:
        waiting = list(part)
        while True:
            if len(waiting) < l:
                (suppressed if last else left).extend(waiting)
                break
            seed = waiting.pop(0)
            group, taken, rest = lonely(records[seed]), [seed], list(waiting)
            for j in range(1, l):
                options = []
                for other in rest:
                    made = naive_merge(group, records[other], rules, l, trees=trees)
                    if made is not None:
                        lost = j * (group.size() - made.size()) + vertices_of(records[other]) - made.size()
                        options.append((lost, rest.index(other), other, made))
                if not options:
                    break
                _, _, chosen, group = min(options, key=lambda option: option[:2])
                taken.append(chosen)
                rest.remove(chosen)
            if len(taken) < l:
                suppressed.append(seed)
            else:
                members.append(tuple(taken))
                groups.append(group)
                waiting = rest
    return members, groups, sorted(suppressed)


def counted(values: Sequence[Any]) -> Counter[Any]:
    return Counter(values)


SHORT = st.sampled_from(["x", "y", "z"])
MAYBE = st.sampled_from(["x", "y", "z", None])


def _b() -> st.SearchStrategy[Vertex]:
    return st.sampled_from(["1", "9", "10", "15", "25", "30"]).map(lambda v: Vertex("b", (v,)))


def _a() -> st.SearchStrategy[Vertex]:
    return st.builds(
        lambda q, s, below: Vertex("a", (q, s), tuple(below)), SHORT, MAYBE, st.lists(_b(), max_size=2)
    )


def _c() -> st.SearchStrategy[Vertex]:
    d = st.builds(lambda q, s: Vertex("d", (q, s)), SHORT, SHORT)
    return st.builds(lambda q, below: Vertex("c", (q,), tuple(below)), MAYBE, st.lists(d, max_size=2))


def trees() -> st.SearchStrategy[Vertex]:
    return st.builds(
        lambda q, s, first, second: Vertex("r", (q, s), (*first, *second)),
        SHORT,
        st.sampled_from("uvwxyz"),
        st.lists(_a(), max_size=4),
        st.lists(_c(), max_size=2),
    )


def some_rules() -> st.SearchStrategy[Rules]:
    rule = st.builds(
        Rule,
        st.sampled_from([ANY, "x", "y"]),
        st.integers(1, 3),
        st.sampled_from([Fraction(1, 5), Fraction(1, 3), Fraction(1, 2), Fraction(3, 4), Fraction(1)]),
        st.sampled_from(["s", "a.s", "r.s"]),
    )
    wild = st.builds(Rule, st.just(ANY), st.integers(1, 3), st.sampled_from([Fraction(1, 2), Fraction(1, 3)]))
    bucket = st.builds(
        Rule,
        st.just("12"),
        st.integers(1, 2),
        st.sampled_from([Fraction(1, 4), Fraction(1, 2)]),
        st.just("n"),
    )
    return st.lists(st.one_of(rule, wild, bucket), max_size=3).map(lambda found: Rules(tuple(found)))
