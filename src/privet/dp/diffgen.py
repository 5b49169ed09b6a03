"""DiffGen: generalise by chance, then count with noise; differentially private from end to end.

Mohammed, Chen, Fung and Yu, "Differentially private data release for data mining", KDD 2011, and Mohammed's
thesis (2012), chapter 6, which adds columns of sets. The loop is that of top-down specialisation; the next
split is chosen by the exponential mechanism, and the budget ends it.

Promise: epsilon-differential privacy for adding or removing one record. Assumes that a person has at
most `records_per_person` records; all of them together have that many times epsilon.
Trust: the curator, and the noise source. Leaks: nothing but what epsilon allows, if the time it took
is not shown.

Differs from the thesis: noise is discrete and exact; the counts get what the search did not use; a record
is in one subset of children, so that `max` has sensitivity 1 on columns of sets too; an empty set is an
item of its own; a split that would make more than `MOST_CELLS` counts is not a candidate, which is
decided from released things only.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import ClassVar

from privet.core import Progress, Step, silent
from privet.counts.door import Candidate
from privet.counts.live import LiveCounts
from privet.dp.budget import EXPONENTIAL, LAPLACE, Account, CountBudget, Search, step_epsilon
from privet.dp.coded import CodedTable
from privet.dp.leaves import MOST_CELLS
from privet.dp.noise import NoiseSource
from privet.dp.noisytable import NoisyTable
from privet.dp.publicdomain import Numbers
from privet.dp.records import Records
from privet.dp.scores import Scoring, SplitScore, scoring
from privet.dp.sets import Threshold
from privet.dp.spend import Payer, checked
from privet.dp.splitting import Splitter
from privet.errors import PolicyError
from privet.relational.specialize import Ruling, specialize

MOST_ROUNDS = 10_000


class Selection(Enum):
    """How the exponential mechanism reads its budget."""

    STANDARD = "standard"  # exp(epsilon u / 2 sensitivity): right for every score
    MONOTONE = "monotone"  # without the 2: enough where a record can only raise scores, so for `max`


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffGen:
    """The parameters of a release. All of them are public, and fixed before anybody looks at the data."""

    epsilon: Fraction
    h: int = 10
    score: SplitScore = SplitScore.MAX
    selection: Selection = Selection.STANDARD
    counts: CountBudget = CountBudget.LEFTOVER
    threshold: Threshold = Threshold.DEVIATION
    class_totals: Fraction = Fraction(0)  # the share of the counts' budget that buys the total of each class
    records_per_person: int = 1

    name: ClassVar[str] = "diffgen"

    def __post_init__(self) -> None:
        checked(self.epsilon)
        complaints = []
        if type(self.h) is not int or not 1 <= self.h <= MOST_ROUNDS:
            complaints.append(f"h: a whole number of rounds, from 1 to {MOST_ROUNDS:,}")
        if self.selection is Selection.MONOTONE and self.score is not SplitScore.MAX:
            complaints.append(
                'selection: "monotone" needs score = "max"; a record can lower information gain'
            )
        if type(self.class_totals) is not Fraction or not 0 <= self.class_totals < 1:
            complaints.append("class_totals: an exact share of the counts' budget, from 0 to below 1")
        if type(self.records_per_person) is not int or self.records_per_person < 1:
            complaints.append("records_per_person: a whole number, at least 1")
        if complaints:
            raise PolicyError(*complaints)

    @property
    def person_epsilon(self) -> Fraction:
        """The guarantee for a person, who may have several records."""
        return self.epsilon * self.records_per_person

    def step(self, numerical: int) -> Fraction:
        """What one step of the search costs."""
        return step_epsilon(self.epsilon, self.h, numerical)

    def temperature(self, score: Scoring, epsilon: Fraction) -> Fraction:
        factor = 1 if self.selection is Selection.MONOTONE and score.monotone else 2
        return factor * score.sensitivity / epsilon

    def release(
        self,
        table: CodedTable,
        noise: NoiseSource,
        payer: Payer | None = None,
        progress: Progress = silent,
        live: LiveCounts | None = None,
    ) -> NoisyTable:
        """The whole release; `payer`, a reservation in a ledger, is told every charge before its noise.

        `live` answers for the records of the table, where they are not in it.
        """
        live = live or Records(table)
        account = Account(self.epsilon, payer)
        score = scoring(self.score, len(table.classes))
        step = self.step(sum(isinstance(c.predictor.domain, Numbers) for c in table.columns))
        search = Search(noise, account, step, self.temperature(score, step))
        splitter = Splitter(table, score, search, self.threshold, live)
        stopper = BudgetStopper(self.h, splitter, MOST_CELLS)
        chooser = ExponentialChooser(splitter, stopper, search)
        names = [column.name for column in table.columns]
        steps = specialize(splitter, chooser, stopper, names, progress)
        progress("counts", 0)
        return self._counted(table, live, splitter, account, noise, steps)

    def _counted(  # noqa: PLR0917 - what the release has made ready
        self,
        table: CodedTable,
        live: LiveCounts,
        splitter: Splitter,
        account: Account,
        noise: NoiseSource,
        steps: Sequence[Step],
    ) -> NoisyTable:
        budget = account.left if self.counts is CountBudget.LEFTOVER else self.epsilon / 2
        bought = budget * self.class_totals
        rest = budget - bought
        classes = len(table.classes)
        totals = None
        if bought:
            account.spend("totals of the classes", LAPLACE, bought, disjoint=True)
            totals = live.totals() + noise.laplace(1 / bought, classes)
        grid, counts = splitter.counted()
        account.spend(f"counts of {counts.size:,} leaves and classes", LAPLACE, rest, disjoint=True)
        if counts.size:
            counts = counts + noise.laplace(1 / rest, counts.size).reshape(counts.shape)
        return NoisyTable(
            predictors=tuple(column.predictor for column in table.columns),
            counts=counts,
            scale=1 / rest,
            charges=account.charges,
            steps=tuple(steps),
            totals=totals,
            **splitter.shape(grid),
        )


class BudgetStopper:
    """Ends the loop after h rounds, and withholds splits whose counts would be too many to publish."""

    def __init__(self, rounds: int, splitter: Splitter, most: int) -> None:
        self._left = rounds
        self._splitter = splitter
        self._most = most

    def may_choose(self) -> bool:
        return self._left > 0

    def offers(self, candidate: Candidate) -> bool:
        """Is this split among those to choose from? Decided by released things alone."""
        return self._splitter.cells_after(candidate) <= self._most

    def rule(self, candidate: Candidate) -> tuple[Ruling, str]:  # noqa: ARG002 - whichever it is
        if not self._left:
            return Ruling.STOP, "the budget is used"
        self._left -= 1
        return Ruling.PERFORM, ""


class ExponentialChooser:
    """The next split by the exponential mechanism. Its score is not told: it is as sensitive as the data."""

    mechanism = EXPONENTIAL

    def __init__(self, splitter: Splitter, stopper: BudgetStopper, search: Search) -> None:
        self._splitter = splitter
        self._stopper = stopper
        self._search = search
        self._candidates: list[Candidate] = []

    def add(self, candidates: Iterable[Candidate]) -> None:
        self._candidates.extend(candidates)

    def choose(self) -> tuple[Candidate, None] | None:
        if not self._stopper.may_choose():
            return None
        offered = [candidate for candidate in self._candidates if self._stopper.offers(candidate)]
        if not offered:
            return None
        self._search.pay(f"choose a split among {len(offered)}", self.mechanism)
        chosen = offered[self._drawn(offered)]
        self._candidates.remove(chosen)
        return chosen, None

    def _drawn(self, offered: Sequence[Candidate]) -> int:
        """The number of the one that chance takes; parties that choose together draw in their own way."""
        return self._search.noise.choose(self._splitter.scores(offered), self._search.temperature)
