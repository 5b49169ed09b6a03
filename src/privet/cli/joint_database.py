"""`privet joint query`, and a virtual database rehearsed: tables that stay where they are, asked together."""

from __future__ import annotations

from collections.abc import Sequence
from json import loads
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli import screen
from privet.cli.joint import ContractFile, learned_by, size
from privet.cli.node import HERE, NodeFolder
from privet.cli.options import Engine, Json, Overwrite, engine_of, whole
from privet.errors import InputError, PartyError

if TYPE_CHECKING:
    from privet.parties.virtual.asking import Question
    from privet.parties.virtual.contract import DatabaseContract

LOOK = 0.2  # seconds between two looks at an answer
LARGEST = 1 << 31  # bytes of an answer


def query(
    contract: ContractFile,
    *,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where", metavar="CONDITION", help='Such as "age between 50 and 56"; repeat: all hold.'
        ),
    ] = None,
    certain: Annotated[
        bool, typer.Option("--certain", help="Only rows that match whatever lies behind their ranges.")
    ] = False,
    at: Annotated[
        str | None, typer.Option("--at", metavar="SITE", help="Whose node to ask, if you are a researcher.")
    ] = None,
    part: Annotated[
        list[str] | None,
        typer.Option("--part", metavar="TABLE", help="Rehearse instead: one for each site, in order."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the rows as CSV.")
    ] = None,
    node: NodeFolder = HERE,
    overwrite: Overwrite = False,
    engine: Engine = "embedded",
    json: Json = False,
) -> int:
    """Ask a virtual database: the matching rows of all sites, generalised, and not whose they are.

    A condition is COLUMN = VALUE, COLUMN between LOW and HIGH, COLUMN <= VALUE, COLUMN >= VALUE or COLUMN in
    A, B. Quasi-identifiers are ranges: a row matches where its range could be meant, so a question for one
    age brings more rows than have it. With --certain only rows match that are meant whatever lies behind.

    A site asks its own node. A researcher whom the contract names has a folder of `privet node init`, whose
    invitation the sites have accepted, and asks any of them with --at. Without -o the rows are printed.

    Example:
      privet joint query database.toml --where "age = 55" --where "country = Mexico" -o answer.csv

    """
    from privet.parties.virtual.asking import Question
    from privet.parties.virtual.contract import DatabaseContract
    from privet.parties.virtual.table import rows_as_csv

    agreed = DatabaseContract.load(contract)
    question = Question.parsed(where or [], agreed, certain=certain)
    question.refuse(agreed)
    if part is not None:
        from privet.roads.parties.rehearsing import make_database

        answer, _ = make_database(agreed, part, engine_of(engine)).ask(question)
        found: dict[str, Any] = {
            "columns": list(answer.columns),
            "rows": [list(row) for row in answer.rows],
            "matched": answer.matched,
            "decoys": answer.decoys,
            "domain": answer.domain,
        }
    else:
        found = _asked(agreed, question, node, at)
    text = rows_as_csv(found["rows"], found["columns"])
    if output is not None:
        with whole(output, overwrite=overwrite) as fresh:
            fresh.write_text(text, encoding="utf-8")
    if json:
        screen.answer({**found, "file": None if output is None else str(output)})
        return 0
    if output is None:
        screen.say(*text.splitlines())
        return 0
    rows, left = len(found["rows"]), found["matched"] - len(found["rows"])
    screen.say(f"{rows:,} rows of {len(agreed.parties)} sites in {screen.shown(str(output))}")
    if left:
        screen.say(
            f"{left:,} more match and are left out: fewer than {agreed.rules.k} of a group would be shown"
        )
    screen.say(f"whose they are was hidden among {found['decoys']:,} decoys or more")
    return 0


def rehearse(agreed: DatabaseContract, parts: Sequence[str], engine: Any, *, json: bool) -> int:
    """All sites on one machine: how many groups, what is lost, what it takes, and what each learns."""
    from privet.parties.virtual.utility import lost
    from privet.roads.parties.rehearsing import make_database

    with screen.working(json=json) as progress:
        progress("search", 0)
        made = make_database(agreed, parts, engine)
    table = made.tables[0]
    found = lost(table.low, table.high, table.sizes)
    travelled = made.made
    if json:
        screen.answer(
            {
                "digest": agreed.digest.hex(),
                "records": int(table.sizes.sum()),
                "groups": found.groups,
                "average_group": float(found.average),
                "discernibility": found.discernibility,
                "ncp": float(found.ncp),
                "seconds": travelled.seconds,
                "rounds": travelled.rounds,
                "bytes": travelled.bytes,
                "parties": {
                    name: {"sent": t.sent, "received": t.received, "messages": t.messages}
                    for name, t in travelled.traffic.items()
                },
                "learned": {party: list(said) for party, said in agreed.learned.items()},
                "coalitions": list(agreed.coalitions),
            }
        )
        return 0
    screen.say(
        f"{int(table.sizes.sum()):,} records of {len(made.tables)} sites in {found.groups:,} groups of "
        f"{float(found.average):.1f} on average; loss (NCP) {float(found.ncp):.4f}",
        "",
        *screen.table(
            [(p, size(t.sent), size(t.received), f"{t.messages:,}") for p, t in travelled.traffic.items()],
            head=("site", "sent", "received", "messages"),
        ),
        "",
        f"{travelled.seconds:.1f} s on this machine, {travelled.rounds:,} rounds",
        "",
        *learned_by(agreed, agreed.learned, agreed.coalitions, "the result"),
    )
    return 0


def _asked(agreed: DatabaseContract, question: Question, node: Path, at: str | None) -> dict[str, Any]:
    """The answer of a site's node."""
    from privet.node.calling import Caller
    from privet.node.house import House

    house = House.load(node)
    if at is not None and at not in house.peers():
        raise InputError(f"--at {at}: has sent no invitation")
    if at is None and house.name not in agreed.parties:
        raise InputError("--at: which site's node is to be asked?")
    body = {"contract": agreed.digest.hex(), "question": question.to_document()}
    with Caller(house.folder, house.me() if at is None else house.peers()[at]) as caller:
        status, said = caller.call("POST", "/v1/questions", document=body)
        if status != 200:
            raise InputError(*(said.get("complaints") or [f"{caller.peer.name}: refuses the question"]))
        session, until = str(said.get("session")), monotonic() + house.patience
        while True:
            _, state = caller.call("GET", f"/v1/questions/{session}")
            if state.get("state") == "done":
                break
            if state.get("state") != "running" or monotonic() > until:
                raise PartyError(str(state.get("why") or f"{caller.peer.name}: does not answer in time"))
            sleep(LOOK)
        with TemporaryDirectory(prefix="privet-") as here:
            into = Path(here) / "answer.json"
            if not caller.file(f"/v1/questions/{session}/answer", into, LARGEST):
                raise PartyError(f"{caller.peer.name}: does not hand out the answer")
            return _read(into, caller.peer.name)


def _read(path: Path, site: str) -> dict[str, Any]:
    """What a site handed out; whatever is not an answer is refused."""
    try:
        said = loads(path.read_text(encoding="utf-8"))
        found = {key: int(said[key]) for key in ("matched", "decoys", "domain")}
        columns = [str(name) for name in said["columns"]]
        rows = [[str(value) for value in row] for row in said["rows"]]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise PartyError(f"{site}: hands out something that is not an answer") from None
    if any(len(row) != len(columns) for row in rows):
        raise PartyError(f"{site}: hands out rows that do not fit their columns")
    return {"columns": columns, "rows": rows, **found}
