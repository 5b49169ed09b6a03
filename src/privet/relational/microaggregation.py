"""Microaggregation: groups of k records that lie near each other, each published as its mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.core import Algorithm, Finding, Progress, Tally, Terms, silent
from privet.domain import Node
from privet.errors import UnsatisfiableError, UnsupportedError
from privet.models.kanonymity import KAnonymity
from privet.recoding import Regions
from privet.relational.byvalue import by_value, spread
from privet.relational.coded import refuse_coded
from privet.relational.mdav import mdav, standardised
from privet.relational.numeric import label, numbers, points, scale_of


@dataclass(frozen=True, slots=True)
class Microaggregation(Algorithm):
    """MDAV: numbers are replaced by the means of groups of at least k similar records.

    It serves k-anonymity, and other promises as far as the groups happen to keep them. Every
    quasi-identifier must be a number; none is generalised, so intervals are not needed.
    """

    name: ClassVar[str] = "microaggregation"
    why_records: ClassVar[str] = (
        "its groups are of the nearest records, and the nearest to a row are often those of the same person; "
        "give each person one row, or use mondrian or local"
    )

    def complaints(self, policy: Terms) -> list[str]:
        if any(isinstance(model, KAnonymity) for model in policy.models):
            return []
        return [f"algorithm: {self.name} makes groups of k: the policy needs k-anonymity"]

    def search(self, tally: Tally, policy: Terms, progress: Progress = silent) -> Finding:  # noqa: ARG002 - a search's form
        k = max((model.k for model in policy.models if isinstance(model, KAnonymity)), default=None)
        if k is None:
            raise UnsupportedError(f"{self.name} makes groups of k: the policy needs k-anonymity")
        refuse_coded(self.name, tally)
        if tally.records < k:
            raise UnsatisfiableError(f"there are {tally.records} records, which is fewer than k = {k}")
        # Groups are of records: a cell that stands for many may be dealt into several.
        ordered, now = by_value(tally)
        places = np.repeat(points(ordered, self.name), ordered.counts, axis=0)
        recoding = spread(_means(ordered, _whole_cells(mdav(standardised(places), k), ordered.counts)), now)
        broken = [m for m in policy.models if not m.check(recoding.recode(tally)).holds]
        if broken:
            raise UnsatisfiableError(
                *(
                    f"{model.name}: {self.name} looks at numbers only, and its groups break it"
                    for model in broken
                )
            )
        return Finding(recoding)


def _whole_cells(group_of: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """A group for each cell: groups that share a cell become one, since its records cannot be told apart."""
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    parent = list(range(int(group_of.max()) + 1))

    def top(at: int) -> int:
        while parent[at] != at:
            parent[at] = parent[parent[at]]
            at = parent[at]
        return at

    for begin, count in zip(first.tolist(), counts.tolist(), strict=True):
        for other in set(group_of[begin : begin + count].tolist()) if count > 1 else ():
            parent[top(other)] = top(int(group_of[begin]))
    return np.unique([top(at) for at in group_of[first].tolist()], return_inverse=True)[1]


def _means(tally: Tally, group_of: NDArray[np.int64]) -> Regions:
    """Each group as its mean; a node spans the values of the group, so that its loss can be told."""
    groups = int(group_of.max()) + 1
    size = np.bincount(group_of, weights=tally.counts, minlength=groups)
    nodes, positions = {}, {}
    for column in tally.quasi:
        scale = scale_of(column)
        total = np.bincount(group_of, weights=numbers(column)[column.codes] * tally.counts, minlength=groups)
        low = np.full(groups, column.domain.size)
        high = np.zeros(groups, dtype=np.intp)
        np.minimum.at(low, group_of, column.codes)
        np.maximum.at(high, group_of, column.codes)
        nodes[column.name] = tuple(
            Node(label(scale, mean), int(lo), int(hi) + 1)
            for mean, lo, hi in zip(total / size, low, high, strict=True)
        )
        positions[column.name] = group_of
    return Regions(nodes, positions)
