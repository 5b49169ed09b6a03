"""What a policy says of documents: where records are, what vertices they have, what each field may do.

    kind = "documents"
    [documents]
    record = { type = "student", json = "$.students[*]" }
    [documents.types.student]
    identifier = ["id"]
    quasi = ["yob"]
    sensitive = "gpa"
    children = { courses = "course" }
    [documents.types.course]
    quasi = ["course"]
    sensitive = "grade"
    [documents.attributes.gpa]
    buckets = { from = 0, to = 4, width = "0.5" }

It describes every field, so such a policy has no other list of attributes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from privet import core
from privet.core import Attribute, Role
from privet.declared import settle
from privet.document.described import ALSO, LISTS, described
from privet.document.promises import PMPrivacy
from privet.document.schema import Buckets, Field, Kind, Schema
from privet.document.settings import TreeAnatomy
from privet.engines.documents.shape import one_key_each
from privet.engines.documents.tables import Keys
from privet.errors import InputError, PolicyError, one_of
from privet.hierarchy.numbers import fraction
from privet.policy.notation import Complaints, fill
from privet.policy.values import Naming, Shape, as_it_is

SCHEMA = ("record", "types", "attributes")
KEYS = (*SCHEMA, "keys", "undeclared", "doctype")
UNDECLARED = ("refuse", "drop")  # what happens to fields that nobody described
ROLE_KEYS = {role: key for key, role in LISTS.items()} | {Role.UNDECIDED: "undecided"}


@dataclass(frozen=True)
class DocumentShape(Shape):
    """Trees of people: JSON, XML, or tables that are joined by keys."""

    schema: Schema = field(repr=False)
    keys: Mapping[str, Keys] = field(default_factory=dict)  # by type, where records are tables
    undeclared: str = "refuse"
    doctype: bool = False  # accept the name of a document type in XML; entities never are

    name: ClassVar[str] = "documents"
    algorithm: ClassVar[Mapping[str, Any]] = {"type": "clustree"}
    describes_fields: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle(self)
        if complaints := list(_misfits(self.schema, self.keys, self.undeclared)):
            raise PolicyError(*complaints)

    @classmethod
    def from_policy(cls, table: Mapping[str, Any], *, base: Path) -> Self:
        complaints = Complaints()
        complaints.add(*_malformed(table))
        complaints.raise_all()
        complaints.unknown(table, KEYS)
        schema: Schema | None = None
        try:
            schema = described({key: table[key] for key in SCHEMA if key in table}, base)
        except PolicyError as error:
            complaints.add(*error.complaints)
        keys = {}
        for name, said in table.get("keys", {}).items():
            with complaints.at(f"keys.{name}"):
                keys[name] = fill(Keys, said)
        undeclared, doctype = table.get("undeclared", "refuse"), table.get("doctype", False)
        complaints.add(*_misfits(schema, keys, undeclared))
        if not isinstance(doctype, bool):
            complaints.add("doctype: is true or false")
        complaints.raise_all()
        assert schema is not None
        return cls(schema, keys, undeclared, doctype)

    def to_policy(self, named: Naming = as_it_is) -> dict[str, Any]:  # noqa: ARG002 - it names no file
        places = {"json": self.schema.record.json, "xml": self.schema.record.xml}
        table: dict[str, Any] = {
            "record": {"type": self.schema.root, **{key: at for key, at in places.items() if at is not None}},
            "types": {kind.name: _type(kind) for kind in self.schema.kinds},
            "attributes": {
                f"{kind.name}.{f.name}": said
                for kind in self.schema.kinds
                for f in kind.fields
                if (said := _attribute(f))
            },
        }
        if self.keys:
            table["keys"] = {
                name: {key: at for key, at in (("own", k.own), ("parent", k.parent)) if at is not None}
                for name, k in self.keys.items()
            }
        if self.undeclared != "refuse":
            table["undeclared"] = self.undeclared
        if self.doctype:
            table["doctype"] = True
        return table

    def complaints(self, policy: core.Terms) -> list[str]:
        found = []
        if policy.form.encoding.lower().replace("_", "-") != "utf-8":
            found.append("form.encoding: JSON is UTF-8, and XML names its own encoding; leave it out")
        if isinstance(policy.algorithm, TreeAnatomy):
            found += [
                f"documents.attributes.{kind.name}.{f.name}: buckets: labelled: {policy.algorithm.name} "
                "publishes sensitive values as they are"
                for kind in self.schema.kinds
                for f in kind.fields
                if f.buckets is not None and f.buckets.labelled
            ]
        models: tuple[Any, ...] = policy.models
        for at, model in enumerate(models):
            for place, rule in enumerate(model.rules if isinstance(model, PMPrivacy) else ()):
                if not any(rule.names(kind) for kind in self.schema.kinds):
                    known = [f"{k.name}.{k.sensitive.name}" for k in self.schema.kinds if k.sensitive]
                    found.append(
                        f"models[{at}]: rules[{place}]: {one_of('attribute', known, rule.attribute)}"
                    )
                found += [
                    f"models[{at}]: rules[{place}]: its value is in no bucket of {kind.name}.{f.name}"
                    for kind in self.schema.kinds
                    if rule.names(kind) and (f := kind.sensitive) is not None and _outside(f, rule.value)
                ]
        return found

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """Every field as `type.field`."""
        return tuple(
            Attribute(f"{kind.name}.{f.name}", f.role, f.hierarchy)
            for kind in self.schema.kinds
            for f in kind.fields
        )

    @property
    def undecided(self) -> list[str]:
        return [
            f"documents.types.{kind.name}: {f.name} is still undecided; it belongs into one of "
            f"{', '.join(LISTS)}"
            for kind in self.schema.kinds
            for f in kind.with_role(Role.UNDECIDED)
        ]

    def published(self) -> DocumentShape:
        """What a recipient needs of it: no hierarchies, whose leaves are raw values, and nothing that is
        never published. What is left undescribed is refused: nothing may stand in a release besides.
        """
        kinds = tuple(
            replace(kind, fields=tuple(replace(f, hierarchy=None) for f in kind.published))
            for kind in self.schema.kinds
        )
        return replace(self, schema=replace(self.schema, kinds=kinds), undeclared="refuse", doctype=False)


def _misfits(schema: Schema | None, keys: Mapping[str, Keys], undeclared: str) -> Iterator[str]:
    """What is wrong about records that are described; None: what should describe them is wrong already."""
    if schema is not None:
        try:
            one_key_each(schema)
        except PolicyError as error:
            yield from error.complaints
        yield from (
            f"keys.{name}: {one_of('type', list(schema.position), name)}"
            for name in keys
            if name not in schema.position
        )
    if undeclared not in UNDECLARED:
        yield f"undeclared: {one_of('it', UNDECLARED, undeclared)}"


def _type(kind: Kind) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for role, key in ROLE_KEYS.items():
        names = [f.name for f in kind.with_role(role)]
        if names:
            said[key] = names[0] if role is Role.SENSITIVE else names
    if kind.children:
        said["children"] = dict(kind.children)
    if kind.weight != 1:
        said["weight"] = str(kind.weight)
    return said


def _attribute(f: Field) -> dict[str, Any]:
    said: dict[str, Any] = {}
    if f.hierarchy is not None:
        said["hierarchy"] = f.hierarchy.to_policy()
    if f.buckets is not None:
        said["buckets"] = {"edges": [str(edge) for edge in f.buckets.edges]}
        if f.buckets.labelled:
            said["buckets"]["labelled"] = True
    if f.xml is not None:
        said["xml_name"] = f.xml
    return said


def _outside(f: Field, value: str) -> bool:
    buckets: Buckets | None = f.buckets
    if buckets is None or value == "*":
        return False
    try:
        buckets.bucket(value)
    except InputError:
        return True
    return False


def _malformed(table: object) -> Iterator[str]:
    """Whatever is not of the form that a description has at all; what it says is looked at later."""
    if not isinstance(table, Mapping) or not isinstance(table.get("types"), Mapping) or not table["types"]:
        yield 'types: is a table of types, for example types.student = { quasi = ["yob"], sensitive = "gpa" }'
        return
    record = table.get("record", {})
    if not isinstance(record, Mapping) or not all(
        key in {"type", "json", "xml"} and isinstance(value, str) for key, value in record.items()
    ):
        yield 'record: says type, json and xml, for example { type = "student", json = "$.students[*]" }'
    for name, said in table["types"].items():
        if not isinstance(said, Mapping):
            yield f"types.{name}: is a table of lists of fields"
            continue
        for key in (*LISTS, *ALSO, "undecided"):
            listed = said.get(key, [])
            if not isinstance(listed, str) and not (
                isinstance(listed, list) and all(isinstance(one, str) for one in listed)
            ):
                yield f"types.{name}.{key}: is a list of names of fields"
        children = said.get("children", {})
        if not isinstance(children, Mapping) or not all(isinstance(to, str) for to in children.values()):
            yield f'types.{name}.children: names a type for each key, for example {{ courses = "course" }}'
        if not _is_number(said.get("weight", 1)):
            yield f"types.{name}.weight: is a number, as text where it is not a whole one"
    attributes = table.get("attributes", {})
    if not isinstance(attributes, Mapping):
        yield "attributes: is a table of fields"
        return
    for name, said in attributes.items():
        if not isinstance(said, Mapping):
            yield f"attributes.{name}: is a table with hierarchy, buckets or xml_name"
        elif not isinstance(said.get("buckets", {}), Mapping) or not isinstance(
            said.get("xml_name", ""), str
        ):
            yield f"attributes.{name}: buckets is a table and xml_name a text"
    keys = table.get("keys", {})
    if not isinstance(keys, Mapping) or not all(isinstance(said, Mapping) for said in keys.values()):
        yield 'keys: names columns for each type, such as keys.course = { own = "id", parent = "student" }'


def _is_number(value: object) -> bool:
    try:
        fraction(value)
    except ValueError:
        return False
    return not isinstance(value, bool)
