"""Why these points: the tables that a search had before it in each round (Mohammed 2012, tables 4.4 and 4.5).

Labels are values from the data, for the steward's own eyes; `Round.lines` shows them only when asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from privet.trajectory.suppress import Removal, Score, Thinning
from privet.trajectory.trees import Remaining


@dataclass(frozen=True, slots=True)
class Candidate:
    """A point that stands in a violating sequence."""

    point: int
    label: str = field(repr=False)
    gain: int  # violating sequences that would go with it
    loss: int  # frequent ones that would go too
    score: Fraction


@dataclass(frozen=True, slots=True)
class Round:
    number: int  # from 1 on
    candidates: tuple[Candidate, ...]  # in order of time and place
    winner: Removal
    violations: int  # before this round

    def lines(self, *, show_values: bool = False, most: int = 20) -> list[str]:
        """A table for a terminal, the best scores first."""
        ranked = sorted(self.candidates, key=lambda one: (-one.score, -one.gain, one.point))
        shown = [f"round {self.number}: {self.violations} violating sequences, {len(ranked)} points in them"]
        for one in ranked[:most]:
            name = one.label if show_values else f"point {one.point}"
            mark = "  <- removed" if one.point == self.winner.point else ""
            shown.append(f"  {name}: gain {one.gain}, loss {one.loss}, score {float(one.score):.4g}{mark}")
        if len(ranked) > most:
            shown.append(f"  and {len(ranked) - most} more")
        return shown


def rounds(found: Thinning, score: Score) -> Iterator[Round]:
    """Every round of a search by global suppression, played again."""
    gains, losses = Remaining(found.violations), Remaining(found.patterns)
    labels = found.violations.points.labels
    for number, removal in enumerate(found.removals, start=1):
        candidates = tuple(
            Candidate(point, labels[point], gain, loss, score.of(gain, loss))
            for point in np.flatnonzero(gains.counts).tolist()
            for gain, loss in [(int(gains.counts[point]), int(losses.counts[point]))]
        )
        yield Round(number, candidates, removal, len(gains.there))
        gains.remove(removal.point)
        losses.remove(removal.point)
