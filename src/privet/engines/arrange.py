"""Values put in leaf order, for every engine alike: all attributes that do not fit are named at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from privet.core import Attribute
from privet.domain import Domain, Value, flat
from privet.errors import HierarchyError


def domains(values: Mapping[str, Sequence[Value]], arranged: Mapping[str, Attribute]) -> dict[str, Domain]:
    """The domain of each column: by its attribute's hierarchy, or flat where it has none."""
    found: dict[str, Domain] = {}
    complaints: list[str] = []
    missing = 0
    for name, distinct in values.items():
        hierarchy = arranged[name].hierarchy if name in arranged else None
        try:
            found[name] = flat(tuple(distinct)) if hierarchy is None else hierarchy.domain(distinct)
        except HierarchyError as error:
            complaints += [f"attributes.{name}: {complaint}" for complaint in error.complaints]
            missing += error.missing
    if complaints:
        raise HierarchyError(*complaints, missing=missing)
    return found
