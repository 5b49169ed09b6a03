"""Quasi-identifiers beside a set: generalised first, so that within every class few items tell nothing.

The larger the classes, the more is lost of the quasi-identifiers and the less of the items. So several sizes
are tried, from the smallest that the promise allows, and the one that loses least of both together is taken.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import polars as pl

from privet.core import Progress
from privet.engine import Engine
from privet.engines.transactions.frames import ItemFrame
from privet.errors import UnsatisfiableError
from privet.measure.utility import losses, mean_lm
from privet.models.kanonymity import KAnonymity
from privet.policy.values import Policy
from privet.relational.topdown import TopDown
from privet.roads.stations import in_frame
from privet.roads.transactions.check import classes_of, refuse_endless, shape_of
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
    k = max(promise.k for promise in known_of(policy))
    best: tuple[float, pl.DataFrame, SetFinding] | None = None
    refused: UnsatisfiableError | None = None
    for at in range(TRIED):
        least = k * STEP**at
        if at and 2 * least > read.baskets.records:
            break
        try:
            beside, lost = generalised(read, policy, engine, least)
            finding = search.search(replace(sets, classes=classes_of(beside, policy)), policy, progress)
        except UnsatisfiableError as error:
            refused = error
            continue
        loss = lost + finding.loss
        if best is None or loss < best[0]:
            best = (loss, beside, finding)
    if best is None:
        raise refused or UnsatisfiableError("no classes keep the promise")
    return best[1], best[2]


def generalised(
    read: ItemFrame, policy: Policy, engine: Engine[Any], least: int
) -> tuple[pl.DataFrame, float]:
    """The quasi-identifiers in classes of at least so many records, and what they lost (LM)."""
    table = policy.asking(
        kind="table",
        shape=None,
        algorithm=TopDown(),
        attributes=policy.quasi,
        models=(KAnonymity(k=least),),
    )
    raw = engine.read(read.beside.select([a.name for a in policy.quasi]), policy.form)
    tallied = engine.tally(raw, table)
    found = table.algorithm.search(tallied.tally, table)
    made = in_frame(engine, engine.apply(tallied, table, found.recoding))
    columns = [made.get_column(a.name) for a in policy.quasi]
    recoding: Any = found.recoding  # top-down specialisation cuts hierarchies
    return read.beside.with_columns(columns), mean_lm(losses(tallied.tally, recoding))
