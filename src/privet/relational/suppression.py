"""Plain suppression: nothing is generalised, what stands out is left out.

The baseline that every search should beat. Values leave as they are or not at all: either whole records, or
single cells first, which are published as the top of their hierarchy.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.core import Algorithm, Column, Finding, PrivacyModel, Progress, Tally, Terms, silent
from privet.counts.rollup import Rollups
from privet.declared import settle
from privet.domain import Cut, Domain, Node
from privet.errors import UnsatisfiableError
from privet.recoding import Regions
from privet.relational import suits
from privet.relational.coded import finest
from privet.relational.judge import Judge, check_suppression, need_classes_that_merge
from privet.relational.lattice import Ladder, Lattice
from privet.relational.local import Sweep
from privet.relational.objective import Loss, Objective, check_weights

Mask = NDArray[np.bool_]


class Mode(Enum):
    """What is left out first."""

    RECORDS = "records"  # every record of a class that breaks a promise
    CELLS = "cells"  # as few cells of a record as it takes; the record only where no cells help


@dataclass(frozen=True, slots=True)
class Suppression(Algorithm):
    """Values leave as they are or not at all: records, or single cells, that break a promise are left out.

    Records are dropped for any promise about each class by itself; cells need one that merging classes
    keeps, too. `suppression` is the share of all records that may be dropped.
    """

    mode: Mode = Mode.RECORDS
    suppression: Fraction = Fraction(1)
    weights: Mapping[str, float] = field(default_factory=dict, compare=False)  # what a cell is worth

    name: ClassVar[str] = "suppression"
    persons: ClassVar[bool] = True

    @property
    def droppable(self) -> Fraction:
        return self.suppression

    def __post_init__(self) -> None:
        settle(self)
        check_suppression(self.suppression)
        check_weights(self.weights)

    def named(self) -> Mapping[str, Collection[str]]:
        return {"weights": self.weights}

    def complaints(self, policy: Terms) -> list[str]:
        quasi, persons = suits.quasi_of(policy), policy.person is not None
        if persons and not suits.only_sizes(policy.models):
            wrong = [
                (
                    f"{self.name} leaves out classes of few persons, and {suits.OF_PERSONS} change with "
                    "every record that goes; use optimal, which asks for them of what is left"
                )
            ]
        elif self.mode is Mode.RECORDS:
            wrong = suits.by_class(self.name, policy.models, quasi, persons=persons)
        else:
            wrong = suits.merges(self.name, policy.models, policy.nulls, quasi, persons=persons)
        return [f"algorithm: {complaint}" for complaint in wrong]

    def search(self, tally: Tally, policy: Terms, progress: Progress = silent) -> Finding:
        if self.mode is Mode.RECORDS:
            recoding = Regions(*_as_they_are(tally, np.zeros((tally.cells, len(tally.quasi)), dtype=bool)))
        else:
            recoding = self._starred(tally, policy.models, progress)
        placed = np.ones(tally.cells, dtype=bool) if recoding.kept is None else recoding.kept
        kept = placed.copy()
        kept[placed] = self._that_keep(recoding.recode(tally), policy.models) if placed.any() else False
        dropped = tally.records - int(tally.counts[kept].sum())
        if not kept.any() or dropped > self.suppression * tally.records:
            raise UnsatisfiableError(
                f"{self.name}: {dropped} of {tally.records} records break a promise, and {self.suppression} "
                "of them may be dropped at most; generalise instead, for example with optimal or local"
            )
        return Finding(Regions(recoding.nodes, recoding.positions, None if kept.all() else kept))

    def _starred(self, tally: Tally, models: Sequence[PrivacyModel], progress: Progress) -> Regions:
        """Each record with as few cells starred as it takes to have company; nobody's where none help."""
        judge = Judge(tally, models, of_persons=True)
        need_classes_that_merge(self.name, judge, tally, models)
        # A lattice of two levels: a value, or nothing. Sweeping it finds the cheapest node for each record.
        lattice = Lattice(tuple(Ladder(c.name, (_itself(c.domain), _star(c.domain))) for c in tally.quasi))
        objective = Objective(tally, lattice, Loss.LM, self.weights)
        sweep = Sweep(tally, lattice, judge, objective, weights=self.weights)
        sweep.run(progress)
        shaped = sweep.shaped()
        placed = shaped.of_cell >= 0
        starred = np.zeros((tally.cells, len(tally.quasi)), dtype=bool)
        starred[placed] = shaped.levels[shaped.of_cell[placed]] > 0
        return Regions(*_as_they_are(tally, starred), placed)

    def _that_keep(self, tally: Tally, models: Sequence[PrivacyModel]) -> Mask:
        """The cells whose classes keep every promise, once all others are gone."""
        judge = Judge(tally, models, Fraction(1))
        if tally.person is None:
            judge.need_classes(self.name)
        lattice = Lattice(tuple(Ladder(c.name, (_itself(c.domain),)) for c in tally.quasi))
        rollups = Rollups(tally, lattice.ladders, judge.sensitive)
        bad = judge.rule(rollups, lattice.bottom).bad
        return ~bad[rollups.of_cells(lattice.bottom)]


def _itself(domain: Domain) -> Cut:
    """Every value as it stands; those that a policy never tells apart together."""
    return Cut(domain, finest(domain))


def _star(domain: Domain) -> Cut:
    """No value at all."""
    return Cut(domain, (domain.root,))


def _as_they_are(
    tally: Tally, starred: Mask
) -> tuple[dict[str, tuple[Node, ...]], dict[str, NDArray[np.intp]]]:
    """Nodes and positions of every column: the value itself, or the root where it is starred."""

    def of(column: Column, gone: Mask) -> NDArray[np.intp]:
        cut = _itself(column.domain)
        return np.where(gone, len(cut.nodes), cut.positions[column.codes].astype(np.intp))

    return (
        {c.name: (*_itself(c.domain).nodes, c.domain.root) for c in tally.quasi},
        {c.name: of(c, starred[:, at]) for at, c in enumerate(tally.quasi)},
    )
