"""How records may be published: the family of recodings, each of which every engine can apply.

Generalization recodes values, whoever has them; regions recode boxes of records; a perturbation replaces
values record by record. What a recoding says of a column is `Shown`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.core import Column, Tally
from privet.domain import Cut, Domain, Node, Value, flat
from privet.errors import InternalError


@dataclass(frozen=True, eq=False)
class Shown:
    """How one column is published: the nodes in use, and which of them each cell has."""

    domain: Domain = field(repr=False)
    nodes: tuple[Node, ...] = field(repr=False)
    positions: NDArray[Any] = field(repr=False)
    kept: NDArray[np.bool_] | None = field(default=None, repr=False)

    @cached_property
    def used(self) -> tuple[Node, ...]:
        """The nodes that are published, each label once, in leaf order, the wider before the narrower."""
        there = {self.nodes[at].label: self.nodes[at] for at in _occurring(self.positions, self.kept)}
        return tuple(sorted(there.values(), key=lambda node: (node.lo, -node.hi)))

    @property
    def untouched(self) -> bool:
        """Is every value published as it is?"""
        return all(n.leaves == 1 and n.label == self.domain.values[n.lo] for n in self.used)


@dataclass(frozen=True)
class Generalization:
    """Global recoding: each raw value of an attribute is published as the node of the cut above it."""

    name: ClassVar[str] = "generalization"
    kept: ClassVar[None] = None  # no record is left out
    by_record: ClassVar[bool] = False

    cuts: Mapping[str, Cut]

    @property
    def nodes(self) -> Mapping[str, tuple[Node, ...]]:
        """By attribute: what its values are published as."""
        return {name: cut.nodes for name, cut in self.cuts.items()}

    def over(self, tally: Tally) -> Tally:
        """The tally in the form that this recoding speaks of."""
        return tally

    def shown(self, column: Column) -> Shown:
        cut = self.cuts[column.name]
        return Shown(cut.domain, cut.nodes, cut.positions[column.codes])

    def recode(self, tally: Tally) -> Tally:
        return replace(
            tally,
            quasi=tuple(c.recoded(self.cuts[c.name]) if c.name in self.cuts else c for c in tally.quasi),
        )


@dataclass(frozen=True, eq=False)
class Regions:
    """Local recoding into boxes: the records of each are published as its nodes, one for each attribute.

    Boxes are said without data, as ranges, and so fit other records too. Which box each cell is in belongs
    to the tally that they were found on, since boxes may overlap: `of_cell` and `kept` have an entry for each
    of its cells, or, where records of one cell may part (`by_record`), for each record in the order of
    `Tally.by_record`.
    """

    name: ClassVar[str] = "regions"

    nodes: Mapping[str, tuple[Node, ...]] = field(repr=False)  # by attribute; they may overlap
    boxes: Mapping[str, NDArray[Any]] = field(repr=False)  # by attribute: the node of each box
    kept: NDArray[np.bool_] | None = field(default=None, repr=False)  # False: suppressed; None: all stay
    by_record: bool = False
    of_cell: NDArray[Any] | None = field(default=None, repr=False)  # the box of each; None: each has its own
    # Where cells do not lie in this process: their engine's own note on which box each is in. Then there is
    # no `of_cell`, and `kept` speaks of boxes.
    elsewhere: Any = field(default=None, repr=False)

    @cached_property
    def positions(self) -> Mapping[str, NDArray[Any]]:
        """By attribute: the node of each cell."""
        if self.elsewhere is not None:
            raise InternalError("these cells are elsewhere: only their engine knows the box of each")
        if self.of_cell is None:
            return self.boxes
        return {name: of_box[self.of_cell] for name, of_box in self.boxes.items()}

    def box(self, at: int) -> dict[str, Node]:
        """A box: a range for each attribute."""
        return {name: self.nodes[name][int(of_box[at])] for name, of_box in self.boxes.items()}

    def over(self, tally: Tally) -> Tally:
        """The tally in the form that this recoding speaks of."""
        return tally.by_record() if self.by_record else tally

    def shown(self, column: Column) -> Shown:
        """How a column is published, by cell; where cells are elsewhere, by box."""
        return Shown(column.domain, self.nodes[column.name], self._places(column.name), self.kept)

    def labels_of(self, name: str) -> set[Value]:
        """The labels of a column that some published record has."""
        return {self.nodes[name][at].label for at in _occurring(self._places(name), self.kept)}

    def _places(self, name: str) -> NDArray[Any]:
        return self.positions[name] if self.elsewhere is None else self.boxes[name]

    def recode(self, tally: Tally) -> Tally:
        """What is published of a tally, in either form."""
        tally = self.over(tally) if tally.cells != tally.records else tally
        made = replace(
            tally,
            quasi=tuple(
                published(c.name, [n.label for n in self.nodes[c.name]], self.positions[c.name])
                if c.name in self.nodes
                else c
                for c in tally.quasi
            ),
        )
        return made if self.kept is None else made.where(self.kept)


@dataclass(frozen=True, eq=False)
class Perturbation:
    """Values replaced record by record: the labels in use, and which of them each record gets.

    Records stand in the order of `Tally.by_record`, once for each copy. A column that is not named leaves as
    it is.
    """

    name: ClassVar[str] = "perturbation"

    labels: Mapping[str, tuple[Value, ...]] = field(repr=False)  # by column
    positions: Mapping[str, NDArray[Any]] = field(repr=False)  # by column: the label of each record
    kept: NDArray[np.bool_] | None = field(default=None, repr=False)  # by record; None: all stay
    copies: int = 1  # how many records are published for each of the table
    by_record: ClassVar[bool] = True

    def labels_of(self, name: str) -> set[Value]:
        """The labels of a column that some published record has; none of a column that leaves as it is."""
        if name not in self.labels:
            return set()
        return {self.labels[name][at] for at in _occurring(self.positions[name], self.kept)}

    def over(self, tally: Tally) -> Tally:
        """The tally in the form that this recoding speaks of."""
        records = tally.by_record()
        if self.copies == 1:
            return records
        return records.with_columns(
            lambda c: replace(c, codes=np.tile(c.codes, self.copies)), np.tile(records.counts, self.copies)
        )

    def recode(self, tally: Tally) -> Tally:
        def made(column: Column) -> Column:
            if column.name not in self.labels:
                return column
            return published(column.name, self.labels[column.name], self.positions[column.name])

        records = self.over(tally)
        perturbed = records.with_columns(made, records.counts)
        return perturbed if self.kept is None else perturbed.where(self.kept)


Recoding: TypeAlias = Generalization | Regions | Perturbation  # a closed family; each engine applies all


def _occurring(positions: NDArray[Any], kept: NDArray[np.bool_] | None) -> list[int]:
    chosen = positions if kept is None else positions[kept]
    there = np.zeros(int(chosen.max(initial=0)) + 1, dtype=bool)  # positions are few: no need to sort rows
    there[chosen] = True
    found: list[int] = np.flatnonzero(there).tolist()
    return found


def published(name: str, labels: Sequence[Value], positions: NDArray[Any]) -> Column:
    """A column of published labels, which have no hierarchy; those that read alike are one value."""
    found = flat(tuple(dict.fromkeys(labels)))
    of_label = np.array([found.codes[label] for label in labels], dtype=np.intp)
    return Column(name, found, found.column(of_label[positions]))
