"""ClusTree and CToff: classes of records that lose little as one tree (Ozalp 2017, section 2.3).

A class grows from a seed: whoever joins at the least price comes next, until there are `l`. CToff keeps
every class. ClusTree keeps one only if it is not much dearer than those kept so far, and tries the others
again later with more patience.

A class that was refused is remembered. Records only ever leave the pool, and who was nearest stays nearest
while there: so a seed is searched again only from the first of its members that is gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from privet.core import Progress, Terms, silent
from privet.declared import AlgorithmFacts, settle
from privet.document.compiled import THREADS
from privet.document.cost import Prices
from privet.document.diversify import ANYTHING, Representative, Trees, Weights
from privet.document.edits import DocumentEdits, TreeClass
from privet.document.forest import Forest
from privet.document.mapping import Mapping
from privet.document.partition import in_parts
from privet.document.promises import WHOLE
from privet.errors import PolicyError, UnsatisfiableError

REMEMBERED = 1 << 25  # prices, of eight bytes each
Infeasible: TypeAlias = Literal["skip", "literal"]


@dataclass(frozen=True, kw_only=True)
class CToff(AlgorithmFacts):
    """Every class is kept: one pass, quick.

    `infeasible`: what happens to a record whose root can be one with no other: "skip" keeps it out of all
    classes, "literal" lets it wipe out the class that it is cheapest for, as the source has it.
    `part`: larger collections are clustered in parts of so many records; 0 compares everybody with everybody.
    `absorb`: put those who are left over into a class that stays diverse, where that loses less.
    """

    mapping: Mapping = "lsap"
    weights: Weights = "literal"
    sa_weight: Fraction = Fraction(0)
    infeasible: Infeasible = "skip"
    absorb: bool = False
    part: int = 1_000

    name: ClassVar[str] = "ctoff"
    kinds: ClassVar[tuple[str, ...]] = ("documents",)

    def __post_init__(self) -> None:
        settle(self)
        if self.sa_weight < 0:
            raise PolicyError("sa_weight is not negative")
        if self.part < 0:
            raise PolicyError("part is a number of records, or 0 for all at once")

    def complaints(self, policy: Terms) -> list[str]:
        """What it keeps are promises about trees that are published whole."""
        models: tuple[Any, ...] = policy.models
        return [
            f"models[{at}]: {model.name} is about trees in two halves; use tree-anatomy for it"
            for at, model in enumerate(models)
            if not isinstance(model, WHOLE)
        ]

    def patience(self) -> list[Fraction | None]:
        """How many deviations above the mean a class may cost, pass by pass; None: whatever it costs."""
        return [None]

    def cluster(
        self,
        forest: Forest,
        size: int,
        *,
        diverse: bool = True,
        threads: int = THREADS,
        progress: Progress = silent,
    ) -> DocumentEdits:
        """Classes of `size` records. Without `diverse` sensitive values are not looked at: k-anonymity."""
        if size < 1:
            raise PolicyError("a class has at least one record")
        if len(forest) < size:
            raise UnsatisfiableError(
                f"{len(forest)} records cannot form a class of {size}; make it smaller, or bring more"
            )
        if self.part and len(forest) > self.part:

            def one(some: Forest) -> DocumentEdits:
                return self._whole(some, size, diverse=diverse, threads=1)

            return in_parts(forest, one, size, self.part, threads=threads, progress=progress)
        return self._whole(forest, size, diverse=diverse, threads=threads, progress=progress)

    def _whole(
        self, forest: Forest, size: int, *, diverse: bool, threads: int, progress: Progress = silent
    ) -> DocumentEdits:
        trees = Trees.of(forest, 2 * size, self.mapping, self.weights, self.sa_weight)
        with ThreadPoolExecutor(THREADS) as pool:
            run = _Run(
                trees,
                size,
                pool if threads > 1 else None,
                diverse=diverse,
                literal=self.infeasible == "literal",
            )
            run.passes(self.patience(), progress)
        if self.absorb:
            run.absorb()
        return DocumentEdits(trees.nodes, tuple(run.kept), tuple(sorted(run.suppressed)))


@dataclass(frozen=True, kw_only=True)
class ClusTree(CToff):
    """A class is kept if it costs at most mean + chi deviations of those kept before; chi grows by `step`
    with each pass, and from `ceiling` on everything is kept.
    """

    step: Fraction = Fraction(1, 2)
    ceiling: Fraction = Fraction(4)

    name: ClassVar[str] = "clustree"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.step <= 0 or self.ceiling <= 0:
            raise PolicyError("step and ceiling are positive")

    def patience(self) -> list[Fraction | None]:
        """Patience grows from 0 by steps; the last pass has no limit.

        >>> len(ClusTree().patience()), len(ClusTree(step=Fraction("0.7"), ceiling=Fraction(3)).patience())
        (9, 6)
        """
        refusing = -(-self.ceiling // self.step)  # chi = 0, s, 2s, ... below the ceiling
        return [*(pass_ * self.step for pass_ in range(refusing)), None]


@dataclass
class _Attempt:
    """A class as far as it has grown: members in the order they joined, the representative after each."""

    members: list[int]
    reps: list[Representative | None] = field(repr=False)  # None: wiped out
    known: list[Prices] = field(default_factory=list, repr=False)  # by stage and record: bounds of prices


class _Run:
    def __init__(
        self,
        trees: Trees,
        size: int,
        threads: ThreadPoolExecutor | None,
        *,
        diverse: bool,
        literal: bool,
    ) -> None:
        self.trees, self.size, self.literal, self.threads = trees, size, literal, threads
        self.diverse = diverse
        self.allowed = 1 if diverse else ANYTHING
        self.there: NDArray[np.bool_] = np.ones(len(trees.forest), dtype=bool)
        self.left = len(trees.forest)
        self.kept: list[TreeClass] = []
        self.suppressed: list[int] = []
        self.attempts: dict[int, _Attempt] = {}
        # By seed and record: a price that the two are not below as a pair. Remembered while there is room.
        worth = len(self.there) ** 2 * size <= REMEMBERED
        self.known: Prices | None = np.zeros((len(self.there),) * 2, dtype=np.int64) if worth else None
        self.count, self.sum, self.squares = 0, 0, 0  # of the prices of classes kept, in whole numbers

    def passes(self, patience: Sequence[Fraction | None], progress: Progress) -> None:
        total = len(self.there)
        for chi in patience:
            for seed in np.flatnonzero(self.there).tolist():
                if self.left < self.size:
                    self._suppress(np.flatnonzero(self.there).tolist())
                    return
                if self.there[seed]:
                    self._seed(seed, chi)
                    progress("grouping records", total - self.left, total)
            if not self.left:
                return

    def _seed(self, seed: int, chi: Fraction | None) -> None:
        attempt = self._grown(seed)
        if attempt is None:
            if chi is None:
                self._suppress([seed])
            return
        rep = attempt.reps[-1]
        price = (
            sum(int(self.trees.tariff.loss[self.trees.forest.starts[m]]) for m in attempt.members)
            if rep is None
            else self.trees.class_price(rep, attempt.members)
        ) // self.trees.tariff.step
        if self.count > 1 and chi is not None and self._dear(price, chi):
            return
        self.count, self.sum, self.squares = self.count + 1, self.sum + price, self.squares + price * price
        if rep is None:
            self._suppress(attempt.members)
            return
        self.kept.append(TreeClass(tuple(attempt.members), rep))
        self._leave(attempt.members)

    def _dear(self, price: int, chi: Fraction) -> bool:
        """Is it above mean + chi * deviation? Asked without dividing or taking a root."""
        over = self.count * price - self.sum
        return over > 0 and over * over > chi * chi * (self.count * self.squares - self.sum * self.sum)

    def _grown(self, seed: int) -> _Attempt | None:
        """The class of a seed; None where nobody can join."""
        attempt = self.attempts.setdefault(seed, _Attempt([seed], [self.trees.start(seed)]))
        still = next((at for at, m in enumerate(attempt.members) if not self.there[m]), self.size)
        del attempt.members[still:], attempt.reps[still:], attempt.known[still:]
        self.there[attempt.members] = False  # nobody joins twice
        while len(attempt.members) < self.size and self._join(attempt):
            pass
        self.there[attempt.members] = True
        return attempt if len(attempt.members) == self.size else None

    def _join(self, attempt: _Attempt) -> bool:
        rep = attempt.reps[-1]
        pool = np.flatnonzero(self.there)
        if rep is None or self.literal:
            return self._join_literally(attempt, rep, pool)
        bounds = self._bounds(attempt, rep, pool)
        found = self.trees.nearest(rep, pool, bounds, self.threads, self.allowed)
        self._remember(attempt, pool, bounds)
        if found is None:
            return False
        attempt.members.append(found)
        attempt.reps.append(self.trees.merged(rep, found, self.allowed))
        self.there[found] = False
        return True

    def _bounds(self, attempt: _Attempt, rep: Representative, pool: NDArray[np.int64]) -> Prices:
        """Below which price nobody joins, from all that is known."""
        bounds = self.trees.floor(rep, pool)
        if self.known is None:
            return bounds
        stage = len(attempt.members) - 1
        if stage < len(attempt.known):
            np.maximum(bounds, attempt.known[stage][pool], out=bounds)
        elif self.trees.mapping == "lsap":
            # Whoever joins a class could have joined each of its members: that would have kept whatever this
            # keeps, and cost no more than this but for what the member has lost since.
            for member in attempt.members:
                lost = self.trees.tariff.loss[self.trees.forest.starts[member]] - rep.loss[0]
                np.maximum(bounds, self.known[member, pool] - lost, out=bounds)
        return bounds

    def _remember(self, attempt: _Attempt, pool: NDArray[np.int64], bounds: Prices) -> None:
        if self.known is None:
            return
        stage = len(attempt.members) - 1
        if stage == len(attempt.known):
            seed = attempt.members[0]
            attempt.known.append(np.zeros(len(self.there), dtype=np.int64) if stage else self.known[seed])
        attempt.known[stage][pool] = bounds
        if not stage and self.trees.mapping == "lsap":  # a best assignment costs the same from both sides
            self.known[pool, attempt.members[0]] = bounds

    def _join_literally(self, attempt: _Attempt, rep: Representative | None, pool: NDArray[np.int64]) -> bool:
        """As the source has it: who cannot join costs both trees; where that is least, the class is gone."""
        if not len(pool):
            return False
        forest, loss = self.trees.forest, self.trees.tariff.loss
        alone = loss[forest.starts[pool]]
        if rep is None:
            found = int(pool[alone.argmin()])
            merged = None
        else:
            prices = self.trees.prices(rep, pool, self.allowed)
            apart = prices == np.iinfo(np.int64).max
            prices[apart] = alone[apart] + self.trees.weight(rep) * int(rep.loss[0])
            found = int(pool[prices.argmin()])
            merged = None if apart[prices.argmin()] else self.trees.merged(rep, found, self.allowed)
        attempt.members.append(found)
        attempt.reps.append(merged)
        self.there[found] = False
        return True

    def _leave(self, members: Sequence[int]) -> None:
        self.there[list(members)] = False
        self.left -= len(members)
        for member in members:
            self.attempts.pop(member, None)

    def _suppress(self, members: Sequence[int]) -> None:
        self.suppressed.extend(members)
        self._leave(members)

    def absorb(self) -> None:
        """Put each who is left over where it costs least, if that costs less than losing them."""
        for record in sorted(self.suppressed):
            best: tuple[int, int, Representative] | None = None
            alone = int(self.trees.tariff.loss[self.trees.forest.starts[record]])
            for at, group in enumerate(self.kept):
                if (
                    len(group.members) >= 2 * self.size - 1
                ):  # prices are made for classes up to twice the size
                    continue
                often = (len(group.members) + 1) // self.size if self.diverse else ANYTHING
                if self.trees.price(group.rep, record, often) is None:
                    continue
                rep = self.trees.merged(group.rep, record, often)
                more = self.trees.class_price(rep, (*group.members, record)) - self.trees.class_price(
                    group.rep, group.members
                )
                if more < alone and (best is None or more < best[0]):
                    best = (more, at, rep)
            if best is not None:
                _, at, rep = best
                self.kept[at] = TreeClass((*self.kept[at].members, record), rep)
                self.suppressed.remove(record)
