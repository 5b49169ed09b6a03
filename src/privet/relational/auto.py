"""Several searches on one table, and the release that loses least: what a steward gets who names none.

Which searches can keep the promise at all is known from the promise; each that can is run within a stated
effort, which is counted in work and not in seconds, so that the same table gives the same bytes on every
machine, side by side where there are cores. What they found is measured by one measure, that of the purpose,
and the smallest is taken.

Labels are those of the hierarchies where these name kinds. Where a hierarchy is flat, a label is a set of
names; where values follow each other, as numbers, days and codes do, it is a range that begins and ends where
a group of the hierarchy does, or on the steps that the policy says. `labels` asks for less, or for more.
All records of a column at one level (full-domain) is made only where the policy asks for it.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar, TypeAlias

from privet.core import (
    Algorithm,
    Choice,
    Finding,
    PrivacyModel,
    Progress,
    Role,
    Tally,
    Terms,
    Tried,
    silent,
)
from privet.declared import settle
from privet.errors import PolicyError, UnsatisfiableError, UnsupportedError
from privet.measure.bayes import bayes_error
from privet.measure.classes import class_sizes, discernibility_ratio
from privet.measure.query import median_error
from privet.measure.utility import losses, mean_entropy, mean_lm, mean_precision
from privet.models.confidence import ConfidenceBounding
from privet.models.lkc import LKC
from privet.recoding import Generalization, Recoding, Regions
from privet.relational.judge import check_suppression
from privet.relational.local import REFINE, Local
from privet.relational.mondrian import Choice as Which
from privet.relational.mondrian import Cuts, Mondrian
from privet.relational.objective import Loss, check_weights
from privet.relational.optimal import Optimal
from privet.relational.topdown import SIZES, Score, TopDown
from privet.sidebyside import side_by_side

LOOKS = 30_000_000  # at values of cells, over all the rounds of the longest of the searches
NODES = 10_000  # nodes of the lattice, at the most
CLOSE = 1e-12  # losses that differ by less are rounding noise: the search that was tried first is taken

Attempt: TypeAlias = tuple[Tried, Finding | None, Exception | None]

TIME_IS_UP = "the time limit stopped the comparison: {} of {} searches were tried"


class Purpose(Enum):
    """What the recipient will do: by it releases are compared."""

    GENERAL = "general"  # anything: how much of its domain a published value covers, or another loss
    COUNTS = "counts"  # count people: the median error of counts over random ranges
    CLASSIFICATION = "classification"  # predict the target: errors of a model that is trained on the release


class Kind(Enum):
    """How far equal values must be published alike."""

    LOCAL = "local"  # not at all: the least is lost
    GLOBAL = "global"  # always
    FULL_DOMAIN = "full-domain"  # always, and all values of a column at one level of its hierarchy


@dataclass(frozen=True, slots=True)
class AutoSearch(Algorithm):
    """The search that loses least here, of all that can keep the promise; it says what else it tried.

    Full-domain recoding only where `recoding` asks for it, or where the promise leaves nothing else.
    """

    purpose: Purpose | None = None  # None: classification where there is a target, else general
    loss: Loss = Loss.LM  # what is made small where the purpose is general
    recoding: Kind = Kind.LOCAL
    labels: Cuts = Cuts.LEVELS  # of local recoding: what a value may be published as
    suppression: Fraction = Fraction(0)  # share of all records that a full-domain search may drop
    effort: int = 1  # how many times the usual work is spent
    time_limit: float | None = None  # seconds; no further search is begun then, and a remark says so
    weights: Mapping[str, float] = field(default_factory=dict, compare=False)

    name: ClassVar[str] = "auto"
    persons: ClassVar[bool] = True
    cuts_at_values: ClassVar[bool] = True  # where it becomes top-down

    def __post_init__(self) -> None:
        settle(self)
        check_suppression(self.suppression)
        check_weights(self.weights)
        if self.effort < 1:
            raise PolicyError("effort is a whole number from 1 on")
        if self.time_limit is not None and not self.time_limit > 0:
            raise PolicyError("time_limit is a number of seconds above 0")
        if self.labels is not Cuts.LEVELS and self.recoding is not Kind.LOCAL:
            raise PolicyError('labels: only where recoding = "local"; else all are of the hierarchies')
        if self.suppression and self.recoding is not Kind.FULL_DOMAIN:
            raise PolicyError(
                'suppression: only a full-domain search drops records: recoding = "full-domain"'
            )

    def named(self) -> Mapping[str, Collection[str]]:
        return {"weights": self.weights}

    @property
    def draws_boxes(self) -> bool:
        return self.recoding is Kind.LOCAL and self.labels is not Cuts.HIERARCHY

    @property
    def droppable(self) -> Fraction:
        return self.suppression

    def complaints(self, policy: Terms) -> list[str]:
        targets = [a for a in policy.attributes if a.role in {Role.TARGET, Role.UNDECIDED}]
        if self.purpose is Purpose.CLASSIFICATION and not targets:
            return ['algorithm: purpose = "classification" needs an attribute with role = "target"']
        return []

    def search(self, tally: Tally, policy: Terms, progress: Progress = silent) -> Finding:
        until = time.monotonic() + (self.time_limit or float("inf"))
        searches = list(self.searches(tally, policy))
        purpose = self._purpose(tally)

        def tried(algorithm: Algorithm, terms: Terms) -> Attempt:
            try:
                finding = algorithm.search(tally, terms, silent)
                loss = self._measured(purpose, tally, finding.recoding)
            except (PolicyError, UnsatisfiableError, UnsupportedError) as error:
                return Tried(algorithm, None, error.complaints[0]), None, error
            return Tried(algorithm, loss), finding, None

        def in_time(at: int) -> Attempt | None:
            return tried(*searches[at]) if not at or time.monotonic() <= until else None

        attempts = side_by_side(
            [partial(in_time, at) for at in range(len(searches))],
            lambda done: progress("search", done, len(searches)),
        )
        for at, attempt in enumerate(attempts):
            if attempt is None and not any(one and one[1] for one in attempts):
                attempts[at] = tried(*searches[at])  # late, but nothing before it can keep the promise
        found = [attempt for attempt in attempts if attempt is not None]
        if not any(finding for _, finding, _ in found):
            raise _nearest([error for *_, error in found if error is not None])
        best = _least([tried.loss for tried, *_ in found])
        chosen, made, _ = found[best]
        assert made is not None
        notes = made.notes
        if len(found) < len(searches):
            notes = (*notes, TIME_IS_UP.format(len(found), len(searches)))
        said = purpose.value if purpose is not Purpose.GENERAL else self.loss.value
        choice = Choice(chosen.algorithm, said, tuple(tried for tried, *_ in found))
        return replace(made, notes=notes, choice=choice)

    def searches(self, tally: Tally, policy: Terms) -> Iterator[tuple[Algorithm, Terms]]:
        """What can keep these promises, each with the promises that it is asked for."""
        fits = _fitting(policy)
        known = policy.asking(models=tuple(_all_at_once(m, len(tally.quasi)) for m in policy.models))
        parts = False  # is anything tried but splits of the whole table?
        if self.recoding is Kind.LOCAL and not policy.across:  # else rows of one person are put together
            along = self._local(tally)
            boxes = Mondrian(cuts=self.labels, choice=Which.BEST, weights=self.weights)
            refine = max(along.refine, REFINE * self.effort)
            freer = [*Cuts][[*Cuts].index(self.labels) : -1]  # and all that allow less, but not the least
            made = [replace(along, labels=labels, refine=refine) for labels in freer]
            for local in (boxes, *made, along):
                if fits(local, known):
                    parts = True
                    yield local, known.asking(algorithm=local)
        # One try may lose more under a weaker promise, and where that is all there is nothing is better.
        all_tries = not parts or tally.cells * len(tally.quasi) <= LOOKS // 100
        split = TopDown(score=self._score(tally), tries=1 + len(SIZES) if all_tries else 1)
        splits = self.recoding is not Kind.FULL_DOMAIN and fits(split, policy)
        if splits:
            yield split, policy.asking(algorithm=split)
        if self.recoding is Kind.FULL_DOMAIN or not splits:
            nodes = max(200, min(NODES, LOOKS // max(1, tally.cells))) * self.effort
            loss, weights = self.loss, self.weights
            lifted = Optimal(loss=loss, suppression=self.suppression, weights=weights, nodes=nodes)
            yield lifted, policy.asking(algorithm=lifted)

    def _local(self, tally: Tally) -> Local:
        """With labels of the hierarchies alone: less work where most columns have freer ones."""
        looks = max(LOOKS, 20 * tally.cells * len(tally.quasi))
        freer = sum(not self.labels.follows(column.domain) for column in tally.quasi)
        refine = looks if 2 * freer > len(tally.quasi) else max(looks, REFINE)
        return Local(looks=looks * self.effort, refine=refine * self.effort, weights=self.weights)

    def _purpose(self, tally: Tally) -> Purpose:
        return self.purpose or (Purpose.GENERAL if tally.target is None else Purpose.CLASSIFICATION)

    def _score(self, tally: Tally) -> Score:
        predicted = self._purpose(tally) is Purpose.CLASSIFICATION
        return Score.INFORMATION_GAIN if predicted else Score.DISCERNIBILITY

    def _measured(self, purpose: Purpose, tally: Tally, recoding: Recoding) -> float:
        assert isinstance(recoding, (Generalization, Regions))  # every search above generalises
        raw = recoding.over(tally)
        if purpose is Purpose.COUNTS:
            return median_error(raw, recoding)
        if purpose is Purpose.CLASSIFICATION and raw.target is not None:
            return bayes_error(raw, recoding)
        if self.loss in {Loss.DISCERNIBILITY, Loss.CLASSES}:
            published = recoding.recode(raw)
            sizes = class_sizes(replace(published, person=None))
            if self.loss is Loss.CLASSES:
                return 1.0 / max(1, len(sizes))
            return discernibility_ratio(sizes, suppressed=raw.records - published.records)
        found = losses(raw, recoding)
        if self.loss is Loss.LM:
            return mean_lm(found)
        return mean_entropy(found) if self.loss is Loss.ENTROPY else 1.0 - mean_precision(found)


def _least(losses_: list[float | None]) -> int:
    best = min(loss for loss in losses_ if loss is not None)
    return next(at for at, loss in enumerate(losses_) if loss is not None and loss <= best + CLOSE)


def _nearest(errors: list[Exception]) -> Exception:
    """Why there is no release: that no table keeps the promise says more than what a search cannot do."""
    return next((error for error in errors if isinstance(error, UnsatisfiableError)), errors[-1])


def _fitting(policy: Terms) -> Any:
    """Would a policy with this search be one? What a policy refuses need not be tried."""

    def fits(algorithm: Algorithm, terms: Terms) -> bool:
        if policy.person is not None and not algorithm.persons:
            return False
        return not algorithm.complaints(terms.asking(algorithm=algorithm))

    return fits


def _all_at_once(model: PrivacyModel, columns: int) -> PrivacyModel:
    """The promise for somebody who knows every column: whoever knows fewer finds unions of such classes.

    Where merging classes keeps a promise, the stronger one keeps it, and searches that look at each class by
    itself can be asked for it.
    """
    if isinstance(model, LKC):
        return replace(model, l=max(columns, model.l))
    return replace(model, quasi=None) if isinstance(model, ConfidenceBounding) else model
