"""Local suppression against its own promise, round by round, and the proof that goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.trajectory.naive import (
    Record,
    Visit,
    dense,
    frame,
    matching,
    maximal_frequent,
    minimal,
    occurring,
    promise,
    records,
    rows_of,
    tally,
    violating,
    visits,
)

from privet.engines.trajectories.column import PathColumn
from privet.errors import PolicyError, UnsatisfiableError
from privet.models.linkage import Linkage
from privet.trajectory.audit import audit, recheck, recount
from privet.trajectory.claims import Proof, SequenceClass
from privet.trajectory.local import LocalThinning, SuppressLocally, suppress_local
from privet.trajectory.proof import prove
from privet.trajectory.recode import Removed
from privet.trajectory.suppress import PointScore, Suppress

SHARES = st.sampled_from([Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1)])
LENGTHS = st.one_of(st.none(), st.integers(1, 4))


def replayed(rows: Sequence[Record], removed: Sequence[Removed]) -> list[Record]:
    """The recoding as it reads: take the pair from every path that has the whole context."""
    left = [(set(path), status) for path, status in rows]
    for one in removed:
        gone = (int(one.pair[1]), one.pair[0])
        context = {(int(when), place) for place, when in one.context}
        for path, _ in left:
            if context <= path:
                path.discard(gone)
    return [(tuple(sorted(path)), status) for path, status in left]


@settings(max_examples=250)
@given(records(), LENGTHS, st.integers(1, 4), SHARES, st.sampled_from(PointScore))
def test_what_is_left_keeps_the_promise(
    rows: list[Record], l: int | None, k: int, c: Fraction, score: PointScore
) -> None:
    asked = promise(l, min(k, len(rows)), c, ("s", "t"))
    paths = tally(rows)
    found = suppress_local(paths, asked, 2, score)
    left = replayed(rows, found.recoding.removed)
    assert not violating(left, asked)
    published = found.recoding.applied(paths).paths(paths)
    assert audit(published, asked).verdict.holds
    assert recheck(published, [asked], found.proof) == ()
    # The same in the frame, read back without the package's reader.
    raw = PathColumn.read(frame(rows), path="path", sensitive=["status"], allow_empty=True)
    assert rows_of(raw.changed(found.recoding)) == left
    # Patterns survive exactly if they are still frequent, with the support that they have now.
    patterns = maximal_frequent(rows, 2)
    kept = {known for known in patterns if len(matching(left, known)) >= 2}
    assert visits(found.surviving.tuples(), paths.points) == kept
    for sequence, support in zip(found.surviving.tuples(), found.surviving.support.tolist(), strict=True):
        assert [support] == [len(matching(left, known)) for known in visits([sequence], paths.points)]
    lost = len(patterns) - len(kept)
    assert found.loss == (Fraction(lost, len(patterns)) if patterns else 0)


def by_hand(rows: Sequence[Record], asked: Linkage, winner: Visit) -> list[Record]:
    """The winner goes from all paths with one of its minimal violating sequences, until it has none."""
    left = list(rows)
    while wrong := [known for known in minimal(violating(left, asked)) if winner in known]:
        left = [
            (tuple(v for v in path if v != winner or not any(one <= set(path) for one in wrong)), status)
            for path, status in left
        ]
    return left


@settings(max_examples=150)
@given(records(), LENGTHS, st.integers(1, 4), SHARES)
def test_each_round_takes_what_it_must_and_nothing_new_violates(
    rows: list[Record], l: int | None, k: int, c: Fraction
) -> None:
    asked = promise(l, min(k, len(rows)), c)
    paths = tally(rows)
    found = suppress_local(paths, asked, 2)
    todo = list(found.recoding.removed)
    left, wrong = rows, minimal(violating(rows, asked))
    for removal in found.removals:
        place, when = paths.points.pair(removal.point)
        steps = []
        while todo and todo[0].pair == (place, when):
            steps.append(todo.pop(0))
        before, left = left, replayed(left, steps)
        assert left == by_hand(before, asked, (int(when), place))
        # The invariant from which everything follows.
        wrong = {known for known in wrong if (int(when), place) not in known}
        assert minimal(violating(left, asked)) == wrong
        lose = sum(len(old[0]) - len(new[0]) for old, new in zip(before, left, strict=True))
        assert removal.instances == lose
    assert not wrong
    assert not todo


def test_what_is_longer_than_can_be_known_does_not_matter() -> None:
    """Where triples are rare and pairs are not, only pairs decide."""
    rare = 0
    for seed in range(12):
        rows = dense(np.random.default_rng(seed), rows=24, times=4, places="ab", stays=0.6)
        asked, paths = promise(2, 2, Fraction(1)), tally(rows)
        found = suppress_local(paths, asked, 2)
        left = rows
        for removal in found.removals:
            place, when = paths.points.pair(removal.point)
            left = by_hand(left, asked, (int(when), place))
        assert replayed(rows, found.recoding.removed) == left
        rare += bool(violating(left, promise(3, 2, Fraction(1))))
    assert rare == 12


@settings(max_examples=150)
@given(records(), st.integers(1, 3), st.integers(1, 3), st.integers(1, 4), SHARES)
def test_several_promises_at_once(rows: list[Record], l: int, k: int, larger: int, c: Fraction) -> None:
    """A weak promise about much knowledge and a strong one about little."""
    few = len(rows)
    both = [promise(l, min(k, few), c, ("s",)), promise(1, min(k + larger, few), Fraction(1), ())]
    paths = tally(rows)
    local = suppress_local(paths, both, 2)
    left = replayed(rows, local.recoding.removed)
    everywhere = Suppress(2).search(paths, both)
    gone = replayed(rows, everywhere.suppression.recoding.removed)
    for asked in both:
        assert not violating(left, asked)
        assert not violating(gone, asked)
    wrong = violating(rows, both[0]) | violating(rows, both[1])
    assert visits(local.violations.tuples(), paths.points) == minimal(wrong)
    published = local.recoding.applied(paths).paths(paths)
    assert recheck(published, both, local.proof) == ()


def crowd(k: int = 5) -> tuple[list[Record], Linkage, LocalThinning]:
    rows = dense(np.random.default_rng(4), rows=120, times=6, places="abc", stays=0.6)
    asked = promise(3, k, Fraction(2, 3))
    return rows, asked, suppress_local(tally(rows), asked, 6)


def test_it_removes_less_than_global_suppression() -> None:
    rows, asked, local = crowd()
    paths = tally(rows)
    everywhere = Suppress(6).search(paths, asked)
    published = local.recoding.applied(paths).paths(paths)
    assert len(published.visits) > len(paths.without(r.point for r in everywhere.removals).visits)
    assert local.loss < everywhere.loss
    assert 0 < local.everywhere < len(local.removals)


# --- proofs ------------------------------------------------------------------------------------------


@settings(max_examples=150)
@given(records(), LENGTHS, st.integers(1, 3), SHARES)
def test_a_proof_counts_every_class_of_sequences(
    rows: list[Record], l: int | None, k: int, c: Fraction
) -> None:
    asked = promise(l, k, c, ("s", "t"))
    (argument,) = prove(tally(rows), [asked]).arguments
    expected: dict[tuple[int, int, tuple[int, ...]], int] = {}
    found = {known: [status for _, status in matching(rows, known)] for known in occurring(rows, l)}
    there = [value for value in ("s", "t") if any(value in match for match in found.values())]
    for known, match in found.items():
        having = tuple(match.count(value) for value in there) if c < 1 else ()
        key = (len(known), len(match), having)
        expected[key] = expected.get(key, 0) + 1
    assert {(one.length, one.support, one.having): one.sequences for one in argument.classes} == expected
    assert argument.holds is (not violating(rows, asked))
    assert recount(tally(rows), asked) == argument


def test_a_false_proof_is_found_out() -> None:
    rows, asked, local = crowd()
    paths = tally(rows)
    published = local.recoding.applied(paths).paths(paths)
    (argument,) = local.proof.arguments
    first, *rest = argument.classes
    forged = [
        replace(argument, classes=tuple(rest)),  # a class forgotten
        replace(argument, classes=(replace(first, support=first.support + 1), *rest)),
        replace(argument, classes=(*argument.classes, SequenceClass(1, 99, first.having, 1))),
        replace(argument, bounds=(Fraction(1),)),
    ]
    for wrong in forged:
        assert "classes of sequences" in recheck(published, [asked], Proof((wrong,)))[0]
    # A true proof about the raw data does not help a release that is not what it says.
    assert any("break it" in text for text in recheck(paths, [asked], local.proof))
    other = promise(2, 1, Fraction(1))
    assert recheck(published, [other], local.proof) == (
        "the proof is about other promises than the policy's",
    )


def test_a_proof_names_nothing() -> None:
    _, _, local = crowd()
    shown = f"{local!r} {local.proof!r} {local.proof.to_dict()}"
    assert "classes" in shown
    assert not [label for label in local.violations.points.labels if f"'{label}'" in shown]


def test_more_than_there_are_records_is_refused() -> None:
    with pytest.raises(UnsatisfiableError, match="k = 3 cannot be kept by 2 records"):
        suppress_local(tally([((), "s"), (((1, "a"),), "t")]), promise(1, 3, Fraction(1)), 1)


@pytest.mark.parametrize("wrong", [0, Fraction(0), 0.5])
def test_no_support_is_refused_when_the_algorithm_is_named(wrong: object) -> None:
    with pytest.raises(PolicyError, match="a minimum support is"):
        SuppressLocally(at_least=wrong)  # type: ignore[arg-type]
