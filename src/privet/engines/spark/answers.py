"""Counts that stay on the cluster: the same door as a tally in memory, and one job for each question.

Where a table has more combinations than fit on one machine, the searches that ask through
`privet.counts.door` still run: what comes here are sums over classes, leaves and boxes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from privet.core import Column, PrivacyModel, Tally
from privet.counts.door import Ints, Rungs, Score
from privet.counts.memory import beyond_reach
from privet.engines.spark.boxing import ClusterBoxes
from privet.engines.spark.cells import COUNT, Answer, Cells, Key, Question
from privet.engines.spark.classes import ClusterClasses
from privet.engines.spark.jobs import all_told, functions
from privet.engines.spark.leaves import ClusterCutting, ClusterLeaves
from privet.engines.spark.placement import BOX, Placement
from privet.errors import InternalError
from privet.recoding import Generalization, Perturbation, Recoding, Regions


@all_told("searching")
class ClusterCounts:
    """The counts of a table on the cluster."""

    def __init__(self, cells: Cells, known: Mapping[str, Ints] | None = None) -> None:
        """`known`: by column the records with each code, where that was counted before."""
        self._cells = cells
        self._known = dict(known or {})
        self._crossed: dict[Placement, list[Answer]] = {}  # by label and value; labels may be drawn anew

    @property
    def heading(self) -> Tally:
        return self._cells.heading

    @property
    def records(self) -> int:
        return self._cells.records

    def histograms(self, columns: Sequence[str], by: str | None = None) -> list[Ints]:
        cells = self._cells
        names = [cells.inside(name) for name in columns]
        if by is None:
            new = [name for name in columns if name not in self._known]
            asked = [Question([cells.plain(cells.inside(name))]) for name in new]
            for name, found in zip(new, cells.asked(asked, "counting values"), strict=True):
                made = np.zeros(cells.size(cells.inside(name)), dtype=np.int64)
                made[found.keys[0]] = found.counts
                self._known[name] = made
            return [self._known[name].copy() for name in columns]
        other = cells.plain(cells.inside(by))
        tables = []
        answers = cells.asked([Question([cells.plain(name), other]) for name in names], "counting values")
        for name, found in zip(names, answers, strict=True):
            made = np.zeros((cells.size(name), other.size), dtype=np.int64)
            made[found.keys[0], found.keys[1]] = found.counts
            tables.append(made)
        return tables

    def beyond_reach(self, models: Sequence[PrivacyModel]) -> tuple[str, ...]:
        return beyond_reach(self, models)

    def cutting(self, score: Score, models: Sequence[PrivacyModel]) -> ClusterCutting:
        return ClusterCutting(self, score, models)

    def leaves(self, protected: Sequence[tuple[int, int]], *, needed: bool) -> ClusterLeaves:  # noqa: ARG002
        return ClusterLeaves(self._cells, protected)

    def grouping(self, ladders: Sequence[Rungs], sensitive: Sequence[str]) -> ClusterClasses:
        return ClusterClasses(self._cells, ladders, sensitive)

    def boxing(self, sensitive: Sequence[str]) -> ClusterBoxes:
        return ClusterBoxes(self._cells, sensitive)

    def published(self, recoding: Recoding) -> Tally:
        """The tally of what would be published under cuts: one cell for each combination."""
        if not isinstance(recoding, Generalization):
            raise InternalError("a search asks what would be published under cuts")
        cells, made = self._cells, []
        for name, column in zip(cells.names, cells.columns, strict=True):
            cut = recoding.cuts.get(column.name)
            if cut is None or not name.startswith("q"):
                made.append((Column(column.name, column.domain, column.codes), cells.plain(name)))
                continue
            # Every code once, so that its published one can be read off.
            whole = Column(column.name, column.domain, np.arange(column.domain.size, dtype=np.uint64))
            shown = whole.recoded(cut)
            made.append((shown, Key(name, shown.domain.size, shown.codes.astype(np.int64))))
        (found,) = cells.asked([Question([key for _, key in made])], "counting what would be published")
        columns = [
            replace(column, codes=column.domain.column(codes))
            for (column, _), codes in zip(made, found.keys, strict=True)
        ]
        return self._tally(columns, found.counts)

    def _tally(self, columns: Sequence[Column], counts: Ints) -> Tally:
        heading = self.heading
        first, last = len(heading.quasi), len(heading.quasi) + len(heading.sensitive)
        return replace(
            heading,
            quasi=tuple(columns[:first]),
            sensitive=tuple(columns[first:last]),
            target=None if heading.target is None else columns[last],
            counts=counts,
        )

    # What a release says of the table as it was.

    def class_sizes(self) -> tuple[Ints, Ints]:
        """The sizes of classes as they were that occur, and how many classes have each."""
        f, cells = functions(), self._cells
        quasi = [f"q{at}" for at in range(len(self.heading.quasi))]
        sizes = cells.frame.groupBy(*quasi).agg(f.sum(COUNT).alias("size"))
        times = sizes.groupBy("size").agg(f.count(f.lit(1)).alias("times"))
        found = cells.brought(times, "counting classes by their size")
        order = np.argsort(found["size"])
        return found["size"][order], found["times"][order]

    def slices(self, recoding: Recoding) -> list[tuple[Tally, Recoding]]:
        """For each quasi-identifier its own counts, and what the recoding says of them."""
        if isinstance(recoding, Perturbation):
            raise InternalError("nothing is replaced record by record where counts stay on the cluster")
        cells, heading = self._cells, self.heading
        target = [] if heading.target is None else [cells.plain("t")]
        if isinstance(recoding, Generalization):
            questions = [Question([cells.plain(f"q{at}"), *target]) for at in range(len(heading.quasi))]
            answers = cells.asked(questions, "counting values")
            return [
                (self._slice(at, found.keys[0], found.keys[1:], found.counts), recoding)
                for at, found in enumerate(answers)
            ]
        placed = recoding.elsewhere
        if not isinstance(placed, Placement):
            raise InternalError("what is placed on the cluster is said by a placement")
        if placed not in self._crossed:
            questions = [
                Question(
                    [
                        Key(f"p{at}", len(recoding.nodes[c.name])),
                        cells.plain(f"q{at}"),
                        Key("kept", 2),
                        *target,
                    ]
                )
                for at, c in enumerate(heading.quasi)
            ]
            frame = self._with_nodes(recoding, placed)
            self._crossed[placed] = cells.asked(questions, "counting values by label", frame)
        made: list[tuple[Tally, Recoding]] = []
        for at, found in enumerate(self._crossed[placed]):
            name = heading.quasi[at].name
            nodes = recoding.nodes[name]
            mine = Regions(
                nodes={name: nodes},
                boxes={name: np.arange(len(nodes))},
                kept=None if recoding.kept is None else found.keys[2] == 1,
                of_cell=found.keys[0].astype(np.intp),
            )
            made.append((self._slice(at, found.keys[1], found.keys[3:], found.counts), mine))
        return made

    def _slice(self, at: int, codes: Ints, target: Sequence[Ints], counts: Ints) -> Tally:
        heading = self.heading
        column = heading.quasi[at]
        by = heading.target
        return replace(
            heading,
            quasi=(Column(column.name, column.domain, column.domain.column(codes)),),
            sensitive=(),
            target=None if by is None else Column(by.name, by.domain, by.domain.column(target[0])),
            counts=counts,
        )

    def _with_nodes(self, recoding: Regions, placed: Placement) -> Any:
        """The cells with the node of each attribute that their box has, and whether the box leaves."""
        import pyarrow as pa  # noqa: PLC0415 - comes with pyspark

        f, cells = functions(), self._cells
        boxes = [np.asarray(recoding.boxes[c.name], dtype=np.int64) for c in self.heading.quasi]
        many = len(boxes[0])
        kept = np.ones(many, dtype=np.int64) if recoding.kept is None else recoding.kept.astype(np.int64)
        columns = {f"p{at}": box for at, box in enumerate(boxes)}
        table = pa.table({f"{BOX}_": np.arange(many), "kept": kept, **columns})
        small = f.broadcast(cells.staging.sent(cells.session, table))
        return placed.frame.join(small, f.col(BOX) == f.col(f"{BOX}_"), "inner").drop(f"{BOX}_")
