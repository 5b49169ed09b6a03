"""The desk: a real table, a durable log, one decision at a time, and what it refuses."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.disclose.audit_place import CANARY, CONFIG, PEOPLE, desk_in, firm, rows

from privet.disclose.audit.config import AuditConfig
from privet.disclose.audit.database import Database, opened
from privet.disclose.audit.desk import Answer, ChangedError, Desk
from privet.disclose.audit.draft import drafted
from privet.disclose.audit.keys import Keys
from privet.disclose.audit.log import AuditLog
from privet.disclose.audit.replay import replay
from privet.disclose.audit.sql import RefusedError
from privet.errors import InputError, PolicyError, TamperedError
from privet.witness import Witness

SUM_A = "select sum(salary) from staff where dept = 'A'"


def of(column: int, dept: str) -> list[Any]:
    return [row[column] for row in rows() if row[1] == dept]


def test_answers_are_exact_and_reduced_where_that_is_exact(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    assert desk.ask("ann", SUM_A) == sum(of(3, "A"))
    assert desk.ask("bob", "select avg(salary) from staff where dept = 'A'") == Fraction(sum(of(3, "A")), 8)
    assert desk.ask("ann", "select max(bonus) from staff where dept = 'B'") == Fraction(str(max(of(4, "B"))))
    assert desk.ask("ann", "select min(days) from staff where dept = 'B'") == min(of(5, "B"))
    assert desk.ask("ann", "select count(*) from staff where age > 30") == sum(row[2] > 30 for row in rows())
    entries = list(desk.log.entries())
    assert [(e.number, e.analyst, e.column) for e in entries] == [
        (1, "ann", "salary"),
        (2, "bob", "salary"),
        (3, "ann", "bonus"),
        (4, "ann", "days"),
    ]
    assert entries[1].decision.constraint is None  # it followed from the first


def test_a_difference_of_one_person_is_denied(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    assert desk.ask("ann", "select sum(salary) from staff where dept = 'C'") is not None
    assert desk.ask("bob", "select sum(salary) from staff where dept = 'C' and not age = 30") is None
    assert desk.ask("cyd", "select avg(salary) from staff where dept = 'C' and age <> 30") is None
    found = {one.column: one for one in replay(desk.config, desk.log, desk.columns)}
    assert (found["salary"].answered, found["salary"].denied, found["salary"].holds) == (1, 2, True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("select sum(salary) from staff where age = 30", "fewer than 2 people"),
        ("select sum(salary) from staff where age = 1", "fewer than 2 people"),
        ("select max(salary) from staff", "audited for SUM, AVG, COUNT"),
        ("select sum(bonus) from staff", "audited for MAX, COUNT"),
        ("select sum(pay) from staff", "not audited"),
        ("select sum(salary) from staff where id = 5", "conditions may use age, dept"),
    ],
)
def test_a_refusal_leaves_no_trace_and_tells_nothing(tmp_path: Path, text: str, words: str) -> None:
    desk = desk_in(tmp_path)
    desk.ask("ann", SUM_A)
    with pytest.raises(RefusedError, match=words) as caught:
        desk.ask("ann", text)
    assert str(CANARY) not in str(caught.value)
    assert len(list(desk.log.entries())) == 1
    assert desk.ask("ann", SUM_A) is not None


def test_changed_data_is_refused_and_found_whoever_is_asked_about(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    assert desk.ask("ann", SUM_A) is not None
    for statement, back in (
        (
            "update staff set salary = salary + 1 where dept = 'B' and age = 22",
            "update staff set salary = salary - 1 where dept = 'B' and age = 22",
        ),
        ("update staff set dept = 'Z' where id = 4", "update staff set dept = 'B' where id = 4"),
        ("insert into staff values (99, 'A', 20, 20000, 1.0, 1)", "delete from staff where id = 99"),
    ):
        with sqlite3.connect(tmp_path / "staff.db") as db:
            db.execute(statement)
        with pytest.raises(ChangedError, match="the data has changed"):
            desk.ask("ann", SUM_A)  # about people who did not change
        with pytest.raises(ChangedError):
            Desk(desk.config, opened(f"sqlite:///{tmp_path / 'staff.db'}"))
        with sqlite3.connect(tmp_path / "staff.db") as db:
            db.execute(back)
        assert desk.ask("ann", SUM_A) is not None


def test_another_file_in_its_place_is_noticed(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    (tmp_path / "other").mkdir()
    firm(tmp_path / "other")
    with sqlite3.connect(tmp_path / "other" / "staff.db") as db:
        db.execute("update staff set bonus = 1")
    (tmp_path / "other" / "staff.db").replace(tmp_path / "staff.db")
    with pytest.raises(ChangedError):
        desk.ask("ann", SUM_A)


def test_a_log_is_for_one_table_and_one_set_of_settings(tmp_path: Path) -> None:
    desk_in(tmp_path).close()
    url = f"sqlite:///{tmp_path / 'staff.db'}"
    path = tmp_path / "audit.toml"
    path.write_text(CONFIG.replace("width = 5000", "width = 4000"), encoding="utf-8")
    with pytest.raises(InputError, match="other settings"):
        Desk(AuditConfig.load(path), opened(url))
    with sqlite3.connect(tmp_path / "staff.db") as db:
        db.execute("create table crew as select * from staff")
    path.write_text(CONFIG.replace('"staff"', '"crew"'), encoding="utf-8")
    with pytest.raises(InputError, match="another table"):
        Desk(AuditConfig.load(path), opened(url))


def test_a_desk_that_opens_again_remembers(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    texts = [
        SUM_A,
        "select sum(salary) from staff where dept = 'C' and age <> 30",
        "select sum(salary) from staff",
    ]
    first = [desk.ask("ann", text) for text in texts]
    desk.close()
    config, url = AuditConfig.load(tmp_path / "audit.toml"), f"sqlite:///{tmp_path / 'staff.db'}"
    again = Desk(config, opened(url))
    assert [again.ask("bob", text) for text in texts] == first
    assert (
        again.ask("bob", "select sum(salary) from staff where dept = 'C'") is None
    )  # less the one asked before


def test_two_desks_on_one_log_hear_of_each_other(tmp_path: Path) -> None:
    one = desk_in(tmp_path)
    other = Desk(one.config, opened(f"sqlite:///{tmp_path / 'staff.db'}"))
    assert one.ask("ann", "select sum(salary) from staff where dept = 'C'") is not None
    assert other.ask("bob", "select sum(salary) from staff where dept = 'C' and age <> 30") is None
    assert [e.number for e in one.log.entries()] == [1, 2]


def test_files_are_the_owner_s_alone(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    Keys(desk.config.keys).issue("ann")
    for path in (desk.config.log, desk.config.keys):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_tampered_log_is_recognised(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    for text in (SUM_A, "select max(bonus) from staff", "select sum(salary) from staff"):
        desk.ask("ann", text)
    desk.close()
    nothing = '{"answer": null, "relation": null, "value": null, "off": false}'
    for at, statement in enumerate(
        (
            "delete from entry where number = 2",
            "delete from entry where number = 3",
            "update entry set analyst = 'bob' where number = 1",
            f"update entry set decision = '{nothing}' where number = 1",
        )
    ):
        copy = tmp_path / f"copy{at}.db"
        copy.write_bytes(desk.config.log.read_bytes())
        assert all(one.holds for one in replay(desk.config, AuditLog(copy)))
        with sqlite3.connect(copy) as db:
            db.execute(statement)
        db.close()
        with pytest.raises(TamperedError):
            replay(desk.config, AuditLog(copy))


def test_replay_sees_a_decision_that_no_auditor_takes(tmp_path: Path) -> None:
    """An entry that is whole, in its place, and breaks the promise."""
    from privet.disclose.audit.decision import Constraint, Decision
    from privet.disclose.audit.exact import members_of

    desk = desk_in(tmp_path)
    answer = desk.ask("ann", "select max(bonus) from staff where dept = 'C'")
    assert isinstance(answer, Fraction)
    column = desk.columns["bonus"]
    alone = members_of(
        [column.places[row[0]] for row in rows() if row[1] == "C" and row[4] != float(answer)], PEOPLE
    )
    low = Fraction(str(sorted(of(4, "C"))[-2]))
    with desk.log.deciding():
        number, _ = desk.log.append(
            "eve", "bonus", "", members=alone, n=PEOPLE, decision=Decision(low, Constraint("=", low))
        )
        desk.log.note("entries", str(number))
    found = {one.column: one for one in replay(desk.config, desk.log)}
    assert found["bonus"].complaints == (
        "bonus: entry 2 does not follow from the ones before it",
        "bonus: a logged maximum can be reached by one person only: that person is determined",
    )


def test_replay_compares_answers_with_the_data(tmp_path: Path) -> None:
    from privet.disclose.audit.decision import Constraint, Decision
    from privet.disclose.audit.exact import members_of

    desk = desk_in(tmp_path)
    wrong = Decision(Fraction(500_000), Constraint("=", Fraction(500_000)))
    with desk.log.deciding():
        desk.log.append("eve", "salary", "", members=members_of(range(8), PEOPLE), n=PEOPLE, decision=wrong)
        desk.log.note("entries", "1")
    assert replay(desk.config, desk.log)[0].holds
    assert "is not what the data says" in replay(desk.config, desk.log, desk.columns)[0].complaints[0]


# What the owner may get wrong.


def test_a_wrong_configuration_is_answered_once(tmp_path: Path) -> None:
    path = tmp_path / "audit.toml"
    path.write_text(
        'audit = 2\ntable = "staff"\npublic = ["salary"]\nsmallest = 1\nrat = 3\n'
        '[columns.salary]\nkind = "sum"\nlow = 0\nhigh = 0.5\nwidth = 10\n'
        '[columns.bonus]\nkind = "median"\n'
        '[columns.days]\nkind = "max"\nwidth = 3\nlow = 3\nhigh = 3\ngrid = -1\n'
        '[columns.narrow]\nkind = "sum"\nlow = 0\nhigh = 5\nwidth = 10\n'
        '[columns.few]\nkind = "sum"\nnulls = "x"\n',
        encoding="utf-8",
    )
    with pytest.raises(PolicyError) as caught:
        AuditConfig.load(path)
    said = "\n".join(line.removeprefix(f"{path}: ") for line in caught.value.complaints)
    for words in (
        "rat: unknown key; did you mean rate?",
        "the first line must be `audit = 1`",
        "person: is a name",
        "smallest: is a whole number from 2, not 1",
        'columns.salary.high: is an exact number such as 100 or "0.5" or { column = "high" }, not 0.5',
        "columns.bonus: kind is one of sum, max, min, not 'median'",
        "columns.days.width: unknown key",
        "columns.days: high is above low",
        "columns.days.grid: is above 0, or 0 if nobody",
        "columns.narrow: the bounds are narrower than the width",
        "columns.few.low is missing",
        "columns.few.nulls is one of refuse, leave-out",
        "public: salary is audited",
    ):
        assert words in said, words


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        (
            "update staff set salary = 200001 where id = 3",
            "salary: somebody's value lies outside the public bounds",
        ),
        ("update staff set salary = null where id = 3", "salary: 1 people have no value"),
        ("update staff set bonus = 'secret' where id = 3", "bonus: value 4 is not a number"),
        ("update staff set id = 4 where id = 3", "id: must name each person once"),
        ("delete from staff where id > 0", "fewer than 2 people"),
        ("alter table staff rename column age to years", "staff has no column age"),
        ("alter table staff rename to crew", "there is no table staff"),
    ],
)
def test_data_that_cannot_be_audited(tmp_path: Path, statement: str, words: str) -> None:
    config, url = firm(tmp_path)
    with sqlite3.connect(tmp_path / "staff.db") as db:
        db.execute(statement)
    with pytest.raises(InputError, match=words) as caught:
        Desk(config, opened(url))
    assert "secret" not in str(caught.value)
    assert "200001" not in str(caught.value)


def test_people_without_a_value_may_be_left_out(tmp_path: Path) -> None:
    _, url = firm(tmp_path)
    with sqlite3.connect(tmp_path / "staff.db") as db:
        db.execute("update staff set salary = null where dept = 'A' and age < 40")
    path = tmp_path / "audit.toml"
    path.write_text(CONFIG.replace("width = 5000", 'width = 5000\nnulls = "leave-out"'), encoding="utf-8")
    desk = Desk(AuditConfig.load(path), opened(url))
    left = [row[3] for row in rows() if row[1] == "A" and row[2] >= 40]
    assert desk.ask("ann", SUM_A) == sum(left)
    assert desk.ask("ann", "select count(salary) from staff where dept = 'A'") == len(left)
    assert desk.ask("ann", "select count(*) from staff where dept = 'A'") == 8


def test_a_draft_decides_nothing(tmp_path: Path) -> None:
    path = tmp_path / "audit.toml"
    text = drafted("staff", "id", ["dept"], {"salary": True, 'odd "one': False}, {"salary": ("s_lo", "s_hi")})
    path.write_text(text, encoding="utf-8")
    with pytest.raises(PolicyError) as caught:
        AuditConfig.load(path)
    assert [line.endswith("not 'undecided'") for line in caught.value.complaints] == [True, True]


def test_no_such_database(tmp_path: Path) -> None:
    for url, words in (
        (f"sqlite:///{tmp_path}/no.db", "no such SQLite file"),
        (f"duckdb:///{tmp_path}/no.db", "no such DuckDB file"),
        ("mysql://x", "--db: is a URL that begins with"),
    ):
        with pytest.raises(InputError, match=words):
            opened(url)
    (tmp_path / "text.db").write_text("this is not a database, but long enough to look like one" * 20)
    with pytest.raises(InputError, match="is not an audit log"):
        AuditLog(tmp_path / "text.db")


def test_duckdb(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    config, _ = firm(tmp_path)
    with duckdb.connect(str(tmp_path / "staff.duckdb")) as db:
        db.execute(
            "create table staff (id integer, dept text, age integer, "
            "salary decimal(9,2), bonus double, days integer)"
        )
        db.executemany("insert into staff values (?, ?, ?, ?, ?, ?)", rows())
    source = opened(f"duckdb:///{tmp_path / 'staff.duckdb'}")
    desk = Desk(config, source)
    assert desk.ask("ann", SUM_A) == sum(of(3, "A"))
    assert desk.ask("ann", "select max(bonus) from staff where dept in ('A', 'B') and age <= 60") is not None
    with pytest.raises(RefusedError, match="cannot compare"):
        desk.ask("ann", "select sum(salary) from staff where age = 'old'")
    desk.close()
    with duckdb.connect(str(tmp_path / "staff.duckdb")) as db:
        db.execute("update staff set bonus = bonus + 1 where id = 3")
    with pytest.raises(ChangedError):
        Desk(config, opened(f"duckdb:///{tmp_path / 'staff.duckdb'}"))


# Many at a time, and the worst moment.


def texts(seed: int, count: int) -> list[str]:
    draw = random.Random(seed)
    ages = range(20, 20 + 2 * PEOPLE, 2)
    kinds = ("max(bonus)", "min(days)", "max(bonus)")
    return [
        f"select {draw.choice(kinds)} from staff "
        f"where age between {draw.choice(ages)} and {draw.choice(ages)} "
        f"or dept = '{draw.choice('ABC')}'"
        for _ in range(count)
    ]


def test_concurrent_analysts_get_one_order(tmp_path: Path) -> None:
    """Whatever the interleaving, the answers are those of the log's order, posed one after the other."""
    desk = desk_in(tmp_path)
    posed = {f"a{i}": texts(i, 6) for i in range(8)}

    def run(name: str) -> list[Answer]:
        return [desk.ask(name, text) for text in posed[name]]

    with ThreadPoolExecutor(8) as pool:
        said = dict(zip(posed, pool.map(run, posed), strict=True))
    entries = list(desk.log.entries())
    assert desk.log.verify() == len(entries) == 48
    assert [e.number for e in entries] == list(range(1, 49))
    (tmp_path / "again").mkdir()
    again = desk_in(tmp_path / "again")
    in_order: dict[str, list[Answer]] = {name: [] for name in posed}
    for entry in entries:
        text = posed[entry.analyst][len(in_order[entry.analyst])]
        in_order[entry.analyst].append(again.ask(entry.analyst, text))
    assert in_order == said
    assert all(one.holds for one in replay(desk.config, desk.log, desk.columns))


def _ask_many(folder: str, seed: int, count: int) -> None:
    config = AuditConfig.load(Path(folder) / "audit.toml")
    desk = Desk(config, opened(f"sqlite:///{folder}/staff.db"))
    for text in texts(seed, count):
        desk.ask(f"p{seed}", text)


def test_nobody_decides_while_another_does(tmp_path: Path) -> None:
    """Two connections, as two processes have them: the second waits before it reads."""
    one, other = AuditLog(tmp_path / "log.db"), AuditLog(tmp_path / "log.db")
    order = []

    def second() -> None:
        with other.deciding():
            order.append(f"second sees {other.header()}")

    with ThreadPoolExecutor(1) as pool:
        with one.deciding():
            waiting = pool.submit(second)
            time.sleep(0.3)  # time enough to go wrong in
            one.begin({"a": "1"})
            order.append("first")
        waiting.result()
    assert order == ["first", "second sees {'a': '1'}"]


def test_concurrent_processes_share_one_log(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    spawn = multiprocessing.get_context("spawn")
    running = [spawn.Process(target=_ask_many, args=(str(tmp_path), seed, 10)) for seed in range(2)]
    for one in running:
        one.start()
    for one in running:
        one.join()
    assert [one.exitcode for one in running] == [0, 0]
    assert desk.log.verify() == 20
    assert all(one.holds for one in replay(desk.config, desk.log, desk.columns))


PROGRAM = """
import sys
from pathlib import Path
from privet.disclose.audit.config import AuditConfig
from privet.disclose.audit.database import opened
from privet.disclose.audit.desk import Desk
folder = Path(sys.argv[1])
desk = Desk(AuditConfig.load(folder / "audit.toml"), opened(f"sqlite:///{folder}/staff.db"))
print("ready", flush=True)
for line in sys.stdin:
    print(desk.ask("ann", line), flush=True)
"""


def killed(folder: Path, seed: int) -> None:
    """Kill -9 somewhere in the middle: what was said is in the log, and at most one entry more."""
    draw = random.Random(seed)
    before = len(list(AuditLog(folder / "audit.log.db").entries()))
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stdout.readline() == "ready\n"
        running.stdin.write("\n".join(texts(seed, 400)) + "\n")
        running.stdin.flush()
        time.sleep(draw.random() * 0.3)
        os.kill(running.pid, signal.SIGKILL)
        said = [
            line.strip() for line in running.stdout.read().splitlines(keepends=True) if line.endswith("\n")
        ]
    log = AuditLog(folder / "audit.log.db")
    log.verify()
    kept = [e.decision.answer for e in log.entries()][before:]
    for entry, text in zip(list(log.entries())[before:], said, strict=False):
        answer = entry.decision.answer
        shown = None if answer is None else (-answer if entry.column == "days" else answer)
        assert str(shown) == text
    assert len(said) <= len(kept) <= len(said) + 1


def test_kill_9_forgets_nothing_that_was_said(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    for seed in range(2):
        killed(tmp_path, seed)
    assert all(one.holds for one in replay(desk.config, desk.log, desk.columns))


@pytest.mark.slow
def test_kill_9_at_many_moments(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    for seed in range(40):
        killed(tmp_path, seed)
    assert all(one.holds for one in replay(desk.config, desk.log, desk.columns))


def test_a_failure_while_writing_is_not_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = desk_in(tmp_path)

    def full(*_: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(desk.log, "note", full)
    with pytest.raises(OSError, match="no space"):
        desk.ask("ann", "select sum(salary) from staff where dept = 'C'")
    monkeypatch.undo()
    assert not list(desk.log.entries())
    # Nothing was said, so this one is free to be answered.
    assert desk.ask("ann", "select sum(salary) from staff where dept = 'C' and age <> 30") is not None


def test_the_log_s_header_holds_no_value(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    assert str(CANARY) not in json.dumps(desk.log.header())
    assert isinstance(desk.source, Database)


def test_it_is_not_ready_while_its_witness_cannot_be_told(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    desk = desk_in(tmp_path)
    desk.witness = Witness(tmp_path / "disk/seen")
    desk.ask("ann", SUM_A)
    assert desk.standing() == "ready"
    shutil.rmtree(tmp_path / "disk")
    with pytest.raises(OSError, match="No such file"):
        desk.ask("ann", "select max(bonus) from staff where dept = 'B'")
    assert desk.standing() == "witness"
    (tmp_path / "disk").mkdir()
    assert desk.standing() == "ready"
    assert desk.witness.last() == desk.log.head()
