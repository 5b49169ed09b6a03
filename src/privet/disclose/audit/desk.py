"""Where queries are decided: the owner's table, the auditors and the shared log, one decision at a time.

The values under audit are read once, when the desk opens, and the log remembers their digest. If the table
no longer has that digest, nothing is answered: two states of the data behind one log are not protected.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from threading import RLock
from typing import Any

import numpy as np

from privet.disclose.audit.config import ANSWERS, AuditConfig, AuditedColumn, Bounds
from privet.disclose.audit.database import Source
from privet.disclose.audit.decision import Auditor, Decision
from privet.disclose.audit.exact import Column, Members, exact, written
from privet.disclose.audit.log import FORM, AuditLog
from privet.disclose.audit.sql import Query, RefusedError, parsed
from privet.errors import InputError, TamperedError
from privet.witness import Witness


class ChangedError(InputError):
    """The table is not the one that the log was begun for."""

    code = "changed"

    def __init__(self) -> None:
        super().__init__(
            "the data has changed since this log was begun, so nothing is answered: a new log starts a new "
            "audit, and what both logs tell together is not protected"
        )


@dataclass
class Watched:
    """A column with its auditor; `places` says which person is which variable."""

    settings: AuditedColumn
    column: Column
    auditor: Auditor
    places: dict[object, int] = field(repr=False)
    bounds: Bounds | None = field(repr=False)

    @classmethod
    def of(
        cls,
        settings: AuditedColumn,
        people: Sequence[object],
        values: Sequence[object],
        own: Mapping[str, Sequence[object]],
    ) -> Watched:
        """A column of people and values; `own` has the columns of those who have bounds of their own."""
        there = [at for at, value in enumerate(values) if value is not None]
        if len(there) < len(people) and settings.nulls == "refuse":
            raise InputError(
                f"{settings.name}: {len(people) - len(there)} people have no value; fill them in, or say "
                'nulls = "leave-out" if everybody may know who has none'
            )
        held = {name: [every[at] for at in there] for name, every in own.items()}
        try:
            column = Column([values[at] for at in there])
            if settings.kind == "min":
                column = column.negated()
            bounds = settings.bounds(len(there), held)
            auditor = settings.auditor(len(there), bounds)
            auditor.check(column)
        except InputError as error:
            raise InputError(f"{settings.name}: {error}") from None
        return cls(settings, column, auditor, {people[at]: place for place, at in enumerate(there)}, bounds)

    def fresh(self) -> None:
        """An auditor who has heard nothing yet."""
        self.auditor = self.settings.auditor(self.auditor.n, self.bounds)

    def answer(self, query: Query, members: Members, decision: Decision) -> Fraction | None:
        """What the analyst asked for, from what the auditor decided about."""
        if decision.answer is None:
            return None
        if query.aggregate == "avg":  # how many there are is public
            return decision.answer / len(members)
        return -decision.answer if query.aggregate == "min" else decision.answer


class Desk:
    """Decides queries about one table. Any number of threads and processes may share the log."""

    def __init__(self, config: AuditConfig, source: Source, log: AuditLog | None = None) -> None:
        self.config = config
        self.source = source
        self.log = log or AuditLog(config.log)
        self.witness = None if config.witness is None else Witness(config.witness)
        self._lock = RLock()
        self._stamp = source.stamp()
        rows = self._rows()
        self._people = {row[0] for row in rows}
        self.columns = self._watch(rows)
        self._seen, self._chain = 0, ""
        with self.log.deciding():
            self._settle(rows)
            self._catch_up()
            if self.witness is not None:
                self.witness.vouch(self.log)

    def _rows(self) -> list[tuple[Any, ...]]:
        config = self.config
        rows = self.source.table(config.table, (config.person, *config.columns, *config.public, *config.own))
        if not all(isinstance(row[0], Hashable) for row in rows):
            raise InputError(f"{config.person}: this kind of column cannot name people")
        if len({row[0] for row in rows}) < len(rows) or any(row[0] is None for row in rows):
            raise InputError(f"{config.person}: must name each person once, and nobody without a name")
        return sorted(rows, key=lambda row: (type(row[0]).__name__, row[0]))

    def _watch(self, rows: list[tuple[Any, ...]]) -> dict[str, Watched]:
        if len(rows) < self.config.smallest:
            raise InputError(f"{self.config.table}: there are fewer than {self.config.smallest} people")
        names = (self.config.person, *self.config.columns, *self.config.public, *self.config.own)
        held = {name: [row[at] for row in rows] for at, name in enumerate(names)}
        people = held[self.config.person]
        return {
            name: Watched.of(settings, people, held[name], {own: held[own] for own in settings.own})
            for name, settings in self.config.columns.items()
        }

    def _settle(self, rows: list[tuple[Any, ...]]) -> None:
        """Begin the log, or make sure that it was begun for this table and these settings."""
        settings = json.dumps(
            {name: one.settings.settings() for name, one in self.columns.items()}, sort_keys=True
        )
        header = self.log.header()
        if not header:
            salt = secrets.token_hex(32)
            header = {
                "form": str(FORM),
                "table": self.config.table,
                "settings": settings,
                "bounds": json.dumps(self._own_bounds()),
                "salt": salt,
                "digest": digest(salt, rows),
            }
            self.log.begin(header)
        if header["form"] != str(FORM):
            raise InputError(f"{self.log.path}: this log was begun by another version of privet")
        if header["table"] != self.config.table:
            raise InputError(f"{self.log.path}: this log is about another table")
        if header["settings"] != settings:
            raise InputError(
                f"{self.log.path}: this log was begun with other settings of the columns; a new log starts a "
                "new audit, and what both logs tell together is not protected"
            )
        self._salt, self._digest = header["salt"], header["digest"]
        if digest(self._salt, rows) != self._digest:
            raise ChangedError

    def _own_bounds(self) -> dict[str, list[list[str]]]:
        """Bounds that differ from person to person, for whoever replays the log without the data."""
        return {
            name: [[written(edge) for edge in side] for side in one.bounds]
            for name, one in self.columns.items()
            if one.settings.own and one.bounds is not None
        }

    def _unchanged(self) -> None:
        stamp = self.source.stamp()
        if stamp is not None and stamp == self._stamp:
            return
        if digest(self._salt, self._rows()) != self._digest:
            raise ChangedError
        self._stamp = stamp

    def _catch_up(self) -> None:
        """Take in what others decided. What we have heard must still be there."""
        if self.log.chain_at(self._seen) != self._chain:
            raise TamperedError(f"{self.log.path}: entry {self._seen} is not the one that was written")
        for entry in self.log.entries(self._seen):
            self.columns[entry.column].auditor.record(entry.members, entry.decision)
            self._seen, self._chain = entry.number, entry.chain

    def ask(self, analyst: str, text: str) -> Fraction | None:
        """The answer, or None for denied. It is on disk before this returns."""
        query = self.read(text)
        with self._lock:
            self._unwritten = False
            try:
                with self.log.deciding():
                    answer = self._decide(analyst, query)
                if self.witness is not None and self._unwritten:
                    self.witness.note(self._seen, self._chain)
            except BaseException:
                if self._unwritten:  # the log is the truth: start again from it at the next query
                    self._forget()
                raise
            return answer

    def read(self, text: str) -> Query:
        """The query, if it may be posed at all."""
        config = self.config
        query = parsed(text, table=config.table, public=config.public, audited=tuple(config.columns))
        if query.column is not None:
            kind = config.columns[query.column].kind
            if query.aggregate not in ANSWERS[kind]:
                allowed = ", ".join(word.upper() for word in ANSWERS[kind])
                raise RefusedError(f"{query.column} is audited for {allowed}")
        return query

    def _decide(self, analyst: str, query: Query) -> Fraction | None:
        self._unchanged()
        self._catch_up()
        watched = self.columns[query.column] if query.column is not None else None
        members = self._members(query, watched)
        if query.aggregate == "count":  # of public conditions: everybody can count that
            return Fraction(len(members))
        if watched is None:
            raise RefusedError("a query asks for an aggregate of a column")
        plan = watched.auditor.plan(members)
        decision = plan.judge(watched.auditor.true_answer(watched.column, members))
        name = watched.settings.name
        self._unwritten = True
        number, chain = self.log.append(
            analyst, name, query.text, members=members, n=watched.auditor.n, decision=decision
        )
        self.log.note("entries", str(number))
        watched.auditor.record(members, decision, plan)
        self._seen, self._chain = number, chain
        return watched.answer(query, members, decision)

    def _members(self, query: Query, watched: Watched | None) -> Members:
        found = self.source.people(self.config.table, self.config.person, query)
        if not self._people.issuperset(found):
            raise ChangedError
        if watched is not None:
            chosen = [watched.places[one] for one in found if one in watched.places]
        else:
            chosen = list(range(len(found)))
        if len(chosen) < self.config.smallest:
            raise RefusedError(f"fewer than {self.config.smallest} people meet these conditions")
        return np.array(sorted(chosen), dtype=np.int64)

    def _forget(self) -> None:
        """Fresh auditors, who will hear everything again."""
        self._seen, self._chain = 0, ""
        for one in self.columns.values():
            one.fresh()

    def explain(self, text: str) -> list[str]:
        """For the owner: what would be decided and why. It names values of the log, and asks nothing."""
        query = self.read(text)
        with self._lock, self.log.deciding():
            self._unchanged()
            self._catch_up()
            if query.column is None or query.aggregate == "count":
                return ["a count of public conditions: always answered"]
            watched = self.columns[query.column]
            return watched.auditor.plan(self._members(query, watched)).explain()

    def close(self) -> None:
        self.log.close()
        self.source.close()


def bounds_of(log: AuditLog, settings: AuditedColumn, n: int) -> Bounds | None:
    """The bounds that a log was begun with."""
    own = json.loads(log.header().get("bounds", "{}")).get(settings.name)
    if own is None:
        return settings.bounds(n, {})
    low, high = ([exact(edge) for edge in side] for side in own)
    return low, high


def digest(salt: str, rows: list[tuple[Any, ...]]) -> str:
    """Of the whole table, keyed, so that it says nothing to whoever does not hold the log."""
    made = hmac.new(bytes.fromhex(salt), digestmod=hashlib.sha256)
    for row in rows:
        for cell in row:
            raw = f"{type(cell).__name__}:{cell}".encode()
            made.update(len(raw).to_bytes(8, "big") + raw)
    return made.hexdigest()
