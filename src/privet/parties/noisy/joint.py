"""DiffGen of two parties: the same loop and the same account as on one machine, with counts from protocols.

Mohammed 2012, chapter 7 (algorithms 7.1 and 7.4; with Alhadidi, Fung and Debbabi, "Secure two-party
differentially private data release for vertically partitioned data", TDSC 2014). Every step is paid for at
both parties, in each one's own ledger, before it is drawn; both name the same payments.

Promise: to whoever sees the release alone, epsilon-differential privacy for adding or removing one record. To
the other party, which knows its own noise and sees every message, the same epsilon for the records or values
that are not its own, if it cannot break the encryption (computational differential privacy). Across columns
both know who is in the table and of which class: not protected is that a person is there, and a change of one
person's values is a removal and an addition, so 2 epsilon.

Trust: two parties that follow the protocol. Leaks: what `known` says; nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from privet.core import Progress, silent
from privet.counts.door import Candidate
from privet.dp.budget import EXPONENTIAL, LAPLACE, Account, CountBudget, Search
from privet.dp.coded import CodedTable
from privet.dp.diffgen import BudgetStopper, DiffGen, ExponentialChooser
from privet.dp.leaves import MOST_CELLS
from privet.dp.noise import NoiseSource
from privet.dp.noisytable import NoisyTable
from privet.dp.publicdomain import Numbers
from privet.dp.records import Records
from privet.dp.scores import Scoring, scoring
from privet.dp.spend import Payer
from privet.dp.splitting import Splitter
from privet.errors import InputError, UnsupportedError
from privet.parties.noisy.choosing import (
    Choice,
    ColumnsExponential,
    ColumnsNoisyMax,
    Pair,
    PeopleExponential,
    PeopleNoisyMax,
)
from privet.parties.noisy.counting import opened, shared_counts
from privet.parties.noisy.exponentials import Taylor, cut_off, taylor
from privet.parties.noisy.splitting import MOST_PLACES, ColumnsSplitter, PeopleSplitter, halved
from privet.parties.noisy.terms import NoisyTerms, Select
from privet.parties.noisy.terms import Numbers as SplitNumbers
from privet.parties.primitives.sameness import refuse_others
from privet.parties.transport import Link
from privet.relational.specialize import specialize

NOISY_MAX = "noisy-max"
MOST_TOGETHER = 1 << 18  # counts that are made under encryption; more take hours
NOISES = 2
LEAST_STEP = Fraction(1, 1 << 40)  # of epsilon; noise of both and scores then stay within 63 bits
WIDEST = 1 << 14  # bits of a weight


@dataclass(frozen=True)
class Plan:
    """What both parties know before either has looked at a record."""

    asked: DiffGen
    terms: NoisyTerms
    owner: tuple[int, ...] | None  # by column the party that has it; None: people are split
    rows_at_most: int | None  # of each party, where people are split

    @property
    def mechanism(self) -> str:
        return NOISY_MAX if self.terms.select is Select.NOISY_MAX else EXPONENTIAL

    def prepared(self, table: CodedTable) -> CodedTable:
        """The table as it is split: across people with public halves where nothing is drawn for them."""
        if self.owner is not None or self.terms.numbers is SplitNumbers.DRAWN:
            return table
        columns = tuple(replace(c, predictor=halved(c.predictor, self.asked.h)) for c in table.columns)
        return replace(table, columns=columns)

    def step(self, table: CodedTable) -> Fraction:
        """What one step of the search costs; `table`: as it is split."""
        return self.asked.step(sum(isinstance(c.predictor.domain, Numbers) for c in table.columns))

    def rate(self, score: Scoring, step: Fraction) -> Fraction:
        """What a score is multiplied with before it is an exponent."""
        return 1 / self.asked.temperature(score, step)

    def refuse(self, table: CodedTable) -> None:
        """Whatever cannot be done is said before anything is paid; `table`: as it was read."""
        table = self.prepared(table)
        score, step = scoring(self.asked.score, len(table.classes)), self.step(table)
        if min(step, self.asked.epsilon / 2) < LEAST_STEP:
            raise UnsupportedError(
                "epsilon: of so little a single step has more noise than any table has records; take more"
            )
        if self.owner is not None:
            if self.terms.select is Select.EXPONENTIAL:
                self._refuse_weights(table, score, step)
            return
        if self.rows_at_most is not None and table.records > self.rows_at_most:
            raise InputError(
                f"there are more rows than the {self.rows_at_most:,} that the contract allows for"
            )
        for column in table.columns:
            if isinstance(column.predictor.domain, Numbers) and column.predictor.domain.points > MOST_PLACES:
                raise UnsupportedError(
                    f"{column.name}: more than {MOST_PLACES:,} places to draw from; give edges, or say "
                    'numbers = "halves"'
                )
        if self.terms.select is Select.EXPONENTIAL:
            self._refuse_long(self.polynomial(score, step), table)

    def _refuse_weights(self, table: CodedTable, score: Scoring, step: Fraction) -> None:
        """A circuit is as wide as the largest weight, and several times as long."""
        if cut_off(self.terms.digits) >= step:
            raise UnsupportedError("noisy: digits: weights of so few places cost more than a step; take more")
        most = table.records if score.monotone else score.sensitivity
        power = most / self.asked.temperature(score, step - cut_off(self.terms.digits))
        if power * 3 / 2 + 4 * self.terms.digits > WIDEST:  # a power of e has 1.44 bits
            raise UnsupportedError(
                f"noisy: a weight could have more than {WIDEST:,} bits, with so large an epsilon and so many "
                'records: say select = "noisy-max" (no weights at all)'
            )

    def _refuse_long(self, polynomial: Taylor, table: CodedTable) -> None:
        """A sum of weights must stay below N: what two shares add up to is known modulo N only."""
        nodes = sum(max(_nodes(column), 1) for column in table.columns)
        bits = (nodes * polynomial.of(self.most)).bit_length() + 1
        if bits > self.terms.key_bits:
            raise UnsupportedError(
                f"noisy: weights of degree {polynomial.w} need {bits:,} bits and the key has "
                f'{self.terms.key_bits:,}: say select = "noisy-max" (no weights at all), a longer key, or a '
                "lower degree, which costs usefulness and no privacy"
            )

    @property
    def most(self) -> int:
        """How many records there may be, both together; people are split."""
        return 2 * int(self.rows_at_most or 0)

    def polynomial(self, score: Scoring, step: Fraction) -> Taylor:
        rate = self.rate(score, step)
        return taylor(rate, self.most, places=self.terms.places, degree=self.terms.degree)


def _nodes(column: object) -> int:
    """How many candidates a column could ever have at once."""
    predictor = column.predictor  # type: ignore[attr-defined]
    domain = predictor.domain
    return int(domain.points if isinstance(domain, Numbers) else domain.size)


def paired(link: Link, plan: Plan, table: CodedTable) -> Pair:
    """The two, ready to draw: all that can go wrong before anything is paid has not."""
    pair = Pair(link)
    if plan.owner is not None:
        codes = np.ascontiguousarray(table.class_codes).astype("<u4").tobytes()
        refuse_others(link, {pair.other: pair.side}, codes, "class")
    return pair


def release(  # noqa: PLR0917 - what is agreed on, and what is this party's
    pair: Pair,
    plan: Plan,
    table: CodedTable,
    noise: NoiseSource,
    payer: Payer | None = None,
    progress: Progress = silent,
) -> NoisyTable:
    """One party's part of the whole release; the same table at both, in the end.

    `table`: this party's records; of columns that are the other's only the domain is looked at.
    """
    asked, split, link = plan.asked, plan.prepared(table), pair.link
    account = Account(asked.epsilon, payer)
    score, step = scoring(asked.score, len(split.classes)), plan.step(split)
    search = Search(noise, account, step, asked.temperature(score, step))
    choice = _choice(pair, plan, split, score, step, noise)
    live = Records(split)
    splitter: Splitter
    if plan.owner is not None:
        splitter = ColumnsSplitter(link, plan.owner, split, score, search, asked.threshold, live)
        most = MOST_TOGETHER
    else:
        search = replace(search, mechanism=plan.mechanism)
        splitter = PeopleSplitter(choice, split, score, search, asked.threshold, live)
        most = MOST_CELLS
    stopper = BudgetStopper(asked.h, splitter, most)
    chooser = JointChooser(splitter, stopper, search, choice, plan.mechanism)
    steps = specialize(splitter, chooser, stopper, [column.name for column in split.columns], progress)
    progress("counts", 0)
    rest = account.left if asked.counts is CountBudget.LEFTOVER else asked.epsilon / 2
    grid = splitter.leaves.grid(splitter.begins())
    size = grid.number * len(split.classes)
    account.spend(f"counts of {size:,} leaves and classes, two noises", LAPLACE, rest, disjoint=True)
    if plan.owner is None:
        mine = live.leaves(grid)
    else:
        mine = shared_counts(link, split, plan.owner, grid, plan.terms.key_bits)
    mine = mine + noise.laplace(1 / rest, size).reshape(mine.shape)
    return NoisyTable(
        predictors=tuple(column.predictor for column in table.columns),
        counts=opened(link, mine),
        scale=1 / rest,
        charges=account.charges,
        steps=tuple(steps),
        noises=NOISES,
        **splitter.shape(grid),
    )


class JointChooser(ExponentialChooser):
    """The next split, drawn with the other party."""

    def __init__(
        self, splitter: Splitter, stopper: BudgetStopper, search: Search, choice: Choice, mechanism: str
    ) -> None:
        super().__init__(splitter, stopper, search)
        self.mechanism = mechanism
        self._choice = choice

    def _drawn(self, offered: Sequence[Candidate]) -> int:
        return self._choice.draw(offered, self._splitter)


def _choice(  # noqa: PLR0917 - what a draw is made of
    pair: Pair, plan: Plan, table: CodedTable, score: Scoring, step: Fraction, noise: NoiseSource
) -> Choice:
    asked, terms = plan.asked, plan.terms
    # Records can only raise `max`: then noise of scale 1 / epsilon is enough, else twice the sensitivity.
    scale = score.sensitivity * (1 if score.monotone else 2) / step
    if plan.owner is not None:
        most = table.records if score.monotone else score.sensitivity
        if terms.select is Select.NOISY_MAX:
            return ColumnsNoisyMax(pair, plan.owner, most, scale, noise)
        # What cutting weights off costs comes off what the choice may spend.
        temperature = asked.temperature(score, step - cut_off(terms.digits))
        return ColumnsExponential(pair, plan.owner, most, temperature, terms.digits)
    if terms.select is Select.NOISY_MAX:
        return PeopleNoisyMax(pair, len(table.classes), plan.most, scale, noise)
    polynomial = plan.polynomial(score, step)
    return PeopleExponential(pair, len(table.classes), plan.most, polynomial, terms.key_bits)
