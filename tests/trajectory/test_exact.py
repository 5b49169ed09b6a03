"""The exact cover: nothing loses less, and it is refused where it would have no end."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.trajectory.naive import Record, dense, promise, read, records, tally, violating
from tests.trajectory.test_golden import TABLE_4_1
from tests.tries import tries

from privet.errors import UnsupportedError
from privet.models.lkc import LKC
from privet.trajectory import exact
from privet.trajectory.audit import audit
from privet.trajectory.exact import minimum
from privet.trajectory.frequent import frequent
from privet.trajectory.paths import Paths
from privet.trajectory.sequences import Sequences
from privet.trajectory.suppress import Cover, PointScore, Suppress
from privet.trajectory.violations import violations

SHARES = st.sampled_from([Fraction(1, 3), Fraction(1, 2), Fraction(1)])


def worth(good: Sequences, points: list[int]) -> tuple[int, int]:
    """Patterns lost, and points."""
    return sum(any(point in one for point in points) for one in good.tuples()), len(points)


def by_trying_everything(bad: Sequences, good: Sequences) -> tuple[int, int]:
    every = sorted({point for one in bad.tuples() for point in one})
    return min(
        worth(good, [*chosen])
        for size in range(len(every) + 1)
        for chosen in combinations(every, size)
        if all(set(one) & set(chosen) for one in bad.tuples())
    )


@settings(max_examples=150)
@given(records(most=12, places="abc"), st.integers(1, 4), st.integers(1, 5), SHARES, st.integers(1, 3))
def test_nothing_loses_less(rows: list[Record], l: int, k: int, c: Fraction, least: int) -> None:
    paths = tally(rows)
    bad, good = violations(paths, promise(l, k, c)), frequent(paths, least)
    found = minimum(bad, good)
    assert all(set(one) & set(found) for one in bad.tuples())
    assert worth(good, found) == by_trying_everything(bad, good)


def test_nothing_loses_less_on_any_sets() -> None:
    """Sets of all kinds, also those that no paths would give: eight points, so 256 covers to try."""
    rng = np.random.default_rng(4)
    points = tally([(tuple((when, "a") for when in range(1, 9)), "s")]).points
    for _ in range(tries(300)):
        bad, good = (
            Sequences.of(
                points, {(tuple(sorted(one)), 1) for one in drawn(rng, int(rng.integers(3, 16)), most)}
            )
            for most in (4, 3)
        )
        found = minimum(bad, good)
        assert all(set(one) & set(found) for one in bad.tuples())
        assert worth(good, found) == by_trying_everything(bad, good)


def drawn(rng: np.random.Generator, many: int, most: int) -> list[list[int]]:
    """So many sets of up to so many of the eight points."""
    return [
        rng.choice(8, size=int(rng.integers(1 + (most > 3), most + 1)), replace=False).tolist()
        for _ in range(many)
    ]


def test_it_is_at_most_as_bad_as_the_greedy_one_and_often_better() -> None:
    rng = np.random.default_rng(11)
    better, many = 0, tries(60)
    for _ in range(many):
        rows = dense(rng, rows=30, times=4, places="abc", stays=0.6)
        paths, asked = tally(rows), promise(2, 3, Fraction(2, 3))
        for score in PointScore:
            quick = Suppress(2, score).search(paths, asked)
            best = Suppress(2, score, Cover.EXACT).search(paths, asked)
            left = paths.without(one.point for one in best.removals)
            assert audit(left, asked).verdict.holds
            ours = worth(best.patterns, [one.point for one in best.removals])
            assert ours <= worth(quick.patterns, [one.point for one in quick.removals])
            assert sum(one.gain for one in best.removals) == len(best.violations)
            better += ours < worth(quick.patterns, [one.point for one in quick.removals])
    assert better > many / 6


def test_table_4_1() -> None:
    """The greedy search keeps five of nine patterns at L = 2; nothing that keeps the promise keeps more."""
    raw = read(TABLE_4_1, sensitive="diagnosis")
    asked = LKC(l=2, k=2, c=Fraction(1, 2), sensitive={"diagnosis": ["AIDS"]}).linkage()
    best = Suppress(2, cover=Cover.EXACT).search(raw.paths, asked)
    assert worth(best.patterns, [one.point for one in best.removals]) == by_trying_everything(
        best.violations, best.patterns
    )


def test_no_violation_no_point() -> None:
    paths = tally([(((1, "a"),), "s")])
    assert minimum(violations(paths, promise(1, 1, Fraction(1))), frequent(paths, 1)) == []


def crowd() -> tuple[Paths, list[Record]]:
    rows = dense(np.random.default_rng(7), rows=60, times=12, places="abcdef", stays=0.5)
    return tally(rows), rows


def test_too_many_points_are_refused_before_the_search() -> None:
    paths, rows = crowd()
    assert len({visit for known in violating(rows, promise(1, 30, Fraction(1))) for visit in known}) > 64
    with pytest.raises(UnsupportedError, match=r'at most 64; say cover = "greedy"'):
        Suppress(2, cover=Cover.EXACT).search(paths, promise(1, 30, Fraction(1)))


def test_a_search_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "CHOICES", 3)
    rows = dense(np.random.default_rng(11), rows=30, times=4, places="abc", stays=0.6)
    with pytest.raises(UnsupportedError, match="came to no end within 3 choices"):
        Suppress(2, cover=Cover.EXACT).search(tally(rows), promise(2, 3, Fraction(2, 3)))
