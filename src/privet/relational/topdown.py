"""Top-down specialisation: from the most general table down, as far as every promise allows.

Mohammed, Fung, Hung and Lee, "Anonymizing healthcare data", KDD 2009, on the loop of Fung, Wang and
Yu, "Top-down specialization for information and privacy preservation", ICDE 2005.

Differs from the paper: a split that would break a promise is dropped from the candidates, its value
stays in the cut (taken literally, the paper's text would leave a hole in it); validity is asked only
of the best candidate, because what is invalid once stays invalid after every further split.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from privet.core import (
    Algorithm,
    Finding,
    Generalization,
    Nulls,
    Policy,
    PrivacyModel,
    Progress,
    Tally,
    silent,
)
from privet.domain import Cut, Node
from privet.errors import PolicyError, UnsupportedError
from privet.models.linkage import LinkageModel
from privet.relational.bounds import Bound, bounds_of
from privet.relational.gain import GainTable
from privet.relational.infeasible import refuse_beyond_reach
from privet.relational.lookahead import keeps
from privet.relational.partition import Partition
from privet.relational.scores import ByDiscernibility, ByGain, ByGainPerLoss, gain_tables, gains
from privet.relational.specialize import Candidate, Chooser, Ruling, specialize


class Score(Enum):
    """What the recipient will do with the data, and so what a split is worth."""

    INFORMATION_GAIN = "information-gain"  # classification
    DISCERNIBILITY = "discernibility"  # general analysis
    GAIN_PER_LOSS = "gain-per-loss"  # the baseline for k-anonymity


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

    name: ClassVar[str] = "top-down"

    def search(self, tally: Tally, policy: Policy, progress: Progress = silent) -> Finding:
        models = policy.models
        refuse_infeasible(tally, models)
        score = self.score or (Score.DISCERNIBILITY if tally.target is None else Score.INFORMATION_GAIN)
        if tally.target is None and score is not Score.DISCERNIBILITY:
            raise PolicyError(f'algorithm: score = "{score.value}" needs an attribute with role = "target"')
        looked_ahead = [
            model for model in models if isinstance(model, LinkageModel) and tally.nulls is Nulls.VALUE
        ]
        bounds, masks = bounds_of(tally, [model.linkage() for model in looked_ahead])
        needs_leaves = score is not Score.INFORMATION_GAIN or any(
            bound.l >= len(bound.attributes) for bound in bounds
        )
        partition = Partition(tally, masks, needs_leaves=needs_leaves)
        tables = gain_tables(tally)
        source = TableSource(tally, partition, tables, self.splits)
        chooser: Chooser
        if score is Score.DISCERNIBILITY:
            chooser = ByDiscernibility(partition)
        elif score is Score.GAIN_PER_LOSS:
            chooser = ByGainPerLoss(gains(tables), partition)
        else:
            chooser = ByGain(gains(tables))
        stopper = PromiseStopper(
            tally,
            source,
            [(model.name, bound) for model, bound in zip(looked_ahead, bounds, strict=True)],
            [model for model in models if model not in looked_ahead],
        )
        steps = specialize(source, chooser, stopper, [column.name for column in tally.quasi], progress)
        return Finding(source.recoding(), tuple(steps))


def refuse_infeasible(tally: Tally, models: Sequence[PrivacyModel]) -> None:
    """Say before the search what no search can reach, and what could be."""
    for model in models:
        if not model.monotone:
            raise UnsupportedError(f"top-down prunes, so it needs a monotone model; {model.name} is not")
    refuse_beyond_reach(tally, models)


class TableSource:
    """Counts from a tally that is all here; splits move the cuts."""

    def __init__(self, tally: Tally, partition: Partition, tables: list[GainTable], splits: Splits) -> None:
        self._tally = tally
        self._partition = partition
        self._tables = tables
        self._splits = splits
        self._cuts: list[dict[int, Node]] = [{0: column.domain.root} for column in tally.quasi]
        self._rising = [_rising(column.domain.scale) for column in tally.quasi]

    @property
    def partition(self) -> Partition:
        return self._partition

    def start(self) -> Iterable[Candidate]:
        for at, column in enumerate(self._tally.quasi):
            yield from self._candidates(at, column.domain.root, 0)

    def perform(self, candidate: Candidate) -> Iterable[Candidate]:
        positions = self._partition.split(candidate)
        cut = self._cuts[candidate.attribute]
        for child, position in zip(candidate.children, positions, strict=True):
            cut[position] = child
        for child, position in zip(candidate.children, positions, strict=True):
            yield from self._candidates(candidate.attribute, child, position)

    def instead(self, candidate: Candidate) -> Iterable[Candidate]:
        if candidate.later:
            yield self._split(candidate.attribute, candidate.node, candidate.position, candidate.later)

    def recoding(self, candidate: Candidate | None = None) -> Generalization:
        """The cuts as they stand, or as they would stand after one more split."""
        cuts = {}
        for at, (column, cut) in enumerate(zip(self._tally.quasi, self._cuts, strict=True)):
            nodes = dict(cut)
            if candidate is not None and candidate.attribute == at:
                del nodes[candidate.position]
                nodes.update({-1 - i: child for i, child in enumerate(candidate.children)})
            cuts[column.name] = Cut(column.domain, tuple(sorted(nodes.values(), key=lambda n: n.lo)))
        return Generalization(cuts)

    def _candidates(self, at: int, node: Node, position: int) -> Iterable[Candidate]:
        if node.children:
            yield Candidate(at, node, node.children, position)
        elif self._tally.quasi[at].domain.grows(node):
            places = self._places(at, node)
            if places:
                later = tuple(places) if self._splits is Splits.BEST_VALID else (places[0],)
                yield self._split(at, node, position, later)

    def _split(self, at: int, node: Node, position: int, places: tuple[int, ...]) -> Candidate:
        halves = self._tally.quasi[at].domain.split(node, places[0])
        return Candidate(at, node, halves, position, places[1:])

    def _places(self, at: int, node: Node) -> list[int]:
        """Where an interval can be split, best first."""
        rising = self._rising[at]
        places = rising[np.searchsorted(rising, node.lo, side="right") : np.searchsorted(rising, node.hi)]
        if self._tables:
            return self._tables[at].splits(node, places)
        return self._partition.splits(at, node, places)


def _rising(scale: object) -> NDArray[np.intp]:
    """The codes whose number is larger than the one before: where an interval can be cut."""
    numbers = getattr(scale, "numbers", ())
    return np.array([at for at in range(1, len(numbers)) if numbers[at - 1] < numbers[at]], dtype=np.intp)


class PromiseStopper:
    """Refuses a split that would break a promise."""

    def __init__(
        self,
        tally: Tally,
        source: TableSource,
        bounds: Sequence[tuple[str, Bound]],
        others: Sequence[PrivacyModel],
    ) -> None:
        self._tally = tally
        self._source = source
        self._bounds = bounds
        self._others = others

    def rule(self, candidate: Candidate) -> tuple[Ruling, str]:
        for name, bound in self._bounds:
            if not keeps(self._source.partition, candidate, bound):
                return Ruling.DROP, name
        if self._others:
            # No look-ahead for these: tally the table as it would be, and ask the model.
            after = self._tally.recoded(self._source.recoding(candidate))
            for model in self._others:
                if not model.check(after).holds:
                    return Ruling.DROP, model.name
        return Ruling.PERFORM, ""
