"""Attacks carried out: what is found equals what the definition finds, and a release withstands."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.trajectory.naive import Record, dense, promise, records, tally

from privet.errors import InputError, PolicyError
from privet.trajectory.attack import Index, Simulated, simulate, translated
from privet.trajectory.audit import link
from privet.trajectory.known import Knowledge
from privet.trajectory.local import suppress_local
from privet.trajectory.recode import PathRecoding, Removed
from privet.trajectory.suppress import Suppress

ALL = st.sampled_from(Knowledge)


@settings(max_examples=200)
@given(records(places="abc"), ALL, st.data())
def test_what_a_release_answers_equals_linking(
    rows: list[Record], knowledge: Knowledge, data: st.DataObject
) -> None:
    """The index against the auditor's one-by-one `link`, through a recoding with zones and slots."""
    paths = tally(rows)
    points = paths.points
    recoding = PathRecoding({"a": "N", "b": "N"}, {"2": "1"}, (Removed(("N", "1"), (("c", "3"),)),))
    published = recoding.applied(paths).paths(paths)
    size = {
        Knowledge.POINTS: len(points),
        Knowledge.PLACES: len(points.places),
        Knowledge.TIMES: len(points.times),
    }[knowledge]
    items = data.draw(st.lists(st.integers(0, size - 1), max_size=3)) if size else []
    known: list[tuple[str | None, str | None]] = []
    for item in items:
        place, when = points.pair(item) if knowledge is Knowledge.POINTS else (None, None)
        place = points.places[item] if knowledge is Knowledge.PLACES else place
        when = points.times[item] if knowledge is Knowledge.TIMES else when
        pair = (
            None if place is None else recoding.places.get(place, place),
            None if when is None else recoding.times.get(when, when),
        )
        if link(published, [pair]).records:  # what is nowhere in the release tells the adversary nothing
            known.append(pair)
    becomes = translated(paths, published, recoding, knowledge)
    match = Index(published, knowledge).matching(becomes[np.array(items, dtype=np.int64)])
    assert match.tolist() == link(published, known).cells.tolist()


def crowd() -> list[Record]:
    return dense(np.random.default_rng(5), rows=45, times=5, places="abc", stays=0.7)


@pytest.mark.parametrize("local", [False, True])
def test_nobody_is_found_with_more_than_the_promised_probability(local: bool) -> None:
    paths, asked = tally(crowd()), promise(2, 5, Fraction(1))
    recoding = (
        suppress_local(paths, asked, 4).recoding
        if local
        else Suppress(4).search(paths, asked).suppression.recoding
    )
    found = simulate(paths, recoding, known=2, targets=300)
    assert found.before.worst > Fraction(1, 5) >= found.after.worst
    assert found.before.alone > found.after.alone == 0
    assert found.before.missed == 0
    assert (found.after.missed > 0) is local  # only local removals mislead
    assert found.after.identity < found.before.identity


@given(records(), ALL, st.integers(1, 3))
def test_without_a_recoding_nothing_changes(rows: list[Record], knowledge: Knowledge, known: int) -> None:
    paths = tally(rows)
    if not len(paths.visits):
        with pytest.raises(InputError, match="no record has a visit"):
            simulate(paths, PathRecoding(), known=known)
        return
    found = simulate(paths, PathRecoding(), known=known, targets=5, knowledge=knowledge)
    assert found.before == found.after
    assert 0 < found.before.identity <= found.before.worst <= 1
    assert found.before.missed == 0
    again: Simulated = simulate(paths, PathRecoding(), known=known, targets=5, knowledge=knowledge)
    assert again == found


def test_place_only_knowledge_can_say_more_than_promised() -> None:
    """Spec 02, 4.7: the promise holds, and yet who was at `a` has the value with 4/6."""
    a1, a2 = (1, "a"), (2, "a")
    rows: list[Record] = [
        ((a1,), "s"),
        ((a1,), "s"),
        ((a2,), "s"),
        ((a2,), "s"),
        ((a1, a2), "t"),
        ((a1, a2), "t"),
    ]
    paths = tally(rows)
    assert not Suppress(1).search(paths, promise(2, 2, Fraction(1, 2))).removals
    found = simulate(paths, PathRecoding(), known=2, targets=600, knowledge=Knowledge.PLACES)
    # Every target has the same six matches: 4/6 for who has s, 2/6 for the others.
    assert found.after.identity == Fraction(1, 6)
    assert Fraction(1, 2) < found.after.attribute["status"] < Fraction(2, 3)


@pytest.mark.parametrize(("known", "targets"), [(0, 1), (1, 0)])
def test_nothing_known_is_no_attack(known: int, targets: int) -> None:
    with pytest.raises(PolicyError, match="whole numbers from 1 on"):
        simulate(tally(crowd()), PathRecoding(), known=known, targets=targets)
