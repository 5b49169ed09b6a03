"""Paths from CSV to release: `python -m bench.trajectories NAME DATA L K C SUPPORT DIR` notes the stages.

Every case of Mohammed (2012), section 4.4, took less than 15 s there, and a million metro trips 125 s: 46 s
for violating sequences and 79 s for reading and writing, with the mining of frequent ones left out.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from bench import covers, lifecourses, routes
from bench.child import PRIVET, answered, middle, module, scratch, timed
from bench.outcome import Cell, Outcome, Table, rated
from bench.stages import Clock
from bench.task import medians
from privet.policy.values import Policy
from privet.roads import publish
from privet.samples import SAMPLES, trips

ROAD = (
    *("read", "tally", "search", "violations", "patterns", "suppress", "apply", "check", "measure", "write"),
)
EVERY = 999  # more points than any path has
SMALL, LARGE = 2, 15  # seconds at most: for up to 100,000 records, and for a million
GREEDY = 0.5  # seconds at most for the suppression phase
MEMORY = 4  # gigabytes at most, whatever the size


@dataclass(frozen=True, slots=True)
class Case:
    """One run: which trips, how many, and what is asked of them."""

    name: str
    rows: int
    l: int  # 0 stands for all points
    k: int = 30
    c: str = "3/5"
    support: str = "1/200"
    headway: int = 10  # of a metro: with more trains there are more times, and so more dimensions

    @property
    def most(self) -> float:
        return SMALL if self.rows <= 100_000 else LARGE * max(self.rows / 1e6, 1)

    def write(self, path: Path) -> None:
        """The raw data."""
        more = {"headway": self.headway} if self.name == "metro" else {}
        getattr(trips, self.name)(self.rows, 0, **more).write_csv(path)

    def policy(self) -> str:
        """As the sample's own policy, with these numbers."""
        text = SAMPLES[f"trips-{self.name}"].policy(l=self.l or EVERY, k=self.k, c=self.c)
        return text.replace('support = "1/100"', f'support = "{self.support}"')


def run(*, full: bool) -> Outcome:
    experiments = [
        Case("city", 80_000, 3),
        Case("city", 80_000, 4),
        Case("city", 80_000, 0, c="1"),
        Case("metro", 100_000, 3),
        Case("metro", 100_000, 0, c="1"),
    ]
    if full:
        experiments += [Case("city", 80_000, 3, k=k, c=c) for k in (10, 50) for c in ("1/5", "1")]
        experiments += [Case("metro", 100_000, 3, k=k, c=c) for k in (10, 50) for c in ("1/5", "1")]
    sizes = (*range(200_000, 1_000_001, 200_000), 5_000_000) if full else (200_000, 1_000_000)
    growing = [Case("metro", rows, 3, support="1/100") for rows in sizes]
    if full:  # figure 4.9b: how much more an adversary costs who may know everything
        growing += [Case("metro", 1_000_000, l, support="1/100") for l in (2, 0)]
    many, trains = (1_000_000, (30, 10, 5, 2, 1)) if full else (200_000, (10, 5, 1))
    wider = [Case("metro", many, 3, support="1/100", headway=headway) for headway in trains]
    outcome = measured(experiments, growing, wider)
    tables, charts, notes = routes.drawn(full=full)
    return replace(
        outcome,
        tables=(
            *outcome.tables,
            routes.statistics(),
            *tables,
            covers.table(full=full),
            lifecourses.table(),
        ),
        notes=(*outcome.notes, *notes),
        charts=charts,
    )


def measured(experiments: Sequence[Case], growing: Sequence[Case], wider: Sequence[Case]) -> Outcome:
    heads = {
        **dict.fromkeys(("trips", "records", "L", "K", "C"), ""),
        "dimensions": ".0f",
        "violations": ".0f",
        "patterns": ".0f",
        "lost": ".1%",
        **{f"{stage} s": ".2f" for stage in ROAD},
        "all s": ".2f",
        "command s": ".2f",
        "MB": ".0f",
        "target": "",
        "greedy": "",
        "memory": "",
    }
    grown = [row(case) for case in growing]
    return Outcome(
        "trajectories",
        "Paths through places and times: from CSV to release",
        "Stages in a process of their own, from the file with raw paths to the release folder, with the "
        "check by the auditor and the report; `all` is their sum; `command` is `privet publish` from its "
        "start to its end, with its peak memory; up to 100,000 records medians of three runs. `lost` is "
        "the share of frequent sequences that do not survive (Score1).",
        (
            Table("experiments", heads, [row(case) for case in experiments]),
            Table("growing (figures 4.9a and 4.9b): K = 30, C = 60 %, K' = 1 %", heads, grown),
            Table(
                "more dimensions (figure 4.9c): L = 3, K = 30, C = 60 %, K' = 1 %",
                heads,
                [row(case) for case in wider],
            ),
        ),
        (linear(growing, [dict(zip(heads, cells, strict=True)) for cells in grown]),),
    )


def linear(growing: Sequence[Case], rows: Sequence[Mapping[str, Cell]]) -> str:
    """How much longer a record takes among the most than among the fewest."""
    whole = sorted(
        (case.rows, float(cells["all s"] or 0))
        for case, cells in zip(growing, rows, strict=True)
        if case.l == 3
    )
    (few, short), (many, long) = whole[0], whole[-1]
    times = (long / many) / (short / few)
    return f"{many:,} records take {times:.2f} times as long per record as {few:,} (1: linear)"


def row(case: Case) -> list[Cell]:
    with scratch() as folder:
        data = folder / "trips.csv"
        case.write(data)
        (folder / "trips.toml").write_text(case.policy(), encoding="utf-8")
        runs, whole = [], []
        for _ in range(3 if case.rows <= 100_000 else 1):
            with scratch() as made:
                asked = (case.name, data, case.l, case.k, case.c, case.support, made)
                runs.append(answered(module("trajectories", *asked)))
                words = ("publish", data, folder / "trips.toml", "-o", made / "out")
                whole.append(timed([str(PRIVET), *map(str, words)])[0])
    said = runs[0][1]
    spent = medians([answer["seconds"] for _, answer in runs])
    seconds = [spent[stage] for stage in ROAD]
    return [
        case.name,
        f"{case.rows:,}",
        str(case.l or "all"),
        str(case.k),
        f"{float(Fraction(case.c)):.0%}",
        said["dimensions"],
        said["violations"],
        said["patterns"],
        said["lost"],
        *seconds,
        sum(seconds),
        middle(whole).wall,
        max(cost.peak for cost in whole) / 1e6,
        rated(middle(whole).wall, case.most, " s"),
        rated(spent["suppress"], GREEDY, " s"),
        rated(max(cost.peak for cost in whole) / 1e9, MEMORY, " GB"),
    ]


def staged(data: Path, case: Case, folder: Path) -> dict[str, Any]:
    """The seconds of every stage from the file to the release folder, and what came out."""
    clock = Clock()
    clock.seconds = dict.fromkeys(ROAD, 0.0)
    release = publish(data, Policy.loads(case.policy()), progress=clock)
    clock("write", 0)
    release.write(folder / "release")
    seconds = clock.stop()
    patterns, thinning = release.measures["patterns"], release.evidence["thinning"]
    return {
        "seconds": seconds,
        "dimensions": release.measures["before"]["points"],
        "violations": thinning["curve"][0][1],
        "patterns": patterns["before"],
        "lost": patterns["lost"],
    }


if __name__ == "__main__":
    name, source, l, k, c, support, target = sys.argv[1:]
    case = Case(name, 0, int(l), int(k), c, support)
    print(json.dumps(staged(Path(source), case, Path(target))))
