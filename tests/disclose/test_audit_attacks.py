"""Against the desk rather than the arithmetic: its files, its clock, its order, what its silence tells."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.disclose.audit_place import CONFIG, desk_in, firm, rows

from privet.disclose.audit.config import AuditConfig
from privet.disclose.audit.database import opened
from privet.disclose.audit.decision import Session
from privet.disclose.audit.desk import Answer, ChangedError, Desk
from privet.disclose.audit.exact import Column, exact, members_of
from privet.disclose.audit.maximum import MaxAuditor
from privet.disclose.audit.replay import replay
from privet.disclose.audit.summation import SumAuditor
from privet.errors import InputError, PolicyError, TamperedError
from privet.witness import Witness

ALL_C = "select sum(salary) from staff where dept = 'C'"
BUT_ONE = "select sum(salary) from staff where dept = 'C' and age <> 30"
MAX_B = "select max(bonus) from staff where dept = 'B'"


def again(desk: Desk) -> Desk:
    return Desk(desk.config, opened(f"sqlite:///{desk.source.place}"))


def written(tmp_path: Path, text: str) -> AuditConfig:
    (tmp_path / "audit.toml").write_text(text, encoding="utf-8")
    return AuditConfig.load(tmp_path / "audit.toml")


# The log: taken away, put back, cut.


def test_a_log_that_is_taken_away_is_missed_at_once(tmp_path: Path) -> None:
    """SQLite would go on writing into a file without a name, and all of it would be forgotten."""
    desk = desk_in(tmp_path)
    assert desk.ask("ann", ALL_C) is not None
    copy = tmp_path / "backup.db"
    with sqlite3.connect(copy) as db:
        desk.log._db.backup(db)
    desk.config.log.unlink()
    with pytest.raises(TamperedError, match="was taken away"):
        desk.ask("ann", BUT_ONE)
    shutil.copy(copy, desk.config.log)  # the same entries, and yet another file
    with pytest.raises(TamperedError, match="was taken away"):
        desk.ask("ann", BUT_ONE)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("delete from entry where number = 3", "entry 3 is not"),  # what it has heard
        (
            "delete from entry where number > 1; update header set value = '1' where name = 'entries'",
            "entry 3",
        ),
        ("update entry set chain = 'x' where number = 3", "entry 3 is not"),
        ("update header set value = '9' where name = 'entries'", "missing at the end"),
    ],
)
def test_a_log_that_is_cut_under_a_living_desk(tmp_path: Path, statement: str, words: str) -> None:
    desk = desk_in(tmp_path)
    for sql in (ALL_C, MAX_B, "select sum(salary) from staff"):
        desk.ask("ann", sql)
    with sqlite3.connect(desk.config.log) as db:
        db.executescript(statement)
    db.close()
    with pytest.raises(TamperedError, match=words):
        desk.ask("ann", BUT_ONE)


def test_a_changed_log_is_not_served_again(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    desk.ask("ann", ALL_C)
    desk.ask("ann", MAX_B)
    desk.close()
    with sqlite3.connect(desk.config.log) as db:
        db.execute("update entry set analyst = 'bob' where number = 1")
    db.close()
    with pytest.raises(TamperedError, match="entry 1 is not the one"):
        again(desk)


def test_a_log_of_another_version_is_not_continued(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    desk.close()
    with sqlite3.connect(desk.config.log) as db:
        db.execute("update header set value = '1' where name = 'form'")
    db.close()
    with pytest.raises(InputError, match="another version"):
        again(desk)


@pytest.fixture
def seen(tmp_path: Path) -> Desk:
    """A desk whose log has a witness, and a backup of that log from before the last answer."""
    _, url = firm(tmp_path)
    config = written(tmp_path, CONFIG.replace("rate =", 'witness = "seen"\nrate ='))
    desk = Desk(config, opened(url))
    desk.ask("ann", MAX_B)
    with sqlite3.connect(tmp_path / "backup.db") as db:
        desk.log._db.backup(db)
    db.close()
    assert desk.ask("ann", ALL_C) is not None
    return desk


def test_an_older_log_is_recognised_by_its_witness(seen: Desk, tmp_path: Path) -> None:
    assert seen.config.witness is not None
    assert [line.split()[0] for line in seen.config.witness.read_text().splitlines()] == ["1", "2"]
    again(seen).close()
    seen.close()
    for extra in ("", "-wal", "-shm"):
        Path(f"{seen.config.log}{extra}").unlink(missing_ok=True)
    shutil.copy(tmp_path / "backup.db", seen.config.log)  # whole in itself: it would answer the difference
    with pytest.raises(TamperedError, match="older than what its witness saw"):
        again(seen)
    from privet.disclose.audit.log import AuditLog

    with pytest.raises(TamperedError, match="older than what its witness saw"):
        replay(seen.config, AuditLog(seen.config.log))
    seen.config.log.unlink()
    with pytest.raises(TamperedError, match="a new log needs a new witness"):
        again(seen)


def test_without_a_witness_an_older_log_forgets(seen: Desk, tmp_path: Path) -> None:
    """What cannot be seen from the log alone: this is why there is a witness, and the page says so."""
    from dataclasses import replace

    seen.close()
    blind = replace(seen.config, witness=None, log=tmp_path / "backup.db")
    desk = Desk(blind, opened(f"sqlite:///{tmp_path / 'staff.db'}"))
    assert desk.ask("ann", BUT_ONE) is not None


def test_a_witness_that_is_gone_or_no_witness(seen: Desk) -> None:
    assert seen.config.witness is not None
    kept = seen.config.witness.read_bytes()
    seen.config.witness.write_bytes(kept + b"3 c0ffee")  # a crash while writing
    again(seen).close()
    seen.config.witness.write_bytes(b"\xff\x00 no witness\n")
    with pytest.raises(InputError, match="is not the witness"):
        again(seen)
    seen.config.witness.unlink()
    with pytest.raises(TamperedError, match="is gone"):
        again(seen)
    seen.config.witness.touch()  # the owner says so
    again(seen).close()


def test_a_reply_waits_for_the_witness(seen: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped between the decision and the reply: the log has it, nobody heard it, and it is asked again."""

    def full(*_: Any) -> None:
        raise OSError("no space left")

    text = "select sum(salary) from staff where dept = 'A'"
    monkeypatch.setattr(Witness, "note", full)
    with pytest.raises(OSError, match="no space"):
        seen.ask("ann", text)
    monkeypatch.undo()
    assert len(list(seen.log.entries())) == 3
    assert seen.ask("ann", text) == sum(row[3] for row in rows() if row[1] == "A")
    assert seen.ask("ann", BUT_ONE) is None  # nothing was forgotten on the way
    assert all(one.holds for one in replay(seen.config, seen.log, seen.columns))


# Time and order.


def test_a_clock_that_is_set_back_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from datetime import UTC, datetime, tzinfo

    from privet.disclose.audit import log

    class Back(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Back:
            return cls(1999, 1, 1, tzinfo=tz)

    desk = desk_in(tmp_path)
    assert desk.ask("ann", ALL_C) is not None
    monkeypatch.setattr(log, "datetime", Back)
    assert desk.ask("ann", BUT_ONE) is None
    assert [e.number for e in desk.log.entries()] == [1, 2]
    assert [e.at[:4] for e in desk.log.entries()] == [str(datetime.now(UTC).year), "1999"]
    assert again(desk).ask("bob", BUT_ONE) is None


def steps(desk: Desk, sql: str, monkeypatch: pytest.MonkeyPatch) -> tuple[Answer, list[str]]:
    """The way of one query, up to the reply."""
    walked: list[str] = []

    def watched(owner: Any, name: str, label: str) -> None:
        original: Callable[..., Any] = getattr(owner, name)

        def call(*given: Any, **more: Any) -> Any:
            walked.append(label)
            return original(*given, **more)

        monkeypatch.setattr(owner, name, call)

    for one in desk.columns.values():
        watched(one.auditor, "plan", "plan")
        watched(one.auditor, "true_answer", "truth")
        watched(one.auditor, "record", "record")
    watched(desk.log, "append", "append")
    watched(desk.log, "note", "note")
    watched(desk.source, "people", "people")
    try:
        return desk.ask("ann", sql), walked
    finally:
        monkeypatch.undo()


def test_an_answer_and_a_denial_take_the_same_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan is whole before anybody looks at the truth."""
    desk = desk_in(tmp_path)
    way = ["people", "plan", "truth", "append", "note", "record"]
    said = [steps(desk, sql, monkeypatch) for sql in (ALL_C, BUT_ONE, ALL_C, MAX_B)]
    assert [answer is None for answer, _ in said] == [False, True, False, False]
    assert [walked for _, walked in said] == [way] * 4


def test_what_is_decided_depends_on_what_was_said_and_on_nothing_else(tmp_path: Path) -> None:
    """Two firms with other secrets: as long as they are told the same, their plans are the same."""
    desks = []
    for at, change in enumerate(
        ("", "update staff set salary = salary + 40000 - 80000 * (id % 2) where id in (2, 5)")
    ):
        (tmp_path / str(at)).mkdir()
        config, url = firm(tmp_path / str(at))
        with sqlite3.connect(tmp_path / str(at) / "staff.db") as db:
            db.executescript(change)
        db.close()
        desks.append(Desk(config, opened(url)))
    one, other = desks
    for sql in (
        ALL_C,
        BUT_ONE,
        "select sum(salary) from staff",
        "select avg(salary) from staff where age > 40",
    ):
        assert one.explain(sql) == other.explain(sql)
        assert one.ask("ann", sql) == other.ask("ann", sql)


def test_counts_are_free_and_tell_what_is_public(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    with sqlite3.connect(tmp_path / "staff.db") as db:
        db.execute("update staff set salary = 20000, bonus = 1, days = 1")
    db.close()
    shutil.copy(tmp_path / "staff.db", tmp_path / "other.db")
    with pytest.raises(ChangedError):
        desk.ask("ann", "select count(*) from staff")
    config = AuditConfig.load(tmp_path / "audit.toml")
    from dataclasses import replace

    other = Desk(replace(config, log=tmp_path / "other.log"), opened(f"sqlite:///{tmp_path / 'other.db'}"))
    for sql in (
        "select count(*) from staff where age > 30",
        "select count(salary) from staff where dept = 'A'",
    ):
        assert other.ask("ann", sql) == sum(row[2] > 30 if "age" in sql else row[1] == "A" for row in rows())
    assert not list(other.log.entries())


# What everybody is taken to know must be so.


def test_values_off_the_grid_or_outside_the_bounds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a multiple of the grid"):
        Session([1, 2, Fraction(5, 2)], MaxAuditor(3, grid=1))
    Session([1, 2, Fraction(5, 2)], MaxAuditor(3, grid=Fraction(1, 2)))
    with pytest.raises(InputError, match="outside the public bounds"):
        Session([1, 2, 11], SumAuditor([0] * 3, [10] * 3))
    _, url = firm(tmp_path)
    config = written(tmp_path, CONFIG.replace('kind = "max"', 'kind = "max"\ngrid = 1'))
    with pytest.raises(InputError, match="bonus: somebody's value is not a multiple") as caught:
        Desk(config, opened(url))
    assert not any(str(row[4]) in str(caught.value) for row in rows())


def test_numbers_that_could_not_be_written_are_refused_before_anybody_asks() -> None:
    """Later, an answer that fails where another does not would tell which it is."""
    for value in (10**1000, "1e5000", "1e-5000", "1e999999999", Fraction(1, 3**2000)):
        with pytest.raises(InputError, match="too many digits"):
            exact(value)
    with pytest.raises(InputError, match="too many different denominators"):
        Column([Fraction(1, 3**1000), Fraction(1, 7**700), Fraction(1, 11**500)])
    with pytest.raises(InputError, match="1,000,000,000 widths apart"):
        SumAuditor([0, 0], [10, 10**12], width=1)
    assert Column([5e-324, 1.7e308]).max(members_of({1}, 2)) == exact("1.7e308")


def test_the_table_is_only_read_wherever_it_lies(tmp_path: Path) -> None:
    from urllib.parse import quote

    odd = tmp_path / "what? #1 100%"
    odd.mkdir()
    config, _ = firm(odd)
    source = opened(f"sqlite:///{quote(str(odd / 'staff.db'))}")
    assert Desk(config, source).ask("ann", ALL_C) is not None
    with pytest.raises(InputError, match="OperationalError"):
        source.fetch("delete from staff")
    assert not list(tmp_path.glob("what"))


# Everybody's own bounds.

OWN = CONFIG.replace("low = 0\nhigh = 200000", 'low = { column = "least" }\nhigh = { column = "most" }')
OWN = OWN.replace("grid = 1", "grid = 0")


def graded(tmp_path: Path, change: str = "") -> tuple[AuditConfig, str]:
    _, url = firm(tmp_path)
    with sqlite3.connect(tmp_path / "staff.db") as db:
        db.executescript(
            "alter table staff add column least real; alter table staff add column most real;"
            "update staff set least = 10000, most = 100000;"
            "update staff set most = 120000.5 where dept = 'B';" + change
        )
    db.close()
    return written(tmp_path, OWN), url


def test_everybody_has_bounds_of_their_own(tmp_path: Path) -> None:
    config, url = graded(tmp_path)
    desk = Desk(config, opened(url))
    auditor: Any = desk.columns["salary"].auditor
    expected = [Fraction("120000.5") if row[1] == "B" else Fraction(100_000) for row in rows()]
    assert list(auditor.high) == expected
    assert set(auditor.low) == {10_000}
    assert desk.ask("ann", ALL_C) == sum(row[3] for row in rows() if row[1] == "C")
    assert desk.ask("ann", BUT_ONE) is None
    assert desk.ask("ann", "select sum(salary) from staff where dept = 'B'") is not None
    assert all(one.holds for one in replay(config, desk.log))  # the log knows the bounds
    assert all(one.holds for one in replay(config, desk.log, desk.columns))
    desk._forget()
    assert desk.ask("ann", BUT_ONE) is None
    assert list(desk.columns["salary"].auditor.high) == expected  # type: ignore[attr-defined]
    desk.close()
    with sqlite3.connect(tmp_path / "staff.db") as db:
        db.execute("update staff set most = 130000 where dept = 'A'")
    db.close()
    with pytest.raises(ChangedError):  # they are a part of what everybody knows
        again(desk)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            "update staff set most = 11000 where id = 3",
            "salary: the bounds of 1 people are narrower than the",
        ),
        ("update staff set least = null where id = 3", "least: somebody's bound is not a number"),
        ("update staff set least = 'low' where id = 3", "least: somebody's bound is not a number"),
        (
            "update staff set most = 20000 where dept = 'C'",
            "salary: somebody's value lies outside the public",
        ),
        ("alter table staff drop column most", "staff has no column most"),
    ],
)
def test_bounds_that_cannot_be(tmp_path: Path, change: str, words: str) -> None:
    config, url = graded(tmp_path, change)
    with pytest.raises(InputError, match=words):
        Desk(config, opened(url))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("low = 0", 'low = { column = "bonus" }', "columns: bonus is audited, so it cannot be a bound"),
        ("low = 0", "low = { column = 3 }", 'or { column = "low" }, not'),
        ("low = 0", 'low = { columns = "x" }', 'or { column = "low" }, not'),
        ("width = 5000", 'width = { column = "x" }', 'such as 100 or "0.5", not'),
        ('public = ["dept", "age"]', 'public = ["dept", "Dept"]', "differ only in capitals"),
        ("rate =", "witness = 3\nrate =", "witness: is the name of a file"),
    ],
)
def test_a_configuration_that_cannot_be(tmp_path: Path, old: str, new: str, words: str) -> None:
    with pytest.raises(PolicyError) as caught:
        written(tmp_path, CONFIG.replace(old, new, 1))
    assert words in "\n".join(caught.value.complaints)


def test_a_line_that_a_kill_cut_off_costs_the_witness_nothing(tmp_path: Path) -> None:
    """The next line begins on a line of its own, and half a digest is not one that was seen."""
    witness = Witness(tmp_path / "seen")
    first, second = "a" * 64, "b" * 64
    witness.note(1, first)
    for cut in ("2", "2 ", "2 bbb"):
        with (tmp_path / "seen").open("a") as file:
            file.write(cut)
        assert witness.last() == (1, first)
        witness.note(1, first)
        assert witness.last() == (1, first)
    witness.note(2, second)
    assert witness.last() == (2, second)


def test_a_line_of_the_witness_is_on_the_disk_before_it_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Mutation testing found this unguarded: a power cut must not make a witness forget what it saw."""
    import os

    done: list[tuple[str, int]] = []
    for name in ("write", "fsync", "close"):
        really = getattr(os, name)

        def told(opened: int, *rest: object, name: str = name, really: Any = really) -> object:
            done.append((name, opened))
            return really(opened, *rest)

        monkeypatch.setattr(f"privet.witness.os.{name}", told)
    Witness(tmp_path / "seen").note(1, "a" * 64)
    (_, opened), *_ = done
    assert done == [("write", opened), ("fsync", opened), ("close", opened)]
