"""What the sites of a virtual database do together: add up, tell, find extremes, spread ties, show sizes.

`Among` does it between parties. `Alone` is one site that has all rows: what a trusted third party would do,
and what every site would do for itself. Both are asked by the same code.

Trust: see the primitives; no two neighbours on the ring collude.
Leaks: sums to the first site; what it tells and extremes to all; `sizes`, how many records the sites have in
each region, to all and without names.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from privet.errors import InternalError, PartyError
from privet.parties.assembly import assembled
from privet.parties.primitives import ties
from privet.parties.primitives.around import Around
from privet.parties.primitives.extremes import Ints, Mask, Rounds, maxima
from privet.parties.primitives.replicated import COMPUTING, Feeding, Three
from privet.parties.primitives.securesum import FIRST, Pairwise, Ring
from privet.parties.transport import Link, Words
from privet.parties.words import Adding


class Sites(Protocol):
    """All sites, as one of them takes part."""

    count: int

    def total(self, mine: Words) -> Words | None:
        """Sums over all sites, at the first; None at the others."""

    def tell(self, kind: str, words: Words | None, count: int, dtype: Any) -> Words:
        """What the first site says, at all of them; it gives the words, the others None."""

    def largest(self, mine: Ints, there: Mask, most: int) -> Ints:
        """The largest values of all sites."""

    def spread(self, mine: Ints, left: Ints, tied: Ints) -> Ints:
        """How many of my ties go left, where so many of all ties do."""

    def sizes(self, mine: Ints, most: int) -> list[list[int]]:
        """By region how many records the sites have in it, without names; `most`: of any site."""


class Alone:
    """One site."""

    count = 1

    def total(self, mine: Words) -> Words | None:
        return mine

    def tell(self, kind: str, words: Words | None, count: int, dtype: Any) -> Words:  # noqa: ARG002
        if words is None:
            raise InternalError("who is alone says it")
        return words.astype(dtype)

    def largest(self, mine: Ints, there: Mask, most: int) -> Ints:  # noqa: ARG002
        return np.where(there, mine, 0)

    def spread(self, mine: Ints, left: Ints, tied: Ints) -> Ints:  # noqa: ARG002
        return left

    def sizes(self, mine: Ints, most: int) -> list[list[int]]:  # noqa: ARG002
        return [[int(size)] for size in mine]


class Among:
    """One of three or more sites."""

    def __init__(self, link: Link, adding: Adding, rounds: Rounds | None = None) -> None:
        self._link = link
        self._sum = (Ring if adding is Adding.RING else Pairwise)(link)
        self._circle = adding is Adding.RING
        self._around = Around(link)
        self._rounds = rounds or Rounds()
        self._three: Three | Feeding | None = None
        self.count = link.parties

    def total(self, mine: Words) -> Words | None:
        return self._sum.total(mine)

    def tell(self, kind: str, words: Words | None, count: int, dtype: Any) -> Words:
        if self._circle:
            return self._around.tell(kind, None if words is None else words.astype(dtype), count, dtype)
        if words is None:
            return self._link.receive_words(FIRST, kind, count, dtype)
        self._link.broadcast_words(kind, words.astype(dtype))
        return words.astype(dtype)

    def largest(self, mine: Ints, there: Mask, most: int) -> Ints:
        return maxima(self._around, mine, there, most, self._rounds, self.tell)

    def spread(self, mine: Ints, left: Ints, tied: Ints) -> Ints:
        return ties.spread(self._around, mine, left, tied)

    def sizes(self, mine: Ints, most: int) -> list[list[int]]:
        """As rows of shares that are opened in an order that nobody knows."""
        if self._three is None:
            self._three = (Three if self._link.me < COMPUTING else Feeding)(self._link)
        rows = np.stack([np.arange(len(mine)), mine], axis=1)
        three = self._three if isinstance(self._three, Three) else None
        opened = assembled(self._link, three, rows, [max(1, len(mine)), most + 1])
        found: list[list[int]] = [[] for _ in mine]
        for region, size in opened.tolist():
            found[region].append(size)
        if any(len(some) != self.count for some in found):
            raise PartyError("every site has one size in every region, and these are more or fewer")
        return [sorted(some) for some in found]
