"""What somebody concludes from a release in halves who knows something of a person, sensitive values too.

All who fit what is known are as likely to be the person, and so are all ways to put their halves together:
the chance of a value is the expected number of people who fit and have it, over that of people who fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from privet.document.anatomy_audit import level_order
from privet.document.estimate import Estimator
from privet.document.pattern import also, sensitive_paths, without_sensitive
from privet.document.publication import Publication, Published, sensitive_value
from privet.document.query import Condition, Query, Step
from privet.document.schema import Schema
from privet.document.style import Style
from privet.domain import Value
from privet.errors import InputError

ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Conclusion:
    """How surely the person has a value somewhere at the end of a path: before any sensitive value was known,
    and now.
    """

    path: str
    value: Value = field(repr=False)
    before: Fraction
    now: Fraction
    given: bool = False  # was this very value known?


@dataclass(frozen=True, slots=True)
class Belief:
    """How many people fit what is known, without sensitive values and with them, and what follows."""

    fit: Fraction  # by quasi-identifiers: a whole number
    left: Fraction  # expected, by sensitive values too
    conclusions: tuple[Conclusion, ...]  # by path, the surest first

    def surest(self) -> dict[str, Conclusion]:
        """The surest value of each path, of those that were not known and may be."""
        return {one.path: one for one in reversed(self.conclusions) if one.now and not one.given}


def concluded(publication: Publication, known: Step) -> Belief:
    """What follows from a pattern that a person is known to match; InputError if nobody can."""
    schema = publication.schema
    Query(known).check(schema)
    plain = without_sensitive(known, schema)
    every = (_Fitting(publication, group) for group in publication.groups)
    fitting = [one for one in every if one.expected(plain)]  # all others say nothing about the person
    fit = sum((one.expected(plain) for one in fitting), ZERO)
    left = sum((one.expected(known) for one in fitting), ZERO)
    if not fit:
        raise InputError("known: nobody in the release fits these quasi-identifiers")
    if not left:
        raise InputError("known: nobody who fits can have these sensitive values")
    conclusions: list[Conclusion] = []
    for path, types in sensitive_paths(schema):
        given = list(_given(known, types, schema))
        found = [
            Conclusion(
                path,
                value,
                _having(where, also(plain, types, frozenset({value}), schema)) / fit,
                _having(where, also(known, types, frozenset({value}), schema)) / left,
                any(value in wanted for wanted in given),
            )
            for value, where in _holding(fitting, types[-1]).items()
        ]
        found.sort(key=lambda one: (-one.now, -one.before, one.value is None, one.value or ""))
        conclusions += [one for one in found if one.now or one.before]
    return Belief(fit, left, tuple(conclusions))


def _given(step: Step, types: Sequence[str], schema: Schema) -> Iterator[Condition]:
    """What is known of the sensitive field at the end of a path."""
    if step.type != types[0]:
        return
    sensitive = schema.kind(step.type).sensitive
    if len(types) == 1 and sensitive is not None and sensitive.name in step.where:
        yield step.where[sensitive.name]
    for inner in step.below if len(types) > 1 else ():
        yield from _given(inner, types[1:], schema)


class _Fitting:
    """A group by itself, ready for questions."""

    def __init__(self, publication: Publication, group: Published) -> None:
        self.group, self.schema = group, publication.schema
        self.estimator = Estimator(replace(publication, groups=(group,)))

    def expected(self, step: Step) -> Fraction:
        return self.estimator.expected(Query(step))

    def values(self, type_: str) -> set[Value]:
        """The sensitive values that vertices of a type have in this group."""
        found = {v for bag in self.group.bags.values() if bag.type == type_ for v, _ in bag.values}
        vertices = (vertex for tree in self.group.sa for vertex in tree.walk() if vertex.type == type_)
        return found.union(sensitive_value(vertex, self.schema) for vertex in vertices)


def _having(groups: Iterable[_Fitting], step: Step) -> Fraction:
    return sum((one.expected(step) for one in groups), ZERO)


def _holding(fitting: Iterable[_Fitting], type_: str) -> dict[Value, list[_Fitting]]:
    """For each value the groups that have it: in the others nobody can."""
    found: dict[Value, list[_Fitting]] = {}
    for one in fitting:
        for value in one.values(type_):
            found.setdefault(value, []).append(one)
    return found


@dataclass(frozen=True, slots=True)
class LinkConfidence:
    """How surely sensitive values are linked to people: at worst, and on average over people."""

    worst: Fraction
    average: Fraction


def exposed(publication: Publication) -> tuple[LinkConfidence, LinkConfidence]:
    """Of somebody whose quasi-identifiers are all known: how surely a value is linked to a vertex; and the
    same for the *other* vertices of somebody of whom one sensitive value is known, whichever helps most.
    """
    people = len(publication)
    if not people:
        return LinkConfidence(ZERO, ZERO), LinkConfidence(ZERO, ZERO)
    nothing = list(_largest_shares(publication))
    if publication.style is Style.VERTICES:
        one = nothing  # the vertices of a person are dealt values independently of each other
    else:
        one = [chance for group in publication.groups for chance in _one_known(publication.schema, group)]
    return _linked(nothing, people), _linked(one, people)


def _linked(chances: Sequence[tuple[Fraction, int]], people: int) -> LinkConfidence:
    whole = sum((chance * many for chance, many in chances), ZERO)
    return LinkConfidence(max(chance for chance, _ in chances), whole / people)


def _largest_shares(publication: Publication) -> Iterator[tuple[Fraction, int]]:
    """For each group: the largest share that a value has at a vertex, and how many people there are."""
    for group in publication.groups:
        if publication.style is Style.VERTICES:
            shares = [Fraction(max(n for _, n in bag.values), len(bag)) for bag in group.bags.values()]
        else:
            columns = _columns(publication.schema, group)
            shares = [Fraction(max(map(column.count, set(column))), len(column)) for column in columns]
        yield max(shares, default=ZERO), len(group)


def _one_known(schema: Schema, group: Published) -> Iterator[tuple[Fraction, int]]:
    """For each tree of sensitive values: the one of its values that tells most about the others."""
    columns = _columns(schema, group)
    if len(columns) < 2:  # there is no other value to learn
        yield max((Fraction(max(map(c.count, set(c))), len(c)) for c in columns), default=ZERO), len(group)
        return
    for tree in range(len(group.sa)):
        best = ZERO
        for at, column in enumerate(columns):
            if best == 1:
                break
            alike = [who for who, value in enumerate(column) if value == column[tree]]
            for other, values in enumerate(columns):
                if other != at:
                    seen = [values[who] for who in alike]
                    best = max(best, Fraction(max(map(seen.count, set(seen))), len(seen)))
        yield best, 1


def _columns(schema: Schema, group: Published) -> list[list[Value]]:
    """The sensitive values at each position that has one."""
    rows: Iterable[list[Value]] = (
        [
            sensitive_value(vertex, schema)
            for vertex, _ in level_order(tree)
            if schema.kind(vertex.type).sensitive
        ]
        for tree in group.sa
    )
    return [list(column) for column in zip(*rows, strict=True)]
