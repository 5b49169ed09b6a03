"""Records that have no visit left, and what a comparison counts again where places and times are coarser."""

from __future__ import annotations

import json
import shutil
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.roads.test_trajectories import (
    GPS,
    ILL,
    ILL_MODEL,
    LONG,
    POINTS,
    TABLE_4_1,
    VISITS,
    naive_holds,
    policy,
    rewritten,
    swapped,
)
from tests.trajectory.naive import Record, frame, records

import privet as pv
from privet.errors import PolicyError, UnsatisfiableError
from privet.verification import verify

COLUMN = 'form = "column"\npath = "path"'
DROP = '\nempty = "drop"'
ALONE = pl.DataFrame({"id": ["9", "10"], "path": ["z1", "y9"], "diagnosis": ["Flu", "AIDS"]})


# Records without a visit.


@pytest.mark.parametrize("long", [False, True])
def test_the_risk_of_a_release_is_counted_where_people_have_no_visit_left(long: bool, tmp_path: Path) -> None:
    """A release is looked at as data under its own policy, by whoever has nothing else."""
    folder = tmp_path / "out"
    if long:
        more = pl.DataFrame([["x", "z", "1", "Flu"], ["y", "y", "9", "AIDS"]], VISITS.columns, orient="row")
        release = pv.publish(pl.concat([VISITS, more]), policy(LONG, ILL, ILL_MODEL))
    else:
        release = pv.publish(pl.concat([TABLE_4_1, ALONE]), policy(COLUMN))
    release.write(folder)
    found = pv.risk(folder / "data.csv", folder / "policy.toml").to_dict()
    assert (found["records"], found["empty"]) == (10, 2)
    assert [one["knowledge"]["points"]["violating"] for one in found["promises"]] == [0]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("empty", ["", '\nempty = "keep"', DROP])
def test_records_without_a_visit_are_kept_or_left_out(empty: str, tmp_path: Path) -> None:
    data = pl.concat([ALONE.head(1), TABLE_4_1, ALONE.tail(1)])
    release = pv.publish(data, policy(COLUMN + empty))
    left, gone = release.to_polars(), 2 if empty == DROP else 0
    assert left.height == 10 - gone
    assert (left["path"] == "").sum() == 2 - gone
    assert release.evidence["suppressed_records"] == gone
    assert release.evidence["records"] == release.measures["after"]["records"] == 10 - gone
    assert release.measures["before"]["records"] == 10
    assert any("left out" in caution for caution in release.evidence["cautions"]) == bool(gone)
    folder = release.write(tmp_path / "out")
    assert verify(folder).holds
    assert ('empty = "drop"' in (folder / "policy.toml").read_text("utf-8")) == bool(gone)
    found = pv.compare(data, folder)
    assert (found["before"]["records"], found["after"]["records"]) == (10, 10 - gone)
    (points,) = (one for one in found["linkage"] if one["knowledge"] == "points")
    assert points["before"]["missed"] == 0
    assert (points["after"]["missed"] > 0) == bool(gone)  # who looks for somebody who is not there


def test_persons_without_a_visit_are_left_out_of_rows(tmp_path: Path) -> None:
    rare = VISITS.vstack(pl.DataFrame({"who": ["x"], "where": ["z"], "when": ["9"], "ill": ["Flu"]}))
    release = pv.publish(rare, policy(LONG + DROP, ILL, ILL_MODEL))
    made = release.to_polars()
    assert made["who"].n_unique() == 8
    assert made.null_count().sum_horizontal().item() == 0
    assert release.evidence["suppressed_records"] == 1
    assert verify(release.write(tmp_path / "out")).holds


def test_the_last_of_a_coarser_grid_is_left_out_too(tmp_path: Path) -> None:
    far = pl.DataFrame({"tag": ["far"], "lat": [10.0], "lon": [10.0], "at": ["2024-05-02T08:00:00"]})
    lightest = 'type = "lightest"\nsupport = 3\nloss = "visits"\ngrids = [2000]\nslots = ["1 d"]'
    model = 'type = "k-anonymity"\nk = 6'
    data = pl.concat([GPS, far])
    release = pv.publish(data, policy(POINTS + DROP, 'tag = { role = "identifier" }', model, lightest))
    assert release.evidence["suppressed_records"] == 1
    assert release.to_polars()["tag"].n_unique() == 6
    folder = release.write(tmp_path / "out")
    assert verify(folder).holds
    assert pv.compare(data, folder)["after"]["records"] == 6


def test_quasi_identifiers_are_generalised_among_those_who_stay() -> None:
    """Who is left out hides nobody: the promise about the table is kept by the rest."""
    data = pl.concat([TABLE_4_1, ALONE]).with_columns(age=pl.Series([20, 20, 20, 20, 40, 40, 40, 60, 60, 60]))
    attributes = 'id = { role = "identifier" }\ndiagnosis = { role = "sensitive" }\nage = { role = "quasi" }'
    release = pv.publish(data, policy(COLUMN + DROP, attributes))
    left = release.to_polars()
    assert left.height == 8
    assert min(left.group_by("age").len()["len"].to_list()) >= 2
    assert [promise["holds"] for promise in release.evidence["promises"]] == [True, True]


def test_a_release_of_nobody_is_refused() -> None:
    data = pl.DataFrame({"id": [*"123"], "path": ["a1", "b2", "c3"], "diagnosis": ["Flu"] * 3})
    with pytest.raises(UnsatisfiableError, match=r'trajectories.empty = "drop" nothing would leave'):
        pv.publish(data, policy(COLUMN + DROP))
    assert pv.publish(data, policy()).to_polars()["path"].to_list() == ["", "", ""]


def test_another_word_for_it_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"trajectories: empty: .*keep.*drop"):
        policy(COLUMN + '\nempty = "forget"')


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (swapped("evidence.json", '"suppressed_records": 2', '"suppressed_records": 1'), "2 are missing"),
        (swapped("evidence.json", '"suppressed_records": 2', '"suppressed_records": 3'), "2 are missing"),
        (swapped("data.csv", "d3 f6 c7,AIDS", ",AIDS"), "without a visit are in the data"),
        (swapped("data.csv", "d3 f6 c7,AIDS\n", ""), "3 are missing"),
    ],
)
def test_a_wrong_count_of_those_left_out_is_found(change: object, said: str, tmp_path: Path) -> None:
    data = pl.concat([TABLE_4_1, ALONE])
    folder = pv.publish(data, policy(COLUMN + DROP)).write(tmp_path / "out")
    assert verify(folder).holds
    rewritten(folder, change)  # type: ignore[arg-type]
    assert any(said in complaint for complaint in verify(folder).complaints)


@settings(max_examples=60, deadline=None)
@given(records(most=12), st.integers(1, 3), st.integers(1, 4))
def test_what_stays_keeps_the_promise_and_is_all_there_was(rows: list[Record], l: int, k: int) -> None:
    rows = [row for row in rows if row[0]]
    data = frame(rows)
    made = policy(
        COLUMN + DROP,
        'status = { role = "sensitive" }',
        f'type = "lkc-privacy"\nl = {l}\nk = {k}\nc = "1/2"\nsensitive = {{ status = ["s"] }}',
    )
    kept = pv.Policy.loads(made.dumps().replace('empty = "drop"\n', ""))
    if not rows or k > len(rows):
        return
    whole = pv.publish(data, kept).to_polars()
    if not (whole["path"] != "").any():
        with pytest.raises(UnsatisfiableError):
            pv.publish(data, made)
        return
    release = pv.publish(data, made)
    left = release.to_polars()
    assert left.rows() == whole.filter(pl.col("path") != "").rows()
    assert release.evidence["suppressed_records"] == len(rows) - left.height
    assert naive_holds(left["path"].to_list(), left["status"].to_list(), l, k, Fraction(1, 2))


# A comparison where places or times are coarser.

# Six of twelve go to b at 1 and six to c: each by itself is too few, a zone of both has all twelve.
TWO_WAYS = pl.DataFrame(
    {
        "id": [str(at) for at in range(12)],
        "path": [f"{'bc'[at % 2]}1 {'de'[at // 2 % 2]}3 {'h' if at else 'i'}5" for at in range(12)],
        "diagnosis": ["Flu"] * 12,
    }
)
ZONES = (
    f"{COLUMN}\nzones = "
    '{ type = "tree", tree = { city = { bc = ["b", "c"], de = ["d", "e"], hi = ["h", "i"] } } }'
)


def zoned() -> pv.Policy:
    lightest = 'type = "lightest"\nsupport = 2\nloss = "visits"\nslots = ["4"]'
    return policy(ZONES, model='type = "k-anonymity"\nk = 7', algorithm=lightest)


def test_coarser_routes_are_counted_in_the_release(tmp_path: Path) -> None:
    release = pv.publish(TWO_WAYS, zoned())
    thinning = release.evidence["thinning"]
    assert (thinning["place"], thinning["time"]) != ("as it is", "as it is")
    folder = release.write(tmp_path / "out")
    won = min(thinning["trials"], key=lambda trial: trial["lost_visits"])
    for found in (pv.compare(TWO_WAYS, folder), pv.compare(TWO_WAYS, release)):
        patterns = found["patterns"]
        assert patterns["surviving"] == won["surviving"]
        assert patterns["lost"] == pytest.approx(won["lost"])
        assert patterns["lost_visits"] == pytest.approx(won["lost_visits"])
        assert sum(left for _, left in patterns["by_length"].values()) == patterns["surviving"] > 0
        assert sum(was for was, _ in patterns["by_length"].values()) == patterns["before"] == 4


def test_they_are_not_taken_from_the_evidence(tmp_path: Path) -> None:
    """Somebody takes a visit out of the published data: the comparison sees it."""
    folder = pv.publish(TWO_WAYS, zoned()).write(tmp_path / "out")
    before = pv.compare(TWO_WAYS, folder)["patterns"]
    path = folder / "data.csv"
    head, first, *others = path.read_text("utf-8").splitlines()
    way, ill = first.rsplit(",", 1)
    path.write_text("\n".join([head, f"{way.rsplit(' ', 1)[0]},{ill}", *others]) + "\n", "utf-8")
    after = pv.compare(TWO_WAYS, folder)["patterns"]
    assert after["lost_visits"] > before["lost_visits"]
    evidence = json.loads((folder / "evidence.json").read_text("utf-8"))
    evidence["measures"]["patterns"] |= {"surviving": 1, "lost": 0.99}
    (folder / "evidence.json").write_text(json.dumps(evidence, indent=1, ensure_ascii=False) + "\n", "utf-8")
    assert pv.compare(TWO_WAYS, folder)["patterns"] == after


def test_without_the_notes_nobody_can_tell(tmp_path: Path) -> None:
    folder = pv.publish(TWO_WAYS, zoned()).write(tmp_path / "out")
    shutil.rmtree(tmp_path / "out.private")
    found = pv.compare(TWO_WAYS, folder)
    assert found["patterns"].keys() == {"support", "before", "remined"}
    assert "linkage" not in found


def test_raw_points_are_read_with_the_grid_that_they_had(tmp_path: Path) -> None:
    model = 'type = "k-anonymity"\nk = 6'
    lightest = 'type = "lightest"\nsupport = 3\nloss = "visits"\ngrids = [2000]\nslots = ["1 d"]'
    release = pv.publish(GPS, policy(POINTS, 'tag = { role = "identifier" }', model, lightest))
    assert release.evidence["thinning"]["place"] == "cells of 2000 m"
    folder = release.write(tmp_path / "out")
    for found in (pv.compare(GPS, folder), pv.compare(GPS, release)):
        assert found["before"] == release.measures["before"]
        assert found["patterns"]["surviving"] == release.measures["patterns"]["surviving"]
        assert found["patterns"]["lost"] == pytest.approx(release.measures["patterns"]["lost"])


# The exact cover on the road.


def test_the_exact_cover_is_an_option_of_the_search(tmp_path: Path) -> None:
    greedy = 'type = "suppress-points"\nsupport = 2'
    for model in ('type = "k-anonymity"\nk = 2', 'type = "k-anonymity"\nk = 3'):
        quick, best = (
            pv.publish(TABLE_4_1, policy(model=model, algorithm=one))
            for one in (greedy, f'{greedy}\ncover = "exact"')
        )
        kept = [one.measures["patterns"]["surviving"] for one in (quick, best)]
        assert kept[0] <= kept[1]
        assert best.evidence["algorithm"]["cover"] == "exact"
        assert best.private["relaxations"]
        assert verify(best.write(tmp_path / model[-1])).holds


# What the steward sees of what went.


def test_the_steward_has_a_map_of_what_was_removed(tmp_path: Path) -> None:
    data = TABLE_4_1.with_columns(pl.col("path").str.replace_all("c4", "quarry4"))
    folder = pv.publish(data, policy()).write(tmp_path / "out")
    page = tmp_path / "out.private" / "removed.html"
    assert page.stat().st_mode & 0o077 == 0
    text = page.read_text("utf-8")
    for said in ("quarry at 4: 2 visits", "b at 2: 4 visits", "Violating sequences and routes left"):
        assert said in text
    assert "quarry" not in "".join(path.read_text("utf-8") for path in folder.iterdir())


def test_where_nothing_was_removed_there_is_no_map(tmp_path: Path) -> None:
    pv.publish(TABLE_4_1, policy(model='type = "k-anonymity"\nk = 1')).write(tmp_path / "out")
    assert "Visits removed" not in (tmp_path / "out.private" / "removed.html").read_text("utf-8")
