"""Secure set union: all items of all parties, equal ones as often as they occur, and not whose they are.

Jurczyk and Xiong 2008 (algorithm 5 of their report): a leader drawn by lot sends its items around the ring
among decoys; everybody adds its own and shuffles; the leader takes the decoys out, one copy for each. (Taking
out all equal items would delete genuine ones of others.) The lot falls by a secure maximum: nobody chooses,
and only the leader knows that it leads. All send one bag and one result, each to its successor, so the result
does not tell either. The leader draws up to twice as many decoys as are asked for: who knew their number
could tell from the size of a bag how far it has come.

Trust: parties that follow the protocol; no two neighbours collude.
Leaks: to all, the items and, on the way, a bag of those that were added before, among the decoys. `exposure`
says how much a successor of the leader could conclude from it.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from privet.errors import PartyError, UnsupportedError
from privet.parties.primitives.around import Around
from privet.parties.primitives.extremes import Ints, maxima
from privet.parties.primitives.randomness import below, fresh
from privet.parties.primitives.securesum import refuse_two
from privet.parties.transport import Link

TICKETS = 1 << 61
LARGEST = 1 << 24  # items in a bag, decoys among them


def shuffled(items: Ints) -> Ints:
    """In one of all orders, each as likely as any other, but for chances of less than len**2 / 2**128."""
    return items[np.lexsort((fresh(len(items), np.uint64), fresh(len(items), np.uint64)))]


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


def elected(around: Around) -> bool:
    """Does this party lead? One does, by lot; two with a chance below n**2 / 2**61, which ends the run."""
    ticket = np.array([secrets.randbelow(TICKETS)], dtype=np.int64)
    return bool((ticket == maxima(around, ticket, np.array([True]), TICKETS)).all())


def union(
    link: Link,
    mine: Sequence[int],
    domain: int,
    decoys: int,
    guard: Callable[[list[int]], list[int]] = list,
) -> list[int]:
    """All items, which are numbers below `domain`, sorted; every party learns them.

    `decoys`: among how many at least the leader hides its own; `guard`: what of the result it passes on.
    """
    refuse_two(link.parties)
    around = Around(link)
    items = np.array(mine, dtype=np.int64)
    if ((items < 0) | (items >= domain)).any() or decoys < 0:
        raise UnsupportedError("items are numbers of the domain")
    return _united(around, items, domain, decoys, guard, leads=elected(around))


def naive(link: Link, mine: Sequence[int], domain: int) -> list[int]:
    """For comparison only: the first party begins and hides nothing, so its successor sees its items."""
    around = Around(link)
    return _united(around, np.array(mine, dtype=np.int64), domain, 0, list, leads=around.begins)


def _united(
    around: Around,
    items: Ints,
    domain: int,
    decoys: int,
    guard: Callable[[list[int]], list[int]],
    *,
    leads: bool,
) -> list[int]:
    if not leads:
        _send(around, shuffled(np.concatenate([_received(around, domain), items])))
        found = _received(around, domain)
        _send(around, found)
        return [int(item) for item in found]
    false = below(np.full(decoys + secrets.randbelow(decoys + 1), domain, dtype=np.int64))
    _send(around, shuffled(np.concatenate([false, items])))
    result = guard(without(_received(around, domain).tolist(), false.tolist()))
    _send(around, np.array(result, dtype=np.int64))
    if _received(around, domain).tolist() != result:
        raise PartyError("the union came back around the ring as another")
    return result


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
