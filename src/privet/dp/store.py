"""Where a ledger is kept: lines that are only ever added, one durable transaction at a time.

A store knows nothing of privacy. It keeps a header (what the ledger is called, and its secret key), lines
with numbers from 1, and a head: how many lines there are and the digest of the last. The head is written with
each line, so that lines that were cut off at the end are missed even without a witness. SQLite keeps a
ledger in one file; PostgreSQL keeps one for a whole department. Another store implements `Store`, and passes
the same tests.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from privet.witness import linked

FORM = 2  # of the lines; form 1 was a table for each kind of line, and not chained
NAME = "privet ledger"
PATIENCE = 60.0  # seconds that a writer waits for the others
POSTGRES = ("postgresql://", "postgres://")


@dataclass(frozen=True)
class Header:
    """What a ledger is born with."""

    id: str  # drawn at random: two ledgers never have the same first link
    key: bytes  # for fingerprints; whoever has it can test guesses about the data

    @property
    def root(self) -> str:
        """What the first line is linked to. The key is part of it: with another key, data looks new."""
        return linked("", NAME, FORM, self.id, sha256(self.key).hexdigest())


@dataclass(frozen=True)
class Line:
    """One entry as it is stored."""

    number: int
    at: str
    kind: str
    body: str  # JSON
    chain: str


class Page(Protocol):
    """A ledger inside one transaction."""

    def header(self) -> Header: ...

    def head(self) -> tuple[int, str]:
        """How many lines there are said to be, and the digest of the last; 0 and the root for none."""

    def lines(self) -> list[Line]:
        """All of them, in the order of their numbers."""

    def append(self, line: Line) -> None:
        """Add a line and move the head to it."""


class Store(Protocol):
    """A place for one ledger. Holds no open connection, so it may be shared by threads and forks."""

    @property
    def place(self) -> str:
        """Where it is, for people: no password in it."""

    @property
    def path(self) -> Path | None:
        """The file, where it is one."""

    def write(self) -> AbstractContextManager[Page]:
        """One durable transaction; nobody else writes meanwhile. All of it is kept, or nothing."""

    def read(self) -> AbstractContextManager[Page]:
        """One consistent view."""


def is_url(where: object) -> bool:
    """A ledger on a server, not in a file."""
    return isinstance(where, str) and where.startswith(POSTGRES)
