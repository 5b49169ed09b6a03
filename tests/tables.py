"""Small tables, written as columns, counted as the plain engine counts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from privet.core import Attribute, Form, Hierarchy, Role, Tally, Terms
from privet.engines.plain import Plain, Rows
from privet.hierarchy import Auto
from privet.models.kanonymity import KAnonymity
from privet.relational.topdown import TopDown

Values = Sequence[str | int | float | None]


def tally_of(
    quasi: Mapping[str, Values],
    *,
    sensitive: Mapping[str, Values] | None = None,
    target: Mapping[str, Values] | None = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
) -> Tally:
    """The tally of a table; quasi-identifiers have the hierarchy that is guessed, unless one is given."""
    sensitive, target, hierarchies = sensitive or {}, target or {}, hierarchies or {}
    attributes = (
        *(Attribute(name, Role.QUASI, hierarchies.get(name, Auto())) for name in quasi),
        *(Attribute(name, Role.SENSITIVE) for name in sensitive),
        *(Attribute(name, Role.TARGET) for name in target),
    )
    rows = Rows(
        {name: list(values) for name, values in (*quasi.items(), *sensitive.items(), *target.items())}
    )
    return Plain().tally(rows, Terms(attributes, (KAnonymity(k=1),), TopDown(), form=Form())).tally
