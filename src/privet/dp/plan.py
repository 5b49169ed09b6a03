"""What a release will be like, before anything is spent: from the policy alone.

Nothing here sees a record. How many leaves there will be depends on which splits are chosen; for the plan
they are drawn at random, each equally likely, many times.

A split of a column of sets drops the partitions that seem empty, with the records in them. How many these
are depends on how records spread over subsets, which nobody may look at. The plan supposes that leaves are
alike and that subsets are as unequal as words or diagnoses are (the r-th most frequent has 1/r of the
most frequent), for a number of records that is known in public.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, log, prod, sqrt
from random import Random
from statistics import fmean, quantiles

import numpy as np

from privet.domain import Node
from privet.dp.budget import CountBudget
from privet.dp.diffgen import DiffGen
from privet.dp.leaves import MOST_CELLS
from privet.dp.publicdomain import ItemSets, Numbers, Predictor
from privet.dp.scores import GRID, SplitScore, scoring
from privet.dp.sets import Subsets, threshold

DRAWS = 200
MOST_H = 40  # rounds that are looked at when h is to be chosen


@dataclass(frozen=True, slots=True)
class Expected:
    """What to expect of a release. Everything follows from public things."""

    step: Fraction  # epsilon of one step of the search
    odds: float  # how much better a split must score to be chosen nine times out of ten against one other
    count_epsilon: Fraction  # on average, as the random choices cost
    leaves: float
    leaves_low: float  # one in ten has fewer
    leaves_high: float  # one in ten has more
    counts: float
    error: float  # of one count, on average, whichever its sign
    empty: float  # what an empty leaf and class shows on average after clamping at zero
    records: int | None = None  # how many were supposed
    dropped: float = 0.0  # the share of them that splits of sets drop

    @property
    def total_error(self) -> float:
        """All absolute errors added up; beside the number of records it says how much is wrong.

        A record that was dropped is missing from its count: an error of one.
        """
        return self.counts * self.error + self.dropped * (self.records or 0)

    def query_error(self, share: float) -> float:
        """The standard deviation of a sum over that share of all counts."""
        return sqrt(max(share, 0.0) * self.counts * variance(float(self.count_epsilon)))


def mean_error(epsilon: float) -> float:
    """E|z| of discrete Laplace noise.

    >>> round(mean_error(0.5), 3)
    1.919
    """
    q = exp(-epsilon)
    return 2 * q / (1 - q * q)


def mean_error_of_two(epsilon: float) -> float:
    """E|z + z'| of two such noises.

    >>> round(mean_error_of_two(0.5), 3)
    2.936
    """
    q = exp(-epsilon)
    chance, more = ((1 - q) / (1 + q)) ** 2, (1 + q * q) / (1 - q * q)  # P(s) = chance q**|s| (|s| + more)
    return 2 * chance * (q * (1 + q) / (1 - q) ** 3 + more * q / (1 - q) ** 2)


def variance(epsilon: float) -> float:
    """The variance of discrete Laplace noise.

    >>> round(variance(0.5), 3)
    7.835
    """
    q = exp(-epsilon)
    return 2 * q / (1 - q) ** 2


def reaches(number: float, epsilon: float) -> float:
    """The chance that discrete Laplace noise is at least so much.

    >>> round(reaches(1, 1.0), 3), round(reaches(0, 1.0), 3)
    (0.269, 0.731)
    """
    q, least = exp(-epsilon), ceil(number)
    return q**least / (1 + q) if least > 0 else 1 - q ** (1 - least) / (1 + q)


def expect(
    diffgen: DiffGen,
    predictors: Sequence[Predictor],
    classes: int,
    *,
    records: int | None = None,
    draws: int = DRAWS,
) -> Expected:
    """The plan for these parameters; what is drawn for it is drawn alike every time, no record is near."""
    numerical = sum(isinstance(p.domain, Numbers) for p in predictors)
    step = diffgen.step(numerical)
    runs = [
        _walk(diffgen, predictors, step, classes, records=records, random=Random(f"plan {n}"))
        for n in range(draws)
    ]
    leaves = [run.leaves for run in runs]
    if diffgen.counts is CountBudget.FIXED:
        rest = diffgen.epsilon / 2
    else:
        spent = Fraction(sum(run.paid for run in runs), draws)
        rest = diffgen.epsilon - spent * step
    rest *= 1 - diffgen.class_totals
    low, *_, high = quantiles(leaves, n=10)
    score = scoring(diffgen.score, classes)
    unit = 1 if diffgen.score is SplitScore.MAX else 2**GRID
    return Expected(
        step=step,
        odds=float(diffgen.temperature(score, step)) * log(9) / unit,
        count_epsilon=rest,
        leaves=fmean(leaves),
        leaves_low=low,
        leaves_high=high,
        counts=fmean(leaves) * classes,
        error=mean_error(float(rest)),
        empty=mean_error(float(rest)) / 2,
        records=records,
        dropped=1 - fmean(run.kept for run in runs),
    )


@dataclass(frozen=True, slots=True)
class _Run:
    """One way that the search could go."""

    leaves: float
    paid: int  # steps
    kept: float  # the share of the records that no split of sets dropped


def _walk(
    diffgen: DiffGen,
    predictors: Sequence[Predictor],
    step: Fraction,
    classes: int,
    *,
    records: int | None,
    random: Random,
) -> _Run:
    """What there is after h random splits."""
    candidates = [(p, p.domain.root) for p in predictors if _children(p, p.domain.root, random)]
    paid = sum(isinstance(p.domain, Numbers) and not p.domain.null for p, _ in candidates)
    widths, kept = {p.name: 1.0 for p in predictors}, 1.0
    for _ in range(diffgen.h):
        if not candidates:
            break
        predictor, node = candidates.pop(random.randrange(len(candidates)))
        children, stayed = _children(predictor, node, random), 1.0
        width, leaves = widths[predictor.name], prod(widths.values())
        if isinstance(predictor.domain, ItemSets):
            subsets = Subsets.of(predictor.domain, node).number
            least = threshold(diffgen.threshold, step, subsets)
            having = 1.0 if width == 1 else 0.5  # of the leaves, these have the node
            each = None if records is None else records * kept / max(leaves, 1.0)
            number, stayed = _survivors(subsets, least, float(step), each)
            grown = width * (1 - having) + width * having * number
            stayed = 1 - having * (1 - stayed)
        else:
            grown = width + len(children) - 1
        if leaves / width * grown * classes > MOST_CELLS:
            continue
        widths[predictor.name] = grown
        kept *= stayed
        below = [(predictor, child) for child in children if _children(predictor, child, random)]
        candidates += below
        paid += 1
        if isinstance(predictor.domain, ItemSets) or (isinstance(predictor.domain, Numbers) and below):
            paid += 1
    return _Run(prod(widths.values()), paid, kept)


def _survivors(subsets: int, least: int, epsilon: float, records: float | None) -> tuple[float, float]:
    """Of the subsets below one leaf, how many stay; and which share of its records is in them.

    Without a number of records: one subset has them all and stays, and of the others those whose noise
    reaches the threshold.
    """
    if records is None:
        return 1 + reaches(least, epsilon) * (subsets - 1), 1.0
    weights = 1 / np.arange(1, subsets + 1)
    shares = weights / weights.sum()
    q, far = exp(-epsilon), np.ceil(least - records * shares)
    above = q ** np.maximum(far, 0) / (1 + q)
    below = 1 - q ** np.maximum(1 - far, 0) / (1 + q)
    stay = np.where(far > 0, above, below)
    return float(stay.sum()), float(shares @ stay)


def _children(predictor: Predictor, node: Node, random: Random) -> tuple[Node, ...]:
    if node.children or not isinstance(predictor.domain, Numbers):
        return node.children
    if node.leaves < 2:
        return ()
    at = random.randrange(node.lo + 1, node.hi)
    return Node(None, node.lo, at), Node(None, at, node.hi)
