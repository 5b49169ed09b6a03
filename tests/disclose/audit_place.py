"""A small firm with a database, an audit.toml and a log, for tests of the desk and the gateway."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from privet.disclose.audit.config import AuditConfig
from privet.disclose.audit.database import opened
from privet.disclose.audit.desk import Desk

CONFIG = """audit = 1
table = "staff"
person = "id"
public = ["dept", "age"]
rate = 1000000

[columns.salary]
kind = "sum"
low = 0
high = 200000
width = 5000
grid = 1

[columns.bonus]
kind = "max"

[columns.days]
kind = "min"
"""
PEOPLE = 24
CANARY = 77_123  # somebody's salary


def rows() -> list[tuple[int, str, int, int, float, int]]:
    draw = random.Random(1)
    found = [
        (
            i,
            "ABC"[i % 3],
            20 + 2 * i,
            draw.randint(20, 90) * 1000 + i,
            draw.randint(1, 500) / 10,
            draw.randint(1, 30),
        )
        for i in range(PEOPLE)
    ]
    found[5] = (5, "C", 30, CANARY, 51.5, 3)
    return found


def firm(folder: Path) -> tuple[AuditConfig, str]:
    """Files in a folder: the configuration, and the database's URL."""
    with sqlite3.connect(folder / "staff.db") as db:
        db.execute(
            "create table staff (id integer, dept text, age integer, salary integer, "
            "bonus real, days integer)"
        )
        db.executemany("insert into staff values (?, ?, ?, ?, ?, ?)", rows())
    db.close()
    (folder / "audit.toml").write_text(CONFIG, encoding="utf-8")
    return AuditConfig.load(folder / "audit.toml"), f"sqlite:///{folder / 'staff.db'}"


def desk_in(folder: Path) -> Desk:
    config, url = firm(folder)
    return Desk(config, opened(url))


@contextmanager
def on_postgresql(url: str) -> Iterator[None]:
    """The same table in a database of a real server, for as long as it is needed."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as db:
        db.execute("drop table if exists staff")
        db.execute(
            "create table staff (id int, dept text, age int, salary numeric(9,2), bonus float8, days int)"
        )
        for row in rows():
            db.execute("insert into staff values (%s, %s, %s, %s, %s, %s)", row)
        yield
        db.execute("drop table staff")
