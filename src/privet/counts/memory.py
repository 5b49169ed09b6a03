"""Counts that may be seen: those of a tally that is all here, and what is decided of such counts.

The tally's own are the first that answer, and the ones that others are measured by. Whoever else can show
numbers (a cluster, a leader among parties) decides with the same code: which split is best, and whether it
keeps every promise.

`information-gain` serves classification: what does the split tell about the target? `discernibility`
serves general analysis: how large are the groups that it would break up? `gain-per-loss` is the score
of top-down specialisation for k-anonymity (Fung, Wang and Yu, ICDE 2005), kept as a baseline.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.core import Column, Nulls, PrivacyModel, Tally
from privet.counts.boxing import CellBoxes
from privet.counts.door import Candidate, Counts, Indexes, Ints, OpenCounts, Rungs, Score, order
from privet.counts.lookahead import Gains, TableGains, bounds_of, keeps, telling
from privet.counts.partition import Partition
from privet.counts.people import People
from privet.counts.rollup import Rollups
from privet.declared import spoken
from privet.domain import Cut, Node
from privet.errors import InternalError
from privet.models.linkage import LinkageCheck, LinkageModel
from privet.recoding import Generalization, Recoding
from privet.sidebyside import side_by_side

WORTH_THREADS = 100_000  # cells; fewer are counted sooner than threads for them have started


def counted(data: Tally | Counts) -> Counts:
    """What a search asks: a tally's own counts, or whoever answers instead."""
    return InMemory(data) if isinstance(data, Tally) else data


class InMemory:
    """A tally's counts."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    @cached_property
    def heading(self) -> Tally:
        return heading(self._tally)

    @property
    def records(self) -> int:
        return self._tally.records

    def histograms(self, columns: Sequence[str], by: str | None = None) -> list[Ints]:
        counts = self._tally.counts
        single = bool((counts == 1).all())  # then there is nothing to weigh
        other = None if by is None else self._column(by)

        def histogram(column: Column) -> Ints:
            codes: NDArray[Any] = column.codes
            shape: tuple[int, ...] = (column.domain.size,)
            if other is not None:
                codes = codes.astype(np.intp) * other.domain.size + other.codes
                shape = (column.domain.size, other.domain.size)
            # with weights bincount adds doubles, which are exact for whole numbers below 2**53
            made = np.bincount(codes, weights=None if single else counts, minlength=int(np.prod(shape)))
            return made.astype(np.int64, copy=False).reshape(shape)

        if self._tally.cells <= WORTH_THREADS:
            return [histogram(self._column(name)) for name in columns]
        return side_by_side([partial(histogram, self._column(name)) for name in columns])

    def beyond_reach(self, models: Sequence[PrivacyModel]) -> tuple[str, ...]:
        return beyond_reach(self, models)

    def cutting(self, score: Score, models: Sequence[PrivacyModel]) -> OpenCutting:
        return OpenCutting(self, score, models, records=self._having)

    def _having(self, protected: Sequence[tuple[int, int]]) -> list[int]:
        names = [column.name for column in self._tally.sensitive]
        by_code = dict.fromkeys(at for at, _ in protected)
        found = dict(zip(by_code, self.histograms([names[at] for at in by_code]), strict=True))
        return [int(found[at][code]) for at, code in protected]

    def leaves(self, protected: Sequence[tuple[int, int]], *, needed: bool) -> Partition:
        masks = [self._tally.sensitive[column].codes == code for column, code in protected]
        return Partition(self._tally, masks, needs_leaves=needed)

    def grouping(self, ladders: Sequence[Rungs], sensitive: Sequence[str]) -> Rollups:
        return Rollups(self._tally, ladders, sensitive)

    def boxing(self, sensitive: Sequence[str]) -> CellBoxes:
        return CellBoxes(self._tally, sensitive)

    def published(self, recoding: Recoding) -> Tally:
        return recoding.recode(self._tally)

    def _column(self, name: str) -> Column:
        column = self._tally.column(name)
        if column is None:
            raise InternalError("a search asks for columns that the heading names")
        return column


def heading(tally: Tally) -> Tally:
    """A tally's names and domains without a single cell."""
    return tally.where(np.zeros(tally.cells, dtype=bool))


class OpenCutting:
    """The table under its cuts, and all that is decided about the next split."""

    def __init__(
        self,
        counts: OpenCounts,
        score: Score,
        models: Sequence[PrivacyModel],
        gains: Gains | None = None,
        *,
        records: Callable[[Sequence[tuple[int, int]]], list[int]] | None = None,
    ) -> None:
        """`gains`: who says what splits tell about the target; where nobody is named, histograms do.

        `records`: how many have each of some protected values, where that costs nothing and may be known.
        """
        heading = counts.heading
        self._counts = counts
        self._score = score
        ahead = heading.nulls is Nulls.VALUE and not heading.across
        looked_ahead = [m for m in models if isinstance(m, LinkageModel) and ahead]
        bounds, protected = bounds_of(heading, [model.linkage() for model in looked_ahead])
        if records is not None:
            bounds, protected = telling(bounds, protected, records(protected))
        self._bounds = [(model.name, bound) for model, bound in zip(looked_ahead, bounds, strict=True)]
        self._others = [model for model in models if model not in looked_ahead]
        needed = score is not Score.INFORMATION_GAIN or any(b.l >= len(b.attributes) for b in bounds)
        self._leaves = counts.leaves(protected, needed=needed)
        self._people: People | None = None
        if heading.person is not None and looked_ahead:
            self._people = People(counts.published(Generalization({})), protected)
            self._classes_only = {model.name for model in looked_ahead if model.linkage().l is None}
        self._gains = gains
        if gains is None and heading.target is not None:
            names = [column.name for column in heading.quasi]
            self._gains = TableGains(counts.histograms(names, heading.target.name))
        self._costs: list[NDArray[np.float64]] = []
        self._lowered: dict[Candidate, float] = {}  # as the leaves stand
        self._as_of = -1
        self._cuts: list[dict[int, Node]] = [{0: column.domain.root} for column in heading.quasi]

    def best(self, candidates: Sequence[Candidate]) -> tuple[int, float | None]:
        # Of a unary chain two candidates have the same range: the first stays ahead.
        if self._score is Score.DISCERNIBILITY:
            return self._most_discernible(candidates)
        if self._gains is None:
            raise InternalError("a gain is about a target")
        scores = self._gains.of(candidates)
        if self._score is Score.GAIN_PER_LOSS:
            losses = self._losses(candidates)
            scores = [gain / (lost + 1) for gain, lost in zip(scores, losses, strict=True)]
        at = min(range(len(candidates)), key=lambda at: (-scores[at], order(candidates[at])))
        return at, scores[at]

    def breaks(self, candidate: Candidate) -> str | None:
        for name, bound in self._bounds:
            if candidate.attribute not in bound.attributes:
                continue
            if self._people is not None:
                if not self._people.keeps(candidate, bound, whole=name in self._classes_only):
                    return name
            else:
                ahead = self._leaves.ahead([candidate])[0]
                if not keeps(ahead, self._leaves.width, candidate, bound):
                    return name
        if self._others:
            # No look-ahead for these: tally the table as it would be, and ask the model.
            after = self._counts.published(self._recoding(candidate))
            for model in self._others:
                if not model.check(after).holds:
                    return model.name
        return None

    def places(self, attribute: int, node: Node, places: Indexes) -> list[int]:
        if self._gains is not None:
            return self._gains.places(attribute, node, places)
        along = self._leaves.along(attribute, node) if len(places) else None
        if along is None:
            return [int(place) for place in places]
        leaf, code, records = along
        # Walk through each leaf by code: what moves from the right part to the left changes both squares.
        count = records.astype(np.float64)
        left = np.cumsum(count) - count
        starts = np.flatnonzero(np.diff(leaf, prepend=-1))
        run = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(leaf))))
        left -= left[starts][run]
        right = np.add.reduceat(count, starts)[run] - left
        change = 2 * count * (left - right + count)
        cost = np.cumsum(np.bincount(code - node.lo, weights=change, minlength=node.leaves))
        return [int(place) for place in places[np.argsort(cost[places - node.lo - 1], kind="stable")]]

    def split(self, candidate: Candidate) -> list[int]:
        positions = self._leaves.split(candidate)
        if self._people is not None:
            self._people.split(candidate, positions)
        cut = self._cuts[candidate.attribute]
        cut.update(zip(positions, candidate.children, strict=True))
        return positions

    def _recoding(self, candidate: Candidate) -> Generalization:
        """The cuts as they would stand after one more split."""
        cuts = {}
        for at, (column, cut) in enumerate(zip(self._counts.heading.quasi, self._cuts, strict=True)):
            nodes = dict(cut)
            if candidate.attribute == at:
                del nodes[candidate.position]
                nodes.update({-1 - i: child for i, child in enumerate(candidate.children)})
            cuts[column.name] = Cut(column.domain, tuple(sorted(nodes.values(), key=lambda n: n.lo)))
        return Generalization(cuts)

    def _most_discernible(self, candidates: Sequence[Candidate]) -> tuple[int, float]:
        """Largest cost: the sum of squared sizes of the leaves that the split would break up.

        Every split changes the cost of others, so it is added up again after each; ties go to the
        split that lowers the cost most.
        """
        if self._as_of != self._leaves.splits_made:  # dropping a candidate changes no cost
            squares = self._leaves.size.astype(np.float64) ** 2
            self._costs = [
                np.bincount(position, weights=squares, minlength=width).astype(np.float64, copy=False)
                for position, width in zip(self._leaves.position, self._leaves.width, strict=True)
            ]
            self._lowered.clear()
            self._as_of = self._leaves.splits_made
        scores = [float(self._costs[c.attribute][c.position]) for c in candidates]
        top = max(scores)
        tied = [at for at, score in enumerate(scores) if score == top]
        if len(tied) > 1:
            lowered = self._reductions(top, [candidates[at] for at in tied])
            ranks = {at: (-less, order(candidates[at])) for at, less in zip(tied, lowered, strict=True)}
            tied.sort(key=ranks.__getitem__)
        return tied[0], top

    def _reductions(self, cost: float, candidates: Sequence[Candidate]) -> list[float]:
        """How much less the leaves that each of these splits breaks up would cost.

        Of a table of many columns most are tied, and most are dropped one after the other: nothing is split
        by that, so they are looked at once.
        """
        new = [candidate for candidate in candidates if candidate not in self._lowered]
        for candidate, found in zip(new, self._leaves.ahead(new), strict=True):
            self._lowered[candidate] = float((found.count.astype(np.float64) ** 2).sum())
        return [cost - self._lowered[candidate] for candidate in candidates]

    def _losses(self, candidates: Sequence[Candidate]) -> list[int]:
        """By how many records the smallest group would shrink."""
        size, found = self._leaves.size, []
        before = int(size.min())
        for candidate, ahead in zip(candidates, self._leaves.ahead(candidates), strict=True):
            others = self._leaves.position[candidate.attribute] != candidate.position
            untouched = int(size[others].min(initial=before)) if others.any() else before
            after = int(ahead.count.min(initial=before))
            found.append(before - min(untouched, after) if others.any() else before - after)
        return found


def beyond_reach(counts: OpenCounts, models: Sequence[PrivacyModel]) -> tuple[str, ...]:
    """Which promises even the coarsest table breaks, and what could be promised instead."""
    heading = counts.heading
    top = counts.published(Generalization({c.name: Cut(c.domain, (c.domain.root,)) for c in heading.quasi}))
    complaints: list[str] = []
    for model in models:
        if model.check(top).holds:
            continue
        if isinstance(model, LinkageCheck):
            complaints += model.shortfalls(top)
        else:
            complaints.append(
                f"{spoken(model)} cannot be kept; the nearest feasible is {spoken(model.nearest(top))}"
            )
    return tuple(complaints)
