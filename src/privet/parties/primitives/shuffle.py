"""Oblivious shuffle: rows of all parties in an order that nobody knows, so that none tells whose it is.

Laur, Willemson and Zhang, "Round-efficient oblivious database manipulation", ISC 2011, on replicated shares:
three times two of the three parties put the shared rows in an order that only they know. Each party has no
part in one of the three, so the order of the whole is chance to it.

Trust: as `replicated`: of the three that compute no two collude.
Leaks: to the three how many rows each party hands in; who pads its rows to an agreed number hides that.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

import numpy as np

from privet.parties.primitives.randomness import Stream
from privet.parties.primitives.replicated import COMPUTING, Shared, Three
from privet.parties.primitives.sharing import shared
from privet.parties.transport import Link, Words


def shuffled(three: Three, rows: Shared, width: int) -> Shared:
    """The rows (`width` numbers each, one after the other) in an order that nobody knows."""
    three.shuffles += 1
    for turn in range(COMPUTING):
        first, second = turn, (turn + 1) % COMPUTING
        if three.me == first:
            part = rows.here + rows.there
        elif three.me == second:
            part = rows.there
        else:
            part = np.zeros_like(rows.here)
        if three.me in {first, second}:
            other = second if three.me == first else first
            order = three.stream(other, f"order {three.shuffles} {turn}").permutation(len(rows) // width)
            part = part.reshape(-1, width)[order].reshape(-1)
        rows = three.reshared(part)
    return rows


def handed_in(
    link: Link, three: Three | None, mine: Words, counts: Sequence[int], width: int
) -> Shared | None:
    """The rows of all parties one after the other, as a secret; None at those who do not compute.

    `counts`: how many rows each party hands in.
    """
    if three is None:
        for party, share in enumerate(shared(mine, COMPUTING)):
            link.send_words(party, "rows", share)
        return None
    shares = shared(mine, COMPUTING)
    for party in range(COMPUTING):
        if party != link.me:
            link.send_words(party, "rows", shares[party])
    parts: list[Words] = []
    for party, count in enumerate(counts):
        if party == link.me:
            parts.append(shares[link.me])
        else:
            parts.append(link.receive_words(party, "rows", count * width, np.uint64))
    return three.reshared(np.concatenate(parts))


def by_chance(rows: Words, width: int) -> Words:
    """The rows in an order of chance, at their owner: what is handed in does not tell where it stood."""
    order = Stream(secrets.token_bytes(32)).permutation(len(rows) // width)
    found: Words = rows.reshape(-1, width)[order].reshape(-1)
    return found
