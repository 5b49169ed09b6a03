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

from privet.core import Finding, Policy, PrivacyModel, Progress, Tally, silent
from privet.relational.fulldomain import FullDomain
from privet.relational.judge import (
    Judge,
    published_at,
    raise_unsatisfiable,
)
from privet.relational.lattice import Levels
from privet.relational.objective import Objective
from privet.relational.rollup import Rollups

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

    def search(self, tally: Tally, policy: Policy, progress: Progress = silent) -> Finding:
        rollups, judge = self._prepared(tally, policy.models)
        border = self._border(tally, rollups, judge, progress)
        if not border.kept:
            raise_unsatisfiable(tally, policy.models)
        return Finding(published_at(tally, rollups, judge, border.minimal[0]))

    def solve(self, tally: Tally, models: Sequence[PrivacyModel], progress: Progress = silent) -> Border:
        """Every node that keeps the promise."""
        return self._border(tally, *self._prepared(tally, models), progress)

    def _prepared(self, tally: Tally, models: Sequence[PrivacyModel]) -> tuple[Rollups, Judge]:
        rollups, judge = self.pruning(tally, models)
        judge.need_classes(self.name)
        return rollups, judge

    def _border(self, tally: Tally, rollups: Rollups, judge: Judge, progress: Progress) -> Border:
        lattice = rollups.lattice
        looked = 0

        def holds(part: Part, levels: Levels) -> bool:
            nonlocal looked
            looked += 1
            node = list(lattice.shape)  # one past the top: the attribute is left out
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
        objective = Objective(tally, lattice, self.loss, self.weights)

        def lost(node: Levels) -> tuple[float, Levels]:
            return objective.of(rollups.at(node), judge.rule(rollups, node)), node

        return Border(frozenset(every), tuple(sorted(border(every), key=lost)), looked)


def border(nodes: Collection[Levels]) -> set[Levels]:
    """The nodes that are no generalisation of another of them, where all generalisations are among them."""
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
