"""Counts summed over several parts of a table: a second answerer behind the door, to test the door with.

Each part is an object of its own that sees its rows and the questions, nothing else; `Summed` sees answers
only. It is written for clarity, not for speed, and what it adds up is in the clear: it protects nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.core import PrivacyModel, Tally
from privet.counts.door import (
    Ahead,
    Candidate,
    Indexes,
    Ints,
    Rungs,
    Score,
)
from privet.counts.memory import InMemory, OpenCutting, beyond_reach
from privet.counts.partition import Partition
from privet.domain import Node
from privet.recoding import Recoding
from privet.testing.adding import Rows, added, joined, total
from privet.testing.summed_boxes import PartBoxes, SummedBoxes
from privet.testing.summed_classes import SummedClasses


class Summed:
    """The counts of all parts together."""

    def __init__(self, parts: Sequence[Tally]) -> None:
        self._parts = [InMemory(part) for part in parts]
        self._tallies = list(parts)  # handed to what each part keeps, never looked into here

    @cached_property
    def heading(self) -> Tally:
        return self._parts[0].heading

    @property
    def records(self) -> int:
        return sum(part.records for part in self._parts)

    def histograms(self, columns: Sequence[str], by: str | None = None) -> list[Ints]:
        answers = [part.histograms(columns, by) for part in self._parts]
        return [total(found) for found in zip(*answers, strict=True)]

    def beyond_reach(self, models: Sequence[PrivacyModel]) -> tuple[str, ...]:
        return beyond_reach(self, models)

    def cutting(self, score: Score, models: Sequence[PrivacyModel]) -> OpenCutting:
        return OpenCutting(self, score, models)

    def leaves(self, protected: Sequence[tuple[int, int]], *, needed: bool) -> SummedLeaves:  # noqa: ARG002
        return SummedLeaves([part.leaves(protected, needed=True) for part in self._parts])

    def grouping(self, ladders: Sequence[Rungs], sensitive: Sequence[str]) -> SummedClasses:
        return SummedClasses(self._tallies, ladders, sensitive)

    def boxing(self, sensitive: Sequence[str]) -> SummedBoxes:
        return SummedBoxes([PartBoxes(part, sensitive) for part in self._tallies])

    def published(self, recoding: Recoding) -> Tally:
        return joined([part.published(recoding) for part in self._parts])


class SummedLeaves:
    """Leaves of all parts: those that have the same value of every cut are one."""

    def __init__(self, parts: Sequence[Partition]) -> None:
        self._parts = parts

    @property
    def width(self) -> list[int]:
        return self._parts[0].width

    @property
    def splits_made(self) -> int:
        return self._parts[0].splits_made

    @property
    def position(self) -> list[NDArray[Any]]:
        return list(self._leaves()[0].T)

    @property
    def size(self) -> Ints:
        return self._leaves()[2]

    def ahead(self, candidates: Sequence[Candidate]) -> list[Ahead]:
        answers = [part.ahead(candidates) for part in self._parts]
        return [self._summed(found) for found in zip(*answers, strict=True)]

    def along(self, attribute: int, node: Node) -> tuple[Indexes, Indexes, Ints] | None:
        _, number, _ = self._leaves()
        keys, counts, begin = [], [], 0
        for part in self._parts:
            answer = part.along(attribute, node)
            if answer is None:
                return None
            leaf, code, records = answer
            some = np.flatnonzero(part.size)  # a part without records has a leaf without any
            renumbered = np.full(len(part.size), -1, dtype=np.intp)
            renumbered[some] = number[begin : begin + len(some)]
            begin += len(some)
            keys.append(np.stack([renumbered[leaf], code], axis=1))
            counts.append(records)
        found, _, count = added(keys, counts)
        return found[:, 0], found[:, 1], count

    def split(self, candidate: Candidate) -> list[int]:
        positions = [part.split(candidate) for part in self._parts]
        return positions[0]  # the same everywhere: they follow from the splits alone

    def _leaves(self) -> tuple[Rows, Indexes, Ints]:
        shown = [np.stack(part.position, axis=1).astype(np.int64)[part.size > 0] for part in self._parts]
        return added(shown, [part.size[part.size > 0] for part in self._parts])

    def _summed(self, answers: Sequence[Ahead]) -> Ahead:
        rows = [
            np.stack([*(p[a.unit].astype(np.int64) for p in a.position), a.child.astype(np.int64)], axis=1)
            for a in answers
        ]
        found, _, count = added(rows, [a.count for a in answers])
        values = range(len(answers[0].having))
        having = tuple(added(rows, [a.having[at] for a in answers])[2] for at in values)
        return Ahead(np.arange(len(found)), found[:, -1], count, having, list(found.T[:-1]), whole=True)
