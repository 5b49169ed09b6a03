"""A ledger in one file: an SQLite database that only grows.

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

from privet.dp.store import FORM, PATIENCE, Header, Line
from privet.errors import InputError, TamperedError

APPLICATION = 0x70726976  # "priv", in the header of the file: this is a ledger of privet

TABLES = {
    "header": "number INTEGER PRIMARY KEY CHECK (number = 1), id TEXT NOT NULL, key BLOB NOT NULL",
    "entries": "number INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL, "
    "chain TEXT NOT NULL",
}
HEAD = "only INTEGER PRIMARY KEY CHECK (only = 1), number INTEGER NOT NULL, chain TEXT NOT NULL"
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
    sqlite3.SQLITE_ERROR: _DAMAGED,  # a table that is not there, or not as we made it
    sqlite3.SQLITE_CONSTRAINT: _DAMAGED,
    sqlite3.SQLITE_SCHEMA: _DAMAGED,
    sqlite3.SQLITE_MISMATCH: _DAMAGED,
}


def schema() -> Iterator[str]:
    """The tables, and triggers that keep what is written."""
    refuse = "BEGIN SELECT RAISE(ABORT, 'a ledger is never changed'); END"
    for table, columns in TABLES.items():
        yield f"CREATE TABLE {table} ({columns})"
        for change in ("UPDATE", "DELETE"):
            yield f"CREATE TRIGGER {table}_no_{change.lower()} BEFORE {change} ON {table} {refuse}"
        # INSERT OR REPLACE deletes without asking the delete trigger, so it is stopped before it starts.
        there = f"NEW.number IN (SELECT number FROM {table})"  # noqa: S608  (names of our own tables)
        yield f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} WHEN {there} {refuse}"
    yield f"CREATE TABLE head ({HEAD})"
    yield f"CREATE TRIGGER head_no_delete BEFORE DELETE ON head {refuse}"
    yield f"CREATE TRIGGER head_goes_on BEFORE UPDATE ON head WHEN NEW.number <> OLD.number + 1 {refuse}"
    there = "EXISTS (SELECT 1 FROM head)"
    yield f"CREATE TRIGGER head_no_replace BEFORE INSERT ON head WHEN {there} {refuse}"


class SqlitePage:
    """The ledger inside one transaction."""

    def __init__(self, db: sqlite3.Connection, place: str) -> None:
        self._db = db
        self._place = place

    def header(self) -> Header:
        rows = self._db.execute("SELECT id, key FROM header").fetchall()
        if len(rows) != 1 or type(rows[0][0]) is not str or type(rows[0][1]) is not bytes:
            raise TamperedError(f"{self._place}: the ledger has not one header, as it was made")
        return Header(*rows[0])

    def head(self) -> tuple[int, str]:
        rows = self._db.execute("SELECT number, chain FROM head").fetchall()
        if len(rows) != 1 or type(rows[0][0]) is not int or type(rows[0][1]) is not str:
            raise TamperedError(f"{self._place}: the ledger has not one head, as it was made")
        number, chain = rows[0]
        return number, chain

    def lines(self) -> list[Line]:
        # No name for the cursor: a refusal keeps names alive, and a half-read cursor the lock on the file.
        lines = "SELECT number, at, kind, body, chain FROM entries ORDER BY number"
        return [Line(*row) for row in self._db.execute(lines).fetchall()]

    def append(self, line: Line) -> None:
        self._db.execute(
            "INSERT INTO entries (number, at, kind, body, chain) VALUES (?,?,?,?,?)",
            (line.number, line.at, line.kind, line.body, line.chain),
        )
        self._db.execute("UPDATE head SET number = ?, chain = ?", (line.number, line.chain))

    def begin(self, key: bytes | None = None) -> None:
        """Make the tables of a ledger that has no line yet."""
        for statement in schema():
            self._db.execute(statement)
        header = Header(secrets.token_hex(16), key or secrets.token_bytes(32))
        self._db.execute("INSERT INTO header (number, id, key) VALUES (1, ?, ?)", (header.id, header.key))
        self._db.execute("INSERT INTO head (only, number, chain) VALUES (1, 0, ?)", (header.root,))
        self._db.execute(f"PRAGMA application_id = {APPLICATION}")
        self._db.execute(f"PRAGMA user_version = {FORM}")


class SqliteStore:
    """Opens the file for one transaction at a time, and knows whether it is ours."""

    def __init__(self, path: Path, *, create: bool, form: int = FORM) -> None:
        self.path = path
        self._form = form
        if create and not path.exists():
            self._touch()
        elif not path.is_file():
            raise self.wrong("no such ledger")
        with self.connect() as db:
            if create and self._is_new(db):
                db.execute("BEGIN IMMEDIATE")
                if self._is_new(db):  # nobody was quicker
                    SqlitePage(db, path.name).begin()
                db.execute("COMMIT")
            self.check(db)
            if [row[0] for row in db.execute("PRAGMA quick_check")] != ["ok"]:
                raise self.wrong(_DAMAGED)

    @property
    def place(self) -> str:
        return str(self.path)

    @contextmanager
    def write(self) -> Iterator[SqlitePage]:
        with self.connect() as db:
            db.execute("BEGIN IMMEDIATE")
            self.check(db)
            yield SqlitePage(db, self.path.name)
            db.execute("COMMIT")

    @contextmanager
    def read(self) -> Iterator[SqlitePage]:
        with self.connect() as db:
            db.execute("BEGIN")
            self.check(db)
            yield SqlitePage(db, self.path.name)

    @contextmanager
    def connect(self) -> Iterator[sqlite3.Connection]:
        """A connection to the file that must be there: a ledger that vanished is not silently begun anew."""
        try:
            uri = f"{self.path.absolute().as_uri()}?mode=rw"
            with closing(sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None)) as db:
                db.execute("PRAGMA synchronous = EXTRA")
                db.execute("PRAGMA trusted_schema = OFF")  # what somebody put into the file is not run
                yield db
        except sqlite3.Error as error:
            complaint = _COMPLAINTS.get(getattr(error, "sqlite_errorcode", 0) & 0xFF, _DAMAGED)
            raise self.wrong(complaint) from None
        except UnicodeDecodeError:
            raise self.wrong(_DAMAGED) from None

    def wrong(self, complaint: str) -> InputError:
        return InputError(f"{self.path.name}: {complaint}")

    def _touch(self) -> None:
        """An empty file that only its owner may read: the secret key is nobody else's business."""
        try:
            os.close(os.open(self.path, os.O_CREAT | os.O_WRONLY, 0o600))
        except FileNotFoundError:
            raise self.wrong("there is no folder to put this ledger into") from None

    @staticmethod
    def _is_new(db: sqlite3.Connection) -> bool:
        return not pragma(db, "application_id") and not _count(db)

    def check(self, db: sqlite3.Connection) -> None:
        """Refuse what is not a ledger of this form."""
        if pragma(db, "application_id") != APPLICATION:
            raise self.wrong(_FOREIGN)
        found = pragma(db, "user_version")
        if found == self._form:
            return
        if found == 1:
            raise self.wrong(
                "this ledger has the form of an earlier privet, whose entries are not chained; "
                f"nothing is lost: privet ledger upgrade {self.path}"
            )
        raise self.wrong("a ledger of another version of privet; use that version")


def pragma(db: sqlite3.Connection, name: str) -> int:
    """A number in the header of the file."""
    return int(db.execute(f"PRAGMA {name}").fetchone()[0])


def _count(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
