"""What a generalised release answers: a label may stand for any value below it, each as likely as the others.

The weight of a label under a condition is the share of its values that are asked for; sensitive values are
published as they are, so they answer exactly. People are counted by the chance that at least so many of
their vertices fit, as if vertices did not depend on each other; vertices are counted by adding weights.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from privet.core import Role
from privet.document.forest import Vertex
from privet.document.query import Condition, Query, Step
from privet.document.schema import Schema
from privet.domain import Domain, Value
from privet.errors import InputError

NOTHING, WHOLE = Fraction(0), Fraction(1)


class Spread:
    """Estimates for one query; `domains` as in the forest that was published."""

    def __init__(self, query: Query, schema: Schema, domains: Mapping[tuple[str, str], Domain]) -> None:
        query.check(schema)
        self.query, self.schema, self.domains = query, schema, domains
        self._under: dict[tuple[str, str], dict[Value, Sequence[Value]]] = {}
        self._weights: dict[tuple[int, str, Value], Fraction] = {}
        self._where = {id(step): self._places(step) for step in query.root.walk()}

    def of(self, tree: Vertex) -> Fraction:
        """What one published record adds to the answer."""
        return self.ends(self.query.root, tree) if self.query.vertices else self.meets(self.query.root, tree)

    def _places(self, step: Step) -> list[tuple[int, str, bool, Condition]]:
        """Each condition with its position; sensitive ones first, because they say no at once."""
        kind = self.schema.kind(step.type)
        at = {name: kind.position(name) for name in step.where}
        found = [
            (at[name], name, kind.published[at[name]].role is Role.QUASI, wanted)
            for name, wanted in step.where.items()
        ]
        return sorted(found, key=lambda each: each[2])

    def own(self, step: Step, vertex: Vertex) -> Fraction:
        """How much of this vertex itself fits."""
        if vertex.type != step.type:
            return NOTHING
        weight = WHOLE
        for at, name, quasi, wanted in self._where[id(step)]:
            label = vertex.values[at]
            if quasi:
                key = (id(step), name, label)
                if key not in self._weights:
                    self._weights[key] = self._share(step.type, name, label, wanted)
                share = self._weights[key]
                weight = share if weight is WHOLE else weight * share
            elif label not in wanted:
                return NOTHING
            if not weight:
                return NOTHING
        return weight

    def _share(self, kind: str, name: str, label: Value, wanted: Condition) -> Fraction:
        if (kind, name) not in self._under:
            self._under[kind, name] = _values_under(self.domains[kind, name])
        under = self._under[kind, name]
        if label not in under:
            raise InputError(f"type {kind}, field {name}: a published label is not in the hierarchy")
        return Fraction(sum(value in wanted for value in under[label]), len(under[label]))

    def meets(self, step: Step, vertex: Vertex) -> Fraction:
        """The chance that this vertex fits, with enough below it."""
        own = self.own(step, vertex)
        if not own:
            return own
        for inner in step.below:
            chances = [chance for child in vertex.children if (chance := self.meets(inner, child))]
            if len(chances) < inner.at_least:
                return NOTHING
            own *= at_least(inner.at_least, chances)
        return own

    def ends(self, step: Step, vertex: Vertex) -> Fraction:
        """How many vertices at the end of a path that begins here fit, in expectation."""
        own = self.own(step, vertex)
        if not own or not step.below:
            return own
        below = [end for child in vertex.children if (end := self.ends(step.below[0], child))]
        return own * sum(below, NOTHING) if below else NOTHING


def estimated(
    query: Query, release: Iterable[Vertex], schema: Schema, domains: Mapping[tuple[str, str], Domain]
) -> Fraction:
    """The answer on a generalised release."""
    spread = Spread(query, schema, domains)
    return sum((found for record in release if (found := spread.of(record))), NOTHING)


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
