"""What anatomy publishes: groups, each in two halves that nobody can put together again with certainty.

Quasi-identifiers and sensitive values stand in the same aligned order in all trees of a group. Each half is
sorted by what it shows, and so are the groups: nothing in the file says which half belongs to which. `Links`
is the secret that would, and it stays at home.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from random import Random, SystemRandom
from typing import Any

import numpy as np

from privet.core import Role
from privet.declared import Order
from privet.document.anatomy import Grouping
from privet.document.anatomy_merge import Group
from privet.document.forest import NONE, Forest, Vertex
from privet.document.ordering import key_of
from privet.document.schema import Field, Kind, Schema
from privet.document.style import Style
from privet.domain import Value
from privet.errors import PolicyError

SAG = "sag"  # the field in which a vertex names its group of sensitive values


@dataclass(frozen=True, slots=True)
class Bag:
    """A multiset of sensitive values of one type (an SA-group), in the order of the alphabet."""

    type: str
    values: tuple[tuple[Value, int], ...] = field(repr=False)

    @classmethod
    def of(cls, type_: str, values: Sequence[Value]) -> Bag:
        counted = Counter(values)
        return cls(type_, tuple((v, counted[v]) for v in sorted(counted, key=lambda v: (v is None, v or ""))))

    def __len__(self) -> int:
        return sum(count for _, count in self.values)

    def __iter__(self) -> Iterator[Value]:
        return (value for value, count in self.values for _ in range(count))


@dataclass(frozen=True, slots=True)
class Published:
    """One group. `qi` are trees without sensitive values; in v-v their last field names a bag.

    `sa` are trees with nothing but sensitive values (t-t); `bags` the groups of values by name (v-v).
    """

    id: str
    qi: tuple[Vertex, ...] = field(repr=False)
    sa: tuple[Vertex, ...] = field(default=(), repr=False)
    bags: Mapping[str, Bag] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        """How many people."""
        return len(self.qi)


@dataclass(frozen=True)
class Publication:
    """Everything that leaves. Without the schema nobody could read it, so it carries one."""

    schema: Schema = field(repr=False)
    style: Style
    l: int
    groups: tuple[Published, ...] = field(repr=False)

    def __len__(self) -> int:
        return sum(len(group) for group in self.groups)


@dataclass(frozen=True, slots=True)
class Links:
    """The secret: which record each tree of each group comes from. Never written beside the publication."""

    qi: tuple[tuple[int, ...], ...] = field(repr=False)
    sa: tuple[tuple[int, ...], ...] = field(repr=False)  # t-t only


def with_bags(schema: Schema) -> Schema:
    """The schema of trees whose vertices may name a bag."""
    if any(SAG in {f.name, f.xml} for kind in schema.kinds for f in kind.fields):
        raise PolicyError(
            f"a field is called {SAG}, which v-v anatomy needs for itself; give it another name"
        )
    named = Field(SAG, Role.OTHER)
    kinds = tuple(replace(kind, fields=(*kind.fields, named)) for kind in schema.kinds)
    return replace(schema, kinds=kinds)


def quasi_fields(kind: Kind) -> tuple[str, ...]:
    """The fields of the half without sensitive values: quasi-identifiers, and what is harmless."""
    return tuple(f.name for f in kind.published if f.role is not Role.SENSITIVE)


def publish(
    grouping: Grouping, random: Random | None = None, order: Order = Order.CANONICAL
) -> tuple[Publication, Links]:
    """Take every group apart; each half in the order of what it shows, so that none tells of the other.

    Chance decides, the operating system's unless told, where siblings look alike in both halves. Where the
    order of records is kept, it is that of their known halves; the sensitive ones are sorted all the same.
    """
    random = SystemRandom() if random is None else random
    made, qi_links, sa_links = [], [], []
    schema = grouping.forest.schema
    if grouping.style is Style.VERTICES:
        with_bags(schema)  # refuses before anything is made
    laid = [_laid(grouping, group, random) for group in grouping.groups]
    if order is Order.KEPT:
        laid = sorted(
            (replace(one, people=sorted(one.people, key=one.aligned.members.__getitem__)) for one in laid),
            key=lambda one: min(one.aligned.members),
        )
    else:
        laid.sort(key=lambda one: one.key)
    for number, one in enumerate(laid):
        aligned, people, beside = one.aligned, one.people, one.beside
        name = f"g{number}"
        if grouping.style is Style.TREES:
            qi = tuple(tree(grouping.forest, aligned, j, sensitive=False) for j in people)
            sa = tuple(tree(grouping.forest, aligned, j, sensitive=True) for j in beside)
            made.append(Published(name, qi, sa))
        else:
            bags = bag_names(aligned, grouping.forest.schema, name)
            qi = tuple(tree(grouping.forest, aligned, j, sensitive=False, bags=bags) for j in people)
            made.append(Published(name, qi, bags=bags_of(grouping.forest, aligned, bags)))
            beside = []
        qi_links.append(tuple(aligned.members[j] for j in people))
        sa_links.append(tuple(aligned.members[j] for j in beside))
    publication = Publication(schema, grouping.style, grouping.l, tuple(made))
    return publication, Links(tuple(qi_links), tuple(sa_links))


@dataclass(frozen=True)
class _Laid:
    """A group with its siblings in their final order, and both halves in theirs."""

    aligned: Group
    people: list[int]
    beside: list[int]
    key: Any  # what the group is sorted by: everything that it shows


def _laid(grouping: Grouping, group: Group, random: Random) -> _Laid:
    forest, schema = grouping.forest, grouping.forest.schema
    aligned = group.arranged(siblings(group, forest, random))
    members = range(len(group.members))
    halves = [
        [key_of(tree(forest, aligned, j, sensitive=sensitive), schema) for j in members]
        for sensitive in (False, True)
    ]
    people, beside = (sorted(members, key=half.__getitem__) for half in halves)
    key = ([halves[0][j] for j in people], [halves[1][j] for j in beside])
    return _Laid(aligned, people, beside, key)


def siblings(group: Group, forest: Forest, random: Random) -> list[int]:
    """Positions in preorder: siblings by what both halves of the group show below them, types as the schema.

    The order in which the first member's document had them could tell that member from the others.
    """
    schema = forest.schema
    shown: dict[int, Any] = {}
    for position in range(len(group) - 1, -1, -1):  # children before their parents
        kind = schema.kinds[group.kinds[position]]
        values = [forest.values(int(vertex)) for vertex in group.vertices[position]]
        split = [
            sorted(
                tuple(
                    (v is None, v or "") for f, v in zip(kind.published, one, strict=True) if _is(f) == side
                )
                for one in values
            )
            for side in (False, True)
        ]
        below = sorted(shown[child] for child in group.below(position))
        # A digest, so that what stands deep below takes no more room than what stands here.
        said = repr((int(group.kinds[position]), *split, below))
        shown[position] = sha256(said.encode("utf-8", "surrogatepass")).hexdigest()
    order: list[int] = []
    waiting = [0]
    while waiting:
        position = waiting.pop()
        order.append(position)
        below = group.below(position)
        random.shuffle(below)
        types = [child for _, child in schema.kinds[group.kinds[position]].children]
        below.sort(key=lambda p: (types.index(schema.kinds[group.kinds[p]].name), shown[p]))
        waiting += reversed(below)
    return order


def _is(field_: Field) -> bool:
    return field_.role is Role.SENSITIVE


def tree(
    forest: Forest, group: Group, member: int, *, sensitive: bool, bags: Sequence[str | None] | None = None
) -> Vertex:
    """One half of a member's tree: the other half's values are None."""
    below: dict[int, list[Vertex]] = {}
    for position in range(len(group) - 1, -1, -1):
        kind = forest.schema.kinds[group.kinds[position]]
        values = [
            value if (f.role is Role.SENSITIVE) == sensitive else None
            for f, value in zip(
                kind.published, forest.values(int(group.vertices[position, member])), strict=True
            )
        ]
        if bags is not None:
            values.append(bags[position])
        children = tuple(reversed(below.pop(position, [])))
        made = Vertex(kind.name, tuple(values), children)
        below.setdefault(int(group.parents[position]), []).append(made)
    return below[NONE][0]


def bag_names(group: Group, schema: Schema, name: str) -> list[str | None]:
    """`g17:G1.2` for each position with sensitive values: the group, the level, the number in the level."""
    level = np.zeros(len(group), dtype=np.int64)
    for position in range(1, len(group)):
        level[position] = level[group.parents[position]] + 1
    names: list[str | None] = [None] * len(group)
    met: Counter[int] = Counter()
    for position in np.argsort(level, kind="stable"):
        if schema.kinds[group.kinds[position]].sensitive is not None:
            met[int(level[position])] += 1
            names[position] = f"{name}:G{level[position]}.{met[int(level[position])]}"
    return names


def heap_names(group: Published, schema: Schema, name: str) -> list[str]:
    """The same names, in the order of positions, read off a tree of the group."""
    met: Counter[int] = Counter()
    names, waiting = [], [(group.qi[0], 0)] if group.qi else []
    while waiting:
        vertex, level = waiting.pop()
        if schema.kind(vertex.type).sensitive is not None:
            met[level] += 1
            names.append(f"{name}:G{level}.{met[level]}")
        waiting += [(child, level + 1) for child in reversed(vertex.children)]
    return names


def bags_of(forest: Forest, group: Group, names: Sequence[str | None]) -> Mapping[str, Bag]:
    bags = {}
    for position, name in enumerate(names):
        kind = forest.schema.kinds[group.kinds[position]]
        if name is not None and kind.sensitive is not None:
            at = kind.position(kind.sensitive.name)
            bags[name] = Bag.of(kind.name, [forest.values(int(v))[at] for v in group.vertices[position]])
    return bags


def combined(qi: Vertex, sa: Vertex, schema: Schema) -> Vertex:
    """A tree of quasi-identifiers and one of sensitive values, put together position by position."""
    kind = schema.kind(qi.type)
    values = tuple(
        b if f.role is Role.SENSITIVE else a
        for f, a, b in zip(kind.published, qi.values, sa.values, strict=True)
    )
    children = tuple(combined(a, b, schema) for a, b in zip(qi.children, sa.children, strict=True))
    return Vertex(qi.type, values, children)


def sensitive_value(vertex: Vertex, schema: Schema) -> Value:
    """The sensitive value of a vertex whose type has one."""
    kind = schema.kind(vertex.type)
    assert kind.sensitive is not None
    return vertex.values[kind.position(kind.sensitive.name)]


def with_sensitive(vertex: Vertex, values: Iterator[Value], schema: Schema) -> Vertex:
    """The tree with sensitive values put in, one for each vertex of a type that has one, in preorder."""
    kind = schema.kind(vertex.type)
    own = next(values) if kind.sensitive is not None else None
    mine = tuple(
        own if f.role is Role.SENSITIVE else value
        for f, value in zip(kind.published, vertex.values, strict=False)
    )
    return Vertex(vertex.type, mine, tuple(with_sensitive(c, values, schema) for c in vertex.children))
