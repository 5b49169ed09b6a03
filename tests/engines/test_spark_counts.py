"""Counts that stay on the cluster answer as a tally in memory does, and a release of them is the same."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.engines.test_spark_same import figures

import privet as pv
from privet.core import Form, Tally
from privet.counts.memory import heading
from privet.engines.spark.answers import ClusterCounts
from privet.engines.spark.cells import Cells
from privet.engines.spark.staging import Staging
from privet.hierarchy import Auto
from privet.recoding import Regions
from privet.relational.fulldomain import FullDomain
from privet.relational.incognito import Incognito
from privet.relational.mondrian import Choice, Cuts, Mondrian, Output
from privet.relational.objective import Loss
from privet.relational.optimal import Optimal
from privet.relational.samarati import Samarati
from privet.relational.topdown import Score, Splits, TopDown
from privet.testing.adding import joined
from privet.testing.counting import check_counts, check_leaves

pytestmark = pytest.mark.services

SEARCHES: tuple[Any, ...] = (
    *(TopDown(score=score, splits=how) for score in Score for how in Splits),
    Mondrian(),
    Mondrian(choice=Choice.BEST),
    Mondrian(cuts=Cuts.HIERARCHY),
    Mondrian(output=Output.MEANS),
    *(Optimal(loss=loss, suppression=Fraction(1, 3), trim=False) for loss in Loss),
    Optimal(),
    Samarati(suppression=Fraction(1, 4)),
    Incognito(),
)

Make = Callable[[Sequence[Tally]], ClusterCounts]


@pytest.fixture
def make(session: Any, tmp_path: Path) -> Make:
    staging = Staging(tmp_path)

    def made(parts: Sequence[Tally]) -> ClusterCounts:
        return ClusterCounts(sent(session, staging, joined(parts)))

    return made


def sent(session: Any, staging: Staging, tally: Tally, most: int = 10_000) -> Cells:
    """The cells of a tally as they lie on a cluster."""
    import pyarrow as pa

    empty = Cells(session, staging, heading(tally), None, tally.records, most)
    every = [*tally.quasi, *tally.sensitive, *([] if tally.target is None else [tally.target])]
    columns = {at: c.codes.astype(np.int64) for at, c in zip(empty.names, every, strict=True)}
    frame = session.createDataFrame(pa.table({**columns, "n": tally.counts}))
    return Cells(session, staging, empty.heading, frame, tally.records, most)


def by_cell(recoding: Regions, tally: Tally) -> Any:
    """What each cell is published as, wherever that is known."""
    if recoding.elsewhere is None:
        kept = [True] * tally.cells if recoding.kept is None else recoding.kept.tolist()
        place = {name: at.tolist() for name, at in recoding.positions.items()}
    else:
        cells = recoding.elsewhere.cells
        rows = recoding.elsewhere.frame.toArrow().to_pylist()
        box_of = {tuple(row[name] for name in cells.names): row["box"] for row in rows}
        every = [*tally.quasi, *tally.sensitive, *([] if tally.target is None else [tally.target])]
        box = [box_of[tuple(int(c.codes[at]) for c in every)] for at in range(tally.cells)]
        kept = [True if recoding.kept is None else bool(recoding.kept[at]) for at in box]
        place = {name: [int(of[at]) for at in box] for name, of in recoding.boxes.items()}
    return [
        {name: recoding.nodes[name][of[at]] for name, of in place.items()} if kept[at] else None
        for at in range(tally.cells)
    ]


def test_questions_are_answered_and_searches_find_the_same(make: Make) -> None:
    check_counts(make, examples=25, searches=SEARCHES, seen=by_cell)


def test_leaves_hold_what_a_naive_count_finds(make: Make) -> None:
    check_leaves(make, examples=25)


LIMIT = 240


def people(rows: int, seed: int) -> pl.DataFrame:
    """Records that hardly repeat, with nulls, letters of several alphabets, numbers and dates."""
    mixed = random.Random(seed)

    def some(values: list[Any]) -> list[Any]:
        return [None if mixed.random() < 0.05 else mixed.choice(values) for _ in range(rows)]

    return pl.DataFrame(
        {
            "job": some(["Koch", "médecin", "me\u0301decin", "教師", "инженер", 'a,b;c"d']),
            "age": some(list(range(20, 60))),
            "born": some([dt.date(1950, 1, 1) + dt.timedelta(days=700 * n) for n in range(12)]),
            "pay": pl.Series(some([Decimal(n) / 4 for n in range(4000, 4012)]), dtype=pl.Decimal(12, 2)),
            "ill": some(["flu", "HIV", "Grippe é"]),
            "buys": some(["yes", "no"]),
            "note": [f"note {mixed.randrange(50)}" for _ in range(rows)],
        }
    )


def policy(algorithm: pv.Algorithm, *, target: bool) -> pv.Policy:
    # A lattice of four attributes has many nodes, and asks for each.
    quasi = ("job", "age", "born") if isinstance(algorithm, FullDomain) else ("job", "age", "born", "pay")
    return pv.Policy(
        attributes=(
            pv.Attribute("ill", pv.Role.SENSITIVE),  # not in the order in which they are counted
            *(pv.Attribute(name, pv.Role.QUASI, Auto()) for name in quasi),
            pv.Attribute("buys", pv.Role.TARGET if target else pv.Role.OTHER),
            pv.Attribute("note", pv.Role.OTHER),
        ),
        models=(pv.KAnonymity(k=8),),
        algorithm=algorithm,
    )


WHOLE: dict[str, Any] = {
    "top-down": TopDown(),
    "top-down for a target": TopDown(score=Score.INFORMATION_GAIN),
    "optimal": Optimal(),
    "optimal, suppressing": Optimal(suppression=Fraction(1, 5)),
    "mondrian": Mondrian(),
    "mondrian by hierarchy": Mondrian(cuts=Cuts.HIERARCHY),
    "samarati": Samarati(suppression=Fraction(1, 5)),
    "incognito": Incognito(),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_release_is_the_same_where_counts_stay(session: Any, tmp_path: Path, name: str) -> None:
    """As many combinations as records, and more than may come here; what leaves is fewer."""
    search = WHOLE[name]
    table, rules = people(300, seed=len(name)), policy(search, target="target" in name)
    table.write_parquet(tmp_path / "raw.parquet")
    spark = pv.Spark(session, staging=tmp_path, cells=LIMIT)
    pv.publish(tmp_path / "raw.parquet", rules).write(tmp_path / "here")
    pv.publish(tmp_path / "raw.parquet", rules, engine=spark).write(tmp_path / "there")
    counted = spark.counted(spark.read(tmp_path / "raw.parquet", Form()), rules)
    assert counted.afar is not None, "more than the limit"
    assert not counted.tally.cells, "nothing of it came here"
    here = pl.read_parquet(tmp_path / "here/data.parquet")
    there = pl.read_parquet(tmp_path / "there/data.parquet/part-*.parquet")
    assert there.equals(here.cast(there.schema)), "the same rows in the same order"
    assert figures(tmp_path / "there") == figures(tmp_path / "here")
    for engine in ("embedded", spark):
        found = pv.verify(tmp_path / "there", engine=engine)
        assert found.holds, found.complaints
