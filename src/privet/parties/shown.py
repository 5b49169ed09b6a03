"""Searching together where the leader sees counts: `reveal = "counts"`, the way of the source.

The leader decides with the same code that decides on one machine (`counts.memory`); where that asks for
counts, the leader asks the parties for their sum. The others answer questions about candidates that they know
themselves, and hear decisions.

Trust: see `securesum`. A leader that asks more than the search needs is noticed where it asks about another
candidate than those that all parties have at that moment.
Leaks: to the leader, of every candidate the records of its children by target; of the best candidate of each
round, and of some that tie, the sizes of the groups that it would make, and the records with each protected
value in them, also where these groups are too small to be published.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privet.core import PrivacyModel, Tally
from privet.counts.door import Ahead, Boxing, Candidate, Grouping, Indexes, Ints, Mask, Rungs, Score
from privet.counts.lookahead import gain
from privet.counts.memory import OpenCutting
from privet.domain import Node
from privet.errors import InternalError, PartyError, UnsupportedError
from privet.parties.leaves import SharedLeaves
from privet.parties.primitives.securesum import FIRST, SecureSum
from privet.parties.transport import Link
from privet.recoding import Recoding

ANSWER, AHEAD, CLASSES = range(3)  # what a message of the leader is about
OTHERS = "a party added counters that its records cannot have: the parts of a group are not its records"


class Asking:
    """The leader's questions: counters of candidates, summed over all parties."""

    def __init__(self, link: Link, adding: SecureSum, leaves: SharedLeaves) -> None:
        self._link = link
        self._sum = adding
        self._leaves = leaves

    def ahead(self, candidates: Sequence[Candidate]) -> list[Ints]:
        return self._asked(AHEAD, candidates, [self._leaves.ahead(c) for c in candidates])

    def classes(self, candidates: Sequence[Candidate]) -> list[Ints]:
        return self._asked(CLASSES, candidates, [self._leaves.classes(c) for c in candidates])

    def answer(self, *numbers: int) -> None:
        self._link.broadcast_words("ask", np.array([ANSWER, len(numbers)], dtype=np.uint32))
        self._link.broadcast_words("answer", np.array(numbers, dtype=np.uint32))

    def occurring(self, there: Mask) -> None:
        self.answer(0)
        self._link.broadcast_words("occurring", np.packbits(there.reshape(-1)))

    def _asked(self, what: int, candidates: Sequence[Candidate], mine: Sequence[Ints]) -> list[Ints]:
        self._link.broadcast_words("ask", np.array([what, len(candidates)], dtype=np.uint32))
        which = np.array([(c.attribute, c.position) for c in candidates], dtype=np.uint32)
        self._link.broadcast_words("which", which.reshape(-1))
        total = self._sum.total(np.concatenate([one.reshape(-1) for one in mine]).astype(np.uint32))
        if total is None:
            raise InternalError("the leader is who learns a sum")
        parts = np.split(total.astype(np.int64), np.cumsum([one.size for one in mine])[:-1])
        return [part.reshape(one.shape) for part, one in zip(parts, mine, strict=True)]


class AskedGains:
    """Gains from the records of each candidate's children by target, and of nothing finer."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._known: dict[Candidate, float] = {}

    def of(self, candidates: Sequence[Candidate]) -> list[float]:
        new = [candidate for candidate in candidates if candidate not in self._known]
        if new:
            for candidate, counts in zip(new, self._asking.classes(new), strict=True):
                parts = counts.astype(np.float64)
                self._known[candidate] = gain(parts.sum(axis=0), parts)
        return [self._known[candidate] for candidate in candidates]

    def places(self, attribute: int, node: Node, places: Indexes) -> list[int]:  # noqa: ARG002
        raise InternalError("a contract has no intervals that are split by counts of single values")


class LeadersLeaves:
    """Leaves as the leader sees them: with the records of all parties."""

    def __init__(self, asking: Asking, leaves: SharedLeaves, records: int) -> None:
        self._asking = asking
        self._leaves = leaves
        self._looked: dict[Candidate, Ints] = {}
        self.size: Ints = np.array([records], dtype=np.int64)

    @property
    def width(self) -> list[int]:
        return self._leaves.width

    @property
    def splits_made(self) -> int:
        return self._leaves.splits_made

    @property
    def position(self) -> list[Indexes]:
        return list(self._leaves.positions.T)

    def ahead(self, candidates: Sequence[Candidate]) -> list[Ahead]:
        new = [candidate for candidate in candidates if candidate not in self._looked]
        if new:
            for candidate, counters in zip(new, self._asking.ahead(new), strict=True):
                self._refuse_others(candidate, counters)
                self._looked[candidate] = counters
        return [self._leaves.entries(candidate, self._looked[candidate]) for candidate in candidates]

    def along(self, attribute: int, node: Node) -> tuple[Indexes, Indexes, Ints] | None:  # noqa: ARG002
        raise InternalError("a contract has no intervals that are split by counts of single values")

    def split(self, candidate: Candidate) -> list[int]:
        self.ahead([candidate])
        sizes, under = self._looked[candidate][:, :, 0], self._leaves.under(candidate)
        there = sizes > 0
        self._asking.occurring(there)
        first = there & (np.cumsum(there, axis=1) == 1)
        self.size[under] = sizes[first]
        self.size = np.concatenate([self.size, sizes[there & ~first]])
        self._looked.clear()  # groups are finer now
        return self._leaves.split(candidate, there)

    def _refuse_others(self, candidate: Candidate, counters: Ints) -> None:
        """The parts of a group are its records, and who has a protected value is one of them.

        Whose counters are others is not known: the leader sees sums.
        """
        sizes = counters[:, :, :1]
        whole = sizes[:, :, 0].sum(axis=1) == self.size[self._leaves.under(candidate)]
        if not whole.all() or (counters > sizes).any():
            raise PartyError(OTHERS)


class _Shown:
    """What `OpenCutting` needs of counts, at the leader."""

    def __init__(self, heading: Tally, leaves: LeadersLeaves, records: int) -> None:
        self.heading = heading
        self.records = records
        self._leaves = leaves

    def leaves(self, protected: Sequence[tuple[int, int]], *, needed: bool) -> LeadersLeaves:  # noqa: ARG002
        return self._leaves

    def histograms(self, columns: Sequence[str], by: str | None = None) -> list[Ints]:  # noqa: ARG002
        raise InternalError("no party sees a histogram")

    def published(self, recoding: Recoding) -> Tally:  # noqa: ARG002
        raise UnsupportedError("a promise that is not a bound on linkage cannot be kept together")

    def beyond_reach(self, models: Sequence[PrivacyModel]) -> tuple[str, ...]:  # noqa: ARG002
        raise InternalError("asked before")

    def cutting(self, score: Score, models: Sequence[PrivacyModel]) -> OpenCutting:  # noqa: ARG002
        raise InternalError("asked before")

    def grouping(self, ladders: Sequence[Rungs], sensitive: Sequence[str]) -> Grouping:  # noqa: ARG002
        raise InternalError("a cut has no lattice")

    def boxing(self, sensitive: Sequence[str]) -> Boxing:  # noqa: ARG002
        raise InternalError("a cut has no boxes")


class LeaderCutting:
    """The leader: decides as one machine would, and says what was decided."""

    def __init__(  # noqa: PLR0917 - what a party has at hand
        self,
        link: Link,
        adding: SecureSum,
        leaves: SharedLeaves,
        heading: Tally,
        score: Score,
        models: Sequence[PrivacyModel],
        records: int,
    ) -> None:
        self._asking = Asking(link, adding, leaves)
        self._names = [model.name for model in models]
        gains = None if heading.target is None else AskedGains(self._asking)
        shown = _Shown(heading, LeadersLeaves(self._asking, leaves, records), records)
        self._deciding = OpenCutting(shown, score, models, gains)

    def best(self, candidates: Sequence[Candidate]) -> tuple[int, float | None]:
        at, score = self._deciding.best(candidates)
        self._asking.answer(at)
        return at, score

    def breaks(self, candidate: Candidate) -> str | None:
        broken = self._deciding.breaks(candidate)
        self._asking.answer(0 if broken is None else 1 + self._names.index(broken))
        return broken

    def places(self, attribute: int, node: Node, places: Indexes) -> list[int]:
        return self._deciding.places(attribute, node, places)

    def split(self, candidate: Candidate) -> list[int]:
        return self._deciding.split(candidate)


class FollowerCutting:
    """The others: add their counters to what is asked, and hear what was decided."""

    def __init__(self, link: Link, adding: SecureSum, leaves: SharedLeaves, names: Sequence[str]) -> None:
        self._link = link
        self._sum = adding
        self._leaves = leaves
        self._names = names
        self._counted: set[tuple[int, Candidate, int]] = set()  # nobody is counted twice

    def best(self, candidates: Sequence[Candidate]) -> tuple[int, float | None]:
        at = self._served(candidates)
        if at >= len(candidates):
            raise PartyError(f"{self._link.name(FIRST)}: chose a candidate that does not exist")
        return at, None

    def breaks(self, candidate: Candidate) -> str | None:
        at = self._served([candidate])
        if at > len(self._names):
            raise PartyError(f"{self._link.name(FIRST)}: names a promise that does not exist")
        return None if at == 0 else self._names[at - 1]

    def places(self, attribute: int, node: Node, places: Indexes) -> list[int]:  # noqa: ARG002
        raise InternalError("a contract has no intervals that are split by counts of single values")

    def split(self, candidate: Candidate) -> list[int]:
        self._served([candidate])
        shape = (len(self._leaves.under(candidate)), len(candidate.children))
        room = shape[0] * shape[1]
        packed = self._link.receive_words(FIRST, "occurring", (room + 7) // 8, np.uint8)
        there = np.unpackbits(packed, count=room).astype(bool).reshape(shape)
        return self._leaves.split(candidate, there, self._link.name(FIRST))

    def _served(self, candidates: Sequence[Candidate]) -> int:
        """Add to what the leader asks about these candidates, until it says what it decided."""
        known = {(c.attribute, c.position): c for c in candidates}
        leader = self._link.name(FIRST)
        while True:
            what, count = self._link.receive_words(FIRST, "ask", 2, np.uint32).tolist()
            if what == ANSWER:
                return int(self._link.receive_words(FIRST, "answer", 1, np.uint32)[0])
            if what not in {AHEAD, CLASSES} or count > len(candidates):
                raise PartyError(f"{leader}: asks what no search asks")
            pairs = self._link.receive_words(FIRST, "which", 2 * count, np.uint32).reshape(-1, 2).tolist()
            asked = [known.get((attribute, position)) for attribute, position in pairs]
            some = [candidate for candidate in asked if candidate is not None]
            if len(some) < count:
                raise PartyError(f"{leader}: asks about a candidate that this search does not have")
            # Of targets once for ever; of groups once more after every split, when they are finer.
            since = self._leaves.splits_made if what == AHEAD else 0
            fresh = {(what, candidate, since) for candidate in some}
            if len(fresh) < count or fresh & self._counted:
                raise PartyError(f"{leader}: asks for the same counts again")
            self._counted |= fresh
            counters = self._leaves.ahead if what == AHEAD else self._leaves.classes
            mine = np.concatenate([counters(candidate).reshape(-1) for candidate in some])
            self._sum.total(mine.astype(np.uint32))
