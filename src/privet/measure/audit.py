"""The auditor: enumerates what an adversary of limited knowledge could know, and counts what it gives away.

For every set of up to `l` quasi-identifiers, records that agree in it form a group. A group that is
smaller than `k`, or in which a protected value is more frequent than its bound, is a violation. Every
knowledge size from 1 on is looked at, though for whole tables the largest would do: the auditor
believes no lemma, and shares no code with the searches or with the models' own checks.

What it returns holds counts and names of attributes. Values are in it only for a caller who asks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from itertools import combinations, product
from math import comb, prod
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.core import Column, Nulls, Tally
from privet.domain import Value
from privet.equality import equal
from privet.errors import PolicyError, UnsupportedError
from privet.measure.classes import Ints, add_up, keys, roomy

Mask: TypeAlias = NDArray[np.bool_]

EACH = 20_000  # cells: what a combination costs besides those that it has


class Bounded(Protocol):
    """A model that bounds linkage: LKC-privacy, k-anonymity, confidence bounding, (alpha, k)-anonymity."""

    @property
    def name(self) -> str: ...

    def linkage(self) -> Any:
        """Has `l` (None: all), `k`, `templates` (attribute, value, at_most) and `quasi` (None: all)."""


@dataclass(frozen=True, slots=True)
class Group:
    """Records that an adversary cannot tell apart; the values stand here only if they were asked for."""

    attributes: tuple[str, ...]
    size: int
    confidence: Fraction  # of the protected value that is most frequent against its bound
    sensitive: str | None  # the attribute of that value
    values: tuple[Value, ...] | None = field(default=None, repr=False)
    value: Value = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        found: dict[str, Any] = {
            "attributes": list(self.attributes),
            "size": self.size,
            "confidence": str(self.confidence),
            "sensitive": self.sensitive,
        }
        return found if self.values is None else found | {"values": list(self.values), "value": self.value}


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What an adversary who knows so many values finds."""

    known: int
    groups: int
    violating: int
    smallest: int
    confidence: Fraction  # the largest of any protected value in any group
    at_risk: int  # records that stand in a violating group
    share: float  # of all records


@dataclass(frozen=True, slots=True)
class Audit:
    """What was found, for each knowledge size."""

    model: str
    k: int
    l: int
    records: int
    levels: tuple[Knowledge, ...]
    tightest: Group | None  # the smallest group of all
    surest: Group | None  # the one that gives a protected value away with the highest confidence
    violations: tuple[Group, ...]  # as many as were asked for, smallest first within a combination
    involved: Mapping[str, int]  # how many violating groups need each attribute to be known
    skipped: tuple[int, ...] = ()  # knowledge sizes that were too much work

    @property
    def violating(self) -> int:
        """How many groups break the promise, over all knowledge sizes."""
        return sum(level.violating for level in self.levels)

    @property
    def holds(self) -> bool | None:
        """None: nothing was found, but not everything was looked at."""
        if self.violating:
            return False
        return None if self.skipped else True

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "model": self.model,
            "holds": self.holds,
            "k": self.k,
            "l": self.l,
            "records": self.records,
            "violating_groups": self.violating,
            "smallest": min((level.smallest for level in self.levels), default=None),
            "confidence": str(max((level.confidence for level in self.levels), default=Fraction(0))),
            "levels": [
                {
                    "known": level.known,
                    "groups": level.groups,
                    "violating": level.violating,
                    "smallest": level.smallest,
                    "confidence": str(level.confidence),
                    "at_risk": level.at_risk,
                    "share": level.share,
                }
                for level in self.levels
            ],
            "tightest": self.tightest.to_dict() if self.tightest else None,
            "surest": self.surest.to_dict() if self.surest else None,
            "involved": dict(self.involved),
            "violations": [group.to_dict() for group in self.violations],
            "skipped": list(self.skipped),
        }


@dataclass(frozen=True, eq=False)
class _Protected:
    """One protected value: where it stands, and how frequent it may be."""

    attribute: str
    value: Value = field(repr=False)
    at_most: Fraction
    cells: Mask = field(repr=False)


@dataclass(frozen=True, eq=False)
class _Groups:
    """Every group of one combination of attributes."""

    size: Ints
    having: list[Ints]  # for each protected value
    codes: list[NDArray[Any]]  # for each attribute, the code that the group has
    of_cell: NDArray[Any] | None  # None where a cell may be in several groups


def audit(
    tally: Tally, model: Bounded, *, show_values: bool = False, most: int = 100, effort: int | None = None
) -> Audit:
    """Try every combination that the model's adversary may know; list at most `most` violating groups.

    `effort`: how many cells to look at in all; knowledge sizes that would need more are skipped, and
    the result says so.
    """
    bound = model.linkage()
    columns = tuple(c for c in tally.quasi if bound.quasi is None or c.name in bound.quasi)
    if not columns or (bound.quasi is not None and len(columns) < len(set(bound.quasi))):
        raise PolicyError(f"{model.name}: quasi: the table lacks a quasi-identifier that the model names")
    l = len(columns) if bound.l is None else min(bound.l, len(columns))
    guarded = list(_guarded(tally, bound.templates))
    levels: list[Knowledge] = []
    violations: list[Group] = []
    skipped: list[int] = []
    involved = dict.fromkeys((column.name for column in columns), 0)
    tightest = surest = None
    spent = 0
    for known in range(1, l + 1):
        spent += comb(len(columns), known) * max(tally.cells, EACH)
        if effort is not None and spent > effort:
            skipped.append(known)
            continue
        groups = violating = 0
        smallest, confidence = tally.records, Fraction(0)
        risky = np.zeros(tally.cells, dtype=bool)
        for chosen in combinations(columns, known):
            found = _groups(tally, chosen, guarded)
            groups += len(found.size)
            least = int(np.argmin(found.size))
            if tightest is None or found.size[least] < tightest.size:
                tightest = _group(chosen, found, guarded, least)
            smallest = min(smallest, int(found.size[least]))
            bad = found.size < bound.k
            for value, having in zip(guarded, found.having, strict=True):
                at, share = _largest(having, found.size)
                confidence = max(confidence, share)
                if share > (surest.confidence if surest else 0):
                    surest = replace(
                        _group(chosen, found, guarded, at),
                        confidence=share,
                        sensitive=value.attribute,
                        value=value.value,
                    )
                bad |= _above(having, found.size, value.at_most)
            if bad.any():
                violating += int(bad.sum())
                for column in chosen:
                    involved[column.name] += int(bad.sum())
                risky |= _cells(tally, chosen, found, bad)
                worst = np.flatnonzero(bad)
                worst = worst[np.argsort(found.size[worst], kind="stable")][: most - len(violations)]
                violations.extend(_group(chosen, found, guarded, at) for at in worst.tolist())
        at_risk = int(tally.counts[risky].sum())
        share_at_risk = at_risk / tally.records if tally.records else 0.0
        levels.append(Knowledge(known, groups, violating, smallest, confidence, at_risk, share_at_risk))
    quiet = (lambda group: group) if show_values else _hushed
    return Audit(
        model=model.name,
        k=bound.k,
        l=l,
        records=tally.records,
        levels=tuple(levels),
        tightest=quiet(tightest) if tightest else None,
        surest=quiet(surest) if surest else None,
        violations=tuple(quiet(group) for group in violations),
        involved=involved,
        skipped=tuple(skipped),
    )


def _hushed(group: Group) -> Group:
    return replace(group, values=None, value=None)


def _guarded(tally: Tally, templates: Sequence[Any]) -> Iterator[_Protected]:
    """The protected values that occur, with their cells."""
    for template in templates:
        column = next((c for c in tally.sensitive if c.name == template.attribute), None)
        if column is None:
            raise PolicyError(f"sensitive.{template.attribute}: the table has no such sensitive attribute")
        every = isinstance(template.value, Enum)  # the policy's word for "each value of the attribute"
        for code, value in enumerate(column.domain.values):
            if every or equal(value, template.value):
                cells = column.codes == code
                if cells.any():
                    yield _Protected(column.name, value, template.at_most, cells)


def _groups(tally: Tally, chosen: Sequence[Column], guarded: Sequence[_Protected]) -> _Groups:
    if tally.nulls is Nulls.WILDCARD and any(c.domain.null is not None for c in chosen):
        return _wildcard(tally, chosen, guarded)
    key, room = keys(chosen, tally.cells)
    if room <= roomy(tally.cells):
        there = np.flatnonzero(add_up(key, np.ones_like(tally.counts), room))
        number = np.zeros(room, dtype=np.intp)
        number[there] = np.arange(len(there))
        of_cell = number[key]
    else:
        there, of_cell = np.unique(key, return_inverse=True)
    one = np.empty(len(there), dtype=np.intp)  # a cell of each group, to read the group's values from
    one[of_cell] = np.arange(tally.cells)
    return _Groups(
        size=_members(tally, of_cell, np.ones(tally.cells, dtype=bool), len(there)),
        having=[_members(tally, of_cell, g.cells, len(there)) for g in guarded],
        codes=[column.codes[one] for column in chosen],
        of_cell=of_cell,
    )


def _members(tally: Tally, of_cell: NDArray[Any], some: Mask, groups: int) -> Ints:
    """The records of some cells by group; or whose they are, each person once."""
    if tally.person is None:
        return add_up(of_cell[some], tally.counts[some], groups)
    group, person = of_cell[some], tally.person[some]
    order = np.lexsort((person, group))
    group, person = group[order], person[order]
    again = np.zeros(len(group), dtype=bool)
    again[1:] = (group[1:] == group[:-1]) & (person[1:] == person[:-1])
    return np.bincount(group[~again], minlength=groups).astype(np.int64)


def _wildcard(tally: Tally, chosen: Sequence[Column], guarded: Sequence[_Protected]) -> _Groups:
    """An adversary knows values; a null in the table may be any of them."""
    # What no record has is nothing to be known; where there are nulls alone, they are one unknown value.
    concrete = [[c for c in np.unique(col.codes).tolist() if c != col.domain.null] or [-1] for col in chosen]
    if prod(map(len, concrete)) * tally.cells > 10**9:
        raise UnsupportedError('nulls = "wildcard": too many combinations of values for the auditor to try')
    found = []
    for codes in product(*concrete):
        cells = _matching(tally, chosen, codes)
        size = int(tally.counts[cells].sum())
        if size:
            found.append((size, [int(tally.counts[cells & g.cells].sum()) for g in guarded], codes))
    return _Groups(
        size=np.array([size for size, _, _ in found], dtype=np.int64),
        having=[
            np.array([having[at] for _, having, _ in found], dtype=np.int64) for at in range(len(guarded))
        ],
        codes=[np.array([codes[at] for _, _, codes in found]) for at in range(len(chosen))],
        of_cell=None,
    )


def _matching(tally: Tally, chosen: Sequence[Column], codes: Sequence[int]) -> Mask:
    cells = np.ones(tally.cells, dtype=bool)
    for column, code in zip(chosen, codes, strict=True):
        null = column.domain.null
        cells &= (column.codes == code) if null is None else (column.codes == code) | (column.codes == null)
    return cells


def _cells(tally: Tally, chosen: Sequence[Column], found: _Groups, bad: Mask) -> Mask:
    if found.of_cell is not None:
        return np.asarray(bad[found.of_cell])
    risky = np.zeros(tally.cells, dtype=bool)
    for at in np.flatnonzero(bad).tolist():
        risky |= _matching(tally, chosen, [int(codes[at]) for codes in found.codes])
    return risky


def _above(having: Ints, size: Ints, at_most: Fraction) -> Mask:
    """Is the share above the bound? In whole numbers; Python's where 64 bits could overflow."""
    top, bottom = at_most.numerator, at_most.denominator
    if max(top, bottom) * int(size.max(initial=0)) < 2**63:
        return np.asarray(having * bottom > size * top)
    pairs = zip(having.tolist(), size.tolist(), strict=True)
    return np.array([h * bottom > s * top for h, s in pairs], dtype=bool)


def _largest(having: Ints, size: Ints) -> tuple[int, Fraction]:
    """Where the share is largest, and that share, exactly."""
    # Rounding never reverses an order, so the largest fraction is among those with the largest float.
    ratio = having / size
    near = np.flatnonzero(ratio == ratio.max())
    if int(size.max()) < 2**26:  # fractions with smaller denominators differ by more than a float's rounding
        near = near[:1]
    return max(((at, Fraction(int(having[at]), int(size[at]))) for at in near.tolist()), key=lambda p: p[1])


def _group(chosen: Sequence[Column], found: _Groups, guarded: Sequence[_Protected], at: int) -> Group:
    size = int(found.size[at])
    shares = [Fraction(int(having[at]), size) for having in found.having]
    worst = max(range(len(guarded)), key=lambda i: shares[i] / guarded[i].at_most, default=None)
    return Group(
        attributes=tuple(column.name for column in chosen),
        size=size,
        confidence=Fraction(0) if worst is None else shares[worst],
        sensitive=None if worst is None else guarded[worst].attribute,
        values=tuple(
            None if (code := int(codes[at])) < 0 else column.domain.values[code]
            for column, codes in zip(chosen, found.codes, strict=True)
        ),
        value=None if worst is None else guarded[worst].value,
    )
