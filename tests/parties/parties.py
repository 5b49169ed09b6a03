"""Parties in threads, for tests."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import Any

from privet.parties.transport import InProcess, Link, Session, together

NAMES = ("north", "south", "west", "east", "harbour", "hill", "lake", "river")
PATIENCE = 20.0


def house(parties: int, *, record: bool = True) -> InProcess:
    session = Session(secrets.token_bytes(16), b"c" * 32, NAMES[:parties])
    return InProcess(session, patience=PATIENCE, record=record)


def run(parties: int, part: Callable[[Link], Any]) -> list[Any]:
    """Every party does the same part; what each found."""
    return together(house(parties), [part] * parties)


def run_each(parts: Sequence[Callable[[Link], Any]]) -> list[Any]:
    return together(house(len(parts)), parts)
