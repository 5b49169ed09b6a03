"""Where queries are decided: the owner's table, the auditors and the shared log, one decision at a time.

The values under audit are read once, when the desk opens, and the log remembers their digest. If the table
no longer has that digest, nothing is answered: two states of the data behind one log are not protected.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from threading import RLock
from typing import Any, TypeAlias

import numpy as np

from privet.disclose.audit.config import ANSWERS, AuditConfig
from privet.disclose.audit.database import Database
from privet.disclose.audit.exact import Members, written
from privet.disclose.audit.log import FORM, AuditLog
from privet.disclose.audit.sql import Query, RefusedError, parsed
from privet.disclose.audit.watched import Watched
from privet.errors import InputError, TamperedError
from privet.witness import Witness

READY = "ready"
PATIENCE = 2.0  # seconds to wait for a decision under way before readiness is told from the last one
ALIVE = 10.0  # seconds since the last decision in which the next one may still be under way
GROUPS = 100  # of one query; each is a decision


@dataclass(frozen=True)
class Grouped:
    """The answer to GROUP BY: for each group, by its public values, an answer or None for denied."""

    groups: tuple[tuple[tuple[tuple[str, object], ...], Fraction | None], ...]


Answer: TypeAlias = Fraction | Grouped | None


class ChangedError(InputError):
    """The table is not the one that the log was begun for."""

    code = "changed"

    def __init__(self) -> None:
        super().__init__(
            "the data has changed since this log was begun, so nothing is answered: a new log starts a new "
            "audit, and what both logs tell together is not protected"
        )


class Desk:
    """Decides queries about one table. Any number of threads and processes may share the log."""

    def __init__(self, config: AuditConfig, source: Database, log: AuditLog | None = None) -> None:
        self.config = config
        self.source = source
        self.log = log or AuditLog(config.log)
        self.witness = None if config.witness is None else Witness(config.witness)
        self._witnessed = True  # False after it could not be told
        self._lock = RLock()
        self._last = time.monotonic()  # when a decision was last done
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

    def ask(self, analyst: str, text: str) -> Answer:
        """The answer, or None for denied; of groups all together. It is on disk before this returns."""
        query = self.read(text)
        with self._lock:
            self._unwritten = False
            try:
                with self.log.deciding():
                    answer = self._decide(analyst, query)
                if self._unwritten:
                    self._witness()
            except BaseException:
                if self._unwritten:  # the log is the truth: start again from it at the next query
                    self._forget()
                raise
            self._last = time.monotonic()
            return answer

    def _witness(self) -> None:
        """The witness knows what is in the log; until then nobody is answered."""
        if self.witness is not None:
            self._witnessed = False
            self.witness.note(*self.log.head())
            self._witnessed = True

    def standing(self) -> str:
        """`ready` if the next query can be decided; else why not: changed, database, log, witness, busy.

        Looks at the data and the log as a decision does, and decides nothing.
        """
        if not self._lock.acquire(timeout=PATIENCE):
            return READY if time.monotonic() - self._last < ALIVE else "busy"
        try:
            if not self.log.stands(self._seen, self._chain):
                return "log"
            self._unchanged()
            if not self._witnessed and not self._tried():
                return "witness"
        except ChangedError:
            return "changed"
        except Exception:  # noqa: BLE001 - drivers have errors of their own, and all of them mean this
            return "database"
        finally:
            self._lock.release()
        return READY

    def _tried(self) -> bool:
        try:
            self._witness()
        except OSError:
            return False
        return True

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

    def _decide(self, analyst: str, query: Query) -> Answer:
        self._unchanged()
        self._catch_up()
        watched = self.columns[query.column] if query.column is not None else None
        if not query.by:
            members = self._chosen(self.source.people(self.config.table, self.config.person, query), watched)
            if len(members) < self.config.smallest:
                raise RefusedError(f"fewer than {self.config.smallest} people meet these conditions")
            return self._one(analyst, query, watched, members)
        groups = self.source.groups(self.config.table, self.config.person, query)
        if len(groups) > GROUPS:  # a public fact
            raise RefusedError(f"a query has at most {GROUPS} groups")
        said = []
        # One after the other, in an order that everybody knows; each hears what was said of those before it.
        for by, people in groups:
            members = self._chosen(people, watched)
            few = len(members) < self.config.smallest
            answer = None if few else self._one(analyst, query, watched, members)
            said.append((tuple(zip(query.by, by, strict=True)), answer))
        return Grouped(tuple(said))

    def _one(self, analyst: str, query: Query, watched: Watched | None, members: Members) -> Fraction | None:
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

    def _chosen(self, found: Iterable[object], watched: Watched | None) -> Members:
        people = list(found)
        if not self._people.issuperset(people):
            raise ChangedError
        if watched is not None:
            chosen = [watched.places[one] for one in people if one in watched.places]
        else:
            chosen = list(range(len(people)))
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
            if query.by:
                raise RefusedError("one group at a time can be explained: say which in WHERE")
            people = self.source.people(self.config.table, self.config.person, query)
            return watched.auditor.plan(self._chosen(people, watched)).explain()

    def close(self) -> None:
        self.log.close()
        self.source.close()


def shown(answer: Answer) -> dict[str, Any]:
    """A decision as it is sent: an answer, the one word for every denial, or that for each group."""
    if isinstance(answer, Grouped):
        groups = [{"by": dict(by), **shown(one)} for by, one in answer.groups]
        return {"result": "groups", "groups": groups}
    return {"result": "denied"} if answer is None else {"result": "answered", "answer": written(answer)}


def digest(salt: str, rows: list[tuple[Any, ...]]) -> str:
    """Of the whole table, keyed, so that it says nothing to whoever does not hold the log."""
    made = hmac.new(bytes.fromhex(salt), digestmod=hashlib.sha256)
    for row in rows:
        for cell in row:
            raw = f"{type(cell).__name__}:{cell}".encode()
            made.update(len(raw).to_bytes(8, "big") + raw)
    return made.hexdigest()
