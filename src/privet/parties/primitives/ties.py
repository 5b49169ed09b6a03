"""Ties spread over both halves: exactly so many go left, from every party about its share, and none is named.

Jurczyk and Xiong 2008 say that records equal to the median are distributed and not how. Here the ties of all
parties stand on a circle, one after the other, from a place that the first party draws by chance; those that
go left are spread evenly over the circle. Each party sees where its own begin, which is chance to it, and
passes on where they end. (Filling quotas one party after the other would leave whole groups to one party.)

Trust: parties that follow the protocol; no two neighbours collude.
Leaks: to all, how many ties there are and how many go left; nothing of whose they are.
"""

from __future__ import annotations

import numpy as np

from privet.errors import PartyError
from privet.parties.primitives.around import Around
from privet.parties.primitives.extremes import Ints
from privet.parties.primitives.randomness import below


def owned(begin: Ints, mine: Ints, left: Ints, ties: Ints) -> Ints:
    """How many of the places from `begin` on, as many as are mine, go left, on circles of so many ties.

    >>> [int(owned(*(np.array([x]) for x in (at, 1, 2, 5)))[0]) for at in range(5)]
    [0, 0, 1, 0, 1]
    """
    end = begin + mine
    over = np.maximum(end - ties, 0)
    found: Ints = np.minimum(end, ties) * left // ties - begin * left // ties + over * left // ties
    return found


def spread(around: Around, mine: Ints, left: Ints, ties: Ints) -> Ints:
    """How many of my ties go left, by region; `ties`: of all parties, one or more; `left`: of these."""
    dtype = np.dtype(np.uint32)
    if around.begins:
        begin = below(ties)
        around.send("place", ((begin + mine) % ties).astype(dtype))
        if (around.receive("place", len(mine), dtype) != begin).any():
            raise PartyError("the ties that the parties spread are not as many as they counted")
    else:
        begin = around.receive("place", len(mine), dtype).astype(np.int64)
        if (begin >= ties).any():
            raise PartyError(f"{around.sender}: hands on a place around the ring that is not on the circle")
        around.send("place", ((begin + mine) % ties).astype(dtype))
    return owned(begin, mine, left, ties)
