"""Whoever answers a search's questions keeps the same contract: one tally, or several parts of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.dp.small import PREDICTORS, TABLE_6_1, table
from tests.tries import tries

from privet.core import Tally
from privet.counts.door import Ahead, Candidate, Counts, Ints, OpenCounts
from privet.counts.memory import InMemory
from privet.dp.diffgen import DiffGen
from privet.dp.exact import Exact
from privet.dp.records import Records
from privet.dp.scores import SplitScore
from privet.testing.adding import joined
from privet.testing.counting import check_counts, check_leaves
from privet.testing.summed import Summed, SummedLeaves
from privet.testing.summed_boxes import PartBoxes
from privet.testing.summed_live import SummedLive

OpenMake = Callable[[Sequence[Tally]], OpenCounts]
ANSWERERS: dict[str, OpenMake] = {
    "in memory": lambda parts: InMemory(joined(parts)),
    "summed over parts": Summed,
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("make", ANSWERERS.values(), ids=ANSWERERS)
def test_questions_are_answered_and_searches_find_the_same(make: OpenMake) -> None:
    check_counts(make, examples=tries(150))


@pytest.mark.one_in(2)
@pytest.mark.parametrize("make", ANSWERERS.values(), ids=ANSWERERS)
def test_leaves_hold_what_a_naive_count_finds(make: OpenMake) -> None:
    check_leaves(make, examples=tries(80))


# Broken on purpose: the contract sees it.


class OneTooMany(Summed):
    """Counts a record twice."""

    def histograms(self, columns: Sequence[str], by: str | None = None) -> list[Ints]:
        return [found + (found == found.max()) for found in super().histograms(columns, by)]


class ForgetsNull(Summed):
    """Drops the last code, where null stands, as a careless group-by does."""

    def histograms(self, columns: Sequence[str], by: str | None = None) -> list[Ints]:
        found = super().histograms(columns, by)
        for one, name in zip(found, columns, strict=True):
            column = self.heading.column(name)
            if column is not None and column.domain.null is not None:
                one[column.domain.null] = 0
        return found


class ForgetsAPart(Summed):
    """Asks all parts but the last for boxes."""

    def boxing(self, sensitive: Sequence[str]) -> Any:
        return Summed(self._tallies[:-1] or self._tallies).boxing(sensitive)


@pytest.mark.parametrize("broken", [OneTooMany, ForgetsNull, ForgetsAPart])
def test_a_wrong_answerer_is_caught(broken: Callable[[Sequence[Tally]], Counts]) -> None:
    with pytest.raises((AssertionError, IndexError, ValueError)):
        check_counts(broken, examples=300, shrink=False)


def test_leaves_that_are_off_by_one_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def off(self: SummedLeaves, candidates: Sequence[Candidate]) -> list[Ahead]:
        answers = [part.ahead(candidates) for part in self._parts[:1]]
        return [self._summed(found) for found in zip(*answers, strict=True)]

    monkeypatch.setattr(SummedLeaves, "ahead", off)
    with pytest.raises(AssertionError, match="look-ahead"):
        check_leaves(Summed, examples=300, shrink=False)


def test_a_cut_one_code_too_far_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def far(self: PartBoxes, attribute: Any, cut: Any) -> None:
        here, value = self.values(attribute)
        self._right[here] = value >= cut[self._box[here]]

    monkeypatch.setattr(PartBoxes, "propose", far)
    with pytest.raises(AssertionError, match="parts"):
        check_counts(Summed, examples=300, shrink=False)


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["Engineer", "Lawyer", "Dancer", "Writer"]),
        st.integers(18, 64).map(str),
        st.sets(st.sampled_from(["11", "12", "21", "22"]), min_size=1).map(lambda s: "|".join(sorted(s))),
        st.sampled_from("YN"),
    ),
    min_size=1,
    max_size=40,
)


@given(
    rows=ROWS,
    at=st.integers(0, 40),
    seed=st.integers(0, 10**6),
    score=st.sampled_from(SplitScore),
    epsilon=st.sampled_from([Fraction(4), Fraction(4000)]),
)
def test_diffgen_over_parts_is_diffgen_over_all_of_them(
    rows: list[tuple[str, ...]], at: int, seed: int, score: SplitScore, epsilon: Fraction
) -> None:
    parts = [Records(table(some, PREDICTORS)) for some in (rows[:at], rows[at:]) if some]
    live, all_of_them = SummedLive(parts), Records(table(rows, PREDICTORS))
    for ours, theirs in zip(live.histograms([0, 1]), all_of_them.histograms([0, 1]), strict=True):
        assert [found.tolist() for found in ours] == [found.tolist() for found in theirs]
    root = PREDICTORS[2].domain.root
    assert live.subsets(2, [root])[0].tolist() == all_of_them.subsets(2, [root])[0].tolist()
    # With so large an epsilon the scores decide, with a small one chance does.
    plan = DiffGen(epsilon=epsilon, h=4, score=score, class_totals=Fraction(1, 10))
    heading = table(TABLE_6_1[:0], PREDICTORS)  # of the table itself nothing is looked at
    whole = plan.release(table(rows, PREDICTORS), Exact(Random(seed)))
    summed = plan.release(heading, Exact(Random(seed)), live=live)
    assert [(s.attribute, s.label, s.children) for s in summed.steps] == [
        (s.attribute, s.label, s.children) for s in whole.steps
    ]
    assert np.array_equal(summed.counts, whole.counts)
    assert np.array_equal(summed.positions, whole.positions)
    assert summed.totals is not None
    assert np.array_equal(summed.totals, whole.totals if whole.totals is not None else [])
    assert summed.node_sets == whole.node_sets
