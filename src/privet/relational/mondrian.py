"""Mondrian: cut the box of all records at a median, again and again, while both parts keep every promise.

LeFevre, DeWitt and Ramakrishnan, "Mondrian multidimensional k-anonymity", ICDE 2006. The widest attribute of
a box is tried first, then the next, until one has a valid cut; a box without one is published.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import ClassVar

import numpy as np

from privet.core import Algorithm, Finding, Progress, Tally, Terms, silent
from privet.counts.door import Boxing, Counts, Indexes, Ints
from privet.counts.memory import counted
from privet.declared import settle
from privet.domain import Domain, Node, plain
from privet.errors import PolicyError
from privet.recoding import Regions
from privet.relational import suits
from privet.relational.axis import Axis
from privet.relational.boxes import Boxes
from privet.relational.coded import codes, refuse_coded
from privet.relational.judge import Judge, need_classes_that_merge
from privet.relational.objective import check_weights, shares
from privet.relational.ranges import keeps_nodes, labelled, labels_of
from privet.relational.suits import raise_unsatisfiable, refuse_beyond_reach


class Cuts(Enum):
    """Where a box may be cut; what allows most first."""

    RANGES = "ranges"  # between any two values, in leaf order
    LEVELS = "levels"  # so where it is flat, or values follow each other; along it where it names kinds
    HIERARCHY = "hierarchy"  # between children of the lowest node above the whole box

    def follows(self, domain: Domain) -> bool:
        """Are the labels of this attribute nodes of its hierarchy? Values never told apart have no others."""
        if self is Cuts.LEVELS:
            return keeps_nodes(domain)
        return self is Cuts.HIERARCHY or codes(domain)


class Choice(Enum):
    """Which of the valid cuts is taken."""

    MEDIAN = "median"  # the parts are as even as possible
    BEST = "best"  # the parts lose least in the attribute that is cut


class Output(Enum):
    """How a box is published."""

    RANGES = "ranges"  # from its smallest to its largest value, rounded outward to what is public
    HIERARCHY = "hierarchy"  # the lowest node of the hierarchy above all its values
    LEVELS = "levels"  # so where a hierarchy names kinds; as a range or a set of names where it does not
    MEANS = "means"  # numbers as the mean over the box, everything else as ranges


@dataclass(frozen=True, slots=True)
class Mondrian(Algorithm):
    """Boxes of records, cut at medians as long as every part keeps the promises.

    Strict: equal values stay together. Relaxed: records with the value at which a box is cut may go to either
    side, which makes boxes more even; records that agree in everything stay together even so.
    """

    relaxed: bool = False
    cuts: Cuts = Cuts.RANGES
    choice: Choice = Choice.MEDIAN
    output: Output | None = None  # None: as the cuts are
    weights: Mapping[str, float] = field(default_factory=dict, compare=False)

    name: ClassVar[str] = "mondrian"
    asks: ClassVar[bool] = True
    persons: ClassVar[bool] = True
    across: ClassVar[bool] = False  # rows of one person would have to be put together

    def __post_init__(self) -> None:
        settle(self)
        check_weights(self.weights)
        if self.relaxed and (self.cuts is not Cuts.RANGES or self.choice is Choice.BEST):
            raise PolicyError(
                'relaxed cuts in the middle, wherever that is; use cuts = "ranges" and choice = "median"'
            )

    @property
    def draws_boxes(self) -> bool:
        return True

    def named(self) -> Mapping[str, Collection[str]]:
        return {"weights": self.weights}

    def complaints(self, policy: Terms) -> list[str]:
        persons = policy.person is not None
        wrong = suits.merges(self.name, policy.models, policy.nulls, suits.quasi_of(policy), persons=persons)
        return [f"algorithm: {complaint}" for complaint in wrong]

    def search(self, data: Tally | Counts, policy: Terms, progress: Progress = silent) -> Finding:
        counts = counted(data)
        heading = counts.heading
        if self._output in {Output.RANGES, Output.MEANS}:  # where values are coded there are levels
            refuse_coded(f'{self.name} without output = "hierarchy"', heading)
        judge = Judge(counts, policy.models, of_persons=True)
        if heading.person is not None:
            refuse_beyond_reach(counts, policy.models)
        need_classes_that_merge(self.name, judge, heading, policy.models)
        if heading.person is None and not judge.holds_for_all():
            raise_unsatisfiable(counts, policy.models)
        progress("search", 0)
        table = counts.boxing(judge.sensitive)
        return Finding(self._published(heading, table, self.boxes(heading, table, judge)))

    @property
    def _output(self) -> Output:
        return self.output or Output(self.cuts.value)

    def boxes(self, heading: Tally, table: Boxing, judge: Judge) -> Boxes:
        """The partition itself."""
        axes = [Axis.of(column.domain, hierarchy=self._follows(column.domain)) for column in heading.quasi]
        weights = np.array(shares([column.name for column in heading.quasi], self.weights))
        boxes = Boxes(table, judge, axes, weights, best=self.choice is Choice.BEST, relaxed=self.relaxed)
        boxes.run()
        return boxes

    def _follows(self, domain: Domain) -> bool:
        """Is this attribute cut along its hierarchy?"""
        return self.cuts is not Cuts.RANGES and self.cuts.follows(domain)

    def _published(self, heading: Tally, table: Boxing, boxes: Boxes) -> Regions:
        output = self._output
        nodes: dict[str, tuple[Node, ...]] = {}
        positions: dict[str, Indexes] = {}
        lows, highs = boxes.extremes
        for at, column in enumerate(heading.quasi):
            low, high = lows[:, at], highs[:, at]
            if output is Output.MEANS and column.domain.scale is not None:
                labels, of_box = _means(column.domain, *table.closed_histogram(at), low, high)
            else:
                along = output is Output.HIERARCHY or (output is Output.LEVELS and keeps_nodes(column.domain))
                labels, of_box = labels_of(column.domain, low, high, along=along)
            nodes[column.name] = tuple(labels)
            positions[column.name] = of_box
        return table.recoding(nodes, positions)


def _means(  # noqa: PLR0917 - a histogram by box, and the ends of each
    domain: Domain, box: Indexes, code: Indexes, records: Ints, low: Indexes, high: Indexes
) -> tuple[list[Node], Indexes]:
    """The mean number of each box as its label; a box with nulls is published as its range."""
    numbers = [Fraction(number) for number in domain.scale.numbers] if domain.scale is not None else []
    made: list[Node] = []
    ends = np.searchsorted(box, np.arange(len(low) + 1))
    for at in range(len(low)):
        some = slice(int(ends[at]), int(ends[at + 1]))
        if int(high[at]) >= len(numbers):
            made.append(labelled(domain, int(low[at]), int(high[at])))
            continue
        total = sum(
            numbers[c] * int(n) for c, n in zip(code[some].tolist(), records[some].tolist(), strict=True)
        )
        mean = total / int(records[some].sum())
        text = plain(round(Decimal(mean.numerator) / Decimal(mean.denominator), 6))
        made.append(Node(text, int(low[at]), int(high[at]) + 1))
    return made, np.arange(len(low))
