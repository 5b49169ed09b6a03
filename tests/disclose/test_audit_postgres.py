"""Auditing a table of a real PostgreSQL server, of this machine's own binaries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.disclose.audit_place import CANARY, firm, on_postgresql, rows
from tests.engines.test_postgres import url as server

from privet.disclose.audit.database import opened
from privet.disclose.audit.desk import ChangedError, Desk
from privet.disclose.audit.replay import replay
from privet.disclose.audit.sql import RefusedError
from privet.errors import InputError

pytestmark = pytest.mark.services
url = server  # the fixture, under its own name


@pytest.fixture
def table(url: str) -> Iterator[str]:
    with on_postgresql(url):
        yield url


def test_it_is_audited(table: str, tmp_path: Path) -> None:
    import psycopg

    config, _ = firm(tmp_path)
    desk = Desk(config, opened(table))
    total = sum(row[3] for row in rows() if row[1] == "C")
    assert desk.ask("ann", "select sum(salary) from staff where dept = 'C'") == total
    assert (
        desk.ask("bob", "select avg(salary) from staff where dept in ('C') and not age between 30 and 30")
        is None
    )
    assert desk.ask("bob", "select max(bonus) from staff where age > 30.5 or dept is null") is not None
    for sql in (
        "select sum(salary) from staff where age = 'old'",
        "select sum(salary) from staff where dept = 3",
    ):
        with pytest.raises(RefusedError, match="cannot compare") as caught:
            desk.ask("ann", sql)
        assert str(CANARY) not in str(caught.value)
    assert all(one.holds for one in replay(config, desk.log, desk.columns))
    with psycopg.connect(table, autocommit=True) as db:
        db.execute("create table elsewhere (x int)")  # something else was written: looked at, and fine
        assert desk.ask("ann", "select sum(salary) from staff where dept = 'C'") == total
        db.execute("drop table elsewhere")
        db.execute("update staff set salary = salary + 1 where dept = 'A'")
        with pytest.raises(ChangedError):
            desk.ask("ann", "select sum(salary) from staff where dept = 'C'")
        db.execute("update staff set salary = salary - 1 where dept = 'A'")
    assert desk.ask("ann", "select sum(salary) from staff where dept = 'C'") == total
    desk.close()


def test_a_lost_connection_is_opened_again(table: str, tmp_path: Path) -> None:
    import psycopg

    config, _ = firm(tmp_path)
    desk = Desk(config, opened(table))
    with psycopg.connect(table, autocommit=True) as db:
        theirs = desk.source.fetch("select pg_backend_pid()")[0]
        db.execute("select pg_terminate_backend(%s)", theirs)
    assert desk.ask("ann", "select sum(salary) from staff") == sum(row[3] for row in rows())
    desk.close()


def test_nothing_can_be_written(table: str) -> None:
    source = opened(table)
    with pytest.raises(InputError, match="SQLSTATE 25006"):  # read-only transaction
        source.fetch("delete from staff returning id")
    source.close()


def test_no_server_is_said_without_the_password() -> None:
    with pytest.raises(InputError, match="no connection") as caught:
        opened("postgresql://steward:hush-hush@127.0.0.1:1/postgres")
    assert "hush-hush" not in str(caught.value)
