"""Random forgeries of every kind of release: nothing is accepted that another judge rejects."""

from __future__ import annotations

import random
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.contract.pairs import policy_of
from tests.forge.every import KINDS, forge, run
from tests.forge.forging import refused
from tests.forge.oracle import objections

import privet as pv
from privet.cli import main

# No data shows that noise was drawn, or whose records they are, and parts of a cluster are not read: there
# the checker of one file abstains.
UNSHOWN = {"noisy", "persons", "parted"}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("kind", KINDS)
def test_three_judges_agree_on_forgeries(kind: str) -> None:
    found = run(kind, 8, seed=1, each=8)
    assert found["tried"] == 8
    assert found["wrong"] + found["evidence"] > 3, "forgeries that anybody would notice"


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_and_on_ten_thousand(kind: str) -> None:
    found = run(kind, 680, seed=2)
    assert found["tried"] == 680
    assert 680 * len(KINDS) > 10_000
    assert found["wrong"] > 250
    assert found["alone 0"] + found["alone 1"] > 600 or kind in UNSHOWN, "it does not abstain"


def test_the_third_judge_objects_to_what_is_false(tmp_path: Path) -> None:
    """It is asked about what was accepted only, so that it says no is shown here."""
    table = pl.DataFrame({"age": [30, 30, 31, 31] * 3, "hours": [10] * 12, "ill": ["a", "b"] * 6})
    out = pv.publish(table, policy_of(["k-anonymity"], "top-down")).write(tmp_path / "out")
    assert objections(out, out, ()) == []
    for name, old, new, why in (
        ("data.csv", "\n31,", "\n29,", "rows stand in another order"),
        ("data.csv", "31,10,a\n", "", "another number of records"),
        ("data.csv", "30,10,a\n", '"30",10,a\n', "written in another way"),
        ("policy.toml", "k = 3", "k = 9", "k-anonymity is broken"),
        ("policy.toml", "\n", " # x\n", "more than it says"),
        ("evidence.json", '"records": 12', '"records": 13', "nothing marks it"),
    ):
        forged = shutil.copytree(out, tmp_path / "forged")
        text = (forged / name).read_text(encoding="utf-8")
        assert old in text
        (forged / name).write_text(text.replace(old, new, 1), encoding="utf-8")
        assert any(why in one for one in objections(forged, out, ("made",))), why
        shutil.rmtree(forged)


def test_several_releases_together_are_not_asked_of_a_forged_one(tmp_path: Path, capsys: Any) -> None:
    """`privet sources check` takes no folder that does not verify: its answer follows from evidence, too."""
    chance = random.Random(5)
    raw = pl.DataFrame(
        {
            "id": [f"p{at}" for at in range(12)],
            "age": [20 + at % 3 for at in range(12)],
            "hours": [10 * (at % 2) for at in range(12)],
            "ill": ["abc"[at % 3 - at % 2] for at in range(12)],
        }
    )
    raw.write_csv(tmp_path / "raw.csv")
    for name, known in (("one", "age"), ("two", "hours")):
        policy = pv.Policy.loads(
            f'policy = 1\n[attributes]\n{known} = "quasi"\nill = "sensitive"\n[[models]]\n'
            'type = "k-anonymity"\nk = 2\n[algorithm]\ntype = "top-down"\n'
        )
        pv.publish(tmp_path / "raw.csv", policy).write(tmp_path / name)
    asked = [
        "--raw",
        str(tmp_path / "raw.csv"),
        "--key",
        "id",
        "--sensitive",
        "ill",
        "--gamma",
        "9/10",
        "--exact",
    ]
    honest = [str(tmp_path / "one"), str(tmp_path / "two")]
    assert main(["sources", "check", *honest, *asked]) == 0
    seen = 0
    for at in range(12):
        forged = shutil.copytree(tmp_path / "two", tmp_path / f"forged{at}")
        forge(forged, chance)
        if refused(forged):
            seen += 1
            assert main(["sources", "check", honest[0], str(forged), *asked]) == 1
            assert "forged" in capsys.readouterr().err
    assert seen > 6
