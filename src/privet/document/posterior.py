"""What an adversary believes: the chance of each sensitive value of a person, given what they already know.

They have the publication, know which tree of quasi-identifiers is whose, and may know some sensitive
values. In t-t one known value may single out a whole tree of sensitive values; in v-v it tells nothing
about the other vertices. Also here: all the ways to put a group together, one by one or drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import permutations
from math import factorial
from random import Random, SystemRandom

from privet.document.anatomy_audit import level_order
from privet.document.anatomy_rules import at_least
from privet.document.estimate import reconstructed
from privet.document.forest import Vertex
from privet.document.publication import Publication, Published, combined, sensitive_value
from privet.document.schema import Schema
from privet.document.style import Style
from privet.domain import Value
from privet.errors import InputError, UnsupportedError

Known = Mapping[tuple[int, int], Value]  # (tree, position in level order) to its sensitive value
Belief = list[dict[Value, Fraction] | None]  # by position; None where the type has no sensitive field
MOST_WAYS = 50_000


def posterior(publication: Publication, group: Published, tree: int, known: Known | None = None) -> Belief:
    """The chance of each value at each position of one tree; raises InputError if what is known cannot be."""
    known = {} if known is None else known
    if not 0 <= tree < len(group):
        raise InputError(f"group {group.id} has {len(group)} trees, counted from 0")
    if publication.style is Style.TREES:
        return _by_trees(publication.schema, group, tree, known)
    return _by_vertices(publication.schema, group, tree, known)


def _by_trees(schema: Schema, group: Published, tree: int, known: Known) -> Belief:
    values = [_values(schema, sa) for sa in group.sa]
    ways: Counter[int] = Counter()
    for order in _orders(len(group)):
        if all(values[order[who]][at] == value for (who, at), value in known.items()):
            ways[order[tree]] += 1
    if not ways:
        raise InputError(f"group {group.id}: no way to put the trees together has the known values")
    belief: Belief = []
    for position, (vertex, _) in enumerate(level_order(group.qi[tree])):
        if schema.kind(vertex.type).sensitive is None:
            belief.append(None)
            continue
        chance: dict[Value, Fraction] = {}
        for other, count in ways.items():
            value = values[other][position]
            chance[value] = chance.get(value, Fraction(0)) + Fraction(count, ways.total())
        belief.append(chance)
    return belief


def _values(schema: Schema, tree: Vertex) -> list[Value]:
    return [
        sensitive_value(vertex, schema) if schema.kind(vertex.type).sensitive is not None else None
        for vertex, _ in level_order(tree)
    ]


def _orders(people: int) -> Iterator[tuple[int, ...]]:
    if factorial(people) > MOST_WAYS:
        raise UnsupportedError(
            f"a group of {people} has too many ways to be put together for an exact belief"
        )
    return permutations(range(people))


def _by_vertices(schema: Schema, group: Published, tree: int, known: Known) -> Belief:
    belief: Belief = []
    for position, (vertex, _) in enumerate(level_order(group.qi[tree])):
        name = vertex.values[-1]
        if schema.kind(vertex.type).sensitive is None or name is None:
            belief.append(None)
            continue
        left = Counter(dict(group.bags[name].values))
        there = {who: value for (who, at), value in known.items() if at == position}
        left.subtract(value for who, value in there.items() if who != tree)
        if min(left.values()) < 0 or (tree in there and left[there[tree]] < 1):
            raise InputError(f"group {group.id}: a known value is not among those of its position")
        if tree in there:
            belief.append({there[tree]: Fraction(1)})
        else:
            belief.append({value: Fraction(n, left.total()) for value, n in left.items() if n})
    return belief


def linked(
    publication: Publication, group: Published, tree: int, value: Value, *, m: int, known: Known | None = None
) -> Fraction:
    """How surely a person has m or more of a value, over all types: what (p, m)-rules bound."""
    if publication.style is Style.VERTICES:
        belief = posterior(publication, group, tree, known)
        return at_least((chance.get(value, Fraction(0)) for chance in belief if chance is not None), m)
    known = {} if known is None else known
    values = [_values(publication.schema, sa) for sa in group.sa]
    possible = [
        order
        for order in _orders(len(group))
        if all(values[order[who]][at] == v for (who, at), v in known.items())
    ]
    if not possible:
        raise InputError(f"group {group.id}: no way to put the trees together has the known values")
    return Fraction(sum(values[order[tree]].count(value) >= m for order in possible), len(possible))


def worlds(publication: Publication, group: Published, most: int = MOST_WAYS) -> Iterator[list[Vertex]]:
    """All ways to put a group of t-t together; refused for v-v and where there are more than `most`."""
    if publication.style is Style.VERTICES:
        raise UnsupportedError("v-v has too many ways to be put together; draw some with reconstruct")
    if factorial(len(group)) > most:
        raise UnsupportedError(
            f"a group of {len(group)} has more than {most:,} ways; draw some with reconstruct"
        )
    for order in permutations(group.sa):
        yield [combined(qi, sa, publication.schema) for qi, sa in zip(group.qi, order, strict=True)]


def reconstruct(publication: Publication, random: Random | None = None) -> Iterator[Vertex]:
    """One way to put everything together: whole records; no receiver can know whether they are true."""
    random = SystemRandom() if random is None else random
    for group in publication.groups:
        yield from reconstructed(group, publication.schema, random)
