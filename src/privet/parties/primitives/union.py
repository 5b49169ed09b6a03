"""Secure set union: all items of all parties, equal ones as often as they occur, and not whose they are.

Jurczyk and Xiong 2008 (algorithm 5 of their report): a leader drawn by lot sends its items around the ring
among decoys; everybody adds its own and shuffles; the leader takes the decoys out, one copy for each. (Taking
out all equal items would delete genuine ones of others.) The lot falls by a secure maximum: nobody chooses,
and only the leader knows that it leads. All send one bag and one result, each to its successor, so the result
does not tell either. The leader draws up to twice as many decoys as are asked for: who knew their number
could tell from the size of a bag how far it has come.

Whoever leads sees all items and could pass on others, to see who misses its own and so whose they were. So
nobody leaves the protocol where something is missing; all go on to its end and learn there, at the same
moment, that somebody objects, and not who (`objection`).

Trust: parties that follow the protocol; no two neighbours collude. Of one that changes what it passes on all
learn that it was changed, and nobody whose it was.
Leaks: to all, the items and, on the way, a bag of those that were added before, among the decoys. `exposure`
says how much a successor of the leader could conclude from it. To a leader that leaves out one of several
equal items, whether one of the others has put in all that there were: once, since the union has failed then.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Sequence

import numpy as np

from privet.errors import PartyError, UnsupportedError
from privet.parties.primitives.around import Around
from privet.parties.primitives.extremes import Ints, maxima
from privet.parties.primitives.objection import refuse_objected
from privet.parties.primitives.randomness import below, fresh
from privet.parties.primitives.securesum import refuse_two
from privet.parties.transport import Link

TICKETS = 1 << 61
LARGEST = 1 << 24  # items in a bag, decoys among them
NOT_THOSE = "the items that came back around the ring are not those that the parties handed in"


def shuffled(items: Ints) -> Ints:
    """In one of all orders, each as likely as any other, but for chances of less than len**2 / 2**128."""
    return items[np.lexsort((fresh(len(items), np.uint64), fresh(len(items), np.uint64)))]


def without(bag: Sequence[int], decoys: Sequence[int]) -> list[int] | None:
    """The bag less one copy for each decoy; None where one is missing.

    >>> without([1, 2, 2, 3], [2, 3])
    [1, 2]
    """
    left = Counter(bag)
    left.subtract(decoys)
    if any(count < 0 for count in left.values()):
        return None
    return sorted(left.elements())


def elected(around: Around) -> bool:
    """Does this party lead? One does, by lot; two with a chance below n**2 / 2**61, which ends the run."""
    ticket = np.array([secrets.randbelow(TICKETS)], dtype=np.int64)
    return bool((ticket == maxima(around, ticket, np.array([True]), TICKETS)).all())


def union(link: Link, mine: Sequence[int], domain: int, decoys: int) -> list[int]:
    """All items, which are numbers below `domain`, sorted; every party learns them.

    `decoys`: among how many at least the leader hides its own.
    """
    refuse_two(link.parties)
    around = Around(link)
    items = np.array(mine, dtype=np.int64)
    if ((items < 0) | (items >= domain)).any() or decoys < 0:
        raise UnsupportedError("items are numbers of the domain")
    found, lost = _united(around, items, domain, decoys, leads=elected(around))
    missing = bool(Counter(items.tolist()) - Counter(found))
    held = np.array(found, dtype="<i8").tobytes()
    refuse_objected(link, held, NOT_THOSE, objects=lost or missing)
    return found


def naive(link: Link, mine: Sequence[int], domain: int) -> list[int]:
    """For comparison only: the first party begins and hides nothing, so its successor sees its items."""
    around = Around(link)
    return _united(around, np.array(mine, dtype=np.int64), domain, 0, leads=around.begins)[0]


def _united(around: Around, items: Ints, domain: int, decoys: int, *, leads: bool) -> tuple[list[int], bool]:
    """The union; and to the leader whether what came back to it is another: nobody stops on the way."""
    if not leads:
        _send(around, shuffled(np.concatenate([_received(around, domain), items])))
        found = _received(around, domain)
        _send(around, found)
        return [int(item) for item in found], False
    false = below(np.full(decoys + secrets.randbelow(decoys + 1), domain, dtype=np.int64))
    _send(around, shuffled(np.concatenate([false, items])))
    result = without(_received(around, domain).tolist(), false.tolist())
    _send(around, np.array(result or [], dtype=np.int64))
    back = _received(around, domain).tolist()
    return result or [], result is None or back != result


def _send(around: Around, items: Ints) -> None:
    around.send("items", np.array([len(items)], dtype=np.uint32))
    around.send("bag", items.astype(np.uint64))


def _received(around: Around, domain: int) -> Ints:
    count = int(around.receive("items", 1, np.uint32)[0])
    if count > LARGEST:
        raise PartyError(f"{around.sender}: hands on a bag of more than {LARGEST:,} items")
    found = around.receive("bag", count, np.uint64)
    if (found >= domain).any():
        raise PartyError(f"{around.sender}: hands on an item that is not of the domain")
    return found.astype(np.int64)
