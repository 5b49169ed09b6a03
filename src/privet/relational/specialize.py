"""The top-down loop: start with the most general values and split, as long as it may go on.

Top-down specialisation (Fung, Wang and Yu, ICDE 2005), DiffGen and their distributed forms differ in
three places only, and these are the three arguments: where counts come from, how the next split is
chosen, and when to stop. Those of top-down specialisation stand here too: `Cuts`, `Best`, `KeepsPromises`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from privet.core import Progress, Step, Tally
from privet.counts.door import Candidate, Cutting
from privet.domain import Cut, Node, Scale
from privet.recoding import Generalization


class Ruling(Enum):
    """What may become of a candidate."""

    PERFORM = "perform"
    DROP = "drop"  # never again: what breaks a promise now breaks it after every further split
    STOP = "stop"  # no more splits at all


class SplitSource(Protocol):
    """Where counts come from, and where splits are performed."""

    def start(self) -> Iterable[Candidate]:
        """The roots that have children."""

    def perform(self, candidate: Candidate) -> Iterable[Candidate]:
        """Split; the new values that could be split in turn."""

    def instead(self, candidate: Candidate) -> Iterable[Candidate]:
        """What may be tried in place of a dropped candidate."""


class Chooser(Protocol):
    """How the next split is chosen among the candidates."""

    def add(self, candidates: Iterable[Candidate]) -> None: ...

    def choose(self) -> tuple[Candidate, float | None] | None:
        """Take out the next candidate, with its score where that may be known; None when there is none."""


class Stopper(Protocol):
    """When a split may not be made."""

    def rule(self, candidate: Candidate) -> tuple[Ruling, str]:
        """The ruling, and the reason where it is not to perform."""


def specialize(
    source: SplitSource, chooser: Chooser, stopper: Stopper, names: Sequence[str], progress: Progress
) -> list[Step]:
    """Run the loop; what was split is in the source, and every try is in the log."""
    log: list[Step] = []
    chooser.add(source.start())
    while (chosen := chooser.choose()) is not None:
        candidate, score = chosen
        ruling, reason = stopper.rule(candidate)
        if ruling is Ruling.STOP:
            break
        performed = ruling is Ruling.PERFORM
        chooser.add(source.perform(candidate) if performed else source.instead(candidate))
        log.append(
            Step(
                attribute=names[candidate.attribute],
                label=candidate.node.label,
                children=tuple(child.label for child in candidate.children),
                score=score,
                performed=performed,
                reason=reason,
            )
        )
        progress("search", len(log))
    return log


class Splits(Enum):
    """What becomes of an interval whose best split would break a promise."""

    STRICT = "strict"  # it stays whole
    BEST_VALID = "best-valid"  # its next best split is tried: keeps more, takes longer


class Best:
    """The candidate with the best score; what it is, only the table knows."""

    def __init__(self, table: Cutting) -> None:
        self._table = table
        self._candidates: list[Candidate] = []

    def add(self, candidates: Iterable[Candidate]) -> None:
        self._candidates.extend(candidates)

    def choose(self) -> tuple[Candidate, float | None] | None:
        if not self._candidates:
            return None
        at, score = self._table.best(self._candidates)
        return self._candidates.pop(at), score


class KeepsPromises:
    """Refuses a split that would break a promise."""

    def __init__(self, table: Cutting) -> None:
        self._table = table

    def rule(self, candidate: Candidate) -> tuple[Ruling, str]:
        broken = self._table.breaks(candidate)
        return (Ruling.PERFORM, "") if broken is None else (Ruling.DROP, broken)


class Cuts:
    """The cuts as they stand, and what could be split next."""

    def __init__(
        self, heading: Tally, table: Cutting, splits: Splits, begun: Sequence[Candidate] = ()
    ) -> None:
        """`begun`: splits that are made before anything is chosen, in their order."""
        self._begun = begun
        self.performed: list[Candidate] = []
        self._quasi = heading.quasi
        self._table = table
        self._splits = splits
        self._cuts: list[dict[int, Node]] = [{0: column.domain.root} for column in heading.quasi]
        self._rising = [_rising(column.domain.scale) for column in heading.quasi]

    def start(self) -> Iterable[Candidate]:
        left = [one for at, c in enumerate(self._quasi) for one in self._candidates(at, c.domain.root, 0)]
        for split in self._begun:
            at = next(at for at, one in enumerate(left) if _same(one, split))
            left.pop(at)
            left += self.perform(split)
        yield from left

    def perform(self, candidate: Candidate) -> Iterable[Candidate]:
        self.performed.append(candidate)
        positions = self._table.split(candidate)
        self._cuts[candidate.attribute].update(zip(positions, candidate.children, strict=True))
        for child, position in zip(candidate.children, positions, strict=True):
            yield from self._candidates(candidate.attribute, child, position)

    def instead(self, candidate: Candidate) -> Iterable[Candidate]:
        if candidate.later:
            yield self._split(candidate.attribute, candidate.node, candidate.position, candidate.later)

    def lost(self, records: Sequence[NDArray[np.int64]]) -> float:
        """What the cuts lose, by how many records have each code."""
        total = 0.0
        for column, cut, have in zip(self._quasi, self._cuts, records, strict=True):
            total += sum(
                column.domain.loss(node) * int(have[node.lo : node.hi].sum()) for node in cut.values()
            )
        return total

    def recoding(self) -> Generalization:
        return Generalization(
            {
                column.name: Cut(column.domain, tuple(sorted(cut.values(), key=lambda n: n.lo)))
                for column, cut in zip(self._quasi, self._cuts, strict=True)
            }
        )

    def _candidates(self, at: int, node: Node, position: int) -> Iterable[Candidate]:
        if node.children:
            yield Candidate(at, node, node.children, position)
        elif self._quasi[at].domain.grows(node):
            places = self._places(at, node)
            if places:
                later = tuple(places) if self._splits is Splits.BEST_VALID else (places[0],)
                yield self._split(at, node, position, later)

    def _split(self, at: int, node: Node, position: int, places: tuple[int, ...]) -> Candidate:
        halves = self._quasi[at].domain.split(node, places[0])
        return Candidate(at, node, halves, position, places[1:])

    def _places(self, at: int, node: Node) -> list[int]:
        """Where an interval can be split, best first."""
        rising = self._rising[at]
        places = rising[np.searchsorted(rising, node.lo, side="right") : np.searchsorted(rising, node.hi)]
        return self._table.places(at, node, places)


def _same(one: Candidate, other: Candidate) -> bool:
    return (one.attribute, one.node.lo, one.node.hi) == (other.attribute, other.node.lo, other.node.hi)


def _rising(scale: Scale | None) -> NDArray[np.intp]:
    """The codes whose number is larger than the one before: where an interval can be cut."""
    numbers = () if scale is None else scale.numbers
    return np.array([at for at in range(1, len(numbers)) if numbers[at - 1] < numbers[at]], dtype=np.intp)
