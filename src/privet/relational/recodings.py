"""What kind of recoding turned one table into another: the classifier of recoding types.

*Unchanged*: every value as it was. *Full-domain*: all values of an attribute at one level of its hierarchy.
*Global*: equal values are always published alike, different ones maybe at different levels. *Local*: equal
values may be published differently in different records. Each is a special case of the next.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from privet.core import Column, Tally
from privet.domain import Domain, Value
from privet.errors import InputError
from privet.measure.classes import occurring
from privet.recoding import Generalization, Perturbation, Recoding, Regions

TYPES = ("unchanged", "full-domain", "global", "local")  # each a special case of the next


def recoding_type(domain: Domain, pairs: Iterable[tuple[int, Value]]) -> str:
    """The type by which codes of a domain became labels."""
    label_of: dict[int, Value] = {}
    for code, label in pairs:
        if label_of.setdefault(code, label) != label:
            return "local"
    if all(domain.values[code] == label for code, label in label_of.items()):
        return "unchanged"
    codes, wanted = np.array(list(label_of), dtype=np.intp), list(label_of.values())
    for row in domain.descent():
        of_code = np.searchsorted([node.lo for node in row], codes, side="right") - 1
        here = [row[at].label for at in of_code.tolist()]
        if here == wanted:
            return "full-domain"
        if len(set(here)) > len(set(wanted)):  # further down there are only more
            break
    return "global"


def recoding_types(raw: Tally, recoding: Recoding) -> dict[str, str]:
    """The type for each quasi-identifier; records that are left out have none. Nothing of perturbations."""
    if isinstance(recoding, Perturbation):
        return {}
    found = {}
    for column in raw.quasi:
        found[column.name] = recoding_type(column.domain, published_pairs(column, recoding))
    return found


def published_pairs(column: Column, recoding: Generalization | Regions) -> list[tuple[int, Value]]:
    """The codes of a column and the labels they are published under, each pair that occurs once."""
    if isinstance(recoding, Generalization):  # by value: a look at each value is enough
        cut = recoding.cuts[column.name]
        labels, codes = cut.labels, occurring(column.codes, column.domain.size)
        return [(code, labels[at]) for code, at in zip(codes.tolist(), cut.positions[codes], strict=True)]
    shown = recoding.shown(column)
    fan = len(shown.nodes)
    key = column.codes.astype(np.int64) * fan + shown.positions
    there = occurring(key if shown.kept is None else key[shown.kept], column.domain.size * fan).tolist()
    return [(at // fan, shown.nodes[at % fan].label) for at in there]


def of_rows(domain: Domain, raw: Sequence[Value], released: Sequence[Value]) -> str:
    """The type of one attribute of two tables whose rows stand in the same order."""
    if len(raw) != len(released):
        raise InputError(
            f"the raw column has {len(raw)} records, the released one {len(released)}: rows must match"
        )
    return recoding_type(domain, {(domain.codes[a], b) for a, b in zip(raw, released, strict=True)})


def loosest(types: Collection[str]) -> str:
    """The type of a whole table: that of its least regular attribute."""
    return max(types, key=TYPES.index, default=TYPES[0])
