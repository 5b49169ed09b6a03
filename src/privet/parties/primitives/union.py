"""Secure set union: all items of all parties, equal ones as often as they occur, and not whose they are.

Jurczyk and Xiong 2008 (algorithm 5 of their report): a leader drawn by lot sends its items around the ring
among decoys; everybody adds its own and shuffles; the leader takes the decoys out, one copy for each. (Taking
out all equal items would delete genuine ones of others.) The lot falls by a secure maximum: nobody chooses.

Trust: parties that follow the protocol; no two neighbours collude.
Leaks: to all, the items and, on the way, how many have been added up to then; to the leader's successor, the
leader's items among the decoys: as many decoys as it takes, from a domain that looks alike. The leader itself
sees all items without decoys first; the others hear them from it.

From Python only: a building block that no joint release takes yet.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence

import numpy as np

from privet.errors import PartyError, UnsupportedError
from privet.parties.primitives.extremes import maximum
from privet.parties.primitives.securesum import refuse_two
from privet.parties.transport import Link

TICKETS = 1 << 61


def shuffled(items: Sequence[int]) -> list[int]:
    found = list(items)
    secrets.SystemRandom().shuffle(found)
    return found


def without(bag: Sequence[int], decoys: Sequence[int]) -> list[int]:
    """The bag less one copy for each decoy.

    >>> without([1, 2, 2, 3], [2, 3])
    [1, 2]
    """
    left = Counter(bag)
    left.subtract(decoys)
    if any(count < 0 for count in left.values()):
        raise PartyError("a decoy is missing from what came back around the ring")
    return sorted(left.elements())


def elected(link: Link) -> int:
    """A leader by lot: whoever drew the highest ticket. All learn who it is."""
    while True:
        ticket = secrets.randbelow(TICKETS)
        highest = maximum(link, ticket, 0)
        link.broadcast_words("is mine", np.array([ticket == highest], dtype=np.uint8))
        found = [
            party
            for party in range(link.parties)
            if (
                ticket == highest
                if party == link.me
                else link.receive_words(party, "is mine", 1, np.uint8)[0]
            )
        ]
        if len(found) == 1:
            return found[0]


def union(link: Link, mine: Sequence[int], domain: int, decoys: int) -> list[int]:
    """All items, which are numbers below `domain`, sorted; every party learns them.

    `decoys`: how many the leader hides its own among.
    """
    refuse_two(link.parties)
    if any(not 0 <= item < domain for item in mine) or decoys < 0:
        raise UnsupportedError("items are numbers of the domain")
    leader = elected(link)
    after, before = (link.me + 1) % link.parties, (link.me - 1) % link.parties
    if link.me == leader:
        false = [secrets.randbelow(domain) for _ in range(decoys)]
        _send(link, after, shuffled([*false, *mine]))
        found = without(_received(link, before, domain), false)
        for party in link.others:
            _send(link, party, found)
        return found
    _send(link, after, shuffled([*_received(link, before, domain), *mine]))
    return _received(link, leader, domain)


def _send(link: Link, to: int, items: Sequence[int]) -> None:
    link.send_words(to, "items", np.array([len(items)], dtype=np.uint64))
    link.send_words(to, "bag", np.array(items, dtype=np.uint64))


def _received(link: Link, sender: int, domain: int) -> list[int]:
    count = int(link.receive_words(sender, "items", 1, np.uint64)[0])
    found = [int(item) for item in link.receive_words(sender, "bag", count, np.uint64)]
    if any(item >= domain for item in found):
        raise PartyError(f"{link.name(sender)}: sent an item that is not of the domain")
    return found
