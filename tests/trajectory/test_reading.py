"""Readers: what a path may look like, what is refused and how, and that a release can be read again."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.trajectory.naive import Record, frame, records, rows_of, tally

from privet.core import Column
from privet.domain import flat
from privet.engines.trajectories.column import PathColumn
from privet.engines.trajectories.visits import Visits
from privet.errors import InputError, InternalError
from privet.trajectory.paths import Paths, Points, chronological, short

CANARY = "kanarienvogel"


def column(*paths: str | None, allow_empty: bool = False) -> PathColumn:
    table = pl.DataFrame({"path": list(paths)}, schema={"path": pl.String})
    return PathColumn.read(table, path="path", allow_empty=allow_empty)


def visits(rows: list[tuple[object, object, object]], *, allow_empty: bool = False) -> Visits:
    table = pl.DataFrame(rows, schema=["who", "where", "when"], orient="row", strict=False)
    return Visits.read(table, person="who", place="where", time="when", allow_empty=allow_empty)


def labels(paths: Paths) -> list[list[str]]:
    return [[paths.points.labels[p] for p in paths.path(cell)] for cell in range(paths.cells)]


# --- forms -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["a1 d2", "a1 → d2", "a1→d2", "<a1 -> d2>", "a1->d2", " a1   d2 ", "< a1 → d2 >", "a@1 d@2"]
)
def test_forms_of_a_path(text: str) -> None:
    paths = column(text).paths
    assert [paths.points.pair(code) for code in paths.path(0)] == [("a", "1"), ("d", "2")]


@pytest.mark.parametrize("text", ["a1 d2", "a1 → d2", "<a1 -> d2>", "ward 3@1 → ward 3@2", "a@08:30 b@17:05"])
def test_a_path_leaves_as_it_came(text: str) -> None:
    assert column(text).without([]).get_column("path").to_list() == [text]


def test_places_may_have_blanks_digits_and_signs() -> None:
    points = column("stop 12@7 → Place-d'Armes@9 → a@b@10").paths.points
    assert [points.pair(code) for code in range(3)] == [
        ("stop 12", "7"),
        ("Place-d'Armes", "9"),
        ("a@b", "10"),
    ]


def test_points_are_in_order_of_time_then_of_place() -> None:
    assert column("b2 a10", "a2", "z1").paths.points.labels == ("z1", "a2", "b2", "a10")


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (["10", "9", "-3"], ("-3", "9", "10")),
        (["1.5", "1.25"], ("1.25", "1.5")),
        (["2024-05-01", "2023-12-31"], ("2023-12-31", "2024-05-01")),
        (["2024-05-01T08:30", "2024-05-01T07:45"], ("2024-05-01T07:45", "2024-05-01T08:30")),
        (["17:05", "09:30"], ("09:30", "17:05")),
        ([], ()),
    ],
)
def test_times(times: list[str], expected: tuple[str, ...]) -> None:
    assert chronological(times) == expected


@pytest.mark.parametrize(
    "times", [["noon"], ["1", "noon"], ["nan"], ["2024-05-01T08:30", "2024-05-01T08:30Z"]]
)
def test_times_without_an_order_are_refused(times: list[str]) -> None:
    with pytest.raises(InputError, match="cannot be put in order"):
        chronological(times)


def test_one_time_in_two_spellings_is_refused() -> None:
    with pytest.raises(InputError, match="1 are written in two ways"):
        chronological(["7", "07", "8"])


@given(
    st.text(min_size=1).filter(lambda t: t.strip() == t and "→" not in t and "->" not in t),
    st.integers(0, 99),
)
def test_what_is_written_short_can_be_read_back(place: str, when: int) -> None:
    from privet.engines.trajectories.column import parsed

    assert parsed(short(place, str(when))) == (place, str(when))


# --- tallies -----------------------------------------------------------------------------------------


def test_equal_paths_are_one_cell_for_each_sensitive_value() -> None:
    table = pl.DataFrame({"path": ["a1", "a1", "a1", "b1"], "s": ["x", "y", "x", None]})
    paths = PathColumn.read(table, path="path", sensitive=["s"]).paths
    (status,) = paths.sensitive
    cells = zip(labels(paths), status.codes.tolist(), paths.counts.tolist(), strict=True)
    found = {(path[0], status.domain.values[code]): count for path, code, count in cells}
    assert found == {("a1", "x"): 2, ("a1", "y"): 1, ("b1", None): 1}
    assert (paths.records, paths.cells, paths.longest, paths.dimensions) == (4, 3, 1, 2)


@given(records(most=15))
def test_both_forms_and_no_reader_agree(rows: list[Record]) -> None:
    rows = [row for row in rows if row[0]] or [(((1, "a"),), "s")]
    wide = PathColumn.read(frame(rows), path="path", sensitive=["status"]).paths
    long = pl.DataFrame(
        [(who, place, when, status) for who, (path, status) in enumerate(rows) for when, place in path],
        schema=["who", "where", "when", "status"],
        orient="row",
    ).sample(fraction=1, shuffle=True, seed=1)
    tall = Visits.read(long, person="who", place="where", time="when", sensitive=["status"]).paths

    def counted(paths: Paths) -> dict[object, int]:
        (status,) = paths.sensitive
        found: dict[object, int] = {}
        for cell, path in enumerate(labels(paths)):
            key = (tuple(path), status.domain.values[int(status.codes[cell])])
            found[key] = found.get(key, 0) + int(paths.counts[cell])
        return found

    assert counted(wide) == counted(tall) == counted(tally(rows))
    assert wide.points.labels == tall.points.labels


def test_several_sensitive_columns_and_very_many_combinations() -> None:
    rows = 3000
    table = pl.DataFrame(
        {"path": ["a1"] * rows, **{f"s{at}": [str(i) for i in range(rows)] for at in range(6)}}
    )
    paths = PathColumn.read(table, path="path", sensitive=[f"s{at}" for at in range(6)]).paths
    assert paths.cells == rows
    assert all(len(column.codes) == rows for column in paths.sensitive)


def test_typed_times_are_read_as_they_are() -> None:
    paths = visits(
        [(1, "a", datetime(2024, 5, 1, 8, tzinfo=UTC)), (1, "b", datetime(2024, 5, 1, 7, tzinfo=UTC))]
    ).paths
    assert [paths.points.pair(code)[0] for code in paths.path(0)] == ["b", "a"]


# --- what leaves -------------------------------------------------------------------------------------


@given(records(), st.data())
def test_a_release_can_be_read_again(rows: list[Record], data: st.DataObject) -> None:
    raw = PathColumn.read(frame(rows), path="path", sensitive=["status"], allow_empty=True)
    gone = (
        data.draw(st.sets(st.integers(0, max(len(raw.paths.points) - 1, 0))))
        if len(raw.paths.points)
        else set()
    )
    table = raw.without(gone)
    names = {raw.paths.points.labels[point] for point in gone}
    expected = [
        (tuple((when, place) for when, place in path if f"{place}{when}" not in names), status)
        for path, status in rows
    ]
    assert rows_of(table) == expected
    again = PathColumn.read(table, path="path", sensitive=["status"], allow_empty=True).paths
    assert again.records == len(rows)
    kept = [count for point, count in enumerate(raw.paths.instances.tolist()) if point not in gone]
    assert again.instances.tolist() == kept
    assert raw.paths.without(gone).instances.sum() == sum(kept)


def test_a_person_without_a_visit_left_keeps_one_row() -> None:
    raw = visits([(1, "a", 1), (2, "a", 1), (2, "b", 2), (1, "c", 3)])
    points = raw.paths.points
    left = raw.without([points.codes["a", "1"], points.codes["c", "3"]])
    assert left.rows() == [(1, None, None), (2, "b", 2)]
    again = Visits.read(left, person="who", place="where", time="when", allow_empty=True).paths
    assert again.records == 2
    assert sorted(again.lengths.tolist()) == [0, 1]
    with pytest.raises(InputError, match="where: nothing in 1 of 2 rows"):
        Visits.read(left, person="who", place="where", time="when")


# --- what is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("paths", "complaint"),
    [
        (["a1", "b2 a1"], "path: times that run backwards in 1 of 2 rows, first in row 2; sort by time"),
        (["a1 b2 a1"], "path: times that run backwards in 1 of 1 rows"),
        (["a1 a1", "b1", "b2 b2"], "path: the same visit twice in 2 of 3 rows, first in row 1; keep one"),
        (["a1 b1"], "path: two places at one time in 1 of 1 rows"),
        (["a1", "", None], "path: no path in 2 of 3 rows, first in row 2; leave them out"),
        (["a1", "<>"], "path: no path in 1 of 2 rows"),
        (["a1 → → b2"], "path: unreadable points in 1 of 1 rows"),
        (["a1 →"], "path: unreadable points in 1 of 1 rows"),
        (["a1", "b", "12", "a@", "@3"], "path: unreadable points in 4 of 5 rows, first in row 2"),
        (["a@noon b@2"], "cannot be put in order"),
        (["a7 b08", "c07"], "times: 1 are written in two ways"),
    ],
)
def test_bad_paths(paths: list[str | None], complaint: str) -> None:
    with pytest.raises(InputError) as caught:
        column(*paths)
    assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "complaint"),
    [
        ([(1, "a", 1), (1, "a", 1)], "where: the same visit twice in 1 of 2 rows, first in row 2; keep one"),
        (
            [(1, "a", 1), (2, "a", 1), (1, "b", 1)],
            "where: two places at one time in 1 of 3 rows, first in row 3",
        ),
        ([(1, None, 1)], "where: nothing in 1 of 1 rows"),
        ([(1, "a", None), (None, "b", 2)], "who: nothing in 1 of 2 rows, first in row 2"),
        ([(1, "a", "noon")], "cannot be put in order"),
    ],
)
def test_bad_visits(rows: list[tuple[object, object, object]], complaint: str) -> None:
    with pytest.raises(InputError) as caught:
        visits(rows)
    assert complaint in str(caught.value)


def test_a_sensitive_value_is_the_person_s() -> None:
    table = pl.DataFrame({"who": [1, 1], "where": ["a", "b"], "when": [1, 2], "s": ["x", "y"]})
    with pytest.raises(InputError, match="s: differs within a person in 1 of 2 rows"):
        Visits.read(table, person="who", place="where", time="when", sensitive=["s"])


def test_missing_columns_and_missing_records() -> None:
    with pytest.raises(InputError, match="the data has no column path"):
        PathColumn.read(pl.DataFrame({"way": ["a1"]}), path="path")
    with pytest.raises(InputError, match="not one record"):
        column()
    with pytest.raises(InputError, match="no column who\nthe data has no column when"):
        Visits.read(pl.DataFrame({"where": ["a"]}), person="who", place="where", time="when")


@pytest.mark.parametrize(
    "text", [CANARY, f"{CANARY}2 {CANARY}1", f"{CANARY}1 {CANARY}1", f"{CANARY}1 b1", f"a@{CANARY}"]
)
def test_no_complaint_quotes_the_data(text: str) -> None:
    with pytest.raises(InputError) as caught:
        column("a1", text)
    assert CANARY not in str(caught.value)
    assert CANARY not in repr(column("a1", f"{CANARY}9").paths) + repr(column("a1", f"{CANARY}9"))


def test_a_tally_that_does_not_fit_is_our_own_fault() -> None:
    points = Points.of(["a", "b"], ["1", "2"])
    one = np.ones(1, dtype=np.int64)
    rising, starts = np.array([0, 1], dtype=np.int32), np.array([0, 2])
    assert Paths(points, rising, starts, one).path(0) == (0, 1)
    with pytest.raises(InternalError, match="rise"):
        Paths(points, rising[::-1].copy(), starts, one)
    with pytest.raises(InternalError, match="starts"):
        Paths(points, rising, np.array([0, 1]), one)
    with pytest.raises(InternalError, match="sensitive"):
        Paths(points, rising, starts, one, (Column("s", flat(("x",)), np.zeros(2, dtype=np.uint8)),))


def test_sums_that_meet_by_chance_merge_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[tuple[object, object, object]] = [(1, "a", 1), (2, "a", 1), (3, "a", 1), (3, "b", 2)]
    assert sorted(visits(rows).paths.counts.tolist()) == [1, 2]

    class Same:
        def integers(self, *_: object, size: int, dtype: type) -> np.ndarray[Any, Any]:
            return np.zeros(size, dtype=dtype)

    monkeypatch.setattr(np.random, "default_rng", lambda seed: Same())
    paths = visits(rows).paths
    assert paths.counts.tolist() == [1, 1, 1]
    assert sorted(labels(paths)) == [["a1"], ["a1"], ["a1", "b2"]]
