"""A question to the virtual database, at one of its sites.

All sites have signed that questions are answered, by whom they may be asked and what is let through, so
nobody is asked again for each. What a node keeps of a question is who asked, when, and how it ended.
"""

from __future__ import annotations

import json
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from privet.errors import InputError, PartyError
from privet.node.house import House
from privet.parties.transport import Link
from privet.parties.virtual.answering import Answer, answered
from privet.parties.virtual.asking import Question
from privet.parties.virtual.contract import DatabaseContract
from privet.parties.virtual.memory import Memory
from privet.parties.virtual.table import LocalTable
from privet.roads.parties.concluding import greet
from privet.roads.parties.database import heard, kept


class PartGoneError(InputError):
    """This site's part of a database is not what it was when the database was made."""


@dataclass(frozen=True)
class Asked:
    """A question, and this site's part of the database that it is put to."""

    house: House = field(repr=False)
    database: str  # the session in which the database was made
    release: str  # where this site's part of it lies, under releases/
    contract: DatabaseContract
    table: LocalTable = field(repr=False)
    question: Question = field(repr=False)

    @classmethod
    def read(cls, house: House, database: str, release: str, said: Any) -> Asked:
        """A question as it travels; refused where it is not one under the database's contract."""
        try:
            contract, table = kept(house.releases / release)
        except InputError as error:
            raise PartGoneError(*error.complaints) from None
        question = Question.from_document(said, contract)
        question.refuse(contract)
        return cls(house, database, release, contract, table, question)

    def refuse(self, asker: str, own: str) -> None:
        """Refuse who may not ask here: a site's steward asks its own node, a researcher any."""
        if asker != own and asker not in self.contract.researchers:
            raise InputError(
                "the contract does not name you as a researcher; a site asks through its own node"
            )

    def body(self) -> dict[str, Any]:
        """What the other sites are told."""
        return {"database": self.database, "question": self.question.to_document()}

    def answered(self, link: Link, certificate: bytes, session: str | None, memory: Memory) -> None:
        """Take part; the node that was asked, which has a session to note it under, keeps the answer."""
        greet(link, certificate)
        answer = answered(link, self.contract, self.table, self.question, memory)
        if session is not None:
            keep(self.house, session, answer)


class Memories:
    """What was heard in answers of each database, the same for all questions to it."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._lock = threading.Lock()
        self._found: dict[str, Memory] = {}  # by the session that made a database

    def of(self, asked: Asked) -> Memory:
        with self._lock:
            if asked.database not in self._found:
                try:
                    found = heard(self._house.releases / asked.release, self._house.secret())
                except InputError as error:
                    raise PartyError(*error.complaints).by(self._house.name) from None
                self._found[asked.database] = found
            return self._found[asked.database]


def place(house: House, session: str) -> Path:
    return house.answers / f"{session}.json"


def keep(house: House, session: str, answer: Answer) -> None:
    """Where only this node can read it, until whoever asked has it or has no more patience."""
    house.answers.mkdir(mode=0o700, exist_ok=True)
    where = place(house, session)
    fresh = where.with_suffix(".new")
    said = {
        "columns": answer.columns,
        "rows": answer.rows,
        "matched": answer.matched,
        "decoys": answer.decoys,
        "domain": answer.domain,
    }
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(said, file, ensure_ascii=False)
    fresh.replace(where)
    late = threading.Timer(house.patience, where.unlink, kwargs={"missing_ok": True})
    late.daemon = True
    late.start()


def forget(house: House) -> None:
    """Remove what an earlier life of this node has kept: a kill comes between handing out and removing."""
    for path in house.answers.glob("*"):
        path.unlink(missing_ok=True)
