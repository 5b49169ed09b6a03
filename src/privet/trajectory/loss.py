"""What a recoding of paths costs, measured alike for every way there is: suppressed, coarser, global, local.

Two readings. *Patterns*: of each maximal frequent sequence of the raw data, how much is still there. It is
gone if what stands for it is no longer frequent in what is published; else it is kept to the precision
of its points. Without coarser points this is the share of surviving sequences (Mohammed 2012, section 4.4).
*Visits*: the same for each visit of each record, which is gone, or kept to the precision of its point.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import numpy as np

from privet.trajectory.coarse import Level
from privet.trajectory.living import Living
from privet.trajectory.paths import Paths, Points
from privet.trajectory.recode import PathRecoding
from privet.trajectory.sequences import Sequences


class Loss(Enum):
    """By what two ways of publishing are compared."""

    PATTERNS = "patterns"
    VISITS = "visits"


@dataclass(frozen=True, slots=True)
class Losses:
    """Both readings, from 0 (nothing lost) to 1."""

    patterns: Fraction
    visits: Fraction
    surviving: int  # patterns that are still frequent, however coarse

    def by(self, loss: Loss) -> Fraction:
        return self.patterns if loss is Loss.PATTERNS else self.visits


def precision(points: Points, place: Level, time: Level) -> list[Fraction]:
    """For each point, how much of it a coarser one says."""
    at = [1 - place.loss[one] for one in points.places]
    when = [1 - time.loss[one] for one in points.times]
    pairs = zip(points.place.tolist(), points.time.tolist(), strict=True)
    return [at[where] * when[then] for where, then in pairs]


def losses(
    paths: Paths, recoding: PathRecoding, levels: tuple[Level, Level], patterns: Sequences, least: int
) -> Losses:
    """What the recoding, with its levels of places and times, costs paths that have these patterns."""
    changed = recoding.applied(paths)
    says = precision(paths.points, *levels)
    weight = paths.counts[paths.owner]
    left = np.zeros(len(paths.points), dtype=np.int64)
    np.add.at(left, paths.visits[changed.kept], weight[changed.kept])
    said = sum((many * part for many, part in zip(left.tolist(), says, strict=True)), Fraction(0))
    published = changed.paths(paths)
    living, (_, becomes) = Living(published), recoding.image(paths.points)
    kept, surviving = Fraction(0), 0
    for pattern in patterns.tuples():
        image = sorted({int(becomes[point]) for point in pattern})
        if int(published.counts[living.holding(image)].sum()) < least:
            continue
        surviving += 1
        kept += sum((says[point] for point in pattern), Fraction(0)) / len(pattern)
    total = int(weight.sum())
    return Losses(
        1 - kept / len(patterns) if len(patterns) else Fraction(0),
        1 - said / total if total else Fraction(0),
        surviving,
    )


def measured(
    before: Paths, after: Paths, levels: tuple[Level, Level], patterns: Sequences, least: int
) -> tuple[Losses, list[bool]]:
    """The same from raw paths and their release alone, whatever made it; and which patterns survive.

    Needs what became of each place and time, and how much a label leaves open; nothing of removals.
    """
    place, time = levels
    says = precision(before.points, place, time)
    at, when = ({level.of[raw]: 1 - lost for raw, lost in level.loss.items()} for level in levels)
    left = [many * at[where] * when[then] for many, (where, then) in visited(after)]
    living, codes = Living(after), after.points.codes
    kept, survives = Fraction(0), []
    for pattern in patterns.tuples():
        pairs = {(place.of[where], time.of[then]) for where, then in map(before.points.pair, pattern)}
        holding = living.holding([codes[pair] for pair in pairs]) if pairs <= codes.keys() else None
        survives.append(holding is not None and int(after.counts[holding].sum()) >= least)
        if survives[-1]:
            kept += sum((says[point] for point in pattern), Fraction(0)) / len(pattern)
    total = int(before.instances.sum())
    return Losses(
        1 - kept / len(patterns) if len(patterns) else Fraction(0),
        1 - sum(left, Fraction(0)) / total if total else Fraction(0),
        sum(survives),
    ), survives


def visited(paths: Paths) -> list[tuple[int, tuple[str, str]]]:
    """How many records visit each point, and its place and time."""
    return [(many, paths.points.pair(code)) for code, many in enumerate(paths.instances.tolist())]
