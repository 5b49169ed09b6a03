"""`privet joint`: one release of several organisations' tables that nobody brings together."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli import screen
from privet.cli.options import Engine, Json, Overwrite, engine_of, whole
from privet.cli.signing import Passphrase
from privet.errors import InputError

if TYPE_CHECKING:
    from privet.parties.agreements import Signed
    from privet.rehearsal import Rehearsal

ContractFile = Annotated[Path, typer.Argument(metavar="CONTRACT", help="The contract, a TOML file.")]


def show(contract: ContractFile, *, json: Json = False) -> int:
    """What a contract says, its digest, and what each party would learn under it.

    Two parties have the same contract where they see the same digest, however their files are written.

    Example:
      privet joint show contract.toml

    Next: `privet joint rehearse` runs all parties on one machine, on data that is not secret.

    """
    from privet.parties import agreements
    from privet.parties.contract import Contract
    from privet.parties.signing import bound, signed

    agreed = agreements.load(contract)
    known, together = agreements.saw(agreed), agreements.together(agreed)
    names = signed(agreed, contract)
    said, promises = _about(agreed)
    if json:
        screen.answer(
            {
                "digest": agreed.digest.hex(),
                "parties": list(agreed.parties),
                **said,
                "promises": promises,
                **_assumed(agreed),
                **_guarantees(agreed),
                "learned": {party: list(said) for party, said in known.items()},
                "coalitions": list(together),
                "signed": names,
                "bound": list(bound(agreed, contract)),
            }
        )
        return 0
    screen.say(f"contract {agreed.digest.hex()}")
    told = f"split by {said['split']}" if "split" in said else "a virtual database"
    screen.say(f"{len(agreed.parties)} parties, {told}" + (", promising" if promises else ""))
    screen.say(*(f"  {screen.shown(promise)}" for promise in promises))
    screen.say(*(f"where {one}" for one in _assumed(agreed).get("assumed", ())))
    screen.say(*(f"  against {_AGAINST[who]}: {what}" for who, what in _guarantees(agreed).items()))
    if names:
        yes = ", ".join(party for party, done in names.items() if done) or "nobody"
        no = ", ".join(party for party, done in names.items() if not done)
        screen.say(f"signed by {yes}" + (f"; not yet by {no}" if no else ""))
        if marked := ", ".join(bound(agreed, contract)):
            screen.say(f"for rows that may not change by {marked}")
    beside = "the published table" if isinstance(agreed, Contract) else "the result"
    screen.say("", *learned_by(agreed, known, together, beside))
    return 0


def sign(
    contract: ContractFile,
    *,
    key: Annotated[
        Path | None, typer.Option("--key", metavar="KEY", help="Your private key; of a node, its sign.key.")
    ] = None,
    passphrase_file: Passphrase = None,
    data: Annotated[
        str | None, typer.Option("--data", help="Sign for these rows too: a file or a database URL.")
    ] = None,
    query: Annotated[str | None, typer.Option("--query", help="What to select, of a database.")] = None,
    collect: Annotated[
        list[Path] | None,
        typer.Option("--collect", metavar="FILE", help="Signatures beside another copy of it; repeat."),
    ] = None,
    json: Json = False,
) -> int:
    """Put your organisation's name to a contract, and collect the others'.

    The contract lists every party's public key under [keys]; whose key signs is seen from that. The signature
    is over the contract's digest and stands beside it, in CONTRACT.signatures.json, where all parties collect
    theirs. Whatever is changed in the contract afterwards, nobody has signed.

    Send that file from desk to desk, or let each sign its own copy: --collect takes over what stands beside
    the others', with or without --key. Only signatures under this very contract are taken.

    With --data you sign for the rows that are there now as well: beside your signature stands a mark, by
    which only you know them again, and your node runs the contract with them and with no others.

    Example:
      privet joint sign contract.toml --key north.key
      privet joint sign contract.toml --collect from-south.json --collect from-west.json

    Next: `privet joint show contract.toml` says who has signed.

    """
    from privet.cli.signing import secret
    from privet.evidence.signing import PrivateKey
    from privet.node.source import opened, values
    from privet.parties import agreements, rows, signing

    agreed = agreements.load(contract)
    if key is None and not collect:
        raise InputError("--key, --collect: sign, or collect what others have signed")
    if key is None and data is not None:
        raise InputError("--data: needs --key, since it is signed for")
    party, marked, there = None, "", list[str]()
    if collect:
        there = signing.collect(agreed, contract, collect)
    if key is not None:
        mine = PrivateKey.load(key, secret(passphrase_file))
        if data is not None:
            marked = rows.mark(mine, agreed, values(opened(data, query), agreements.form(agreed))).hex()
        party = signing.sign(agreed, contract, mine, marked)
    if json:
        screen.answer(
            {
                "party": party,
                "digest": agreed.digest.hex(),
                "signatures": str(signing.beside(contract)),
                **({"collected": there} if collect else {}),
                **({"rows": marked} if marked else {}),
            }
        )
        return 0
    if collect:
        screen.say(f"collected: signed by {', '.join(there)}")
    if party is not None:
        for_rows = ", for the rows that are there now" if marked else ""
        screen.say(f"{party} has signed contract {agreed.digest.hex()}{for_rows}")
    return 0


def rehearse(
    contract: ContractFile,
    parts: Annotated[
        list[str],
        typer.Argument(metavar="PART...", help="One table for each party, in the contract's order."),
    ],
    *,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Write the joint release there.")
    ] = None,
    key: Annotated[
        list[Path] | None,
        typer.Option("--key", metavar="KEY", help="A party's private key, of each party once: they sign."),
    ] = None,
    ledger: Annotated[
        list[str] | None,
        typer.Option(
            "--ledger", metavar="FILE", help="A party's ledger, of each once, where the contract spends."
        ),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option("--dataset", metavar="NAME", help="Its data set in that ledger, of each party once."),
    ] = None,
    pooled: Annotated[
        bool, typer.Option("--pooled", help="Also publish all rows in one place, and compare.")
    ] = False,
    apart: Annotated[
        bool, typer.Option("--apart", help="Also say what is lost if each party publishes for itself.")
    ] = False,
    overwrite: Overwrite = False,
    engine: Engine = "embedded",
    json: Json = False,
) -> int:
    """Run all parties of a contract on one machine, with the real protocol.

    Every party is a thread with its own table; what they send each other is what they would send between
    houses. Says how long it takes, how much travels, how often they wait for each other, and what each
    party would learn. Rehearse with made-up or old data: all parts lie on one machine.

    With -o every party also writes the release, they compare what they wrote to the byte, and one of them is
    kept: a folder like any other, which `privet verify` checks; its evidence says who took part, what each
    saw, and that it was a rehearsal. A contract with differential privacy spends: say --ledger and --dataset
    of each party to write its release; without them ledgers are made up for the rehearsal.

    Of a virtual database it says how many groups there are and what was lost; to ask it, say
    `privet joint query --part`.

    Example:
      privet joint rehearse contract.toml north.csv south.csv west.csv --pooled -o joint

    Next: `privet verify joint`; report.html in the folder shows it all.

    """
    from privet.cli import joint_database
    from privet.cli.signing import private
    from privet.core import Purse
    from privet.parties import agreements
    from privet.parties.virtual.contract import DatabaseContract
    from privet.rehearsal import rehearse as rehearsed

    if len(ledger or ()) != len(dataset or ()):
        raise InputError("--ledger, --dataset: as many of the one as of the other")
    agreed = agreements.load(contract)
    if isinstance(agreed, DatabaseContract):
        if output is not None or key or pooled or apart or ledger:
            raise InputError(
                "a virtual database is not written: -o, --key, --pooled, --apart, --ledger are for releases"
            )
        return joint_database.rehearse(agreed, parts, engine_of(engine), json=json)
    if apart and _guarantees(agreed):
        raise InputError("--apart: each for itself would spend again, and noise is drawn anew every time")
    with screen.working(json=json) as progress:
        progress("search", 0)
        found = rehearsed(
            contract,
            parts,
            engine=engine_of(engine),
            pooled=pooled,
            output=output,
            overwrite=overwrite,
            keys=[private(one) for one in key or ()],
            purses=[Purse(*one) for one in zip(ledger or (), dataset or (), strict=True)],
        )
    alone = _apart(found, parts, engine_of(engine)) if apart else None
    if json:
        said = {} if alone is None else {"loss": alone[0], "loss_apart": alone[1], "nothing_apart": alone[2]}
        screen.answer(_document(found) | said)
    else:
        screen.say(*_told(found))
        if alone is not None:
            together, each, nothing = alone
            said_each = "nothing at all could be published" if each is None else f"{each:.4f}"
            screen.say("", f"loss (LM) together {together:.4f}; each for itself {said_each}")
            screen.say(*(f"  {party} alone could publish nothing" for party in nothing))
        if output is not None:
            screen.say("", f"the joint release is in {screen.shown(str(output))}")
    return 0 if found.as_listed is not False else 1


def mine(
    contract: ContractFile,
    parts: Annotated[
        list[str],
        typer.Argument(metavar="PART...", help="One table for each party, in the contract's order."),
    ],
    *,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the itemsets as CSV.")
    ] = None,
    overwrite: Overwrite = False,
    engine: Engine = "embedded",
    json: Json = False,
) -> int:
    """Frequent itemsets of several parties together, as if all records lay in one place.

    The contract says which items there are and from when on a set is frequent. Here all parties run on one
    machine, with the real protocol; between nodes `privet joint run mining.toml` does it. The itemsets are
    values of somebody's data: they are counted only, unless you ask for a file.

    Example:
      privet joint mine mining.toml north.csv south.csv west.csv -o itemsets.csv

    """
    from privet.rehearsal import mine as mined
    from privet.roads.parties.itemsets import as_csv

    with screen.working(json=json) as progress:
        progress("search", 0)
        found = mined(contract, parts, engine=engine_of(engine))
    if output is not None:
        with whole(output, overwrite=overwrite, private=True) as fresh:
            fresh.write_text(as_csv(found.itemsets), encoding="utf-8")
    sizes = {size: sum(len(one) == size for one in found.itemsets) for size in map(len, found.itemsets)}
    if json:
        screen.answer(
            {
                "digest": found.contract.digest.hex(),
                "itemsets": len(found.itemsets),
                "by_size": {str(size): many for size, many in sorted(sizes.items())},
                "seconds": found.seconds,
                "rounds": found.rounds,
                "bytes": sum(traffic.sent for traffic in found.traffic.values()),
                "learned": list(found.contract.learned),
            }
        )
        return 0
    told = ", ".join(f"{many:,} of {size}" for size, many in sorted(sizes.items()))
    screen.say(f"{len(found.itemsets):,} frequent itemsets of {len(found.traffic)} parties: {told or 'none'}")
    sent = sum(traffic.sent for traffic in found.traffic.values())
    screen.say(f"{found.seconds:.1f} s on this machine, {size(sent)} sent, {found.rounds:,} rounds")
    screen.say("", "every party learns:", *(f"  {said}" for said in found.contract.learned))
    if output is not None:
        screen.say("", f"the itemsets are in {screen.shown(str(output))}")
    return 0


def _document(found: Rehearsal) -> dict[str, Any]:
    return {
        "digest": found.contract.digest.hex(),
        "records": found.table.height,
        "seconds": found.seconds,
        "seconds_apart": found.seconds_apart,
        "rounds": found.rounds,
        "bytes": found.bytes,
        "parties": {
            party: {"sent": t.sent, "received": t.received, "messages": t.messages}
            for party, t in found.traffic.items()
        },
        "promises": [
            {"promise": _promise(model), "holds": verdict.holds} for model, verdict in found.verdicts
        ],
        **_assumed(found.contract),
        **_guarantees(found.contract),
        "learned": {party: list(said) for party, said in found.learned.items()},
        "coalitions": list(found.coalitions),
        "as_pooled": found.as_pooled,
        "as_listed": found.as_listed,
        "folder": None if found.folder is None else str(found.folder),
    }


def _told(found: Rehearsal) -> Iterator[str]:
    made = sum(step.performed for step in found.steps)
    yield f"{found.table.height:,} records of {len(found.traffic)} parties in one table; {made} splits made"
    yield ""
    yield from screen.table(
        [(p, size(t.sent), size(t.received), f"{t.messages:,}") for p, t in found.traffic.items()],
        head=("party", "sent", "received", "messages"),
    )
    yield ""
    yield f"{found.seconds:.1f} s on this machine, {found.rounds:,} rounds"
    yield f"about {found.seconds_apart:.0f} s between houses that are 20 ms and 50 Mbit/s apart"
    if found.as_pooled is not None:
        same = "the same table as" if found.as_listed else "ANOTHER table than"
        yield f"{same} `privet publish` makes of all rows in one place"
        if found.as_listed and not found.as_pooled:
            yield (
                "  if the values that the contract lists occur as it writes them: some do not, and cuts and "
                "labels follow it"
            )
    yield ""
    yield from learned_by(found.contract, found.learned, found.coalitions)


def _assumed(agreed: Signed) -> dict[str, list[str]]:
    """What the promises rest on, where they rest on something that no party can see."""
    from privet.parties.contract import Contract
    from privet.parties.learned import assumed

    found = list(assumed(agreed)) if isinstance(agreed, Contract) else []
    return {"assumed": found} if found else {}


_AGAINST = {"outsider": "whoever sees the release alone", "insider": "the other party"}


def _guarantees(agreed: Signed) -> dict[str, str]:
    """With differential privacy, what is promised to whom."""
    from privet.parties.contract import Contract
    from privet.parties.noisy.known import insider, outsider

    if not isinstance(agreed, Contract) or agreed.noisy is None:
        return {}
    return {"outsider": outsider(agreed), "insider": insider(agreed)}


def _apart(found: Rehearsal, parts: list[str], engine: Any) -> tuple[float, float | None, list[str]]:
    """What is lost together, and by each for itself; and who could publish nothing."""
    from privet.roads.parties.naive import lost, published_apart

    alone = published_apart(found.contract, parts, engine)
    each = None if alone.loss is None else float(alone.loss)
    return float(lost(found.table, found.contract)), each, list(alone.nothing)


def _about(agreed: Signed) -> tuple[dict[str, str], list[str]]:
    """What only one kind of contract says, and what it promises."""
    from privet.parties.contract import Contract
    from privet.parties.itemsets import MiningContract

    if isinstance(agreed, Contract):
        words = {"split": agreed.split.value, "reveal": agreed.reveal.value}
        return words, [_promise(model) for model in agreed.policy.models]
    if isinstance(agreed, MiningContract):
        return {"split": agreed.split.value, "support": str(agreed.support)}, []
    rules = agreed.rules
    promises = [f"k-anonymity (k = {rules.k})"]
    if rules.sites > 1:
        promises.append(f"site-diversity (sites = {rules.sites}, {rules.diversity.value})")
    hidden = f"loss = {agreed.loss}" if agreed.loss is not None else f"decoys = {agreed.decoys}"
    return {"answers": f"{hidden}, {agreed.exposure.value}", "guard": agreed.guard.value}, promises


def learned_by(
    contract: Signed, known: Any, together: tuple[str, ...], beside: str = "the published table"
) -> Iterator[str]:
    every = [said for said in known[contract.parties[0]] if all(said in others for others in known.values())]
    yield f"every party learns, beside {beside}:"
    yield from (f"  {said}" for said in every)
    for party, more in known.items():
        if alone := [said for said in more if said not in every]:
            yield f"{party}, which leads, also:"
            yield from (f"  {said}" for said in alone)
    yield "if they put their notes together:"
    yield from (f"  {said}" for said in together)


def _promise(model: Any) -> str:
    from privet.policy.notation import describe

    said = {key: value for key, value in describe(model).items() if key not in {"type", "sensitive"}}
    return f"{model.name} ({', '.join(f'{key} = {value}' for key, value in said.items())})"


def size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 100_000 else f"{count / 1e3:,.1f} kB"
