"""What is kept of counts by one and by two columns, and of correlations."""

from __future__ import annotations

import numpy as np
import pytest
from tests.contract.pairs import policy_of, table_of

from privet.core import Column, Tally
from privet.domain import Cut
from privet.exploration import explore
from privet.hierarchy import Intervals
from privet.measure.bayes import bayes_error, majority_error
from privet.measure.kept import kept
from privet.measure.spread import Boxes
from privet.recoding import Generalization
from privet.relational.lattice import cuts_by_level

DOMAIN = Intervals(low=0, high=8).domain([str(n) for n in range(8)])


def table(one: list[int], other: list[int], target: list[int] | None = None) -> Tally:
    columns = [Column(n, DOMAIN, DOMAIN.column(np.array(c))) for n, c in (("a", one), ("b", other))]
    aim = None if target is None else Column("t", DOMAIN, DOMAIN.column(np.array(target)))
    return Tally(tuple(columns), (), aim, np.ones(len(one), dtype=np.int64))


def raw_of(tally: Tally) -> Generalization:
    leaves = [_finest(column) for column in tally.quasi]
    return Generalization({c.name: cut for c, cut in zip(tally.quasi, leaves, strict=True)})


def _finest(column: Column) -> Cut:
    return cuts_by_level(column.domain)[0]


def all_alike(tally: Tally) -> Generalization:
    return Generalization({c.name: Cut(c.domain, (c.domain.root,)) for c in tally.quasi})


def test_a_table_that_leaves_as_it_is_keeps_all() -> None:
    tally = table([0, 1, 2, 3, 7], [0, 1, 2, 3, 7])
    assert kept(tally, Boxes.of(tally, raw_of(tally))) == {
        "marginals": pytest.approx(1),
        "pairs": pytest.approx(1),
        "correlations": pytest.approx(1),
    }


def test_a_table_that_says_nothing_keeps_what_anybody_would_guess() -> None:
    """All records at one of eight values: an even spread has one eighth there, and one of 64 by two."""
    tally = table([3] * 6, [3] * 6)
    found = kept(tally, Boxes.of(tally, all_alike(tally)))
    assert found["marginals"] == pytest.approx(1 / 8)
    assert found["pairs"] == pytest.approx(1 / 64)
    assert found["correlations"] is None  # nothing varies


def test_columns_that_hang_together_no_longer_do() -> None:
    tally = table([0, 1, 2, 3], [0, 1, 2, 3])
    assert kept(tally, Boxes.of(tally, all_alike(tally)))["correlations"] == pytest.approx(0.5)


def test_predictions_from_a_release_are_of_raw_records() -> None:
    tally = table(list(range(8)) * 30, [0] * 240, [n // 4 for n in range(8)] * 30)
    assert bayes_error(tally, raw_of(tally)) == bayes_error(tally) == 0
    assert bayes_error(tally, all_alike(tally)) == pytest.approx(majority_error(tally), abs=0.02)


def test_explore_says_what_a_recipient_feels() -> None:
    policy = policy_of(["k-anonymity"], "top-down", pay={"role": "target"})
    found = explore(table_of(3, rows=80), policy, algorithms=["mondrian", "top-down"], k=[3])
    for run in found["runs"]:
        assert set(run["utility"]) == {
            "query_error", "marginals", "pairs", "correlations", "prediction_error", "prediction_error_raw",
        }  # fmt: skip
        assert 0 <= run["utility"]["pairs"] <= 1
