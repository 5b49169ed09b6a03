"""Patterns of trees as people write them: a record in which only what matters stands.

    {"age": 46, "visits": [{"year": [2006, 2007], "diagnosis": "Cold"}]}

A field says a value, a list of values, or a range of numbers `{"from": 3, "to": 4}` (4 is outside). A list of
children says what some child must be, one pattern for each; `"at_least": 2` in a pattern asks for so many.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from privet.document.query import Between, Condition, Step
from privet.document.schema import Kind, Schema
from privet.domain import Value
from privet.errors import InputError, unknown_key
from privet.hierarchy.numbers import decimal

AT_LEAST = "at_least"
RANGE = {"from", "to"}


def pattern(schema: Schema, said: Any) -> Step:
    """The step at the root; every fault is said at once, by its place and without a value."""
    complaints: list[str] = []
    step = _step(schema, schema.kind(schema.root), said, "pattern", complaints)
    if complaints:
        raise InputError(*complaints)
    return step


def _step(schema: Schema, kind: Kind, said: Any, place: str, complaints: list[str]) -> Step:
    if not isinstance(said, Mapping):
        complaints.append(f'{place}: is an object such as {{"{_example(kind)}": ...}}')
        return Step(kind.name)
    fields = {f.name for f in kind.published}
    children = dict(kind.children)
    where: dict[str, Condition] = {}
    below: list[Step] = []
    least = 1
    for key, value in said.items():
        here = f"{place}.{key}"
        if key in fields:
            condition = _condition(value)
            if condition is None:
                complaints.append(f'{here}: is a value, a list of values, or {{"from": 0, "to": 10}}')
            else:
                where[key] = condition
        elif key in children:
            inner = schema.kind(children[key])
            listed = value if isinstance(value, list) else [value]
            below += [_step(schema, inner, one, f"{here}[{at}]", complaints) for at, one in enumerate(listed)]
        elif key == AT_LEAST:
            least = value if isinstance(value, int) and not isinstance(value, bool) else 0
            if least < 1:
                complaints.append(f"{here}: is a whole number of at least 1")
        else:
            complaints.append(f"{place}: {unknown_key([*fields, *children], key)}")
    return Step(kind.name, where, tuple(below), max(least, 1))


def _example(kind: Kind) -> str:
    return next((f.name for f in kind.published), next((key for key, _ in kind.children), "field"))


def _condition(said: Any) -> Condition | None:
    if isinstance(said, Mapping):
        if not set(said) or not set(said) <= RANGE:
            return None
        try:
            low, high = (decimal(said.get(end, far)) for end, far in (("from", "-inf"), ("to", "inf")))
        except ValueError:
            return None
        return None if low.is_nan() or high.is_nan() else Between(low, high)
    values = [_text(one) for one in (said if isinstance(said, list) else [said])]
    return frozenset(value for value, _ in values) if values and all(ok for _, ok in values) else None


def _text(said: Any) -> tuple[Value, bool]:
    """A value as the readers of documents have it."""
    if said is None or isinstance(said, str):
        return said, True
    if isinstance(said, bool):
        return ("true" if said else "false"), True
    return (str(said), True) if isinstance(said, (int, float, Decimal)) else (None, False)


def without_sensitive(step: Step, schema: Schema) -> Step:
    """The same pattern as somebody knows it who knows no sensitive value."""
    sensitive = schema.kind(step.type).sensitive
    where = {
        name: wanted for name, wanted in step.where.items() if sensitive is None or name != sensitive.name
    }
    below = tuple(without_sensitive(inner, schema) for inner in step.below)
    return Step(step.type, where, below, step.at_least)


def sensitive_paths(schema: Schema) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every way from the root to a type with a sensitive field, no type twice: its name, and the types."""
    waiting: list[tuple[str, tuple[str, ...]]] = [("", (schema.root,))]
    while waiting:
        name, types = waiting.pop()
        kind = schema.kind(types[-1])
        if kind.sensitive is not None:
            yield f"{name}{kind.sensitive.name}", types
        waiting += [
            (f"{name}{key}.", (*types, child)) for key, child in reversed(kind.children) if child not in types
        ]


def also(step: Step, types: tuple[str, ...], wanted: Condition, schema: Schema) -> Step:
    """The pattern, and besides some vertex at the end of this way whose sensitive value is wanted."""
    kind = schema.kind(types[-1])
    assert kind.sensitive is not None
    name = kind.sensitive.name
    if len(types) == 1:
        before = step.where.get(name)
        both = wanted if before is None else _both(before, wanted)
        return Step(step.type, {**step.where, name: both}, step.below, step.at_least)
    end = Step(types[-1], {name: wanted})
    for type_ in reversed(types[1:-1]):
        end = Step(type_, {}, (end,))
    return Step(step.type, step.where, (*step.below, end), step.at_least)


def _both(one: Condition, other: Condition) -> Condition:
    if isinstance(other, frozenset):
        return frozenset(value for value in other if value in one)
    return frozenset(value for value in one if value in other) if isinstance(one, frozenset) else other
