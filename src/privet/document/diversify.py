"""Two trees become one: `pair` of the literature, on a representative and a record.

A `Representative` is the tree that all members of a class will be published as: generalised labels, and
for each vertex which vertex of each member stands behind it, so that everybody gets their own sensitive
values back. Whatever has no counterpart is cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.document import plain
from privet.document.compiled import Compiled
from privet.document.cost import Prices, Tariff, tariff
from privet.document.forest import NONE, Forest, Ints, ends_of
from privet.document.mapping import Mapping
from privet.document.taxonomy import Taxonomy, taxonomy

Weights: TypeAlias = Literal["literal", "members"]
ANYTHING = 1 << 30  # so many equal sensitive values are allowed when only k-anonymity is asked for
WORTH_SHARING = 64  # candidates; for fewer, waking a second thread costs more than it brings


@dataclass(frozen=True, eq=False)
class Representative:
    """The published tree of a class, in preorder; `aligned[v, j]` is the vertex of member j behind v."""

    kinds: Ints = field(repr=False)
    parents: Ints = field(repr=False)
    ends: Ints = field(repr=False)
    nodes: Ints = field(repr=False)  # [vertices, quasi-identifiers], nodes of the taxonomy
    aligned: Ints = field(repr=False)  # [vertices, members], vertices of the forest
    buckets: Ints = field(repr=False)  # [vertices, members]
    loss: Prices = field(repr=False)  # by vertex: the price of its subtree in one record

    @property
    def members(self) -> int:
        return int(self.aligned.shape[1])


@dataclass(frozen=True, eq=False)
class Trees:
    """A forest made ready for comparing, and how it is compared."""

    forest: Forest = field(repr=False)
    nodes: Taxonomy = field(repr=False)
    tariff: Tariff = field(repr=False)
    mapping: Mapping = "lsap"
    weights: Weights = "literal"

    @classmethod
    def of(
        cls,
        forest: Forest,
        members: int,
        mapping: Mapping = "lsap",
        weights: Weights = "literal",
        sa_weight: Fraction = Fraction(0),
    ) -> Trees:
        """`members`: how many records a class has at most while it is compared."""
        nodes = taxonomy(forest)
        return cls(forest, nodes, tariff(forest, nodes, members, sa_weight), mapping, weights)

    def weight(self, rep: Representative) -> int:
        """How often a representative's losses count: once as in the source, or for each who is in it."""
        return 1 if self.weights == "literal" else rep.members

    def start(self, record: int) -> Representative:
        """The class of one record."""
        begin, end = self.forest.starts[record : record + 2].tolist()
        parents = self.forest.parents[begin:end]
        return Representative(
            self.forest.kinds[begin:end],
            np.where(parents == NONE, NONE, parents - begin).astype(np.int32),
            self.forest.ends[begin:end] - np.int32(begin),
            self.nodes.nodes[begin:end],
            np.arange(begin, end, dtype=np.int32)[:, None],
            self.forest.buckets[begin:end, None],
            self.tariff.loss[begin:end],
        )

    def price(self, rep: Representative, record: int, allowed: int = 1) -> int | None:
        """What it costs that a record joins; None where the roots cannot be one.

        `allowed`: how often a sensitive value may occur at a vertex of the class, the newcomer included.
        """
        (price,) = self.prices(rep, np.array([record]), allowed).tolist()
        return None if price == plain.NEVER else int(price)

    def prices(self, rep: Representative, records: NDArray[np.integer[Any]], allowed: int = 1) -> Prices:
        """The price of each record; `plain.NEVER` where the roots cannot be one."""
        compiled = Compiled.of(self, rep, allowed)
        if compiled is not None:
            return compiled.prices(self.forest.starts[records])
        both = plain.Both(self, rep, allowed)
        return np.array([both.root_price(int(root)) for root in self.forest.starts[records]], dtype=np.int64)

    @cached_property
    def counts(self) -> Prices:
        """[records, types]: how many vertices of each type a record has."""
        types = len(self.forest.schema.kinds)
        place = self.forest.records.astype(np.int64) * types + self.forest.kinds
        return np.bincount(place, minlength=len(self.forest) * types).reshape(-1, types)

    def floor(self, rep: Representative, records: NDArray[np.int64]) -> Prices:
        """A price that no record is below, quickly: labels of the roots, and vertices that are too many."""
        weight = self.weight(rep)
        more = np.bincount(rep.kinds, minlength=len(self.tariff.own)) - self.counts[records]
        lost = (np.maximum(more, 0) * weight + np.maximum(-more, 0)) @ self.tariff.own
        roots = self.nodes.nodes[self.forest.starts[records]]
        above = self.nodes.mrca(np.broadcast_to(rep.nodes[0], roots.shape), roots)
        labels = np.append(self.tariff.labels, 0)[above]  # where there is no field, the last
        floor: Prices = lost + (weight + 1) * labels.sum(axis=1)
        return floor

    def nearest(
        self,
        rep: Representative,
        records: NDArray[np.int64],
        bounds: Prices | None = None,
        threads: ThreadPoolExecutor | None = None,
        allowed: int = 1,
    ) -> int | None:
        """The record that joins at the least price, the first of equals; None where none can.

        `bounds`: prices that no record is below; raised in place to what became known.
        """
        if bounds is None:
            bounds = self.floor(rep, records)
        compiled = Compiled.of(self, rep, allowed)
        if compiled is not None:
            if len(records) < WORTH_SHARING:
                threads = None
            root = compiled.nearest(self.forest.starts[records], bounds, threads)
            return None if root is None else int(self.forest.records[root])
        both = plain.Both(self, rep, allowed)
        best = (plain.NEVER, NONE)
        for at in np.argsort(bounds, kind="stable").tolist():
            if bounds[at] > best[0] or bounds[at] == plain.NEVER:
                break
            bounds[at] = both.root_price(int(self.forest.starts[records[at]]))
            best = min(best, (int(bounds[at]), int(records[at])))
        return None if best[0] == plain.NEVER else best[1]

    def merged(self, rep: Representative, record: int, allowed: int = 1) -> Representative:
        """The class with one more member; the roots can be one, or there would be nothing left."""
        compiled = Compiled.of(self, rep, allowed)
        root = int(self.forest.starts[record])
        found = compiled.merge(root) if compiled is not None else plain.Both(self, rep, allowed).merge(root)
        of_rep, of_record, parents = found
        kinds = rep.kinds[of_rep]
        ends = ends_of(parents)
        running = np.concatenate(([0], np.cumsum(self.tariff.own[kinds])))
        return Representative(
            kinds,
            parents,
            ends,
            self.nodes.mrca(rep.nodes[of_rep], self.nodes.nodes[of_record]),
            np.column_stack((rep.aligned[of_rep], of_record)).astype(np.int32),
            np.column_stack((rep.buckets[of_rep], self.forest.buckets[of_record])).astype(np.int32),
            running[ends] - running[:-1],
        )

    def class_price(self, rep: Representative, members: Sequence[int]) -> int:
        """What a class costs in all, counted from the originals: what is gone, and what says less now."""
        before = int(self.tariff.loss[self.forest.starts[np.asarray(members, dtype=np.int64)]].sum())
        labels = int(self.tariff.labels[rep.nodes[rep.nodes != NONE]].sum())
        return before - rep.members * int(rep.loss[0]) + rep.members * labels
