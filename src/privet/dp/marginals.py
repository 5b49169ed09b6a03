"""Each column by itself, with noise: what a report may show of a table that nobody may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

import numpy as np

from privet.counts.door import Ints
from privet.counts.live import LiveCounts
from privet.domain import Node, Value
from privet.dp.budget import LAPLACE, Account
from privet.dp.coded import CodedColumn, CodedTable
from privet.dp.contingency import finest
from privet.dp.noise import NoiseSource
from privet.dp.publicdomain import Categories, Numbers
from privet.dp.records import Records
from privet.dp.spend import Charge, Payer
from privet.errors import InputError, UnsupportedError

BARS = 20  # intervals of a numerical column


@dataclass(frozen=True)
class Marginal:
    """The values of one column and the noisy number of records with each; negative ones are noise too."""

    name: str
    labels: tuple[Value, ...]
    counts: tuple[int, ...]
    scale: Fraction
    charges: tuple[Charge, ...] = field(repr=False, default=())


def marginals(
    table: CodedTable,
    names: Sequence[str],
    epsilon: Fraction,
    noise: NoiseSource,
    payer: Payer | None = None,
    *,
    live: LiveCounts | None = None,
) -> list[Marginal]:
    """The named columns, epsilon shared equally among them; the class is a column too."""
    live = live or Records(table)
    if not names:
        raise InputError("marginals: name at least one column")
    account = Account(epsilon, payer)
    each = epsilon / len(names)
    made = []
    for name in names:
        labels, true = _counted(table, live, name)
        account.spend(f"marginal of {name}", LAPLACE, each, disjoint=True)
        counts = true + noise.laplace(1 / each, len(true))
        made.append(Marginal(name, labels, tuple(counts.tolist()), 1 / each, account.charges[-1:]))
    return made


def _counted(table: CodedTable, live: LiveCounts, name: str) -> tuple[tuple[Value, ...], Ints]:
    if name == table.target:
        return table.classes, live.totals()
    at = next((at for at, column in enumerate(table.columns) if column.name == name), None)
    if at is None:
        raise InputError(f"{name}: the table has no such column")
    nodes = _bars(table.columns[at])
    begins = np.array([node.lo for node in nodes])
    ((codes, by_class),) = live.histograms([at])
    counts = np.zeros(len(nodes), dtype=np.int64)
    np.add.at(counts, np.searchsorted(begins, codes, side="right") - 1, by_class.sum(axis=1))
    return tuple(node.label for node in nodes), counts


def _bars(column: CodedColumn) -> tuple[Node, ...]:
    domain = column.predictor.domain
    if isinstance(domain, Numbers):
        edges = sorted({domain.points * at // BARS for at in range(BARS + 1)})
        return (*(domain.node(lo, hi) for lo, hi in pairwise(edges)), *domain.root.children[1:])
    if isinstance(domain, Categories):
        return finest(domain)
    # a record with five items would be in five bars, and one bar of noise would not be enough
    raise UnsupportedError(f"{column.name}: a column of sets has no marginal of this kind")
