"""Secure maximum: whose number is the largest, and nothing of the numbers.

Two parties compare theirs in a garbled circuit; three or more on shares, every pair at once. All numbers must
differ, so that there is one answer: whoever asks puts a rank of its own below the number itself.

Trust: two: parties that follow the protocol. Three or more: also, of the first three no two collude.
Leaks: whose number is the largest, to all.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from privet.errors import PartyError, UnsupportedError
from privet.parties.primitives.circuits import bits_of, largest_of_two
from privet.parties.primitives.garbling import Evaluating, Garbling
from privet.parties.primitives.replicated import COMPUTING, Feeding, Shared, Three
from privet.parties.transport import Link

BITS = 62  # of a number


class SecureMaximum(Protocol):
    """A way to find out whose number is the largest."""

    def whose(self, mine: int) -> int: ...


def secure_maximum(link: Link) -> SecureMaximum:
    return OfTwo(link) if link.parties == 2 else OfMany(link)


def _checked(number: int) -> int:
    if not 0 <= number < 1 << BITS:
        raise UnsupportedError(f"a number that is compared has {BITS} bits at most")
    return number


class OfTwo:
    """By a garbled circuit; the transfers are set up once."""

    def __init__(self, link: Link) -> None:
        self._side = Garbling(link, 1) if link.me == 0 else Evaluating(link, 0)

    def whose(self, mine: int) -> int:
        found = self._side.run(largest_of_two(BITS), bits_of(_checked(mine), BITS), BITS)
        return int(found[0]) if found is not None else 0


class OfMany:
    """On shares: who loses against nobody."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._three = Three(link) if link.me < COMPUTING else None
        self._feeding = None if self._three else Feeding(link)

    def whose(self, mine: int) -> int:
        parties = self._link.parties
        row = np.zeros(parties, dtype=np.uint64)
        row[self._link.me] = _checked(mine)
        if self._three is None:
            if self._feeding is None:
                raise UnsupportedError("a party computes or hands in")
            self._feeding.feed(row)
            found = int(self._feeding.heard(1, np.uint64)[0])
        else:
            found = self._found(self._three, self._three.feed(row), parties)
        if found >= parties:
            raise PartyError("those who compute named a party that does not exist")
        return found

    @staticmethod
    def _found(three: Three, numbers: Shared, parties: int) -> int:
        one, other = np.divmod(np.arange(parties * parties), parties)
        lost = three.any_of_rows(three.negative(numbers[one] - numbers[other]), parties)
        at = np.flatnonzero(three.open(three.flipped(lost), bits=True))
        if len(at) != 1:
            raise UnsupportedError("two parties have the same largest number")
        three.tell(at.astype(np.uint64))
        return int(at[0])
