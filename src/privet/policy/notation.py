"""How models, algorithms and numbers are written in a policy: the only place where names become classes.

Every complaint is collected, so that a wrong policy is answered once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from enum import Enum
from fractions import Fraction
from math import isfinite
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin

from privet import registry
from privet.core import Percent
from privet.declared import fitted, hints, typed
from privet.errors import PolicyError, one_of, shown, unknown_key
from privet.hierarchy.numbers import fraction
from privet.models.template import EVERY, Protectable, Sensitive


class Complaints:
    """Everything that is wrong, collected, so that it is said once."""

    def __init__(self) -> None:
        self._all: list[str] = []

    def add(self, *complaints: str) -> None:
        self._all.extend(complaints)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    @contextmanager
    def at(self, place: str) -> Iterator[None]:
        try:
            yield
        except PolicyError as error:
            self.add(*(f"{place}: {complaint}" for complaint in error.complaints))

    def unknown(self, table: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
        self.add(*(unknown_key(allowed, key) for key in table if key not in allowed))

    def raise_all(self, also: Sequence[str] = ()) -> None:
        """Raise what was collected; `also` is no reason to raise, but belongs to what is left to do."""
        if self._all:
            raise PolicyError(*self._all, *also)


def build(kind: str, table: object) -> Any:
    """A model or algorithm from its table in the policy: `type` says which, the rest is its fields."""
    if not isinstance(table, Mapping) or "type" not in table:
        raise PolicyError(f"needs a type, one of {', '.join(registry.installed(kind))}")
    made = registry.find(kind, table["type"])
    return fill(made, {key: value for key, value in table.items() if key != "type"})


def model(name: str, /, **parameters: Any) -> Any:
    """A promise by its name in policies, with its parameters by theirs; plug-ins too.

    >>> model("lkc-privacy", l=2, k=5, c="1/5", sensitive={"disease": ["HIV"]}).k
    5
    """
    return build("models", {"type": name, **parameters})


def algorithm(name: str, /, **settings: Any) -> Any:
    """An algorithm by its name in policies, with its settings in the words that a policy has for them.

    >>> algorithm("top-down", score="discernibility").score.value
    'discernibility'
    """
    return build("algorithms", {"type": name, **settings})


def fill(made: Any, table: Mapping[str, Any]) -> Any:
    """A dataclass from a table, by the types of its fields."""
    known, wanted = hints(made), written(made)
    complaints = Complaints()
    complaints.unknown(table, tuple(f.name for f in wanted))
    values = {}
    for field in wanted:
        if field.name in table:
            with complaints.at(field.name):
                hint = known[field.name]
                values[field.name] = fitted(hint, _in_python(hint, table[field.name]))
        elif field.default is MISSING and field.default_factory is MISSING:
            complaints.add(f"{field.name} is missing")
    complaints.raise_all()
    return made(**values)


def written(made: Any) -> list[Field[Any]]:
    """The fields of a dataclass that a policy says."""
    return [f for f in fields(made) if f.init and f.metadata.get("policy", True)]


def settled(thing: Any) -> Any:
    """A promise or an algorithm of somebody else's as ours are from the first: words that were given as text
    are values, and tables do not change. What is of no type that it declares stays for `ill_typed`.

    >>> settled(model("k-anonymity", k=5))
    KAnonymity(k=5)
    """
    if not is_dataclass(thing) or isinstance(thing, type):
        return thing
    kept = {name: value for name, value, wrong in _fields_of(thing) if not wrong}
    changed = {name: value for name, value in kept.items() if value is not getattr(thing, name)}
    return replace(thing, **changed) if changed else thing


def ill_typed(thing: Any) -> list[str]:
    """Parameters of a promise or an algorithm that are not of their types, as a file could not say them."""
    if not is_dataclass(thing):
        return ["is a dataclass, whose fields are what a policy says of it"]
    return [f"{name}: {complaint}" for name, _, wrong in _fields_of(thing) for complaint in wrong]


def _fields_of(thing: Any) -> Iterator[tuple[str, Any, tuple[str, ...]]]:
    """The fields of a dataclass that a policy says: the name, what is kept of it, and what is wrong."""
    try:
        known = typed(type(thing))
    except NameError:  # a plug-in whose annotations only a type checker can read
        return
    for field, hint in known:
        if not field.metadata.get("policy", True):
            continue
        try:
            yield field.name, fitted(hint, getattr(thing, field.name)), ()
        except PolicyError as error:
            yield field.name, None, error.complaints


def _in_python(hint: Any, given: Any) -> Any:
    """What stands in a file as Python would have given it, where it has other words for a type."""
    origin, parts = get_origin(hint), [part for part in get_args(hint) if part is not NoneType]
    if hint == Sensitive:
        return _sensitive(given)
    if origin in {Union, UnionType}:
        return _in_python(parts[0], given) if len(parts) == 1 else given
    if hint is Fraction:
        return exact(given)
    if is_dataclass(hint) and isinstance(given, Mapping):
        return fill(hint, given)
    if is_dataclass(hint):
        names = ", ".join(f.name for f in written(hint))
        raise PolicyError(f"is a table with {names}, not {shown(given)}")
    if origin in {tuple, Sequence} and isinstance(given, (list, tuple)):
        return [_in_python(parts[0], item) for item in given]
    if origin is Mapping and isinstance(given, Mapping):
        complaints, found = Complaints(), {}
        for name, value in given.items():
            with complaints.at(name):
                found[name] = _in_python(parts[1], value)
        complaints.raise_all()
        return found
    return given


def exact(given: object) -> Fraction:
    """A number that a guarantee depends on: whole, or in quotes; never a float."""
    if isinstance(given, Fraction):  # from Python
        return given
    if isinstance(given, float) and isfinite(given):
        raise PolicyError(f'write "{given}" in quotes, so that it is exact')
    if isinstance(given, bool) or not isinstance(given, (int, str)):
        raise PolicyError(f'is an exact number such as "1/5" or "0.2", not {shown(given)}')
    text = str(given).strip()
    try:
        text.encode("ascii")  # digits of other scripts look like something else, or like nothing
        return Percent(fraction(text[:-1]) / 100) if text.endswith("%") else fraction(text)
    except ValueError:
        raise PolicyError(f'is an exact number such as "1/5", "0.2" or "20%", not {shown(given)}') from None


def _sensitive(given: object) -> Sensitive:
    """{ surgery = ["a", "b"] }, { surgery = { a = "1/5" } }, { surgery = "every" }, or ["surgery"].

    In a list, { null = true } stands for a missing value, { every = true } for each value, and any of
    them may have its own bound: [{ value = "a", at_most = "1/5" }, { null = true, at_most = "1/2" }].
    """
    if isinstance(given, list) and all(isinstance(name, str) for name in given):
        return tuple(given)
    if not isinstance(given, Mapping):
        raise PolicyError('is a table of attributes and values, such as { surgery = ["Transgender"] }')
    found: dict[str, Any] = {}
    for name, values in given.items():
        if isinstance(values, Mapping):
            bounds = {}
            for value, bound in values.items():
                try:
                    bounds[value] = exact(bound)
                except PolicyError as error:
                    raise error.at(f"{name}.{value}") from None
            found[name] = bounds
        elif values == "every":
            found[name] = (EVERY,)
        elif isinstance(values, list):
            found[name] = _listed(name, values)
        else:
            raise PolicyError(f'{name} is a list of values, a table of values and bounds, or "every"')
    return found


def _listed(name: str, items: list[Any]) -> Collection[Protectable] | Mapping[Protectable, Fraction]:
    """The values of a list, with their bounds where they have them."""
    values = [_protectable(name, item) for item in items]
    bounds = [item["at_most"] for item in items if isinstance(item, Mapping) and "at_most" in item]
    if not bounds:
        return tuple(values)
    if len(bounds) < len(items):
        raise PolicyError(f"{name}: either every item has its at_most, or none")
    try:
        return dict(zip(values, map(exact, bounds), strict=True))
    except PolicyError as error:
        raise error.at(f"{name}: at_most") from None


def _protectable(name: str, item: Any) -> Protectable:
    if not isinstance(item, Mapping):
        return _text(item)
    match {key: value for key, value in item.items() if key != "at_most"}:
        case {"null": True, **rest} if not rest:
            return None
        case {"every": True, **rest} if not rest:
            return EVERY
        case {"value": value, **rest} if not rest:
            return _text(value)
    raise PolicyError(
        f'{name}: an item is a value, or a table such as {{ value = "a", at_most = "1/5" }}, '
        "{ null = true } or { every = true }"
    )


def _text(value: object) -> str:
    """A value as the data has it: TOML's numbers and booleans are written as text."""
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def word(kind: type[Any], given: object, what: str = "it") -> Any:
    try:
        return kind(given)
    except ValueError:
        raise PolicyError(one_of(what, [member.value for member in kind], given)) from None


def describe(thing: Any) -> dict[str, Any]:
    """A model or algorithm as its table in a policy."""
    table = {"type": thing.name}
    for field in written(thing):
        value = getattr(thing, field.name)
        if value is not None and not _nothing(field, value):
            table[field.name] = noted(value)
    return table


def _nothing(field: Field[Any], value: Any) -> bool:
    """An empty table that need not be said: no weights, no levels."""
    return field.default_factory is not MISSING and isinstance(value, Mapping) and not value


def noted(value: Any) -> Any:
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: noted(getattr(value, f.name)) for f in written(value)}
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):  # no key of a file can be null
            return [{**_item(key), "at_most": noted(bound)} for key, bound in value.items()]
        return {key: "every" if _is_every(v) else noted(v) for key, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [noted(item) if isinstance(item, str) else _item(item) for item in value]
    return value


def _item(value: Any) -> Any:
    """An item of a list; what is not a text is a table that says what it is."""
    if value is None:
        return {"null": True}
    if value is EVERY:
        return {"every": True}
    return {"value": value} if isinstance(value, str) else noted(value)


def _is_every(values: Any) -> bool:
    return isinstance(values, (list, tuple)) and tuple(values) == (EVERY,)
