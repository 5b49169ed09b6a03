"""A ring: in which order parties pass something on.

The order is drawn anew for every session, from its id, so that nobody has the same neighbours for ever: two
neighbours of a party that put their heads together could single it out. The first party of the contract is
where every ring begins and ends.

Trust: no two neighbours collude; the session's id was drawn by chance.
Leaks: who stands where, to all parties.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from privet.parties.primitives.randomness import Stream
from privet.parties.transport import Link, Words

PURPOSE = b"privet ring order"
BEGINS = 0  # the party where every ring begins and ends


class Around:
    """One party's place on the ring of a session."""

    def __init__(self, link: Link) -> None:
        drawn = Stream(sha256(PURPOSE + link.session.id).digest()).permutation(link.parties).tolist()
        at = drawn.index(BEGINS)
        self.order: list[int] = [*drawn[at:], *drawn[:at]]
        self._link = link
        here = self.order.index(link.me)
        self.after = self.order[(here + 1) % link.parties]
        self.before = self.order[here - 1]

    @property
    def sender(self) -> str:
        """Who hands on what comes around; it need not be who made it so."""
        return self._link.name(self.before)

    @property
    def begins(self) -> bool:
        """Is this where the ring begins and ends?"""
        return self._link.me == BEGINS

    def send(self, kind: str, words: Words) -> None:
        self._link.send_words(self.after, kind, words)

    def receive(self, kind: str, count: int, dtype: Any) -> Words:
        return self._link.receive_words(self.before, kind, count, dtype)

    def tell(self, kind: str, words: Words | None, count: int, dtype: Any) -> Words:
        """What the first party says, once around and back to it: when it arrives, all have heard it."""
        if words is not None:
            self.send(kind, words)
            self.receive(kind, count, dtype)
            return words
        heard = self.receive(kind, count, dtype)
        self.send(kind, heard)
        return heard
