"""Paths on the road: what leaves, what the evidence says, what verify finds, what is refused."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import pages
from tests.trajectory.naive import Record, frame, records

import privet as pv
from privet.declared import Order
from privet.errors import InputError, PolicyError, PrivetError, UnsatisfiableError, UnsupportedError
from privet.roads.trajectories.shape import KEYS
from privet.verification import verify

TABLE_4_1 = pl.DataFrame(
    {
        "id": [str(at) for at in range(1, 9)],
        "path": [
            *("b2 d3 c4 f6 c7", "f6 c7 e8", "d3 c4 f6 e8", "b2 c5 c7 e8"),
            *("d3 c7 e8", "c5 f6 e8", "b2 f6 c7 e8", "b2 c5 f6 c7"),
        ],
        "diagnosis": ["AIDS", "Flu", "Fever", "Flu", "Fever", "Diabetes", "Diabetes", "AIDS"],
    }
)
TABLE_4_2 = [
    *("d3 f6 c7", "f6 c7 e8", "d3 f6 e8", "c5 c7 e8"),
    *("d3 c7 e8", "c5 f6 e8", "f6 c7 e8", "c5 f6 c7"),
]


def policy(
    shape: str = 'form = "column"\npath = "path"',
    attributes: str = 'id = { role = "identifier" }\ndiagnosis = { role = "sensitive" }',
    model: str = 'type = "lkc-privacy"\nl = 2\nk = 2\nc = "1/2"\nsensitive = { diagnosis = ["AIDS"] }',
    algorithm: str = 'type = "suppress-points"\nsupport = 2',
) -> pv.Policy:
    return pv.Policy.loads(
        f'policy = 1\nkind = "trajectories"\nabsent = "allowed"\n'
        f"[trajectories]\n{shape}\n[attributes]\n{attributes}\n"
        f"[[models]]\n{model}\n[algorithm]\n{algorithm}\n"
    )


def lkc(l: int, k: int, c: str) -> str:
    return f'type = "lkc-privacy"\nl = {l}\nk = {k}\nc = "{c}"\nsensitive = {{ diagnosis = ["AIDS"] }}'


# The worked example.


def test_table_4_1_becomes_table_4_2(tmp_path: Path) -> None:
    release = pv.publish(TABLE_4_1, policy())
    assert release.to_polars().columns == ["path", "diagnosis"]
    assert release.to_polars()["path"].to_list() == sorted(TABLE_4_2)
    folder = release.write(tmp_path / "out")
    assert verify(folder).holds
    patterns = release.measures["patterns"]
    assert (patterns["before"], patterns["surviving"], patterns["remined"]) == (9, 5, 7)
    assert patterns["true_support"] == 5
    assert patterns["lost"] == pytest.approx(4 / 9)
    notes = json.loads((tmp_path / "out.private" / "steward.json").read_text("utf-8"))
    removals = [(one["point"], one["gain"], one["loss"]) for one in notes["removals"]]
    assert removals == [("c4", 3, 1), ("b2", 2, 3)]
    table = {c["point"]: (c["gain"], c["loss"] + 1, c["score"]) for c in notes["rounds"][0]["candidates"]}
    assert table["c7"] == (1, 6, "1/6")
    assert table["b2"] == (3, 4, "3/4")


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    ("model", "score", "winners", "surviving"),
    [
        (lkc(2, 2, "1/2"), "gain", ["c4", "b2"], 5),
        (lkc(2, 2, "1/2"), "least-loss", ["c4", "d3", "b2"], 3),
        (lkc(3, 2, "1/2"), "gain-per-loss", ["c4", "d3", "c5", "b2"], 1),
        ('type = "k-anonymity"\nk = 2', "gain-per-loss", ["c4", "f6", "e8", "d3"], 1),
        (lkc(2, 2, "1"), "gain-per-loss", ["c4", "d3"], 6),
        (lkc(1, 2, "1/2"), "gain-per-loss", [], 9),
        (lkc(1, 3, "1/2"), "gain-per-loss", ["c4"], 8),
        (lkc(2, 3, "1/2"), "gain-per-loss", ["d3", "c5", "c4", "b2"], 1),
    ],
)
def test_the_further_runs_of_the_spec(
    model: str, score: str, winners: list[str], surviving: int, tmp_path: Path
) -> None:
    made = policy(model=model, algorithm=f'type = "suppress-points"\nsupport = 2\nscore = "{score}"')
    release = pv.publish(TABLE_4_1, made)
    assert [one["point"] for one in release.private["removals"]] == winners
    assert release.measures["patterns"]["surviving"] == surviving
    assert verify(release.write(tmp_path / "out")).holds


def test_confidence_bounding_alone(tmp_path: Path) -> None:
    made = policy(model='type = "confidence-bounding"\nsensitive = { diagnosis = { AIDS = "1/2" } }')
    release = pv.publish(TABLE_4_1, made)
    assert release.evidence["promises"][0]["achieved"]["c"] in {0, "1/2", "1/3", "2/5", "1/4"}
    assert verify(release.write(tmp_path / "out")).holds


# Every form comes back as it went in.

VISITS = pl.DataFrame(
    [
        {"who": f"canary{at}", "where": point[0], "when": point[1:], "ill": ill}
        for at, path, ill in TABLE_4_1.rows()
        for point in path.split()
    ]
)
LONG = 'form = "visits"\nperson = "who"\nplace = "where"\ntime = "when"'
ILL = 'ill = { role = "sensitive" }'
ILL_MODEL = lkc(2, 2, "1/2").replace("diagnosis", "ill")


def test_visits_leave_as_visits_with_new_numbers(tmp_path: Path) -> None:
    release = pv.publish(VISITS.sample(fraction=1, shuffle=True, seed=1), policy(LONG, ILL, ILL_MODEL))
    made = release.to_polars()
    assert made.columns == VISITS.columns
    assert sorted(made["who"].unique().to_list()) == list(range(1, 9))
    paths = made.group_by("who", maintain_order=True).agg(pl.col("where") + pl.col("when"))
    assert sorted(" ".join(path) for path in paths["where"]) == sorted(TABLE_4_2)
    folder = release.write(tmp_path / "out")
    assert verify(folder).holds
    assert "canary" not in "".join(path.read_text("utf-8") for path in folder.iterdir())


def test_who_has_no_visit_left_keeps_a_row(tmp_path: Path) -> None:
    rare = VISITS.vstack(pl.DataFrame({"who": ["x"], "where": ["z"], "when": ["9"], "ill": ["Flu"]}))
    rare = rare.with_columns(fare=pl.int_range(pl.len()).cast(pl.String))
    made = policy(LONG, f'{ILL}\nfare = {{ role = "other" }}', ILL_MODEL)
    release = pv.publish(rare, made)
    (empty,) = release.to_polars().filter(pl.col("where").is_null()).rows(named=True)
    assert (empty["when"], empty["ill"], empty["fare"]) == (None, "Flu", None)
    assert release.measures["after"]["empty"] == 1
    assert verify(release.write(tmp_path / "out")).holds


def test_readings_are_merged_and_cut_into_slots(tmp_path: Path) -> None:
    rows = [
        {"tag": f"t{person}", "reader": place, "at": f"2024-05-01T{8 + hour:02}:{minute:02}:00", "ill": "Flu"}
        for person in range(4)
        for hour, place in enumerate("abc")
        for minute in (person, person + 10)
    ]
    shape = 'form = "readings"\nperson = "tag"\nplace = "reader"\ntime = "at"\nslot = "1 h"'
    release = pv.publish(pl.DataFrame(rows), policy(shape, ILL, ILL_MODEL))
    made = release.to_polars()
    assert made.height == 12
    assert set(made["at"]) == {"2024-05-01T08:00", "2024-05-01T09:00", "2024-05-01T10:00"}
    assert release.evidence["thinning"]["prepared"] == {
        "readings": 24,
        "merged": 12,
        "displaced": 0,
        "clashes": 0,
    }
    assert verify(release.write(tmp_path / "out")).holds


def test_a_release_of_readings_is_not_merged_again(tmp_path: Path) -> None:
    """What was between two visits to a place is gone; they stay two."""
    rows = [
        {"tag": f"t{person}", "reader": place, "at": str(at), "ill": "Flu"}
        for person in range(4)
        for at, place in enumerate(("a", f"own{person}", "a"))
    ]
    shape = 'form = "readings"\nperson = "tag"\nplace = "reader"\ntime = "at"'
    release = pv.publish(pl.DataFrame(rows), policy(shape, ILL, ILL_MODEL))
    assert release.to_polars()["at"].to_list() == ["0", "2"] * 4
    assert release.measures["after"]["visits"] == 8
    assert verify(release.write(tmp_path / "out")).holds


GPS = pl.DataFrame(
    [
        {
            "tag": f"t{person}",
            "lat": 45.5004 + 0.02 * stop + 0.00001 * person,
            "lon": -73.5 + (0.004 if person == 5 and stop == 2 else 0.0),
            "at": f"2024-05-01T{8 + stop:02}:0{person}:00",
        }
        for person in range(6)
        for stop in range(3)
    ]
)
POINTS = 'form = "points"\nperson = "tag"\nlat = "lat"\nlon = "lon"\ntime = "at"\nslot = "1 h"\ngrid = 150'


def test_gps_points_leave_as_middles_of_cells(tmp_path: Path) -> None:
    model = 'type = "k-anonymity"\nk = 3'
    release = pv.publish(GPS, policy(POINTS, 'tag = { role = "identifier" }', model))
    made = release.to_polars()
    assert made.columns == GPS.columns
    assert made.select("lat", "lon").drop_nulls().n_unique() == 3
    assert not set(made["lat"].drop_nulls()) & set(GPS["lat"])
    assert made.height == 17
    assert verify(release.write(tmp_path / "out")).holds


def test_coarser_cells_and_longer_slots_are_tried(tmp_path: Path) -> None:
    model = 'type = "k-anonymity"\nk = 6'
    lightest = 'type = "lightest"\nsupport = 3\nloss = "visits"\ngrids = [2000]\nslots = ["1 d"]'
    release = pv.publish(GPS, policy(POINTS, 'tag = { role = "identifier" }', model, lightest))
    thinning = release.evidence["thinning"]
    assert len(thinning["trials"]) == 8
    assert thinning["place"] == "cells of 2000 m"
    folder = release.write(tmp_path / "out")
    assert verify(folder).holds
    assert "metres = 2000" in (folder / "policy.toml").read_text("utf-8")
    found = pv.compare(GPS, folder)
    assert found["coarser"]["place"] == thinning["place"]


def test_zones_are_tried_and_do_not_leave(tmp_path: Path) -> None:
    shape = (
        'form = "column"\npath = "path"\n'
        'zones = { type = "tree", tree = { city = { north = ["b", "c", "d"], '
        'south = ["e", "f", "rawzone"] } } }'
    )
    release = pv.publish(TABLE_4_1, policy(shape, algorithm='type = "lightest"\nsupport = 2'))
    folder = release.write(tmp_path / "out")
    assert verify(folder).holds
    assert {trial["place"] for trial in release.evidence["thinning"]["trials"]} > {"as it is"}
    assert "rawzone" not in "".join(path.read_text("utf-8") for path in folder.iterdir())


# Quasi-identifiers beside the path.


def test_quasi_identifiers_beside_the_path_are_generalised_and_checked(tmp_path: Path) -> None:
    ages = TABLE_4_1.with_columns(age=pl.Series([20, 21, 22, 23, 40, 41, 42, 43]))
    attributes = 'id = { role = "identifier" }\ndiagnosis = { role = "sensitive" }\nage = { role = "quasi" }'
    release = pv.publish(ages, policy(attributes=attributes))
    about = [(promise["about"], promise["holds"]) for promise in release.evidence["promises"]]
    assert about == [("paths", True), ("beside", True)]
    assert min(release.to_polars().group_by("age").len()["len"].to_list()) >= 2
    assert "not bounded" in release.evidence["mixed"]["warning"]
    assert any("not bounded" in caution for caution in release.evidence["cautions"])
    folder = release.write(tmp_path / "out")
    assert verify(folder).holds
    assert "not bounded" in (folder / "report.html").read_text("utf-8")
    assert "not bounded" in pv.risk(ages, policy(attributes=attributes))["mixed"]["warning"]


# Random data and parameters: the naive definition on what was published.


def naive_holds(texts: list[str], ill: list[str], l: int, k: int, c: Fraction) -> bool:
    paths = [frozenset(text.split()) for text in texts]
    known = {frozenset(q) for path in paths for n in range(1, l + 1) for q in combinations(sorted(path), n)}
    for q in known:
        group = [ill[at] for at, path in enumerate(paths) if q <= path]
        if len(group) < k or Fraction(group.count("s"), len(group)) > c:
            return False
    return True


@settings(max_examples=120, deadline=None)
@given(
    rows=records(),
    l=st.integers(1, 4),
    k=st.integers(1, 4),
    c=st.sampled_from(["1/3", "1/2", "2/3", "1"]),
    search=st.sampled_from(["suppress-points", "suppress-points-locally", "lightest"]),
    support=st.sampled_from(["1", "2", '"1/3"']),
)
def test_what_is_published_keeps_the_promise(  # noqa: PLR0917 - hypothesis gives each by its name
    rows: list[Record], l: int, k: int, c: str, search: str, support: str
) -> None:
    data = frame([row for row in rows if row[0]] or [(((1, "a"),), "t")])
    k = min(k, data.height)
    model = f'type = "lkc-privacy"\nl = {l}\nk = {k}\nc = "{c}"\nsensitive = {{ status = ["s"] }}'
    made = policy(
        attributes='status = { role = "sensitive" }',
        model=model,
        algorithm=f'type = "{search}"\nsupport = {support}',
    )
    release = pv.publish(data, replace(made, order=Order.KEPT))  # to see what became of each record
    left = release.to_polars()
    assert left["status"].to_list() == data["status"].to_list()
    assert naive_holds(left["path"].to_list(), left["status"].to_list(), l, k, Fraction(c))
    for before, after in zip(data["path"], left["path"], strict=True):
        assert [point for point in before.split() if point in after.split()] == after.split()


# Tampering.


def rewritten(folder: Path, change: Callable[[Path], None]) -> None:
    """Change a release and make its digests fit again, as a clever forger would."""
    change(folder)
    path = folder / "evidence.json"
    evidence = json.loads(path.read_text("utf-8"))
    for name in evidence["files"]:
        evidence["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    path.write_text(json.dumps(evidence, indent=1, ensure_ascii=False) + "\n", "utf-8")


def swapped(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        text = (folder / name).read_text("utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1), "utf-8")

    return change


@pytest.mark.parametrize(
    "change",
    [
        swapped("data.csv", "d3 f6 c7", "b2 d3 f6 c7"),  # a point that gives somebody away
        swapped("data.csv", "f6 c7 e8,Flu", "f6 c7,Flu"),  # a visit less: other numbers
        swapped("data.csv", "path,diagnosis", "path,illness"),
        swapped("data.csv", "c5 c7 e8,Flu\n", ""),
        swapped("evidence.json", '"smallest": ', '"smallest": 1'),
        swapped("evidence.json", '"sequences": ', '"sequences": 1'),
        swapped("policy.toml", "k = 2", "k = 1"),
        swapped("policy.toml", "l = 2", "l = 3"),
    ],
)
def test_a_forgery_is_found_although_its_digests_fit(change: Callable[[Path], None], tmp_path: Path) -> None:
    folder = pv.publish(TABLE_4_1, policy()).write(tmp_path / "out")
    rewritten(folder, change)
    assert not verify(folder).holds


def test_a_false_proof_is_found(tmp_path: Path) -> None:
    release = pv.publish(TABLE_4_1, policy(algorithm='type = "suppress-points-locally"\nsupport = 2'))
    folder = release.write(tmp_path / "out")
    assert verify(folder).holds
    evidence = json.loads((folder / "evidence.json").read_text("utf-8"))
    evidence["proof"][0]["classes"][0][3] += 1
    (folder / "evidence.json").write_text(json.dumps(evidence, indent=1, ensure_ascii=False) + "\n", "utf-8")
    assert any("claimed that are not there" in complaint for complaint in verify(folder).complaints)


# What is refused, before anything is written.

BAD_DATA: dict[str, tuple[list[str], str]] = {
    "backwards": (["a2 b1"], "times that run backwards"),
    "twice": (["a1 a1"], "the same visit twice"),
    "two places": (["a1 b1"], "two places at one time"),
    "empty": (["a1", ""], "no path"),
    "no time": (["a1 b"], "unreadable points"),
}


@pytest.mark.parametrize("name", BAD_DATA)
def test_bad_paths_are_refused(name: str) -> None:
    texts, said = BAD_DATA[name]
    data = pl.DataFrame({"path": [*texts, "a1 b2"], "diagnosis": ["Flu"] * (len(texts) + 1), "id": "1"})
    with pytest.raises(InputError, match=said) as refused:
        pv.publish(data, policy())
    assert "b1" not in str(refused.value).replace("b2", "")


def test_a_k_beyond_the_data_is_refused() -> None:
    with pytest.raises(UnsatisfiableError, match="the largest k that can is 8"):
        pv.publish(TABLE_4_1, policy(model=lkc(2, 9, "1/2")))


@pytest.mark.parametrize("support", ["0", '"0"', "-1", '"3/2"', "0.5", '"no"'])
def test_a_support_of_nothing_is_refused(support: str) -> None:
    with pytest.raises(PolicyError, match="support"):
        policy(algorithm=f'type = "suppress-points"\nsupport = {support}')


def test_unknown_places_are_refused_without_naming_them(tmp_path: Path) -> None:
    stops = "stop_id,stop_name,stop_lat,stop_lon\nb,B,45,-73\nc,C,45.1,-73\n"
    (tmp_path / "stops.txt").write_text(stops, "utf-8")
    (tmp_path / "p.toml").write_text(
        policy('form = "column"\npath = "path"\nstops = "stops.txt"').dumps(), "utf-8"
    )
    with pytest.raises(InputError, match="3 of 5 places are not in the list of stops"):
        pv.publish(TABLE_4_1, pv.Policy.load(tmp_path / "p.toml"))


def test_a_stop_list_draws_a_map_of_what_is_published(tmp_path: Path) -> None:
    stops = "stop_id,stop_name,stop_lat,stop_lon\n" + "".join(
        f"{place},Stop {place},{45 + at / 100},-73.{at}\n" for at, place in enumerate("bcdefz")
    )
    (tmp_path / "stops.txt").write_text(stops, "utf-8")
    shape = 'form = "column"\npath = "path"\nstops = "stops.txt"'
    (tmp_path / "p.toml").write_text(policy(shape).dumps(), "utf-8")
    release = pv.publish(TABLE_4_1, pv.Policy.load(tmp_path / "p.toml"))
    assert [stop["place"] for stop in release.evidence["stops"]] == ["c", "d", "e", "f"]
    folder = release.write(tmp_path / "out")
    assert verify(folder).holds
    assert "Stop c" in (folder / "report.html").read_text("utf-8")
    assert "stops" not in (folder / "policy.toml").read_text("utf-8")


@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ("", "form: says how paths lie in the data"),
        ('form = "path"', "form: it is one of column, visits, readings, points"),
        ('form = "column"', "path is missing"),
        ('form = "column"\npath = "path"\nslot = "1 h"', 'slot: form = "column" has none'),
        ('form = "visits"\nperson = "a"\nplace = "b"', "time is missing"),
        ('form = "points"\nperson = "a"\nlat = "b"\nlon = "c"\ntime = "d"', "grid is missing"),
        ('form = "column"\npath = "diagnosis"', "attributes.diagnosis: .trajectories. says what it is"),
        ('form = "column"\npath = "path"\nway = 1', "way"),
        ('form = "readings"\nperson = "a"\nplace = "b"\ntime = "c"\nslot = "7 h"', "slot: a slot is"),
    ],
)
def test_a_wrong_shape_is_refused_with_its_place(shape: str, said: str) -> None:
    with pytest.raises(PolicyError, match=said):
        policy(shape)


def test_models_and_algorithms_of_tables_are_refused() -> None:
    with pytest.raises(PolicyError, match="t-closeness is for table, this policy for trajectories"):
        policy(model='type = "t-closeness"\nt = "1/5"\ndistance = "equal"\nsensitive = ["diagnosis"]')
    with pytest.raises(PolicyError, match="top-down is for table"):
        policy(algorithm='type = "top-down"')
    bounded = 'type = "confidence-bounding"\nsensitive = { diagnosis = { AIDS = "1/2" } }'
    with pytest.raises(PolicyError, match="names no columns"):
        policy(model=f'{bounded}\nquasi = ["path"]')


def test_an_earlier_recoding_is_not_used_again(tmp_path: Path) -> None:
    folder = pv.publish(TABLE_4_1, policy()).write(tmp_path / "out")
    with pytest.raises(UnsupportedError, match="publish without --like"):
        pv.publish(TABLE_4_1, policy(), like=folder)


def test_paths_too_long_for_an_adversary_who_knows_all_are_refused() -> None:
    path = " ".join(f"a{at}" for at in range(1, 60))
    long = pl.DataFrame({"path": [path] * 3, "diagnosis": "Flu", "id": "1"})
    with pytest.raises(UnsupportedError, match="promise lkc-privacy with a small l"):
        pv.check(long, policy(model='type = "k-anonymity"\nk = 2'))


# Risk, comparison, explanation.


def test_place_only_knowledge_is_looked_at() -> None:
    data = pl.DataFrame({"path": ["a1", "a1", "a2", "a2", "a1 a2", "a1 a2"], "ill": [*"ssssnn"]})
    made = policy(attributes=ILL, model=lkc(2, 2, "1/2").replace("diagnosis", "ill").replace("AIDS", "s"))
    assert all(verdict.holds for _, verdict in pv.check(data, made))
    (promise,) = pv.risk(data, made)["promises"]
    assert promise["knowledge"]["points"]["violating"] == 0
    assert promise["knowledge"]["places"]["violating"] == 1
    assert promise["knowledge"]["places"]["levels"][0]["share"] == pytest.approx(4 / 6)


def test_compare_counts_again(tmp_path: Path) -> None:
    release = pv.publish(TABLE_4_1, policy())
    folder = release.write(tmp_path / "out")
    for found in (pv.compare(TABLE_4_1, folder), pv.compare(TABLE_4_1, release)):
        assert found["patterns"]["by_length"] == {"2": [4, 4], "3": [5, 1]}
        assert found["after"] == release.measures["after"]
        assert [one["knowledge"] for one in found["linkage"]] == ["points", "places", "times"]
        assert all(one["after"]["worst"] in {"1/2", "1/3", "1/4"} for one in found["linkage"][:1])
    with pytest.raises(InputError, match="made from other data"):
        pv.compare(TABLE_4_1.head(3), folder)


def test_explain_names_no_point_unless_asked(tmp_path: Path) -> None:
    folder = pv.publish(TABLE_4_1, policy()).write(tmp_path / "out")
    quiet, loud = pv.explain(folder), pv.explain(folder, show_values=True)
    assert "c4" not in json.dumps(quiet.to_dict())
    assert loud["rounds"][0]["removed"] == "c4"
    assert quiet["causes"] == {"2": {"too_few": 4, "too_alike": 1}}
    assert quiet["relaxations"] == [{"l": 1, "removed": 0, "surviving": 9}]


# Leaks.

CANARY = "zqx" + "jkv"


def planted() -> Iterator[dict[str, Any]]:
    for at in range(30):
        rare = f" → {CANARY}{at}@{90 + at}" if at % 3 == 0 else ""
        yield {
            "card": f"{CANARY}-card{at}",
            "path": f"north@{1 + at % 2} → south@7{rare}",
            "ill": ["flu", "cold", "gout"][at % 3],
            "unnamed": f"{CANARY}-unnamed",
        }


@pytest.mark.one_in(2)
@pytest.mark.parametrize("search", ["suppress-points", "suppress-points-locally", "lightest"])
def test_no_suppressed_point_is_heard_anywhere(search: str, tmp_path: Path) -> None:
    data = pl.DataFrame(list(planted()))
    made = policy(
        attributes=f'card = {{ role = "identifier" }}\n{ILL}',
        model='type = "lkc-privacy"\nl = 2\nk = 5\nc = "2/3"\nsensitive = { ill = ["gout"] }',
        algorithm=f'type = "{search}"\nsupport = 3',
    )
    release = pv.publish(data, made)
    folder = release.write(tmp_path / "out")
    for path in folder.iterdir():
        assert CANARY not in path.read_text("utf-8"), path.name
    assert CANARY in (tmp_path / "out.private" / "steward.json").read_text("utf-8")
    assert CANARY not in repr(release)
    answers = [pv.risk(data, made), pv.compare(data, folder), pv.explain(folder)]
    assert CANARY not in json.dumps([answer.to_dict() for answer in answers])
    assert CANARY not in "".join(answer._repr_html_() for answer in answers)
    assert verify(folder).holds
    for bad in (
        data.with_columns(path=pl.col("path").str.replace("→ south@7", f"→ {CANARY}")),
        data.with_columns(path=pl.col("path").str.replace("south@7", f"{CANARY}@0")),
        data.with_columns(path=pl.lit("")),
    ):
        with pytest.raises(PrivetError) as refused:
            pv.publish(bad, made)
        assert CANARY not in str(refused.value)


# The reference.


def test_every_field_of_the_evidence_is_in_the_reference() -> None:
    text = (pages.HERE / "docs" / "reference" / "evidence.md").read_text("utf-8")
    policies = (pages.HERE / "docs" / "reference" / "policy.md").read_text("utf-8")
    ages = VISITS.with_columns(age=pl.lit(30))
    lightest = 'type = "lightest"\nsupport = 2\nslots = ["2"]'
    made = [
        pv.publish(TABLE_4_1, policy()),
        pv.publish(ages, policy(LONG, f'{ILL}\nage = {{ role = "quasi" }}', ILL_MODEL, lightest)),
        pv.publish(GPS, policy(POINTS, 'tag = { role = "identifier" }', 'type = "k-anonymity"\nk = 3')),
    ]
    for release in made:
        columns = {*release.evidence["columns"], *(a.name for a in release.policy.attributes)}
        keys = pages.keys_of(dict(release.evidence)) - columns
        assert not [key for key in keys if f"`{key}`" not in text and f"`{key}`" not in policies]
    assert not [key for key in KEYS if f"`{key}`" not in policies]
