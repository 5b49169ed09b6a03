"""The command line with paths: the commands of tables, and `privet sequences`."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from privet.samples import SAMPLES

Run = Callable[..., Any]


@pytest.fixture
def trips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with trips and a policy, which is the working folder too."""
    sample = SAMPLES["trips-metro"]
    sample.generate(2000, 1).write_csv(tmp_path / "trips.csv")
    (tmp_path / "trips.toml").write_text(sample.policy(k=10, l=2), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("trips")
def test_the_whole_road(privet: Run) -> None:
    assert privet("check", "trips.csv", "trips.toml").code == 1
    made = privet("publish", "trips.csv", "trips.toml", "-o", "out", "--explain")
    assert made.code == 0, made.err
    assert "routes of at least 20 records" in made.out
    assert "round 1: " in made.out
    assert "candidate 1" in made.out
    assert privet("verify", "out").code == 0
    assert "places only" in privet("risk", "trips.csv", "trips.toml").out
    assert "how the search went" in privet("compare", "trips.csv", "out").out
    assert "what a smaller l would cost" in privet("explain", "out").out
    assert privet("publish", "trips.csv", "trips.toml", "--like", "out", "-o", "again").code == 2


@pytest.mark.usefixtures("trips")
def test_every_answer_is_one_document(privet: Run) -> None:
    published = privet("publish", "trips.csv", "trips.toml", "-o", "out", "--explain", "--json").answer
    assert published["explained"]["kind"] == "trajectories"
    assert published["promises"][0]["about"] == "paths"
    for command in (
        ("check", "trips.csv", "trips.toml"),
        ("risk", "trips.csv", "trips.toml"),
        ("compare", "trips.csv", "out"),
        ("explain", "out"),
        ("verify", "out"),
        ("sequences", "out"),
        ("sequences", "trips.csv", "trips.toml"),
    ):
        assert isinstance(privet(*command, "--json").answer, dict), command
    compared = privet("compare", "trips.csv", "out", "--json").answer
    assert compared["patterns"]["surviving"] == published["measures"]["patterns"]["surviving"]


@pytest.mark.usefixtures("trips")
def test_sequences_of_raw_data_are_counted_and_not_named(privet: Run, terminal: Run) -> None:
    quiet = privet("sequences", "trips.csv", "trips.toml", "--support", "5%")
    assert "at least 100 of 2,000 records" in quiet.out
    assert "@" not in quiet.out
    answer = privet("sequences", "trips.csv", "trips.toml", "--support", "100", "--json").answer
    assert "listed" not in answer
    assert sum(answer["by_length"].values()) == answer["sequences"]
    assert privet("sequences", "trips.csv", "trips.toml", "--show-values").code == 2  # no terminal
    assert "@" in terminal("sequences", "trips.csv", "trips.toml", "--show-values").out
    wrote = privet("sequences", "trips.csv", "trips.toml", "--support", "100", "-o", "routes.csv")
    assert "it holds raw values" in wrote.out
    with Path("routes.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == answer["sequences"]
    assert all(int(row["support"]) >= 100 for row in rows)


@pytest.mark.usefixtures("trips")
def test_sequences_of_a_release_are_shown(privet: Run) -> None:
    privet("publish", "trips.csv", "trips.toml", "-o", "out")
    answer = privet("sequences", "out", "--json").answer
    evidence = json.loads(Path("out/evidence.json").read_text("utf-8"))
    assert answer["sequences"] == evidence["paths"]["frequent"]["sequences"]
    assert answer["listed"][0]["support"] == evidence["paths"]["frequent"]["listed"][0]["support"]


@pytest.mark.usefixtures("trips")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("trips.csv",), "POLICY: says where in the data the paths are"),
        (("trips.csv", "trips.toml", "--support", "0"), "--support: support: is a whole number"),
        (("trips.csv", "trips.toml", "--support", "x"), "--support: is an exact number"),
        (("nowhere.csv", "trips.toml"), "no such file"),
    ],
)
def test_sequences_refuses_what_it_cannot_do(privet: Run, arguments: tuple[str, ...], said: str) -> None:
    ran = privet("sequences", *arguments)
    assert ran.code == 2
    assert said in ran.err


@pytest.mark.usefixtures("trips")
@pytest.mark.parametrize(
    ("old", "new", "code", "said"),
    [
        ("k = 10", "k = 100000", 1, "the largest k that can is 2000"),
        ('support = "1/100"', "support = 0", 2, "support: is a whole number of records from 1 on"),
        ('path = "path"', 'path = "way"', 2, "way"),
        ('form = "column"', 'form = "visits"', 2, "person is missing"),
    ],
)
def test_nothing_is_written_when_something_is_wrong(
    privet: Run, old: str, new: str, code: int, said: str
) -> None:
    text = Path("trips.toml").read_text("utf-8")
    assert old in text
    Path("trips.toml").write_text(text.replace(old, new, 1), "utf-8")
    ran = privet("publish", "trips.csv", "trips.toml", "-o", "out")
    assert ran.code == code
    assert said in ran.err
    assert not Path("out").exists()
    assert not Path("out.private").exists()


def test_samples_bring_policies_that_work(
    privet: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("trips-city", "trips-metro"):
        args = ("--rows", "3000", "--policy", f"{name}.toml")
        assert privet("sample", name, "-o", f"{name}.parquet", *args).code == 0
        assert privet("publish", f"{name}.parquet", f"{name}.toml", "-o", name).code == 0
        assert privet("verify", name).code == 0


@pytest.mark.usefixtures("trips")
def test_a_draft_says_where_the_paths_are_and_decides_nothing(privet: Run) -> None:
    assert privet("init", "trips.csv", "--kind", "trajectories", "-o", "draft.toml").code == 0
    text = Path("draft.toml").read_text("utf-8")
    assert 'form = "column"\npath = "path"' in text
    assert "@" not in text
    refused = privet("check", "trips.csv", "draft.toml")
    assert refused.code == 2
    assert "attributes.card: the role is still undecided" in refused.err
    Path("visits.csv").write_text("tag,reader,time,ill\nt,a,1,flu\nt,b,2,flu\n", "utf-8")
    answer = privet("init", "visits.csv", "--kind", "trajectories", "-o", "v.toml", "--json").answer
    assert answer["trajectories"] == {"form": "visits", "person": "tag", "place": "reader", "time": "time"}
