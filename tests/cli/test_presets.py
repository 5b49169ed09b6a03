"""From a file to a release without writing a policy: `publish --preset`, `init --accept`, `init --ask`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.policy.test_presets import few

from privet.cli import main
from privet.cli.preset import whose_rows
from privet.core import Form
from privet.drafts.text import Draft
from privet.policy.values import Policy


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    few().write_csv(tmp_path / "people.csv")
    return Path("people.csv")


def test_two_commands_and_no_edit(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["publish", str(data), "--preset", "statistics-office-5", "--rows", "persons", "-o", "out"]) == 0
    )
    said = capsys.readouterr()
    assert "left out, as they may name people: name" in said.err
    assert "alpha-k-anonymity" in said.out
    assert main(["verify", "out"]) == 0


def test_names_that_repeat_are_refused_until_somebody_says_whose(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", str(data), "--accept", "--preset", "ema-0070"]) == 0
    assert "a person may have several rows" in capsys.readouterr().err
    assert '# person = "name"' in Path("policy.toml").read_text()
    assert main(["publish", str(data), "policy.toml", "-o", "out"]) == 2
    assert main(["check", str(data), "policy.toml"]) == 2
    assert 'rows = "persons"' in capsys.readouterr().err
    assert main(["publish", str(data), "policy.toml", "--rows", "persons", "-o", "out"]) == 2, "say it there"
    Path("policy.toml").write_text(Path("policy.toml").read_text().replace("# rows =", "rows ="))
    assert main(["publish", str(data), "policy.toml", "-o", "out"]) == 0


def test_beside_a_preset_the_command_line_says_whose_rows_are(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["publish", str(data), "--preset", "ema-0070", "-o", "out"]
    assert main(asked) == 2
    assert "say --person name, which counts rows" in capsys.readouterr().err
    assert main([*asked, "--rows", "persons"]) == 0
    assert "several rows" not in capsys.readouterr().err, "it was said"
    assert main(["init", str(data), "--accept", "--preset", "ema-0070", "--person", "name"]) == 0
    assert Policy.load(Path("policy.toml")).person == "name"
    assert "several rows" not in capsys.readouterr().err
    assert main([*asked, "--overwrite", "--person", "nobody"]) == 2
    assert "there is no column 'nobody'" in capsys.readouterr().err
    assert main([*asked, "--overwrite", "--person", "name", "--rows", "persons"]) == 2
    assert main(["publish", str(data), "policy.toml", "--person", "name", "-o", "out"]) == 2, "say it there"


def test_accept_writes_what_publish_would_use(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(data), "--accept", "--preset", "ema-0070", "--rows", "persons"]) == 0
    assert main(["publish", str(data), "policy.toml", "-o", "out1"]) == 0
    assert main(["publish", str(data), "--preset", "ema-0070", "--rows", "persons", "-o", "out2"]) == 0
    assert Path("out1/data.csv").read_bytes() == Path("out2/data.csv").read_bytes()
    assert "Not promised" in Path("policy.toml").read_text()


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["init", "people.csv", "--accept"], "say --preset too"),
        (["init", "people.csv", "--preset", "ema-0070"], "say --accept or --ask"),
        (["init", "people.csv", "--accept", "--preset", "k-5"], "--preset: it is one of"),
        (["publish", "people.csv", "-o", "out"], "give a policy, or --preset"),
        (
            ["publish", "people.csv", "p.toml", "--preset", "ema-0070", "-o", "out"],
            "give a policy, or --preset",
        ),
    ],
)
def test_no_promise_is_chosen_for_anybody(
    arguments: list[str], complaint: str, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    assert complaint in capsys.readouterr().err
    assert not Path("out").exists()


def test_presets_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json"]) == 0
    listed = {one["name"] for one in json.loads(capsys.readouterr().out)["presets"]}
    assert {"hipaa-safe-harbor", "ema-0070", "statistics-office-5", "lkc-research"} <= listed


def test_a_file_of_gps_points_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """user, timestamp, latitude, longitude and nothing else had no attribute to name."""
    monkeypatch.chdir(tmp_path)
    rows = [
        f"u{u},2024-05-01 {8 + i:02}:{10 * (u % 3):02}:00,{52.5 + 0.02 * (u % 2):.4f},{13.4 + i % 2 / 50:.4f}"
        for u in range(80)
        for i in range(4)
    ]
    Path("gps.csv").write_text("user,timestamp,latitude,longitude\n" + "\n".join(rows) + "\n")
    assert main(["publish", "gps.csv", "--preset", "statistics-office-3", "-o", "out"]) == 0
    assert main(["verify", "out"]) == 0
    assert "u17" not in Path("out/data.csv").read_text()


def test_taps_are_drafted_with_their_times_as_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        f"c{u},Zoo,2024-05-01 {7 + i:02}:30:00,{('adult', 'child')[i % 2]}"
        for u in range(30)
        for i in range(3)
    ]
    Path("taps.csv").write_text("card,stop,time,fare\n" + "\n".join(rows) + "\n")
    assert main(["init", "taps.csv", "--accept", "--preset", "lkc-research"]) == 0
    policy = Policy.load("policy.toml")
    assert policy.shape.to_policy() == {"form": "visits", "person": "card", "place": "stop", "time": "time"}
    assert [a.role.value for a in policy.attributes] == ["identifier"]  # the fare differs within a person
    assert main(["publish", "taps.csv", "policy.toml", "-o", "out"]) == 0


@pytest.mark.one_in(2)
@pytest.mark.parametrize("empty", [True, False])
def test_a_few_cells_that_look_like_paths_make_no_trajectories(
    empty: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Cabins such as "C23 C25" were a path, which could then not be read in other rows."""
    monkeypatch.chdir(tmp_path)
    cabins = [f"C{20 + i} C{21 + i}" if i % 9 == 0 else f"E{i % 50 + 10}" for i in range(200)]
    if empty:
        cabins[60:160] = ["" if i % 3 else "F G73" for i in range(100)]
    rows = [f"{'fm'[i % 2]},{i % 60},{cabin},{i % 3}\n" for i, cabin in enumerate(cabins)]
    Path("ship.csv").write_text("sex,age,cabin,class\n" + "".join(rows))
    asked = ["publish", "ship.csv", "--preset", "statistics-office-3", "--rows", "persons", "-o", "out"]
    assert main(asked) == 0
    assert main(["verify", "out"]) == 0
    assert Policy.load("out/policy.toml").kind == "table"
    assert main(["init", "ship.csv", "--accept", "--preset", "statistics-office-3", "--rows", "persons"]) == 0
    assert Policy.load("policy.toml").kind == "table"


def test_a_column_of_paths_that_cannot_be_read_in_every_row_is_no_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ways = [f"b{i} c{i + 9} d300" for i in range(90)]
    for at, last in ((None, "trajectories"), (88, "table")):
        if at is not None:
            ways[at] = "nobody knows"
        Path("w.csv").write_text("sex,way\n" + "".join(f"{'fm'[i % 2]},{w}\n" for i, w in enumerate(ways)))
        assert main(["init", "w.csv", "--accept", "--preset", "lkc-research", "--overwrite"]) == 0
        assert Policy.load("policy.toml").kind == last
    assert "way: unreadable points in 1 of 90 rows" in (said := capsys.readouterr().err)
    assert "so this is drafted as a table" in said
    assert main(["init", "w.csv", "--kind", "trajectories", "--overwrite"]) == 0
    assert "unreadable points in 1 of 90 rows" in capsys.readouterr().err


def test_codes_of_few_numbers_leave_as_they_are_under_safe_harbor(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No group asks for intervals there: sex 1 left as [1-10), and half of the column was lost."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{i % 2},{i % 5},{1925 + i % 70},{20 + i % 78}\n" for i in range(300)]
    Path("c.csv").write_text("sex,educ,byear,age\n" + "".join(rows))
    asked = ["publish", "c.csv", "--preset", "hipaa-safe-harbor", "--rows", "persons", "-o", "out"]
    assert main(asked) == 0
    assert main(["verify", "out"]) == 0
    released = [line.split(",") for line in Path("out/data.csv").read_text().splitlines()[1:]]
    assert {one[0] for one in released} == {"0", "1"}
    assert {one[1] for one in released} == set("01234")
    assert any(one[2].startswith("<19") for one in released), "years that tell an age above 89 are one group"
    assert not any("[" in field for one in released for field in one)


def test_reasons_stand_beside_what_is_left_out(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("r.csv").write_text(
        "age,sex,mail,v8,v9\n"
        + "".join(
            f"{20 + i % 40},{'fm'[i % 2]},a{i}@example.org,came on foot and said nothing much to us {i},"
            f"{chr(97 + i % 26)}{chr(97 + i // 26)}q\n"
            for i in range(120)
        )
    )
    assert main(["publish", "r.csv", "--preset", "hipaa-safe-harbor", "--rows", "persons", "-o", "o"]) == 0
    said = capsys.readouterr().err
    assert "mail (e-mail addresses)" in said
    assert "v8 (free text)" in said
    again = ["publish", "r.csv", "--preset", "hipaa-safe-harbor", "--rows", "persons", "-o", "o2", "--json"]
    assert main(again) == 0
    left_out = json.loads(capsys.readouterr().out)["left_out"]
    assert {"column": "mail", "reason": "e-mail addresses"} in left_out


def test_whose_rows_are_is_proposed_only_by_what_may_say_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The hint said person = "Comments": who followed it promised nonsense."""
    monkeypatch.chdir(tmp_path)
    note = "came on foot and said that it was not as bad as it had been"
    rows = [f"{20 + i % 40},{'fm'[i % 2]},{note} {i // 2},P{i // 3:03}\n" for i in range(120)]
    Path("n.csv").write_text("age,sex,Comments,patient_id\n" + "".join(rows))
    asked = ["publish", "n.csv", "--preset", "statistics-office-3", "-o", "out"]
    assert main(asked) == 2
    said = capsys.readouterr().err
    assert "--person patient_id, which counts rows with one value of it as one person, or --rows" in said
    assert "--person Comments" not in said
    assert 'person = "Comments"' not in said
    Path("n.csv").write_text("age,sex,Comments\n" + "".join(f"{r.rpartition(',')[0]}\n" for r in rows))
    assert main(asked) == 2
    said = capsys.readouterr().err
    assert "say --rows persons, which claims that each row is a person of its own" in said
    assert "--person" not in said
    assert main(["init", "n.csv"]) == 0
    assert "# person =" not in Path("policy.toml").read_text()
    assert '# rows = "persons"' in Path("policy.toml").read_text()


@pytest.mark.parametrize("command", ["publish", "init"])
def test_nothing_left_to_generalise_is_said_in_the_stewards_words(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"Anna M{i} Muster,a{i}@example.org\n" for i in range(60)]
    Path("m.csv").write_text("name,mail\n" + "".join(rows))
    more = ["-o", "out"] if command == "publish" else ["--accept"]
    assert main([command, "m.csv", "--preset", "statistics-office-3", *more]) == 2
    said = capsys.readouterr().err
    assert "2 of 2 columns are left out" in said
    assert "nothing remains to generalise" in said
    assert "quasi" not in said
    assert not Path("policy.toml").exists()


def test_whose_rows_names_the_columns_that_are_left_out() -> None:
    """Under safe harbor "a column that is left out" repeated, and nobody could look at it."""
    drafted = Draft("a.csv", 2, Form(), ())
    assert whose_rows(drafted, ["x1", "dg"]).startswith("what is left out ('x1', 'dg'): values repeat, ")
