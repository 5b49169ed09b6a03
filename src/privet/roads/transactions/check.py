"""Sets read by a policy, and every promise about them checked by an auditor."""

from __future__ import annotations

from decimal import Decimal
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from privet.core import Form, Role, Verdicts
from privet.engine import Engine
from privet.engines.trajectories.frames import coded
from privet.engines.transactions import frames, lines
from privet.engines.transactions.frames import ItemFrame
from privet.errors import InputError, UnsupportedError
from privet.policy.values import Policy
from privet.roads.stations import columns_needed, settle
from privet.roads.transactions.shape import Layout, Transactions
from privet.rules.audit import Recount
from privet.rules.baskets import Baskets, Ints
from privet.rules.hidden import HiddenRule
from privet.rules.known import KMAnonymity, judged
from privet.trajectory.audit import OfLength

MOST = 1_000_000_000  # itemsets that the auditor writes out; more would take hours


def shape_of(policy: Policy) -> Transactions:
    shape: Transactions = policy.shape
    return shape


def form_of(source: Any, policy: Policy) -> Form:
    """How the data is written; a file of baskets may have any ending."""
    if shape_of(policy).form is Layout.BASKETS:
        return policy.form
    return settle(source, policy.form)


def read_sets(
    source: Any, policy: Policy, engine: Engine[Any], *, form: Form | None = None, published: bool = False
) -> ItemFrame:
    """The sets of a source, and what stands beside them."""
    shape = shape_of(policy)
    form = form_of(source, policy) if form is None else form
    if shape.form is Layout.BASKETS:
        if isinstance(source, ItemFrame):
            return source
        if isinstance(source, (list, tuple)):
            return ItemFrame(Baskets.of(source), pl.DataFrame())
        if not isinstance(source, (str, Path)):
            raise InputError('form = "baskets" reads a file, or a list of lists; a table has form = "column"')
        return ItemFrame(lines.read(Path(source), form, shape.separator), pl.DataFrame())
    beside = [name for name in columns_needed(policy) if name != shape.person]
    wanted = list(dict.fromkeys([*shape.columns, *beside]))
    frame = frames.table(source, form, wanted, shape.set, engine)
    if shape.form is Layout.COLUMN:
        return frames.from_column(
            frame, str(shape.set), shape.separator, beside=beside, engine=engine, form=form
        )
    return frames.from_rows(
        frame,
        str(shape.person),
        str(shape.item),
        beside=beside,
        engine=engine,
        form=form,
        published=published,
    )


def classes_of(beside: pl.DataFrame, policy: Policy) -> Ints | None:
    """The equivalence class of each record by its quasi-identifiers; None where there are none."""
    if not policy.quasi:
        return None
    key = np.zeros(beside.height, dtype=np.int64)
    for attribute in policy.quasi:
        codes, values = coded(beside.get_column(attribute.name))
        key = np.unique(key * (len(values) + 1) + codes, return_inverse=True)[1]
    return key.astype(np.int64)


def verdicts_on(found: ItemFrame, policy: Policy) -> tuple[Verdicts, list[list[OfLength]]]:
    """Every promise, checked on sets as they stand."""
    verdicts: list[Any] = []
    levels: list[list[OfLength]] = []
    classes = classes_of(found.beside, policy)
    for model in policy.models:
        if isinstance(model, HiddenRule):
            verdicts.append((model, model.check(Recount(found.baskets))))
        elif isinstance(model, KMAnonymity):
            refuse_endless(found.baskets, model.m)
            verdict, by_length = judged(found.baskets, classes, model)
            verdicts.append((model, verdict))
            levels.append(list(by_length))
        else:
            raise UnsupportedError(f"{model.name} promises nothing about sets")
    return tuple(verdicts), levels


def refuse_endless(baskets: Baskets, m: int, k: int = 1) -> None:
    """Who writes everything out needs an end.

    An item that fewer than k records have is rare by itself: a search goes no further with it.
    """
    common = baskets.supports >= k
    many_of = np.bincount(baskets.owner, weights=common[baskets.members], minlength=baskets.records)
    lengths, records = np.unique(many_of.astype(np.int64), return_counts=True)
    total = _itemsets(lengths, records, m)
    if total > MOST:
        raise UnsupportedError(
            f"about {Decimal(total):.1e} itemsets of up to {m} items would have to be counted, and {MOST:,} "
            f"are the most: promise a smaller m ({_largest(lengths, records, m)} is possible here), or split "
            "the longest records"
        )


def _largest(lengths: Ints, records: Ints, m: int) -> int:
    """The largest m below this one whose itemsets can be counted; 1 where none can."""
    for fewer in range(m - 1, 1, -1):
        if _itemsets(lengths, records, fewer) <= MOST:
            return fewer
    return 1


def _itemsets(lengths: Ints, records: Ints, m: int) -> int:
    """How many itemsets of up to m items records of these lengths have, each by itself."""
    return sum(
        many * sum(comb(length, size) for size in range(1, min(m, length) + 1))
        for length, many in zip(lengths.tolist(), records.tolist(), strict=True)
    )


def size(baskets: Baskets) -> dict[str, int]:
    """Numbers that anybody may see."""
    return {
        "records": baskets.records,
        "cells": baskets.cells,
        "different": int(np.count_nonzero(baskets.supports)),
        "longest": int(baskets.lengths.max(initial=0)),
        "empty": int(np.count_nonzero(baskets.lengths == 0)),
    }


def level_notes(levels: list[list[OfLength]]) -> list[list[dict[str, int]]]:
    """What each promise of km-anonymity was found to be, by how many items are known."""
    return [
        [
            {"known": one.length, "itemsets": one.sequences, "smallest": one.smallest, "rare": one.broken}
            for one in promise
        ]
        for promise in levels
    ]


def passing(policy: Policy) -> list[str]:
    """The columns of a release beside the sets, in the order of the policy."""
    shape = shape_of(policy)
    return [
        a.name
        for a in policy.attributes
        if a.published and a.name != shape.person and a.role is not Role.IDENTIFIER
    ]
