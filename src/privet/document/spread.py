"""What a generalised release answers: a label may stand for any value below it, each as likely as the others.

The weight of a label under a condition is the share of its values that are asked for; sensitive values are
published as they are, so they answer exactly. People are counted by the chance that at least so many of
their vertices fit, as if vertices did not depend on each other; vertices are counted by adding weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import prod

from privet.core import Role
from privet.document.forest import Vertex
from privet.document.query import Condition, Query, Step
from privet.document.schema import Schema
from privet.domain import Domain, Value
from privet.errors import InputError


class Spread:
    """Estimates for one query; `domains` as in the forest that was published."""

    def __init__(self, query: Query, schema: Schema, domains: Mapping[tuple[str, str], Domain]) -> None:
        query.check(schema)
        self.query, self.schema, self.domains = query, schema, domains
        self._under: dict[tuple[str, str], dict[Value, Sequence[Value]]] = {}
        self._weights: dict[tuple[int, str, Value], Fraction] = {}

    def of(self, tree: Vertex) -> Fraction:
        """What one published record adds to the answer."""
        return self.ends(self.query.root, tree) if self.query.vertices else self.meets(self.query.root, tree)

    def own(self, step: Step, vertex: Vertex) -> Fraction:
        """How much of this vertex itself fits."""
        if vertex.type != step.type:
            return Fraction(0)
        kind = self.schema.kind(step.type)
        weight = Fraction(1)
        for name, wanted in step.where.items():
            at = kind.position(name)
            label = vertex.values[at]
            if kind.published[at].role is Role.QUASI:
                key = (id(step), name, label)
                if key not in self._weights:
                    self._weights[key] = self._share(step.type, name, label, wanted)
                weight *= self._weights[key]
            elif label not in wanted:
                return Fraction(0)
        return weight

    def _share(self, kind: str, name: str, label: Value, wanted: Condition) -> Fraction:
        under = self._under.setdefault((kind, name), _values_under(self.domains[kind, name]))
        if label not in under:
            raise InputError(f"type {kind}, field {name}: a published label is not in the hierarchy")
        return Fraction(sum(value in wanted for value in under[label]), len(under[label]))

    def meets(self, step: Step, vertex: Vertex) -> Fraction:
        """The chance that this vertex fits, with enough below it."""
        own = self.own(step, vertex)
        if not own:
            return own
        enough = (
            at_least(inner.at_least, [self.meets(inner, child) for child in vertex.children])
            for inner in step.below
        )
        return own * prod(enough, start=Fraction(1))

    def ends(self, step: Step, vertex: Vertex) -> Fraction:
        """How many vertices at the end of a path that begins here fit, in expectation."""
        own = self.own(step, vertex)
        if not own or not step.below:
            return own
        return own * sum((self.ends(step.below[0], child) for child in vertex.children), Fraction(0))


def estimated(
    query: Query, release: Iterable[Vertex], schema: Schema, domains: Mapping[tuple[str, str], Domain]
) -> Fraction:
    """The answer on a generalised release."""
    spread = Spread(query, schema, domains)
    return sum((spread.of(record) for record in release), Fraction(0))


def at_least(count: int, chances: Sequence[Fraction]) -> Fraction:
    """The chance that so many of several independent things happen.

    >>> at_least(1, [Fraction(1, 2), Fraction(1, 2)]), at_least(2, [Fraction(1, 2), Fraction(1, 2)])
    (Fraction(3, 4), Fraction(1, 4))
    """
    exactly = [Fraction(1)] + [Fraction(0)] * (count - 1)  # so far 0, 1, ... count - 1 have happened
    for chance in chances:
        for so_far in range(count - 1, -1, -1):
            before = exactly[so_far - 1] * chance if so_far else Fraction(0)
            exactly[so_far] = exactly[so_far] * (1 - chance) + before
    return 1 - sum(exactly, Fraction(0))


def _values_under(domain: Domain) -> dict[Value, Sequence[Value]]:
    """The values below each label; a value that is a label of its own stands for itself."""
    under: dict[Value, Sequence[Value]] = {value: (value,) for value in domain.values}
    for node in domain.root.walk():
        values = domain.values[node.lo : node.hi]
        if node.label not in under or len(values) > 1:
            under[node.label] = values
    return under
