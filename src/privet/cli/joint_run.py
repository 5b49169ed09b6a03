"""`privet joint propose|run|status|fetch|verify`: a contract between nodes, from its draft to its release."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli import screen
from privet.cli.joint import ContractFile
from privet.cli.node import HERE, NodeFolder
from privet.cli.options import Folder, Json, Overwrite, PolicyFile, release_folder, whole
from privet.errors import InputError, PartyError

if TYPE_CHECKING:
    from privet.node.calling import Caller
    from privet.node.house import House

LOOK = 0.3  # seconds between two looks at a run


def propose(
    policy: PolicyFile,
    *,
    party: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="PEER", help="A peer whose invitation you have accepted; repeat."),
    ] = None,
    split: Annotated[str, typer.Option("--split", help="people or columns.")] = "people",
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The contract to write.")
    ] = Path("contract.toml"),
    node: NodeFolder = HERE,
    overwrite: Overwrite = False,
    json: Json = False,
) -> int:
    """Draft a contract from a policy, between your node and peers that it knows.

    Your node leads. What could occur in a column is not in a policy, and is left for you to say: it must not
    come from anybody's data. `privet joint show` says what is missing, and what each party would learn.

    Example:
      privet joint propose hospital.toml --with south --with west -o contract.toml

    Next: send the contract to all; each runs `privet joint show` and `privet joint sign`.

    """
    from privet.node.house import House
    from privet.parties.proposal import proposed
    from privet.parties.words import Split
    from privet.policy.values import Policy

    house = House.load(node)
    known = {house.name: house.key().public, **{name: one.key for name, one in house.peers().items()}}
    parties = [house.name, *(party or [name for name in known if name != house.name])]
    if strangers := [name for name in parties if name not in known]:
        raise InputError(*(f"--with {name}: has sent no invitation" for name in strangers))
    if split not in {one.value for one in Split}:
        raise InputError("--split: people or columns")
    text = proposed(Policy.load(policy), parties, {name: known[name] for name in parties}, Split(split))
    with whole(output, overwrite=overwrite) as fresh:
        fresh.write_text(text, encoding="utf-8")
    if json:
        screen.answer({"contract": str(output), "parties": parties})
    else:
        screen.say(f"drafted {screen.shown(str(output))} between {', '.join(parties)}")
        screen.say(
            *screen.next_steps((f"privet joint show {output}", "what is missing, and who would learn what"))
        )
    return 0


def run(
    contract: ContractFile,
    *,
    data: Annotated[
        str | None, typer.Option("--data", help="Your rows: a file or a database URL; else as in node.toml.")
    ] = None,
    query: Annotated[str | None, typer.Option("--query", help="What to select, of a database.")] = None,
    ledger: Annotated[
        str | None,
        typer.Option("--ledger", metavar="FILE", help="What pays, where the contract spends; or node.toml."),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="NAME", help="Your data set in that ledger.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Also if these rows were published, or others under it.")
    ] = False,
    node: NodeFolder = HERE,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it is over.")] = True,
    json: Json = False,
) -> int:
    """Start a contract on your node: it runs as soon as the stewards of all parties have done so.

    Only what every party has signed is run. If a party stops, is late or breaks the protocol, nothing is
    published anywhere; run it again. Ctrl-C stops waiting, not the run.

    Example:
      privet joint run contract.toml --data patients.csv

    Next: `privet joint fetch contract.toml -o joint` brings the release.

    """
    from privet.node.calling import LISTS
    from privet.parties import agreements

    digest = agreements.load(contract).digest.hex()
    place = data if data is None or "://" in data else str(Path(data).absolute())
    if (ledger is None) != (dataset is None):
        raise InputError("--ledger and --dataset: both, or neither")
    paying = ledger if ledger is None or "://" in ledger else str(Path(ledger).absolute())
    asked = {
        "contract": str(contract.absolute()),
        "data": place,
        "query": query,
        "ledger": paying,
        "dataset": dataset,
        "again": again,
    }
    with _own(node) as (house, caller):
        status, said = caller.call("POST", "/v1/runs", document=asked, most=LISTS)
        if status != 200:
            raise InputError(*(said.get("complaints") or ["the node refuses"]))
        if not wait:
            screen.say(f"started; `privet joint status --node {house.folder}` says how far it is")
            return 0
        with screen.working(json=json) as progress:
            progress("search", 0)
            while (found := _latest(caller, digest)) is not None and found["state"] in {"waiting", "running"}:
                sleep(LOOK)
    if found is None:
        raise PartyError(f"{house.name}: the node has forgotten the run")
    if json:
        screen.answer(found)
    elif found["state"] == "done":
        screen.say(f"published together with {_others(found, house)}; run {found['session']}")
    else:
        screen.problems(found["why"])
    return 0 if found["state"] == "done" else 1


def status(*, node: NodeFolder = HERE, json: Json = False) -> int:
    """Every run of your node, and how it stands.

    Example:
      privet joint status

    """
    with _own(node) as (_, caller):
        runs = _runs(caller)
    if json:
        screen.answer({"runs": runs})
        return 0
    rows = [(one["contract"][:16], one["session"][:16], one["state"], one["why"]) for one in runs]
    screen.say(
        *(screen.table(rows, head=("contract", "run", "state", "why")) if rows else ["nothing was run"])
    )
    return 0


def stop(contract: ContractFile, *, node: NodeFolder = HERE, json: Json = False) -> int:
    """End a run of your node: nothing is published anywhere, and the others are told.

    Example:
      privet joint stop contract.toml

    """
    from privet.parties import agreements

    digest = agreements.load(contract).digest.hex()
    with _own(node) as (_, caller):
        answered, _said = caller.call("DELETE", f"/v1/runs/{digest}")
    if json:
        screen.answer({"stopped": answered == 200, "contract": digest})
    else:
        screen.say("ended" if answered == 200 else "this contract is not running")
    return 0 if answered == 200 else 1


def fetch(
    contract: ContractFile,
    *,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="The folder to make.")],
    peer: Annotated[
        str | None, typer.Option("--from", metavar="PEER", help="From a peer's node instead of your own.")
    ] = None,
    node: NodeFolder = HERE,
    json: Json = False,
) -> int:
    """Bring the release of the last run of a contract: verified, and signed by every party.

    All parties hold the same release. If your node was stopped after it had signed, another has it: --from.

    Example:
      privet joint fetch contract.toml -o joint

    """
    from privet.node.fetching import fetched
    from privet.parties import agreements

    agreed = agreements.load(contract)
    digest = agreed.digest.hex()
    with _own(node) as (house, caller):
        runs = [one for one in _runs(caller) if one["contract"] == digest and one["session"]]
    if peer is None:
        runs = [one for one in runs if one["state"] == "done"]
    elif peer not in house.peers():
        raise InputError(f"--from {peer}: has sent no invitation")
    if not runs:
        raise InputError(f"{contract}: no run of this contract has a release; `privet joint status` says why")
    folder = fetched(house, agreed, [one["session"] for one in reversed(runs)], output, peer)
    if json:
        screen.answer({"folder": str(folder), "contract": digest})
    else:
        screen.say(f"the result is in {screen.shown(str(folder))}, signed by {', '.join(agreed.parties)}")
    return 0


def verify(folder: Folder, contract: ContractFile, *, json: Json = False) -> int:
    """Is this the release of this contract, does it hold, and did every party sign it?

    As `privet verify` does, and more: every key of the contract must have signed, and the evidence must speak
    of this very contract. Of itemsets and virtual databases, whose folders are not releases: the signatures.

    Example:
      privet joint verify joint contract.toml

    """
    from privet.node.fetching import complaints
    from privet.parties import agreements
    from privet.parties.contract import Contract

    agreed = agreements.load(contract)
    if isinstance(agreed, Contract):
        release_folder(folder)
    found = complaints(folder, agreed)
    if json:
        screen.answer({"holds": not found, "complaints": found, "contract": agreed.digest.hex()})
    elif found:
        screen.problems(*(f"{folder}: {one}" for one in found))
    else:
        screen.say(
            f"{screen.shown(str(folder))}: everything holds, signed by {', '.join(agreed.parties)} under "
            f"contract {agreed.digest.hex()[:16]}…"
        )
    return 1 if found else 0


@contextmanager
def _own(node: Path) -> Iterator[tuple[House, Caller]]:
    from privet.node.calling import Caller
    from privet.node.house import House

    house = House.load(node)
    with Caller(house.folder, house.me()) as caller:
        yield house, caller


def _runs(caller: Caller) -> list[dict[str, Any]]:
    from privet.node.calling import LISTS

    status, said = caller.call("GET", "/healthz", most=LISTS)
    if status != 200:
        raise PartyError(f"{caller.peer.name}: the node refuses us")
    found: list[dict[str, Any]] = said.get("runs", [])
    return sorted((one for one in found if one["kind"] == "run"), key=lambda one: str(one["begun"]))


def _latest(caller: Caller, digest: str) -> dict[str, Any] | None:
    found = [one for one in _runs(caller) if one["contract"] == digest]
    return next(
        (one for one in found if one["state"] in {"waiting", "running"}), found[-1] if found else None
    )


def _others(found: dict[str, Any], house: House) -> str:
    return ", ".join(name for name in found["parties"] if name != house.name)
