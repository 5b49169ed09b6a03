"""Coarser places and times, what they cost, and the choice of the lightest way."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.trajectory.naive import (
    Known,
    Record,
    dense,
    frame,
    matching,
    maximal_frequent,
    promise,
    records,
    rows_of,
    tally,
    violating,
)

from privet.engines.trajectories.column import PathColumn
from privet.engines.trajectories.visits import Visits
from privet.errors import HierarchyError, PolicyError, UnsatisfiableError
from privet.hierarchy import Tree
from privet.trajectory.audit import audit, recheck
from privet.trajectory.choose import MOST, Lightest, Way
from privet.trajectory.coarse import Level, as_it_is, grid_levels, slot_levels, zone_levels
from privet.trajectory.frequent import frequent
from privet.trajectory.grid import Grid
from privet.trajectory.loss import Loss, losses, measured
from privet.trajectory.recode import PathRecoding, Removed
from privet.trajectory.slots import Slot

ZONES = Tree.of({"*": {"N": ["a", "b"], "S": ["c", "d"]}})
SLOT = Slot.parse(2)


def level(which: int, rows: list[Record]) -> tuple[Level, Level]:
    points = tally(rows).points
    zones, slots = zone_levels(ZONES, points.places), slot_levels([SLOT], points.times)
    return zones[min(which % 2, len(zones) - 1)], slots[which // 2]


def coarsened(rows: list[Record], place: Mapping[str, str], time: Mapping[str, str]) -> list[Record]:
    """By hand: the first visit of each slot stays."""
    found = []
    for path, status in rows:
        slots: dict[int, str] = {}
        for when, where in path:
            slots.setdefault(int(time.get(str(when), str(when))), place.get(where, where))
        found.append((tuple(sorted(slots.items())), status))
    return found


@settings(max_examples=200)
@given(records(places="abcd"), st.integers(0, 3), st.data())
def test_a_recoding_does_what_it_says_in_every_form(
    rows: list[Record], which: int, data: st.DataObject
) -> None:
    place, time = level(which, rows)
    expected = coarsened(rows, place.of, time.of)
    every = sorted({visit for path, _ in expected for visit in path})
    one = st.lists(st.sampled_from(every), min_size=1, max_size=2) if every else st.nothing()
    removed = []
    for pair, *context in data.draw(st.lists(one, max_size=3 if every else 0)):
        full = {pair, *context} if context else set()
        expected = [
            (tuple(v for v in path if v != pair or not full <= set(path)), status)
            for path, status in expected
        ]
        said = tuple((where, str(when)) for when, where in sorted(full))
        removed.append(Removed((pair[1], str(pair[0])), said))
    recoding = PathRecoding(place.of, time.of, tuple(removed))
    column = PathColumn.read(frame(rows), path="path", sensitive=["status"], allow_empty=True)
    assert rows_of(column.changed(recoding)) == expected
    long = pl.DataFrame(
        [
            (who, where, when, status)
            for who, (path, status) in enumerate(rows)
            for when, where in reversed(path or ((None, None),))
        ],
        schema={"who": pl.Int64, "where": pl.String, "when": pl.Int64, "status": pl.String},
        orient="row",
    )
    visits = Visits.read(
        long, person="who", place="where", time="when", sensitive=["status"], allow_empty=True
    )
    table = visits.changed(recoding)
    assert table.columns == long.columns
    for who, (path, status) in enumerate(expected):
        mine = table.filter(pl.col("who") == who)
        assert set(mine.get_column("status")) == {status}
        found = [
            (int(when), where) for where, when in mine.select("where", "when").iter_rows() if when is not None
        ]
        assert sorted(found) == list(path)
        assert mine.height == max(len(path), 1)


def test_words_of_zones_are_read_back() -> None:
    table = pl.DataFrame({"path": ["a1 c2", "b1"]})
    raw = PathColumn.read(table, path="path")
    left = raw.changed(PathRecoding({"a": "North side", "b": "North side", "c": "Zone 3"}))
    assert left.get_column("path").to_list() == ["North side1 → Zone 3@2", "North side1"]
    again = PathColumn.read(left, path="path").paths
    assert again.points.places == ("North side", "Zone 3")


def test_levels_of_zones_are_rows_of_the_hierarchy() -> None:
    uneven = Tree.of({"*": {"N": {"n1": ["a", "b"]}, "S": ["c"], "d": None}})
    found = zone_levels(uneven, ["a", "b", "c", "d"])
    assert [dict(one.of) for one in found] == [
        {"a": "a", "b": "b", "c": "c", "d": "d"},
        {"a": "n1", "b": "n1", "c": "c", "d": "d"},
        {"a": "N", "b": "N", "c": "S", "d": "d"},
        {"a": "*", "b": "*", "c": "*", "d": "*"},
    ]
    assert [one.loss["a"] for one in found] == [0, Fraction(1, 3), Fraction(1, 3), 1]
    with pytest.raises(HierarchyError, match="not in the hierarchy"):
        zone_levels(uneven, ["a", "kanarienvogel"])


def test_levels_of_slots_and_grids_count_what_they_put_together() -> None:
    times = slot_levels([Slot.parse("1 h"), Slot.parse("1 d")], ["08:05", "08:50", "09:10"])
    assert [one.name for one in times] == ["as it is", "slots of 1 h", "slots of 1 d"]
    assert [one.loss["08:50"] for one in times] == [0, Fraction(1, 2), 1]
    cells = ["45.500000,-73.500000", "45.501000,-73.500000", "46.500000,-73.500000"]
    _, coarse = grid_levels([Grid(50_000)], cells)
    assert coarse.of[cells[0]] == coarse.of[cells[1]] != coarse.of[cells[2]]
    assert coarse.loss[cells[0]] == Fraction(1, 2)
    assert coarse.loss[cells[2]] == 0


@settings(max_examples=150)
@given(records(places="abcd"), st.integers(0, 3), st.integers(1, 3), st.data())
def test_losses_equal_their_definition(
    rows: list[Record], which: int, least: int, data: st.DataObject
) -> None:
    place, time = level(which, rows)
    coarse = coarsened(rows, place.of, time.of)
    every = sorted({visit for path, _ in coarse for visit in path})
    gone = set(data.draw(st.lists(st.sampled_from(every), max_size=2))) if every else set()
    recoding = PathRecoding(place.of, time.of, tuple(Removed((where, str(when))) for when, where in gone))
    published = [(tuple(v for v in path if v not in gone), status) for path, status in coarse]
    paths = tally(rows)
    found = losses(paths, recoding, (place, time), frequent(paths, least), least)

    def says(visit: tuple[int, str]) -> Fraction:
        return (1 - place.loss[visit[1]]) * (1 - time.loss[str(visit[0])])

    def image(visit: tuple[int, str]) -> tuple[int, str]:
        return int(time.of[str(visit[0])]), place.of[visit[1]]

    kept = Fraction(0)
    surviving = 0
    patterns = maximal_frequent(rows, least)
    for pattern in patterns:
        known: Known = frozenset(image(visit) for visit in pattern)
        if len({when for when, _ in known}) == len(known) and len(matching(published, known)) >= least:
            kept += sum(map(says, pattern), Fraction(0)) / len(pattern)
            surviving += 1
    assert found.surviving == surviving
    assert found.patterns == (1 - kept / len(patterns) if patterns else 0)
    said, total = Fraction(0), 0
    for (path, _), (left, _) in zip(rows, published, strict=True):
        first: set[int] = set()
        for visit in path:
            slot, where = image(visit)
            if slot not in first and (slot, where) in left:
                said += says(visit)
            first.add(slot)
            total += 1
    assert found.visits == (1 - said / total if total else 0)
    # Who has only the two data sets and the labels comes to the same.
    again, survives = measured(paths, tally(published), (place, time), frequent(paths, least), least)
    assert again == found
    assert sum(survives) == surviving


@settings(max_examples=60)
@given(records(places="abcd"), st.integers(1, 3), st.integers(1, 3), st.sampled_from(Loss))
def test_the_lightest_way_keeps_the_promise_and_no_other_is_lighter(
    rows: list[Record], l: int, k: int, loss: Loss
) -> None:
    asked = [promise(l, min(k, len(rows)), Fraction(2, 3)), promise(1, 1, Fraction(1))]
    paths = tally(rows)
    choice = Lightest(2, loss=loss, zones=ZONES, slots=(SLOT,)).search(paths, asked)
    published = choice.recoding.applied(paths).paths(paths)
    assert all(audit(published, one).verdict.holds for one in asked)
    assert recheck(published, asked, choice.proof) == ()
    assert choice.trial.losses.by(loss) == min(one.losses.by(loss) for one in choice.trials)
    least = choice.trial.losses.by(loss)
    assert choice.trial is next(one for one in choice.trials if one.losses.by(loss) == least)
    assert (choice.trials[0].way, choice.trials[0].place, choice.trials[0].time) == (
        Way.GLOBAL,
        "as it is",
        "as it is",
    )
    raw = PathColumn.read(frame(rows), path="path", sensitive=["status"], allow_empty=True)
    table = raw.changed(choice.recoding)
    again = PathColumn.read(table, path="path", sensitive=["status"], allow_empty=True)
    assert all(audit(again.paths, one).verdict.holds for one in asked)


def test_the_loss_of_global_suppression_is_the_share_of_patterns() -> None:
    rows = dense(np.random.default_rng(9), rows=60, times=4, places="abcd", stays=0.8)
    choice = Lightest(6, ways=(Way.GLOBAL,)).search(tally(rows), promise(2, 4, Fraction(1)))
    assert choice.trial.losses.patterns == choice.found.loss > 0
    assert choice.trial.losses.surviving == len(choice.found.surviving)


def test_zones_win_where_places_are_too_many() -> None:
    """Everybody is somewhere of his own in the north: only the zone can be said."""
    rows: list[Record] = [(((1, "ab"[n % 2]), (2, "c")), "s") for n in range(4)]
    asked = promise(2, 3, Fraction(1))
    choice = Lightest(4, loss=Loss.VISITS, zones=ZONES, ways=(Way.GLOBAL,)).search(tally(rows), asked)
    assert (choice.trial.place, choice.trial.losses.visits) == ("zones, 1 up", Fraction(1, 3))
    assert not violating(coarsened(rows, choice.recoding.places, {}), asked)


def test_what_cannot_be_searched_is_refused() -> None:
    with pytest.raises(PolicyError, match="a minimum support is"):
        Lightest(at_least=0)
    with pytest.raises(PolicyError, match="global, local or both"):
        Lightest(1, ways=())
    with pytest.raises(PolicyError, match="not both"):
        Lightest(1, zones=ZONES, grids=(Grid(100),))
    rows: list[Record] = [(((1, "a"),), "s")]
    with pytest.raises(PolicyError, match=f"at most {MOST} are tried"):
        Lightest(1, slots=tuple(Slot.parse(n) for n in range(1, 60))).search(
            tally(rows), promise(1, 1, Fraction(1))
        )
    with pytest.raises(UnsatisfiableError, match="k = 2 cannot be kept by 1 records"):
        Lightest(1).search(tally(rows), promise(1, 2, Fraction(1)))


def test_as_it_is_touches_nothing() -> None:
    assert as_it_is(["a"]).untouched
    assert not Level("zones", {"a": "N"}, {"a": Fraction(1)}).untouched
