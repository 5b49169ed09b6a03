"""Quasi-identifiers beside a set: generalised first, so that within every class few items tell nothing.

The larger the classes, the more is lost of the quasi-identifiers and the less of the items. So several sizes
are tried, from the smallest that the promise allows, and the one that loses least of both together is taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from privet.core import Attribute, PrivacyModel, Progress, Role
from privet.engine import Engine
from privet.engines.transactions.frames import ItemFrame
from privet.errors import UnsatisfiableError
from privet.measure.utility import losses, mean_lm
from privet.models.kanonymity import KAnonymity
from privet.policy.values import Policy
from privet.relational.topdown import TopDown
from privet.roads.stations import in_frame
from privet.roads.transactions.check import classes_of, refuse_endless, shape_of
from privet.rules.bypromise import joined
from privet.rules.filled import EMPTY, FULL, Filled
from privet.rules.searches import SetFinding, Sets, known_of

STEP = 8  # each size of classes that is tried is so many times the one before
TRIED = 4


def recoded(
    read: ItemFrame, policy: Policy, engine: Engine[Any], progress: Progress
) -> tuple[pl.DataFrame, SetFinding]:
    """What stands beside the sets as it leaves, and the sets."""
    shape = shape_of(policy)
    search: Any = policy.algorithm
    for promise in known_of(policy):
        refuse_endless(read.baskets, promise.m, promise.k)
    sets = Sets(read.baskets, None, shape.hierarchy, shape.mined_with)
    if not policy.quasi:
        return read.beside, search.search(sets, policy, progress)
    *first, last = search.stages(policy)
    hidden: SetFinding | None = None
    for stage in first:  # rules are hidden whatever stands beside
        hidden = stage.search(sets, policy, progress)
        sets = replace(sets, baskets=hidden.baskets)
    beside, finding = classed(read, policy, engine, Keeping(last, sets, policy, progress))
    return beside, finding if hidden is None else joined(hidden, finding, read.baskets.cells)


@dataclass(frozen=True)
class Keeping:
    """The search that keeps km-anonymity within classes."""

    search: Any
    sets: Sets
    policy: Policy
    progress: Progress

    def within(self, beside: pl.DataFrame) -> SetFinding:
        classes = classes_of(beside, self.policy)
        found: SetFinding = self.search.search(
            replace(self.sets, classes=classes), self.policy, self.progress
        )
        return found


def classed(
    read: ItemFrame, policy: Policy, engine: Engine[Any], keeping: Keeping
) -> tuple[pl.DataFrame, SetFinding]:
    """Classes of several sizes are tried; and where the items of some are too few, classes that mind them."""
    k = max(promise.k for promise in known_of(policy))
    full = pl.Series(_free(read), np.where(keeping.sets.baskets.lengths > 0, FULL, EMPTY))
    best: tuple[float, pl.DataFrame, SetFinding] | None = None
    refused: UnsatisfiableError | None = None
    for at in range(TRIED):
        least = k * STEP**at
        if at and 2 * least > read.baskets.records:
            break
        for frame, promises in (
            (read.beside, (KAnonymity(k=least),)),
            (read.beside.with_columns(full), (KAnonymity(k=least), Filled(k, (full.name,)))),
        ):
            try:
                columns, lost = generalised(frame, policy, engine, promises)
                beside = read.beside.with_columns(columns)
                finding = keeping.within(beside)
            except UnsatisfiableError as error:
                refused = refused or error
                continue
            loss = lost + finding.loss
            if best is None or loss < best[0]:
                best = (loss, beside, finding)
            break
    if best is None:
        raise refused or UnsatisfiableError("no classes keep the promise")
    return best[1], best[2]


def _free(read: ItemFrame) -> str:
    """A name that no column has."""
    return FULL + "_" * max((len(name) for name in read.beside.columns), default=0)


def generalised(
    beside: pl.DataFrame, policy: Policy, engine: Engine[Any], promises: tuple[PrivacyModel, ...]
) -> tuple[list[pl.Series], float]:
    """The quasi-identifiers in classes that keep promises, and what they lost (LM)."""
    asked = [Attribute(name, Role.SENSITIVE) for one in promises for _, name in one.protects()]
    attributes = (*policy.quasi, *asked)
    table = policy.asking(
        kind="table", shape=None, algorithm=TopDown(), attributes=attributes, models=promises
    )
    raw = engine.read(beside.select([a.name for a in attributes]), policy.form)
    tallied = engine.tally(raw, table)
    found = table.algorithm.search(tallied.tally, table)
    made = in_frame(engine, engine.apply(tallied, table, found.recoding))
    columns = [made.get_column(a.name) for a in policy.quasi]
    recoding: Any = found.recoding  # top-down specialisation cuts hierarchies
    return columns, mean_lm(losses(tallied.tally, recoding))
