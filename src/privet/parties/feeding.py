"""A party beyond the third, where decisions are made on shares: it hands in its counts and hears decisions.

What it hands in is the same that each of the three hands in, at the same moments, because all of them run the
same search.

Trust: see `replicated`.
Leaks: what `secret` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from privet.counts.door import Candidate, Indexes, Score, order
from privet.counts.lookahead import Bound
from privet.domain import Node
from privet.errors import InternalError, PartyError
from privet.parties.leaves import SharedLeaves
from privet.parties.primitives.replicated import Feeding
from privet.parties.secret import THOSE_WHO_COMPUTE, named, supported


class FeedingCutting:
    """Hands in, and hears."""

    def __init__(
        self,
        feeding: Feeding,
        leaves: SharedLeaves,
        score: Score,
        bounds: Sequence[tuple[str, Bound]],
        counter: Any,
    ) -> None:
        """`counter`: the number type that counts are handed in as."""
        self._feeding = feeding
        self._leaves = leaves
        self._score = supported(score)
        self._bounds = bounds
        self._counter = counter
        self._scored: set[Candidate] = set()
        self._ahead: Candidate | None = None

    def best(self, candidates: Sequence[Candidate]) -> tuple[int, float | None]:
        if len(candidates) == 1:
            return 0, None
        ranked = sorted(range(len(candidates)), key=lambda at: order(candidates[at]))
        ordered = [candidates[at] for at in ranked]
        if self._score is Score.INFORMATION_GAIN:
            if new := [candidate for candidate in ordered if candidate not in self._scored]:
                self._hand_in([self._leaves.classes(candidate) for candidate in new], np.uint64)
                self._scored.update(new)
        else:
            self._hand_in([self._leaves.ahead(candidate)[:, :, 0] for candidate in ordered], np.uint64)
        at = int(self._feeding.heard(1, np.uint64)[0])
        if at >= len(ranked):
            raise PartyError(f"{THOSE_WHO_COMPUTE}: chose a candidate that does not exist")
        return ranked[at], None

    def breaks(self, candidate: Candidate) -> str | None:
        self._look(candidate)
        broken = self._feeding.heard(1, np.uint64)[0]
        return named(candidate, self._bounds) if broken else None

    def places(self, attribute: int, node: Node, places: Indexes) -> list[int]:  # noqa: ARG002
        raise InternalError("a contract has no intervals that are split by counts of single values")

    def split(self, candidate: Candidate) -> list[int]:
        self._look(candidate)
        shape = (len(self._leaves.under(candidate)), len(candidate.children))
        there = self._feeding.heard(shape[0] * shape[1], np.uint8).astype(bool).reshape(shape)
        if self._score is Score.DISCERNIBILITY:
            self._hand_in([self._leaves.ahead(candidate)[:, :, 0]], np.uint64)
        self._ahead = None
        return self._leaves.split(candidate, there, THOSE_WHO_COMPUTE)

    def _look(self, candidate: Candidate) -> None:
        if self._ahead is not candidate:
            self._ahead = candidate
            self._hand_in([self._leaves.ahead(candidate)], self._counter)

    def _hand_in(self, counts: Sequence[Any], dtype: Any) -> None:
        self._feeding.feed(np.concatenate([one.reshape(-1) for one in counts]).astype(dtype))
