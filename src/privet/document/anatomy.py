"""Anatomy of trees: groups of l people whose trees have one shape, published in two halves (Algorithm 6).

Quasi-identifiers stay exact. What is lost are the vertices that have no counterpart in the other trees of
a group. In style t-t a group is a list of trees without sensitive values beside a list of trees with
nothing else; in style v-v every vertex points to a small bag of sensitive values. Choose

    t-t  when links among one person's sensitive values matter. Whoever knows one sensitive value of a
         person may find all of them.
    v-v  when an adversary may know some sensitive values: each vertex has its own bag, so one tells nothing
         of the others. Links among sensitive values are given up.
    generalisation (clustree)  when receivers want ordinary records, and sensible hierarchies exist.

Neither check implies the other: a grouping that keeps (p, m)-rules in one style may break them in the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from privet.core import Progress, silent
from privet.document import anatomy_best
from privet.document.anatomy_assign import merge_by_assignment
from privet.document.anatomy_merge import Group, Grove, Ints, alone, best, cost_of, merge
from privet.document.anatomy_rules import Limits, Rules, limits
from privet.document.forest import NONE, Forest
from privet.document.style import Style
from privet.errors import InputError, PolicyError, one_of

ORDERS = ("document", "by-subtree-size", "assignment")
COSTS = ("vertices", "relative")


@dataclass(frozen=True)
class Anatomize:
    """The search: which people stand together, and which of their vertices are aligned.

    `parts`: people are sorted by the size of their trees and cut into so many parts; only people of one
    part are compared. `order`: how siblings are matched; the default takes the first that fits.
    `cost`: what a lost vertex counts, 1 or its share of its own tree. `absorb_leftovers`: people who are
    left over may join a finished group where every promise still holds and more is kept than lost.
    """

    l: int
    rules: Rules = field(default_factory=Rules)
    style: Style = Style.TREES
    parts: int = 1
    order: str = "document"
    cost: str = "vertices"
    absorb_leftovers: bool = False

    def __post_init__(self) -> None:
        complaints = []
        if self.l < 2:
            complaints.append("tree-anatomy: l is at least 2: a group of one hides nothing")
        if self.parts < 1:
            complaints.append("tree-anatomy: parts is at least 1")
        if self.order not in ORDERS:
            complaints.append(f"tree-anatomy: {one_of('order', ORDERS, self.order)}")
        if self.cost not in COSTS:
            complaints.append(f"tree-anatomy: {one_of('cost', COSTS, self.cost)}")
        if complaints:
            raise PolicyError(*complaints)

    def search(self, forest: Forest, progress: Progress = silent) -> Grouping:
        """Group the records of a forest; raises InputError when there are fewer than l."""
        if len(forest) < self.l:
            raise InputError(
                f"{len(forest)} records cannot form a group of l = {self.l}; nothing can be published"
            )
        return _Search(self, forest, progress).run()


@dataclass(frozen=True, eq=False)
class Grouping:
    """What a search found: aligned groups, and the records that have none."""

    forest: Forest = field(repr=False)
    style: Style
    l: int
    groups: tuple[Group, ...] = field(repr=False)
    suppressed: tuple[int, ...] = field(repr=False)
    merges: int = 0  # how many joins were made

    def cost(self) -> int:
        """Vertices lost, with all those of suppressed records."""
        return self.forest.vertices - sum(len(group) * len(group.members) for group in self.groups)


class _Search:
    def __init__(self, how: Anatomize, forest: Forest, progress: Progress) -> None:
        self.how, self.forest, self.progress = how, forest, progress
        self.limits: Limits = limits(forest, how.rules, how.l)
        self.grove = Grove.of(forest, self.limits, how.style, largest_first=how.order == "by-subtree-size")
        self.per_type = anatomy_best.counts(self.grove, len(forest.schema.kinds))
        self.weight = np.ones(len(forest), dtype=np.float64)
        if how.cost == "relative":
            self.weight = 1 / forest.sizes()
        self.groups: list[Group] = []
        self.suppressed: list[int] = []
        self.merges = 0

    def run(self) -> Grouping:
        order = np.argsort(self.forest.sizes(), kind="stable")
        left: list[int] = []
        for part in np.array_split(order, self.how.parts):
            left += self.form(part.tolist())
        self.suppressed += self.form(left)
        if self.how.absorb_leftovers:
            self.suppressed = [record for record in sorted(self.suppressed) if not self.absorbed(record)]
        found = tuple(self.groups)
        return Grouping(
            self.forest, self.how.style, self.how.l, found, tuple(sorted(self.suppressed)), self.merges
        )

    def form(self, part: Sequence[int]) -> list[int]:
        """Groups out of one part, in its order; who is left over when too few remain."""
        waiting = np.array(part, dtype=np.int64)
        while len(waiting) >= self.how.l:
            group = self.grown(int(waiting[0]), waiting[1:])
            if group is None:
                self.suppressed.append(int(waiting[0]))
                waiting = waiting[1:]
            else:
                self.groups.append(group)
                waiting = waiting[~np.isin(waiting, group.members)]
            self.progress("anatomise", len(self.groups) * self.how.l)
        left: list[int] = waiting.tolist()
        return left

    def grown(self, seed: int, others: NDArray[np.int64]) -> Group | None:
        """A group of l around a seed, or None if nobody fits."""
        group = alone(self.forest, self.grove, seed)
        for _ in range(self.how.l - 1):
            joined = self.joined(group, others)
            if joined is None:
                return None
            group = joined
            others = others[others != group.members[-1]]
            self.merges += 1
        return group

    def weights(self, group: Group) -> tuple[float, NDArray[np.float64]]:
        return float(sum(self.weight[record] for record in group.members)), self.weight

    def joined(self, group: Group, candidates: NDArray[np.int64]) -> Group | None:
        """The group with the candidate that costs least."""
        weights = self.weights(group)
        match: Ints | None
        if self.how.order == "assignment":
            return self.best_assigned(group, candidates)
        if anatomy_best.available(candidates):
            found = anatomy_best.best(group, self.grove, candidates, weights, self.per_type)
            if found is None:
                return None
            record, match = found
        else:
            chosen = best(group, self.grove, candidates.tolist(), weights)
            if chosen is None:
                return None
            record, match = chosen, merge(group, self.grove, chosen)
        assert match is not None
        return group.joined(record, self.grove, match)

    def best_assigned(self, group: Group, candidates: NDArray[np.int64]) -> Group | None:
        of_group, of_record = self.weights(group)
        found, least = None, float("inf")
        for record in candidates.tolist():
            match = merge_by_assignment(group, self.grove, record)
            if match is None:
                continue
            kept = int(np.count_nonzero(match != NONE))
            size = int(self.grove.sizes[record])
            cost = cost_of(len(group), size, kept, of_group, float(of_record[record]))
            if cost < least:
                found, least = (record, match), cost
        return None if found is None else group.joined(found[0], self.grove, found[1])

    def absorbed(self, record: int) -> bool:
        """Put a left-over record into the finished group where most is gained, if anything is."""
        chosen, most = None, 0
        for at, group in enumerate(self.groups):
            size = len(group.members)
            # Values at a position stay different, so l-diversity holds; rules are tested at the new size.
            mu = self.limits.of_size(size + 1)
            match = merge(group, self.grove, record, mu)
            if match is None:
                continue
            gain = (size + 1) * int(np.count_nonzero(match != NONE)) - size * len(group)
            if gain > most:
                chosen, most = (at, match), gain
        if chosen is None:
            return False
        at, match = chosen
        self.groups[at] = self.groups[at].joined(record, self.grove, match)
        return True


def positions(group: Group, forest: Forest) -> Iterator[tuple[str, tuple[str | None, ...]]]:
    """Each position as its type and the sensitive values of the members: for reading, not for publishing."""
    for at in range(len(group)):
        kind = forest.schema.kinds[group.kinds[at]]
        if kind.sensitive is None:
            yield kind.name, ()
        else:
            where = kind.position(kind.sensitive.name)
            yield kind.name, tuple(forest.values(int(v))[where] for v in group.vertices[at])
