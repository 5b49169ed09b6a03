"""Readings of RFID tags and points of GPS as visits; lists of stops."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from math import cos, radians
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.trajectory.naive import Record, tally

from privet.engines.trajectories import gps
from privet.engines.trajectories.moments import Moments
from privet.engines.trajectories.readings import Clash, Prepared, from_readings
from privet.engines.trajectories.visits import Visits
from privet.errors import InputError, PolicyError
from privet.trajectory.grid import AROUND, Grid
from privet.trajectory.slots import Instant, Kind, Slot, slot_of
from privet.trajectory.stops import Stop, Stops

CANARY = "kanarienvogel"


def prepared(
    rows: list[tuple[Any, ...]], slot: Slot | None = None, clash: Clash = Clash.REFUSE
) -> tuple[list[tuple[Any, ...]], Prepared]:
    table = pl.DataFrame(rows, schema=["tag", "reader", "time"], orient="row", strict=False)
    found = from_readings(table, person="tag", place="reader", time="time", slot=slot, clash=clash)
    return found.frame.rows(), found


# --- readings ----------------------------------------------------------------------------------------


def by_hand(rows: list[tuple[str, str, int]], slot: int | None) -> list[tuple[str, str, int]]:
    """The words of the paper, one person at a time."""
    found = []
    for tag in dict.fromkeys(tag for tag, _, _ in rows):
        mine = sorted(((when, at) for at, (who, _, when) in enumerate(rows) if who == tag))
        path = [(rows[at][1], when) for when, at in mine]
        for step in ("merge", "time", "slot", "merge"):
            kept: list[tuple[str, int]] = []
            for place, when in path:
                if kept and step == "merge" and kept[-1][0] == place:
                    continue
                if kept and step == "time" and kept[-1][1] == when:
                    continue
                if kept and step == "slot" and slot and kept[-1][1] // slot == when // slot:
                    continue
                kept.append((place, when))
            path = kept
        found += [(tag, place, when // slot * slot if slot else when) for place, when in path]
    return found


@settings(max_examples=300)
@given(
    st.lists(
        st.tuples(st.sampled_from("xy"), st.sampled_from("abc"), st.integers(-9, 20)), min_size=1, max_size=14
    ),
    st.sampled_from([None, 1, 5]),
)
def test_readings_become_visits(rows: list[tuple[str, str, int]], slot: int | None) -> None:
    visits, found = prepared(rows, Slot.parse(slot) if slot else None, Clash.FIRST)
    said = [(tag, place, int(when)) for tag, place, when in visits]
    assert sorted(said) == sorted(by_hand(rows, slot))
    assert found.readings == len(said) + found.merged + found.displaced + found.clashes
    # Once prepared, always prepared; and what comes out can be read.
    assert prepared(said, Slot.parse(slot) if slot else None)[0] == visits
    Visits.read(found.frame, person="tag", place="reader", time="time")


def test_whoever_stands_before_a_reader_is_there_once() -> None:
    visits, found = prepared([("t", "a", 1), ("t", "a", 2), ("t", "b", 5), ("t", "a", 9), ("t", "a", 9)])
    assert visits == [("t", "a", 1), ("t", "b", 5), ("t", "a", 9)]
    assert (found.merged, found.displaced, found.clashes) == (2, 0, 0)


def test_the_first_place_of_a_slot_counts() -> None:
    visits, found = prepared(
        [
            ("t", "a", "08:50"),
            ("t", "a", "09:05"),
            ("t", "b", "09:10"),
            ("t", "c", "09:40"),
            ("t", "b", "10:00"),
        ],
        Slot.parse("1 h"),
    )
    assert visits == [("t", "a", "08:00"), ("t", "b", "09:00")]
    assert (found.merged, found.displaced) == (2, 1)


def test_two_places_at_once_are_refused_or_the_first_counts() -> None:
    rows = [("t", "a", 1), ("t", "b", 1), ("u", "a", 1)]
    with pytest.raises(InputError, match=r"reader: two places at one time in 1 of 3 rows, first in row 2"):
        prepared(rows)
    visits, found = prepared(rows, clash=Clash.FIRST)
    assert (visits, found.clashes) == ([("t", "a", 1), ("u", "a", 1)], 1)


@pytest.mark.parametrize("at", [0, 1, 2])
def test_half_a_reading_is_refused(at: int) -> None:
    row: list[Any] = [CANARY, "a", "1"]
    row[at] = None
    with pytest.raises(InputError, match=r": nothing in 1 of 2 rows, first in row 2") as refused:
        prepared([(CANARY, "a", "1"), tuple(row)])
    assert CANARY not in str(refused.value)


# --- slots -------------------------------------------------------------------------------------------

MOMENTS = st.datetimes(min_value=datetime(1960, 1, 1), max_value=datetime(2100, 1, 1))  # noqa: DTZ001


@settings(max_examples=200)
@given(
    st.lists(MOMENTS, min_size=1, max_size=6), st.sampled_from(["30 s", "15 min", "2 hours", "1 d", "7 days"])
)
def test_slots_of_dates(moments: list[datetime], length: str) -> None:
    slot = Slot.parse(length)
    times = [moment.isoformat() for moment in moments]
    epoch = datetime(1970, 1, 1)  # noqa: DTZ001
    for moment, text in zip(moments, times, strict=True):
        begin = datetime.fromisoformat(slot_of(times, slot)[text])
        assert begin <= moment < begin + timedelta(seconds=slot.length)
        assert (begin - epoch) % timedelta(seconds=slot.length) == timedelta(0)


def test_time_zones_meet_in_utc() -> None:
    times = ["2024-05-01T08:30+02:00", "2024-05-01 06:45:10Z", "2024-05-01T01:15-05:30"]
    assert list(slot_of(times, Slot.parse("1 h")).values()) == ["2024-05-01T06:00+00:00"] * 3
    assert Moments.read(pl.Series([datetime(2024, 5, 1, 6, tzinfo=UTC)])).kind is Kind.ZONED
    with pytest.raises(InputError, match="1 have a time zone and the others have none"):
        Moments.read(pl.Series(["2024-05-01T08:30Z", "2024-05-01T08:30"]))


@pytest.mark.parametrize(
    ("times", "length", "expected"),
    [
        (["7", "-1", "10"], 5, ["5", "-5", "10"]),
        (["7.5", "9.99"], 5, ["5", "5"]),
        (["08:05:59.5", "23:59"], "5 min", ["08:05", "23:55"]),
        (["08:05:59", "08:06:00"], "30 s", ["08:05:30", "08:06:00"]),
        (["2024-05-01", "2024-05-02T07:00"], "1 d", ["2024-05-01", "2024-05-02"]),
    ],
)
def test_slots(times: list[str], length: int | str, expected: list[str]) -> None:
    assert list(slot_of(times, Slot.parse(length)).values()) == expected


@pytest.mark.parametrize("wrong", [0, "0 min", "7 min", "1 fortnight", "-5", "", True, "36 h"])
def test_what_is_no_slot(wrong: Any) -> None:
    with pytest.raises(PolicyError, match="a slot is a whole number for times that are numbers"):
        Slot.parse(wrong)


def test_slots_and_times_are_of_one_kind() -> None:
    with pytest.raises(PolicyError, match="the times here are numbers"):
        slot_of(["1"], Slot.parse("1 h"))
    with pytest.raises(PolicyError, match="the times here are times of day"):
        slot_of(["08:30"], Slot.parse(5))
    with pytest.raises(InputError, match="cannot be put in order") as refused:
        Moments.read(pl.Series([CANARY, "2024-13-01"]))
    assert CANARY not in str(refused.value)
    assert [str(Slot.parse(text)) for text in ("90 min", "3600 s", 4)] == ["90 min", "1 h", "4"]


# --- the grid ----------------------------------------------------------------------------------------

LAT, LON = st.floats(-90, 90), st.floats(-180, 180)


@settings(max_examples=300)
@given(LAT, LON, st.sampled_from([10, 250, 5000, 1_000_000]))
def test_a_cell_is_of_its_size_and_holds_its_own_middle(lat: float, lon: float, metres: int) -> None:
    table = pl.DataFrame({"lat": [lat], "lon": [lon]})
    grid = Grid(metres)
    once = gps.as_points(gps.located(grid, table, lat="lat", lon="lon"), lat="lat", lon="lon")
    assert once.columns == ["lat", "lon"]
    again = gps.as_points(gps.located(grid, once, lat="lat", lon="lon"), lat="lat", lon="lon")
    assert again.equals(once)
    north, east = once.row(0)
    one_degree = AROUND / 360
    assert abs(north - lat) * one_degree <= 0.75 * metres
    if abs(lat) < 80:
        around = abs((east - lon + 180) % 360 - 180) * one_degree * cos(radians(north))
        assert around <= 0.75 * metres


def test_cells_do_not_overlap_and_names_tell_them_apart() -> None:
    rng = np.random.default_rng(3)
    table = pl.DataFrame({"lat": rng.uniform(45.4, 45.6, 4000), "lon": rng.uniform(-73.7, -73.4, 4000)})
    grid = Grid(1000)
    cells = gps.located(grid, table, lat="lat", lon="lon").get_column("place")
    north, east = grid.middles(table["lat"].to_numpy(), table["lon"].to_numpy())
    assert cells.n_unique() == len({*zip(north.tolist(), east.tolist(), strict=True)})
    assert 400 < cells.n_unique() < 600  # 22 by 23 kilometres


def test_points_become_paths_and_leave_as_points() -> None:
    table = pl.DataFrame(
        {
            "who": ["x", "x", "x", "y"],
            "lat": [45.5000, 45.5001, 45.6, 45.5],
            "lon": [-73.5, -73.5, -73.5, -73.5],
            "when": ["2024-05-01T08:01", "2024-05-01T08:20", "2024-05-01T09:05", "2024-05-01T08:59"],
        }
    )
    located = gps.located(Grid(1000), table, lat="lat", lon="lon")
    found = from_readings(located, person="who", place="place", time="when", slot=Slot.parse("1 h"))
    visits = Visits.read(found.frame, person="who", place="place", time="when")
    assert visits.paths.records == 2
    left = gps.as_points(visits.without([1]), lat="lat", lon="lon")
    assert left.columns == table.columns
    assert left.get_column("when").to_list() == ["2024-05-01T08:00", "2024-05-01T08:00"]
    again = gps.located(Grid(1000), left, lat="lat", lon="lon")
    assert again.get_column("place").to_list() == [visits.paths.points.places[0]] * 2
    nobody = gps.as_points(visits.without([0, 1]), lat="lat", lon="lon")
    assert nobody.get_column("lat").to_list() == [None, None]
    assert gps.located(Grid(1000), nobody, lat="lat", lon="lon").get_column("place").to_list() == [None, None]


def test_what_is_no_point_is_refused() -> None:
    def located(lat: object, lon: object) -> None:
        table = pl.DataFrame({"lat": ["45", lat], "lon": ["0", lon]}, strict=False)
        gps.located(Grid(100), table, lat="lat", lon="lon")

    for lat, lon, text in [
        (CANARY, "1", "lat: not degrees in 1 of 2 rows, first in row 2"),
        ("90.5", "1", "lat: not degrees"),
        ("45", "181", "lon: not degrees"),
        ("45", None, "half a point in 1 of 2 rows"),
    ]:
        with pytest.raises(InputError, match=text) as refused:
            located(lat, lon)
        assert CANARY not in str(refused.value)
    with pytest.raises(InputError, match="has a column place already"):
        gps.located(Grid(100), pl.DataFrame({"lat": [1], "lon": [1], "place": [1]}), lat="lat", lon="lon")
    for wrong in (5, 2_000_000, 10.5, True):
        with pytest.raises(PolicyError, match=r"grid\.metres is|Grid: metres: is a whole number"):
            Grid(wrong)  # type: ignore[arg-type]
    with pytest.raises(PolicyError, match="at least twice the uncertainty, 120"):
        Grid(100, uncertainty=60)


# --- stops -------------------------------------------------------------------------------------------

GTFS = "stop_id,stop_name,stop_lat,stop_lon\na,Angrignon,45.446,-73.603\nb,,,\n"


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_stops_of_gtfs(tmp_path: Path) -> None:
    stops = Stops.read(written(tmp_path, "stops.txt", "\ufeff" + GTFS))
    assert stops.places == {"a": Stop(45.446, -73.603, "Angrignon"), "b": Stop(None, None, "b")}


def test_stops_of_geojson(tmp_path: Path) -> None:
    def point(where: list[float], **more: object) -> dict[str, object]:
        return {"type": "Feature", "geometry": {"type": "Point", "coordinates": where}, **more}

    features = [
        point([-73.6, 45.4, 12.0], id=7, properties={"name": "Angrignon"}),
        point([1, 2], properties={"stop_id": "b"}),
        point([1, 2], properties={"name": "c"}),
    ]
    path = written(tmp_path, "stops.geojson", json.dumps({"type": "FeatureCollection", "features": features}))
    assert Stops.read(path).places == {
        "7": Stop(45.4, -73.6, "Angrignon"),
        "b": Stop(2.0, 1.0, "b"),
        "c": Stop(2.0, 1.0, "c"),
    }


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("stops.txt", "id,name\n1,2\n", "has a column stop_id"),
        ("stops.txt", "stop_id\n", "at least one"),
        ("stops.txt", "stop_id\na\na\n", "stop 2 has the identifier of an earlier one"),
        ("stops.csv", "stop_id,stop_lat\na,north\n", "stop 1 has coordinates that are not degrees"),
        ("stops.csv", "stop_id,stop_name\n,x\n", "stop 1 has no identifier"),
        ("stops.json", "{", "not JSON"),
        ("stops.json", "[]", "is a FeatureCollection"),
        ("stops.json", '{"features": [{"geometry": {"type": "LineString"}}]}', "feature 1 is not a point"),
        (
            "stops.json",
            '{"features": [{"id": 1, "geometry": {"type": "Point", "coordinates": [true, {}]}}]}',
            "not degrees",
        ),
    ],
)
def test_what_is_no_list_of_stops(tmp_path: Path, name: str, text: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        Stops.read(written(tmp_path, name, text))


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"a list of stops is \.txt or \.csv"):
        Stops.read(written(tmp_path, "stops.xml", ""))
    with pytest.raises(InputError, match="there is no such file"):
        Stops.read(tmp_path / "nowhere.txt")


def test_unknown_places_are_counted_not_named() -> None:
    rows: list[Record] = [(((1, "a"), (2, CANARY)), "s"), (((1, CANARY),), "s"), (((3, "a"),), "s")]
    paths = tally(rows)
    with pytest.raises(
        InputError, match="path: 1 of 2 places are not in the list of stops, in 2 of 3 records"
    ) as refused:
        Stops.of(["a", "b"]).check(paths, "path")
    assert CANARY not in str(refused.value)
    assert Stops.of(["a"]).unknown(paths) == [CANARY]
    Stops.of(["a", CANARY]).check(paths, "path")


DATES = st.datetimes().filter(lambda moment: 1900 <= moment.year < 2100)
WRITTEN = st.one_of(
    st.integers(-(10**6), 10**6).map(str),
    st.floats(-1e6, 1e6, allow_nan=False).map(lambda number: f"{number:.3f}"),
    st.times().map(lambda time: time.isoformat("auto")),
    DATES.map(lambda moment: moment.isoformat()),
    DATES.map(lambda m: f"{m:%Y-%m-%d %H:%M}+0530"),
    st.sampled_from(["2024-05-01", "2024-05-01T08:30Z", "24:00", "2024-02-30", "1_000", "nan", "", "noon"]),
)


@given(WRITTEN)
def test_a_single_time_is_read_as_a_column_of_them_is(written: str) -> None:
    one = Instant.read(written)
    try:
        column = Moments.read(pl.Series([written], dtype=pl.String))
    except InputError:
        column = None
    assert (one is None) is (column is None)
    if one is None or column is None:
        return
    assert one.kind is column.kind
    for slot in map(Slot.parse, [5, 900] if one.kind is Kind.NUMBER else ["30 s", "15 min", "1 h", "2 d"]):
        assert one.begin(slot) == column.written(column.slotted(slot), slot).to_list()[0]
