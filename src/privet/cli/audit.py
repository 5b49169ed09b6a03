"""`privet audit`: answer SUM and MAX queries about a table so that nobody is given away."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli import screen
from privet.cli.options import ARGUMENTS, Json, Overwrite, whole
from privet.errors import InputError

if TYPE_CHECKING:
    from privet.disclose.audit.desk import Desk

KEY = "PRIVET_AUDIT_KEY"

Config = Annotated[
    Path, typer.Option("--config", metavar="FILE", help="What is audited; `privet audit init` drafts it.")
]
Database = Annotated[
    str, typer.Option("--db", metavar="URL", help="sqlite:///FILE, duckdb:///FILE or postgresql://…")
]
Sql = Annotated[str, typer.Argument(metavar="SQL", help=ARGUMENTS["SQL"])]
Analyst = Annotated[str, typer.Argument(metavar="ANALYST", help=ARGUMENTS["ANALYST"])]
DEFAULT = Path("audit.toml")


def _desk(config: Path, db: str) -> Desk:
    # One thread of linear algebra: decisions are small, and threads that wait for each other cost more.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from privet.disclose.audit.config import AuditConfig
    from privet.disclose.audit.database import opened
    from privet.disclose.audit.desk import Desk

    return Desk(AuditConfig.load(config), opened(db))


def init(
    *,
    db: Database,
    table: Annotated[str, typer.Option("--table", help="The table that is asked about.")],
    person: Annotated[str, typer.Option("--person", help="The column that names each person once.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The file to write.")
    ] = DEFAULT,
    overwrite: Overwrite = False,
    json: Json = False,
) -> int:
    """Draft audit.toml from the columns of a table; the kind of every column is left for you to decide.

    Names and types are read, and no value: bounds are what everybody knows without the data. Two columns
    such as salary_min and salary_max are proposed as everybody's own bounds of salary.

    Example:
      privet audit init --db sqlite:///staff.db --table staff --person id

    Next: decide the kinds, then `privet audit key ANALYST` and `privet audit serve`.

    """
    from privet.disclose.audit.database import Kind, opened
    from privet.disclose.audit.draft import bound_columns, drafted

    source = opened(db)
    columns = source.columns(table)
    source.close()
    if not columns:
        raise InputError(f"--table: there is no table {table}")
    if person not in columns:
        raise InputError(f"--person: {table} has no column {person}")
    found = {name: bound_columns(name, columns) for name in columns}
    bounds = {name: pair for name, pair in found.items() if pair is not None}
    taken = {person, *(name for pair in bounds.values() for name in pair)}
    numeric = {
        name: kind is Kind.WHOLE
        for name, kind in columns.items()
        if kind is not Kind.OTHER and name not in taken
    }
    public = [name for name in columns if name not in numeric and name not in taken]
    with whole(output, overwrite=overwrite) as fresh:
        fresh.write_text(drafted(table, person, public, numeric, bounds), encoding="utf-8")
    if json:
        screen.answer(
            {
                "config": str(output),
                "table": table,
                "public": public,
                "undecided": list(numeric),
                "bounds": {name: list(pair) for name, pair in bounds.items()},
            }
        )
        return 0
    screen.say(f"drafted {screen.shown(str(output))}: {len(numeric)} columns of numbers to decide about")
    screen.say(
        *screen.next_steps(
            (f"edit {output}", "decide what is audited, and what is public"),
            (f"privet audit key ANALYST --config {output}", "a key for each analyst"),
            (f"privet audit serve --db {db} --config {output}", "answers them"),
        )
    )
    return 0


def key(
    analyst: Analyst,
    *,
    config: Config = DEFAULT,
    days: Annotated[int, typer.Option("--days", help="How long the key is good for.")] = 90,
    grace: Annotated[
        int, typer.Option("--grace", help="Days for which the older key goes on beside the new one.")
    ] = 0,
    revoke: Annotated[bool, typer.Option("--revoke", help="End this analyst's keys instead.")] = False,
    json: Json = False,
) -> int:
    """Make an API key for an analyst. It is shown once; what is kept is a digest.

    A new key ends the analyst's older one, at once or after --grace days. A running gateway hears of it at
    the next request. `privet audit keys` says whose keys there are.

    Example:
      privet audit key alice --config audit.toml --days 30 --grace 3

    Next: `privet audit serve`; the analyst sets PRIVET_AUDIT_KEY and runs `privet audit ask`.

    """
    from privet.disclose.audit.config import AuditConfig
    from privet.disclose.audit.keys import Keys

    keys = Keys(AuditConfig.load(config).keys)
    if revoke:
        keys.revoke(analyst)
        if json:
            screen.answer({"analyst": analyst, "revoked": True})
        else:
            screen.say(f"{screen.shown(analyst)} has no key any more")
        return 0
    made = keys.issue(analyst, days=days, grace=grace)
    if json:
        screen.answer({"analyst": analyst, "key": made})
    else:
        screen.say(made)
    return 0


def keys(*, config: Config = DEFAULT, json: Json = False) -> int:
    """Whose keys there are, and until when they are good. No key is shown: what is kept is a digest.

    Example:
      privet audit keys --config audit.toml

    Next: `privet audit key ANALYST` makes a new one before the old one ends.

    """
    from privet.disclose.audit.config import AuditConfig
    from privet.disclose.audit.keys import Keys

    found = [
        (name, "no end" if until is None else until.isoformat(timespec="minutes"))
        for name, ends in Keys(AuditConfig.load(config).keys).listed()
        for until in ends
    ]
    if json:
        screen.answer({"keys": [{"analyst": name, "until": until} for name, until in found]})
    elif found:
        screen.say(
            *screen.table([(screen.shown(name), until) for name, until in found], head=("analyst", "until"))
        )
    else:
        screen.say("nobody has a key")
    return 0


def serve(
    *,
    db: Database,
    config: Config = DEFAULT,
    host: Annotated[str, typer.Option("--host", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            "--port", help="Where to listen; 0 takes a free one, which the log says.", min=0, max=65535
        ),
    ] = 8470,
    tls_certificate: Annotated[
        Path | None, typer.Option("--tls-certificate", metavar="FILE", help="The certificate chain, PEM.")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option("--tls-key", metavar="FILE", help="Its private key, PEM.")
    ] = None,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Without TLS beyond this machine: a proxy in front has it.")
    ] = False,
    connections: Annotated[
        int, typer.Option("--connections", min=1, help="At most so many connections at once.")
    ] = 4000,
    per_address: Annotated[
        int,
        typer.Option(
            "--per-address", min=1, help="Of these, from one address; behind a proxy, as many as all."
        ),
    ] = 200,
    seconds: Annotated[
        float, typer.Option("--seconds", help="How long the head of a request may take, and its body.")
    ] = 10.0,
) -> int:
    """Serve the gateway: POST /v1/ask with {"sql": "SELECT …"} and a key; GET /healthz, /readyz, /metrics.

    All analysts share one log, and every answer is on disk before it is sent. Log lines go to stderr as
    JSON, without SQL or data. Several gateways may share one log on one machine. Where the connections are
    used up, those that have waited longest without a whole request make room.

    Example:
      privet audit serve --db sqlite:///staff.db --config audit.toml

    Next: `privet audit ask`, and now and then `privet audit replay`.

    """
    desk = _desk(config, db)
    from privet.disclose.audit.door import Limits
    from privet.disclose.audit.service import serve as served

    try:
        served(
            desk,
            host=host,
            port=port,
            certificate=tls_certificate,
            key=tls_key,
            insecure=insecure,
            limits=Limits(connections, per_address, seconds),
        )
    finally:
        desk.close()
    return 0


def ask(
    sql: Sql,
    *,
    url: Annotated[
        str | None, typer.Option("--url", help="A gateway; the key is in PRIVET_AUDIT_KEY.")
    ] = None,
    tls_ca: Annotated[
        Path | None, typer.Option("--tls-ca", metavar="FILE", help="Trust this certificate of the gateway.")
    ] = None,
    db: Annotated[
        str | None, typer.Option("--db", metavar="URL", help="Without a gateway, as the owner: the database.")
    ] = None,
    config: Config = DEFAULT,
    explain: Annotated[
        bool, typer.Option("--explain", help="With --db: what would be decided and why; asks nothing.")
    ] = False,
    json: Json = False,
) -> int:
    """Pose a query: the exact answer, or the word denied. Exit code 0 either way, 2 if it was refused.

    With --url a gateway is asked. With --db and --config the owner asks without one; the same log counts.
    --explain is for the owner's eyes: it names values of the log, and what it says is noted nowhere.

    Example:
      privet audit ask "SELECT SUM(salary) FROM staff WHERE dept = 'R&D' AND age > 40" --db sqlite:///staff.db

    Next: `privet audit replay` shows what all answers together tell.

    """
    if (url is None) == (db is None):
        raise InputError("give --url of a gateway, or --db and --config")
    if explain and db is None:
        raise InputError("--explain is for the owner: give --db and --config")
    if url is not None:
        secret = os.environ.get(KEY)
        if not secret:
            raise InputError(f"{KEY}: put your key there; a key on a command line can be read by others")
        from privet.disclose.audit.client import posed

        said = posed(url, secret, sql, certificate=tls_ca)
    else:
        from privet.disclose.audit.desk import shown

        desk = _desk(config, str(db))
        try:
            if explain:
                return _explained(desk.explain(sql), json=json)
            answer = desk.ask("owner", sql)
        finally:
            desk.close()
        said = shown(answer)
    if json:
        screen.answer(said)
    elif said["result"] == "groups":
        screen.say(*_groups(said["groups"]))
    else:
        screen.say(said.get("answer", "denied"))
    return 0


def _groups(groups: list[dict[str, Any]]) -> list[str]:
    if not groups:
        return ["nobody meets these conditions"]
    rows = [
        (
            *(screen.shown("null" if value is None else str(value)) for value in one["by"].values()),
            one.get("answer", "denied"),
        )
        for one in groups
    ]
    return screen.table(rows, head=(*groups[0]["by"], "answer"))


def _explained(lines: list[str], *, json: bool) -> int:
    if json:
        screen.answer({"explained": lines})
    else:
        screen.say(*lines)
    return 0


def replay(
    *,
    config: Config = DEFAULT,
    db: Annotated[
        str | None, typer.Option("--db", metavar="URL", help="Also compare the answers with the data.")
    ] = None,
    json: Json = False,
) -> int:
    """Replay the log: does every decision follow from those before it, and is everybody still free?

    Recomputes what an adversary knows who saw every answer and every denial and knows the algorithm.
    Exit code 1 if somebody is determined, or if the log was tampered with.

    Example:
      privet audit replay --config audit.toml

    Next: keep the log as long as you answer; a new log forgets what was said, analysts do not.

    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from privet.disclose.audit.config import AuditConfig
    from privet.disclose.audit.log import AuditLog
    from privet.disclose.audit.replay import replay as replayed

    said = AuditConfig.load(config)
    if not said.log.is_file():
        raise InputError(f"{said.log}: there is no log yet")
    desk = _desk(config, db) if db is not None else None
    found = replayed(said, desk.log if desk else AuditLog(said.log), desk.columns if desk else None)
    holds = all(one.holds for one in found)
    if json:
        columns = [
            {
                "column": one.column,
                "kind": one.kind,
                "people": one.people,
                "answered": one.answered,
                "denied": one.denied,
                "closest": one.closest,
                "holds": one.holds,
            }
            for one in found
        ]
        complaints = [line for one in found for line in one.complaints]
        screen.answer({"holds": holds, "columns": columns, "complaints": complaints})
        return 0 if holds else 1
    rows = [
        (one.column, one.kind, f"{one.people:,}", f"{one.answered:,}", f"{one.denied:,}", one.closest)
        for one in found
    ]
    screen.say(
        *screen.table(rows, head=("column", "kind", "people", "answered", "denied", "how near it came"))
    )
    if holds:
        screen.say("every decision follows from the log, and nobody is determined")
        return 0
    screen.problems(*(line for one in found for line in one.complaints))
    return 1
