"""What a policy says of a noisy release, beside its epsilon: the frozen settings of two algorithms.

They see no record. They say what is wrong with a policy when it is read, and they start what spends.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import ClassVar

from privet.core import Algorithm, Attribute, Finding, Progress, Role, Tally, Terms, silent
from privet.counts.live import LiveCounts
from privet.declared import settle
from privet.domain import Value
from privet.dp.budget import CountBudget
from privet.dp.choose_h import buy_h
from privet.dp.coded import CodedTable
from privet.dp.contingency import contingency, refuse
from privet.dp.counts import Consistency, consistent
from privet.dp.diffgen import DiffGen, Selection
from privet.dp.marginals import Marginal, marginals
from privet.dp.noise import NoiseSource
from privet.dp.noisytable import NoisyTable
from privet.dp.publicdomain import ItemSets, Predictor, public_domain
from privet.dp.scores import SplitScore
from privet.dp.sets import Threshold
from privet.dp.spend import Charge, Payer
from privet.errors import PolicyError, UnsupportedError
from privet.models.differential import DifferentialPrivacy

USUAL_H = 10


class Sampler(Enum):
    """Whose samplers draw the noise."""

    OPENDP = "opendp"
    EXACT = "exact"  # ours


class Output(Enum):
    """How counts are published."""

    RECORDS = "records"  # each row as often as its count says, and the counts beside
    COUNTS = "counts"  # one row for each count that is not 0


@dataclass(frozen=True, eq=False)
class Public:
    """What is known of the table before anybody looks at it."""

    predictors: tuple[Predictor, ...]
    target: str
    classes: tuple[Value, ...]

    @property
    def columns(self) -> list[str]:
        """What is read and what is published, the class last."""
        return [*(predictor.name for predictor in self.predictors), self.target]

    @property
    def sets(self) -> list[str]:
        """The columns of sets."""
        return [p.name for p in self.predictors if isinstance(p.domain, ItemSets)]

    @property
    def nullable(self) -> list[str]:
        """The columns in which a missing value is one of those that could be."""
        found = [p.name for p in self.predictors if p.domain.null]
        return [*found, self.target] if None in self.classes else found


@dataclass(frozen=True, eq=False)
class Drawn:
    """What was paid for: counts that were made consistent, and marginals if they were bought."""

    table: NoisyTable
    marginals: tuple[Marginal, ...]
    charges: tuple[Charge, ...]
    h: int | None  # the rounds of the search; None where there is none


@dataclass(frozen=True, slots=True, kw_only=True)
class _Noisy(Algorithm):
    """What both algorithms say."""

    consistency: Consistency = Consistency.TOTALS
    records_per_person: int = 1
    noise: Sampler = Sampler.OPENDP
    output: Output = Output.RECORDS

    road: ClassVar[str | None] = "diffgen"
    spends: ClassVar[str | None] = DifferentialPrivacy.name
    public_domains: ClassVar[bool] = True

    def __post_init__(self) -> None:
        settle(self)
        complaints = []
        if self.records_per_person < 1:
            complaints.append("records_per_person: a whole number, at least 1")
        if self.consistency is Consistency.RAW and self.output is Output.RECORDS:
            complaints.append(
                'consistency: "raw" keeps negative counts, which are not records; say output = "counts"'
            )
        if complaints:
            raise PolicyError(*complaints)

    def search(self, tally: Tally, policy: Terms, progress: Progress = silent) -> Finding:
        del tally, policy, progress
        raise UnsupportedError(f"{self.name} spends a budget, on a road of its own; it searches no counts")

    def complaints(self, policy: Terms) -> list[str]:
        """What is wrong with a policy that names this algorithm."""
        wrong = [c for attribute in policy.attributes for c in _unfit(attribute, self.name)]
        roles = {attribute.role for attribute in policy.attributes}
        if Role.TARGET not in roles and Role.UNDECIDED not in roles:
            wrong.append(
                f"attributes: {self.name} needs a target with its values, for example "
                'income = { role = "target", values = ["<=50K", ">50K"] }'
            )
        if self.output is Output.COUNTS and any(a.name == COUNT for a in policy.attributes):
            wrong.append(f"attributes.{COUNT}: this name is needed for the counts")
        promised = [model.name for model in policy.models]
        others = sorted(set(promised) - {KEPT})
        wrong += [f"models: {self.name} keeps {self.spends} alone, and cannot promise {o}" for o in others]
        if promised.count(KEPT) > 1:
            wrong.append(f"models: {self.spends} once; one release has one epsilon")
        return wrong


COUNT = "count"  # the column of counts
KEPT = DifferentialPrivacy.name


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffGenSettings(_Noisy):
    """Generalise by chance, then count with noise: differential privacy for tables with sets.

    `h` rounds of splitting, or as many as a bought number of records suggests (`buy_h`, a share of epsilon).
    `class_totals` and `marginals` are shares that buy totals of the classes and columns for the report.
    """

    h: int | None = None
    buy_h: Fraction | None = None
    score: SplitScore = SplitScore.MAX
    selection: Selection = Selection.STANDARD
    counts: CountBudget = CountBudget.LEFTOVER
    threshold: Threshold = Threshold.DEVIATION
    class_totals: Fraction = Fraction(0)
    marginals: Fraction = Fraction(0)

    name: ClassVar[str] = "diffgen"
    why_records: ClassVar[str] = (
        "noise covers as many rows of a person as records_per_person says; leave person out and set that"
    )

    def __post_init__(self) -> None:
        settle(self)
        _Noisy.__post_init__(self)
        complaints = []
        if self.h is not None and self.buy_h is not None:
            complaints.append("h, buy_h: give one of them")
        if self.buy_h is not None and not 0 < self.buy_h < 1:
            complaints.append('buy_h: a share of epsilon between 0 and 1, for example "1/100"')
        if not 0 <= self.marginals < 1:
            complaints.append("marginals: a share of epsilon, from 0 to below 1")
        if complaints:
            raise PolicyError(*complaints)
        self.search_of(Fraction(1))  # complains about the rest

    def search_of(self, epsilon: Fraction) -> DiffGen:
        """The search, with what is left of an epsilon for it; `h` may still be bought."""
        return DiffGen(
            epsilon=epsilon * (1 - self.marginals),
            h=USUAL_H if self.h is None else self.h,
            score=self.score,
            selection=self.selection,
            counts=self.counts,
            threshold=self.threshold,
            class_totals=self.class_totals,
            records_per_person=self.records_per_person,
        )

    def refuse(self, public: Public) -> None:
        """What cannot be done, said before anything is spent."""
        if self.marginals and not _plain_columns(public):
            raise UnsupportedError("marginals: only columns of sets; they have no marginals of this kind")

    def draw(
        self,
        table: CodedTable,
        epsilon: Fraction,
        noise: NoiseSource,
        payer: Payer | None = None,
        progress: Progress = silent,
        *,
        live: LiveCounts | None = None,
    ) -> Drawn:
        """The whole release; the payer is told of every charge before its noise is drawn.

        `live` answers for the records of the table, where they are not in it.
        """
        asked, charges = self.search_of(epsilon), list[Charge]()
        bought: list[Marginal] = []
        if self.marginals:
            names = [c.name for c in table.columns if not isinstance(c.predictor.domain, ItemSets)]
            bought = marginals(
                table, [*names, table.target], epsilon * self.marginals, noise, payer, live=live
            )
            charges += [charge for marginal in bought for charge in marginal.charges]
        if self.buy_h is not None:
            chosen = buy_h(asked, table, noise, payer, share=self.buy_h, live=live)
            asked = chosen.diffgen
            charges += chosen.charges
        made = asked.release(table, noise, payer, progress, live)
        charges += made.charges
        return Drawn(consistent(made, self.consistency), tuple(bought), tuple(charges), asked.h)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContingencySettings(_Noisy):
    """Every combination of raw values counted, noise on each count: the plain way, for comparison."""

    name: ClassVar[str] = "noisy-contingency"
    why_records: ClassVar[str] = (
        "noise covers as many rows of a person as records_per_person says; leave person out and set that"
    )

    def refuse(self, public: Public) -> None:
        """What cannot be done, said before anything is spent."""
        refuse([predictor.domain for predictor in public.predictors], len(public.classes))

    def draw(
        self,
        table: CodedTable,
        epsilon: Fraction,
        noise: NoiseSource,
        payer: Payer | None = None,
        progress: Progress = silent,
        *,
        live: LiveCounts | None = None,
    ) -> Drawn:
        """The whole release, one charge."""
        progress("counts", 0)
        made = contingency(table, epsilon, noise, payer, live)
        return Drawn(consistent(made, self.consistency), (), made.charges, None)


Settings = DiffGenSettings | ContingencySettings


def public(policy: Terms) -> Public:
    """The public side of a policy's table; raises where the data would have to be asked."""
    complaints: list[str] = []
    predictors = []
    for attribute in policy.quasi:
        try:
            predictors.append(Predictor(attribute.name, public_domain(attribute.name, attribute.hierarchy)))
        except PolicyError as error:
            complaints += error.complaints
    (target,) = policy.with_role(Role.TARGET)
    complaints += _unfit(target, "differential privacy")
    if complaints:
        raise PolicyError(*complaints)
    return Public(tuple(predictors), target.name, target.values)


def epsilon_of(policy: Terms) -> Fraction:
    """What a policy's release costs for one record."""
    (model,) = (m for m in policy.models if isinstance(m, DifferentialPrivacy))
    return model.epsilon


def with_h(settings: DiffGenSettings, h: int) -> DiffGenSettings:
    """The same settings with that many rounds."""
    return replace(settings, h=h, buy_h=None)


def _plain_columns(public: Public) -> bool:
    return any(not isinstance(predictor.domain, ItemSets) for predictor in public.predictors)


def _unfit(attribute: Attribute, name: str) -> list[str]:
    """Why a column cannot be part of a noisy release."""
    place = f"attributes.{attribute.name}"
    match attribute.role:
        case Role.QUASI:
            try:
                public_domain(attribute.name, attribute.hierarchy)
            except PolicyError as error:
                return list(error.complaints)
        case Role.TARGET if not attribute.values:
            return [
                (
                    f'{place}: list all its values, for example values = ["yes", "no"]; '
                    "values that are read off the data would tell about it"
                )
            ]
        case Role.SENSITIVE | Role.OTHER:
            return [
                (
                    f"{place}: {name} publishes no column as it is; every column is protected alike: "
                    'say role = "quasi" with a hierarchy, or leave it out'
                )
            ]
        case Role.IDENTIFIER if attribute.disguise is not None:
            return [f"{place}: {name} publishes no identifier, disguised or not; leave publish out"]
        case _:
            pass
    return []
