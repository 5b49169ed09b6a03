"""Policies on disk, read whole or refused whole.

A wrong policy is answered with every complaint at once, each with its place and its fix.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import tomli_w

from privet import core, disguise, hierarchy
from privet.core import Attribute, Form, Nulls, Role
from privet.errors import PolicyError, one_of
from privet.policy.consistency import TABLE, cross_check
from privet.policy.notation import Complaints, build, describe, fill, noted, word, written
from privet.registry import find, installed, known

VERSION = 1
RARE = frozenset(("header", "trim", "numbers", "missing"))  # of a form, said only where they are not as usual
TOP = (
    "policy",
    "kind",
    "purpose",
    "nulls",
    "attributes",
    "models",
    "algorithm",
    "form",
    "publish_only",
    "ledger",
)


@dataclass(frozen=True, slots=True)
class Purse:
    """What a release is paid from: a ledger's file, and the data set's name in it."""

    file: str
    dataset: str


class Shape(Protocol):
    """What a policy says of data that is no table, in a table of the kind's name.

    >>> # kind = "trajectories"
    >>> # [trajectories]
    >>> # path = "stops"
    """

    algorithm: ClassVar[Mapping[str, Any]]  # what searches unless the policy says otherwise

    @classmethod
    def from_policy(cls, table: Mapping[str, Any], *, base: Path) -> Self:
        """Read it; raise PolicyError with every complaint. Paths are relative to `base`."""

    def to_policy(self) -> dict[str, Any]:
        """The table that `from_policy` reads."""

    def complaints(self, policy: core.Policy) -> list[str]:
        """What is right in each place of the policy and wrong together."""

    # A shape that describes every field itself has two more: `attributes`, which then stand nowhere else in
    # the policy, and `undecided`, a complaint for each field that nobody has decided about.


@dataclass(frozen=True)
class Policy(core.Policy):
    """What the steward decided, that can be read from a file and written to one."""

    # Of a table that holds a population, the rows that leave: by column, what it says of them.
    publish_only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ledger: Purse | None = None  # for algorithms that spend; it may be named when publishing, too

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
        complaints = Complaints()
        if document.get("policy") != VERSION:
            complaints.add(f"the first line must be `policy = {VERSION}`")
        kind = document.get("kind", TABLE)
        if kind != TABLE and not known("shapes", kind):
            complaints.add(f"kind: {one_of('kind', [TABLE, *installed('shapes')], kind)}")
            kind = TABLE
        complaints.unknown(document, TOP if kind == TABLE else (*TOP, kind))
        shape: Shape | None = None
        if kind != TABLE:
            with complaints.at(kind):
                shape = find("shapes", kind).from_policy(document.get(kind, {}), base=base)
        nulls = Nulls.VALUE
        with complaints.at("nulls"):
            nulls = word(Nulls, document.get("nulls", "value"))
        form = Form()
        with complaints.at("form"):
            form = _form(document.get("form", {}))
        only: Mapping[str, tuple[str, ...]] = {}
        with complaints.at("publish_only"):
            only = _publish_only(document.get("publish_only", {}))
        purse: Purse | None = None
        with complaints.at("ledger"):
            purse = _purse(document.get("ledger"), base)
        if kind != TABLE and hasattr(find("shapes", kind), "attributes"):
            attributes: tuple[Attribute, ...] = getattr(shape, "attributes", ())
            if "attributes" in document:
                complaints.add(f"attributes: fields are described in [{kind}]; remove it here")
        else:
            there = document.get("attributes", {} if kind != TABLE else None)
            attributes = _attributes(there, complaints, base, needed=kind == TABLE)
        models = _models(document.get("models"), complaints)
        algorithm: Any = None
        with complaints.at("algorithm"):
            usual = {"type": "top-down"} if kind == TABLE else dict(find("shapes", kind).algorithm)
            algorithm = build("algorithms", document.get("algorithm", usual))
        made = cls(
            attributes=attributes,
            models=models,
            algorithm=algorithm,
            purpose=str(document.get("purpose", "")),
            kind=kind,
            nulls=nulls,
            form=form,
            shape=shape,
            publish_only=only,
            ledger=purse,
        )
        cross_check(made, complaints)
        complaints.raise_all(also=made.undecided)
        return made

    @property
    def undecided(self) -> list[str]:
        """A complaint for each column or field that nobody has decided about."""
        if hasattr(self.shape, "undecided"):
            found: list[str] = self.shape.undecided
            return found
        return undecided(self.attributes)

    def to_document(self) -> dict[str, Any]:
        """The policy as a document that TOML can hold."""
        document: dict[str, Any] = {"policy": VERSION, "kind": self.kind}
        if self.purpose:
            document["purpose"] = self.purpose
        document["nulls"] = self.nulls.value
        if self.publish_only:
            document["publish_only"] = {name: list(values) for name, values in self.publish_only.items()}
        if self.ledger is not None:
            document["ledger"] = {"file": self.ledger.file, "dataset": self.ledger.dataset}
        usual = Form()
        form = {f.name: noted(getattr(self.form, f.name)) for f in written(Form)}
        document["form"] = {
            name: value
            for name, value in form.items()
            if value is not None and (name not in RARE or getattr(self.form, name) != getattr(usual, name))
        }
        if not hasattr(self.shape, "attributes"):
            document["attributes"] = {a.name: _attribute_document(a) for a in self.attributes}
        document["models"] = [describe(model) for model in self.models]
        document["algorithm"] = describe(self.algorithm)
        if self.shape is not None:
            document[self.kind] = self.shape.to_policy()
        return document

    def dumps(self) -> str:
        return tomli_w.dumps(self.to_document())


def _form(table: object) -> Form:
    if not isinstance(table, Mapping):
        raise PolicyError("is a table, for example { delimiter = ';', nulls = ['', 'NA'] }")
    form: Form = fill(Form, table)
    return form


def _purse(table: object, base: Path) -> Purse | None:
    if table is None:
        return None
    if not isinstance(table, Mapping):
        raise PolicyError('is a table, for example { file = "ledger.sqlite", dataset = "admissions" }')
    said: Purse = fill(Purse, table)
    return replace(said, file=str(base / said.file))


def _publish_only(table: object) -> Mapping[str, tuple[str, ...]]:
    if not isinstance(table, Mapping):
        raise PolicyError('is a table of a column and its values, for example { in_study = ["yes"] }')
    if len(table) > 1:
        raise PolicyError("names one column that says which rows leave")
    for name, values in table.items():
        if not isinstance(values, list) or not values or not all(isinstance(v, str) for v in values):
            raise PolicyError(f'{name} is a list of texts, for example ["yes"]')
    return {name: tuple(dict.fromkeys(values)) for name, values in table.items()}


def _attributes(table: object, complaints: Complaints, base: Path, *, needed: bool) -> tuple[Attribute, ...]:
    if not isinstance(table, Mapping) or (needed and not table):  # paths may have nothing beside them
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
    complaints = Complaints()
    role = Role.UNDECIDED
    with complaints.at("role"):
        role = word(Role, spec["role"], what="it")
    arranged = masked = None
    if "hierarchy" in spec:
        # A draft gives each column a hierarchy; what is dropped has no use for it, and nobody is misled.
        if role not in {Role.QUASI, Role.UNDECIDED, Role.IDENTIFIER}:
            complaints.add(
                f"hierarchy: only a quasi-identifier is generalised, the role here is {role.value}"
            )
        with complaints.at("hierarchy"):
            arranged = hierarchy.parse(spec["hierarchy"], base=base)
            if role is Role.IDENTIFIER:
                arranged = None
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
        complaints.unknown(spec, ("role", "hierarchy", "publish", "values"))
    values: tuple[str, ...] = ()
    if "values" in spec:
        if role is not Role.TARGET and role is not Role.UNDECIDED:
            complaints.add(f"values: only a target lists its values, the role here is {role.value}")
        with complaints.at("values"):
            values = _values(spec["values"])
    complaints.raise_all()
    return Attribute(name, role, arranged, masked, spec.get("by"), values)


def _values(given: object) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(v, str | int) for v in given):
        raise PolicyError('is a list of all that could stand there, for example ["yes", "no"]')
    values = tuple(str(v).lower() if isinstance(v, bool) else str(v) for v in given)
    if len(set(values)) < max(2, len(values)):
        raise PolicyError("at least two values, all different")
    return values


def _models(tables: object, complaints: Complaints) -> tuple[core.PrivacyModel, ...]:
    if not isinstance(tables, list) or not tables:
        complaints.add('models: at least one promise, for example [[models]] type = "k-anonymity" k = 5')
        return ()
    found = []
    for at, table in enumerate(tables):
        with complaints.at(f"models[{at}]"):
            found.append(build("models", table))
    return tuple(found)


def undecided(attributes: Sequence[Attribute]) -> list[str]:
    """A complaint for each column that nobody has decided about."""
    roles = ", ".join(role.value for role in Role if role is not Role.UNDECIDED)
    return [
        f"attributes.{attribute.name}: the role is still undecided; it is one of {roles}"
        for attribute in attributes
        if attribute.role is Role.UNDECIDED
    ]


def _attribute_document(attribute: Attribute) -> dict[str, Any]:
    table: dict[str, Any] = {"role": attribute.role.value}
    if attribute.hierarchy is not None:
        table["hierarchy"] = attribute.hierarchy.to_policy()
    if attribute.disguise is not None:
        table.update(attribute.disguise.to_policy())
    if attribute.person is not None:
        table["by"] = attribute.person
    if attribute.values:
        table["values"] = list(attribute.values)
    return table
