"""What the promises mean, said once more and naively: rows, loops and fractions.

Nothing here is shared with the package but the parameters of a model. Every combination of every size
is looked at, every group is listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import TypeAlias

from privet.core import Finding, PrivacyModel, Tally
from privet.domain import Cut
from privet.models.alphak import AlphaKAnonymity
from privet.models.confidence import ConfidenceBounding
from privet.models.kanonymity import KAnonymity
from privet.models.lkc import LKC
from privet.models.template import EVERY
from privet.recoding import Generalization

Row: TypeAlias = Mapping[str, str | None]
Bounds: TypeAlias = list[tuple[str, str | None, Fraction]]


def cuts_of(finding: Finding) -> Mapping[str, Cut]:
    """The cuts of a search that recodes values, not records."""
    assert isinstance(finding.recoding, Generalization)
    return finding.recoding.cuts


def rows_of(tally: Tally) -> list[dict[str, str | None]]:
    """Every record of a tally, written out."""
    columns = [*tally.quasi, *tally.sensitive, *((tally.target,) if tally.target else ())]
    return [
        {column.name: column.domain.values[int(column.codes[at])] for column in columns}
        for at in range(tally.cells)
        for _ in range(int(tally.counts[at]))
    ]


def groups(rows: Sequence[Row], names: Sequence[str], *, wildcard: bool) -> Iterator[list[Row]]:
    """The records that match each combination of values of these attributes, where any do."""
    if not wildcard:
        found: dict[tuple[str | None, ...], list[Row]] = {}
        for row in rows:
            found.setdefault(tuple(row[name] for name in names), []).append(row)
        yield from found.values()
        return
    # A null matches every value; a column of nothing but nulls matches whatever is known.
    known = [{row[name] for row in rows} - {None} or {None} for name in names]
    for values in product(*known):
        pairs = list(zip(names, values, strict=True))
        match = [row for row in rows if all(row[name] in {value, None} for name, value in pairs)]
        if match:
            yield match


def parameters(model: PrivacyModel, rows: Sequence[Row], quasi: Sequence[str]) -> tuple[int, int, Bounds]:
    """L, K and the bounds of a promise, as its definition says them."""
    if isinstance(model, KAnonymity):
        return len(quasi), model.k, []
    if isinstance(model, LKC):
        return min(model.l, len(quasi)), model.k, bounds_of(model.sensitive, model.c, rows)
    if isinstance(model, AlphaKAnonymity):
        return len(quasi), model.k, bounds_of(model.sensitive, model.alpha, rows)
    if isinstance(model, ConfidenceBounding):
        return len(model.quasi or quasi), 1, bounds_of(model.sensitive, None, rows)
    raise TypeError(model)


def bounds_of(sensitive: object, default: Fraction | None, rows: Sequence[Row]) -> Bounds:
    found: Bounds = []
    assert isinstance(sensitive, Mapping | list | tuple)
    for name in sensitive:
        protected = sensitive[name] if isinstance(sensitive, Mapping) else [EVERY]
        for value in protected:
            bound = protected[value] if isinstance(protected, Mapping) else default
            assert bound is not None
            every = {row[name] for row in rows} if value is EVERY else {value}
            found += [(name, one, bound) for one in every]
    return found


def is_bad(group: Sequence[Row], k: int, bounds: Bounds) -> bool:
    """Is a group too small, or is a value too common in it?"""
    return len(group) < k or any(
        Fraction(sum(row[name] == value for row in group), len(group)) > at_most
        for name, value, at_most in bounds
    )


def holds(rows: Sequence[Row], quasi: Sequence[str], model: PrivacyModel, *, wildcard: bool = False) -> bool:
    """Does every group of every combination of up to L attributes keep the promise?"""
    if isinstance(model, ConfidenceBounding) and model.quasi is not None:
        quasi = model.quasi
    l, k, bounds = parameters(model, rows, quasi)
    return not any(
        is_bad(group, k, bounds)
        for size in range(1, l + 1)
        for names in combinations(quasi, size)
        for group in groups(rows, names, wildcard=wildcard)
    )
