"""`privet node`: the service that an organisation runs to publish together with others."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from privet.cli import screen
from privet.cli.options import Json, Overwrite
from privet.errors import InputError

HERE = Path("node")
NodeFolder = Annotated[Path, typer.Option("--node", metavar="DIR", help="The node's folder.")]


def init(
    *,
    name: Annotated[str, typer.Option("--name", help="What contracts call your organisation.")],
    address: Annotated[
        str, typer.Option("--address", metavar="HOST:PORT", help="Where peers reach it by HTTPS.")
    ],
    node: NodeFolder = HERE,
    listen: Annotated[
        str | None,
        typer.Option("--listen", metavar="HOST:PORT", help="Where it listens; as --address unless said."),
    ] = None,
    relay: Annotated[
        Path | None,
        typer.Option(
            "--relay", metavar="FILE", help="A relay's invitation: the node calls out only, and has no port."
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option("--data", help="Your rows: a file or a database URL; `joint run` may say another."),
    ] = None,
    query: Annotated[str | None, typer.Option("--query", help="What to select, of a database.")] = None,
    certificate: Annotated[
        Path | None,
        typer.Option("--certificate", metavar="PEM", help="Your organisation's, instead of its own."),
    ] = None,
    certificate_key: Annotated[
        Path | None, typer.Option("--certificate-key", metavar="PEM", help="The key of --certificate.")
    ] = None,
    authority: Annotated[
        Path | None, typer.Option("--authority", metavar="PEM", help="What issued --certificate.")
    ] = None,
    json: Json = False,
) -> int:
    """Make a node: a folder with its address, certificate and signing key.

    The node gets a small certificate authority of its own, which signs nothing but this node's certificates;
    or give it a certificate that your organisation issued for that host. The folder is yours alone.

    Example:
      privet node init --name north --address node.north.example:8471 --data patients.csv

    Next: `privet node invite` writes what your peers need, `privet node serve` runs it.

    """
    from privet.node.house import made

    given = (certificate, certificate_key, authority)
    if any(given) and not all(given):
        raise InputError("--certificate, --certificate-key and --authority: all three, or none")
    issued: Any = given if all(given) else None
    house = made(
        node,
        name=name,
        url=f"https://{address}",
        listen=listen,
        source=data,
        query=query,
        issued=issued,
        relay=relay,
    )
    told = {"name": house.name, "url": house.url, "folder": str(node), "key": house.key().public}
    hub = None if house.relay is None else house.peers()[house.relay]  # accepted just now, like any other
    if hub is not None:
        told["relay_fingerprint"] = hub.fingerprint
    if json:
        screen.answer(told)
        return 0
    screen.say(
        f"made {screen.shown(str(node))}, the node of {house.name}; the folder holds keys and stays with you",
        *([] if hub is None else [f"  fingerprint of {hub.name}, its relay: {hub.fingerprint}"]),
        *screen.next_steps(
            (f"privet node invite --node {node}", "what your peers need to know"),
            (f"privet node invite --node {node} --accept FILE", "the same of theirs"),
            (f"privet node serve --node {node}", "runs it"),
        ),
    )
    return 0


def invite(
    *,
    node: NodeFolder = HERE,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="NAME.invitation.toml unless said.")
    ] = None,
    accept: Annotated[
        Path | None, typer.Option("--accept", metavar="FILE", help="Keep a peer's invitation instead.")
    ] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> int:
    """Write an invitation for your peers, or accept one of theirs.

    An invitation holds the node's name and address, the certificate of its authority and its public signing
    key; nothing in it is secret. Compare the fingerprint, which is of all of it, with the other steward by
    another way than the file came: whoever could change it could speak in their name.

    Example:
      privet node invite -o north.invitation.toml
      privet node invite --accept south.invitation.toml

    """
    from privet.node.house import House

    house = House.load(node)
    if accept is not None:
        peer = house.accept(accept, overwrite=overwrite)
    else:
        peer = house.me()
        output = output or Path(f"{house.name}.invitation.toml")
        if output.exists() and not overwrite:
            raise InputError(f"{output}: there is a file already; say --overwrite to replace it")
        output.write_text(peer.to_text(), encoding="utf-8")
    if json:
        screen.answer({"name": peer.name, "url": peer.url, "key": peer.key, "fingerprint": peer.fingerprint})
        return 0
    done = f"accepted {peer.name}" if accept is not None else f"wrote {screen.shown(str(output))}"
    screen.say(
        f"{done}, at {screen.shown(peer.url)}",
        f"  fingerprint: {peer.fingerprint}",
        "  read it to the other steward over the telephone: it must be the same at both desks",
    )
    return 0


def serve(*, node: NodeFolder = HERE) -> int:
    """Run the node until it is stopped: it answers its peers, and runs what you start.

    It listens with mutual TLS 1.3 and talks to nobody who is not invited. Its log, one JSON object a line on
    stderr, has no data. A node that is stopped in the middle of a run publishes nothing; the others are told.

    Example:
      privet node serve --node node

    """
    from privet.node.house import House
    from privet.node.service import serve as served

    served(House.load(node))
    return 0


def relay(*, node: NodeFolder = HERE) -> int:
    """Run a relay, where nodes that may only call out meet: it carries their bytes and can read none.

    The relay is a node's folder like any other (`privet node init`); who may use it are the nodes whose
    invitations you accept there. They make TLS with each other through it. It holds no data, takes part in no
    contract, and sees which nodes talk, when and how much.

    Example:
      privet node relay --node hub

    """
    from privet.node.house import House
    from privet.node.relay import serve as served

    served(House.load(node))
    return 0


def status(*, node: NodeFolder = HERE, json: Json = False) -> int:
    """Does the node run, which peers can it reach, and until when is its certificate valid?

    Exit code 1 if the node or a peer does not answer.

    Example:
      privet node status

    """
    from privet.errors import PartyError
    from privet.node.calling import LISTS, Caller
    from privet.node.certificates import valid_until
    from privet.node.house import House

    house = House.load(node)
    found: dict[str, str] = {}
    for name, peer in {house.name: house.me(), **house.peers()}.items():
        caller = Caller(house.folder, peer, seconds=5.0)
        try:
            answered, _ = caller.call("GET", "/healthz", most=LISTS)
            found[name] = "answers" if answered == 200 else "refuses us"
        except PartyError as error:
            found[name] = str(error).partition(": ")[2]
        finally:
            caller.close()
    until = valid_until(house.folder)
    if json:
        screen.answer({"node": house.name, "certificate_until": until.isoformat(), "answers": found})
    else:
        screen.say(*screen.table(list(found.items()), head=("node", "")))
        screen.say(f"certificate valid until {until:%Y-%m-%d}; `privet node renew` makes a new one")
    return 0 if set(found.values()) == {"answers"} else 1


def renew(*, node: NodeFolder = HERE, json: Json = False) -> int:
    """Make a new certificate under the node's own authority; peers need not be told.

    A node that runs shows the new one after five seconds. A certificate of your organisation is renewed by
    your organisation: put it into node.pem and node.key.

    Example:
      privet node renew

    """
    from privet.node import certificates
    from privet.node.house import House

    house = House.load(node)
    certificates.issue(house.folder, house.name, house.url)
    until = certificates.valid_until(house.folder)
    if json:
        screen.answer({"node": house.name, "certificate_until": until.isoformat()})
    else:
        screen.say(f"a new certificate of {house.name}, valid until {until:%Y-%m-%d}")
    return 0
