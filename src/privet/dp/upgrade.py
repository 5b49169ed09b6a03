"""A ledger of form 1, whose entries were not chained, becomes one of today's: the same lines, in one step.

Form 1 kept budgets, reservations, spends and releases in a table each. They are put into one order by their
times (no line before one that it needs, whatever the clock did), taken one by one by today's rules, chained,
and followed by a line that says so. All of it is one transaction: a kill leaves the old ledger or the new.
What was changed in the old one before this cannot be seen any more; what does not add up is refused.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from privet.dp.accounts import Accounts
from privet.dp.chained import Known, Writer
from privet.dp.store_sqlite import SqlitePage, SqliteStore, pragma
from privet.errors import BudgetError, TamperedError

_RESERVED = ("dataset", "purpose", "epsilon", "per_person", "source")
_SPENT = ("purpose", "mechanism", "epsilon", "group")
_TABLES = ("budgets", "reservations", "spends", "releases", "secret")


class _Old(NamedTuple):
    at: str
    rank: int  # of its table: among lines of one moment, a reservation before its spends
    number: int
    kind: str
    body: dict[str, Any]


def upgrade(path: Path) -> int:
    """Rewrite a ledger of form 1 in place; returns how many lines it had. One of today's is left as it is."""
    if _is_current(path):
        return 0
    store = SqliteStore(path, create=False, form=1)
    with _alone(store) as db:
        old = _lines(db)
        key = bytes(db.execute("SELECT key FROM secret").fetchone()[0])
        db.execute("PRAGMA defer_foreign_keys = ON")
        for table in _TABLES:
            db.execute(f"DROP TABLE {table}")
        page = SqlitePage(db, path.name)
        page.begin(key)
        writer = Writer(page, Known(Accounts(), page.head()))
        for line in old:
            try:
                writer.enter(line.kind, line.at, **line.body)
            except BudgetError as error:
                raise TamperedError(f"{path.name}: this ledger does not add up: {error}") from None
        writer.enter("upgrade", form=1, lines=len(old))
    return len(old)


def _is_current(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        try:
            return pragma(db, "user_version") > 1
        finally:
            db.close()
    except sqlite3.Error:
        return False  # what it is instead is said by the store


@contextmanager
def _alone(store: SqliteStore) -> Iterator[sqlite3.Connection]:
    with store.connect() as db:
        db.execute("BEGIN IMMEDIATE")
        store.check(db)
        yield db
        db.execute("COMMIT")


def _lines(db: sqlite3.Connection) -> list[_Old]:
    """Every line of the old form, in an order in which each could have been written."""
    found: list[_Old] = []
    reserved: dict[str, str] = {}  # when each release was reserved, and later when it was last spent on
    last = ""
    for number, at, dataset, epsilon, reason in db.execute(
        "SELECT number, at, dataset, epsilon, reason FROM budgets ORDER BY number"
    ):
        last = max(last, at)
        body = {"dataset": dataset, "currency": "epsilon", "amount": epsilon, "reason": reason}
        found.append(_Old(last, 0, number, "budget", body))
    last = ""
    for number, at, release, *rest in db.execute(
        "SELECT number, at, release, dataset, purpose, epsilon, per_person, source FROM reservations "
        "ORDER BY number"
    ):
        last = reserved[release] = max(last, at)
        body = {"release": release, **dict(zip(_RESERVED, rest, strict=True))}
        found.append(_Old(last, 1, number, "reserve", body))
    for number, at, release, *rest in db.execute(
        "SELECT number, at, release, purpose, mechanism, epsilon, parallel FROM spends ORDER BY number"
    ):
        when = reserved[release] = max(reserved.get(release, ""), at)
        body = {"release": release, **dict(zip(_SPENT, rest, strict=True))}
        found.append(_Old(when, 2, number, "spend", body))
    for number, at, release, digest in db.execute(
        "SELECT number, at, release, digest FROM releases ORDER BY number"
    ):
        when = max(reserved.get(release, ""), at)
        found.append(_Old(when, 3, number, "release", {"release": release, "digest": digest}))
    return sorted(found, key=lambda line: (line.at, line.rank, line.number))
