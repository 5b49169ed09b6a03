"""How much hierarchies cover: the values of each quasi-identifier, and those that have no place."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from privet.errors import PrivetError
from privet.hierarchy import parse
from privet.registry import find
from privet.roads.documents.data import distinct
from privet.studio import edits
from privet.studio.later import Work
from privet.studio.pages import Asked


@dataclass(frozen=True)
class Standing:
    """A quasi-identifier's hierarchy, and how much it covers."""

    name: str
    type: str
    spec: Mapping[str, Any]
    uncovered: tuple[str, ...]
    different: int
    complaint: str = ""
    pending: str = ""  # why it is not known yet


def quasi(asked: Asked) -> dict[str, dict[str, Any]]:
    """The hierarchies of the quasi-identifiers."""
    return edits.quasi(asked.project.document())


def soon(asked: Asked) -> Work[list[Standing]]:
    """How every hierarchy covers its values, or the one that is asked for; of a million it takes a while."""
    key = (asked.get("column"), asked.project.standing(), asked.look.records)
    found: Work[list[Standing]] = asked.studio.standing.at(key, lambda: list(_standing(asked)))
    return found


def _standing(asked: Asked) -> Iterator[Standing]:
    every = quasi(asked)
    if asked.get("column"):
        every = {name: spec for name, spec in every.items() if name == asked.get("column")}
    known = values_of(asked, list(every))
    for name, spec in every.items():
        yield _looked(asked, name, spec, known.get(name))


def values_of(asked: Asked, names: list[str]) -> dict[str, list[Any]]:
    """The different values of columns, as the policy reads them; those of fields once the policy is one."""
    if not names:
        return {}
    look = asked.look
    if look.items is not None:
        found = {edits.ITEMS: list(look.items.every)} if edits.ITEMS in names and look.items.every else {}
        beside = [name for name in names if name != edits.ITEMS]
        return {**found, **asked.studio.looks.values(asked.project, beside)}
    if look.drafted is not None:
        return asked.studio.looks.values(asked.project, names)
    try:
        known = distinct(asked.project.given, asked.project.policy(), find("engines", "embedded")())
    except PrivetError:
        return {}
    return {name: list(known[name]) for name in names if name in known}


def _looked(asked: Asked, name: str, spec: Mapping[str, Any], values: list[Any] | None) -> Standing:
    kind = str(spec.get("type", "auto"))
    if values is None:
        return Standing(name, kind, spec, (), 0, pending="said when the policy is complete")
    many = len([value for value in values if value is not None])
    try:
        return Standing(name, kind, spec, _uncovered(asked, name, spec, values), many)
    except PrivetError as error:
        return Standing(name, kind, spec, (), many, error.complaints[0])


def _uncovered(asked: Asked, name: str, spec: Mapping[str, Any], values: list[Any]) -> tuple[str, ...]:
    """The values without a place; worked out once for a hierarchy, as there may be a million."""
    base = asked.project.folder
    file = base / str(spec["path"]) if "path" in spec else None
    stamp = file.stat().st_mtime_ns if file is not None and file.is_file() else None
    key = (name, json.dumps(spec, sort_keys=True, default=str), stamp)
    return asked.studio.looks.remembered(key, lambda: tuple(parse(spec, base=base).uncovered(values)))
