"""Information gain: how much a split tells about the target.

It depends on one attribute's raw values and the target alone, so one table of counts for each
attribute, added up along the codes, answers every question about nodes and splits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from privet.counts.door import Candidate
from privet.domain import Node

DIGITS = 12  # gains that differ by less are a tie: rounding noise must not order candidates


class Gains(Protocol):
    """What each split would tell about the target, whoever counted it."""

    def of(self, candidates: Sequence[Candidate]) -> list[float]: ...

    def places(self, attribute: int, node: Node, places: NDArray[np.intp]) -> list[int]:
        """The places where an interval can be split, best first."""


class TableGains:
    """From the histograms of every attribute by target."""

    def __init__(self, histograms: Sequence[NDArray[np.int64]]) -> None:
        self._tables = [GainTable(by_code) for by_code in histograms]
        self._known: dict[Candidate, float] = {}  # a candidate's gain never changes, so it is worked out once

    def of(self, candidates: Sequence[Candidate]) -> list[float]:
        for one in candidates:
            if one not in self._known:
                self._known[one] = self._tables[one.attribute].gain(one.node, one.children)
        return [self._known[one] for one in candidates]

    def places(self, attribute: int, node: Node, places: NDArray[np.intp]) -> list[int]:
        return self._tables[attribute].splits(node, places)


class GainTable:
    """Counts of every target value, added up along the codes of one attribute."""

    def __init__(self, by_code: NDArray[np.int64]) -> None:
        """From a row for each code and a column for each target value."""
        self._up_to = np.vstack([np.zeros(by_code.shape[1]), by_code.cumsum(axis=0)])

    def gain(self, node: Node, children: Sequence[Node]) -> float:
        """The entropy of the target under a node, less what is left of it under its children."""
        whole = self._up_to[node.hi] - self._up_to[node.lo]
        return gain(whole, np.array([self._up_to[child.hi] - self._up_to[child.lo] for child in children]))

    def splits(self, node: Node, places: NDArray[np.intp]) -> list[int]:
        """The places where an interval can be split, best first; ties go to the smaller threshold."""
        if not len(places):
            return []
        left = self._up_to[places] - self._up_to[node.lo]
        right = self._up_to[node.hi] - self._up_to[places]
        share = left.sum(axis=1) / (left.sum(axis=1) + right.sum(axis=1))
        rest = np.round(share * entropy(left) + (1 - share) * entropy(right), DIGITS)
        return [int(at) for at in places[np.argsort(rest, kind="stable")]]


def gain(whole: NDArray[np.float64], parts: NDArray[np.float64]) -> float:
    """From how often each target value occurs under a node, and under each of its children.

    >>> gain(np.array([5.0, 6.0]), np.array([[5.0, 1.0], [0.0, 5.0]]))
    0.639472526941
    """
    total = whole.sum()
    if not total:
        return 0.0
    rest = float((parts.sum(axis=1) / total) @ entropy(parts))
    return round(float(entropy(whole[None])[0]) - rest, DIGITS) + 0.0  # no minus zero


def entropy(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bits for each row; an empty row has none.

    >>> entropy(np.array([[1.0, 1.0], [4.0, 0.0]])).tolist()
    [1.0, 0.0]
    """
    total = counts.sum(axis=1, keepdims=True)
    share = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
    return np.asarray(-(share * np.log2(share, out=np.zeros_like(share), where=share > 0)).sum(axis=1)) + 0.0
