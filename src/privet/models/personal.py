"""Personalised privacy: everybody says how much about them may be learnt.

Xiao and Tao, "Personalized privacy preservation", SIGMOD 2006.

Differs from the paper: the chance of a breach is the share of the class that has a value below the guarding
node. The paper also divides by the people who might be in the class and are not in the table, which needs
a list of them; without one this is the largest that chance can be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np

from privet.core import PrivacyModel, Tally, Verdict
from privet.declared import settle
from privet.errors import HierarchyError, PolicyError
from privet.hierarchy.tree import Tree
from privet.models import persons
from privet.models.classes import Classes, attributes
from privet.models.exact import compare, exact_number, largest
from privet.models.ground import placed
from privet.models.tcloseness import nested_tree


@dataclass(frozen=True, slots=True)
class PersonalisedPrivacy(PrivacyModel):
    """For every record, at most a share `at_most` of its class has a value below the record's guarding node.

    `guard` is the column with each record's guarding node: a label of the `tree` over the sensitive values.
    Null there means that the person has nothing to hide. Both columns have the role "sensitive".

    It is not monotone: a person who guards a value may be put together with others who have it and do
    not care.

    Stops: learning that a person's value is below the node that they named.
    Does not stop: learning anything they did not name; finding their record. Who guards what is published
    too, and may be telling in itself.
    """

    at_most: Fraction
    sensitive: tuple[str, ...]
    guard: str
    tree: Mapping[str, Any] = field(compare=False)
    taxonomy: Tree = field(init=False, repr=False)

    name: ClassVar[str] = "personalised-privacy"
    persons: ClassVar[bool] = True
    monotone: ClassVar[bool] = False

    def __post_init__(self) -> None:
        settle(self)
        exact_number(f"{self.name}: at_most", self.at_most, 0, 1, above=True)
        object.__setattr__(self, "sensitive", attributes(self.name, self.sensitive))
        if len(self.sensitive) > 1:
            raise PolicyError(f"{self.name}: a tree is that of one sensitive attribute; use two models")
        object.__setattr__(self, "taxonomy", nested_tree(self.name, self.tree))

    def protects(self) -> tuple[tuple[str, str], ...]:
        return (*(("sensitive", name) for name in self.sensitive), ("guard", self.guard))

    def check(self, tally: Tally) -> Verdict:
        classes = Classes.of(tally, self.name)
        values, guards = (classes.histogram(tally, name) for name in (self.sensitive[0], self.guard))
        domain, place = placed(self.name, values, self.taxonomy)
        range_of = {node.label: (node.lo, node.hi) for node in domain.root.walk()}
        range_of[None] = (0, 0)  # nothing is below no node
        named = guards.occurring
        if lost := sum(label not in range_of for label in named):
            raise HierarchyError(
                f"{self.name}: {self.guard}: {lost} of {len(named)} nodes are not in the tree; add them",
                missing=lost,
            )
        ranges = [range_of.get(label, (0, 0)) for label in guards.column.domain.values]
        lo, hi = np.array(ranges, dtype=np.intp).reshape(-1, 2).T
        below = np.zeros(len(guards.owner), dtype=np.int64)
        for rows, counts in values.dense(place, domain.size):
            before = np.zeros((len(counts), domain.size + 1), dtype=np.int64)
            np.cumsum(counts, axis=1, out=before[:, 1:])
            mine = np.flatnonzero((guards.owner >= rows.start) & (guards.owner < rows.stop))
            row, guard = guards.owner[mine] - rows.start, guards.value[mine]
            below[mine] = before[row, hi[guard]] - before[row, lo[guard]]
        if tally.person is not None:  # who has two values below a node is one person all the same
            codes = place[next(c.codes for c in tally.sensitive if c.name == self.sensitive[0])]
            for guard in np.unique(guards.value).tolist():
                mask = (codes >= lo[guard]) & (codes < hi[guard])
                here = persons.count(classes.of_cell[mask], persons.of(tally)[mask], len(classes.size))
                mine = guards.value == guard
                below[mine] = here[guards.owner[mine]]
        size = classes.size[guards.owner]
        bad = guards.any(compare(below, size, self.at_most) > 0)
        share = largest(below, size) or Fraction(0)
        return Verdict({"share": share}, int(bad.sum()), int(classes.size[bad].sum()))

    def nearest(self, tally: Tally) -> Self:
        return replace(self, at_most=max(self.at_most, Fraction(self.check(tally).achieved["share"])))
