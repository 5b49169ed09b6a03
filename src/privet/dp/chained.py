"""A ledger's lines inside a transaction: read and audited, or added one by one."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any

from privet.dp.accounts import Accounts
from privet.dp.store import Line, Page, Store, is_url
from privet.dp.store_sqlite import SqliteStore
from privet.errors import BudgetError, TamperedError
from privet.witness import linked


def opened(where: str | PathLike[str], *, create: bool) -> Store:
    """The store that a path or an address names."""
    if isinstance(where, str) and is_url(where):
        from privet.dp.store_postgres import PostgresStore  # noqa: PLC0415 - needs an optional extra

        return PostgresStore(where, create=create)
    return SqliteStore(Path(where), create=create)


def audited(page: Page, place: str) -> Known:
    """Everything added up again from the lines alone, each checked against the chain; and the head."""
    accounts, before, number = Accounts(), page.header().root, 0
    for line in page.lines():
        number += 1
        if line.number != number or line.chain != link(before, line):
            raise TamperedError(f"{place}: entry {number} is not the one that was written")
        try:
            accounts.enter(line.kind, json.loads(line.body), line.at)
        except (BudgetError, ValueError, TypeError) as error:
            raise TamperedError(f"{place}: entry {number} cannot follow those before it: {error}") from None
        before = line.chain
    if page.head() != (number, before):
        raise TamperedError(f"{place}: entries are missing at the end, or the head is not theirs")
    return Known(accounts, (number, before))


def link(before: str, line: Line) -> str:
    """The digest that a line has after the one before it."""
    return linked(before, line.number, line.at, line.kind, line.body)


@dataclass
class Known:
    """What a ledger added up to, and the head that it had then."""

    accounts: Accounts
    head: tuple[int, str]


class Writer:
    """A ledger inside a transaction: what it adds up to, and a way to add a line."""

    def __init__(self, page: Page, known: Known) -> None:
        self._page = page
        self.known = known

    @property
    def accounts(self) -> Accounts:
        return self.known.accounts

    def enter(self, kind: str, at: str | None = None, **body: Any) -> None:
        """Add a line if the rules take it."""
        at = at or datetime.now(UTC).isoformat()
        self.accounts.enter(kind, body, at)
        number, before = self.known.head
        text = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        line = Line(number + 1, at, kind, text, "")
        line = replace(line, chain=link(before, line))
        self._page.append(line)
        self.known.head = (line.number, line.chain)


@dataclass(frozen=True)
class Seen:
    """The lines as a witness asks for them."""

    path: str
    page: Page

    def chain_at(self, number: int) -> str | None:
        if number == 0:
            return ""
        lines = self.page.lines()
        return lines[number - 1].chain if 1 <= number <= len(lines) else None
