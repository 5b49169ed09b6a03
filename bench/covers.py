"""How far from the best suppression is the greedy one? On small databases, where the best can be found.

Mohammed (2012), theorem 4.2: the best is a minimum vertex cover at least, so nobody finds it for large ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from bench.outcome import Cell, Table
from privet.engines.trajectories.column import PathColumn
from privet.models.lkc import LKC
from privet.samples import trips
from privet.trajectory.exact import minimum
from privet.trajectory.frequent import frequent
from privet.trajectory.paths import Paths
from privet.trajectory.sequences import Sequences
from privet.trajectory.suppress import PointScore, greedy, lost
from privet.trajectory.violations import violations

SMALL = {"routes": 6, "blocks": 4, "hours": 8, "stops": 5}  # of a city
PEOPLE = 60
LEAST = Fraction(1, 20)  # K'
ASKED = ((2, 3, "1"), (2, 5, "3/5"), (3, 3, "3/5"), (3, 5, "3/5"))


def databases(many: int) -> Iterator[Paths]:
    for seed in range(many):
        yield PathColumn.read(trips.city(PEOPLE, seed, **SMALL), path="path", sensitive=["status"]).paths


def lost_by(good: Sequences, points: list[int]) -> float:
    return float(lost(len(good), len(good.without(points))))


def table(*, full: bool) -> Table:
    """Mean shares of patterns lost, and how often the greedy search finds the best."""
    many = 100 if full else 20
    heads = {
        **dict.fromkeys(("L", "K", "C"), ""),
        **dict.fromkeys(("databases", "violating points"), ".0f"),
        **dict.fromkeys(("best", "Score1", "Score2", "Score3", "Score1 is best", "Score1, furthest"), ".1%"),
    }
    rows = [row(l, k, c, many) for l, k, c in ASKED]
    return Table(
        f"the greedy search beside the best: {PEOPLE} citizens, patterns lost, K' = {float(LEAST):.0%}",
        heads,
        rows,
    )


def row(l: int, k: int, c: str, many: int) -> list[Cell]:
    asked = LKC(l=l, k=k, c=Fraction(c), sensitive={"status": [trips.SENSITIVE]}).linkage()
    best: list[float] = []
    scores: dict[PointScore, list[float]] = {score: [] for score in PointScore}
    points = 0
    for raw in databases(many):
        bad, good = violations(raw, asked), frequent(raw, LEAST)
        points += len({*bad.members.tolist()})
        chosen = {score: [one.point for one in greedy(raw, bad, good, score)] for score in PointScore}
        best.append(lost_by(good, minimum(bad, good, chosen.values())))
        for score, taken in chosen.items():
            scores[score].append(lost_by(good, taken))
    gaps = [mine - least for mine, least in zip(scores[PointScore.GAIN_PER_LOSS], best, strict=True)]
    return [
        *(str(l), str(k), f"{float(Fraction(c)):.0%}"),
        *(many, points / many),
        sum(best) / many,
        *(sum(found) / many for found in scores.values()),
        sum(gap < 1e-9 for gap in gaps) / many,
        max(gaps),
    ]
