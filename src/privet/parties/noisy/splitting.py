"""Where splits come from when two parties share a table: the source of the top-down loop, at one of them.

Across columns the owner of a column of numbers draws where it would be split, on its own rows (both know the
class), and tells the place: an instruction names columns, nodes and places, and never a record. Across people
nobody knows the counts: an interval is split in the middle, which is public and free, or at a place that is
drawn together.

Leaks: of the other's columns the places that were drawn, each paid for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np

from privet.counts.door import Candidate
from privet.domain import Node
from privet.dp.publicdomain import Numbers, Predictor, PublicDomain
from privet.dp.splitting import Splitter
from privet.errors import PartyError
from privet.parties.noisy.choosing import Choice
from privet.parties.transport import Link

DEEPEST = 12  # halvings of one interval
MOST_PLACES = 4096  # at which an interval is split by a draw of both


class ColumnsSplitter(Splitter):
    """One party of two that have different columns of the same persons."""

    def __init__(self, link: Link, owner: Sequence[int], *given: Any) -> None:
        super().__init__(*given)
        self._link, self._owner = link, owner

    def _halves(self, at: int, node: Node) -> Iterator[Candidate]:
        domain = self._table.columns[at].predictor.domain
        if not isinstance(domain, Numbers) or node.leaves < 2:
            return
        party = self._owner[at]
        if party == self._link.me:
            for candidate in super()._halves(at, node):
                place = candidate.children[0].hi
                self._link.broadcast_words("place", np.array([place], dtype=np.uint64))
                yield candidate
            return
        place = int(self._link.receive_words(party, "place", 1, np.uint64)[0])
        if not node.lo < place < node.hi:
            raise PartyError(f"{self._link.name(party)}: splits an interval outside of it")
        yield Candidate(at, node, (domain.node(node.lo, place), domain.node(place, node.hi)), 0)


class PeopleSplitter(Splitter):
    """One party of two that have the same columns of different persons; places are drawn together."""

    def __init__(self, choice: Choice, *given: Any) -> None:
        super().__init__(*given)
        self._choice = choice

    def _halves(self, at: int, node: Node) -> Iterator[Candidate]:
        domain = self._table.columns[at].predictor.domain
        if not isinstance(domain, Numbers) or node.leaves < 2:
            return
        offered = [
            Candidate(at, node, (domain.node(node.lo, place), domain.node(place, node.hi)), 0)
            for place in range(node.lo + 1, node.hi)
        ]
        yield offered[self._choice.draw(offered, self)]


def halved(predictor: Predictor, deep: int) -> Predictor:
    """The same column, where every interval has its two halves below it, so many times."""
    domain = predictor.domain
    if not isinstance(domain, Numbers):
        return predictor

    def below(lo: int, hi: int, left: int) -> Node:
        node, middle = domain.node(lo, hi), (lo + hi) // 2
        if left == 0 or hi - lo < 2:
            return node
        halves = (below(lo, middle, left - 1), below(middle, hi, left - 1))
        return Node(node.label, lo, hi, halves, node.interval)

    numbers = below(0, domain.points, min(deep, DEEPEST))
    root = domain.root
    whole = numbers if not domain.null else Node(root.label, root.lo, root.hi, (numbers, root.children[1]))
    # To the loop it is a tree like any other; what is published is read with the numbers themselves.
    return Predictor(predictor.name, cast("PublicDomain", Halved(domain, whole)))


class Halved:
    """Numbers with a public tree over them."""

    kind = "numerical"

    def __init__(self, numbers: Numbers, root: Node) -> None:
        self.numbers, self.root, self.size = numbers, root, numbers.size
