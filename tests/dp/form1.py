"""A ledger as privet wrote it before entries were chained (form 1), for tests of the upgrade."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

KEY = bytes(range(32))
_TABLES = {
    "budgets": "number INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, dataset TEXT NOT NULL, "
    "epsilon TEXT NOT NULL, reason TEXT NOT NULL",
    "reservations": "number INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, "
    "release TEXT NOT NULL UNIQUE, dataset TEXT NOT NULL, purpose TEXT NOT NULL, "
    "epsilon TEXT NOT NULL, per_person INTEGER NOT NULL CHECK (per_person > 0), source TEXT NOT NULL",
    "spends": "number INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, "
    "release TEXT NOT NULL REFERENCES reservations (release), purpose TEXT NOT NULL, "
    "mechanism TEXT NOT NULL, epsilon TEXT NOT NULL, parallel TEXT",
    "releases": "number INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, "
    "release TEXT NOT NULL UNIQUE REFERENCES reservations (release), digest TEXT NOT NULL",
    "secret": "number INTEGER PRIMARY KEY CHECK (number = 1), key BLOB NOT NULL",
}
LINES = [
    ("budgets", "2026-01-01T10:00:00+00:00", "ward", "1", "opened"),
    ("reservations", "2026-01-02T10:00:00+00:00", "spring", "ward", "for the office", "1/2", 1, "exact 1"),
    ("spends", "2026-01-02T10:00:01+00:00", "spring", "choose", "exponential", "1/4", None),
    ("spends", "2026-01-02T09:59:00+00:00", "spring", "counts", "laplace", "1/4", "g"),  # the clock went back
    ("releases", "2026-01-02T10:00:02+00:00", "spring", "sha256:abc"),
    ("budgets", "2026-02-01T10:00:00+00:00", "ward", "2", "the board"),
    ("reservations", "2026-02-02T10:00:00+00:00", "summer", "ward", "again", "1/4", 4, "exact 1"),
]


def write(path: Path, lines: Iterable[tuple[object, ...]] = LINES) -> None:
    db = sqlite3.connect(path)
    for table, columns in _TABLES.items():
        db.execute(f"CREATE TABLE {table} ({columns})")
        for change in ("UPDATE", "DELETE"):
            db.execute(
                f"CREATE TRIGGER {table}_no_{change.lower()} BEFORE {change} ON {table} "
                "BEGIN SELECT RAISE(ABORT, 'a ledger is never changed'); END"
            )
    db.execute("INSERT INTO secret (number, key) VALUES (1, ?)", (KEY,))
    for name, *values in lines:
        marks = ",".join("?" * len(values))
        db.execute(f"INSERT INTO {name} VALUES (NULL,{marks})", values)
    db.execute(f"PRAGMA application_id = {0x70726976}")
    db.execute("PRAGMA user_version = 1")
    db.commit()
    db.close()
