"""Publishing inside a pipeline: stdin and stdout, logs, copies in databases with evidence beside them."""

from __future__ import annotations

import io
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, TypeAlias

import polars as pl
import pytest
from tests.cli.conftest import ROWS, Ran

Run: TypeAlias = Callable[..., Ran]
POLICY = "hospital.toml"


@pytest.fixture
def stdin(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    piped = SimpleNamespace(buffer=io.BytesIO((place / "patients.csv").read_bytes()), isatty=lambda: False)
    monkeypatch.setattr(sys, "stdin", piped)


def test_from_stdin_to_stdout_is_the_data_of_the_release(
    place: Path, stdin: None, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    from privet.cli import main

    assert main(["publish", "-", POLICY, "-o", "-", "--evidence", "out"]) == 0
    assert capfdbinary.readouterr().out == (place / "out" / "data.csv").read_bytes()
    assert main(["publish", "patients.csv", POLICY, "-o", "again"]) == 0
    assert (place / "again" / "data.csv").read_bytes() == (place / "out" / "data.csv").read_bytes()
    assert main(["verify", "out"]) == 0


def test_stdin_leaves_nothing_behind(privet: Run, place: Path, stdin: None) -> None:
    before = {path.name for path in place.iterdir()}
    assert privet("publish", "-", POLICY, "-o", "out", "--quiet").out == ""
    assert {path.name for path in place.iterdir()} - before == {"out", "out.private"}
    assert "stdin" not in (place / "out.private" / "steward.json").read_text(encoding="utf-8")


def test_what_is_wrong_with_stdin_is_said_of_stdin(privet: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for raw, said in ((b"", "stdin: the file is empty"), (b"a,b\n1\n", "stdin: line 2 has 1 fields")):
        for options in ((), ("--json",)):
            monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(raw), isatty=lambda: False))
            ran = privet("publish", "-", "--preset", "statistics-office-3", "-o", "out", *options)
            assert ran.code == 2
            assert said in ran.out + ran.err
            assert "stdin.csv" not in ran.out + ran.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-o", "-"], "--evidence DIR"),
        (["-o", "-", "--evidence", "out", "--json"], "stdout has the data"),
        (["-o", "out", "--evidence", "other"], "-o -"),
        (["-o", "out", "--table", "safe"], "beside --into"),
        (["-o", "out", "--into", "sqlite:///a.db"], "--table: is a name"),
        (["-o", "out", "--into", "sqlite:///a.db", "--table", 'x"; drop'], "--table: is a name"),
        (["-o", "out", "--into", "oracle:///a.db", "--table", "safe"], "--into: is sqlite"),
        (["-o", "out", "--into", "sqlite:///", "--table", "safe"], "--into: "),
        (["-o", "out", "--into", "sqlite:///no/where/a.db", "--table", "safe"], "no such folder"),
        (["-o", "out", "--log", "out/run.log"], "must not lie in the release folder"),
    ],
)
def test_what_cannot_be_is_refused_before_the_work(
    privet: Run, place: Path, options: list[str], said: str
) -> None:
    ran = privet("publish", "patients.csv", POLICY, *options)
    assert ran.code == 2
    assert said in ran.err + ran.out
    assert not (place / "out").exists()


def test_quiet_says_nothing_but_warnings(privet: Run, place: Path) -> None:
    ran = privet("publish", "patients.csv", POLICY, "-o", "out", "--quiet")
    assert (ran.code, ran.out) == (0, "")
    assert all(line.startswith("warning:") for line in ran.problems)


def test_the_log_has_stages_and_the_end_and_no_data(privet: Run, place: Path, table: Any) -> None:
    assert privet("publish", "patients.csv", POLICY, "-o", "out", "--log", "run.log").code == 0
    assert privet("publish", "patients.csv", POLICY, "-o", "out", "--log", "run.log").code == 2
    text = (place / "run.log").read_text(encoding="utf-8")
    events = [json.loads(line) for line in text.splitlines()]
    assert [event["event"] for event in events if event["event"] != "stage"] == [
        "begun",
        "published",
        "begun",
        "failed",
    ]
    stages = [event["stage"] for event in events if event["event"] == "stage"]
    assert stages == ["read", "tally", "search", "apply", "check", "measure", "write"]
    published = next(event for event in events if event["event"] == "published")
    assert published["records"] == ROWS
    assert all(promise["holds"] for promise in published["promises"])
    assert len({event["run"] for event in events}) == 2
    assert not any(name in text for name in table["name"].to_list())
    assert (place / "run.log").stat().st_mode & 0o077 == 0


def opened(url: str) -> tuple[pl.DataFrame, dict[str, str]]:
    """The table `safe` and its evidence, as whoever receives them reads them."""
    kind, _, name = url.partition(":///")
    if kind == "parquet":
        data = pl.read_parquet(Path(name) / "safe" / "*.parquet")
        return data, dict(pl.read_parquet(Path(name) / "safe_evidence" / "*.parquet").iter_rows())
    if kind == "duckdb":
        duckdb = pytest.importorskip("duckdb")
        with closing(duckdb.connect(name)) as db:
            cursor = db.execute("SELECT * FROM safe")
            names, rows = [column[0] for column in cursor.description], cursor.fetchall()
            files = dict(db.execute("SELECT * FROM safe_evidence").fetchall())
    else:
        with closing(sqlite3.connect(name)) as db:
            cursor = db.execute("SELECT * FROM safe")
            names, rows = [column[0] for column in cursor.description], cursor.fetchall()
            files = dict(db.execute("SELECT * FROM safe_evidence").fetchall())
    return pl.DataFrame(rows, schema=names, orient="row", infer_schema_length=None), files


@pytest.mark.one_in(2)
@pytest.mark.parametrize("url", ["sqlite:///c.db", "duckdb:///c.duckdb", "parquet:///lake"])
def test_a_copy_stands_with_its_evidence_whole_or_not_at_all(privet: Run, place: Path, url: str) -> None:
    if url.startswith("duckdb"):
        pytest.importorskip("duckdb")
    written = ("publish", "patients.csv", POLICY, "--into", url, "--table", "safe", "--quiet")
    assert privet(*written, "-o", "out").code == 0
    data, files = opened(url)
    made = pl.read_csv(place / "out" / "data.csv", infer_schema=False)
    assert data.cast(pl.String).equals(made)
    for name in ("policy.toml", "evidence.json", "report.html"):
        assert files[name] == (place / "out" / name).read_text(encoding="utf-8")
    ran = privet(*written, "-o", "out2")
    assert ran.code == 2
    assert "say --overwrite" in ran.err
    assert not (place / "out2").exists()
    assert privet(*written, "-o", "out", "--overwrite").code == 0
    assert opened(url)[0].height == ROWS


def test_a_table_without_evidence_is_never_replaced(privet: Run, place: Path) -> None:
    with closing(sqlite3.connect("c.db")) as db:
        db.execute("CREATE TABLE safe (mine)")
        db.execute("INSERT INTO safe VALUES (1)")
        db.commit()
    into = ("--into", "sqlite:///c.db", "--table", "safe", "--overwrite")
    ran = privet("publish", "patients.csv", POLICY, "-o", "out", *into)
    assert ran.code == 2
    assert "is not a release" in ran.err
    with closing(sqlite3.connect("c.db")) as db:
        assert db.execute("SELECT * FROM safe").fetchall() == [(1,)]


def test_a_copy_that_fails_says_that_the_release_stands(
    privet: Run, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from privet.engines import writeback

    def fails(table: str, schema: pl.Schema) -> str:
        return f"CREATE TABLE {table}"  # half a sentence

    monkeypatch.setattr(writeback, "_made", fails)
    ran = privet(
        "publish", "patients.csv", POLICY, "-o", "out", "--into", "sqlite:///c.db", "--table", "safe"
    )
    assert ran.code == 2
    assert "the release stands" in ran.err
    assert (place / "out" / "evidence.json").is_file()
    with closing(sqlite3.connect("c.db")) as db:
        assert not db.execute("SELECT * FROM sqlite_master").fetchall()


def test_types_and_names_of_columns_are_kept(tmp_path: Path) -> None:
    from datetime import date
    from decimal import Decimal

    from privet.engines.writeback import place as placed

    data = pl.DataFrame(
        {
            'a "quoted" name': [1, None],
            "share": [0.5, None],
            "on": [date(2020, 1, 2), None],
            "yes": [True, None],
            "money": [Decimal("1.50"), None],
            "kind": pl.Series(["x", None], dtype=pl.Categorical),
        }
    )
    for kind in ("sqlite", "duckdb"):
        if kind == "duckdb":
            pytest.importorskip("duckdb")
        place = placed(f"{kind}:///{tmp_path}/t.{kind}", "safe", overwrite=False)
        place.write(data, {"evidence.json": "{}"})
        rows = opened(f"{kind}:///{tmp_path}/t.{kind}")[0]
        assert rows.columns == data.columns
        assert rows.row(1) == (None,) * 6
        assert rows.row(0)[:2] == (1, 0.5)
        assert rows.row(0)[-1] == "x"


def test_what_sqlite_would_read_as_missing_is_refused(tmp_path: Path) -> None:
    from privet.engines.writeback import place as placed
    from privet.errors import InputError

    place = placed(f"sqlite:///{tmp_path}/t.db", "safe", overwrite=False)
    with pytest.raises(InputError, match="'share' holds what is not a number"):
        place.write(pl.DataFrame({"share": [0.5, float("nan")]}), {})
    with pytest.raises(InputError, match="'parts' holds bytes or durations"):
        place.write(pl.DataFrame({"parts": [[1, 2]]}), {})
    assert not (tmp_path / "t.db").exists()


@pytest.mark.parametrize("given", ["patients.csv", POLICY])
def test_no_line_of_a_log_goes_into_what_is_no_log(privet: Run, place: Path, given: str, table: Any) -> None:
    before = (place / given).read_bytes()
    ran = privet("publish", "patients.csv", POLICY, "-o", "out", "--log", given)
    assert ran.code == 2
    assert "no log of privet" in ran.err
    assert (place / given).read_bytes() == before
    assert not (place / "out").exists()


def test_nobody_waits_for_a_pipe_that_nobody_reads(privet: Run, place: Path, table: Any) -> None:
    os.mkfifo(place / "pipe")
    ran = privet("publish", "patients.csv", POLICY, "-o", "out", "--log", "pipe")
    assert (ran.code, "not a pipe" in ran.err) == (2, True)


def test_data_for_a_stdout_that_was_closed_is_an_error(place: Path, table: Any) -> None:
    """It ended with 0, and the data had gone nowhere."""
    words = f"{sys.executable} -m privet.cli publish patients.csv {POLICY} -o - --evidence out >&-"
    done = subprocess.run(words, shell=True, cwd=place, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done
    assert "the data could not be written whole" in done.stderr
    assert (place / "out" / "evidence.json").exists()
