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
from privet.parties.primitives.oblivious import Bits, Labels, Receiver, Sender
from privet.parties.transport import Link

Summands = NDArray[np.uint32]
AT_ONCE = 4  # numbers of 32 bits that the 128 bits of one transfer's key cover


def products_holding(sender: Sender, link: Link, other: int, mine: Bits) -> Summands:
    """The holder's summands of the products of its bits, by value and transfer, with the asker's by transfer.

    Bits of several values are multiplied by one bit of the asker's: one transfer serves several of them.
    """
    found = []
    for some in _at_once(len(mine)):
        zero, one = sender.keys(mine.shape[1])
        r, cover = _numbers(zero, len(mine[some])), _numbers(one, len(mine[some]))
        link.send_words(other, "product", (r + mine[some].astype(np.uint32) - cover).reshape(-1))
        found.append(np.negative(r))
    return np.concatenate([np.zeros((0, mine.shape[1]), dtype=np.uint32), *found])


def products_asking(receiver: Receiver, link: Link, other: int, mine: Bits, values: int) -> Summands:
    """The asker's, who has one bit for each transfer."""
    found = []
    for some in _at_once(values):
        keys = _numbers(receiver.keys(mine), many := len(range(values)[some]))
        told = link.receive_words(other, "product", many * len(mine), np.uint32).reshape(many, -1)
        found.append(np.where(mine, keys + told, keys))
    return np.concatenate([np.zeros((0, len(mine)), dtype=np.uint32), *found])


def _at_once(values: int) -> list[slice]:
    return [slice(at, at + AT_ONCE) for at in range(0, values, AT_ONCE)]


def _numbers(keys: Labels, many: int) -> Summands:
    """So many numbers of each key."""
    return np.array(
        [(keys[:, at // 2] >> np.uint64(at % 2 * 32)).astype(np.uint32) for at in range(many)],
        dtype=np.uint32,
    )


@dataclass(frozen=True)
class _Tested:
    """What both parties know of a test: the groups of every combination, and which shares are bounded."""

    candidate: Candidate
    place: Indexes  # of each person of the candidate's, in which of the leaves under it
    leaves: int  # under the candidate
    groups: list[tuple[Indexes, int, Bound]]  # by entry (leaf and child) the group, and how many there are
    wide: int  # bits that hold every count, and a sign

    @classmethod
    def of(cls, leaves: SharedLeaves, candidate: Candidate, bounds: Sequence[Bound]) -> _Tested:
        groups = [(*one, bound) for bound in bounds for one in leaves.groups(candidate, bound)]
        under = len(leaves.under(candidate))
        return cls(candidate, leaves.places(candidate), under, groups, leaves.records.bit_length() + 1)

    @property
    def fan(self) -> int:
        return len(self.candidate.children)

    @property
    def lanes(self) -> int:
        return sum(room * len(bound.shares) for _, room, bound in self.groups)

    def totals(self, summands: Summands) -> Ints:
        """A party's summands by group and bounded value; `summands`: by value, child and person.

        Doubles add up whole numbers below 2**53 exactly, and these have `wide` bits each.
        """
        fan, room, last = self.fan, self.leaves * self.fan, (1 << self.wide) - 1
        entries = np.zeros((len(summands), room), dtype=np.int64)
        for child in range(fan):
            key = self.place * fan + child
            for value, row in enumerate(summands[:, child] & np.uint32(last)):
                entries[value] += np.bincount(key, weights=row, minlength=room).astype(np.int64) & last
        found = [np.zeros(0, dtype=np.int64)]
        for key, many, bound in self.groups:
            found += [
                np.bincount(key, weights=entries[at], minlength=many).astype(np.int64)
                for at, _ in bound.shares
            ]
        return np.concatenate(found)

    def limits(self, sizes: Ints) -> Ints:
        """How many of each group may have each value, in the order of `totals`."""
        found: list[int] = []
        for key, many, bound in self.groups:
            size = np.bincount(key, weights=sizes, minlength=many).astype(np.int64).tolist()
            for _, most in bound.shares:
                found += [n * most.numerator // most.denominator for n in size]
        return np.array(found, dtype=np.int64)


def _with_last(summands: Summands, everybody: Bits | None) -> Summands:
    """By value, child and person, from all children but the last; `everybody`: by value who has it.

    Whoever is in no other child is in the last one, so that its summand is what is left of everybody.
    """
    last = np.negative(summands.sum(axis=1, dtype=np.uint32))
    if everybody is not None:
        last += everybody.astype(np.uint32)
    return np.concatenate([summands, last[:, None]], axis=1)


class Holder:
    """The party that has the sensitive column."""

    def __init__(self, link: Link, other: int) -> None:
        self._link, self._other = link, other
        self._garbling = Garbling(link, other)

    def broken(
        self, leaves: SharedLeaves, candidate: Candidate, bounds: Sequence[Bound], having: Bits
    ) -> bool:
        """`having`: by protected value and person of the candidate's, who has it."""
        test = _Tested.of(leaves, candidate, bounds)
        parts = test.fan - 1
        mine = np.tile(having, (1, parts))
        summands = products_holding(self._garbling.sender, self._link, self._other, mine)
        summands = summands.reshape(len(having), parts, having.shape[1])
        totals = test.totals(_with_last(summands, having))
        found = self._garbling.run(
            any_sum_above(test.lanes, test.wide), lanes_of(totals, test.wide), test.lanes * test.wide + 1
        )
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
        test = _Tested.of(leaves, candidate, bounds)
        fan, parts, persons = test.fan, test.fan - 1, len(mine.child)
        goes = (mine.child == np.arange(parts)[:, None]).reshape(-1)
        summands = products_asking(self._evaluating.receiver, self._link, self._other, goes, mine.values)
        totals = test.totals(_with_last(summands.reshape(mine.values, parts, persons), None))
        sizes = np.bincount(test.place * fan + mine.child, minlength=test.leaves * fan).astype(np.int64)
        over = totals - test.limits(sizes) - 1
        said = np.concatenate([lanes_of(over, test.wide), np.array([mine.already])])
        found = self._evaluating.run(any_sum_above(test.lanes, test.wide), said, test.lanes * test.wide)
        return bool(found[0])
