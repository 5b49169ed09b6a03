"""What ranges of codes lose, in whole numbers, so that compiled and plain searches agree in every digit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.core import Column
from privet.domain import Domain, Scale
from privet.hierarchy.intervals import outward
from privet.relational.axis import Joints
from privet.relational.objective import Floats
from privet.relational.ranges import groups

ONE = 1 << 30  # a record that has lost everything

Codes: TypeAlias = NDArray[np.int32]
Whole: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Geometry:
    """By attribute: what each range loses, times its weight."""

    along: Whole  # 1: along a hierarchy; 0: from one end to the other
    widths: Whole  # how many codes there are
    begin: tuple[Whole, ...]
    end: tuple[Whole, ...]
    own: tuple[Whole, ...]  # what a code loses by itself
    stretch: tuple[Whole, ...]  # by power of two: the largest loss of neighbours in so many codes

    @classmethod
    def of(cls, quasi: Sequence[Column], along: Sequence[bool], weights: Sequence[float]) -> Geometry:
        made = [
            _tree(column.domain, weight) if follows else _line(column.domain, weight)
            for column, follows, weight in zip(quasi, along, weights, strict=True)
        ]
        begin, end, own, stretch = (tuple(part) for part in zip(*made, strict=True))
        widths = np.array([column.domain.size for column in quasi], dtype=np.int64)
        return cls(np.array(along, dtype=np.int64), widths, begin, end, own, stretch)

    def loss(self, low: Codes, high: Codes) -> Whole:
        """What classes lose, each record of them: the ends are classes x attributes."""
        total = np.zeros(len(low), dtype=np.int64)
        for at in range(len(self.widths)):
            total += self.lost(at, low[:, at].astype(np.intp), high[:, at].astype(np.intp))
        return total

    def lost(self, at: int, low: NDArray[np.intp], high: NDArray[np.intp]) -> Whole:
        """The part of one attribute in it."""
        if not self.along[at]:
            return np.where(low == high, self.own[at][low], self.end[at][high] - self.begin[at][low])
        wide = np.maximum(1, high - low)
        power = np.frexp(wide.astype(np.float64))[1] - 1
        row = power * int(self.widths[at])
        last = len(self.own[at]) - 1
        left = self.stretch[at][row + np.minimum(low + 1, last)]
        right = self.stretch[at][row + high + 1 - (1 << power)]
        return np.where(low == high, self.own[at][low], np.maximum(left, right))


Parts: TypeAlias = tuple[Whole, Whole, Whole, Whole]


def _scaled(loss: Floats, weight: float) -> Whole:
    return np.rint(loss * weight * ONE).astype(np.int64)


def _tree(domain: Domain, weight: float) -> Parts:
    joints = Joints.of(domain)
    lost = _scaled(joints.lost, weight)
    rows = [lost]
    while 1 << len(rows) <= domain.size:
        half, last = 1 << (len(rows) - 1), rows[-1]
        rows.append(np.maximum(last[: len(last) - half], last[half:]))
    table = np.zeros((len(rows), domain.size), dtype=np.int64)
    for at, row in enumerate(rows):
        table[at, : len(row)] = row
    nothing = np.zeros(domain.size, dtype=np.int64)
    return nothing, nothing, _scaled(joints.own, weight), table.ravel()


def _line(domain: Domain, weight: float) -> Parts:
    size, scale = domain.size, domain.scale
    nothing = np.zeros(size, dtype=np.int64)
    if scale is None or not scale.numbers or scale.high <= scale.low:
        first, last = np.arange(size), np.arange(size)
        for node in groups(domain) if domain.ranged else ():  # ranges leave as whole groups
            first[node.lo : node.hi], last[node.lo : node.hi] = node.lo, node.hi - 1
        begin, end = (_scaled(some / max(1, size - 1), weight) for some in (first, last))
        return begin, end, nothing, nothing
    wide = scale.high - scale.low
    begins, ends = [], []
    for low, high in _edges(domain, scale):
        begins.append(float((max(low, scale.low) - scale.low) / wide))
        ends.append(float((min(high, scale.high) - scale.low) / wide))
    missing = [1.0] * (size - len(begins))  # null stands behind all others, and is as far away as can be
    begin, end = (_scaled(np.array([*some, *missing]), weight) for some in (begins, ends))
    return begin, end, nothing, nothing


def _edges(domain: Domain, scale: Scale) -> Iterator[tuple[Decimal, Decimal]]:
    """Where a range that begins or ends with each number does so as it leaves."""
    if not scale.grown:
        for node in groups(domain):
            for number in scale.numbers[node.lo : node.hi]:
                yield node.interval or (number, number + scale.step)
        return
    for number in scale.numbers:
        ends = number, number + scale.step
        yield ends if scale.said is None else outward(*ends, scale.said)
