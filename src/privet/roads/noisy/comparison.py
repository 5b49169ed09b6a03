"""How far a noisy release is from the data: for the steward alone, since these numbers carry no noise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from privet.counts.door import Ints
from privet.counts.live import LiveCells
from privet.dp import cuts
from privet.dp.coded import CodedTable
from privet.dp.settings import COUNT, Public
from privet.engine import Engine
from privet.errors import InputError, UnsupportedError
from privet.evidence.folder import read as read_evidence
from privet.evidence.values import Evidence
from privet.release import Release
from privet.roads.answers import NoisyComparison
from privet.roads.noisy.check import values_of
from privet.roads.noisy.release import NoisyRelease, frame
from privet.roads.stations import data_file, in_frame, needed

KIND = "noisy"
# Records or combinations in public codes, and how many records each is.
Piece: TypeAlias = tuple[CodedTable, "Ints | int"]
WARNING = "these numbers compare with the raw data and carry no noise: they must not leave"


def apply_cut(table: CodedTable, known: Public, evidence: Evidence) -> Any:
    """Other records, such as a test set, generalised as a release is: a frame of published labels."""
    nodes = [cuts.read(p, values_of(evidence, p.name)) for p in known.predictors]
    return frame(cuts.empty_table(known.predictors, nodes, known.target, known.classes).apply_cut(table))


def compare(
    pieces: Iterable[Piece], known: Public, release: Release | Path, engine: Engine[Any]
) -> NoisyComparison:
    """The counts of the release beside the true ones of the same rows, which come in pieces."""
    import polars as pl  # noqa: PLC0415 - loads the engine's library

    if isinstance(release, Release):
        if not isinstance(release, NoisyRelease):
            raise UnsupportedError("this release was not made with differential privacy")
        evidence, published = release.evidence, release.counts()
    else:
        evidence = read_evidence(release)
        path, form = data_file(release, evidence, needed(evidence.data, "data").counts)
        published = in_frame(engine, engine.read(path, form, [*known.columns, COUNT], empty=True))
    by = known.columns
    if list(published.columns) != [*by, COUNT]:
        raise InputError("the release has other columns than its policy")
    texts = [pl.col(name).cast(pl.String) for name in by]
    true = pl.DataFrame(schema={**dict.fromkeys(by, pl.String), "true": pl.Int64})
    for table, times in pieces:
        rows = apply_cut(table, known, evidence).with_columns(pl.lit(times).alias("true"))
        true = pl.concat([true, rows.select(*texts, pl.col("true").cast(pl.Int64))])
        true = true.group_by(by).agg(pl.col("true").sum())
    noisy = published.select(*texts, pl.col(COUNT).cast(pl.Int64))
    both = noisy.join(true, on=by, how="full", coalesce=True, nulls_equal=True).fill_null(0)
    off = (both.get_column(COUNT) - both.get_column("true")).abs()
    noisy_counts = needed(evidence.measures.counts, "measures.counts")
    cells = noisy_counts.cells
    wrong = int(off.sum())
    return NoisyComparison(
        kind=KIND,
        warning=WARNING,
        records={"raw": int(true["true"].sum()), "published": evidence.records},
        counts={
            "cells": cells,
            "error": wrong / cells if cells else 0.0,
            "largest": int(off.max() or 0),
            "total": wrong,
            "expected": noisy_counts.error,
        },
        columns={name: _distance(both, name) for name in by},
    )


def pieces_of(table: CodedTable, codes: Mapping[str, Ints], live: LiveCells) -> Iterator[Piece]:
    """The combinations of a table on a cluster in public codes; `codes`: of the values of each column."""
    for values, counts in live.cells():
        columns = tuple(replace(one, codes=codes[one.name][values[one.name]]) for one in table.columns)
        of_class = codes[table.target][values[table.target]]
        yield replace(table, columns=columns, class_codes=of_class), counts


def _distance(both: Any, name: str) -> float:
    """Half the sum of the differences of shares: how much of a column would have to be moved."""
    import polars as pl  # noqa: PLC0415

    sums = both.group_by(name).agg(pl.col(COUNT).clip(lower_bound=0).sum(), pl.col("true").sum())
    parts = []
    for column in (COUNT, "true"):
        total = int(sums.get_column(column).sum())
        parts.append(sums.get_column(column) / total if total else sums.get_column(column) * 0.0)
    return round(float((parts[0] - parts[1]).abs().sum()) / 2, 9)
