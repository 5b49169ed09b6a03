"""The generator of minimal violating sequences: compiled, plain, and by definition."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.trajectory.naive import VALUES, Record, dense, minimal, promise, records, tally, violating, visits
from tests.tries import tries

from privet import native
from privet.errors import PolicyError, UnsupportedError
from privet.models.linkage import Linkage
from privet.models.template import EVERY, Template
from privet.trajectory import violations as generator
from privet.trajectory.paths import Paths
from privet.trajectory.sequences import Sequences
from privet.trajectory.violations import reach, violations, weighed

SHARES = [Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1)]


def both(paths: Paths, asked: Linkage) -> list[Sequences]:
    """What each form of the search finds."""
    weights, bounds = weighed(paths, asked.binding)
    found = [generator.plain(paths, weights, bounds, asked.k, reach(paths, asked))]
    if native.library() is not None:
        quick = generator.compiled(paths, weights, bounds, asked.k, reach(paths, asked))
        assert quick is not None
        found.append(quick)
    return found


@settings(max_examples=1_500)
@given(
    records(),
    st.one_of(st.none(), st.integers(1, 5)),
    st.integers(1, 5),
    st.sampled_from(SHARES),
    st.sets(st.sampled_from(VALUES)),
)
def test_equals_the_definition(
    rows: list[Record], l: int | None, k: int, c: Fraction, protected: set[str]
) -> None:
    asked = promise(l, k, c, sorted(protected))
    paths = tally(rows)
    expected = minimal(violating(rows, asked))
    for found in both(paths, asked):
        assert visits(found.tuples(), paths.points) == expected
        assert len(found) == len(expected)


def test_equals_the_definition_where_violations_are_long() -> None:
    """Databases of up to seven points in a path, with violations of up to seven points."""
    rng = np.random.default_rng(4)
    lengths: set[int] = set()
    for _ in range(20 * tries(100)):
        rows = dense(
            rng, rows=int(rng.integers(4, 14)), times=int(rng.integers(4, 8)), places="a", stays=0.75
        )
        asked = promise(None, int(rng.integers(1, 4)), SHARES[int(rng.integers(0, 4))])
        paths = tally(rows)
        expected = minimal(violating(rows, asked))
        for found in both(paths, asked):
            assert visits(found.tuples(), paths.points) == expected
            assert len(found) == len(expected)
            lengths.update(found.lengths.tolist())
    assert lengths >= {1, 2, 3, 4, 5}


@given(records(), st.integers(1, 4), st.integers(1, 4))
def test_support_and_order_do_not_depend_on_the_form(rows: list[Record], l: int, k: int) -> None:
    asked = promise(l, k, Fraction(1, 2))
    answers = [
        (found.tuples(), found.support.tolist())
        for merge in (True, False)
        for found in both(tally(rows, merge=merge), asked)
    ]
    assert all(answer == answers[0] for answer in answers)
    tuples, support = answers[0]
    assert tuples == sorted(tuples, key=lambda one: (len(one), one))
    sets = visits(tuples, tally(rows).points)
    assert sorted(support) == sorted(sum(known <= set(path) for path, _ in rows) for known in sets)


@given(records(), st.integers(1, 3))
def test_every_value_can_be_protected_at_once(rows: list[Record], l: int) -> None:
    every = Linkage(l, 1, (Template("status", EVERY, Fraction(1, 2)),))
    named = promise(l, 1, Fraction(1, 2), VALUES)
    paths = tally(rows)
    assert violations(paths, every).tuples() == violations(paths, named).tuples()


@pytest.mark.parametrize(("at_most", "violates"), [("1/3", False), ("33333333/100000000", True)])
def test_a_share_is_compared_exactly(at_most: str, violates: bool) -> None:
    rows: list[Record] = [(((1, "a"),), "s"), (((1, "a"),), "t"), (((1, "a"),), "t")]
    for found in both(tally(rows), promise(1, 1, Fraction(at_most))):
        assert len(found) == violates


def test_numbers_beyond_64_bits_are_compared_exactly_too() -> None:
    rows: list[Record] = [(((1, "a"),), "s"), (((1, "a"),), "t"), (((1, "a"),), "t")]
    third = Fraction(10**30, 3 * 10**30 + 1)  # just below a third
    assert not generator.fits(tally(rows), [third])
    assert len(violations(tally(rows), promise(1, 1, third))) == 1


def test_empty_paths_hide_nobody_and_show_nobody() -> None:
    rows: list[Record] = [((), "s"), ((), "s"), (((1, "a"),), "s")]
    assert all(len(found) == 1 for found in both(tally(rows), promise(1, 2, Fraction(1))))
    nothing: list[Record] = [((), "s")]
    assert all(len(found) == 0 for found in both(tally(nothing), promise(3, 2, Fraction(1, 2))))


def test_without_compiled_loops_the_answer_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = dense(np.random.default_rng(0), rows=40, times=6, places="ab", stays=0.7)
    asked = promise(4, 3, Fraction(1, 2))
    before = violations(tally(rows), asked).tuples()
    monkeypatch.setattr(native, "library", lambda: None)
    assert violations(tally(rows), asked).tuples() == before
    assert before


def test_an_attribute_that_is_not_there_is_refused() -> None:
    rows: list[Record] = [(((1, "a"),), "s")]
    with pytest.raises(PolicyError, match="no sensitive attribute"):
        violations(tally(rows), Linkage(1, 1, (Template("illness", "s", Fraction(1, 2)),)))


def test_a_promise_about_columns_is_refused() -> None:
    rows: list[Record] = [(((1, "a"),), "s")]
    with pytest.raises(UnsupportedError, match="nothing about paths"):
        violations(tally(rows), Linkage(1, 1, (), quasi=("age",)))
