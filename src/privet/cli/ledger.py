"""`privet ledger`: what has been spent of each data set's privacy, and what is left."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli import screen
from privet.cli.options import ARGUMENTS, Json
from privet.errors import BudgetError, InputError, PolicyError

if TYPE_CHECKING:
    from privet.dp.ledger import Balance, Entry

ARGUMENTS["LEDGER"] = "A ledger, one file; `privet ledger open` makes it."

LedgerFile = Annotated[Path, typer.Argument(metavar="LEDGER", help=ARGUMENTS["LEDGER"])]
Dataset = Annotated[
    str, typer.Option("--dataset", metavar="NAME", help="The data set, the same name for every release.")
]
Budget = Annotated[
    str, typer.Option("--budget", metavar="EPSILON", help="All that may ever be spent, such as 3 or 1/2.")
]


def open_account(file: LedgerFile, *, dataset: Dataset, budget: Budget, json: Json = False) -> int:
    """Open a data set's account: how much epsilon all releases of it together may spend.

    The file is made if it is not there. A budget is set once; it belongs to the data set, whoever
    publishes it how often, and nothing that was spent comes back. Keep the file as you keep the data.

    Example:
      privet ledger open ledger.sqlite --dataset admissions --budget 3

    Next: `privet publish DATA POLICY -o out --ledger ledger.sqlite --dataset admissions`.

    """
    from privet.dp.ledger import Ledger

    ledger = Ledger(file)
    ledger.open(dataset, _epsilon(budget))
    ended = _shown(ledger.balances(), (), json=json)
    if not json:
        there = screen.command("", file, "--dataset", dataset)
        publish = f"privet publish DATA POLICY -o out --ledger{there}"
        screen.say(*screen.next_steps((publish, "spends what the policy says")))
    return ended


def show_ledger(
    file: LedgerFile,
    *,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="NAME", help="This data set alone.")
    ] = None,
    json: Json = False,
) -> int:
    """What is spent and what is left, release by release; everything is added up again.

    A release that is "reserved" and not "released" was stopped on its way. What it reserved is gone all
    the same: noise may have been seen. Exit code 1 if anything does not add up.

    Example:
      privet ledger show ledger.sqlite

    Next: `privet plan POLICY` says what an epsilon buys before it is spent.

    """
    from privet.dp.ledger import Ledger

    ledger = Ledger(file, create=False)
    ledger.audit()
    balances = ledger.balances() if dataset is None else (ledger.balance(dataset),)
    return _shown(balances, ledger.releases(dataset), json=json)


def amend_budget(
    file: LedgerFile,
    *,
    dataset: Dataset,
    budget: Budget,
    reason: Annotated[str, typer.Option("--reason", help="Why; it stands in the ledger for good.")],
    json: Json = False,
) -> int:
    """Change a budget from now on. The old one, the time and the reason stay in the ledger.

    Raising it makes a weaker promise to the people in the data than the one they had; the ledger
    shows that to whoever looks.

    Example:
      privet ledger amend ledger.sqlite --dataset admissions --budget 4 --reason "board of 3 May"

    """
    from privet.dp.ledger import Ledger

    ledger = Ledger(file, create=False)
    ledger.amend(dataset, _epsilon(budget), reason)
    return _shown((ledger.balance(dataset),), (), json=json)


def _epsilon(text: str) -> Fraction:
    from privet.dp.spend import checked
    from privet.policy.notation import exact

    try:
        return checked(exact(text), "a budget")
    except (PolicyError, BudgetError) as error:
        raise InputError(*(f"--budget: {complaint}" for complaint in error.complaints)) from None


def _shown(balances: tuple[Balance, ...], entries: tuple[Entry, ...], *, json: bool) -> int:
    if json:
        screen.answer({"datasets": [_balance(b) for b in balances], "releases": [_entry(e) for e in entries]})
    else:
        screen.say(*_told(balances, entries))
    return 0


def _balance(balance: Balance) -> dict[str, Any]:
    return {
        "dataset": balance.dataset,
        "budget": str(balance.budget),
        "spent": str(balance.spent),
        "left": str(balance.left),
    }


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "release": entry.release,
        "dataset": entry.dataset,
        "purpose": entry.purpose,
        "epsilon": str(entry.epsilon),
        "records_per_person": entry.per_person,
        "charged": str(entry.charged),
        "state": entry.state,
        "at": entry.at.isoformat(),
        "noise": entry.source,
        "digest": entry.digest,
        "spends": [
            {"purpose": s.purpose, "mechanism": s.mechanism, "epsilon": str(s.epsilon), "group": s.group}
            for s in entry.spends
        ],
    }


def _told(balances: tuple[Balance, ...], entries: tuple[Entry, ...]) -> Iterator[str]:
    yield from screen.table(
        [(b.dataset, str(b.budget), str(b.spent), str(b.left)) for b in balances],
        head=("data set", "budget", "spent", "left"),
    )
    if not entries:
        return
    yield ""
    yield from screen.table(
        [
            (
                entry.release,
                entry.dataset,
                str(entry.charged),
                f"{len(entry.spends):,}",
                entry.state,
                f"{entry.at:%Y-%m-%d}",
                entry.purpose,
            )
            for entry in entries
        ],
        head=("release", "data set", "charged", "payments", "state", "day", "purpose"),
    )
