"""Integers: a sum of whole numbers near its limit leaves everybody little room.

Kleinberg, Papadimitriou and Raghavan, "Auditing boolean attributes", JCSS 2003. The attacker knows the
bounds and the grid of the values, and narrows everybody's interval by what is left of each answered sum, and
of the difference of two of which one contains the other, until nothing moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, floor
from typing import ClassVar

from privet.attackers.attack import NotTriedError, Outcome
from privet.attackers.desk import PEOPLE, Crowd, Gate, attacked
from privet.attackers.scene import GATEWAY, Scene
from privet.attackers.tracker import Heard, asked_of_all
from privet.disclose.audit.config import AuditedColumn

ROUNDS = 50


class Integers:
    """Who knows that values are whole numbers within bounds narrows them by every sum."""

    name: ClassVar[str] = "integers"
    assumes: ClassVar[str] = (
        "may pose queries, knows the public columns, and the bounds and the grid of the values"
    )
    needs: ClassVar[tuple[str, ...]] = ("raw",)
    kinds: ClassVar[tuple[str, ...]] = (GATEWAY,)

    def run(self, scene: Scene) -> Sequence[Outcome]:
        gate: Gate = scene.target.data
        sums = [
            column
            for column in gate.config.columns.values()
            if column.kind == "sum" and isinstance(column.low, Fraction) and isinstance(column.high, Fraction)
        ]
        if not sums:
            raise NotTriedError("no column is audited for sums within bounds that are the same for all")
        return [_narrowed(scene, column) for column in sums]


def _narrowed(scene: Scene, column: AuditedColumn) -> Outcome:
    with attacked(scene, column) as (crowd, ask):
        people = [p for p in range(len(crowd.true)) if crowd.alone(p) is not None][:PEOPLE]
        if not people:
            raise NotTriedError("the public columns point at nobody")
        heard = asked_of_all(column, crowd, ask, people)
        low, high = narrowed(heard, column, crowd)
        width = column.width or Fraction(0)
        # A grid's next value is another one, so nothing is left to choose between within one step.
        sure = [p for p in range(len(crowd.true)) if high[p] - low[p] < width]
        right = [p for p in sure if low[p] <= crowd.true[p] <= high[p]]
        whole = Fraction(column.high) - Fraction(column.low)  # type: ignore[arg-type] # a column with a grid has bounds
        return Outcome(
            attack=Integers.name,
            goal=f"the {column.name} of a person to less than the width {float(width):g}",
            tried=len(crowd.true),
            succeeded=len(right),
            baseline=float(width / whole) if whole else 1.0,
            worst=float(bool(right)),
            allowed=0.0,
            promise=f"audit: an interval of {float(width):g} stays open",
            note=f"{len(heard)} of the queries were answered; the narrowest interval left is "
            f"{float(min(b - a for a, b in zip(low, high, strict=True))):g}",
        ).judge(beyond=bool(right))


def narrowed(heard: Heard, column: AuditedColumn, crowd: Crowd) -> tuple[list[Fraction], list[Fraction]]:
    """Everybody's interval after all that was heard."""
    low = [Fraction(column.low)] * len(crowd.true)  # type: ignore[arg-type] # a column with a grid has bounds
    high = [Fraction(column.high)] * len(crowd.true)  # type: ignore[arg-type] # as above
    facts = [
        *heard,
        *((one - two, a - b) for one, a in heard for two, b in heard if two < one),
    ]
    grid = column.grid or None
    for _ in range(ROUNDS):
        moved = False
        for members, total in facts:
            least, most = sum(low[p] for p in members), sum(high[p] for p in members)
            for person in members:
                a = max(low[person], total - (most - high[person]))
                b = min(high[person], total - (least - low[person]))
                if grid is not None:
                    a, b = ceil(a / grid) * grid, floor(b / grid) * grid
                if (a, b) != (low[person], high[person]):
                    moved = True
                    least, most = least - low[person] + a, most - high[person] + b
                    low[person], high[person] = a, b
        if not moved:
            break
    return low, high
