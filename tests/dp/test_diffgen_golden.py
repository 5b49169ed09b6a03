"""Spec 04, section 4: the tables and figures that were printed or derived there."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.dp.small import CODES, PREDICTORS, TABLE_6_1, table, without

from privet.dp.budget import Account, Search, step_epsilon
from privet.dp.diffgen import DiffGen
from privet.dp.histogram import Histogram
from privet.dp.publicdomain import ItemSets, Numbers
from privet.dp.scores import GRID, SplitScore, gain, majority, scoring
from privet.dp.sets import Threshold, threshold
from privet.dp.splitting import Splitter

# a, b, length, left, right, InfoGain, Max, P_Max, P_InfoGain
REGIONS = """
18,20,2,0,8,0.0000,4,0.0411,0.0423
20,25,5,1,7,0.1379,5,0.1081,0.1066
25,32,7,2,6,0.0000,4,0.1440,0.1482
32,33,1,3,5,0.0488,5,0.0216,0.0212
33,34,1,4,4,0.1887,6,0.0227,0.0214
34,37,3,5,3,0.5488,7,0.0717,0.0653
37,38,1,6,2,0.3113,6,0.0227,0.0215
38,50,12,7,1,0.1379,5,0.2595,0.2558
50,65,15,8,0,0.0000,4,0.3085,0.3176
"""


class Scripted:
    """Answers choices from a list, lets every tested subset with records pass, and adds no noise."""

    def __init__(self, *choices: int) -> None:
        self._choices = list(choices)
        self.asked: list[tuple[list[int], Fraction]] = []
        self.scales: list[Fraction] = []

    def choose(self, scores, temperature, weights=None):  # type: ignore[no-untyped-def]
        self.asked.append(([int(s) for s in scores], temperature))
        return self._choices.pop(0)

    def laplace(self, scale: Fraction, size: int):  # type: ignore[no-untyped-def]
        self.scales.append(scale)
        # 14 lifts a count of 1 or more over the threshold of 15, and leaves 0 below it
        return np.full(size, 14 if scale == 10 else 0, dtype=np.int64)


def probabilities(scores: list[int], temperature: float) -> list[float]:
    parts = [math.exp(score / temperature) for score in scores]
    return [part / sum(parts) for part in parts]


def test_regions_of_age() -> None:
    columns = table(TABLE_6_1)
    ages = columns.columns[1]
    regions = Histogram.of(*Histogram.counted(ages.codes, columns.class_codes, 47, 2)).regions(0, 47)
    printed = [[float(field) for field in line.split(",")] for line in REGIONS.split()]
    assert (regions.first + 18 - 1).tolist() == [row[0] for row in printed]
    # On a grid the last run is one shorter: a split at 65 leaves nothing to the right of the domain.
    assert regions.length.tolist() == [*(row[2] for row in printed[:-1]), 14]
    assert regions.counts.sum(axis=2).tolist() == [[row[3], row[4]] for row in printed]
    assert majority(regions.counts).tolist() == [row[6] for row in printed]
    found = gain(regions.counts) / 2**GRID
    assert found == pytest.approx([row[5] for row in printed], abs=5e-5 + 2**-17)
    for scores, column in ((majority(regions.counts), 7), (found, 8)):
        weights = [row[2] * math.exp(score / 20) for row, score in zip(printed, scores, strict=True)]
        expected = [weight / sum(weights) for weight in weights]
        assert expected == pytest.approx([row[column] for row in printed], abs=6e-5)


def splitter(score: SplitScore, noise: Scripted) -> Splitter:
    scored = scoring(score, 2)
    search = Search(noise, Account(Fraction(1)), Fraction(1, 10), Fraction(20))
    return Splitter(table(TABLE_6_1), scored, search)


def test_root_scores() -> None:
    """A column of sets is scored by subsets of children; the split of Age falls into (34, 37]."""
    for score, expected in ((SplitScore.MAX, [4, 7, 4]), (SplitScore.INFORMATION_GAIN, [0, 0.5488, 0])):
        source = splitter(score, Scripted(5, 1))
        found = source.scores(list(source.start())).tolist()
        unit = 1 if score is SplitScore.MAX else 2**GRID
        assert [f / unit for f in found] == pytest.approx(expected, abs=1e-4)


def test_a_run_as_in_example_6_3() -> None:
    """Age split in (34, 37], then ** and Any_Job: cuts, counts, scores, probabilities and the account."""
    noise = Scripted(5, 1, 2, 0)
    made = DiffGen(epsilon=Fraction(1), h=2).release(table(TABLE_6_1), noise)
    first, second = noise.asked[2], noise.asked[3]
    assert first == ([4, 7, 4], Fraction(20))
    assert probabilities(first[0], 20) == pytest.approx([0.3163, 0.3675, 0.3163], abs=6e-5)
    assert second[0] == [4, 7, 7, 3]  # Any_Job, Age, 1*, 2*
    assert probabilities(second[0], 20) == pytest.approx([0.2339, 0.2718, 0.2718, 0.2225], abs=6e-5)
    assert [charge.epsilon for charge in made.charges] == [Fraction(1, 10)] * 4 + [Fraction(3, 5)]
    assert made.epsilon == 1
    assert made.scale == Fraction(5, 3)
    rows, counts = made.rows(zeros=True)
    shown = list(zip(*(rows[name].texts() for name in ("Job", "Age", "Codes", "Class")), strict=True))
    assert sorted(shown) == sorted(
        (job, "[18-65)", codes, label)
        for job in ("Professional", "Artist")
        for codes in ("1*", "1*|2*")
        for label in ("Y", "N")
    )
    assert counts.tolist() == [1] * 8  # table 6.2 before its noise
    assert made.expand()["Job"].texts().count("Artist") == 4
    assert [node.label for node in made.cuts[2]] == ["1*", "2*"]


@pytest.mark.parametrize(
    ("choices", "left"),
    [((5, 1, 1, 0, 0, 0, 2), "1/2"), ((5, 1, 0, 2), "7/10")],
    ids=["numerical twice", "categorical twice"],
)
def test_what_is_left_for_the_counts(choices: tuple[int, ...], left: str) -> None:
    noise = Scripted(*choices, *[0] * 20)
    made = DiffGen(epsilon=Fraction(1), h=2).release(table(TABLE_6_1), noise)
    assert 1 / made.scale == Fraction(left)
    assert made.epsilon == 1


def test_scores_below_the_first_splits() -> None:
    source = splitter(SplitScore.INFORMATION_GAIN, Scripted(5, 1))
    roots = list(source.start())
    (below_1, below_2) = source.perform(roots[2])
    gains = source.scores([below_1, below_2]) / 2**GRID
    assert gains.tolist() == pytest.approx([0.5944, 0.3113], abs=1e-4)
    professional, artist = source.perform(roots[0])
    assert source.scores([professional, artist]).tolist() == [0, 0]
    most = splitter(SplitScore.MAX, Scripted(5, 1))
    assert most.scores(list(most.perform(next(iter(list(most.start())))))).tolist() == [2, 2]


def test_table_6_3() -> None:
    rows = [(job, age, label) for job, age, _, label in TABLE_6_1]
    # the run (38, 50] and its second place, 40; then Age, whose halves take a run and a place each; then Job
    noise = Scripted(7, 1, 1, 0, 0, 0, 0, 0)
    made = DiffGen(epsilon=Fraction(1), h=2).release(table(rows, PREDICTORS[:2]), noise)
    shown, counts = made.rows(zeros=True)
    found: dict[tuple[object, object], int] = {}
    for job, age, count in zip(shown["Job"].texts(), shown["Age"].texts(), counts.tolist(), strict=True):
        found[job, age] = found.get((job, age), 0) + count
    assert found == {
        ("Professional", "[18-40)"): 3,
        ("Professional", "[40-65)"): 1,
        ("Artist", "[18-40)"): 4,
        ("Artist", "[40-65)"): 0,
    }


def test_generalised_sets() -> None:
    domain = ItemSets(CODES, empty=False)
    made = DiffGen(epsilon=Fraction(1), h=1).release(table(TABLE_6_1), Scripted(5, 1, 2))
    test = table([("Dancer", "23", "21|22", "Y"), ("Dancer", "40", "11", "N")])
    applied = made.apply_cut(test)
    assert applied["Codes"].texts() == ["2*", "1*"]
    assert applied["Job"].texts() == ["Any_Job", "Any_Job"]
    assert applied["Class"].texts() == ["Y", "N"]
    before = DiffGen(epsilon=Fraction(1), h=1).release(table(TABLE_6_1), Scripted(5, 1, 0))
    assert before.apply_cut(test)["Codes"].texts() == ["**", "**"]
    assert domain.none is None
    assert Numbers(18, 65).node(0, 22).label == "[18-40)"


def test_sizes_that_the_spec_prints() -> None:
    assert step_epsilon(Fraction(1), h=2, numerical=1) == Fraction(1, 10)
    assert threshold(Threshold.DEVIATION, Fraction(1, 10), 3) == 15  # 14.142 rounded up
    assert threshold(Threshold.RARE, Fraction(1, 10), 255) == 56  # ln 256 / 0.1 = 55.45
    assert sum(int(age) < 40 for _, age, _, _ in TABLE_6_1) == 7
    assert len(without(TABLE_6_1, 0)) == 7


def test_scores_after_a_drop_see_live_records_only() -> None:
    """** is split, {1*, 2*} is judged empty: records 1, 2, 7 and 8 are gone, 3 to 6 are left."""

    class Dropping(Scripted):
        def laplace(self, scale: Fraction, size: int):  # type: ignore[no-untyped-def]
            del scale, size
            return np.array([14, 0, 0], dtype=np.int64)  # of {1*}, {2*} and {1*, 2*}

    source = splitter(SplitScore.MAX, Dropping(5, 1))
    job, age, codes = source.start()
    assert source.scores([job, age, codes]).tolist() == [4, 7, 4]
    below, _ = source.perform(codes)
    # Job: one Y and one N under each child. Age < 36: two Y; above: two N. 11 is N, 12 is Y and N, both is Y.
    assert source.scores([job, age, below]).tolist() == [2, 4, 3]
