"""What a node of the lattice loses, and the least that nodes nobody has looked at can lose.

Most losses add up over records and attributes: what a value loses at a level is known beforehand. Then the
loss of a node with nothing suppressed is a sum over attributes, a lower bound for every way to suppress;
and records that must go at a node must go below it too, which raises the bound there. Losses of classes
(discernibility, average class size) are bounded from finer nodes: merging classes never makes them smaller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.core import Tally
from privet.counts.door import Beyond, Counts, Frequencies, Levels
from privet.counts.memory import counted
from privet.domain import Codes
from privet.errors import PolicyError
from privet.relational.judge import Ruling
from privet.relational.lattice import Ladder, Lattice

Floats: TypeAlias = NDArray[np.float64]


class Loss(Enum):
    """What is made as small as it can be."""

    LM = "lm"  # how much of its domain a published value covers; a suppressed record loses everything
    ENTROPY = "entropy"  # bits that a published value leaves open, as a share of all bits
    PRECISION = "precision"  # how high a published value stands in its hierarchy
    DISCERNIBILITY = "discernibility"  # how many records each record looks like; a suppressed one like all
    CLASSES = "class-size"  # records for each class that is published


class Objective:
    """The loss of a node, and bounds; from 0, nothing is lost, to about 1, nothing is left."""

    def __init__(
        self,
        data: Tally | Counts,
        lattice: Lattice,
        loss: Loss = Loss.LM,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        known = counted(data)
        names = [column.name for column in known.heading.quasi]
        self._loss = loss
        self._records = known.records
        self._lattice = lattice
        self.additive = loss not in {Loss.DISCERNIBILITY, Loss.CLASSES}
        share = shares(names, weights or {})
        counts = [found.astype(np.float64) for found in known.histograms(names)]
        # By attribute and level: what a code loses, on average over all records; and by code, what is
        # lost more where its record is suppressed instead.
        self._mean: list[Floats] = []
        self._more: list[Floats] = []
        if self.additive:
            costs = {Loss.LM: _lm, Loss.ENTROPY: _bits, Loss.PRECISION: _precision}[loss]
            for ladder, count, weight in zip(lattice.ladders, counts, share, strict=True):
                means, more = costs(ladder, count)
                self._mean.append(weight * means / max(1, self._records))
                self._more.append(weight * np.array(more))
        # What a table loses of which nothing is published: all that it tells.
        self._all = sum(
            float(mean[-1] + (more[-1] * count).sum() / max(1, self._records))
            for mean, more, count in zip(self._mean, self._more, counts if self.additive else (), strict=True)
        )

    @property
    def floors(self) -> list[Floats]:
        """By attribute and level, what is lost there with nothing suppressed; none where unknown."""
        return self._mean

    def floor(self, node: Levels) -> float:
        """What a node loses with nothing suppressed; 0 where losses do not add up."""
        return sum(float(each[level]) for each, level in zip(self._mean, node, strict=False))

    def of(self, found: Frequencies, ruling: Ruling) -> float:
        """What a node loses when the records that must go are suppressed."""
        if self.additive:
            kept = found.size - ruling.gone
            if np.count_nonzero(kept) < np.count_nonzero(ruling.gone):  # whichever are fewer are looked at
                return self._all - sum(self._told(found, kept))
            return self.floor(found.levels) + sum(self._told(found, ruling.gone))
        kept = (found.size - ruling.gone)[~ruling.bad].astype(np.float64)
        if self._loss is Loss.CLASSES:
            return 1.0 / max(1, len(kept))
        return float(((kept**2).sum() + ruling.suppressed * self._records) / self._records**2)

    def told(self, levels: NDArray[np.intp], codes: Sequence[Codes], cells: NDArray[np.intp]) -> Floats:
        """What records of these cells still tell at these levels (rows, or one row for all): 1 is all."""
        told = np.zeros(len(cells))
        for at, (rows, column) in enumerate(zip(self._more, codes, strict=True)):
            told += rows[levels[..., at], column[cells]]
        return told

    def below(self, found: Frequencies, ruling: Ruling) -> list[Floats] | None:
        """By attribute and level up to the node's, what records that must go add to the floor there."""
        return (
            self._more_below(found, found.size * ruling.lost) if self.additive and ruling.lost.any() else None
        )

    def above(self, found: Frequencies | Beyond) -> float:
        """What every coarser node loses at least; 0 where that is not known."""
        if self.additive:
            return 0.0
        if isinstance(found, Frequencies):
            found = Beyond(len(found), 0, float((found.size.astype(np.float64) ** 2).sum()))
        if self._loss is Loss.CLASSES:
            return 1.0 / max(1, found.classes)
        return float(found.squares / self._records**2)

    def _more_below(self, found: Frequencies, gone: NDArray[np.int64]) -> list[Floats]:
        # One cell of a class tells its group at the class's own level. Below it at least as much is lost, and
        # how much more is not known here.
        return [
            np.full(own + 1, told) for own, told in zip(found.levels, self._told(found, gone), strict=True)
        ]

    def _told(self, found: Frequencies, records: NDArray[np.int64]) -> list[float]:
        """By attribute, what so many records of each class tell, as a share of all that the table tells.

        Summed by numpy and not as a product of vectors: those are given to BLAS, which starts threads for
        vectors this long, and takes five times the processor for it.
        """
        some = np.flatnonzero(records)
        size = records[some].astype(np.float64)
        return [
            float((rows[own].take(codes) * size).sum()) / self._records
            for rows, codes, own in zip(self._more, found.codes(some), found.levels, strict=True)
        ]


def shares(names: list[str], weights: Mapping[str, float]) -> list[float]:
    """The weight of each attribute, so that all add up to 1."""
    if unknown := [name for name in weights if name not in names]:
        raise PolicyError(
            *(f"algorithm: weights.{name}: the policy has no such quasi-identifier" for name in unknown)
        )
    given = [float(weights.get(name, 1)) for name in names]
    total = sum(given)
    if not total > 0:
        raise PolicyError("algorithm: weights: at least one quasi-identifier weighs more than 0")
    return [weight / total for weight in given]


def check_weights(weights: Mapping[str, float]) -> None:
    """Refuse weights below 0."""
    if wrong := [name for name, weight in weights.items() if weight < 0]:
        raise PolicyError(*(f"weights.{name} is a number from 0 on" for name in wrong))


Costs: TypeAlias = tuple[Floats, list[Floats]]  # by level: the sum over records; by level and code: more


def _lm(ladder: Ladder, count: Floats) -> Costs:
    rows = [
        np.repeat([cut.domain.loss(node) for node in cut.nodes], [node.leaves for node in cut.nodes])
        for cut in ladder.cuts
    ]
    return np.array([row @ count for row in rows]), [1.0 - row for row in rows]


def _precision(ladder: Ladder, count: Floats) -> Costs:
    top = max(1, len(ladder) - 1)
    steps = np.arange(len(ladder)) / top
    return steps * count.sum(), [np.full(len(count), 1.0 - step) for step in steps]


def _bits(ladder: Ladder, count: Floats) -> Costs:
    """Bits that a group leaves open of a value: log2 of the group's records over the value's."""
    total = count.sum()
    there = count > 0
    raw = np.log2(count, where=there, out=np.zeros_like(count))
    all_bits = float(count @ (np.log2(total) - raw)) if total else 0.0
    means, more = [], []
    for groups in ladder.groups[: len(ladder)]:
        inside = np.bincount(groups, weights=count)[groups]
        group = np.log2(inside, where=inside > 0, out=np.zeros_like(inside))
        means.append(float(count @ (group - raw)) / all_bits if all_bits else 0.0)
        more.append((np.log2(total) - group) / all_bits if all_bits else np.zeros_like(count))
    return np.array(means) * total, [row * total for row in more]
