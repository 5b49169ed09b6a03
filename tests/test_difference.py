"""What differs between two releases: everything that does, and nothing that does not."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import privet as pv
from privet.cli import main
from privet.difference import changes, difference

TABLE = pl.DataFrame(
    {
        "age": [str(20 + n % 40) for n in range(200)],
        "sex": ["MF"[n % 2] for n in range(200)],
        "ill": [("flu", "cold")[n % 3 == 0] for n in range(200)],
    }
)


def policy(k: int) -> pv.Policy:
    columns = (
        pv.Attribute("age", pv.Role.QUASI),
        pv.Attribute("sex", pv.Role.QUASI),
        pv.Attribute("ill", pv.Role.SENSITIVE),
    )
    return pv.Policy(columns, (pv.KAnonymity(k=k),))


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path, Path]:
    made = []
    for name, k in (("old", 8), ("new", 30), ("same", 8)):
        made.append(pv.publish(TABLE, policy(k)).write(tmp_path / name))
    return made[0], made[1], made[2]


def test_what_changed_is_there(folders: tuple[Path, Path, Path]) -> None:
    old, new, _ = folders
    found = difference(old, new)
    assert {"place": "models[0].k", "old": 8, "new": 30} in found.policy
    assert not found.same_data
    age = next(row for row in found.columns if row["column"] == "age")
    published = [set(pl.read_csv(folder / "data.csv")["age"].cast(pl.String)) for folder in (old, new)]
    assert set(age["labels_gone"]) == published[0] - published[1]
    assert set(age["labels_new"]) == published[1] - published[0]
    lm = next(row for row in found.loss if row["measure"] == "lm" and row["column"] is None)
    assert lm["old"] < lm["new"]
    promise = found.promises[0]
    assert promise["old"]["achieved"]["k"] >= 8
    assert promise["new"]["achieved"]["k"] >= 30


def test_what_is_equal_is_not(folders: tuple[Path, Path, Path]) -> None:
    old, _, same = folders
    found = difference(old, same)
    assert found.same_data
    assert not found.policy
    assert not found.columns
    assert all(row["old"] == row["new"] for row in (*found.loss, *found.promises))


def test_the_command(folders: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    old, new, same = folders
    assert main(["diff", str(old), str(new)]) == 0
    said = capsys.readouterr().out
    assert "models[0].k" in said
    assert "old: 200 records" in said
    assert main(["diff", str(old), str(new), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["policy"] == list(difference(old, new).policy)
    assert main(["diff", str(old), str(same)]) == 0
    assert "the same, byte by byte" in capsys.readouterr().out
    assert main(["diff", str(old), str(old.parent)]) == 2


def test_places_of_documents() -> None:
    old = {"a": {"b": 1}, "m": [{"k": 1}], "l": [1, 2]}
    new = {"a": {"b": 1, "c": 2}, "m": [{"k": 2}, {"k": 3}], "l": [1]}
    assert list(changes(old, new)) == [
        {"place": "a.c", "old": None, "new": 2},
        {"place": "m[0].k", "old": 1, "new": 2},
        {"place": "m[1]", "old": None, "new": {"k": 3}},
        {"place": "l", "old": [1, 2], "new": [1]},
    ]
    assert not list(changes(old, old))
