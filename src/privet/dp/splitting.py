"""Where DiffGen's counts come from and where its splits are made: the source of the top-down loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.domain import Node
from privet.dp.budget import LAPLACE, Search
from privet.dp.coded import CodedTable
from privet.dp.histogram import Histogram, pairs
from privet.dp.leaves import Grid, Leaves, NodeSet
from privet.dp.publicdomain import ItemSets, Numbers
from privet.dp.scores import Scoring
from privet.dp.sets import Subsets, Threshold, survivors, threshold
from privet.dp.setsplit import SetSplit
from privet.dp.tail import uniform
from privet.errors import InternalError
from privet.relational.specialize import Candidate

Ints: TypeAlias = NDArray[np.int64]


class Splitter:
    """The table under its cuts. What may be split depends on public things and earlier answers only."""

    def __init__(
        self, table: CodedTable, score: Scoring, search: Search, kept: Threshold = Threshold.DEVIATION
    ) -> None:
        self._table = table
        self._score = score
        self._search = search
        self._threshold = kept
        domains = [column.predictor.domain for column in table.columns]
        self._relational = [at for at, d in enumerate(domains) if not isinstance(d, ItemSets)]
        self._sets = [at for at, d in enumerate(domains) if isinstance(d, ItemSets)]
        self.cuts: list[list[Node]] = [[domain.root] for domain in domains]
        self.leaves = Leaves(
            [table.columns[at].codes for at in self._relational],
            [domains[at].size for at in self._relational],
            [domains[at].root for at in self._sets],
            table.records,
        )
        self._histograms: dict[int, Histogram] = {}
        self._scores: dict[Candidate, int] = {}

    # what the loop asks for

    def start(self) -> Iterator[Candidate]:
        for at, column in enumerate(self._table.columns):
            root = column.predictor.domain.root
            if isinstance(column.predictor.domain, Numbers) and not root.children:
                if root.leaves > 1:
                    self._search.pay(f"first split of {column.name}")
                yield from self._halves(at, root)
            elif root.children:
                yield Candidate(at, root, root.children, 0)

    def perform(self, candidate: Candidate) -> Iterator[Candidate]:
        at = candidate.attribute
        if at in self._sets:
            self._split_sets(candidate)
        cut = self.cuts[at]
        place = next(i for i, node in enumerate(cut) if node is candidate.node)
        cut[place : place + 1] = candidate.children
        column = self._table.columns[at]
        if isinstance(column.predictor.domain, Numbers):
            wide = [child for child in candidate.children if child.leaves > 1]
            if wide:
                purpose = f"splits of {len(wide)} new intervals of {column.name}"
                self._search.pay(purpose, disjoint=len(wide) > 1)
            for child in wide:
                yield from self._halves(at, child)
        else:
            yield from (
                Candidate(at, child, child.children, 0) for child in candidate.children if child.children
            )

    def instead(self, candidate: Candidate) -> Iterable[Candidate]:  # noqa: ARG002 - nothing is dropped
        return ()

    # what the chooser and the stopper ask for

    def score(self, candidate: Candidate) -> int:
        """What the split is worth on the live records; sensitive, for the mechanism's eyes only."""
        if candidate not in self._scores:
            self._scores[candidate] = int(self._score.of(self._child_counts(candidate)))
        return self._scores[candidate]

    def cells_after(self, candidate: Candidate) -> int:
        """How many counts would be published after the split; expected, where subsets are dropped."""
        begins = self.begins()
        leaves = self.leaves.number(begins)
        if candidate.attribute in self._sets:
            subsets = len(self._subsets(candidate).masks)
            return leaves * max(subsets // 8, 1) * len(self._table.classes)
        column = self._relational.index(candidate.attribute)
        begins[column] = np.sort(np.append(begins[column], [child.lo for child in candidate.children[1:]]))
        return self.leaves.number(begins) * len(self._table.classes)

    def begins(self) -> list[Ints]:
        """Where the values of each relational cut begin."""
        return [np.array([node.lo for node in self.cuts[at]], dtype=np.int64) for at in self._relational]

    # the two kinds of split that take noise

    def _halves(self, at: int, node: Node) -> Iterator[Candidate]:
        """An interval with the place where it would be split, drawn by the exponential mechanism.

        The places between two values that occur score alike, so a run of them is drawn with its
        length as weight, and then a place in it, each equally likely: the exponential
        mechanism over all places, and no value is drawn because somebody has it.
        """
        domain = self._table.columns[at].predictor.domain
        if not isinstance(domain, Numbers) or node.leaves < 2:
            return
        regions = self._histogram(at).regions(node.lo, node.hi)
        chosen = self._search.noise.choose(
            self._score.of(regions.counts), self._search.temperature, regions.length
        )
        place = int(regions.first[chosen]) + uniform(self._search.noise, int(regions.length[chosen]))
        yield Candidate(at, node, (domain.node(node.lo, place), domain.node(place, node.hi)), 0)

    def _split_sets(self, candidate: Candidate) -> None:
        """Replace a node by subsets of its children in every leaf that has it; drop what seems empty."""
        column = self._table.columns[candidate.attribute]
        subsets = self._subsets(candidate)
        split = SetSplit(self.leaves, self.begins(), self._sets.index(candidate.attribute), subsets)
        if not split.parts:
            return  # every leaf with this node was dropped: nothing to test, nothing to pay
        purpose = f"which of {split.parts:,} subsets of {column.name} have records"
        self._search.pay(purpose, LAPLACE, disjoint=True)
        masks = self._masks(candidate)[column.codes]
        least = threshold(self._threshold, self._search.step, subsets.number)
        split.keep(survivors(self._search.noise, split.counts(masks), self._search.step, least), masks)
        self._histograms.clear()  # they count live records only
        self._scores.clear()

    # counts

    def _child_counts(self, candidate: Candidate) -> Ints:
        """The class counts of the children that the split would make."""
        histogram = self._histogram(candidate.attribute)
        if candidate.attribute not in self._sets:
            return np.stack([histogram.within(child.lo, child.hi) for child in candidate.children])
        subsets, masks = self._subsets(candidate), self._masks(candidate)
        counts = np.zeros((int(subsets.masks.max()) + 1, len(self._table.classes)), dtype=np.int64)
        np.add.at(counts, masks[histogram.codes], np.diff(histogram.before, axis=0))
        return counts[1:]  # without those that have no item under the node

    def _subsets(self, candidate: Candidate) -> Subsets:
        domain = self._table.columns[candidate.attribute].predictor.domain
        if not isinstance(domain, ItemSets):
            raise InternalError("only a column of sets has subsets")
        return Subsets.of(domain, candidate.node)

    def _masks(self, candidate: Candidate) -> Ints:
        """For each different set, the children of the node that it has items under."""
        sets = self._table.columns[candidate.attribute].sets
        if sets is None:
            raise InternalError("a column of sets is coded with its sets")
        return sets.children_of(candidate.node)

    def _histogram(self, at: int) -> Histogram:
        if at not in self._histograms:
            column = self._table.columns[at]
            size = column.predictor.domain.size if column.sets is None else len(column.sets.starts) - 1
            codes, classes, live = column.codes, self._table.class_codes, self.leaves.live()
            if live is not None:
                codes, classes = codes[live], classes[live]
            self._histograms[at] = Histogram.of(codes, classes, size, len(self._table.classes))
        return self._histograms[at]

    # the end

    def counted(self) -> tuple[Grid, Ints]:
        """All leaves, and the records of each class in each of them."""
        classes = len(self._table.classes)
        grid = self.leaves.grid(self.begins())
        live, leaf = self.leaves.place(grid)
        of_class = (
            self._table.class_codes if len(live) == self._table.records else self._table.class_codes[live]
        )
        counts = np.bincount(pairs(leaf, of_class, classes), minlength=grid.number * classes)
        return grid, counts.reshape(grid.number, classes).astype(np.int64, copy=False)

    def positions(self, grid: Grid) -> Ints:
        """For each leaf and column, which node of the cut, or which node set, it has."""
        found = np.zeros((grid.number, len(self.cuts)), dtype=np.int64)
        found[:, self._relational] = grid.rank
        found[:, self._sets] = self.leaves.frames.sets[grid.frame]
        return found

    def node_sets(self) -> dict[str, tuple[NodeSet, ...]]:
        """The node sets of each column of sets, as numbered in `positions`."""
        return {
            self._table.columns[at].name: tuple(self.leaves.node_sets[which])
            for which, at in enumerate(self._sets)
        }
