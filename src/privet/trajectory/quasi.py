"""Paths and other quasi-identifiers of the same persons, and the gap between the two promises.

The promise for paths bounds who knows points; a promise for the table bounds who knows ages and postcodes.
Neither says anything of an adversary who knows some of both (Mohammed 2012 leaves them out). So that the
steward need not guess, `widened` makes every relational value one more thing that can be known, and the same
auditor counts what up to L things of any kind give away. That is measured, not promised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from privet.core import Nulls, PrivacyModel, Tally, Verdict
from privet.models.linkage import Linkage
from privet.trajectory.audit import audit
from privet.trajectory.paths import Paths, Points


@dataclass(frozen=True, slots=True)
class Beside:
    """Three verdicts: on points alone, on the table alone, and on any mixture of up to L of both."""

    path: Verdict
    table: tuple[Verdict, ...]  # one for each promise about the table
    mixed: Verdict

    @property
    def holds(self) -> bool:
        """Is everything kept that was promised? Mixed knowledge was not."""
        return self.path.holds and all(verdict.holds for verdict in self.table)

    @property
    def warning(self) -> str:
        """What the evidence says of mixed knowledge, whatever was found."""
        what = "who knows visits and other quasi-identifiers of one person is not bounded by these promises"
        if self.mixed.holds:
            return f"{what}; in this release the same numbers hold all the same"
        return (
            f"{what}; in this release {self.mixed.broken} combinations break the same numbers, "
            f"with {self.mixed.at_risk} records at risk"
        )


def beside(paths: Paths, promise: Linkage, models: Sequence[PrivacyModel] = ()) -> Beside:
    """Every verdict on what is about to leave; `models` are promises about the quasi-identifiers alone."""
    table = as_table(paths)
    return Beside(
        audit(paths, promise).verdict,
        tuple(model.check(table) for model in models),
        audit(widened(paths), promise).verdict,
    )


def as_table(paths: Paths, nulls: Nulls = Nulls.VALUE) -> Tally:
    """The records without their paths."""
    return Tally(paths.quasi, paths.sensitive, None, paths.counts, nulls)


def widened(paths: Paths) -> Paths:
    """Relational values as points before every path: a time for each column, a place for each value.

    A record has one value in a column as it has one place at a time, so all that holds for sequences of
    points holds for these too.
    """
    points, columns = paths.points, paths.quasi
    if not columns:
        return paths
    sizes = [column.domain.size for column in columns]
    before = np.concatenate(([0], np.cumsum(sizes)))
    extra = int(before[-1])
    names = tuple(
        f"{column.name}={'null' if value is None else value}"
        for column in columns
        for value in column.domain.values
    )
    wide = Points(
        labels=(*names, *points.labels),
        places=(*names, *points.places),
        times=(*(column.name for column in columns), *points.times),
        place=np.concatenate((np.arange(extra), points.place + extra)).astype(np.int32),
        time=np.concatenate((np.repeat(np.arange(len(columns)), sizes), points.time + len(columns))).astype(
            np.int32
        ),
    )
    starts = paths.starts + len(columns) * np.arange(paths.cells + 1)
    visits = np.empty(int(starts[-1]), dtype=np.int32)
    theirs = np.arange(len(paths.visits)) + len(columns) * (paths.owner + 1)
    visits[theirs] = paths.visits + extra
    for at, column in enumerate(columns):
        visits[starts[:-1] + at] = column.codes.astype(np.int64) + before[at]
    return Paths(wide, visits, starts, paths.counts, paths.sensitive)
