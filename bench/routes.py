"""How much is lost, and by what: table 4.6 and figures 4.4 to 4.8 of Mohammed (2012), with our generators.

Every figure by K or C has three K', as there, and beside the scores what it costs (Score1) to promise the
same against somebody who knows whole paths: k-anonymity and confidence bounding. The captions of figures 4.4
and 4.7 say C = 60 %, the text says 100 %: both are run. The reading is that of the source: the share of
maximal frequent sequences of the raw data that hold a suppressed point.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from io import BytesIO
from typing import TypeAlias

from bench.curves import Chart, Series
from bench.figures import Curves, Points, grid
from bench.outcome import Cell, Table
from privet.engines.trajectories.column import PathColumn
from privet.models.lkc import LKC
from privet.samples import trips
from privet.trajectory.frequent import frequent
from privet.trajectory.paths import Paths
from privet.trajectory.sequences import Sequences
from privet.trajectory.suppress import PointScore, greedy, lost
from privet.trajectory.violations import violations

NAMES = {PointScore.GAIN_PER_LOSS: "Score1", PointScore.GAIN: "Score2", PointScore.LEAST_LOSS: "Score3"}
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


def loss(setting: Setting, score: PointScore, rows: int) -> float:
    raw, good = paths(setting.trips, rows), patterns(setting.trips, rows, setting.support)
    bad = wrong(rows, replace(setting, support=SUPPORTS[0]))
    left = good.without(removal.point for removal in greedy(raw, bad, good, score))
    return float(lost(len(good), len(left)))


def curves(settings: Sequence[tuple[float, Setting]], rows: int) -> dict[str, Points]:
    """One curve for each score."""
    return {
        name: [(x, loss(setting, score, rows)) for x, setting in settings] for score, name in NAMES.items()
    }


Line: TypeAlias = tuple[tuple[float, Setting], ...]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A figure: its title, what is varied, the settings, and what an adversary costs who may know all."""

    title: str
    x: str
    settings: Line
    baselines: Mapping[str, Line] = field(default_factory=dict)

    def found(self, rows: int, support: str) -> dict[str, Points]:
        """The loss of every score at this K', and of the baselines."""

        def asked(line: Line) -> list[tuple[float, Setting]]:
            return [(x, replace(setting, support=support)) for x, setting in line]

        drawn = curves(asked(self.settings), rows)
        for name, line in self.baselines.items():
            drawn[name] = [(x, loss(setting, PointScore.GAIN_PER_LOSS, rows)) for x, setting in asked(line)]
        return drawn


ALL_K, ALL_C = "L = |d|", "L = |d|, K = 1"  # k-anonymity, or with C; and confidence bounding


def sweeps(*, full: bool) -> dict[str, Sweep]:
    """Figures 4.4 to 4.8, by name."""
    ks = (10, 20, 30, 40, 50) if full else (10, 30, 50)
    cs = ("1/5", "2/5", "3/5", "4/5", "1") if full else ("1/5", "3/5", "1")
    found: dict[str, Sweep] = {}
    for name, by_k, by_c in (("city", "4.4", "4.5"), ("metro", "4.7", "4.8")):
        for c, where in (("1", "text"), ("3/5", "caption")):
            found[f"{name}-k-{where}"] = Sweep(
                f"figure {by_k} with the {where}'s C = {float(Fraction(c)):.0%}, {name}, L = 3",
                "K",
                tuple((k, Setting(name, k=k, c=c)) for k in ks),
                {ALL_K: tuple((k, Setting(name, l=None, k=k, c=c)) for k in ks)},
            )
        shares = [(float(Fraction(c)) * 100, c) for c in cs]
        found[f"{name}-c"] = Sweep(
            f"figure {by_c}, {name}, L = 3, K = 30",
            "C, %",
            tuple((x, Setting(name, c=c)) for x, c in shares),
            {
                ALL_K: tuple((x, Setting(name, l=None, c=c)) for x, c in shares),
                ALL_C: tuple((x, Setting(name, l=None, k=1, c=c)) for x, c in shares),
            },
        )
    lengths = (1, 2, 3, 4, 5) if full else (1, 2, 3, 4)
    found["city-l"] = Sweep(
        "figure 4.6, city, K = 30, C = 60%", "L", tuple((l, Setting("city", l=l)) for l in lengths)
    )
    return found


Found: TypeAlias = dict[str, dict[str, dict[str, Points]]]  # by figure, by K', by curve


def drawn(*, full: bool, rows: int | None = None) -> tuple[list[Table], dict[str, Chart], list[str]]:
    """Tables, charts, and which trends of the source are to be seen."""
    tables, charts, found = [], {}, Found()
    for name, sweep in sweeps(full=full).items():
        many = rows or RECORDS[name.partition("-")[0]]
        found[name] = {support: sweep.found(many, support) for support in SUPPORTS}
        said = {support: f"{float(Fraction(support)):.1%}" for support in SUPPORTS}
        wide: Curves = {
            f"{curve}, {said[support]}": points
            for support in SUPPORTS
            for curve, points in found[name][support].items()
        }
        tables.append(grid(f"{sweep.title}; K' beside each curve", sweep.x, wide, ".1%"))
        for support in SUPPORTS:
            series = [
                Series(curve, [(at, y and y * 100) for at, y in points], dashed=curve in sweep.baselines)
                for curve, points in found[name][support].items()
            ]
            title = f"{sweep.title}, K' = {said[support]}"
            chart = Chart(title, sweep.x, "patterns lost, %", series)
            charts[f"trajectories-{name}-{said[support].rstrip('%')}"] = chart
    return tables, charts, trends(found)


def trends(found: Found) -> list[str]:
    """What section 4.4 of the source reports, and whether it is so here."""

    def ys(name: str, curve: str = "Score1", support: str = SUPPORTS[0]) -> list[float]:
        return [y for _, y in found[name][support][curve] if y is not None]

    def everywhere(more: str, less: str, names: Iterable[str], slack: float = 0.02) -> bool:
        """Is one curve above another, in all figures and for every K'?"""
        return all(
            low <= high + slack
            for name in names
            for support in SUPPORTS
            for high, low in zip(ys(name, more, support), ys(name, less, support), strict=True)
        )

    by_k = [name for name in found if "-k-" in name]
    said = {
        "Score1 and Score3 lose no more than Score2": everywhere("Score2", "Score1", found)
        and everywhere("Score2", "Score3", found),
        "city loses nothing up to L = 2, then fast more": ys("city-l")[:2] == [0, 0]
        and ys("city-l")[3] > 0.05,
        "loss grows with K": all(ys(name)[-1] > ys(name)[0] for name in by_k),
        "loss falls as K' grows": all(ys(name, support=SUPPORTS[-1])[-1] < ys(name)[-1] for name in by_k),
        "a spike at C = 20 %": all(ys(name)[0] > ys(name)[-1] + 0.1 for name in found if name.endswith("-c")),
        "k-anonymity (L = |d|) loses more than L = 3 in the city": everywhere(
            ALL_K, "Score1", ["city-k-text", "city-k-caption"]
        )
        and ys("city-k-text", ALL_K)[1] > ys("city-k-text")[1] + 0.05,
        "in the metro L = |d| is L = 3": all(
            abs(high - low) < 0.02
            for name in ("metro-k-text", "metro-k-caption")
            for high, low in zip(ys(name, ALL_K), ys(name), strict=True)
        ),
        "by C, L = |d| with K = 30 loses more than L = 3 in the city": everywhere(
            ALL_K, "Score1", ["city-c"]
        ),
        "confidence bounding (L = |d|, but K = 1) loses more than L = 3 with K = 30": everywhere(
            ALL_C, "Score1", ["city-c", "metro-c"]
        ),
    }
    return [f"{text}: {'yes' if so else 'NO'}" for text, so in said.items()]


REPORTED = {"city": ("City80K", 80_000, 8, 624, 2297), "metro": ("Metro100K", 100_000, 8, 3900, 6184)}


def statistics(rows: int | None = None) -> Table:
    """Table 4.6 of the source, beside what our generators make."""
    heads = {
        "data": "",
        **dict.fromkeys(("records", "said", "avg length", "said "), "g"),
        **dict.fromkeys(("places", "times", "dimensions", "said  "), "g"),
        **dict.fromkeys(("KB", "said   "), ".0f"),
    }
    table: list[list[Cell]] = []
    for name, (said, records, length, dimensions, kilobytes) in REPORTED.items():
        many = rows or RECORDS[name]
        raw, file = paths(name, many), BytesIO()
        getattr(trips, name)(many, 0).write_csv(file)
        average = round(int(raw.instances.sum()) / raw.records, 2)
        table.append(
            [
                said,
                *(raw.records, records, average, length),
                *(len(raw.points.places), len(raw.points.times), raw.dimensions, dimensions),
                *(len(file.getvalue()) / 1000, kilobytes),
            ]
        )
    title = "data sets (table 4.6); `said` is the source, whose dimensions are all that are possible"
    return Table(title, heads, table)
