"""Differential privacy of whole releases, by going every way: no output is exp(epsilon) times likelier."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from tests.dp.paths import law, worst
from tests.dp.small import table, without
from tests.tries import seldom

from privet.dp.budget import CountBudget
from privet.dp.coded import CodedTable
from privet.dp.diffgen import DiffGen, Selection
from privet.dp.publicdomain import Categories, ItemSets, Numbers, Predictor
from privet.dp.scores import SplitScore
from privet.dp.sets import Threshold
from privet.hierarchy.tree import Tree

JOB = Predictor("Job", Categories(Tree.of({"Any": {"Art": ["Dancer", "Writer"], "Law": None}})))
AGE = Predictor("Age", Numbers(0, 4))
PETS = Predictor("Pets", ItemSets(Tree.of({"pet": ["cat", "dog"]}), empty=False))
MAYBE = Predictor("Pets", ItemSets(Tree.of({"pet": ["cat", "dog"]})))
DEEP = Predictor("Pets", ItemSets(Tree.of({"pet": {"cat": ["tom", "kit"], "dog": None}}), empty=False))

ROUNDING = 1e-9  # of the floats in this test; the release has none


def with_neighbours(rows: list[Any], predictors: list[Predictor]) -> list[CodedTable]:
    """The table, and it without each of its records."""
    fewer = [without(rows, at) for at in range(len(rows))]
    return [table(some, predictors) for some in (rows, *fewer)]


def bound(epsilon: Fraction) -> float:
    return float(epsilon) + ROUNDING


@pytest.mark.one_in(2)
@pytest.mark.parametrize("score", list(SplitScore))
@pytest.mark.parametrize("selection", list(Selection))
def test_relational(score: SplitScore, selection: Selection) -> None:
    if selection is Selection.MONOTONE and score is not SplitScore.MAX:
        pytest.skip("information gain is not monotone")
    diffgen = DiffGen(epsilon=Fraction(2), h=2, score=score, selection=selection)
    rows = [("Dancer", "1", "Y"), ("Writer", "1", "N"), ("Law", "3", "N")]
    assert worst(diffgen, *with_neighbours(rows, [JOB, AGE])) <= bound(diffgen.epsilon)


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("score", "kept"),
    seldom(
        product(SplitScore, Threshold),
        [(SplitScore.INFORMATION_GAIN, Threshold.RARE), (SplitScore.MAX, Threshold.DEVIATION)],
    ),
)
def test_sets(score: SplitScore, kept: Threshold) -> None:
    diffgen = DiffGen(epsilon=Fraction(8), h=2, score=score, threshold=kept)
    rows = [("Dancer", "cat|dog", "Y"), ("Law", "dog", "N")]
    assert worst(diffgen, *with_neighbours(rows, [JOB, PETS])) <= bound(diffgen.epsilon)


def test_missing_values_are_protected_like_others() -> None:
    """A public category of their own, of words and of numbers."""
    diffgen = DiffGen(epsilon=Fraction(2), h=2)
    job = Predictor("Job", Categories(Tree.of({"Any": ["Dancer", "Writer"]}), null=True))
    age = Predictor("Age", Numbers(0, 3, null=True))
    rows = [("Dancer", "1", "Y"), (None, "2", "N"), ("Writer", None, "N"), (None, None, "Y")]
    assert worst(diffgen, *with_neighbours(rows, [job, age])) <= bound(diffgen.epsilon)


def test_empty_sets_and_totals() -> None:
    diffgen = DiffGen(epsilon=Fraction(8), h=1, class_totals=Fraction(1, 5))
    rows = [("cat|dog", "1", "Y"), ("", "2", "N"), (None, "3", "N")]
    assert worst(diffgen, *with_neighbours(rows, [MAYBE, AGE])) <= bound(diffgen.epsilon)


def test_nodes_below_dropped_partitions() -> None:
    """The second split sees live records only, and its own emptiness tests."""
    diffgen = DiffGen(epsilon=Fraction(10), h=2, counts=CountBudget.FIXED)
    rows = [("tom|kit|dog", "Y"), ("dog", "N"), ("kit", "N")]
    assert worst(diffgen, *with_neighbours(rows, [DEEP])) <= bound(diffgen.epsilon)


def test_all_tables_of_two_records() -> None:
    diffgen = DiffGen(epsilon=Fraction(3), h=1)
    kinds = list(product(["0", "2", "3"], ["Y", "N"]))
    for first, second in product(kinds, repeat=2):
        ratio = worst(diffgen, table([first, second], [AGE]), table([first], [AGE]))
        assert ratio <= bound(diffgen.epsilon)


def test_the_bound_is_nearly_reached() -> None:
    """A test that any algorithm passes would show nothing: the counts alone use half of epsilon."""
    diffgen = DiffGen(epsilon=Fraction(2), h=1)
    rows = [("Dancer", "1", "Y"), ("Law", "3", "N")]
    assert worst(diffgen, table(rows, [JOB, AGE]), table(rows[:1], [JOB, AGE])) > 1


def test_what_can_be_published_does_not_depend_on_the_records() -> None:
    diffgen = DiffGen(epsilon=Fraction(2), h=2)
    some = law(diffgen, table([("Dancer", "1", "Y"), ("Law", "3", "N")], [JOB, AGE]))
    none = law(diffgen, table([], [JOB, AGE]))
    assert set(some) == set(none)
    for _, made in none.values():
        assert made.epsilon == diffgen.epsilon
        assert not made.counts.any()
        assert made.leaves == len(made.cuts[0]) * len(made.cuts[1])
