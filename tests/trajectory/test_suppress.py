"""Suppression: what it leaves keeps the promise, and its tables are what counting afresh would give."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.trajectory.naive import (
    Record,
    dense,
    frame,
    matching,
    promise,
    records,
    rows_of,
    tally,
    violating,
    visits,
)
from tests.tries import tries

from privet import native
from privet.engines.trajectories.column import PathColumn
from privet.errors import PolicyError, UnsatisfiableError
from privet.trajectory.audit import audit
from privet.trajectory.frequent import frequent
from privet.trajectory.paths import Paths
from privet.trajectory.sequences import Sequences
from privet.trajectory.suppress import PointScore, Suppress, Suppression, Thinning, greedy, plain
from privet.trajectory.trees import Remaining
from privet.trajectory.violations import violations

SCORES = st.sampled_from(PointScore)
SHARES = st.sampled_from([Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1)])


def test_what_leaves_passes_every_check_on_hundreds_of_parameters() -> None:
    """The road in small: read, search, apply, read again, audit; and the definition beside it."""
    rng = np.random.default_rng(6)
    suppressed = 0
    many = 2 * tries(200)
    for _ in range(many):
        rows = dense(
            rng,
            rows=int(rng.integers(5, 30)),
            times=int(rng.integers(2, 6)),
            places="ab",
            stays=float(rng.choice([0.4, 0.7])),
        )
        l = None if rng.random() < 0.2 else int(rng.integers(1, 5))
        c = Fraction(int(rng.integers(1, 5)), 4)
        asked = promise(l, int(rng.integers(1, 5)), c, ("s", "t")[: int(rng.integers(0, 3))])
        raw = PathColumn.read(frame(rows), path="path", sensitive=["status"], allow_empty=True)
        score = list(PointScore)[int(rng.integers(0, 3))]
        found = Suppress(at_least=2, score=score).search(raw.paths, asked)
        table = raw.without(found.suppression.codes(raw.paths.points))
        published = PathColumn.read(table, path="path", sensitive=["status"], allow_empty=True)
        assert audit(published.paths, asked).verdict.holds
        left = rows_of(table)
        assert not violating(left, asked)
        # Nothing but suppressed points is gone: records, statuses, order and support are what they were.
        gone = {(int(when), place) for place, when in found.suppression.pairs}
        assert left == [(tuple(v for v in path if v not in gone), status) for path, status in rows]
        for known in visits(found.surviving.tuples(), raw.paths.points):
            assert len(matching(left, known)) == len(matching(rows, known))
        suppressed += bool(gone)
    assert suppressed > many / 2


@settings(max_examples=300)
@given(records(), st.integers(1, 4), st.integers(1, 4), SHARES, SCORES)
def test_each_winner_is_the_best_by_counting_afresh(
    rows: list[Record], l: int, k: int, c: Fraction, score: PointScore
) -> None:
    """No queue, no tables: in every round all scores are computed again from the explicit sets."""
    paths = tally(rows)
    bad, good = violations(paths, promise(l, k, c)), frequent(paths, 2)
    left, kept = bad.tuples(), good.tuples()
    for removal in greedy(paths, bad, good, score):

        def rank(point: int) -> tuple[Fraction, int, int, str, str]:
            gain = sum(point in one for one in left)  # noqa: B023 - asked at once
            loss = sum(point in one for one in kept)  # noqa: B023
            place, when = paths.points.pair(point)
            return -score.of(gain, loss), -gain, int(paths.instances[point]), when, place

        best = min({point for one in left for point in one}, key=rank)
        assert removal.point == best
        assert (-removal.score, -removal.gain) == rank(best)[:2]
        assert removal.loss == sum(best in one for one in kept)
        assert removal.instances == sum(paths.points.pair(best) in names(path) for path, _ in rows)
        left = [one for one in left if best not in one]
        kept = [one for one in kept if best not in one]
    assert not left


@settings(max_examples=200)
@given(records(most=14), st.integers(1, 4), st.integers(1, 4), SHARES, SCORES)
def test_the_plain_queue_takes_the_same_points(
    rows: list[Record], l: int, k: int, c: Fraction, score: PointScore
) -> None:
    paths = tally(rows)
    bad, good = violations(paths, promise(l, k, c)), frequent(paths, 2)
    taken = [(one.point, one.gain, one.loss) for one in greedy(paths, bad, good, score)]
    assert [*plain(paths.instances, bad, good, score)] == taken


def test_the_plain_queue_takes_the_same_points_of_a_crowd(monkeypatch: pytest.MonkeyPatch) -> None:
    paths, found = crowd()
    for score in PointScore:
        quick = [*greedy(paths, found.violations, found.patterns, score)]
        with monkeypatch.context() as without:
            without.setattr(native, "library", lambda: None)
            assert [*greedy(paths, found.violations, found.patterns, score)] == quick
    assert len(quick) > 5


def names(path: tuple[tuple[int, str], ...]) -> set[tuple[str, str]]:
    return {(place, str(when)) for when, place in path}


@given(records(), st.data())
def test_tables_equal_those_of_the_sets(rows: list[Record], data: st.DataObject) -> None:
    paths = tally(rows)
    sequences = frequent(paths, 1)
    remaining = Remaining(sequences)
    gone: list[int] = []
    for _ in range(min(4, len(paths.points))):
        point = data.draw(st.integers(0, len(paths.points) - 1))
        before = remaining.counts.copy()
        touched = set(remaining.remove(point).tolist())
        gone.append(point)
        left = sequences.without(gone)
        assert remaining.counts.tolist() == counted(left)
        assert sequences.only(remaining.there).tuples() == left.tuples()
        assert touched == set(np.flatnonzero(before != remaining.counts).tolist())


def counted(sequences: Sequences) -> list[int]:
    found = [0] * len(sequences.points)
    for sequence in sequences.tuples():
        for point in sequence:
            found[point] += 1
    return found


def test_large_tables_equal_those_of_the_sets() -> None:
    _, found = crowd()
    gains, losses = Remaining(found.violations), Remaining(found.patterns)
    gone: list[int] = []
    for removal in found.removals:
        assert (gains.counts[removal.point], losses.counts[removal.point]) == (removal.gain, removal.loss)
        gains.remove(removal.point)
        losses.remove(removal.point)
        gone.append(removal.point)
        assert gains.counts.tolist() == counted(found.violations.without(gone))
        assert losses.counts.tolist() == counted(found.patterns.without(gone))
    assert len(gone) > 5
    assert not gains.counts.any()


def crowd() -> tuple[Paths, Thinning]:
    rows = dense(np.random.default_rng(7), rows=400, times=8, places="abc", stays=0.5)
    paths = tally(rows)
    return paths, Suppress(at_least=Fraction(1, 40)).search(paths, promise(3, 4, Fraction(3, 4)))


def test_the_order_of_removals_does_not_matter() -> None:
    paths, found = crowd()
    few = found.suppression.codes(paths.points)[:4]
    answers = set()
    for order in permutations(few):
        left = paths
        for point in order:
            left = left.without([point])
        answers.add((left.visits.tobytes(), left.starts.tobytes()))
    assert len(answers) == 1


def test_the_search_is_the_same_twice() -> None:
    assert crowd()[1].removals == crowd()[1].removals


def test_a_suppression_is_about_places_and_times_not_numbers() -> None:
    other = tally([(((1, "a"), (2, "z")), "s"), (((3, "b"),), "t")])
    assert Suppression((("z", "2"), ("nowhere", "9"))).codes(other.points) == [other.points.codes["z", "2"]]


def test_more_than_there_are_records_is_refused() -> None:
    with pytest.raises(UnsatisfiableError, match="k = 3 cannot be kept by 2 records"):
        Suppress(at_least=1).search(tally([((), "s"), (((1, "a"),), "t")]), promise(1, 3, Fraction(1)))


@pytest.mark.parametrize("wrong", [0, Fraction(0), 0.5])
def test_no_support_is_refused_when_the_algorithm_is_named(wrong: object) -> None:
    with pytest.raises(PolicyError, match="a minimum support is"):
        Suppress(at_least=wrong)  # type: ignore[arg-type]


def test_nothing_is_shown_in_a_repr() -> None:
    paths, found = crowd()
    shown = f"{paths!r} {found!r} {found.suppression!r} {found.violations!r} {paths.points!r}"
    assert "Removal(gain=" in shown
    assert not [label for label in (*paths.points.labels, "'a'", "pairs") if label in shown]
