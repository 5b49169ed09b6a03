"""A ledger in a PostgreSQL database, so that a department shares one budget.

The tables lie in a schema of their own, `privet_ledger`. A writer locks the head against all other writers
before it reads the lines, so what it adds up is what it adds to; readers see one consistent view. A commit
is on the server's disk when it returns (`synchronous_commit = on`, asked for each time). Triggers refuse to
change, delete or truncate; the database's owner can take them away, and then the chain and a witness tell.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from privet.dp.store import FORM, PATIENCE, Header, Line
from privet.errors import InputError, MissingExtraError, TamperedError

SCHEMA = "privet_ledger"
_FOREIGN_VERSION = "a ledger of another version of privet; use that version"


def _statements() -> Iterator[str]:
    yield f"CREATE SCHEMA {SCHEMA}"
    yield (
        "CREATE TABLE header (number integer PRIMARY KEY CHECK (number = 1), form integer NOT NULL, "
        "id text NOT NULL, key bytea NOT NULL)"
    )
    yield (
        "CREATE TABLE entries (number bigint PRIMARY KEY, at text NOT NULL, kind text NOT NULL, "
        "body text NOT NULL, chain text NOT NULL)"
    )
    yield (
        "CREATE TABLE head (line integer PRIMARY KEY CHECK (line = 1), number bigint NOT NULL, "
        "chain text NOT NULL)"
    )
    yield (
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RAISE EXCEPTION 'a ledger is never changed'; END $$"
    )
    for table in ("header", "entries"):
        yield (
            f"CREATE TRIGGER {table}_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION refuse()"
        )
    yield (
        "CREATE TRIGGER head_kept BEFORE DELETE OR TRUNCATE ON head "
        "FOR EACH STATEMENT EXECUTE FUNCTION refuse()"
    )
    yield (
        "CREATE TRIGGER head_goes_on BEFORE UPDATE ON head FOR EACH ROW "
        "WHEN (NEW.number <> OLD.number + 1) EXECUTE FUNCTION refuse()"
    )


class PostgresPage:
    """The ledger inside one transaction."""

    def __init__(self, db: Any, place: str) -> None:
        self._db = db
        self._place = place

    def header(self) -> Header:
        rows = self._all("SELECT id, key FROM header")
        if len(rows) != 1:
            raise TamperedError(f"{self._place}: the ledger has not one header, as it was made")
        return Header(rows[0][0], bytes(rows[0][1]))

    def head(self) -> tuple[int, str]:
        rows = self._all("SELECT number, chain FROM head")
        if len(rows) != 1:
            raise TamperedError(f"{self._place}: the ledger has not one head, as it was made")
        return rows[0][0], rows[0][1]

    def lines(self) -> list[Line]:
        rows = self._all("SELECT number, at, kind, body, chain FROM entries ORDER BY number")
        return [Line(*row) for row in rows]

    def append(self, line: Line) -> None:
        self._db.execute(
            "INSERT INTO entries (number, at, kind, body, chain) VALUES (%s,%s,%s,%s,%s)",
            (line.number, line.at, line.kind, line.body, line.chain),
        )
        self._db.execute("UPDATE head SET number = %s, chain = %s", (line.number, line.chain))

    def _all(self, query: str) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = self._db.execute(query).fetchall()
        return rows


class PostgresStore:
    """Connects for one transaction at a time."""

    path: Path | None = None  # it is not a file

    def __init__(self, url: str, *, create: bool) -> None:
        self._url = url
        with self._connect() as db:
            if not self._form(db):
                if not create:
                    raise InputError(f"{self.place}: no such ledger; privet ledger open makes it")
                self._begin(db)
            if self._form(db) != FORM:
                raise InputError(f"{self.place}: {_FOREIGN_VERSION}")

    @property
    def place(self) -> str:
        parts = urlsplit(self._url)
        port = f":{parts.port}" if parts.port else ""
        return f"postgresql://{parts.hostname or 'localhost'}{port}{parts.path}"

    @contextmanager
    def write(self) -> Iterator[PostgresPage]:
        with self._connect() as db, db.transaction():
            # Nobody else writes, and nobody reads to write, until this is committed: who wants to waits here.
            db.execute("SELECT number FROM head FOR UPDATE")
            yield PostgresPage(db, self.place)

    @contextmanager
    def read(self) -> Iterator[PostgresPage]:
        with self._connect() as db, db.transaction():
            db.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield PostgresPage(db, self.place)

    def _begin(self, db: Any) -> None:
        with db.transaction():
            db.execute("SELECT pg_advisory_xact_lock(1886546294)")  # "priv": one makes it, the others wait
            if self._form(db):
                return  # somebody was quicker
            for statement in _statements():
                db.execute(statement)
            header = Header(secrets.token_hex(16), secrets.token_bytes(32))
            db.execute("INSERT INTO header VALUES (1, %s, %s, %s)", (FORM, header.id, header.key))
            db.execute("INSERT INTO head VALUES (1, 0, %s)", (header.root,))

    @staticmethod
    def _form(db: Any) -> int:
        # Asked of the catalogue itself: `to_regclass` answers who waited for a lock from what it knew before.
        there = "SELECT FROM pg_catalog.pg_tables WHERE schemaname = %s AND tablename = 'header'"
        if db.execute(there, (SCHEMA,)).fetchone() is None:
            return 0
        found = db.execute("SELECT form FROM header").fetchone()
        return int(found[0]) if found else -1

    @contextmanager
    def _connect(self) -> Iterator[Any]:
        try:
            import psycopg  # noqa: PLC0415 - an optional extra
        except ImportError:
            raise MissingExtraError("a ledger in PostgreSQL", "postgres") from None
        try:
            with psycopg.connect(self._url, autocommit=True, connect_timeout=10) as db:
                db.execute("SET synchronous_commit = on")
                db.execute(f"SET search_path = {SCHEMA}")
                db.execute(f"SET lock_timeout = '{int(PATIENCE)}s'")
                yield db
        except psycopg.errors.LockNotAvailable:
            raise InputError(
                f"{self.place}: another process keeps this ledger locked; try again when it is done"
            ) from None
        except psycopg.Error as error:
            # The server's own sentence may quote what was written; its class and code say enough.
            code = f", SQLSTATE {error.sqlstate}" if error.sqlstate else ""
            raise InputError(
                f"{self.place}: the ledger cannot be used ({type(error).__name__}{code}); "
                "nothing was released"
            ) from None
