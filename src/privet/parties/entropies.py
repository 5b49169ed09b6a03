"""What a split tells about the target, of counts that nobody sees.

n times the entropy under a node is n log n less the sum of f log f over the target's values: each is looked
up in a public table at a secret place, in fixed point. Nodes are looked up once, as children of the split
that made them.

Trust: see `replicated`.
Leaks: nothing; what is found stays secret.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

import numpy as np

from privet.counts.door import Candidate
from privet.domain import Node
from privet.errors import UnsupportedError
from privet.parties.leaves import SharedLeaves
from privet.parties.primitives.replicated import Computing, Shared, along
from privet.parties.transport import Words

BITS = 62  # of the 64 that a number has; one for the sign, one to spare
MOST = 1 << 20  # records; every look-up sends a table of so many numbers
FINEST = 40  # binary places; with more, doubles would round the table by more than a unit


class Entropies:
    """n times the entropy of the target under a node, less that under its children; in fixed point."""

    def __init__(self, three: Computing, leaves: SharedLeaves, records: int) -> None:
        self._three = three
        self._leaves = leaves
        classes = leaves.targets
        most = max(1, records).bit_length()
        # lost <= n log(classes), times another n, must fit
        self.point = min(FINEST, BITS - 2 * most - max(1, classes).bit_length().bit_length() - 1)
        if records > MOST:
            raise UnsupportedError(
                f"gains are compared in secret for up to {MOST:,} records; choose discernibility beyond"
            )
        self._table = _n_log_n(1 << max(2, most), self.point)
        self._terms = classes + 1  # each is off by less than one unit
        self._known: dict[tuple[int, Node], tuple[Shared, Shared]] = {}  # entropy times size, and size
        self._done: dict[Candidate, tuple[Shared, Shared]] = {}

    def of(self, candidates: Sequence[Candidate]) -> tuple[Shared, Shared, Words]:
        """By candidate what its split takes off, its size, and how far the first may be off by rounding."""
        new = [candidate for candidate in candidates if candidate not in self._done]
        if new:
            self._hand_in(new)
        lost = along([self._done[candidate][0] for candidate in candidates])
        size = along([self._done[candidate][1] for candidate in candidates])
        slack = [0 if self._leaves.vacant(c) else self._terms * (len(c.children) + 1) for c in candidates]
        return lost, size, np.array(slack, dtype=np.uint64)

    def _hand_in(self, new: Sequence[Candidate]) -> None:
        mine = np.concatenate([self._leaves.classes(candidate) for candidate in new])  # children x classes
        counts = self._three.feed(mine.reshape(-1).astype(np.uint64))
        rows, wide = mine.shape
        owner = np.repeat(np.arange(len(new)), [len(candidate.children) for candidate in new])
        roots = [
            at for at, candidate in enumerate(new) if (candidate.attribute, candidate.node) not in self._known
        ]
        # The counts of a node are the sums of those of its children: of most nodes they are known already.
        column = np.tile(np.arange(wide), rows)
        whole = counts.summed(np.repeat(owner, wide) * wide + column, len(new) * wide)
        asked = (np.array(roots, dtype=np.intp)[:, None] * wide + np.arange(wide)).reshape(-1)
        every = along([counts, whole[asked]])
        weight, size = self._weighed(every, wide)
        nodes = [(c.attribute, child) for c in new for child in c.children]
        nodes += [(new[at].attribute, new[at].node) for at in roots]
        for at, node in enumerate(nodes):
            self._known[node] = weight[at : at + 1], size[at : at + 1]
        one = self._three.known(np.ones(1, dtype=np.uint64))
        for candidate in new:
            lost, size = self._known[candidate.attribute, candidate.node]
            for child in candidate.children:
                lost -= self._known[candidate.attribute, child][0]
            # Of a value that nobody has the gain is 0, whatever it is divided by.
            self._done[candidate] = lost, one if self._leaves.vacant(candidate) else size

    def _weighed(self, counts: Shared, wide: int) -> tuple[Shared, Shared]:
        """The n log n of each row's total, less those of its counts; and the totals."""
        rows = len(counts) // wide
        totals = counts.summed(np.repeat(np.arange(rows), wide), rows)
        found = self._three.looked_up(along([totals, counts]), self._table)
        of_counts = found[rows:].summed(np.repeat(np.arange(rows), wide), rows)
        return found[:rows] - of_counts, totals


def _n_log_n(room: int, point: int) -> Words:
    """The value of n log2 n for every n, in fixed point.

    >>> _n_log_n(4, 4).tolist()
    [0, 0, 32, 76]
    """
    found = [0 if n < 2 else round(n * log2(n) * 2**point) for n in range(room)]
    return np.array(found, dtype=np.uint64)
