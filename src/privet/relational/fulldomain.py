"""What the searches over the lattice are asked: which loss, how many records may go, which levels."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from privet import effort
from privet.core import Algorithm, PrivacyModel
from privet.counts.door import Counts, Grouping
from privet.declared import settle
from privet.relational.judge import Judge, check_suppression, need_monotone
from privet.relational.lattice import Lattice, Limits, check_limits
from privet.relational.objective import Loss, check_weights


@dataclass(frozen=True, slots=True)
class FullDomain(Algorithm):
    """The parameters of a full-domain search."""

    loss: Loss = Loss.LM  # by which nodes are compared
    suppression: Fraction = Fraction(0)  # share of all records that may be dropped, 0 to 1
    weights: Mapping[str, float] = field(default_factory=dict, compare=False)
    levels: Limits = field(default_factory=dict, compare=False)

    name: ClassVar[str]

    @property
    def droppable(self) -> Fraction:
        return self.suppression

    def __post_init__(self) -> None:
        settle(self)
        check_suppression(self.suppression)
        check_weights(self.weights)
        check_limits(self.levels)

    def named(self) -> Mapping[str, Collection[str]]:
        return {"weights": self.weights, "levels": self.levels}

    def pruning(
        self, counts: Counts, models: Sequence[PrivacyModel], *, parts: bool = False
    ) -> tuple[Lattice, Grouping, Judge]:
        """What a search needs that prunes, `parts`: over all parts of the attributes.

        Promises that it would judge wrongly are refused, and a lattice whose nodes are too many to look at.
        """
        judge = Judge(counts, models, self.suppression)
        need_monotone(self.name, judge, models)
        lattice = Lattice.of(counts.heading, self.levels)
        if parts:
            effort.refuse_lattice(
                self.name, lattice.size_over_parts, "the lattices over all parts of the columns have"
            )
        else:
            effort.refuse_lattice(self.name, lattice.size)
        return lattice, counts.grouping(lattice.ladders, judge.sensitive), judge
