"""A column under audit: its secret values, its auditor, and what everybody is taken to know of it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from privet.disclose.audit.config import AuditedColumn, Bounds
from privet.disclose.audit.decision import Auditor, Decision
from privet.disclose.audit.exact import Column, Members, exact
from privet.disclose.audit.log import AuditLog
from privet.disclose.audit.sql import Query
from privet.errors import InputError

FINE = 100  # multiples of a smaller part of the width than this are taken for real numbers


@dataclass
class Watched:
    """A column with its auditor; `places` says which person is which variable."""

    settings: AuditedColumn
    column: Column
    auditor: Auditor
    places: dict[object, int] = field(repr=False)
    bounds: Bounds | None = field(repr=False)

    @classmethod
    def of(
        cls,
        settings: AuditedColumn,
        people: Sequence[object],
        values: Sequence[object],
        own: Mapping[str, Sequence[object]],
    ) -> Watched:
        """A column of people and values; `own` has the columns of those who have bounds of their own."""
        there = [at for at, value in enumerate(values) if value is not None]
        if len(there) < len(people) and settings.nulls == "refuse":
            raise InputError(
                f"{settings.name}: {len(people) - len(there)} people have no value; fill them in, or say "
                'nulls = "leave-out" if everybody may know who has none'
            )
        held = {name: [every[at] for at in there] for name, every in own.items()}
        try:
            column = Column([values[at] for at in there])
            if settings.kind == "min":
                column = column.negated()
            _said(settings, column)
            bounds = settings.bounds(len(there), held)
            auditor = settings.auditor(len(there), bounds)
            auditor.check(column)
        except InputError as error:
            raise InputError(f"{settings.name}: {error}") from None
        return cls(settings, column, auditor, {people[at]: place for place, at in enumerate(there)}, bounds)

    def fresh(self) -> None:
        """An auditor who has heard nothing yet."""
        self.auditor = self.settings.auditor(self.auditor.n, self.bounds)

    def answer(self, query: Query, members: Members, decision: Decision) -> Fraction | None:
        """What the analyst asked for, from what the auditor decided about."""
        if decision.answer is None:
            return None
        if query.aggregate == "avg":  # how many there are is public
            return decision.answer / len(members)
        return -decision.answer if query.aggregate == "min" else decision.answer


def _said(settings: AuditedColumn, column: Column) -> None:
    """Sums of whole numbers tell more than sums of real ones: the owner must have thought of it."""
    if settings.kind != "sum" or settings.grid is not None or settings.width is None:
        return
    if column.multiples(Fraction(1)) or column.multiples(settings.width / FINE):
        raise InputError(
            "all values are whole numbers, or multiples of a good part of the width: say grid = 1 (or what "
            "they are multiples of) if everybody may know that, or grid = 0 if nobody does"
        )


def bounds_of(log: AuditLog, settings: AuditedColumn, n: int) -> Bounds | None:
    """The bounds that a log was begun with."""
    own = json.loads(log.header().get("bounds", "{}")).get(settings.name)
    if own is None:
        return settings.bounds(n, {})
    low, high = ([exact(edge) for edge in side] for side in own)
    return low, high
