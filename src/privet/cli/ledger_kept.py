"""`privet ledger`, as it is kept: witnessed, matched, upgraded, and told of what other tools spend."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privet.cli import screen
from privet.cli.ledger import Dataset, LedgerPlace, number, shown
from privet.cli.options import ARGUMENTS, Json
from privet.errors import InputError, TamperedError

ReleaseFolder = Annotated[Path, typer.Argument(metavar="DIR", help=ARGUMENTS.get("DIR", "A release."))]
Reason = Annotated[str, typer.Option("--reason", help="Why; it stands in the ledger for good.")]


def witness(
    ledger: LedgerPlace,
    *,
    keep: Annotated[
        Path | None,
        typer.Option("--keep", metavar="FILE", help="A file, best on another disk, to be told from now on."),
    ] = None,
    seen: Annotated[
        str | None,
        typer.Option("--seen", metavar="HEAD", help="A head that was noted earlier, as NUMBER:DIGEST."),
    ] = None,
    json: Json = False,
) -> int:
    """The ledger's head: how many entries there are, and the digest that all of them end in.

    Every entry is chained to the one before it, so a change anywhere shows. Only an older copy of the
    whole ledger is whole in itself: note the head where the ledger is not, on paper or in a ticket, and
    compare it later with --seen. With --keep a file is told of every entry from now on, and the
    ledger refuses to spend when it is older than that file remembers.

    Exit code 1 if the ledger does not have what was seen.

    Example:
      privet ledger witness ledger.sqlite
      privet ledger witness ledger.sqlite --keep /mnt/other/ledger.seen

    """
    from privet.dp.ledger import Ledger

    book = Ledger(ledger, create=False)
    if seen is not None and not book.saw(*_head(seen)):
        raise TamperedError(
            f"{book.place}: this ledger does not have the entry that was seen; an older copy was put back, "
            "or it is another ledger"
        )
    if keep is not None:
        book.appoint(keep)
    entries, digest = book.head()
    if json:
        screen.answer({"entries": entries, "digest": digest, "head": f"{entries}:{digest}"})
    else:
        screen.say(f"{entries}:{digest}")
    return 0


def match(
    folder: ReleaseFolder,
    *,
    ledger: Annotated[
        str | None,
        typer.Option("--ledger", metavar="LEDGER", help="The ledger; else the notes beside DIR say it."),
    ] = None,
    json: Json = False,
) -> int:
    """Is this release the one that its ledger saw leave? Compares the folder with the entry that paid.

    The digest of its evidence, the data set, epsilon, every payment and every file. Exit code 1 if
    anything differs. What a recipient has can be told from a forgery this way by whoever has the ledger.

    Example:
      privet ledger match out --ledger ledger.sqlite

    """
    from privet.dp.ledger import Ledger
    from privet.roads.noisy.match import ledger_of, matched

    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    book = Ledger(ledger or ledger_of(folder.resolve()), create=False)
    entry, complaints = matched(folder, book)
    if json:
        screen.answer(
            {
                "matches": not complaints,
                "release": None if entry is None else entry.release,
                "dataset": None if entry is None else entry.dataset,
                "complaints": complaints,
            }
        )
    elif complaints:
        screen.problems(*(f"{folder}: {complaint}" for complaint in complaints))
    elif entry is not None:
        screen.say(
            f"{screen.shown(str(folder))}: release {entry.release} of {entry.dataset}, "
            f"entered {entry.at:%Y-%m-%d}; every payment and every file is as the ledger saw it leave"
        )
    return 1 if complaints else 0


def book(
    ledger: LedgerPlace,
    *,
    dataset: Dataset,
    release: Annotated[str, typer.Option("--release", metavar="NAME", help="A name that is not in use yet.")],
    purpose: Annotated[str, typer.Option("--purpose", help="What it is for.")],
    tool: Annotated[str, typer.Option("--tool", help="What draws the noise, name and version.")],
    mechanism: Annotated[str, typer.Option("--mechanism", help="How, such as gaussian or laplace.")],
    epsilon: Annotated[str | None, typer.Option("--epsilon", help="What it costs in pure epsilon.")] = None,
    rho: Annotated[str | None, typer.Option("--rho", help="What it costs in rho-zCDP.")] = None,
    sigma: Annotated[
        str | None,
        typer.Option("--sigma", help="The deviation of Gaussian noise; with --sensitivity."),
    ] = None,
    sensitivity: Annotated[
        str | None, typer.Option("--sensitivity", help="How far one record moves the answer at most (L2).")
    ] = None,
    records_per_person: Annotated[
        int, typer.Option("--records-per-person", min=1, help="How many records one person may have.")
    ] = 1,
    digest: Annotated[str | None, typer.Option("--digest", help="Of what leaves, such as sha256:….")] = None,
    json: Json = False,
) -> int:
    """Book what another tool spends on this data, before it spends it.

    A budget that is kept by one tool alone is not a budget. Say what the mechanism costs: a pure --epsilon, a
    --rho of zero-concentrated differential privacy, or the --sigma and --sensitivity of Gaussian noise
    (rho = sensitivity² / (2 sigma²), exactly). Gaussian noise has no pure epsilon: the data set needs a
    budget in rho (`privet ledger open … --rho`, or `amend`), in which an epsilon costs epsilon² / 2.
    What does not fit is refused, with exit code 2: then do not run the other tool.

    Example:
      privet ledger book ledger.sqlite --dataset trips --release june --purpose "mean fare"
        --tool "opendp 0.14" --mechanism gaussian --sigma 40 --sensitivity 10

    """
    from privet.dp.ledger import Account, Ledger
    from privet.dp.zcdp import rho_of_gaussian

    if (sigma is None) != (sensitivity is None):
        raise InputError("--sigma, --sensitivity: give both")
    if sum(said is not None for said in (epsilon, rho, sigma)) != 1:
        raise InputError("--epsilon, --rho, --sigma: give one of them; what it costs has one name")
    price = None if rho is None else number("--rho", rho, "rho")
    if sigma is not None:
        price = rho_of_gaussian(number("--sensitivity", str(sensitivity)), number("--sigma", sigma))
    kept = Ledger(ledger, create=False)
    Account(kept, dataset).book(
        release,
        epsilon=None if epsilon is None else number("--epsilon", epsilon, "epsilon"),
        rho=price,
        purpose=purpose,
        tool=tool,
        mechanism=mechanism,
        per_person=records_per_person,
        digest=digest,
    )
    accounts = kept.accounts()
    booked = [entry for entry in accounts.entries(dataset) if entry.release == release]
    return shown([accounts.balance(dataset)], booked, json=json)


def distinct(
    ledger: LedgerPlace,
    *,
    dataset: Dataset,
    other: Annotated[str, typer.Option("--other", metavar="NAME", help="The data set that looks the same.")],
    reason: Reason,
    json: Json = False,
) -> int:
    """State on the record that two data sets which look the same are about other people.

    The ledger keeps keyed fingerprints of what was published. The same data under a second name would
    give its people a second budget, so it is refused; where it is a coincidence (a table of few
    columns with few values, say), the reason stands in the ledger for whoever audits it.

    Example:
      privet ledger distinct ledger.sqlite --dataset north --other south --reason "two regions"

    """
    from privet.dp.ledger import Ledger

    kept = Ledger(ledger, create=False)
    kept.declare_distinct(dataset, other, reason)
    return shown([kept.balance(dataset), kept.balance(other)], (), json=json)


def upgrade(
    ledger: Annotated[Path, typer.Argument(metavar="LEDGER", help="A ledger of an earlier privet, a file.")],
    *,
    json: Json = False,
) -> int:
    """Bring a ledger of an earlier privet into today's form: the same entries, chained; in one step.

    Earlier ledgers (form 1) did not chain their entries. All lines, times and the key are kept, added up
    by today's rules, and followed by a line that says when this was done; an interrupted upgrade leaves
    the old ledger. Make a copy first, and note the head afterwards. A ledger of today is left as it is.

    Example:
      privet ledger upgrade ledger.sqlite

    """
    from privet.dp.ledger import Ledger
    from privet.dp.upgrade import upgrade as upgraded

    lines = upgraded(ledger)
    entries, digest = Ledger(ledger, create=False).head()
    if json:
        screen.answer(
            {"upgraded": lines, "entries": entries, "digest": digest, "head": f"{entries}:{digest}"}
        )
    else:
        what = f"{lines:,} lines were chained" if lines else "this ledger has today's form already"
        screen.say(f"{screen.shown(str(ledger))}: {what}", f"head  {entries}:{digest}")
    return 0


def _head(text: str) -> tuple[int, str]:
    entries, _, digest = text.strip().partition(":")
    if not entries.isdecimal() or len(entries) > 18:
        raise InputError("--seen: a head is NUMBER:DIGEST, as `privet ledger witness` says it")
    return int(entries), digest
