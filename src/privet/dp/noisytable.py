"""What DiffGen publishes: generalised records with noisy counts, the cuts, and the account.

Nothing in here is sensitive: every part is the output of a paid mechanism or public from the start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.core import Step
from privet.counts.live import Cuts
from privet.domain import Node, Value
from privet.dp.coded import CodedTable, ItemLists
from privet.dp.leaves import NodeSet
from privet.dp.publicdomain import Predictor
from privet.dp.sets import set_label
from privet.dp.spend import Charge, cost
from privet.errors import InternalError

Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Labels:
    """A published column: its labels, and which of them stands in each row."""

    labels: tuple[Value, ...]
    codes: NDArray[Any] = field(repr=False)

    def texts(self) -> list[Value]:
        return [self.labels[code] for code in self.codes.tolist()]


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """One row for each leaf, one noisy count for each class in it, also where there is no record."""

    predictors: tuple[Predictor, ...]
    cuts: tuple[tuple[Node, ...], ...]  # of each predictor, in leaf order
    node_sets: Mapping[str, tuple[NodeSet, ...]] = field(repr=False)  # of each column of sets
    positions: Ints = field(repr=False)  # [leaf, predictor]: which node of the cut, or which node set
    target: str
    classes: tuple[Value, ...]
    counts: Ints = field(repr=False)  # [leaf, class]; negative ones occur until they are made consistent
    scale: Fraction  # of the noise in the counts
    charges: tuple[Charge, ...]
    steps: tuple[Step, ...] = ()
    totals: Ints | None = field(default=None, repr=False)  # of each class, if they were bought
    noises: int = 1  # of that scale in every count: of two parties, each adds its own

    @property
    def leaves(self) -> int:
        return len(self.positions)

    @property
    def records(self) -> int:
        return int(self.counts.sum())

    @property
    def epsilon(self) -> Fraction:
        """What it cost in all."""
        return cost(self.charges)

    def with_counts(self, counts: Ints) -> NoisyTable:
        """The same leaves with counts that were worked on: free, for they are public already."""
        if counts.shape != self.counts.shape:
            raise InternalError("there is one count for each leaf and class")
        return replace(self, counts=counts)

    def labels(self, predictor: int) -> tuple[Value, ...]:
        """What may stand in a column, in the order of `positions`."""
        name = self.predictors[predictor].name
        if name in self.node_sets:
            return tuple(set_label(nodes) for nodes in self.node_sets[name])
        return tuple(node.label for node in self.cuts[predictor])

    def rows(self, *, zeros: bool = False) -> tuple[dict[str, Labels], Ints]:
        """The generalised table, a row for each leaf and class, and the count of each row.

        Rows that count nothing are left out unless `zeros` asks for them: the cuts say which could be.
        """
        flat = self.counts.reshape(-1)
        shown = np.arange(len(flat)) if zeros else np.flatnonzero(flat)
        leaf, class_ = np.divmod(shown, len(self.classes))
        made = {
            predictor.name: Labels(labels, _small(self.positions[:, at], len(labels))[leaf])
            for at, predictor in enumerate(self.predictors)
            for labels in (self.labels(at),)
        }
        return {**made, self.target: Labels(self.classes, _small(class_, len(self.classes)))}, flat[shown]

    def expand(self) -> dict[str, Labels]:
        """Each row as often as its count says; what a tool that knows no weights reads."""
        rows, counts = self.rows()
        if (counts < 0).any():
            raise InternalError("negative counts cannot be expanded; make them consistent first")
        return {name: Labels(column.labels, np.repeat(column.codes, counts)) for name, column in rows.items()}

    def apply_cut(self, table: CodedTable) -> dict[str, Labels]:
        """Other records, such as a test set, generalised by the same cuts; classes as they are."""
        made: dict[str, Labels] = {}
        for at, (predictor, column) in enumerate(zip(self.predictors, table.columns, strict=True)):
            if predictor.name != column.name:
                raise InternalError("a cut is applied to a table with the same predictors")
            cut = self.cuts[at]
            if column.sets is not None:
                made[predictor.name] = _generalised_sets(cut, column.codes, column.sets)
            else:
                begins = np.array([node.lo for node in cut], dtype=np.int64)
                rank = Cuts((begins,), (predictor.domain.size,)).rank(0, column.codes)
                made[predictor.name] = Labels(tuple(node.label for node in cut), rank)
        return {**made, table.target: Labels(table.classes, table.class_codes)}

    def cut_document(self) -> dict[str, Any]:
        """The cuts as plain data, for the file that goes beside the counts."""
        return {
            predictor.name: {
                "kind": predictor.domain.kind,
                "values": [_node_document(node) for node in cut],
            }
            for predictor, cut in zip(self.predictors, self.cuts, strict=True)
        }

    def account_document(self) -> dict[str, Any]:
        """Every payment and their sum, as plain data."""
        return {
            "epsilon": str(self.epsilon),
            "charges": [
                {
                    "purpose": charge.purpose,
                    "mechanism": charge.mechanism,
                    "epsilon": str(charge.epsilon),
                    "group": charge.group,
                }
                for charge in self.charges
            ],
        }


def _small(codes: Ints, size: int) -> NDArray[Any]:
    """Codes in the smallest type: a release is expanded to as many rows as there were."""
    return codes.astype(np.min_scalar_type(max(size - 1, 0)))


def _node_document(node: Node) -> dict[str, Any]:
    document: dict[str, Any] = {"label": node.label}
    if node.interval is not None:
        document["from"], document["to"] = (str(edge) for edge in node.interval)
    return document


def _generalised_sets(cut: tuple[Node, ...], codes: NDArray[Any], sets: ItemLists) -> Labels:
    """g(I): the nodes of the cut that cover at least one item."""
    begins = np.array([node.lo for node in cut], dtype=np.int64)
    node_of_item = np.searchsorted(begins, sets.items, side="right") - 1
    number: dict[tuple[int, ...], int] = {}
    of_set = []
    for start, stop in zip(sets.starts[:-1].tolist(), sets.starts[1:].tolist(), strict=True):
        nodes = tuple(sorted(set(node_of_item[start:stop].tolist())))
        of_set.append(number.setdefault(nodes, len(number)))
    labels = tuple(set_label(tuple(cut[at] for at in nodes)) for nodes in number)
    return Labels(labels, np.array(of_set, dtype=np.int64)[codes])
