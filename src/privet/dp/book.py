"""The ledger's file: an SQLite database that only grows.

Triggers refuse to change or delete a line, and to replace one by inserting it again; what is written is what
a later reader finds. A commit is on the disk when it returns (`synchronous = EXTRA`: the directory too, so
that a power cut cannot bring a finished transaction's journal back). The journal is the plain
rollback one and not a write-ahead log, so that the ledger is a single file that can be copied and may lie
on a shared folder with working locks.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from privet.errors import InputError

APPLICATION = 0x70726976  # "priv", in the header of the file: this is a ledger of privet
VERSION = 1
PATIENCE = 60.0  # seconds that a writer waits for the others

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
_FOREIGN = "not a ledger of privet; name the ledger, or a file that is not there yet"
_DAMAGED = (
    "this ledger is damaged; restore it from a copy. "
    "Do not begin a new one for the same data: what was spent would be forgotten"
)
_COMPLAINTS = {
    sqlite3.SQLITE_BUSY: "another process keeps this ledger locked; try again when it is done",
    sqlite3.SQLITE_CANTOPEN: "no such ledger, or it may not be opened",
    sqlite3.SQLITE_READONLY: "this ledger may not be written here",
    sqlite3.SQLITE_FULL: "no room on the disk; nothing was spent",
    sqlite3.SQLITE_IOERR: "the disk fails; look at the ledger again before anything is released",
    sqlite3.SQLITE_NOTADB: _FOREIGN,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
}
_NAMED = ("reservations", "releases")


def _schema() -> Iterator[str]:
    for table, columns in _TABLES.items():
        yield f"CREATE TABLE {table} ({columns})"
        for change in ("UPDATE", "DELETE"):
            yield (
                f"CREATE TRIGGER {table}_no_{change.lower()} BEFORE {change} ON {table} "
                "BEGIN SELECT RAISE(ABORT, 'a ledger is never changed'); END"
            )
        # INSERT OR REPLACE deletes without asking the delete trigger, so it is stopped before it starts.
        same = "number = NEW.number" + (" OR release = NEW.release" if table in _NAMED else "")
        there = f"SELECT 1 FROM {table} WHERE {same}"  # noqa: S608  (names of our own tables)
        yield (
            f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} "
            f"WHEN EXISTS ({there}) "
            "BEGIN SELECT RAISE(ABORT, 'a ledger is never changed'); END"
        )


class Book:
    """Opens the file for one transaction at a time, and knows whether it is ours."""

    def __init__(self, path: Path, *, create: bool) -> None:
        self._path = path
        if create and not path.exists():
            self._touch()
        elif not path.is_file():
            raise self._wrong("no such ledger")
        with self._connect() as db:
            if create and self._is_new(db):
                db.execute("BEGIN IMMEDIATE")
                if self._is_new(db):  # nobody was quicker
                    self._start(db)
                db.execute("COMMIT")
            self._check(db)
            if [row[0] for row in db.execute("PRAGMA quick_check")] != ["ok"]:
                raise self._wrong(_DAMAGED)

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One durable transaction; nobody else writes meanwhile. All of it is kept, or nothing."""
        with self._connect() as db:
            db.execute("BEGIN IMMEDIATE")
            self._check(db)
            yield db
            db.execute("COMMIT")

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """One consistent view."""
        with self._connect() as db:
            db.execute("BEGIN")
            self._check(db)
            yield db

    def key(self) -> bytes:
        with self.read() as db:
            return bytes(db.execute("SELECT key FROM secret").fetchone()[0])

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        """A connection to the file that must be there: a ledger that vanished is not silently begun anew."""
        try:
            uri = f"{self._path.absolute().as_uri()}?mode=rw"
            with closing(sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)) as db:
                db.execute("PRAGMA synchronous = EXTRA")
                db.execute("PRAGMA foreign_keys = ON")
                yield db
        except sqlite3.Error as error:
            complaint = _COMPLAINTS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF)
            if complaint is None:
                raise
            raise self._wrong(complaint) from None

    def _touch(self) -> None:
        """An empty file that only its owner may read: the secret key is nobody else's business."""
        try:
            os.close(os.open(self._path, os.O_CREAT | os.O_WRONLY, 0o600))
        except FileNotFoundError:
            raise self._wrong("there is no folder to put this ledger into") from None

    def _start(self, db: sqlite3.Connection) -> None:
        for statement in _schema():
            db.execute(statement)
        db.execute("INSERT INTO secret (number, key) VALUES (1, ?)", (secrets.token_bytes(32),))
        db.execute(f"PRAGMA application_id = {APPLICATION}")
        db.execute(f"PRAGMA user_version = {VERSION}")

    @staticmethod
    def _is_new(db: sqlite3.Connection) -> bool:
        return not _pragma(db, "application_id") and not _count(db)

    def _check(self, db: sqlite3.Connection) -> None:
        if _pragma(db, "application_id") != APPLICATION:
            raise self._wrong(_FOREIGN)
        if _pragma(db, "user_version") != VERSION:
            raise self._wrong("a ledger of another version of privet; use that version")

    def _wrong(self, complaint: str) -> InputError:
        return InputError(f"{self._path.name}: {complaint}")


def _pragma(db: sqlite3.Connection, name: str) -> int:
    return int(db.execute(f"PRAGMA {name}").fetchone()[0])


def _count(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
