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
    for name, met in values.items():
        # Not in the order in which rows, or the threads of an engine, met them: the same data in another
        # order, or on a busier machine, has the same codes, and so the same release and figures.
        distinct = sorted(met, key=lambda value: (value is None, str(value)))
        hierarchy = arranged[name].hierarchy if name in arranged else None
        try:
            found[name] = flat(tuple(distinct)) if hierarchy is None else hierarchy.domain(distinct)
        except HierarchyError as error:
            complaints += [f"attributes.{name}: {complaint}" for complaint in error.complaints]
            missing += error.missing
    if complaints:
        raise HierarchyError(*complaints, missing=missing)
    return found
