"""`privet audit` on the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.disclose.audit_place import CANARY, CONFIG, firm, rows

DB = "sqlite:///staff.db"
SUM_A = "select sum(salary) from staff where dept = 'A'"


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    firm(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PRIVET_AUDIT_KEY", raising=False)
    return tmp_path


def test_ask_and_replay(office: Path, privet: Callable[..., Any]) -> None:
    total = str(sum(row[3] for row in rows() if row[1] == "A"))
    assert privet("audit", "ask", SUM_A, "--db", DB).out == f"{total}\n"
    denied = privet("audit", "ask", f"{SUM_A} and age > 20", "--db", DB)
    assert (denied.code, denied.out) == (0, "denied\n")
    answer = privet("audit", "ask", SUM_A, "--db", DB, "--json").answer
    assert answer == {"result": "answered", "answer": total}
    shown = privet("audit", "replay", "--db", DB)
    assert shown.code == 0
    assert "nobody is determined" in shown.out
    found = privet("audit", "replay", "--json").answer
    assert found["holds"]
    assert found["columns"][0]["answered"] == 2
    assert found["columns"][0]["denied"] == 1
    assert str(CANARY) not in shown.out


def test_the_owner_is_told_why_and_nothing_is_asked(office: Path, privet: Callable[..., Any]) -> None:
    privet("audit", "ask", SUM_A, "--db", DB)
    shown = privet("audit", "ask", f"{SUM_A} and age > 20", "--db", DB, "--explain")
    assert (shown.code, shown.out) == (0, "no answer is safe: denied whatever it is, and nothing is logged\n")
    again = privet("audit", "ask", SUM_A, "--db", DB, "--explain", "--json").answer
    assert again == {"explained": ["follows from earlier answers: answered whatever it is"]}
    assert privet("audit", "replay", "--json").answer["columns"][0]["denied"] == 0


def test_a_broken_log_is_exit_1(office: Path, privet: Callable[..., Any]) -> None:
    import sqlite3

    privet("audit", "ask", SUM_A, "--db", DB)
    with sqlite3.connect("audit.log.db") as db:
        db.execute("update entry set analyst = 'x'")
    done = privet("audit", "replay")
    assert (done.code, done.problems) == (1, ["error: audit.log.db: entry 1 is not the one that was written"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ask", SUM_A], "give --url of a gateway, or --db and --config"),
        (["ask", SUM_A, "--url", "http://127.0.0.1:1", "--db", DB], "give --url"),
        (["ask", SUM_A, "--url", "http://127.0.0.1:1"], "PRIVET_AUDIT_KEY: put your key there"),
        (["ask", SUM_A, "--url", "http://127.0.0.1:1", "--explain"], "--explain is for the owner"),
        (["ask", "select 1", "--db", DB], "SUM, AVG, MAX, MIN or COUNT"),
        (["ask", SUM_A, "--db", "sqlite:///no.db"], "no.db: no such SQLite file"),
        (["ask", SUM_A, "--db", DB, "--config", "no.toml"], "`privet audit init` drafts one"),
        (["serve", "--db", DB, "--host", "0.0.0.0"], "in the clear"),
        (["replay"], "there is no log yet"),
        (["key", "ann", "--revoke"], "no such analyst"),
        (["init", "--db", DB, "--table", "crew", "--person", "id"], "no table crew"),
        (["init", "--db", DB, "--table", "staff", "--person", "name"], "no column name"),
        (["init", "--db", DB, "--table", "staff", "--person", "id"], "say --overwrite"),
    ],
)
def test_bad_input_is_one_line(
    office: Path, privet: Callable[..., Any], arguments: list[str], words: str
) -> None:
    done = privet("audit", *arguments)
    assert done.code == 2
    assert len(done.problems) == 1
    assert words in done.problems[0]


def test_a_draft_names_columns_and_decides_nothing(office: Path, privet: Callable[..., Any]) -> None:
    done = privet(
        "audit", "init", "--db", DB, "--table", "staff", "--person", "id", "-o", "draft.toml", "--json"
    )
    assert done.answer["undecided"] == ["age", "salary", "bonus", "days"]
    assert str(CANARY) not in (office / "draft.toml").read_text(encoding="utf-8")
    done = privet("audit", "serve", "--db", DB, "--config", "draft.toml")
    assert done.code == 2
    assert "kind is one of sum, max, min, not 'undecided'" in done.err


def test_a_draft_proposes_bounds_by_name_and_takes_none_from_the_data(
    office: Path, privet: Callable[..., Any]
) -> None:
    import sqlite3

    with sqlite3.connect("staff.db") as db:
        db.executescript(
            "alter table staff add column salary_min real; alter table staff add column MaxSalary real;"
            "alter table staff add column bonus_max real"
        )
    db.close()
    where = ("--db", DB, "--table", "staff", "--person", "id", "-o", "draft.toml")
    done = privet("audit", "init", *where, "--json")
    assert done.answer["bounds"] == {"salary": ["salary_min", "MaxSalary"]}  # of bonus there is only one
    assert done.answer["undecided"] == ["age", "salary", "bonus", "days", "bonus_max"]
    assert done.answer["public"] == ["dept"]
    text = (office / "draft.toml").read_text(encoding="utf-8")
    assert '# low = { column = "salary_min" }' in text
    assert '# high = { column = "MaxSalary" }' in text
    assert text.count("# grid = 1") == 3  # age, salary, days
    assert not [row for row in rows() if str(row[3]) in text or str(row[4]) in text]


def test_keys(office: Path, privet: Callable[..., Any]) -> None:
    key = privet("audit", "key", "ann").out.strip()
    assert key.startswith("pva_")
    assert privet("audit", "key", "ann", "--json").answer["key"] != key
    assert privet("audit", "key", "ann", "--revoke").code == 0
    assert "sum" in CONFIG


def test_a_missing_extra_is_one_line(office: Path, process: Callable[..., Any]) -> None:
    for library in ("sqlglot", "scipy"):
        hidden = office / f"without-{library}"
        hidden.mkdir()
        (hidden / f"{library}.py").write_text("raise ImportError('hidden')")
        done = process("audit", "ask", SUM_A, "--db", DB, PYTHONPATH=str(hidden))
        assert done.code == 2
        assert done.err.count("\n") == 1
        assert "pip install 'privet[audit]'" in done.err


def test_the_house_loads_nothing_of_it() -> None:
    import subprocess
    import sys

    code = "import sys, privet, privet.cli.app; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()
    assert not {"scipy", "sqlglot", "fastapi", "uvicorn", "httpx", "duckdb", "numpy"} & set(loaded)
