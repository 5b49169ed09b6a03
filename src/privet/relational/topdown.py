"""Top-down specialisation: from the most general table down, as far as every promise allows.

Mohammed, Fung, Hung and Lee, "Anonymizing healthcare data", KDD 2009, on the loop of Fung, Wang and
Yu, "Top-down specialization for information and privacy preservation", ICDE 2005.

Differs from the paper: a split that would break a promise is dropped from the candidates, its value
stays in the cut (taken literally, the paper's text would leave a hole in it); validity is asked only
of the best candidate, because what is invalid once stays invalid after every further split.

A greedy search under a weak promise may go down a way that ends early, and lose more than under a strong
one. With `tries` it also searches under ever stronger promises, goes on from what each finds under the
promise that was asked for, and takes what loses least.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.core import Algorithm, Finding, PrivacyModel, Progress, Step, Tally, Terms, silent
from privet.counts.door import Candidate, Counts, Cutting, Score
from privet.counts.memory import counted
from privet.domain import Cut, Node
from privet.errors import PolicyError, UnsupportedError
from privet.recoding import Generalization
from privet.relational import suits
from privet.relational.infeasible import refuse_beyond_reach
from privet.relational.specialize import Ruling, specialize

__all__ = ["Score", "Splits", "TopDown"]


LARGER = (2, 5, 10, 25, 100)  # times the classes that were promised, for searches after the first


class Splits(Enum):
    """What becomes of an interval whose best split would break a promise."""

    STRICT = "strict"  # it stays whole
    BEST_VALID = "best-valid"  # its next best split is tried: keeps more, takes longer


@dataclass(frozen=True, slots=True)
class TopDown(Algorithm):
    """Split the best value of the cut again and again, while a valid split exists.

    The result is locally maximal: no single further split keeps every promise.
    """

    score: Score | None = None  # None: information gain where there is a target, else discernibility
    splits: Splits = Splits.STRICT
    tries: int = 1  # searches, each after the first begun under a promise of larger classes

    name: ClassVar[str] = "top-down"
    asks: ClassVar[bool] = True
    persons: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.tries < 1:
            raise PolicyError("tries is a whole number from 1 on")

    def complaints(self, policy: Terms) -> list[str]:
        return [f"algorithm: {wrong}" for wrong in suits.splits(self.name, policy.models)]

    def search(self, data: Tally | Counts, policy: Terms, progress: Progress = silent) -> Finding:
        counts = counted(data)
        heading = counts.heading
        refuse_infeasible(counts, policy.models)
        score = self.score or (Score.DISCERNIBILITY if heading.target is None else Score.INFORMATION_GAIN)
        if heading.target is None and score is not Score.DISCERNIBILITY:
            raise PolicyError(f'algorithm: score = "{score.value}" needs an attribute with role = "target"')
        found = [self._cut(counts, score, policy.models, (), progress)]
        for factor in LARGER[: self.tries - 1]:
            stronger = tuple(_larger(model, factor) for model in policy.models)
            if stronger == policy.models or counts.beyond_reach(stronger):
                break
            begun, _ = self._cut(counts, score, stronger, (), progress)
            found.append(self._cut(counts, score, policy.models, begun.performed, progress))
        source, steps = found[0]
        if len(found) > 1:
            records = counts.histograms([column.name for column in heading.quasi])
            source, steps = min(found, key=lambda one: one[0].lost(records))
        return Finding(source.recoding(), tuple(steps))

    def _cut(
        self,
        counts: Counts,
        score: Score,
        models: Sequence[PrivacyModel],
        begun: Sequence[Candidate],
        progress: Progress,
    ) -> tuple[Cuts, list[Step]]:
        """One search, from splits that another one has made on."""
        heading = counts.heading
        table = counts.cutting(score, models)
        source = Cuts(heading, table, self.splits, begun)
        names = [column.name for column in heading.quasi]
        steps = specialize(source, Best(table), KeepsPromises(table), names, progress)
        made = [
            Step(names[c.attribute], c.node.label, tuple(n.label for n in c.children), None, performed=True)
            for c in begun
        ]
        return source, [*made, *steps]


def refuse_infeasible(counts: Counts, models: Sequence[PrivacyModel]) -> None:
    """Say before the search what no search can reach, and what could be."""
    if complaints := suits.splits(TopDown.name, models):
        raise UnsupportedError(*complaints)
    refuse_beyond_reach(counts, models)


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


def _larger(model: Any, factor: int) -> Any:
    """The promise with classes so many times as large, where it has a number for them."""
    if not isinstance(getattr(model, "k", None), int):
        return model
    return replace(model, k=model.k * factor)


def _rising(scale: object) -> NDArray[np.intp]:
    """The codes whose number is larger than the one before: where an interval can be cut."""
    numbers = getattr(scale, "numbers", ())
    return np.array([at for at in range(1, len(numbers)) if numbers[at - 1] < numbers[at]], dtype=np.intp)
