"""Secure sum: everybody adds a vector, one party learns the totals and nobody anything else.

Sums are modulo the size of the number type, which must be larger than any total; each entry has a mask of
its own, drawn anew for every sum, uniform over the whole type. (Without the modulus a mask leaks: the sum of
a large total and a mask is likely to be large.)

`Ring`: the first party sends its vector plus a mask around a ring, whose order is drawn for the session;
every other adds its own; the first takes the mask off. Mohammed 2012, section 5.4; Jurczyk and Xiong 2008.
`Pairwise`: every pair has a common stream; one adds it, the other takes it off; all send to the first at
once. One round instead of n, and neighbours can no longer single out the party between them (Bonawitz et
al., "Practical secure aggregation", CCS 2017, without dropouts: here a party that is gone ends the run).

Trust: parties follow the protocol. Ring: no two neighbours of a party collude. Pairwise: up to n - 2 parties,
the first among them, learn no more than the sum over the others.
Leaks: to the first party the totals. With two parties that would be the other's vector, so both refuse.
"""

from __future__ import annotations

from typing import Protocol

from privet.errors import UnsupportedError
from privet.parties.primitives.around import Around
from privet.parties.primitives.randomness import Stream, agreed, fresh
from privet.parties.transport import Link, Words

FIRST = 0  # the party that learns the totals


class SecureSum(Protocol):
    """A way to add vectors up."""

    def total(self, mine: Words) -> Words | None:
        """The totals at the first party, None at the others; all call it with vectors of one length."""


def refuse_two(parties: int) -> None:
    if parties < 3:
        raise UnsupportedError(
            "a secure sum needs three parties or more: with two, the total less one's own is the other's"
        )


class Ring:
    """Around the ring, in an order drawn for the session."""

    def __init__(self, link: Link) -> None:
        refuse_two(link.parties)
        self._around = Around(link)

    def total(self, mine: Words) -> Words | None:
        around, count, dtype = self._around, len(mine), mine.dtype.type
        if around.begins:
            mask = fresh(count, dtype)
            around.send("ring", mine + mask)
            return around.receive("ring", count, dtype) - mask
        around.send("ring", around.receive("ring", count, dtype) + mine)
        return None


class Pairwise:
    """All at once, each with masks that cancel out."""

    def __init__(self, link: Link) -> None:
        refuse_two(link.parties)
        self._link = link
        self._streams = {party: Stream(seed) for party, seed in agreed(link, "secure sum").items()}

    def total(self, mine: Words) -> Words | None:
        link, count, dtype = self._link, len(mine), mine.dtype.type
        masked = mine.copy()
        for party, stream in self._streams.items():
            mask = stream.draw(count, dtype)
            masked = masked + mask if link.me < party else masked - mask
        if link.me != FIRST:
            link.send_words(FIRST, "masked", masked)
            return None
        for party in link.others:
            masked = masked + link.receive_words(party, "masked", count, dtype)
        return masked
