"""A schema from its description, as plain nested data.

    {"record": {"type": "student", "json": "$.students[*]", "xml": "/students/student"},
     "types": {"student": {"identifier": ["id"], "quasi": ["yob"], "sensitive": "gpa",
                           "children": {"courses": "course"}}},
     "attributes": {"yob": {"hierarchy": {...}}, "gpa": {"buckets": {"from": 0, "to": 4, "width": "0.5"}}}}

Fields are listed by role. The schema files of the literature have other words for the same lists (`drop`,
`qi`, `sa`, `keep`); they are read, too, and never written. An attribute is named by its field, or as
`type.field` where two types share the name of a field.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from privet.core import Role
from privet.document.schema import Buckets, Field, Kind, Places, Schema
from privet.errors import PolicyError, unknown_key
from privet.hierarchy.numbers import decimal
from privet.hierarchy.parse import parse

LISTS = {role.value: role for role in (Role.IDENTIFIER, Role.QUASI, Role.SENSITIVE, Role.OTHER)}
ALSO = {"drop": "identifier", "qi": "quasi", "sa": "sensitive", "keep": "other"}  # in the literature
TYPE_KEYS = (*LISTS, "undecided", "children", "weight")
ATTRIBUTE_KEYS = ("hierarchy", "buckets", "xml_name")


def described(plain: Mapping[str, Any], base: Path | None = None) -> Schema:
    """The schema; `base` is the folder that paths of hierarchies start from."""
    complaints: list[str] = [
        unknown_key(("record", "types", "attributes"), key)
        for key in plain
        if key not in {"record", "types", "attributes"}
    ]
    attributes = dict(plain.get("attributes", {}))
    record = plain.get("record", {})
    used: set[str] = set()
    kinds = []
    for name, said in plain.get("types", {}).items():
        type_ = {ALSO.get(key, key): listed for key, listed in said.items()}
        complaints += [
            f"types.{name}: {key} and {ALSO[key]} are the same list; say it once, as {ALSO[key]}"
            for key in said
            if key in ALSO and ALSO[key] in said
        ]
        complaints += [
            f"types.{name}: {unknown_key(TYPE_KEYS, key)}" for key in type_ if key not in TYPE_KEYS
        ]
        fields = []
        for key, role in (*LISTS.items(), ("undecided", Role.UNDECIDED)):
            for one in _listed(type_.get(key, ())):
                place = f"{name}.{one}" if f"{name}.{one}" in attributes else one
                used.add(place)
                try:
                    fields.append(_field(one, role, attributes.get(place, {}), base or Path()))
                except PolicyError as error:
                    complaints += error.at(f"attributes.{place}").complaints
        kinds.append(
            Kind(name, tuple(fields), tuple(type_.get("children", {}).items()), type_.get("weight", 1))
        )
    complaints += [f"attributes.{name}: no type has this field" for name in attributes if name not in used]
    if complaints:
        raise PolicyError(*complaints)
    root = record.get("type", kinds[0].name if kinds else "")
    return Schema(root, tuple(kinds), Places(record.get("json"), record.get("xml")))


def _listed(given: str | Sequence[str]) -> Sequence[str]:
    return [given] if isinstance(given, str) else list(given)


def _field(name: str, role: Role, said: Mapping[str, Any], base: Path) -> Field:
    complaints = [unknown_key(ATTRIBUTE_KEYS, key) for key in said if key not in ATTRIBUTE_KEYS]
    if complaints:
        raise PolicyError(*complaints)
    hierarchy = parse(said["hierarchy"], base=base) if "hierarchy" in said and role is Role.QUASI else None
    buckets = _buckets(said["buckets"]) if "buckets" in said and role is Role.SENSITIVE else None
    return Field(name, role, hierarchy, buckets, said.get("xml_name"))


def _buckets(said: Mapping[str, Any]) -> Buckets:
    labelled = bool(said.get("labelled", False))
    try:
        if "edges" in said:
            return Buckets(tuple(decimal(edge) for edge in said["edges"]), labelled)
        low, high, width = (decimal(said[key]) for key in ("from", "to", "width"))
    except (KeyError, ValueError):
        raise PolicyError("buckets: say edges, or from, to and width, as numbers") from None
    return Buckets.of_width(low, high, width, labelled=labelled)
