"""Counts that stay on the cluster answer as a tally in memory does, and a release of them is the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from privet.core import Tally
from privet.counts.memory import heading
from privet.engines.spark.answers import ClusterCounts
from privet.engines.spark.cells import Cells
from privet.engines.spark.staging import Staging
from privet.recoding import Regions
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
