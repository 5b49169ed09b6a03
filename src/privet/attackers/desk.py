"""A query gateway as its analysts see it: they pose queries over public columns, and hear answers or denials.

The attack gets a desk of its own, with a log of its own in a temporary folder: what it asks is not remembered
against real analysts, and real analysts' questions do not shield it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from privet.attackers.attack import NotTriedError
from privet.attackers.scene import GATEWAY, Scene, Target
from privet.core import Terms
from privet.disclose.audit.config import AuditConfig, AuditedColumn
from privet.disclose.audit.database import Database, opened
from privet.disclose.audit.desk import Desk
from privet.disclose.audit.exact import exact
from privet.disclose.audit.sql import RefusedError

PEOPLE = 40  # targets
Ask: TypeAlias = Callable[[str], Fraction | None]  # a query, and its answer; None: denied


@dataclass(frozen=True)
class Gate:
    """A gateway that can be opened for an attack; `ask_of` is how it answers."""

    config: AuditConfig
    ask_of: Callable[[AuditConfig, Database], Ask]


def audited(config: AuditConfig, source: Database) -> Ask:
    """As the desk answers."""
    desk = Desk(config, source)

    def ask(sql: str) -> Fraction | None:
        try:
            answer: Any = desk.ask("attacker", sql)
        except RefusedError:
            return None
        return answer if isinstance(answer, Fraction) else None

    return ask


def gateway(path: Path) -> Target:
    """The target that an audit.toml describes; the database is named beside it, as the raw data."""
    config = AuditConfig.load(path)
    nothing: Any = None
    return Target(
        path.parent.name or str(path), GATEWAY, Terms((), (), nothing), None, data=Gate(config, audited)
    )


@dataclass(frozen=True)
class Crowd:
    """Everybody whom the gateway answers about: public values, which the attacker has, and true ones."""

    table: str
    public: Sequence[dict[str, object]] = field(repr=False)  # by person
    true: Sequence[Fraction] = field(repr=False)

    def alone(self, person: int) -> str | None:
        """A condition that is true of this person and of nobody else, if the public columns have one."""
        mine = {name: value for name, value in self.public[person].items() if value is not None}
        same = [one for one in self.public if all(one[name] == value for name, value in mine.items())]
        if len(same) > 1 or not mine:
            return None
        return " AND ".join(f'"{name}" = {literal(value)}' for name, value in mine.items())

    def where(self, name: str, value: object) -> frozenset[int]:
        return frozenset(at for at, one in enumerate(self.public) if one[name] == value)


def literal(value: object) -> str:
    """A value as SQL writes it."""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, float)):
        return repr(value)
    return "'" + str(value).replace("'", "''") + "'"


@contextmanager
def attacked(scene: Scene, column: AuditedColumn) -> Iterator[tuple[Crowd, Ask]]:
    """The people of one column, and a fresh gateway to ask."""
    gate: Gate = scene.target.data
    if column.nulls != "refuse":
        raise NotTriedError("who is left out for a missing value is not known to the attacker")
    source = opened(str(scene.raw))
    try:
        config = gate.config
        names = (config.person, column.name, *config.public)
        rows = sorted(source.table(config.table, names), key=lambda row: str(row[0]))
        crowd = Crowd(
            config.table,
            [dict(zip(config.public, row[2:], strict=True)) for row in rows],
            [exact(row[1]) for row in rows],
        )
        with tempfile.TemporaryDirectory() as folder:
            own = replace(config, log=Path(folder) / "log.db", keys=Path(folder) / "keys", witness=None)
            yield crowd, gate.ask_of(own, source)
    finally:
        source.close()
