"""Why these points: the tables that a search had before it in each round (Mohammed 2012, tables 4.4 and 4.5).

Labels are values from the data, for the steward's own eyes; `Round.lines` shows them only when asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from privet.trajectory.suppress import PointScore, Removal, Thinning
from privet.trajectory.trees import Remaining


@dataclass(frozen=True, slots=True)
class PointChoice:
    """A point that stands in a violating sequence."""

    point: int
    label: str = field(repr=False)
    gain: int  # violating sequences that would go with it
    loss: int  # frequent ones that would go too
    score: Fraction


@dataclass(frozen=True, slots=True)
class Round:
    number: int  # from 1 on
    candidates: tuple[PointChoice, ...]  # the best first, of equals the winner
    winner: Removal
    violations: int  # before this round
    points: int  # how many candidates there were, of which only the best may stand here

    def lines(self, *, show_values: bool = False, most: int = 20) -> list[str]:
        """A table for a terminal, the best scores first."""
        shown = [f"round {self.number}: {self.violations} violating sequences, {self.points} points in them"]
        for one in self.candidates[:most]:
            name = one.label if show_values else f"point {one.point}"
            mark = "  <- removed" if one.point == self.winner.point else ""
            shown.append(f"  {name}: gain {one.gain}, loss {one.loss}, score {float(one.score):.4g}{mark}")
        if self.points > most:
            shown.append(f"  and {self.points - most} more")
        return shown


def rounds(found: Thinning, score: PointScore, most: int | None = None) -> Iterator[Round]:
    """Every round of a search by global suppression, played again, with the best `most` candidates."""
    gains, losses = Remaining(found.violations), Remaining(found.patterns)
    labels = found.violations.points.labels
    for number, removal in enumerate(found.removals, start=1):
        waiting = np.flatnonzero(gains.counts)
        above, below = score.quotients(gains.counts[waiting], losses.counts[waiting])
        # Quotients of whole numbers this small are equal as floats only if they are equal.
        order = np.lexsort((waiting, waiting != removal.point, -gains.counts[waiting], -(above / below)))
        candidates = tuple(
            PointChoice(point, labels[point], gain, loss, score.of(gain, loss))
            for point in waiting[order][:most].tolist()
            for gain, loss in [(int(gains.counts[point]), int(losses.counts[point]))]
        )
        yield Round(number, candidates, removal, len(gains.there), len(waiting))
        gains.remove(removal.point)
        losses.remove(removal.point)
