"""Secure maximum and minimum on a ring, and the median by bisection; many at once.

Jurczyk and Xiong 2008 (algorithm 3 of their report): a value goes around the ring; who has a larger one
passes on, with a chance that shrinks from round to round, a random value in between, else its own. The last
round is made without chance, so the result is exact. The median is found by secure sums of how many are at
most a probe. Extremes and medians of many regions travel together, each with chance of its own.

Trust: parties that follow the protocol; no two neighbours collude.
Leaks: the result, to all. To a successor the values that pass: in later rounds these come near a party's own,
and a party that raises the value in the last round shows its own to its successor, unless another has it too.
Of the median, to the first party how many are at most each probe; to all, the probes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.errors import InternalError, PartyError, UnsupportedError
from privet.parties.primitives.around import Around
from privet.parties.primitives.randomness import below
from privet.parties.primitives.securesum import SecureSum, refuse_two
from privet.parties.transport import Link, Words

MOST = (1 << 62) - 1  # how far apart values lie at most
FINEST = 1 << 62  # the denominator of a chance

Ints: TypeAlias = NDArray[np.int64]
Mask: TypeAlias = NDArray[np.bool_]
Draw: TypeAlias = Callable[[Ints], Ints]  # for each bound a number below it
Tell: TypeAlias = Callable[[str, "Words | None", int, Any], Words]  # what the first party says to all


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
        if self.chance(self.rounds - 1).denominator >= FINEST:
            raise UnsupportedError("rounds: the last chance is finer than any that is drawn")

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

    @classmethod
    def for_error(cls, most: Fraction) -> Rounds:
        """As few rounds as err with this chance at most, where no round is made exact.

        >>> [Rounds.for_error(Fraction(1, 10**e)).rounds for e in (1, 2, 3, 4, 6)]
        [4, 5, 5, 6, 7]
        """
        if not 0 < most <= 1:
            raise UnsupportedError("an error is a chance above 0")
        found = cls(1, exact=False)
        while found.error() > most:
            found = cls(found.rounds + 1, exact=False)
        return found


def answered(value: Ints, mine: Ints, there: Mask, chance: Fraction, draw: Draw = below) -> Ints:
    """What a party passes on: `there` says where it has a value at all."""
    found = value.copy()
    larger = np.flatnonzero(there & (mine > value))
    found[larger] = mine[larger]
    if chance and len(larger):
        happens = draw(np.full(len(larger), chance.denominator)) < chance.numerator
        veiled = larger[happens]
        if len(veiled):  # below its own, so never the truth
            found[veiled] = value[veiled] + draw(mine[veiled] - value[veiled])
    return found


def maxima(  # noqa: PLR0917 - values, their bounds, and who says the result how
    around: Around, mine: Ints, there: Mask, most: int, how: Rounds | None = None, tell: Tell | None = None
) -> Ints:
    """The largest values of all parties, which all learn; 0 where nobody has one. Values are 0 to `most`."""
    how = how or Rounds()
    if (there & ((mine < 0) | (mine > most))).any() or most > MOST:
        raise UnsupportedError("a value is not within what all parties took for the lowest and the highest")
    dtype = np.min_scalar_type(most)
    value = np.zeros(len(mine), dtype=np.int64)
    for at in range(how.rounds):
        if not around.begins or at:
            value = _received(around, len(mine), dtype, most)
        around.send("value", answered(value, mine, there, how.chance(at)).astype(dtype))
    said = _received(around, len(mine), dtype, most).astype(dtype) if around.begins else None
    return (tell or around.tell)("largest", said, len(mine), dtype).astype(np.int64)


def maximum(link: Link, mine: int | None, low: int, how: Rounds | None = None) -> int:
    """The largest value of all parties, which all learn; `low`: what everybody knows no value is below."""
    refuse_two(link.parties)
    above = np.array([0 if mine is None else mine - low], dtype=np.int64)
    return low + int(maxima(Around(link), above, np.array([mine is not None]), MOST, how)[0])


def minimum(link: Link, mine: int | None, high: int, how: Rounds | None = None) -> int:
    """The smallest value; `high`: what everybody knows no value is above."""
    return -maximum(link, None if mine is None else -mine, -high, how)


def medians(  # noqa: PLR0917 - two ends, and what lies between
    adding: SecureSum,
    tell: Tell,
    at_most: Callable[[Ints], Ints],
    records: Ints | None,
    low: Ints,
    high: Ints,
) -> Ints:
    """By region the smallest value that half of its records are at most at; all learn it.

    `at_most` counts one's own records up to a probe in each region; `records`: how many there are in all,
    which only the first party need know. (The source's bisection does not end where no value has as many
    below as above: {1, 1, 1, 9}.)
    """
    low, high = low.copy(), high.copy()
    while len(wide := np.flatnonzero(low < high)):
        middle = (low + high) // 2
        total = adding.total(at_most(middle)[wide].astype(np.uint32))
        said = None
        if total is not None:
            if records is None:
                raise InternalError("who learns a sum knows how many records there are")
            said = (total.astype(np.int64) >= (records[wide] + 1) // 2).astype(np.uint8)
        enough = tell("enough", said, len(wide), np.uint8).astype(bool)
        high[wide[enough]] = middle[wide[enough]]
        low[wide[~enough]] = middle[wide[~enough]] + 1
    return low


def median(  # noqa: PLR0917 - two ends, and what lies between
    link: Link, adding: SecureSum, at_most: Callable[[int], int], records: int, low: int, high: int
) -> int:
    """The smallest value that half of all records are at most at; all learn it."""

    def counted(probe: Ints) -> Ints:
        return np.array([at_most(int(probe[0]))], dtype=np.int64)

    ends = (np.array([end], dtype=np.int64) for end in (records, low, high))
    return int(medians(adding, Around(link).tell, counted, *ends)[0])


def _received(around: Around, count: int, dtype: Any, most: int) -> Ints:
    found = around.receive("value", count, dtype).astype(np.int64)
    if (found > most).any() or (found < 0).any():
        raise PartyError(f"{around.sender}: hands on a value around the ring that is out of range")
    return found
