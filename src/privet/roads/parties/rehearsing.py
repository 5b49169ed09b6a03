"""A virtual database rehearsed: all sites on one machine, with the real protocol."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter
from typing import Any

from privet.engine import Engine
from privet.errors import InputError, InternalError
from privet.parties.transport import Distance, InProcess, Link, Session, Traffic, Travelling, together
from privet.parties.virtual.answering import Answer, answered
from privet.parties.virtual.asking import Question
from privet.parties.virtual.contract import DatabaseContract
from privet.parties.virtual.memory import Memory
from privet.parties.virtual.table import LocalTable
from privet.roads.parties.database import make_together


@dataclass(frozen=True)
class Travelled(Travelling):
    """What a protocol between all sites took."""

    seconds: float
    traffic: Mapping[str, Traffic] = field(repr=False)


@dataclass(frozen=True)
class VirtualDatabase:
    """Every site's part, each of which only that site would have."""

    contract: DatabaseContract
    tables: tuple[LocalTable, ...] = field(repr=False)
    made: Travelled
    record: bool = False
    memories: tuple[Memory, ...] = field(default=(), repr=False)  # what each site has heard in answers

    def ask(self, question: Question, distance: Distance | None = None) -> tuple[Answer, Travelled]:
        """All sites answer together."""

        def part(link: Link) -> Answer:
            return answered(link, self.contract, self.tables[link.me], question, self.memories[link.me])

        answers, travelled = _together(
            self.contract, [part] * len(self.tables), record=self.record, distance=distance
        )
        if any(other != answers[0] for other in answers):
            raise InternalError("the sites hold different answers")
        return answers[0], travelled


def make_database(
    contract: DatabaseContract,
    sources: Sequence[Any],
    engine: Engine[Any],
    *,
    record: bool = False,
    distance: Distance | None = None,
) -> VirtualDatabase:
    """Run every site of a contract, each on its own source; `record` keeps what every site received."""
    if len(sources) != len(contract.parties):
        raise InputError(
            f"the contract has {len(contract.parties)} sites ({', '.join(contract.parties)}), and "
            f"{len(sources)} tables are given: one for each, in this order"
        )
    parts = [partial(make_together, contract=contract, source=one, engine=engine) for one in sources]
    tables, travelled = _together(contract, parts, record=record, distance=distance)
    return VirtualDatabase(contract, tuple(tables), travelled, record, tuple(Memory() for _ in tables))


def _together(
    contract: DatabaseContract, parts: Sequence[Any], *, record: bool, distance: Distance | None
) -> tuple[list[Any], Travelled]:
    session = Session(secrets.token_bytes(16), contract.digest, contract.parties)
    house = InProcess(session, record=record, distance=distance)
    begun = perf_counter()
    found = together(house, parts)
    seconds = perf_counter() - begun
    return found, Travelled(seconds, {link.name(link.me): link.traffic for link in house.links})
