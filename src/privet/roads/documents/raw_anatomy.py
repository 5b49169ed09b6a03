"""What raw documents achieve of the promises of anatomy, as they stand: nothing is in two halves yet.

Whoever knows a tree of quasi-identifiers finds all records that have it. Their sensitive values are what a
group's would be, so the same two questions can be asked of them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from privet.core import Verdict, Verdicts
from privet.document.anatomy_rules import ANY, Rule
from privet.document.audit import Forms, audit
from privet.document.forest import Forest, Vertex, bucket_of
from privet.document.promises import AnatomyDiversity, PMPrivacy
from privet.document.publication import Publication, sensitive_value
from privet.document.schema import Schema
from privet.domain import Value
from privet.equality import key as key_of
from privet.policy.values import Policy
from privet.roads.absent import Occurring

Key = tuple[str, Value | int]  # type and bucket


def judged(forest: Forest, policy: Policy) -> Verdicts:
    """Every promise, on classes of records that are alike but for sensitive values."""
    verdicts: list[Any] = []
    for model in policy.models:
        promise: Any = model
        if isinstance(promise, AnatomyDiversity):
            found = audit(forest.schema, forest, promise.l)
            broken = found.small + found.broken + found.undecided
            verdicts.append((promise, Verdict({"l": found.l}, broken, found.at_risk)))
        elif isinstance(promise, PMPrivacy):
            verdicts.append((promise, linked(forest, promise.rules)))
    return tuple(verdicts)


def linked(forest: Forest, rules: tuple[Rule, ...]) -> Verdict:
    """How surely somebody is linked to m or more of a value: the share of a class that has so many."""
    schema = forest.schema
    forms = Forms(schema)
    classes: dict[int, list[Counter[Key]]] = {}
    for record in forest:
        classes.setdefault(forms.read(record)[0], []).append(_held(schema, record))
    worst, broken, at_risk = Fraction(0), 0, 0
    for members in classes.values():
        over = False
        for key in set().union(*members):
            for rule in rules:
                if _about(schema, rule, key):
                    share = Fraction(sum(held[key] >= rule.m for held in members), len(members))
                    worst, over = max(worst, share), over or share > rule.p
        broken, at_risk = broken + over, at_risk + (len(members) if over else 0)
    return Verdict({"p": worst}, broken, at_risk)


def _held(schema: Schema, record: Vertex) -> Counter[Key]:
    held: Counter[Key] = Counter()
    for vertex in record.walk():
        kind = schema.kind(vertex.type)
        if kind.sensitive is not None:
            value = vertex.values[kind.position(kind.sensitive.name)]
            held[kind.name, _seen(schema, kind.name, value)] += 1
    return held


def _seen(schema: Schema, type_: str, value: Value) -> Value | int:
    kind = schema.kind(type_)
    assert kind.sensitive is not None
    buckets = kind.sensitive.buckets
    return key_of(value) if buckets is None else bucket_of(kind, kind.sensitive, buckets, value)


def _about(schema: Schema, rule: Rule, key: Key) -> bool:
    if not rule.names(schema.kind(key[0])):
        return False
    return rule.value == ANY or _seen(schema, key[0], rule.value) == key[1]


def of_forest(forest: Forest) -> Occurring:
    """The sensitive values of trees, by the names that rules have for their fields."""
    return _by_name(forest.schema, lambda kind, name: forest.domains[kind, name].values)


def of_publication(publication: Publication) -> Occurring:
    """The same of halves."""
    schema, held = publication.schema, defaultdict[str, dict[Value, None]](dict)  # in the order of the file
    for group in publication.groups:
        for bag in group.bags.values():
            held[bag.type].update((value, None) for value, _ in bag.values)
        for vertex in (vertex for tree in group.sa for vertex in tree.walk()):
            if schema.kind(vertex.type).sensitive is not None:
                held[vertex.type][sensitive_value(vertex, schema)] = None
    return _by_name(schema, lambda kind, _: tuple(held[kind]))


def _by_name(schema: Schema, values: Callable[[str, str], Sequence[Value]]) -> Occurring:
    found: dict[str, tuple[Value, ...] | None] = {}
    for kind in schema.kinds:
        if (f := kind.sensitive) is not None:
            for called in (ANY, f.name, f"{kind.name}.{f.name}"):
                known = found.get(called, ())
                # A bucket is protected as a whole, whichever of its values occur.
                if known is None or f.buckets is not None:
                    found[called] = None
                else:
                    found[called] = (*known, *values(kind.name, f.name))
    return found
