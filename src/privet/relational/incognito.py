"""Incognito: every node of the lattice that keeps the promise, over ever more attributes.

LeFevre, DeWitt and Ramakrishnan, "Incognito: efficient full-domain k-anonymity", SIGMOD 2005. A node over
some attributes can keep the promise only if it does over every part of them: leaving an attribute out only
merges classes. So candidates over i + 1 attributes are joined from what was kept over i, as in Apriori, and
looked at from below; what lies above a node that keeps the promise need not be looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, TypeAlias

from privet.core import Finding, PrivacyModel, Progress, Tally, Terms, silent
from privet.counts.door import Counts, Grouping, Levels
from privet.counts.memory import counted
from privet.errors import UnsupportedError
from privet.relational import suits
from privet.relational.fulldomain import FullDomain
from privet.relational.judge import Judge, published_at
from privet.relational.lattice import Lattice
from privet.relational.objective import Objective
from privet.relational.suits import raise_unsatisfiable

Part: TypeAlias = tuple[int, ...]  # attributes, ascending
Kept: TypeAlias = dict[Part, set[Levels]]  # for each part, the levels of its attributes that keep the promise


@dataclass(frozen=True)
class Border:
    """Every node that keeps the promise, and those among them with none below."""

    kept: frozenset[Levels]
    minimal: tuple[Levels, ...]  # the least loss first
    looked_at: int  # nodes over any part of the attributes


@dataclass(frozen=True, slots=True)
class Incognito(FullDomain):
    """Full-domain generalisation: all minimal nodes are found, and the one that loses least is published."""

    name: ClassVar[str] = "incognito"
    asks: ClassVar[bool] = True
    persons: ClassVar[bool] = True

    def complaints(self, policy: Terms) -> list[str]:
        persons = policy.person is not None
        wrong = suits.prunes(self.name, policy)
        quasi = suits.quasi_of(policy)
        wrong = wrong or suits.merges(self.name, policy.models, policy.nulls, quasi, persons=persons)
        return [f"algorithm: {complaint}" for complaint in wrong]

    def search(self, data: Tally | Counts, policy: Terms, progress: Progress = silent) -> Finding:
        counts = counted(data)
        lattice, rollups, judge = self._prepared(counts, policy.models)
        border = self._border(counts, lattice, rollups, judge, progress)
        if not border.kept:
            raise_unsatisfiable(counts, policy.models, may_go=judge.limit)
        return Finding(published_at(rollups, judge, border.minimal[0]))

    def solve(
        self, data: Tally | Counts, models: Sequence[PrivacyModel], progress: Progress = silent
    ) -> Border:
        """Every node that keeps the promise."""
        counts = counted(data)
        return self._border(counts, *self._prepared(counts, models), progress)

    def _prepared(self, counts: Counts, models: Sequence[PrivacyModel]) -> tuple[Lattice, Grouping, Judge]:
        lattice, rollups, judge = self.pruning(counts, models, parts=True)
        if counts.heading.person is None:
            judge.need_classes(self.name)
        elif complaints := suits.apart(self.name, _about_more(counts.heading, models)):
            raise UnsupportedError(*complaints)
        return lattice, rollups, judge

    def _border(
        self, counts: Counts, lattice: Lattice, rollups: Grouping, judge: Judge, progress: Progress
    ) -> Border:
        looked, persons = 0, counts.heading.person is not None

        def holds(part: Part, levels: Levels) -> bool:
            nonlocal looked
            looked += 1
            # One past the top an attribute is left out; of persons, who are counted by recoding, at the top.
            node = [levels_of - persons for levels_of in lattice.shape]
            for at, level in zip(part, levels, strict=True):
                node[at] = level
            return judge.rule(rollups, tuple(node)).holds

        def look(part: Part, candidates: Iterable[Levels]) -> set[Levels]:
            """Those that keep the promise, from below; what is above one of them is known."""
            kept: set[Levels] = set()
            tops = [len(lattice.ladders[at]) - 1 for at in part]
            there = sorted(candidates, key=lambda levels: (sum(levels), levels))
            for levels in there:
                if levels not in kept and not holds(part, levels):
                    continue
                kept.add(levels)
                kept.update(_lifted(levels, tops))
            return kept.intersection(there)

        attributes = range(len(lattice.ladders))
        kept: Kept = {
            (at,): look((at,), ((level,) for level in range(lattice.shape[at]))) for at in attributes
        }
        for width in range(2, len(lattice.ladders) + 1):
            progress("search", width - 1, len(lattice.ladders))
            kept = {part: look(part, joined(part, kept)) for part in combinations(attributes, width)}
        every = kept[tuple(attributes)]
        objective = Objective(counts, lattice, self.loss, self.weights)

        def lost(node: Levels) -> tuple[float, Levels]:
            return objective.of(rollups.at(node), judge.rule(rollups, node)), node

        return Border(frozenset(every), tuple(sorted(border(every), key=lost)), looked)


def _about_more(heading: Tally, models: Sequence[PrivacyModel]) -> list[PrivacyModel]:
    """Promises about persons that are not about each class by itself."""
    names = [column.name for column in heading.quasi]
    return [model for model in models if not suits.about_each_class(model, names, persons=True)]


def border(nodes: Collection[Levels]) -> set[Levels]:
    """Nodes that are not a generalisation of another of them, where all generalisations are among them."""
    found = set(nodes)
    return {node for node in found if found.isdisjoint(_lowered(node))}


def joined(part: Part, kept: Kept) -> set[Levels]:
    """The nodes over a part all of whose smaller parts keep the promise: join on the shared, then prune."""
    by_shared: dict[Levels, list[int]] = {}
    for levels in kept[part[1:]]:
        by_shared.setdefault(levels[:-1], []).append(levels[-1])
    first = kept[part[:-1]]
    found = {(*levels, last) for levels in first for last in by_shared.get(levels[1:], ())}
    for left_out in range(1, len(part) - 1):
        smaller = kept[(*part[:left_out], *part[left_out + 1 :])]
        found = {levels for levels in found if (*levels[:left_out], *levels[left_out + 1 :]) in smaller}
    return found


def _lowered(levels: Levels) -> Iterable[Levels]:
    """The nodes with one attribute a level lower."""
    for at, level in enumerate(levels):
        if level:
            yield (*levels[:at], level - 1, *levels[at + 1 :])


def _lifted(levels: Levels, tops: Sequence[int]) -> Iterable[Levels]:
    """The nodes with one attribute lifted."""
    for at, level in enumerate(levels):
        if level < tops[at]:
            yield (*levels[:at], level + 1, *levels[at + 1 :])
