"""Values put in leaf order, for every engine alike: all attributes that do not fit are named at once.

Here equal values become one: whoever counts, counts codes, and 45 and 45.0 have the same. It is done once for
each distinct value, never for each row.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from privet import equality
from privet.core import Attribute
from privet.domain import Domain, Value, flat
from privet.errors import HierarchyError


def domains(
    values: Mapping[str, Sequence[Value]], arranged: Mapping[str, Attribute], as_written: Collection[str] = ()
) -> dict[str, Domain]:
    """The domain of each column: by its attribute's hierarchy, or flat where it has none.

    `as_written`: columns in which values are told apart by their spelling. A published quasi-identifier is
    one: its reader sees how it is written, so records that are written differently do not look alike.
    """
    found: dict[str, Domain] = {}
    complaints: list[str] = []
    missing = 0
    for name, written in values.items():
        met = written if name in as_written else spelt(written)
        # Not in the order in which rows, or the threads of an engine, met them: the same data in another
        # order, or on a busier machine, has the same codes, and so the same release and figures.
        distinct: list[Value] = [*sorted(value for value in met if value is not None)]
        distinct += [value for value in met if value is None]
        hierarchy = arranged[name].hierarchy if name in arranged else None
        try:
            found[name] = flat(tuple(distinct)) if hierarchy is None else hierarchy.domain(distinct)
        except HierarchyError as error:
            complaints += [f"attributes.{name}: {complaint}" for complaint in error.complaints]
            missing += error.missing
    if complaints:
        raise HierarchyError(*complaints, missing=missing)
    return found


def spelt(values: Sequence[Value]) -> Sequence[Value]:
    """Each value once, equal ones in one spelling."""
    if equality.own(values) or len(found := equality.classes(values)) == len(values):
        return values
    return [
        None if one is None else equality.spelling([v for v in alike if v is not None])
        for one, alike in found.items()
    ]


def codes_of(domain: Domain, values: Sequence[Value]) -> NDArray[np.intp]:
    """The code of each value as it was met; equal ones have the same."""
    codes: list[int | None] = list(map(domain.codes.get, values))
    if None in codes:  # written in another way than the domain has it
        codes = list(map(domain.code, values))
    return np.array(codes, dtype=np.intp)


def respelt(domain: Domain, values: Iterable[Value]) -> bool:
    """Is a value written in another way than the domain has it? Then its own spelling would tell it apart."""
    return not domain.codes.keys() >= set(values)
