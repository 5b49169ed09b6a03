"""What a release will be like, before anything is spent: from the policy alone.

Nothing here sees a record. How many leaves there will be depends on which splits are chosen; for the plan
they are drawn at random, each equally likely, many times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log, prod, sqrt
from random import Random
from statistics import fmean, quantiles

from privet.domain import Node
from privet.dp.diffgen import CountBudget, DiffGen
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

    @property
    def total_error(self) -> float:
        """All absolute errors added up; beside the number of records it says how much is noise."""
        return self.counts * self.error

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


def variance(epsilon: float) -> float:
    """The variance of discrete Laplace noise.

    >>> round(variance(0.5), 3)
    7.835
    """
    q = exp(-epsilon)
    return 2 * q / (1 - q) ** 2


def expect(
    diffgen: DiffGen, predictors: Sequence[Predictor], classes: int, *, draws: int = DRAWS
) -> Expected:
    """The plan for these parameters; what is drawn for it is drawn alike every time, no record is near."""
    numerical = sum(isinstance(p.domain, Numbers) for p in predictors)
    step = diffgen.step(numerical)
    runs = [_walk(diffgen, predictors, step, classes, Random(f"plan {n}")) for n in range(draws)]
    leaves = [leaves for leaves, _ in runs]
    if diffgen.counts is CountBudget.FIXED:
        rest = diffgen.epsilon / 2
    else:
        spent = Fraction(sum(steps for _, steps in runs), draws)
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
    )


def _walk(
    diffgen: DiffGen, predictors: Sequence[Predictor], step: Fraction, classes: int, random: Random
) -> tuple[float, int]:
    """The leaves after h random splits, and the steps that were paid."""
    candidates = [(p, p.domain.root) for p in predictors if _children(p, p.domain.root, random)]
    paid = sum(isinstance(p.domain, Numbers) and not p.domain.null for p, _ in candidates)
    widths = {p.name: 1.0 for p in predictors}
    for _ in range(diffgen.h):
        if not candidates:
            break
        predictor, node = candidates.pop(random.randrange(len(candidates)))
        children = _children(predictor, node, random)
        grown = _grown((predictor, node), len(children), widths[predictor.name], diffgen, step)
        if prod((widths | {predictor.name: grown}).values()) * classes > MOST_CELLS:
            continue
        widths[predictor.name] = grown
        below = [(predictor, child) for child in children if _children(predictor, child, random)]
        candidates += below
        paid += 1
        if isinstance(predictor.domain, ItemSets) or (isinstance(predictor.domain, Numbers) and below):
            paid += 1
    return prod(widths.values()), paid


def _children(predictor: Predictor, node: Node, random: Random) -> tuple[Node, ...]:
    if node.children or not isinstance(predictor.domain, Numbers):
        return node.children
    if node.leaves < 2:
        return ()
    at = random.randrange(node.lo + 1, node.hi)
    return Node(None, node.lo, at), Node(None, at, node.hi)


def _grown(
    split: tuple[Predictor, Node], children: int, width: float, diffgen: DiffGen, step: Fraction
) -> float:
    """How many values the column has after the split.

    For sets: half of the leaves have the node, one subset of each has records, and of the others those
    stay whose noise reaches the threshold.
    """
    predictor, node = split
    if not isinstance(predictor.domain, ItemSets):
        return width + children - 1
    subsets = Subsets.of(predictor.domain, node).number
    passing = exp(-float(step) * threshold(diffgen.threshold, step, subsets)) / (1 + exp(-float(step)))
    having = 1.0 if width == 1 else 0.5
    return width * (1 - having) + width * having * (1 + passing * (subsets - 1))
