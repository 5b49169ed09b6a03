"""A table split by columns, behind the door that searches ask through: same persons, other columns.

Mohammed 2012, section 5.3 (algorithm 5.1). Rows are matched first (`intersection`). Every party knows in
which leaf each person is: the generalised values of all columns, never finer than what is published.
So a party that owns a column scores its candidates by itself, and sees whether one would keep the promises.
Whose candidate is the best is found by a secure maximum; its owner tells the others which part each person of
it goes to.

Trust: two parties or more that follow the protocol; see `largest`.
Leaks: `learned` says it in plain words: above all, the others' generalised values by person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from privet.core import PrivacyModel, Tally
from privet.counts.door import Boxing, Candidate, Cutting, Grouping, Indexes, Ints, Rungs, Score, order
from privet.counts.lookahead import DIGITS, Bound, bounds_of, gain, keeps
from privet.counts.memory import heading
from privet.domain import Node, Value
from privet.errors import InternalError, PartyError, UnsatisfiableError, UnsupportedError
from privet.models.linkage import LinkageModel
from privet.parties.confidence import Asked, Asker, Holder
from privet.parties.leaves import SharedLeaves
from privet.parties.primitives.largest import secure_maximum
from privet.parties.primitives.oblivious import Bits
from privet.parties.transport import Link
from privet.parties.words import Reveal


class AlignedLeaves(SharedLeaves):
    """Leaves of persons that all parties know; of others' columns a party knows what it was told."""

    def __init__(self, tally: Tally, protected: Sequence[tuple[int, int]], mine: Sequence[bool]) -> None:
        super().__init__(tally, protected)
        self._mine = mine
        self._told: tuple[Candidate, Indexes] | None = None

    def split_as_told(self, candidate: Candidate, child: Indexes) -> list[int]:
        """Make another party's split; `child`: which part each person of it goes to."""
        self._told = candidate, child
        positions = self.split(candidate, self.ahead(candidate)[:, :, 0] > 0)
        self._told = None
        return positions

    def parts(self, candidate: Candidate) -> Indexes:
        """Which part each person of the candidate's goes to, in the order of persons."""
        return self._cells(candidate)[1]

    def having(self, candidate: Candidate) -> Bits:
        """By protected value and person of the candidate's, who has it."""
        persons = self.persons(candidate)
        found = [mask[persons] for mask in self._having]
        return np.array(found, dtype=bool).reshape(len(found), len(persons))

    def _cells(self, candidate: Candidate) -> tuple[Indexes, Indexes]:
        if self._mine[candidate.attribute]:
            return super()._cells(candidate)
        if self._told is None or self._told[0] is not candidate:
            raise InternalError("of another party's column nothing is known but what it told")
        return self.persons(candidate), self._told[1]


class ColumnsCounts:
    """The persons that all parties know, as one party is answered; one row for each, in the common order."""

    def __init__(
        self, link: Link, tally: Tally, owner: Sequence[int], reveal: Reveal, holder: int | None = None
    ) -> None:
        """`owner`: by quasi-identifier the party that has it; the codes of others' columns are not used.

        `holder`: the one party that has the sensitive columns; None: all have them.
        """
        if (tally.counts != 1).any():
            raise InternalError("persons that are matched have a row each")
        self._link = link
        self._tally = tally
        self._owner = owner
        self._reveal = reveal
        self._holder = holder
        self._cutting: ColumnsCutting | None = None

    @property
    def heading(self) -> Tally:
        return heading(self._tally)

    @property
    def records(self) -> int:
        return self._tally.records

    def beyond_reach(self, models: Sequence[PrivacyModel]) -> tuple[str, ...]:
        if not self.records:
            raise UnsatisfiableError("there is not one person that all parties know")
        bounds, leaves = self._opened(models)
        size, *having = leaves.everything().tolist()
        fails = np.array(
            [
                size < bound.k
                or any(having[at] * m.denominator > size * m.numerator for at, m in bound.shares)
                for _, bound in bounds
            ],
            dtype=np.uint8,
        )
        if self._holder == self._link.me:
            self._link.broadcast_words("root", fails)
        elif self._holder is not None:  # only the holder knows
            fails[:] = self._link.receive_words(self._holder, "root", len(fails), np.uint8)
        broken = [name for (name, _), fail in zip(bounds, fails.tolist(), strict=True) if fail]
        return tuple(f"{name}: cannot be kept by the persons that all parties know" for name in broken)

    def cutting(self, score: Score, models: Sequence[PrivacyModel]) -> Cutting:
        bounds, leaves = self._opened(models)
        self._cutting = ColumnsCutting(
            self._link, leaves, self._owner, bounds, score, self._reveal, self._holder
        )
        return self._cutting

    def published(self) -> list[list[Value]]:
        """By quasi-identifier what is published of every person, in the common order."""
        if self._cutting is None:
            raise InternalError("what is published is known after the search")
        roots = [column.domain.root for column in self._tally.quasi]
        return [
            [self._cutting.nodes.get((at, position), roots[at]).label for position in of_person.tolist()]
            for at, of_person in enumerate(self._cutting.leaves.of_cells().T)
        ]

    def histograms(self, columns: Sequence[str], by: str | None = None) -> list[Ints]:  # noqa: ARG002
        _refuse()

    def grouping(self, ladders: Sequence[Rungs], sensitive: Sequence[str]) -> Grouping:  # noqa: ARG002
        _refuse()

    def boxing(self, sensitive: Sequence[str]) -> Boxing:  # noqa: ARG002
        _refuse()

    def _opened(self, models: Sequence[PrivacyModel]) -> tuple[list[tuple[str, Bound]], AlignedLeaves]:
        linked = [(m.name, m.linkage()) for m in models if isinstance(m, LinkageModel)]
        bounds, protected = bounds_of(self.heading, [linkage for _, linkage in linked])
        leaves = AlignedLeaves(self._tally, protected, [party == self._link.me for party in self._owner])
        return [(name, bound) for (name, _), bound in zip(linked, bounds, strict=True)], leaves


class ColumnsCutting:
    """The search as one party sees it."""

    def __init__(  # noqa: PLR0917 - what a party has at hand
        self,
        link: Link,
        leaves: AlignedLeaves,
        owner: Sequence[int],
        bounds: Sequence[tuple[str, Bound]],
        score: Score,
        reveal: Reveal,
        holder: int | None,
    ) -> None:
        if score is Score.GAIN_PER_LOSS:
            raise UnsupportedError('score = "gain-per-loss" is not compared between parties; choose another')
        self._link = link
        self.leaves = self._leaves = leaves
        self.nodes: dict[tuple[int, int], Node] = {}  # by attribute and position of its cut, after splits
        self._owner = owner
        self._bounds = bounds
        self._score = score
        self._secure = secure_maximum(link) if reveal is Reveal.DECISIONS else None
        self._gains: dict[Candidate, int] = {}
        self._holder = holder
        self._tests: dict[int, Holder | Asker] = {}  # with whom; set up when first needed

    def best(self, candidates: Sequence[Candidate]) -> tuple[int, float | None]:
        """The candidate with the highest key: its score, then the tie rule; keys differ."""
        ranked = sorted(range(len(candidates)), key=lambda at: order(candidates[at]))
        left = self._leading([candidates[at] for at in ranked])
        mine = {
            at: self._key(candidates[ranked[at]], at, len(ranked))
            for at in left
            if self._is_mine(candidates[ranked[at]])
        }
        parties = {self._owner[candidates[ranked[at]].attribute] for at in left}
        if len(parties) == 1:
            (winner,) = parties
        else:
            winner = self._whose(max(mine.values(), default=0))
        if winner == self._link.me:
            at = max(mine, key=mine.__getitem__)
            self._link.broadcast_words("best", np.array([at], dtype=np.uint32))
        else:
            at = int(self._link.receive_words(winner, "best", 1, np.uint32)[0])
            if at not in left or self._owner[candidates[ranked[at]].attribute] != winner:
                raise PartyError(f"{self._link.name(winner)}: offers a candidate that is not its own")
        return ranked[at], None

    def breaks(self, candidate: Candidate) -> str | None:
        """Its owner sees it on the joint leaves, and tells; with the holder of values that it lacks."""
        names = [name for name, _ in self._bounds]
        owner = self._owner[candidate.attribute]
        asked = [bound for _, bound in self._bounds if candidate.attribute in bound.attributes]
        secret = self._holder not in {None, owner} and any(bound.shares for bound in asked)
        if secret and self._holder == self._link.me:
            self._hold(owner, candidate, asked)
        if owner == self._link.me:
            found = self._ask(candidate, asked) if secret else self._first_broken(candidate)
            self._link.broadcast_words("breaks", np.array([found], dtype=np.uint32))
        else:
            found = int(self._link.receive_words(owner, "breaks", 1, np.uint32)[0])
            if found > len(names):
                raise PartyError(f"{self._link.name(owner)}: names a promise that does not exist")
        return names[found - 1] if found else None

    def _first_broken(self, candidate: Candidate) -> int:
        """The number of the first promise that the split would break, from 1; 0 where it keeps them all."""
        for at, (_, bound) in enumerate(self._bounds, start=1):
            if candidate.attribute in bound.attributes and not self._keeps(candidate, bound):
                return at
        return 0

    def _keeps(self, candidate: Candidate, bound: Bound) -> bool:
        ahead = self._leaves.entries(candidate, self._leaves.ahead(candidate))
        return keeps(ahead, self._leaves.width, candidate, bound)

    def _ask(self, candidate: Candidate, asked: Sequence[Bound]) -> int:
        """As `_first_broken`, with secret values at the holder: of several promises it is not told which."""
        holder = int(self._holder or 0)
        test = self._tests.get(holder) or Asker(self._link, holder)
        self._tests[holder] = test
        if not isinstance(test, Asker):
            raise InternalError("who asks evaluates")
        leaves = self._leaves
        small = any(not self._keeps(candidate, replace(bound, shares=())) for bound in asked)
        mine = Asked(leaves.parts(candidate), leaves.counted - 1, already=small)
        if not test.broken(leaves, candidate, asked, mine):
            return 0
        return next(at for at, (_, b) in enumerate(self._bounds, 1) if candidate.attribute in b.attributes)

    def _hold(self, owner: int, candidate: Candidate, asked: Sequence[Bound]) -> None:
        test = self._tests.get(owner) or Holder(self._link, owner)
        self._tests[owner] = test
        if not isinstance(test, Holder):
            raise InternalError("who holds secret values garbles")
        test.broken(self._leaves, candidate, asked, self._leaves.having(candidate))

    def places(self, attribute: int, node: Node, places: Indexes) -> list[int]:  # noqa: ARG002
        raise InternalError("a contract has no intervals that are split at run time")

    def split(self, candidate: Candidate) -> list[int]:
        positions = self._split(candidate)
        for position, child in zip(positions, candidate.children, strict=True):
            self.nodes[candidate.attribute, position] = child
        return positions

    def _split(self, candidate: Candidate) -> list[int]:
        leaves, owner, fan = self._leaves, self._owner[candidate.attribute], len(candidate.children)
        if owner == self._link.me:
            self._link.broadcast_words("parts", leaves.parts(candidate).astype(_small(fan)))
            return leaves.split(candidate, leaves.ahead(candidate)[:, :, 0] > 0)
        count = len(leaves.persons(candidate))
        child = self._link.receive_words(owner, "parts", count, _small(fan)).astype(np.intp)
        if child.max(initial=0) >= fan:
            raise PartyError(f"{self._link.name(owner)}: sends a person to a part that does not exist")
        return leaves.split_as_told(candidate, child)

    def _is_mine(self, candidate: Candidate) -> bool:
        return self._owner[candidate.attribute] == self._link.me

    def _leading(self, ordered: Sequence[Candidate]) -> list[int]:
        """Those that can still win by what all parties know: by discernibility, the most costly ones."""
        if self._score is Score.INFORMATION_GAIN:
            return list(range(len(ordered)))
        squares = self._leaves.sizes.astype(np.int64) ** 2
        costs = [int(squares[self._leaves.under(candidate)].sum()) for candidate in ordered]
        return [at for at, cost in enumerate(costs) if cost == max(costs)]

    def _key(self, candidate: Candidate, rank: int, room: int) -> int:
        return self._worth(candidate) * room + (room - 1 - rank)

    def _worth(self, candidate: Candidate) -> int:
        """A whole number that is larger where a split is better."""
        if self._score is Score.INFORMATION_GAIN:
            if candidate not in self._gains:
                parts = self._leaves.classes(candidate).astype(np.float64)
                self._gains[candidate] = round(gain(parts.sum(axis=0), parts) * 10**DIGITS)
            return self._gains[candidate]
        after = self._leaves.ahead(candidate)[:, :, 0].astype(np.int64)
        return int(self._leaves.records**2 - (after**2).sum())

    def _whose(self, mine: int) -> int:
        if self._secure is not None:
            return self._secure.whose(mine)
        self._link.broadcast_words("score", np.array([mine], dtype=np.uint64))
        keys = {self._link.me: mine}
        for party in self._link.others:
            keys[party] = int(self._link.receive_words(party, "score", 1, np.uint64)[0])
        return max(keys, key=keys.__getitem__)


def _small(fan: int) -> Any:
    return np.uint8 if fan <= 256 else np.uint32


def _refuse() -> NoReturn:
    raise UnsupportedError("organisations that search together show each other no histograms: use top-down")
