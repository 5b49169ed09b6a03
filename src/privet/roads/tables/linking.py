"""A public list linked with a release, or with a raw table: read, translated, matched."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from privet import notebook
from privet.core import Form, Role
from privet.domain import Value
from privet.engine import Engine
from privet.errors import InputError
from privet.measure.attack import Rows
from privet.measure.linkage import Linkage, linkage
from privet.policy.values import Policy
from privet.roads.stations import settle
from privet.roads.tables.opened import opened, rows_of


@dataclass(frozen=True)
class Linked:
    """Who matches what, by which columns, and the list as it was read. For the steward's eyes."""

    on: tuple[str, ...]
    found: Linkage = field(repr=False)
    people: Rows = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Numbers only, as JSON can hold them."""
        return {"on": list(self.on), **self.found.told()}

    def __repr__(self) -> str:
        return f"Linked({', '.join(f'{name}={value!r}' for name, value in self.to_dict().items())})"

    def _repr_html_(self) -> str:
        """The numbers, and nobody's row."""
        return notebook.card("Linked", self.to_dict().items())


def link(
    people: Any, target: Any, policy: Policy | None = None, *, form: Form | None = None, engine: Engine[Any]
) -> Linked:
    """Everybody in a public list against every record of a release folder; or of a raw table, by a policy.

    They are linked by the quasi-identifiers that the list has as well. `form` says how the list is written.
    """
    if policy is None:
        there = opened(target if not isinstance(target, str) else Path(target), engine)
        rules, table, translation = there.policy, there.table, there.translation
    else:
        rules = policy
        names = [a.name for a in policy.with_role(Role.QUASI, Role.SENSITIVE)]
        table, translation = engine.read(target, settle(target, policy.form), names), _itself
    sensitive = [a.name for a in rules.with_role(Role.SENSITIVE)]
    listed = engine.read(people, settle(people, form or Form()))
    known = engine.columns(listed)
    on = tuple(a.name for a in rules.quasi if a.name in known)
    if not on:
        quasi = ", ".join(a.name for a in rules.quasi)
        raise InputError(f"the list of people has none of the quasi-identifiers ({quasi}) as a column")
    who = rows_of(listed, list(known))
    return Linked(on, linkage(who, rows_of(table, [*on, *sensitive]), on, translation, sensitive), who)


def _itself(attribute: str, raw: Value) -> frozenset[Value]:  # noqa: ARG001 - a translation's form
    return frozenset({raw})
