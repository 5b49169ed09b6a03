"""A database on a server: pages show it as it was looked at, say when, and look again when they are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.engines.postgres import server
from tests.studio.house import open_house

pytestmark = pytest.mark.services


def test_a_table_that_changes_is_seen_when_somebody_looks_again(tmp_path: Path) -> None:
    psycopg = pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    statements = (
        "create table people (age int, ill text)",
        "insert into people select 30 + i % 2, 'ill ' || i % 3 from generate_series(1, 60) i",
    )
    with server(*statements) as url:
        house = open_house(None, tmp_path / "work")
        asked = {"url": url, "query": "select * from people"}
        assert house.opened("/open/database", asked).status_code == 303
        house.done("/columns/role", {"column": "age", "role": "quasi"})
        house.done("/columns/role", {"column": "ill", "role": "sensitive"})
        with psycopg.connect(url) as connection:
            connection.execute("insert into people values (99, 'a rare one')")
        first = house.page("/columns")
        assert "60 records" in first
        assert "The database as it was at" in first
        assert house.done("/open/look", {"here": "columns"}) == "/columns"
        again = house.page("/columns")
        assert "61 records" in again
        assert "a rare one" in again
        live = house.post("/promise/live", {"type": "k-anonymity", "k": "5"}).json()["text"]
        assert live.startswith("Today 1 records would have to change.")
        for path in (tmp_path / "work").rglob("*"):
            assert not path.is_file() or b"hush-hush" not in path.read_bytes()
