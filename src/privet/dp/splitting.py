"""Where DiffGen's counts come from and where its splits are made: the source of the top-down loop."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from privet.counts.door import Candidate, Ints
from privet.counts.live import Grid, LiveCounts
from privet.domain import Node
from privet.dp.budget import LAPLACE, Search
from privet.dp.coded import CodedTable
from privet.dp.histogram import Histogram
from privet.dp.leaves import Leaves, NodeSet
from privet.dp.publicdomain import ItemSets, Numbers
from privet.dp.records import Records
from privet.dp.scores import Scoring
from privet.dp.sets import Subsets, Threshold, survivors, threshold
from privet.dp.setsplit import SetSplit
from privet.dp.tail import uniform
from privet.errors import InternalError


class Splitter:
    """The table under its cuts. What may be split depends on public things and earlier answers only."""

    def __init__(
        self,
        table: CodedTable,
        score: Scoring,
        search: Search,
        kept: Threshold = Threshold.DEVIATION,
        live: LiveCounts | None = None,
    ) -> None:
        """Of the table only what is public is looked at; `live` answers for its records, or they do."""
        self._table = table
        self._live = live or Records(table)
        self._score = score
        self._search = search
        self._threshold = kept
        domains = [column.predictor.domain for column in table.columns]
        self._relational = [at for at, d in enumerate(domains) if not isinstance(d, ItemSets)]
        self._sets = [at for at, d in enumerate(domains) if isinstance(d, ItemSets)]
        self.cuts: list[list[Node]] = [[domain.root] for domain in domains]
        self.leaves = Leaves(
            [domains[at].size for at in self._relational], [domains[at].root for at in self._sets]
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

    def scores(self, candidates: Sequence[Candidate]) -> Ints:
        """What the splits are worth on the live records; sensitive, for the mechanism's eyes only."""
        new = [candidate for candidate in candidates if candidate not in self._scores]
        for candidate, counts in zip(new, self.child_counts(new), strict=True):
            self._scores[candidate] = int(self._score.of(counts))
        return np.array([self._scores[candidate] for candidate in candidates], dtype=np.int64)

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
        self._ask([at])
        regions = self._histograms[at].regions(node.lo, node.hi)
        chosen = self._search.noise.choose(
            self._score.of(regions.counts), self._search.temperature, regions.length
        )
        place = int(regions.first[chosen]) + uniform(self._search.noise, int(regions.length[chosen]))
        yield Candidate(at, node, (domain.node(node.lo, place), domain.node(place, node.hi)), 0)

    def _split_sets(self, candidate: Candidate) -> None:
        """Replace a node by subsets of its children in every leaf that has it; drop what seems empty."""
        column, at = self._table.columns[candidate.attribute], candidate.attribute
        subsets = self._subsets(candidate)
        split = SetSplit(self.leaves, self.begins(), (at, self._sets.index(at)), subsets)
        if not split.parts:
            return  # every leaf with this node was dropped: nothing to test, nothing to pay
        purpose = f"which of {split.parts:,} subsets of {column.name} have records"
        self._search.pay(purpose, LAPLACE, disjoint=True)
        least = threshold(self._threshold, self._search.step, subsets.number)
        counts = self._live.partitions(split.parting)
        split.keep(survivors(self._search.noise, counts, self._search.step, least), self._live)
        self._histograms.clear()  # they count live records only
        self._scores.clear()

    # counts

    def child_counts(self, candidates: Sequence[Candidate]) -> list[Ints]:
        """The class counts of the children that each split would make; what is missing is asked at once."""
        self._ask([c.attribute for c in candidates if c.attribute not in self._sets])
        of_sets: dict[Candidate, Ints] = {}
        for at in self._sets:
            mine = [candidate for candidate in candidates if candidate.attribute == at]
            found = self._live.subsets(at, [candidate.node for candidate in mine]) if mine else []
            for candidate, counts in zip(mine, found, strict=True):
                most = int(self._subsets(candidate).masks.max())
                of_sets[candidate] = counts[1 : most + 1]  # without those that have no item under the node
        return [
            of_sets[c]
            if c in of_sets
            else np.stack([self._histograms[c.attribute].within(child.lo, child.hi) for child in c.children])
            for c in candidates
        ]

    def _subsets(self, candidate: Candidate) -> Subsets:
        domain = self._table.columns[candidate.attribute].predictor.domain
        if not isinstance(domain, ItemSets):
            raise InternalError("only a column of sets has subsets")
        return Subsets.of(domain, candidate.node)

    def _ask(self, columns: Sequence[int]) -> None:
        """Have the histograms of these columns at hand."""
        new = [at for at in dict.fromkeys(columns) if at not in self._histograms]
        for at, found in zip(new, self._live.histograms(new), strict=True):
            self._histograms[at] = Histogram.of(*found)

    # the end

    def counted(self) -> tuple[Grid, Ints]:
        """All leaves, and the records of each class in each of them."""
        grid = self.leaves.grid(self.begins())
        return grid, self._live.leaves(grid)

    def positions(self, grid: Grid) -> Ints:
        """For each leaf and column, which node of the cut, or which node set, it has."""
        found = np.zeros((grid.number, len(self.cuts)), dtype=np.int64)
        found[:, self._relational] = grid.rank
        found[:, self._sets] = self.leaves.frames.sets[grid.frame]
        return found

    def shape(self, grid: Grid) -> dict[str, Any]:
        """What a noisy table says of the leaves, beside their counts."""
        return {
            "cuts": tuple(tuple(cut) for cut in self.cuts),
            "node_sets": self.node_sets(),
            "positions": self.positions(grid),
            "target": self._table.target,
            "classes": self._table.classes,
        }

    def node_sets(self) -> dict[str, tuple[NodeSet, ...]]:
        """The node sets of each column of sets, as numbered in `positions`."""
        return {
            self._table.columns[at].name: tuple(self.leaves.node_sets[which])
            for which, at in enumerate(self._sets)
        }
