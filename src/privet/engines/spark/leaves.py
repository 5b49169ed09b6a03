"""Leaves of a table on a cluster: the driver knows each by its values of the cuts, and its records.

A split changes nothing on the cluster. The leaf of a combination follows from the cuts, so the next job says
them as expressions; and one job looks ahead for every candidate of a round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.core import PrivacyModel
from privet.counts.door import Ahead, Candidate, Indexes, Ints, OpenCounts, Score
from privet.counts.memory import OpenCutting
from privet.counts.partition import divided
from privet.domain import Node
from privet.engines.spark.cells import WORD, Answer, Cells, Key, Question
from privet.engines.spark.jobs import all_told, functions

MANY = 200_000  # leaves from which on only what is asked for is looked at, not all that may be next


@all_told("searching")
class ClusterLeaves:
    """All records in one leaf at first; `split` moves a cut down."""

    def __init__(self, cells: Cells, protected: Sequence[tuple[int, int]]) -> None:
        self._cells = cells
        self._having = [(f"s{column}", code) for column, code in protected]
        quasi = cells.heading.quasi
        self._of_code = [np.zeros(column.domain.size, dtype=np.int64) for column in quasi]
        self._soon: Sequence[Candidate] = ()
        self._looked: dict[Candidate, Ahead] = {}
        self.splits_made = 0
        self.width = [1] * len(quasi)
        self.position: list[NDArray[Any]] = [np.zeros(1, dtype=np.int64) for _ in quasi]
        self.size: Ints = np.array([cells.records], dtype=np.int64)

    def expect(self, candidates: Sequence[Candidate]) -> None:
        """What may be asked about before the next split."""
        self._soon = candidates

    def ahead(self, candidates: Sequence[Candidate]) -> list[Ahead]:
        new = [one for one in candidates if one not in self._looked]
        if new:
            if len(self.size) <= MANY:
                new += [one for one in self._soon if one not in self._looked and one not in new]
            self._look(list(dict.fromkeys(new)))
        return [self._looked[one] for one in candidates]

    def along(self, attribute: int, node: Node) -> tuple[Indexes, Indexes, Ints] | None:
        f, name = functions(), f"q{attribute}"
        others = self._active(attribute)
        keys = [*map(self._key, others), self._cells.plain(name)]
        if self.width[attribute] > 1:
            keys.insert(0, self._key(attribute))
            others = [attribute, *others]
        under = self._cells.frame.where((f.col(name) >= f.lit(node.lo)) & (f.col(name) < f.lit(node.hi)))
        (found,) = self._cells.asked([Question(keys)], "looking along an attribute", under)
        leaf = self._located(others, found.keys[:-1], len(found.counts))
        order = np.lexsort((found.keys[-1], leaf))
        return leaf[order], found.keys[-1][order], found.counts[order]

    def split(self, candidate: Candidate) -> list[int]:
        (ahead,) = self.ahead([candidate])
        self._looked, self._soon = {}, ()
        self.splits_made += 1
        at, fan = candidate.attribute, len(candidate.children)
        positions = [candidate.position, *range(self.width[at], self.width[at] + fan - 1)]
        self.width[at] += fan - 1
        of_child = np.array(positions, dtype=np.int64)
        self.position, self.size, _ = divided(self.position, self.size, at, ahead, of_child)
        for child, position in zip(candidate.children, positions, strict=True):
            self._of_code[at][child.lo : child.hi] = position
        return positions

    def _look(self, candidates: Sequence[Candidate]) -> None:
        """What all of these would leave: those of one attribute that do not overlap share a question."""
        layers: list[dict[int, Candidate]] = []
        for one in candidates:
            for layer in layers:
                if next(iter(layer.values())).attribute == one.attribute and one.position not in layer:
                    layer[one.position] = one
                    break
            else:
                layers.append({one.position: one})
        questions, begins = [], []
        for layer in layers:
            at = next(iter(layer.values())).attribute
            child, begin = np.full(len(self._of_code[at]), -1, dtype=np.int64), []
            total = 0
            for one in layer.values():
                begin.append(total)
                for number, node in enumerate(one.children):
                    child[node.lo : node.hi] = total + number
                total += len(one.children)
            keys = [Key(f"q{at}", total, child), *map(self._key, self._active(at))]
            questions.append(Question(keys, self._having))
            begins.append(begin)
        answers = self._cells.asked(questions, "looking ahead")
        for layer, begin, answer in zip(layers, begins, answers, strict=True):
            for one, start in zip(layer.values(), begin, strict=True):
                self._looked[one] = self._entries(one, start, answer)

    def _entries(self, one: Candidate, start: int, answer: Answer) -> Ahead:
        child = answer.keys[0] - start
        here = np.flatnonzero((child >= 0) & (child < len(one.children)))
        others = self._active(one.attribute)
        keys = [key[here] for key in answer.keys[1:]]
        if self.width[one.attribute] > 1:
            others = [one.attribute, *others]
            keys = [np.full(len(here), one.position, dtype=np.int64), *keys]
        unit = self._located(others, keys, len(here))
        order = np.lexsort((child[here], unit))
        here, unit = here[order], unit[order]
        having = tuple(found[here] for found in answer.having)
        return Ahead(unit, child[here], answer.counts[here], having, self.position, whole=True)

    def _active(self, but: int) -> list[int]:
        """Attributes whose cuts tell something; at their root all records are alike."""
        return [at for at, width in enumerate(self.width) if width > 1 and at != but]

    def _key(self, at: int) -> Key:
        return Key(f"q{at}", self.width[at], self._of_code[at])

    def _located(self, attributes: Sequence[int], values: Sequence[Ints], many: int) -> Indexes:
        """The leaf that has these values of the cuts, for each row of them."""
        ours, theirs = np.zeros(len(self.size), dtype=np.int64), np.zeros(many, dtype=np.int64)
        room = 1
        for at, value in zip(attributes, values, strict=True):
            if room > WORD // self.width[at]:
                found, both = np.unique(np.concatenate([ours, theirs]), return_inverse=True)
                ours, theirs, room = both[: len(ours)], both[len(ours) :], len(found)
            ours = ours * self.width[at] + self.position[at]
            theirs = theirs * self.width[at] + value
            room *= self.width[at]
        order = np.argsort(ours)
        return order[np.searchsorted(ours[order], theirs)]


class ClusterCutting(OpenCutting):
    """Decisions about splits, with one job for all that may be asked in a round."""

    def __init__(self, counts: OpenCounts, score: Score, models: Sequence[PrivacyModel]) -> None:
        super().__init__(counts, score, models)
        self._expecting = self._leaves if isinstance(self._leaves, ClusterLeaves) else None

    def best(self, candidates: Sequence[Candidate]) -> tuple[int, float | None]:
        if self._expecting is not None:
            self._expecting.expect(tuple(candidates))
        return super().best(candidates)
