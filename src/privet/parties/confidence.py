"""Would a split keep every bound on confidence, where one party has the column and another the secret values?

Mohammed 2012 does not say who has the sensitive column. For each person under the candidate and each part,
the asker has a bit (does the person go there?) and the holder another (has the person the protected value?);
an oblivious transfer gives each of them a summand of their product. Groups are unions that both know, so each
adds its own summands up, and a garbled circuit compares the totals with the limits: one bit comes out, for
all groups, all values and the sizes together.

Trust: the two parties follow the protocol.
Leaks: the one bit, to both (and, through the asker, to all parties).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from privet.counts.door import Candidate, Indexes, Ints
from privet.counts.lookahead import Bound
from privet.parties.leaves import SharedLeaves
from privet.parties.primitives.circuits import any_sum_above, lanes_of
from privet.parties.primitives.garbling import Evaluating, Garbling
from privet.parties.primitives.oblivious import Bits, Receiver, Sender
from privet.parties.transport import Link

Summands = NDArray[np.uint32]


def products_holding(sender: Sender, link: Link, other: int, mine: Bits) -> Summands:
    """The holder's summands of the products of its bits with the asker's, one by one."""
    zero, one = sender.keys(len(mine))
    r, cover = zero[:, 0].astype(np.uint32), one[:, 0].astype(np.uint32)
    link.send_words(other, "product", r + mine.astype(np.uint32) - cover)
    return np.negative(r)


def products_asking(receiver: Receiver, link: Link, other: int, mine: Bits) -> Summands:
    """The asker's."""
    keys = receiver.keys(mine)[:, 0].astype(np.uint32)
    told = link.receive_words(other, "product", len(mine), np.uint32)
    found: Summands = np.where(mine, keys + told, keys)
    return found


def _limits(leaves: SharedLeaves, candidate: Candidate, bounds: Sequence[Bound], sizes: Ints) -> Ints:
    """How many of each group may have each value, bound by bound as `_totals` adds them up."""
    found = []
    for bound in bounds:
        for key, room in leaves.groups(candidate, bound):
            size = np.bincount(key, weights=sizes, minlength=room).astype(np.int64).tolist()
            for _, most in bound.shares:
                found.append([n * most.numerator // most.denominator for n in size])
    return np.array([limit for some in found for limit in some], dtype=np.int64)


def _totals(
    leaves: SharedLeaves, candidate: Candidate, bounds: Sequence[Bound], entries: Summands
) -> Summands:
    """This party's summands by group; `entries`: by protected value, leaf and child."""
    found: list[Summands] = [np.zeros(0, dtype=np.uint32)]
    for bound in bounds:
        for key, room in leaves.groups(candidate, bound):
            for at, _ in bound.shares:
                made = np.zeros(room, dtype=np.uint32)
                np.add.at(made, key, entries[at])  # wraps around, as it should
                found.append(made)
    return np.concatenate(found)


def _by_entry(summands: Summands, place: Indexes, fan: int, leaves: int) -> Summands:
    """From a summand for each protected value, child and person to one for each value, leaf and child."""
    table = summands.reshape(-1, fan, len(place))
    found = np.zeros((len(table), leaves * fan), dtype=np.uint32)
    for value in range(len(table)):
        for child in range(fan):
            np.add.at(found[value], place * fan + child, table[value, child])
    return found


class Holder:
    """The party that has the sensitive column."""

    def __init__(self, link: Link, other: int) -> None:
        self._link, self._other = link, other
        self._garbling = Garbling(link, other)

    def broken(
        self, leaves: SharedLeaves, candidate: Candidate, bounds: Sequence[Bound], having: Bits
    ) -> bool:
        """`having`: by protected value and person of the candidate's, who has it."""
        fan, place = len(candidate.children), leaves.places(candidate)
        mine = np.repeat(having[:, None, :], fan, axis=1).reshape(-1)
        summands = products_holding(self._garbling.sender, self._link, self._other, mine)
        entries = _by_entry(summands, place, fan, len(leaves.under(candidate)))
        totals = _totals(leaves, candidate, bounds, entries)
        wide = _wide(leaves)
        circuit = any_sum_above(len(totals), wide)
        found = self._garbling.run(circuit, lanes_of(totals, wide), 2 * len(totals) * wide + 1)
        return found is not None and bool(found[0])


@dataclass(frozen=True)
class Asked:
    """What the asker puts in."""

    child: Indexes = field(repr=False)  # the part that each person goes to
    values: int  # how many are protected
    already: bool = field(repr=False)  # is a group too small anyway?


class Asker:
    """The party that has the candidate's column."""

    def __init__(self, link: Link, other: int) -> None:
        self._link, self._other = link, other
        self._evaluating = Evaluating(link, other)

    def broken(
        self, leaves: SharedLeaves, candidate: Candidate, bounds: Sequence[Bound], mine: Asked
    ) -> bool:
        fan, place, under = len(candidate.children), leaves.places(candidate), leaves.under(candidate)
        goes = np.tile(mine.child == np.arange(fan)[:, None], (mine.values, 1, 1)).reshape(-1)
        summands = products_asking(self._evaluating.receiver, self._link, self._other, goes)
        totals = _totals(leaves, candidate, bounds, _by_entry(summands, place, fan, len(under)))
        sizes = np.bincount(place * fan + mine.child, minlength=len(under) * fan).astype(np.int64)
        limits = _limits(leaves, candidate, bounds, sizes)
        wide = _wide(leaves)
        said = np.concatenate([lanes_of(totals, wide), lanes_of(limits, wide), np.array([mine.already])])
        found = self._evaluating.run(any_sum_above(len(totals), wide), said, len(totals) * wide)
        return bool(found[0])


def _wide(leaves: SharedLeaves) -> int:
    """Bits that hold every count."""
    return leaves.records.bit_length() + 1
