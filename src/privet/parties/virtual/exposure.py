"""Loss of privacy of a secure set union: what could be concluded on the way, and how many decoys it takes.

Jurczyk and Xiong 2008, section 5: the loss is how much likelier a claim about a site's items is true to
whoever saw a bag on its way than to whoever saw the result only. Of a *set*: "these are exactly its items";
of an *item*: "this one is its". Worst: the adversary is the leader's successor and knows that it leads; on
average it does not. Letters as there, or as spec 08 says: m items could occur, c do, c1 of them the leader's,
n sites, r decoys.

The report's adversary looks which items a bag has. One that counts how often learns more: a decoy may repeat
an item, but the leader's own have one copy on top, and the likeliest are those that occur most. `counted` is
ours, and bounds that: with r decoys an item has l = r / m of them on average; to who has counted b copies it
is b / l times as likely the leader's as before, the largest of K such counts is l + sqrt(2 l ln K) + ln K / 3
at most on average (a Poisson number is sub-gamma), one copy on top.

Trust: n sites of about equal shares; what is said is about one look, of one successor, and `counted` about
items that are different: of a site that has many alike the copies on top are as many.
Leaks: nothing; these are formulas.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal
from enum import Enum
from fractions import Fraction
from math import ceil, log, log1p, sqrt

from privet.errors import UnsupportedError

EXACT = Context(prec=60)


class Exposure(Enum):
    """Which claim is planned for."""

    SET = "set"
    ITEM = "item"
    BOTH = "both"
    COUNTED = "counted"  # both, and an item to who counts how often each occurs


@dataclass(frozen=True)
class Asked:
    """A union to be made: how many items could occur, how many do, and of how many sites."""

    domain: int  # m
    items: int  # c
    sites: int  # n
    leaders: Fraction | None = None  # c1; None: an equal share

    def __post_init__(self) -> None:
        if self.sites < 3 or not 0 <= self.items <= self.domain or not self.domain:
            raise UnsupportedError("three sites or more, and no more items than could occur")
        if not 0 <= self.own <= self.items:
            raise UnsupportedError("the leader has some of the items")

    @property
    def own(self) -> Fraction:
        return Fraction(self.items, self.sites) if self.leaders is None else self.leaders

    @property
    def _missed(self) -> Fraction:
        """How likely one decoy is nobody else's item."""
        return (self.domain - self.items + self.own) / Fraction(self.domain)

    def set_worst(self, decoys: int) -> Decimal:
        """(E4): decoys drawn with putting back."""
        base = Decimal(self._missed.numerator) / Decimal(self._missed.denominator)
        return EXACT.power(EXACT.plus(base), decoys) if base else Decimal(0 if decoys else 1)

    def set_without_repetition(self, decoys: int) -> Fraction:
        """What (E4) bounds where no decoy is drawn twice."""
        others = self.items - self.own
        found = Fraction(1)
        for at in range(decoys):
            found *= max(Fraction(0), self.domain - others - at) / (self.domain - at)
        return found

    def set_average(self, decoys: int) -> Decimal:
        """(E5): the adversary does not know who leads."""
        return self.set_worst(decoys) / (self.sites - 1)

    def _decoys_hitting(self, decoys: int) -> Fraction:
        share = Fraction(self.items, self.sites)
        return decoys * (self.items - share) / self.domain

    def item_bound(self, decoys: int) -> Fraction:
        """(E7) as it is printed; above 1 for few decoys."""
        share = Fraction(self.items, self.sites)
        if not share:
            return Fraction(0)
        return 2 * share / (share + self._decoys_hitting(decoys)) - Fraction(1, self.sites - 1)

    def item_worst(self, decoys: int) -> Fraction:
        """(E7), a probability being at most 1."""
        return min(self.item_bound(decoys), 1 - Fraction(1, self.sites - 1))

    def item_realistic(self, decoys: int) -> Fraction:
        """What is to be expected instead of the bound: not every item of the leader's is a decoy, too."""
        share = Fraction(self.items, self.sites)
        if not share:
            return Fraction(0)
        seen = share + decoys * share / self.domain
        return seen / (share + self._decoys_hitting(decoys)) - Fraction(1, self.sites - 1)

    def item_average(self) -> Fraction:
        """(E8): who does not know the leader learns nothing of an item."""
        return Fraction(0)

    def decoys_for_set(self, loss: Fraction) -> int:
        """(E9): as few decoys as bring the average loss of a set down to this.

        >>> [Asked(100_000, 1_000, 20).decoys_for_set(Fraction(1, n)) for n in (20, 100, 1_000)]
        [6, 174, 416]
        """
        _refuse(loss)
        if not self.items or (self.sites - 1) * loss >= 1:
            return 0
        if not self._missed:
            return 1
        goal = Decimal(loss.numerator) / Decimal(loss.denominator)
        aim = log1p(float((self.sites - 1) * loss - 1)) / log1p(float(self._missed - 1))
        found = max(0, ceil(aim) - 2)  # the logarithm is rounded, the comparison is not
        while self.set_average(found) > goal:
            found += 1
        return found

    def decoys_for_item(self, loss: Fraction) -> int:
        """(E10): as few decoys as bring the bound on the worst loss of an item down to this."""
        _refuse(loss)
        share = Fraction(self.items, self.sites)
        if not share:
            return 0
        wanted = 2 / (loss + Fraction(1, self.sites - 1)) - 1
        return max(0, ceil(self.domain * share / (self.items - share) * wanted))

    def counted(self, decoys: int) -> float:
        """A bound on the worst loss of an item to who counts; see above."""
        others = float(self.items - Fraction(self.items, self.sites))
        if not others:
            return 0.0
        share = 1 / (self.sites - 1)
        copies, among = decoys / self.domain, log(max(2.0, others))
        if not copies:
            return 1 - share
        above = (sqrt(2 * copies * among) + among / 3 + 1) / copies
        return min(share * (1 - share) * above, 1 - share)

    def decoys_for_counts(self, loss: Fraction) -> int:
        """As few decoys as bring that bound down to this.

        >>> [Asked(m, 3, 3).decoys_for_counts(Fraction(1, 20)) for m in (4, 100)]
        [185, 4615]
        """
        _refuse(loss)
        low, high = 0, 1
        while self.counted(high) > loss:
            high *= 2
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.counted(middle) <= loss else (middle + 1, high)
        return low

    def decoys(self, loss: Fraction, exposure: Exposure) -> int:
        """As many as it takes for whichever claim is planned for."""
        wanted = [0]
        if exposure is not Exposure.ITEM:
            wanted.append(self.decoys_for_set(loss))
        if exposure is not Exposure.SET:
            wanted.append(self.decoys_for_item(loss))
        if exposure is Exposure.COUNTED:
            wanted.append(self.decoys_for_counts(loss))
        return max(wanted)


def set_by_result(others: int) -> Fraction:
    """(E2): how likely a guess of a site's set is true to who knows the result, less its own items."""
    return Fraction(1, 1 << others)


def _refuse(loss: Fraction) -> None:
    if not 0 < loss <= 1:
        raise UnsupportedError("a loss of privacy is above 0 and at most 1")
