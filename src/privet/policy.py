"""Policies on disk: the only place where names become classes.

A wrong policy is answered with every complaint at once, each with its place and its fix.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, Field, dataclass, fields
from enum import Enum
from fractions import Fraction
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Self, Union, get_args, get_origin, get_type_hints

import tomli_w

from privet import core, disguise, hierarchy, registry
from privet.core import Attribute, Form, Nulls, Role
from privet.errors import PolicyError, one_of, unknown_key
from privet.models.template import EVERY, Protectable, Sensitive

VERSION = 1
KINDS = ("table",)
TOP = ("policy", "kind", "purpose", "nulls", "attributes", "models", "algorithm", "form")


@dataclass(frozen=True)
class Policy(core.Policy):
    """What the steward decided, that can be read from a file and written to one."""

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a policy file; paths in it are relative to it."""
        path = Path(path)
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise PolicyError(f"{path}: no such file; `privet init DATA` drafts a policy") from None
        except (UnicodeDecodeError, IsADirectoryError):
            raise PolicyError(f"{path}: this is no text file") from None
        return cls.loads(text, place=str(path), base=path.parent)

    @classmethod
    def loads(cls, text: str, *, place: str = "policy", base: Path | None = None) -> Self:
        """Read a policy from its text."""
        try:
            document = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise PolicyError(f"{place}: {error}") from None
        try:
            return cls.from_document(document, base=base or Path())
        except PolicyError as error:
            raise error.at(place) from None

    @classmethod
    def from_document(cls, document: Mapping[str, Any], *, base: Path) -> Self:
        """Read a policy from what TOML (or any other notation) made of it."""
        complaints = _Complaints()
        if document.get("policy") != VERSION:
            complaints.add(f"the first line must be `policy = {VERSION}`")
        complaints.unknown(document, TOP)
        kind = document.get("kind", "table")
        if kind not in KINDS:
            complaints.add(f"kind: {one_of('kind', KINDS, kind)}")
        nulls = Nulls.VALUE
        with complaints.at("nulls"):
            nulls = _enum(Nulls, document.get("nulls", "value"))
        form = Form()
        with complaints.at("form"):
            form = _form(document.get("form", {}))
        attributes = _attributes(document.get("attributes"), complaints, base)
        models = _models(document.get("models"), complaints)
        algorithm: Any = None
        with complaints.at("algorithm"):
            algorithm = build("algorithms", document.get("algorithm", {"type": "top-down"}))
        _cross_check(attributes, models, complaints)
        complaints.raise_all(also=undecided(attributes))
        return cls(
            attributes=attributes,
            models=models,
            algorithm=algorithm,
            purpose=str(document.get("purpose", "")),
            kind=kind,
            nulls=nulls,
            form=form,
        )

    def to_document(self) -> dict[str, Any]:
        """The policy as a document that TOML can hold."""
        document: dict[str, Any] = {"policy": VERSION, "kind": self.kind}
        if self.purpose:
            document["purpose"] = self.purpose
        document["nulls"] = self.nulls.value
        form = {f.name: _noted(getattr(self.form, f.name)) for f in _written(Form)}
        document["form"] = {name: value for name, value in form.items() if value is not None}
        document["attributes"] = {a.name: _attribute_document(a) for a in self.attributes}
        document["models"] = [describe(model) for model in self.models]
        document["algorithm"] = describe(self.algorithm)
        return document

    def dumps(self) -> str:
        return tomli_w.dumps(self.to_document())


class _Complaints:
    """Everything that is wrong, collected, so that it is said once."""

    def __init__(self) -> None:
        self._all: list[str] = []

    def add(self, *complaints: str) -> None:
        self._all.extend(complaints)

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


def _form(table: object) -> Form:
    if not isinstance(table, Mapping):
        raise PolicyError("is a table, for example { delimiter = ';', nulls = ['', 'NA'] }")
    form: Form = _fill(Form, table)
    return form


def _attributes(table: object, complaints: _Complaints, base: Path) -> tuple[Attribute, ...]:
    if not isinstance(table, Mapping) or not table:
        complaints.add("attributes: names every column that is published, each with its role")
        return ()
    found = []
    for name, spec in table.items():
        with complaints.at(f"attributes.{name}"):
            found.append(_attribute(name, spec, base))
    return tuple(found)


def _attribute(name: str, spec: object, base: Path) -> Attribute:
    if isinstance(spec, str):
        spec = {"role": spec}
    if not isinstance(spec, Mapping) or "role" not in spec:
        raise PolicyError('needs a role, for example { role = "quasi" }')
    complaints = _Complaints()
    role = Role.UNDECIDED
    with complaints.at("role"):
        role = _enum(Role, spec["role"], what="it")
    arranged = masked = None
    if "hierarchy" in spec:
        if role is not Role.QUASI and role is not Role.UNDECIDED:
            complaints.add(
                f"hierarchy: only a quasi-identifier is generalised, the role here is {role.value}"
            )
        with complaints.at("hierarchy"):
            arranged = hierarchy.parse(spec["hierarchy"], base=base)
    elif role is Role.QUASI:
        arranged = hierarchy.Auto()
    if "publish" in spec:
        if role is not Role.IDENTIFIER:
            complaints.add(f"publish: only an identifier is disguised, the role here is {role.value}")
        try:
            masked = disguise.parse({key: v for key, v in spec.items() if key != "hierarchy"}, base=base)
        except PolicyError as error:
            complaints.add(*error.complaints)
    else:
        complaints.unknown(spec, ("role", "hierarchy", "publish"))
    complaints.raise_all()
    return Attribute(name, role, arranged, masked, spec.get("by"))


def _models(tables: object, complaints: _Complaints) -> tuple[core.PrivacyModel, ...]:
    if not isinstance(tables, list) or not tables:
        complaints.add('models: at least one promise, for example [[models]] type = "k-anonymity" k = 5')
        return ()
    found = []
    for at, table in enumerate(tables):
        with complaints.at(f"models[{at}]"):
            found.append(build("models", table))
    return tuple(found)


def _cross_check(
    attributes: tuple[Attribute, ...], models: tuple[core.PrivacyModel, ...], complaints: _Complaints
) -> None:
    """What is right in each place and wrong together."""
    if not attributes:
        return
    roles = {attribute.name: attribute.role for attribute in attributes}
    undecided = Role.UNDECIDED in roles.values()
    if not undecided and Role.QUASI not in roles.values():
        complaints.add('attributes: no quasi-identifier; give at least one the role "quasi"')
    targets = [name for name, role in roles.items() if role is Role.TARGET]
    if len(targets) > 1:
        complaints.add(f"attributes: one target at most, not {', '.join(targets)}")
    for attribute in attributes:
        if attribute.person is not None and attribute.person not in roles:
            complaints.add(f"attributes.{attribute.name}: by: no attribute {attribute.person!r}")
    for at, model in enumerate(models):
        for place, name in _sensitive_named(model):
            if roles.get(name, Role.SENSITIVE) is Role.UNDECIDED:
                continue
            if roles.get(name) is not Role.SENSITIVE:
                complaints.add(
                    f'models[{at}]: {place}.{name}: no attribute with that name and role "sensitive"'
                )
        for name in getattr(model, "quasi", None) or ():
            if roles.get(name) not in {Role.QUASI, Role.UNDECIDED}:
                complaints.add(f'models[{at}]: quasi: no attribute {name!r} with role "quasi"')


def _sensitive_named(model: core.PrivacyModel) -> Iterator[tuple[str, str]]:
    """The attributes that a promise speaks of, each with the key that names it."""
    if hasattr(model, "bounds"):
        yield from (("sensitive", template.attribute) for template in model.bounds)
    else:
        yield from (("sensitive", name) for name in getattr(model, "sensitive", ()))
    if isinstance(guard := getattr(model, "guard", None), str):
        yield "guard", guard


def undecided(attributes: Sequence[Attribute]) -> list[str]:
    """A complaint for each column that nobody has decided about."""
    roles = ", ".join(role.value for role in Role if role is not Role.UNDECIDED)
    return [
        f"attributes.{attribute.name}: the role is still undecided; it is one of {roles}"
        for attribute in attributes
        if attribute.role is Role.UNDECIDED
    ]


def build(kind: str, table: object) -> Any:
    """A model or algorithm from its table in the policy: `type` says which, the rest is its fields."""
    if not isinstance(table, Mapping) or "type" not in table:
        raise PolicyError(f"needs a type, one of {', '.join(registry.installed(kind))}")
    made = registry.find(kind, table["type"])
    return _fill(made, {key: value for key, value in table.items() if key != "type"})


def _fill(made: Any, table: Mapping[str, Any]) -> Any:
    """A dataclass from a table, by the types of its fields."""
    hints = get_type_hints(made)
    wanted = _written(made)
    complaints = _Complaints()
    complaints.unknown(table, tuple(f.name for f in wanted))
    values = {}
    for field in wanted:
        if field.name in table:
            with complaints.at(field.name):
                values[field.name] = _read(hints[field.name], table[field.name])
        elif field.default is MISSING and field.default_factory is MISSING:
            complaints.add(f"{field.name} is missing")
    complaints.raise_all()
    return made(**values)


def _written(made: Any) -> list[Field[Any]]:
    """The fields of a dataclass that a policy says."""
    return [f for f in fields(made) if f.init and f.metadata.get("policy", True)]


def _read(hint: Any, given: Any) -> Any:
    """A value of the type that a field has, from what stands in the file."""
    if hint == Sensitive:
        return _sensitive(given)
    if get_origin(hint) in {Union, UnionType}:
        return _read(next(part for part in get_args(hint) if part is not NoneType), given)
    if hint is Fraction:
        return exact(given)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _enum(hint, given, what="it")
    if get_origin(hint) is tuple:
        if isinstance(given, str) or not isinstance(given, (list, tuple)):
            raise PolicyError(f"is a list, not {given!r}")
        return tuple(_read(get_args(hint)[0], item) for item in given)
    readers: dict[Any, Callable[[Any], bool]] = {
        int: lambda v: isinstance(v, int) and not isinstance(v, bool),
        float: lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
        str: lambda v: isinstance(v, str),
        bool: lambda v: isinstance(v, bool),
    }
    if hint in readers and not readers[hint](given):
        words = {int: "a whole number", float: "a number", str: "a text in quotes", bool: "true or false"}
        raise PolicyError(f"is {words[hint]}, not {given!r}")
    return given


def exact(given: object) -> Fraction:
    """A number that a guarantee depends on: whole, or in quotes; never a float."""
    if isinstance(given, float):
        raise PolicyError(f'write "{given}" in quotes, so that it is exact')
    if isinstance(given, bool) or not isinstance(given, (int, str)):
        raise PolicyError(f'is an exact number such as "1/5" or "0.2", not {given!r}')
    try:
        text = str(given).strip()
        return Fraction(text[:-1]) / 100 if text.endswith("%") else Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise PolicyError(f'is an exact number such as "1/5", "0.2" or "20%", not {given!r}') from None


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


def _enum(kind: type[Any], given: object, what: str = "it") -> Any:
    try:
        return kind(given)
    except ValueError:
        raise PolicyError(one_of(what, [member.value for member in kind], given)) from None


def describe(thing: Any) -> dict[str, Any]:
    """A model or algorithm as its table in a policy."""
    table = {"type": thing.name}
    for field in _written(thing):
        value = getattr(thing, field.name)
        if value is not None:
            table[field.name] = _noted(value)
    return table


def _noted(value: Any) -> Any:
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):  # no key of a file can be null
            return [{**_item(key), "at_most": _noted(bound)} for key, bound in value.items()]
        return {key: "every" if _is_every(v) else _noted(v) for key, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_noted(item) if isinstance(item, str) else _item(item) for item in value]
    return value


def _item(value: Any) -> Any:
    """An item of a list; what is no text is a table that says what it is."""
    if value is None:
        return {"null": True}
    if value is EVERY:
        return {"every": True}
    return {"value": value} if isinstance(value, str) else _noted(value)


def _is_every(values: Any) -> bool:
    return isinstance(values, tuple) and values == (EVERY,)


def _attribute_document(attribute: Attribute) -> dict[str, Any]:
    table: dict[str, Any] = {"role": attribute.role.value}
    if attribute.hierarchy is not None:
        table["hierarchy"] = attribute.hierarchy.to_policy()
    if attribute.disguise is not None:
        table.update(attribute.disguise.to_policy())
    if attribute.person is not None:
        table["by"] = attribute.person
    return table
