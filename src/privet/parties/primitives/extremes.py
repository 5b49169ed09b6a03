"""Secure maximum and minimum on a ring, and the median by bisection.

Jurczyk and Xiong 2008 (algorithm 3 of their report): a value goes around the ring; who has a larger one
passes on, with a chance that shrinks from round to round, a random value in between, else its own. The last
round is made without chance, so the result is exact. The median is found by secure sums of how many are at
most a probe.

Trust: parties that follow the protocol; no two neighbours collude.
Leaks: the result, to all. To a successor the values that pass: in later rounds these come near a party's own,
and a party that raises the value in the last round shows its own to its successor, unless another has it too.
Of the median, to the first party how many are at most each probe; to all, the probes.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from privet.errors import InternalError, PartyError, UnsupportedError
from privet.parties.primitives.securesum import FIRST, SecureSum, refuse_two
from privet.parties.transport import Link

SHIFT = 1 << 62  # added to values on the way, so that they are not negative


@dataclass(frozen=True)
class Rounds:
    """How many, and how the chance of a random answer shrinks: first, first * shrink, …"""

    rounds: int = 5
    first: Fraction = Fraction(1)
    shrink: Fraction = Fraction(1, 2)
    exact: bool = True  # is the last round made without chance?

    def __post_init__(self) -> None:
        if self.rounds < 1 or not 0 <= self.first <= 1 or not 0 < self.shrink < 1:
            raise UnsupportedError(
                "rounds: one or more; the first chance up to 1, shrinking by a share below 1"
            )

    def chance(self, at: int) -> Fraction:
        """Of a random answer in a round, from 0."""
        if self.exact and at == self.rounds - 1:
            return Fraction(0)
        return self.first * self.shrink**at

    def error(self) -> Fraction:
        """How likely the result is too small, where one party has the largest value."""
        found = Fraction(1)
        for at in range(self.rounds):
            found *= self.chance(at)
        return found


def happens(chance: Fraction) -> bool:
    """With exactly this chance."""
    return secrets.randbelow(chance.denominator) < chance.numerator


def answered(value: int, mine: int | None, chance: Fraction) -> int:
    """What a party passes on: `mine` is None where it has no value."""
    if mine is None or value >= mine:
        return value
    return (
        value + secrets.randbelow(mine - value) if happens(chance) else mine
    )  # below mine, so never the truth


def maximum(link: Link, mine: int | None, low: int, how: Rounds | None = None) -> int:
    """The largest value of all parties, which all learn; `low`: what everybody knows no value is below."""
    refuse_two(link.parties)
    how = how or Rounds()
    if mine is not None and mine < low:
        raise UnsupportedError("a value is below what all parties took for the lowest")
    after, before = (link.me + 1) % link.parties, (link.me - 1) % link.parties
    value = low
    for at in range(how.rounds):
        if link.me != FIRST or at:
            value = _received(link, before)
        _send(link, after, answered(value, mine, how.chance(at)))
    if link.me == FIRST:
        value = _received(link, before)
        for party in link.others:
            _send(link, party, value)
        return value
    return _received(link, FIRST)


def minimum(link: Link, mine: int | None, high: int, how: Rounds | None = None) -> int:
    """The smallest value; `high`: what everybody knows no value is above."""
    return -maximum(link, None if mine is None else -mine, -high, how)


def median(  # noqa: PLR0917 - two ends, and what lies between
    link: Link, adding: SecureSum, at_most: Callable[[int], int], records: int, low: int, high: int
) -> int:
    """The smallest value that half of all records are at most at; all learn it.

    `at_most` counts one's own records up to a value. (The source's bisection does not end where no value has
    as many below as above: {1, 1, 1, 9}.)
    """
    half = (records + 1) // 2
    while low < high:
        middle = (low + high) // 2
        total = adding.total(np.array([at_most(middle)], dtype=np.uint64))
        if link.me == FIRST:
            if total is None:
                raise InternalError("the first party learns a sum")
            enough = int(total[0]) >= half
            link.broadcast_words("enough", np.array([enough], dtype=np.uint8))
        else:
            enough = bool(link.receive_words(FIRST, "enough", 1, np.uint8)[0])
        low, high = (low, middle) if enough else (middle + 1, high)
    return low


def _send(link: Link, to: int, value: int) -> None:
    if abs(value) >= SHIFT:
        raise UnsupportedError("a value has 62 bits at most")
    link.send_words(to, "value", np.array([value + SHIFT], dtype=np.uint64))


def _received(link: Link, sender: int) -> int:
    found = int(link.receive_words(sender, "value", 1, np.uint64)[0]) - SHIFT
    if abs(found) >= SHIFT:
        raise PartyError(f"{link.name(sender)}: sent a value out of range")
    return found
