"""How much is lost, and by what: the figures 4.4 to 4.8 of Mohammed (2012), with our generators.

The captions of figures 4.4 and 4.7 say C = 60 %, the text says 100 %: both are run. The reading is that of
the source: the share of maximal frequent sequences of the raw data that hold a suppressed point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

from bench.curves import Chart, Series
from bench.figures import Curves, Points, grid
from bench.outcome import Table
from privet.models.lkc import LKC
from privet.samples import trips
from privet.trajectory.column import PathColumn
from privet.trajectory.frequent import frequent
from privet.trajectory.paths import Paths
from privet.trajectory.sequences import Sequences
from privet.trajectory.suppress import Score, greedy, lost
from privet.trajectory.violations import violations

NAMES = {Score.GAIN_PER_LOSS: "Score1", Score.GAIN: "Score2", Score.LEAST_LOSS: "Score3"}
RECORDS = {"city": 80_000, "metro": 100_000}
SUPPORTS = ("1/200", "1/100", "3/200")


@dataclass(frozen=True, slots=True)
class Setting:
    """One point of a curve."""

    trips: str
    l: int | None = 3  # None: as long as the longest path
    k: int = 30
    c: str = "3/5"
    support: str = "1/200"


@cache
def paths(name: str, rows: int) -> Paths:
    return PathColumn.read(getattr(trips, name)(rows, 0), path="path", sensitive=["status"]).paths


@cache
def patterns(name: str, rows: int, support: str) -> Sequences:
    return frequent(paths(name, rows), Fraction(support))


@cache
def wrong(rows: int, setting: Setting) -> Sequences:
    """Minimal violating sequences; they do not depend on the support."""
    raw = paths(setting.trips, rows)
    sensitive = {"status": [trips.SENSITIVE]}
    asked = LKC(l=setting.l or raw.longest, k=setting.k, c=Fraction(setting.c), sensitive=sensitive)
    return violations(raw, asked.linkage())


def loss(setting: Setting, score: Score, rows: int) -> float:
    raw, good = paths(setting.trips, rows), patterns(setting.trips, rows, setting.support)
    bad = wrong(rows, replace(setting, support=SUPPORTS[0]))
    left = good.without(removal.point for removal in greedy(raw, bad, good, score))
    return float(lost(len(good), len(left)))


def curves(settings: Sequence[tuple[float, Setting]], rows: int) -> Curves:
    """One curve for each score."""
    found: dict[str, Points] = {}
    for score, name in NAMES.items():
        found[name] = [(x, loss(setting, score, rows)) for x, setting in settings]
    return found


def sweeps(*, full: bool) -> dict[str, tuple[str, str, list[tuple[float, Setting]]]]:
    """For each figure its title, what is varied, and the settings."""
    ks = (10, 20, 30, 40, 50) if full else (10, 30, 50)
    cs = ("1/5", "2/5", "3/5", "4/5", "1") if full else ("1/5", "3/5", "1")
    found: dict[str, tuple[str, str, list[tuple[float, Setting]]]] = {}
    for name, by_k, by_c in (("city", "4.4", "4.5"), ("metro", "4.7", "4.8")):
        for c, where in (("1", "text"), ("3/5", "caption")):
            found[f"{name}-k-{where}"] = (
                f"figure {by_k}, {name}, C = {float(Fraction(c)):.0%} as in the {where}",
                "K",
                [(k, Setting(name, k=k, c=c)) for k in ks],
            )
        found[f"{name}-c"] = (
            f"figure {by_c}, {name}",
            "C, %",
            [(float(Fraction(c)) * 100, Setting(name, c=c)) for c in cs],
        )
        found[f"{name}-support"] = (
            f"K' in {name}, K = 50",
            "K', %",
            [(float(Fraction(s)) * 100, Setting(name, k=50, support=s)) for s in SUPPORTS],
        )
    lengths = (1, 2, 3, 4, 5) if full else (1, 2, 3, 4)
    found["city-l"] = ("figure 4.6, city", "L", [(l, Setting("city", l=l)) for l in lengths])
    return found


def drawn(*, full: bool, rows: int | None = None) -> tuple[list[Table], dict[str, Chart], list[str]]:
    """Tables, charts, and which trends of the source are to be seen."""
    tables, charts, found = [], {}, {}
    for name, (title, x, settings) in sweeps(full=full).items():
        many = rows or RECORDS[name.partition("-")[0]]
        found[name] = curves(settings, many)
        tables.append(grid(title, x, found[name], ".1%"))
        series = [
            Series(score, [(at, y and y * 100) for at, y in points]) for score, points in found[name].items()
        ]
        charts[f"trajectories-{name}"] = Chart(title, x, "patterns lost, %", series)
    return tables, charts, trends(found)


def trends(found: dict[str, Curves]) -> list[str]:
    """What section 4.4 of the source reports, and whether it is so here."""

    def ys(name: str, score: str = "Score1") -> list[float]:
        return [y for _, y in found[name][score] if y is not None]

    def below(name: str) -> bool:
        worst = ys(name, "Score2")
        return all(
            mine <= most + 0.02
            for score in ("Score1", "Score3")
            for mine, most in zip(ys(name, score), worst, strict=True)
        )

    said = {
        "Score1 and Score3 lose no more than Score2": all(below(name) for name in found),
        "city loses nothing up to L = 2, then fast more": ys("city-l")[:2] == [0, 0]
        and ys("city-l")[3] > 0.05,
        "loss grows with K": all(ys(name)[-1] > ys(name)[0] for name in found if "-k-" in name),
        "loss falls as K' grows": all(
            ys(name)[-1] < ys(name)[0] for name in found if name.endswith("-support")
        ),
        "a spike at C = 20 %": all(ys(name)[0] > ys(name)[-1] + 0.1 for name in found if name.endswith("-c")),
    }
    return [f"{text}: {'yes' if so else 'NO'}" for text, so in said.items()]
