"""The class-based promises said once more and naively: lists of values, fractions, whole-number powers.

Nothing here is shared with the package but the parameters of a model. `breaks(model)(class, table)` asks
whether one class of sensitive values, in a table of them, breaks the promise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from math import prod
from typing import Any, TypeAlias

from privet.models.disclosure import DeltaDisclosure
from privet.models.ldiversity import DistinctLDiversity, EntropyLDiversity, RecursiveLDiversity
from privet.models.likeness import BetaLikeness, EnhancedBetaLikeness
from privet.models.psensitive import PSensitiveKAnonymity
from privet.models.tcloseness import Distance, TCloseness

Values: TypeAlias = Sequence[str | None]


def ln(number: Fraction) -> Fraction:
    """A logarithm to eighty digits."""
    with localcontext() as context:
        context.prec = 80
        return Fraction((Decimal(number.numerator) / Decimal(number.denominator)).ln())


def shares(values: Values) -> dict[str | None, Fraction]:
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


def entropy_reaches(group: Values, l: Fraction) -> bool:
    """-sum p ln p >= ln l, multiplied by n and raised to a power of e: whole numbers only."""
    n = len(group)
    product: int = prod(c**c for c in Counter(group).values())
    return bool(n**n * l.denominator**n >= l.numerator**n * product)


def recursive(group: Values, c: Fraction, l: int) -> bool:
    counts = sorted(Counter(group).values(), reverse=True)
    return counts[0] < c * sum(counts[l - 1 :])


def variational(group: Values, table: Values) -> Fraction:
    p, q = shares(group), shares(table)
    return sum((abs(p.get(v, Fraction(0)) - q[v]) for v in q), Fraction(0)) / 2


def divergence(group: Values, table: Values) -> Fraction:
    p, q = shares(group), shares(table)
    return sum((p[v] * ln(p[v] / q[v]) for v in p), Fraction(0))


def ordered(group: Values, table: Values, order: Sequence[str | None]) -> Fraction:
    p, q = shares(group), shares(table)
    zero, carried, total = Fraction(0), Fraction(0), Fraction(0)
    for value in order:
        carried += p.get(value, zero) - q.get(value, zero)
        total += abs(carried)
    return total / max(1, len(order) - 1)


def hierarchical(group: Values, table: Values, tree: Mapping[str, Any]) -> Fraction:
    """The recursion of the paper: at each node, what its children have too much is given to the others."""
    p, q = shares(group), shares(table)
    ((_, top),) = tree.items()

    def height(below: Any) -> int:
        if below is None:
            return 0
        return 1 + max((height(below[c]) if isinstance(below, Mapping) else 0) for c in below)

    tall, cost = height(top), Fraction(0)

    def extra(label: str | None, below: Any) -> Fraction:
        nonlocal cost
        if below is None:
            return p.get(label, Fraction(0)) - q.get(label, Fraction(0))
        children = below.items() if isinstance(below, Mapping) else [(child, None) for child in below]
        found = [extra(child, further) for child, further in children]
        if below is top:  # null stands below the root
            found.append(extra(None, None))
        much = sum((x for x in found if x > 0), Fraction(0))
        little = -sum((x for x in found if x < 0), Fraction(0))
        cost += Fraction(height(below), tall) * min(much, little)
        return much - little

    extra("", top)
    return cost


def gains(group: Values, table: Values) -> dict[str | None, Fraction]:
    p, q = shares(group), shares(table)
    return {v: (p[v] - q[v]) / q[v] for v in p if p[v] > q[v]}


def distance(model: TCloseness, group: Values, table: Values) -> Fraction:
    if model.distance is Distance.KL:
        return divergence(group, table)
    if model.distance is Distance.ORDERED:
        values = [v for v in dict.fromkeys(table) if v is not None]
        known: list[str | None] = list(model.order or sorted(values, key=Fraction))
        return ordered(group, table, [*known, *([None] if None in table else [])])
    if model.distance is Distance.HIERARCHICAL:
        assert model.tree is not None
        return hierarchical(group, table, model.tree)
    return variational(group, table)


def breaks(model: Any, group: Values, table: Values) -> bool:
    """Does a class, in a table, break the promise?"""
    if isinstance(model, DistinctLDiversity):
        return len(set(group)) < model.l
    if isinstance(model, PSensitiveKAnonymity):
        return len(group) < model.k or len(set(group)) < model.p
    if isinstance(model, EntropyLDiversity):
        return not entropy_reaches(group, Fraction(model.l))
    if isinstance(model, RecursiveLDiversity):
        return not recursive(group, model.c, model.l)
    if isinstance(model, TCloseness):
        return distance(model, group, table) > model.t
    if isinstance(model, BetaLikeness):
        return any(gain > model.beta for gain in gains(group, table).values())
    if isinstance(model, EnhancedBetaLikeness):
        assert model.beta is not None
        q = shares(table)
        return any(gain > min(model.beta, -ln(q[v])) for v, gain in gains(group, table).items())
    if isinstance(model, DeltaDisclosure):
        assert model.delta is not None
        p, q = shares(group), shares(table)
        return any(v not in p or abs(ln(p[v] / q[v])) >= model.delta for v in q)
    raise TypeError(model)
