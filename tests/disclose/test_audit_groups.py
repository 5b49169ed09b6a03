"""GROUP BY, keys that end, and what is on disk before a reply."""

from __future__ import annotations

import os
import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.disclose.audit_place import CONFIG, desk_in, firm, rows

from privet.disclose.audit.config import AuditConfig
from privet.disclose.audit.database import opened
from privet.disclose.audit.desk import GROUPS, Desk, Grouped
from privet.disclose.audit.keys import Keys
from privet.disclose.audit.rate import RateLimit
from privet.disclose.audit.replay import replay
from privet.disclose.audit.sql import RefusedError
from privet.errors import InputError
from privet.witness import Witness

BY_DEPT = "select dept, sum(salary) from staff group by dept"


def told(desk: Desk, sql: str) -> dict[Any, Any]:
    said = desk.ask("ann", sql)
    assert isinstance(said, Grouped)
    return {tuple(value for _, value in by): answer for by, answer in said.groups}


def test_groups_are_several_queries(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    expected = {(dept,): sum(row[3] for row in rows() if row[1] == dept) for dept in "ABC"}
    assert told(desk, BY_DEPT) == expected
    assert list(told(desk, "select sum(salary), dept as d from staff group by dept")) == [
        ("A",),
        ("B",),
        ("C",),
    ]
    entries = list(desk.log.entries())
    assert len(entries) == 6  # a decision for each group
    assert all(one.holds for one in replay(desk.config, desk.log, desk.columns))
    assert told(desk, "select count(*) from staff where age < 30 group by dept") == {
        (dept,): sum(row[1] == dept and row[2] < 30 for row in rows())
        if sum(row[1] == dept and row[2] < 30 for row in rows()) >= 2
        else None
        for dept in "ABC"
    }


def test_groups_hear_of_each_other_and_of_what_was_said(tmp_path: Path) -> None:
    """All but one of a department, and then by departments: the difference stays unknown."""
    desk = desk_in(tmp_path)
    assert desk.ask("ann", "select sum(salary) from staff where dept = 'C' and age <> 30") is not None
    said = told(desk, BY_DEPT)
    assert said["C",] is None
    assert said["A",] is not None
    whole = desk.ask("bob", "select sum(salary) from staff where dept in ('C')")
    assert whole is None


def test_groups_by_two_columns_too_small_too_many_and_null(tmp_path: Path) -> None:
    config, url = firm(tmp_path)
    with sqlite3.connect(tmp_path / "staff.db") as db:
        db.execute("update staff set dept = null where id in (0, 3, 6)")
        db.execute("update staff set dept = '' where id in (1, 4, 7)")
    db.close()
    desk = Desk(config, opened(url))
    said = told(desk, "select max(bonus) from staff group by dept, age")
    assert len(said) == 24  # everybody alone: fewer than `smallest`
    assert set(said.values()) == {None}
    assert not list(desk.log.entries())
    by_dept = told(desk, "select max(bonus) from staff group by dept")
    assert set(by_dept) == {(None,), ("",), ("A",), ("B",), ("C",)}
    with pytest.raises(RefusedError, match="one group at a time"):
        desk.explain(BY_DEPT)
    with sqlite3.connect(tmp_path / "many.db") as db:
        db.execute("create table staff (id, dept, age, salary, bonus, days)")
        db.executemany(
            "insert into staff values (?, 'A', ?, 20000, 1.5, 3)",
            [(at, at // 2) for at in range(2 * GROUPS + 2)],
        )
    db.close()
    (tmp_path / "log").mkdir()
    text = CONFIG.replace("rate =", 'log = "log/many.db"\nrate =')
    (tmp_path / "many.toml").write_text(text, encoding="utf-8")
    many = Desk(AuditConfig.load(tmp_path / "many.toml"), opened(f"sqlite:///{tmp_path / 'many.db'}"))
    with pytest.raises(RefusedError, match="at most 100 groups"):
        many.ask("ann", "select max(bonus) from staff group by age")


def test_groups_are_decided_together_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = desk_in(tmp_path)
    append, count = desk.log.append, [0]

    def fails(*given: Any, **more: Any) -> Any:
        count[0] += 1
        if count[0] == 3:
            raise OSError("no space left")
        return append(*given, **more)

    monkeypatch.setattr(desk.log, "append", fails)
    with pytest.raises(OSError, match="no space"):
        desk.ask("ann", BY_DEPT)
    monkeypatch.undo()
    assert not list(desk.log.entries())  # none of the two before it
    assert None not in told(desk, BY_DEPT).values()


def test_groups_are_paid_for(tmp_path: Path) -> None:
    now = [0.0]
    limit = RateLimit(tmp_path / "rate", 60, clock=lambda: now[0])
    assert limit.wait("ann") == 0
    limit.charge("ann", 99)
    assert limit.wait("ann") == pytest.approx(41)
    assert limit.wait("bob") == 0
    now[0] = 41.5
    assert limit.wait("ann") == 0


# Sums of whole numbers, as the owner says it.


def test_whole_numbers_need_a_word_of_the_owner(tmp_path: Path) -> None:
    _, url = firm(tmp_path)
    path = tmp_path / "audit.toml"
    path.write_text(CONFIG.replace("grid = 1\n", ""), encoding="utf-8")
    with pytest.raises(InputError, match=r"salary: all values are whole numbers.*say grid = 1"):
        Desk(AuditConfig.load(path), opened(url))
    for grid in ("0", "1"):
        path.write_text(
            CONFIG.replace("grid = 1", f"grid = {grid}").replace("rate", f'log = "{grid}.db"\nrate'),
            encoding="utf-8",
        )
        desk = Desk(AuditConfig.load(path), opened(url))
        assert (desk.columns["salary"].auditor.grid or 0) == int(grid)  # type: ignore[attr-defined]


def test_replay_knows_the_grid_and_the_bound(tmp_path: Path) -> None:
    """Two logs with the same answers: on the grid, and above the bound, they give somebody away."""
    from fractions import Fraction

    from privet.disclose.audit.decision import Constraint, Decision

    _, url = firm(tmp_path)
    path = tmp_path / "audit.toml"
    path.write_text(CONFIG.replace('kind = "min"', 'kind = "min"\nhigh = 30\ngrid = 1'), encoding="utf-8")
    desk = Desk(AuditConfig.load(path), opened(url))
    everybody = desk.columns["days"].auditor.n
    import numpy as np

    top = Decision(Fraction(-30), Constraint("=", Fraction(-30)))  # nobody has fewer than 30 of 30 days
    with desk.log.deciding():
        desk.log.append("ann", "days", "x", members=np.arange(3), n=everybody, decision=top)
        desk.log.note("entries", "1")
    found = {one.column: one for one in replay(desk.config, desk.log)}
    assert any("no higher than the public lower bound" in line for line in found["days"].complaints)


# Keys.


def test_keys_end_and_rotate(tmp_path: Path) -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    keys = Keys(tmp_path / "keys.toml", clock=lambda: now[0])
    first = keys.issue("ann", days=10)
    assert keys.analyst(first) == "ann"
    second = keys.issue("ann", days=30, grace=3)
    assert keys.analyst(first) == keys.analyst(second) == "ann"
    assert keys.listed() == [("ann", [now[0] + timedelta(days=3), now[0] + timedelta(days=30)])]
    now[0] += timedelta(days=3)
    assert keys.analyst(first) is None
    assert keys.analyst(second) == "ann"
    third = keys.issue("ann", days=1)  # without a grace the older one ends at once
    assert (keys.analyst(second), keys.analyst(third)) == (None, "ann")
    now[0] += timedelta(days=1)
    assert keys.analyst(third) is None
    assert keys.listed() == []
    keys.issue("bob", days=1)
    assert "ann" not in (tmp_path / "keys.toml").read_text()  # what has ended is not kept
    for days, grace in ((0, 0), (5, 6), (4000, 0), (5, -1)):
        with pytest.raises(InputError, match="a key is good for"):
            keys.issue("ann", days=days, grace=grace)


def test_a_grace_never_prolongs_a_key(tmp_path: Path) -> None:
    now = [datetime(2026, 1, 1, tzinfo=UTC)]
    keys = Keys(tmp_path / "keys.toml", clock=lambda: now[0])
    first = keys.issue("ann", days=1)
    keys.issue("ann", days=90, grace=30)
    now[0] += timedelta(days=1)
    assert keys.analyst(first) is None


def test_keys_from_before_they_had_an_end(tmp_path: Path) -> None:
    from privet.disclose.audit.keys import digest

    path = tmp_path / "keys.toml"
    path.write_text(f'[analysts]\nann = "{digest("pva_x")}"\n', encoding="utf-8")
    keys = Keys(path)
    assert keys.analyst("pva_x") == "ann"
    assert keys.listed() == [("ann", [None])]
    keys.issue("ann", grace=1)
    assert keys.analyst("pva_x") == "ann"
    assert keys.listed()[0][1][0] is not None  # now it has one
    for text in (
        "[analysts]\nann = 3",
        "[analysts]\nann = [{}]",
        '[analysts]\nann = [{digest = "x", until = 3}]',
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match="not a file of keys"):
            Keys(path).analyst("x")


# On disk before it is said: what a mutation that drops a line would undo.


def test_the_witness_is_on_disk_before_the_reply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Written, then synced, the same file; and `ask` comes back after that."""
    _, url = firm(tmp_path)
    path = tmp_path / "audit.toml"
    path.write_text(CONFIG.replace("rate =", 'witness = "seen"\nrate ='), encoding="utf-8")
    desk = Desk(AuditConfig.load(path), opened(url))
    done: list[str] = []
    write, sync = os.write, os.fsync
    seen = tmp_path / "seen"

    def same(opened_: int) -> bool:
        return os.fstat(opened_).st_ino == seen.stat().st_ino

    def writes(opened_: int, data: bytes) -> int:
        if same(opened_):
            done.append("write")
        return write(opened_, data)

    def syncs(opened_: int) -> None:
        if same(opened_):
            assert seen.read_bytes().endswith(b"\n")  # what is synced is what was written
            done.append("fsync")
        sync(opened_)

    monkeypatch.setattr(os, "write", writes)
    monkeypatch.setattr(os, "fsync", syncs)
    assert desk.ask("ann", "select max(bonus) from staff") is not None
    assert done == ["write", "fsync"]


def test_a_witness_that_cannot_be_synced_stops_the_reply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    witness = Witness(tmp_path / "seen")

    def fails(_: int) -> None:
        raise OSError("input/output error")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(OSError, match="input/output"):
        witness.note(1, "abc")


def test_the_log_is_synced_at_every_decision(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    assert desk.log._db.execute("pragma synchronous").fetchone() == (2,)  # FULL
    assert desk.log._db.execute("pragma journal_mode").fetchone() == ("wal",)
