"""Paths and what is promised about them, said once more and naively: sets, loops and fractions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias

import numpy as np
import polars as pl
from hypothesis import strategies as st

from privet.core import Column
from privet.domain import flat
from privet.engines.trajectories.column import PathColumn
from privet.models.linkage import Linkage
from privet.models.template import Template
from privet.trajectory.paths import Paths, Points

Visit: TypeAlias = tuple[int, str]  # time and place, so that tuples sort by time
Record: TypeAlias = tuple[tuple[Visit, ...], str]
Known: TypeAlias = frozenset[Visit]

VALUES = ("s", "t", "u")


def records(*, most: int = 10, times: int = 4, places: str = "ab") -> st.SearchStrategy[list[Record]]:
    """Small databases; a person is at one place at a time, or nowhere."""
    path = st.lists(st.sampled_from([None, *places]), min_size=times, max_size=times).map(
        lambda chosen: tuple((at, place) for at, place in enumerate(chosen, start=1) if place)
    )
    return st.lists(st.tuples(path, st.sampled_from(VALUES)), min_size=1, max_size=most)


def dense(rng: np.random.Generator, *, rows: int, times: int, places: str, stays: float) -> list[Record]:
    """A database in which long sequences have support: violations of four points and more appear."""
    found = []
    for _ in range(rows):
        there = rng.random(times) < stays
        chosen = rng.integers(0, len(places), times)
        path = tuple((at + 1, places[chosen[at]]) for at in range(times) if there[at])
        found.append((path, VALUES[int(rng.integers(0, 3))]))
    return found


def promise(l: int | None, k: int, c: Fraction, protected: Sequence[str] = ("s",)) -> Linkage:
    return Linkage(l, k, tuple(Template("status", value, c) for value in protected))


def tally(rows: Sequence[Record], *, merge: bool = True) -> Paths:
    """The same tally that a reader makes, without one."""
    every = sorted({visit for path, _ in rows for visit in path})
    points = Points.of([place for _, place in every], [str(when) for when, _ in every])
    counted: dict[tuple[Record, int], int] = {}
    for at, row in enumerate(rows):
        key = (row, 0 if merge else at)
        counted[key] = counted.get(key, 0) + 1
    cells = [row for row, _ in counted]
    domain = flat(VALUES)
    visits = [points.codes[place, str(when)] for path, _ in cells for when, place in path]
    return Paths(
        points,
        np.array(visits, dtype=np.int32),
        np.concatenate(([0], np.cumsum([len(path) for path, _ in cells]))).astype(np.int64),
        np.array(list(counted.values()), dtype=np.int64),
        (Column("status", domain, domain.column(np.array([domain.codes[s] for _, s in cells]))),),
    )


def frame(rows: Sequence[Record]) -> pl.DataFrame:
    return pl.DataFrame(
        {"path": [written(path) for path, _ in rows], "status": [status for _, status in rows]},
        schema={"path": pl.String, "status": pl.String},
    )


def written(path: Iterable[Visit]) -> str:
    return " ".join(f"{place}{when}" for when, place in path)


def rows_of(table: pl.DataFrame) -> list[Record]:
    """Back from a table, without the package's reader."""
    return [
        (tuple((int(word[1:]), word[0]) for word in path.split()), status)
        for path, status in table.select("path", "status").iter_rows()
    ]


def occurring(rows: Sequence[Record], longest: int | None) -> set[Known]:
    return {
        frozenset(part)
        for path, _ in rows
        for size in range(1, (len(path) if longest is None else min(longest, len(path))) + 1)
        for part in combinations(path, size)
    }


def matching(rows: Sequence[Record], known: Known) -> list[Record]:
    return [row for row in rows if known.issubset(row[0])]


def violating(rows: Sequence[Record], asked: Linkage) -> set[Known]:
    """Definition 4.4, over every sequence that occurs."""
    found = set()
    everybody = [(frozenset(path), status) for path, status in rows]  # once, not for every sequence
    for known in occurring(rows, asked.l):
        match = [status for path, status in everybody if known <= path]
        if len(match) < asked.k or any(
            Fraction(sum(status == t.value for status in match), len(match)) > t.at_most
            for t in asked.templates
        ):
            found.add(known)
    return found


def minimal(found: set[Known]) -> set[Known]:
    return {one for one in found if not any(other < one for other in found)}


def maximal_frequent(rows: Sequence[Record], least: int) -> set[Known]:
    paths = [frozenset(path) for path, _ in rows]
    found = {known for known in occurring(rows, None) if sum(known <= path for path in paths) >= least}
    return {one for one in found if not any(one < other for other in found)}


def visits(sequences: Iterable[tuple[int, ...]], points: Points) -> set[Known]:
    """Sequences of the package as sets of visits."""
    return {
        frozenset((int(when), place) for place, when in map(points.pair, sequence)) for sequence in sequences
    }


def words(sequences: Iterable[tuple[str, ...]]) -> set[str]:
    """Sequences as the source prints them: b2c4."""
    return {"".join(sequence) for sequence in sequences}


def read(text: str, *, sensitive: str | None = None, allow_empty: bool = False) -> PathColumn:
    """A table of the spec."""
    table = pl.read_csv(text.encode(), infer_schema=False)
    return PathColumn.read(
        table, path="path", sensitive=[sensitive] if sensitive else [], allow_empty=allow_empty
    )
