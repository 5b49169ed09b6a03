"""A table split by people, behind the door that searches ask through: same columns, other persons.

Mohammed 2012, section 5.4 (algorithms 5.2 and 5.3). Every party runs the same `top-down` loop on its own
records; what to split next and whether that keeps every promise the parties answer together: from counts that
the leader sees (`reveal = "counts"`, the source's way), or without showing a number to anybody
(`reveal = "decisions"`, its strict mode).

Differs from the source: counts are asked for when they are needed, of the best candidate only, instead of all
at every round; of new groups everybody hears that they occur, not how large they are; the leader sums modulo
2**32. All of it shows less.

Two parties make decisions with two-party computation (`paired`); counts they cannot show each other.

Trust: parties that follow the protocol; see `securesum` and `replicated` for who of three may collude.
Leaks: `learned` says it in plain words for each party.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from privet.core import PrivacyModel, Tally
from privet.counts.door import Boxing, Cutting, Grouping, Ints, Rungs, Score
from privet.counts.lookahead import Bound, bounds_of
from privet.counts.memory import heading
from privet.errors import InternalError, UnsatisfiableError, UnsupportedError
from privet.models.linkage import LinkageModel
from privet.parties.feeding import FeedingCutting
from privet.parties.leaves import SharedLeaves
from privet.parties.primitives.paired import Two
from privet.parties.primitives.replicated import COMPUTING, Feeding, Three
from privet.parties.primitives.securesum import FIRST, Pairwise, Ring
from privet.parties.secret import SecretCutting, counter_type, within_at_root
from privet.parties.shown import FollowerCutting, LeaderCutting
from privet.parties.transport import Link
from privet.parties.words import Adding, Reveal

MOST = 1 << 31  # records of all parties together are fewer


class PeopleCounts:
    """The counts of all parties, as one of them is answered."""

    def __init__(self, link: Link, tally: Tally, reveal: Reveal, adding: Adding = Adding.PAIRWISE) -> None:
        if tally.records * link.parties >= MOST:
            raise UnsupportedError(f"together the parties have fewer than {MOST:,} records")
        self._link = link
        self._reveal = reveal
        self._tally = tally
        self._bounds: list[tuple[str, Bound]] = []
        self._leaves: SharedLeaves | None = None
        self._total = 0
        self._three: Three | Two | None = None
        self._feeding: Feeding | None = None
        self._sum: Ring | Pairwise | None = None
        if reveal is Reveal.COUNTS:
            self._sum = (Ring if adding is Adding.RING else Pairwise)(link)

    @property
    def heading(self) -> Tally:
        return heading(self._tally)

    @property
    def records(self) -> int:
        return self._total

    def computing(self) -> Three | Two | None:
        """This party's part in computing on shares; None beyond the third party."""
        if self._three is None and self._feeding is None:
            if self._link.parties == 2:
                self._three = Two(self._link)
            elif self._link.me < COMPUTING:
                self._three = Three(self._link)
            else:
                self._feeding = Feeding(self._link)
        return self._three

    def beyond_reach(self, models: Sequence[PrivacyModel]) -> tuple[str, ...]:
        leaves = self._opened(models)
        bounds = [bound for _, bound in self._bounds]
        mine = leaves.everything()
        if self._reveal is Reveal.DECISIONS:
            self._total, holds = within_at_root(self.computing(), self._feeding, mine, bounds)
        else:
            self._total, holds = self._shown_root(mine, bounds)
        if not self._total:
            raise UnsatisfiableError("all parties together have not one record")
        if holds:
            return ()
        names = ", ".join(dict.fromkeys(name for name, _ in self._bounds))
        return (f"{names}: cannot be kept by the records of all parties together; contract a looser promise",)

    def cutting(self, score: Score, models: Sequence[PrivacyModel]) -> Cutting:
        leaves = self._opened(models)
        if self._reveal is Reveal.DECISIONS:
            three = self.computing()
            if three is not None:
                return SecretCutting(three, leaves, score, self._bounds, self._total)
            if self._feeding is None:
                raise InternalError("a party computes or hands in")
            counter = counter_type([bound for _, bound in self._bounds], self._total)
            return FeedingCutting(self._feeding, leaves, score, self._bounds, counter)
        if self._sum is None:
            raise InternalError("counts that are shown are summed")
        if self._link.me == FIRST:
            return LeaderCutting(self._link, self._sum, leaves, self.heading, score, models, self._total)
        return FollowerCutting(self._link, self._sum, leaves, [model.name for model in models])

    def histograms(self, columns: Sequence[str], by: str | None = None) -> list[Ints]:  # noqa: ARG002
        _refuse()

    def grouping(self, ladders: Sequence[Rungs], sensitive: Sequence[str]) -> Grouping:  # noqa: ARG002
        _refuse()

    def boxing(self, sensitive: Sequence[str]) -> Boxing:  # noqa: ARG002
        _refuse()

    def _opened(self, models: Sequence[PrivacyModel]) -> SharedLeaves:
        if self._leaves is None:
            linked = [(m.name, m.linkage()) for m in models if isinstance(m, LinkageModel)]
            bounds, protected = bounds_of(self.heading, [linkage for _, linkage in linked])
            self._bounds = [(name, bound) for (name, _), bound in zip(linked, bounds, strict=True)]
            secret = self._reveal is Reveal.DECISIONS
            if secret and any(most.denominator >= MOST for bound in bounds for _, most in bound.shares):
                raise UnsupportedError(f"a share has a denominator below {MOST:,} where it is kept secretly")
            self._leaves = SharedLeaves(self._tally, protected)
        return self._leaves

    def _shown_root(self, mine: Ints, bounds: Sequence[Bound]) -> tuple[int, bool]:
        """How many records there are, and whether the most general table keeps every bound."""
        if self._sum is None:
            raise InternalError("counts that are shown are summed")
        total = self._sum.total(mine.astype(np.uint32))
        if total is not None:
            size, *having = (int(count) for count in total)
            holds = all(
                size >= bound.k
                and all(having[at] * most.denominator <= size * most.numerator for at, most in bound.shares)
                for bound in bounds
            )
            told = np.array([size, holds], dtype=np.uint32)
            self._link.broadcast_words("root", told)
        else:
            told = self._link.receive_words(FIRST, "root", 2, np.uint32)
        return int(told[0]), bool(told[1])


def _refuse() -> NoReturn:
    raise UnsupportedError("organisations that search together show each other no histograms: use top-down")
