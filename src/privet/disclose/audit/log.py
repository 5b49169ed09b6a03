"""The durable log: every decision of every analyst, in one order, on disk before it is said.

A SQLite file with synchronous FULL. Whoever decides holds its write lock from before the log is read until
the decision is committed, so that there is one decision at a time among all threads and processes. Each
entry carries the digest of the one before it: a log that lost or changed an entry is recognised, and so is
another file in its place. An older copy of the whole file looks like a log that is just shorter: only a
witness elsewhere knows better (`witness`).

The log is a secret of the owner: it holds answers, and on which side a denied truth lies.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock

import numpy as np

from privet.disclose.audit.decision import Constraint, Decision
from privet.disclose.audit.exact import Members, written
from privet.errors import InputError, TamperedError
from privet.hierarchy.numbers import fraction
from privet.witness import linked

FORM = 3  # of the log and of the plans that it follows from: other plans, other form
PATIENCE = 60.0  # seconds to wait for others' decisions
SCHEMA = (
    "create table if not exists header (name text primary key, value text not null) strict",
    """create table if not exists entry (
        number integer primary key, at text not null, analyst text not null, audited text not null,
        query text not null, members blob not null, decision text not null, chain text not null) strict""",
)


@dataclass(frozen=True)
class Entry:
    """One decision, as it was taken."""

    number: int
    at: str
    analyst: str
    column: str
    query: str
    members: Members
    n: int  # of how many people
    decision: Decision
    chain: str


class AuditLog:
    """The file, shared by everybody who decides about one table."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = RLock()
        fresh = not self.path.exists()
        try:
            if fresh:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
            self._db = sqlite3.connect(
                self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False
            )
            self._file = self._there()
            self._db.execute("pragma journal_mode = wal")
            self._db.execute("pragma synchronous = full")
            with self.deciding():
                for statement in SCHEMA:
                    self._db.execute(statement)
        except sqlite3.DatabaseError as error:
            raise InputError(f"{self.path}: is not an audit log ({error.sqlite_errorname})") from None

    def close(self) -> None:
        self._db.close()

    @contextmanager
    def deciding(self) -> Iterator[None]:
        """Alone with the log, among all threads and processes; kept if nothing was raised."""
        with self._lock:
            try:
                self._db.execute("begin immediate")
            except sqlite3.OperationalError:
                raise InputError(f"{self.path}: others are deciding for too long; try again") from None
            try:
                self._still_there()
                yield
            except BaseException:
                self._db.execute("rollback")
                raise
            self._db.execute("commit")  # on disk when this returns

    def _still_there(self) -> None:
        # Deleted or replaced, it would go on as a file without a name, and be forgotten with us.
        if self._there() != self._file:
            raise TamperedError(f"{self.path}: this log was taken away; nothing is answered without it")

    def stands(self, number: int, chain: str) -> bool:
        """Is this still the file, and does it still have what was heard of it?"""
        try:
            return self._there() == self._file and self.chain_at(number) == chain
        except sqlite3.Error:
            return False

    def _there(self) -> tuple[int, int] | None:
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def header(self) -> dict[str, str]:
        return dict(self._db.execute("select name, value from header").fetchall())

    def begin(self, header: dict[str, str]) -> None:
        """Write down what this log is about; inside `deciding`."""
        self._db.executemany("insert into header values (?, ?)", sorted(header.items()))

    def note(self, name: str, value: str) -> None:
        self._db.execute("insert or replace into header values (?, ?)", (name, value))

    def append(
        self, analyst: str, column: str, query: str, *, members: Members, n: int, decision: Decision
    ) -> tuple[int, str]:
        """The next entry: its number and its digest; inside `deciding`."""
        last, before = self.head()
        number = last + 1
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        packed, said = _packed(members, n), _said(decision)
        chain = linked(before, number, at, analyst, column, query, packed, said)
        self._db.execute(
            "insert into entry values (?, ?, ?, ?, ?, ?, ?, ?)",
            (number, at, analyst, column, query, packed, said, chain),
        )
        return number, chain

    def head(self) -> tuple[int, str]:
        """The number and the digest of the last entry; 0 for none."""
        row = self._db.execute("select number, chain from entry order by number desc limit 1").fetchone()
        return (int(row[0]), str(row[1])) if row else (0, "")

    def chain_at(self, number: int) -> str | None:
        """The digest that an entry ends the log with; None where there is no such entry."""
        if number == 0:
            return ""
        row = self._db.execute("select chain from entry where number = ?", (number,)).fetchone()
        return None if row is None else str(row[0])

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """In order, from the one after that number; an error where one was lost or changed."""
        before, expected = self.chain_at(after), after
        rows = self._db.execute(
            "select number, at, analyst, audited, query, members, decision, chain from entry "
            "where number > ? order by number",
            (after,),
        )
        for row in rows:
            expected += 1
            if before is None or row[0] != expected or row[7] != linked(before, *row[:7]):
                raise TamperedError(f"{self.path}: entry {expected} is not the one that was written")
            number, at, analyst, column, query, packed, said, before = row
            members, n = _unpacked(packed)
            yield Entry(number, at, analyst, column, query, members, n, _heard(said), before)
        if str(expected) != self.header().get("entries", str(expected)):
            raise TamperedError(f"{self.path}: entries are missing at the end")

    def verify(self) -> int:
        """How many entries there are; an error where one was lost or changed."""
        return sum(1 for _ in self.entries())


def _packed(members: Members, n: int) -> bytes:
    mask = np.zeros(n, dtype=bool)
    mask[members] = True
    return n.to_bytes(8, "big") + zlib.compress(np.packbits(mask).tobytes(), 1)


def _unpacked(packed: bytes) -> tuple[Members, int]:
    n = int.from_bytes(packed[:8], "big")
    bits = np.frombuffer(zlib.decompress(packed[8:]), dtype=np.uint8)
    return np.nonzero(np.unpackbits(bits, count=n))[0], n


def _said(decision: Decision) -> str:
    made = decision.constraint
    return json.dumps(
        {
            "answer": None if decision.answer is None else written(decision.answer),
            "relation": None if made is None else made.relation,
            "value": None if made is None else written(made.value),
            "off": decision.off,
        }
    )


def _heard(said: str) -> Decision:
    read = json.loads(said)
    made = None if read["relation"] is None else Constraint(read["relation"], fraction(read["value"]))
    return Decision(None if read["answer"] is None else fraction(read["answer"]), made, bool(read["off"]))
