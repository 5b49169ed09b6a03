"""The miner of maximal frequent sequences: compiled, plain, and by definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.trajectory.naive import Record, dense, matching, maximal_frequent, records, tally, visits
from tests.tries import tries

from privet import native
from privet.errors import PolicyError
from privet.trajectory import frequent as miner
from privet.trajectory.frequent import frequent, threshold
from privet.trajectory.paths import Paths
from privet.trajectory.sequences import Sequences


def both(paths: Paths, least: int) -> list[Sequences]:
    found = [miner.plain(paths, least)]
    if native.library() is not None:
        quick = miner.compiled(paths, least)
        assert quick is not None
        found += [quick, frequent(paths, least)]
    return found


@settings(max_examples=1_000)
@given(records(most=12, times=5), st.integers(1, 6), st.booleans())
def test_equals_the_definition(rows: list[Record], least: int, merge: bool) -> None:
    paths = tally(rows, merge=merge)
    expected = maximal_frequent(rows, least)
    for found in both(paths, least):
        assert visits(found.tuples(), paths.points) == expected
        assert len(found) == len(expected)
        for sequence, support in zip(found.tuples(), found.support.tolist(), strict=True):
            (known,) = visits([sequence], paths.points)
            assert len(matching(rows, known)) == support


def test_paths_that_agree_in_all_that_matters_become_one() -> None:
    rows: list[Record] = [
        (((1, "a"), (2, "b")), "s"),
        (((1, "a"), (2, "b"), (3, "c")), "t"),  # c is too rare to matter
        (((1, "a"),), "s"),
    ]
    found = miner.condensed(tally(rows), 2)
    assert sorted(zip(map(found.path, range(found.cells)), found.counts.tolist(), strict=True)) == [
        ((0,), 1),
        ((0, 1), 2),
    ]


def test_sums_that_meet_by_chance_join_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    paths = tally(dense(np.random.default_rng(0), rows=40, times=5, places="ab", stays=0.7))
    before = frequent(paths, 3).tuples()

    class Unlucky:
        def integers(self, _: int, *, size: int, dtype: type) -> object:
            return np.zeros(size, dtype)

    monkeypatch.setattr(np.random, "default_rng", lambda _: Unlucky())
    assert miner.condensed(paths, 3).cells == paths.cells
    assert frequent(paths, 3).tuples() == before


def test_equals_the_definition_on_long_paths() -> None:
    rng = np.random.default_rng(5)
    for _ in range(tries(300)):
        rows = dense(rng, rows=int(rng.integers(3, 20)), times=8, places="ab", stays=0.8)
        least = int(rng.integers(1, 6))
        paths = tally(rows)
        for found in both(paths, least):
            assert visits(found.tuples(), paths.points) == maximal_frequent(rows, least)


def test_a_long_path_that_nobody_shares_is_no_work() -> None:
    """A plain walk over all subsets would look at a million million sets."""
    path = tuple((when, "a") for when in range(1, 41))
    rows: list[Record] = [(path, "s"), (((50, "b"),), "t")]
    for found in both(tally(rows), 1):
        assert found.lengths.tolist() == [1, 40]


def test_more_than_there_is_gives_nothing() -> None:
    rows: list[Record] = [(((1, "a"),), "s"), ((), "s")]
    assert [len(found) for found in both(tally(rows), 3)] == [0] * len(both(tally(rows), 3))
    assert [len(found) for found in both(tally(rows), 2)] == [0] * len(both(tally(rows), 3))


def test_shares_round_up() -> None:
    assert threshold(Fraction(1, 200), 1000) == 5
    assert threshold(Fraction(1, 200), 1001) == 6
    assert threshold(Fraction(1, 10), 0) == 1


@pytest.mark.parametrize("wrong", [0, -1, Fraction(0), Fraction(-1, 2), Fraction(3, 2), 0.01, True, "1%"])
def test_what_is_no_support_is_refused(wrong: object) -> None:
    rows: list[Record] = [(((1, "a"),), "s")]
    with pytest.raises(PolicyError, match="a minimum support is"):
        frequent(tally(rows), wrong)  # type: ignore[arg-type]


def test_without_compiled_loops_the_answer_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = dense(np.random.default_rng(0), rows=60, times=6, places="ab", stays=0.7)
    before = frequent(tally(rows), Fraction(1, 20)).tuples()
    monkeypatch.setattr(native, "library", lambda: None)
    assert frequent(tally(rows), Fraction(1, 20)).tuples() == before
    assert before
