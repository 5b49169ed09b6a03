"""Noisy tables as attackers read them: counts by cell, true ones beside them, and the mechanism run again.

Running it again costs nothing, for nothing leaves: the steward does it at home, and nobody sees the counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.attackers.attack import NotTriedError
from privet.attackers.scene import Scene, Target
from privet.domain import Node
from privet.dp.coded import CodedTable
from privet.dp.noise import NoiseSource, production
from privet.dp.noisytable import NoisyTable
from privet.dp.settings import COUNT, Public, Settings, epsilon_of, public
from privet.errors import InputError
from privet.roads.noisy.comparison import apply_cut
from privet.roads.noisy.road import coded, settings_of
from privet.roads.stations import in_frame, settle

Cell = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Game:
    """A mechanism that can be run on the data, and on the data without somebody."""

    settings: Settings
    known: Public = field(repr=False)
    table: CodedTable = field(repr=False)
    epsilon: Fraction
    noise: NoiseSource = field(repr=False)

    @classmethod
    def of(cls, scene: Scene) -> Game:
        policy: Any = scene.target.policy
        known = public(policy)
        form = settle(scene.raw, policy.form)
        data = in_frame(scene.engine, scene.engine.read(scene.raw, form, known.columns, empty=True))
        settings = settings_of(policy)
        table = coded(data, known)
        if any(column.sets is not None for column in table.columns):
            raise NotTriedError("it is tried without columns of sets")
        if not table.records:
            raise NotTriedError("there is nobody in the data")
        return cls(settings, known, table, epsilon_of(policy), production(settings.noise.value))

    def draw(self, table: CodedTable) -> NoisyTable:
        """The mechanism, run once, and paid by nobody: its outcome does not leave."""
        return self.settings.draw(table, self.epsilon, self.noise).table

    def without(self, person: int) -> CodedTable:
        """The data without one record."""
        kept = np.arange(self.table.records) != person
        columns = tuple(replace(column, codes=column.codes[kept]) for column in self.table.columns)
        return replace(self.table, columns=columns, class_codes=self.table.class_codes[kept])

    def leaf(self, made: NoisyTable, person: int) -> NDArray[np.int64]:
        """The noisy counts, by class, of the leaf that a person would be in."""
        inside = np.ones(made.leaves, dtype=bool)
        for at, column in enumerate(self.table.columns):
            mine, _ = _node(made, at, int(column.codes[person]))
            inside &= made.positions[:, at] == mine
        counts: NDArray[np.int64] = made.counts[inside].sum(axis=0)
        return counts

    def others(self, made: NoisyTable, person: int) -> int:
        """How many others are in that leaf, with the person's own class: the attacker knows them all."""
        alike = self.table.class_codes == self.table.class_codes[person]
        for at, column in enumerate(self.table.columns):
            _, node = _node(made, at, int(column.codes[person]))
            alike &= (column.codes >= node.lo) & (column.codes < node.hi)
        return int(alike.sum()) - 1

    def rarest(self, many: int) -> list[int]:
        """The people who stand out most: those whose values are rarest, one after the other."""
        weight = np.zeros(self.table.records)
        for codes in (*(column.codes for column in self.table.columns), self.table.class_codes):
            weight += np.log(np.bincount(codes)[codes])
        found: list[int] = np.argsort(weight, kind="stable")[:many].tolist()
        return found


def _node(made: NoisyTable, column: int, code: int) -> tuple[int, Node]:
    """The node of a cut that a code is below, and its number."""
    return next((at, node) for at, node in enumerate(made.cuts[column]) if node.lo <= code < node.hi)


def cells(target: Target) -> dict[Cell, int]:
    """The published counts by cell; a cell that is not named counts nothing."""
    frame = target.data
    names = [name for name in frame.columns if name != COUNT]
    rows = frame.select(names).rows()
    counts = frame.get_column(COUNT).to_list()
    return {
        tuple(None if v is None else str(v) for v in row): int(n) for row, n in zip(rows, counts, strict=True)
    }


def true_cells(target: Target, table: CodedTable, known: Public) -> dict[Cell, int]:
    """The counts of the same cells in the data itself."""
    if target.evidence is None:
        raise InputError("this release has no evidence")
    frame = apply_cut(table, known, target.evidence)
    names = [name for name in target.data.columns if name != COUNT]
    found: dict[Cell, int] = {}
    for row in frame.select(names).rows():
        cell = tuple(None if v is None else str(v) for v in row)
        found[cell] = found.get(cell, 0) + 1
    return found
