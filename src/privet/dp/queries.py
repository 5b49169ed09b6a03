"""Counting queries: answered one by one for a price, or from a release for nothing.

The interactive way is the baseline: every answer costs, and when epsilon is used the table is closed for
good. A release answers as many queries as anybody likes, less exactly the finer they are.

From Python only: what a release by `diffgen` is compared with. No command answers one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from privet.domain import Node, Value
from privet.dp.budget import LAPLACE, Account
from privet.dp.coded import CodedTable
from privet.dp.noise import NoiseSource
from privet.dp.noisytable import NoisyTable
from privet.dp.spend import Payer
from privet.errors import InputError


@dataclass(frozen=True)
class Count:
    """How many records have a value under each of these nodes, and one of these classes (none: any).

    In a column of sets a record counts that has at least one item under the node.
    """

    where: Mapping[str, Node] = field(default_factory=lambda: MappingProxyType({}))
    classes: tuple[Value, ...] = ()


class Interactive:
    """A table that answers counts with noise until its epsilon is used."""

    def __init__(
        self, table: CodedTable, epsilon: Fraction, noise: NoiseSource, payer: Payer | None = None
    ) -> None:
        self._table = table
        self._noise = noise
        self._account = Account(epsilon, payer)
        self._asked = 0

    @property
    def left(self) -> Fraction:
        return self._account.left

    def ask(self, query: Count, epsilon: Fraction) -> int:
        """The noisy count; an overdraft is refused before anything is counted."""
        known = {column.name for column in self._table.columns}
        _refuse_unknown(query, known, self._table.classes)
        self._asked += 1
        self._account.spend(f"query {self._asked}", LAPLACE, epsilon)
        return int(matching(self._table, query).sum()) + int(self._noise.laplace(1 / epsilon, 1)[0])


def matching(table: CodedTable, query: Count) -> NDArray[np.bool_]:
    """Which records a query counts: the truth, for the curator's eyes."""
    found = np.ones(table.records, dtype=bool)
    for column in table.columns:
        node = query.where.get(column.name)
        if node is None:
            continue
        if column.sets is None:
            found &= (column.codes >= node.lo) & (column.codes < node.hi)
        else:
            inside = (column.sets.items >= node.lo) & (column.sets.items < node.hi)
            found &= np.logical_or.reduceat(inside, column.sets.starts[:-1])[column.codes]
    if query.classes:
        found &= np.isin(table.class_codes, [table.classes.index(name) for name in query.classes])
    return found


def estimate(table: NoisyTable, query: Count) -> float:
    """What a release says: leaves that overlap count by the share of their values that is asked for."""
    _refuse_unknown(query, {p.name for p in table.predictors}, table.classes)
    share = np.ones(table.leaves)
    for at, predictor in enumerate(table.predictors):
        node = query.where.get(predictor.name)
        if node is None:
            continue
        if predictor.name in table.node_sets:
            of_label = [
                max((_share(n, node) for n in nodes), default=0.0)
                for nodes in table.node_sets[predictor.name]
            ]
        else:
            of_label = [_share(n, node) for n in table.cuts[at]]
        share *= np.array(of_label)[table.positions[:, at]]
    wanted = [at for at, name in enumerate(table.classes) if not query.classes or name in query.classes]
    return float(share @ table.counts[:, wanted].sum(axis=1))


def _share(node: Node, asked: Node) -> float:
    """The share of a node's values that lie under another."""
    return max(min(node.hi, asked.hi) - max(node.lo, asked.lo), 0) / node.leaves


def _refuse_unknown(query: Count, names: set[str], classes: tuple[Value, ...]) -> None:
    if unknown := sorted(set(query.where) - names):
        raise InputError(*(f"{name}: the query names a column that is not a predictor" for name in unknown))
    if not set(query.classes) <= set(classes):
        raise InputError("the query names a class that was not declared")
