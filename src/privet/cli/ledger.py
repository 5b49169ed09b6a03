"""`privet ledger`: what has been spent of each data set's privacy, and what is left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli import screen
from privet.cli.options import ARGUMENTS, Json
from privet.errors import BudgetError, InputError, PolicyError

if TYPE_CHECKING:
    from privet.dp.entries import Balance, Currency, Entry

ARGUMENTS["LEDGER"] = "A ledger: a file, or postgresql://…; `privet ledger open` makes it."

LedgerPlace = Annotated[str, typer.Argument(metavar="LEDGER", help=ARGUMENTS["LEDGER"])]
Dataset = Annotated[
    str, typer.Option("--dataset", metavar="NAME", help="The data set, the same name for every release.")
]
Budget = Annotated[
    str | None,
    typer.Option("--budget", metavar="EPSILON", help="All that may ever be spent, such as 3 or 1/2."),
]
Rho = Annotated[
    str | None,
    typer.Option("--rho", metavar="RHO", help="A budget in zero-concentrated differential privacy instead."),
]


def open_account(
    ledger: LedgerPlace, *, dataset: Dataset, budget: Budget = None, rho: Rho = None, json: Json = False
) -> int:
    """Open a data set's account: how much epsilon all releases of it together may spend.

    The file is made if it is not there. A budget is set once; it belongs to the data set, whoever
    publishes it how often, and nothing that was spent comes back. Keep the file as you keep the data.

    A budget in rho (zero-concentrated differential privacy) has a price for Gaussian noise too, so that
    what other tools spend can be booked. LEDGER may be a PostgreSQL database that a department shares.

    Example:
      privet ledger open ledger.sqlite --dataset admissions --budget 3
      privet ledger open ledger.sqlite --dataset trips --rho 1/2

    Next: `privet publish DATA POLICY -o out --ledger ledger.sqlite --dataset admissions`.

    """
    from privet.dp.ledger import Ledger

    currency, amount = _amount(budget, rho)
    book = Ledger(ledger)
    book.open(dataset, amount, currency=currency)
    ended = shown(book.balances(), (), json=json)
    if not json:
        there = screen.command("", book.place, "--dataset", dataset)
        publish = f"privet publish DATA POLICY -o out --ledger{there}"
        screen.say(*screen.next_steps((publish, "spends what the policy says")))
    return ended


def show_ledger(
    ledger: LedgerPlace,
    *,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="NAME", help="This data set alone.")
    ] = None,
    delta: Annotated[
        str | None,
        typer.Option("--delta", metavar="DELTA", help="Also say which epsilon that is at a delta, as 1e-6."),
    ] = None,
    json: Json = False,
) -> int:
    """What is spent and what is left, release by release; everything is added up again.

    A release that is "reserved" and not "released" was stopped on its way. What it reserved is gone all
    the same: noise may have been seen. "Booked" is what another tool spent. Exit code 1 if anything does
    not add up, was changed, or is older than the ledger's witness remembers.

    Example:
      privet ledger show ledger.sqlite
      privet ledger show ledger.sqlite --delta 1e-6

    Next: `privet plan POLICY` says what an epsilon buys before it is spent.

    """
    from privet.dp.ledger import Ledger

    at = None if delta is None else number("--delta", delta)
    accounts = Ledger(ledger, create=False).accounts()
    names = accounts.datasets if dataset is None else [dataset]
    return shown([accounts.balance(name) for name in names], accounts.entries(dataset), delta=at, json=json)


def amend_budget(
    ledger: LedgerPlace,
    *,
    dataset: Dataset,
    budget: Budget = None,
    rho: Rho = None,
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

    currency, amount = _amount(budget, rho)
    book = Ledger(ledger, create=False)
    book.amend(dataset, amount, reason, currency=currency)
    return shown((book.balance(dataset),), (), json=json)


def _amount(budget: str | None, rho: str | None) -> tuple[Currency, Fraction]:
    """The budget that the command line names, in its currency."""
    if (budget is None) == (rho is None):
        raise InputError("--budget, --rho: give one of them")
    if budget is not None:
        return "epsilon", number("--budget", budget, "a budget")
    return "rho", number("--rho", str(rho), "a budget")


def number(option: str, text: str, what: str = "it") -> Fraction:
    """An exact number above 0."""
    from privet.dp.spend import checked
    from privet.policy.notation import exact

    try:
        return checked(exact(text), what)
    except (PolicyError, BudgetError) as error:
        raise InputError(*(f"{option}: {complaint}" for complaint in error.complaints)) from None


def shown(
    balances: Sequence[Balance], entries: Sequence[Entry], *, delta: Fraction | None = None, json: bool
) -> int:
    """Balances and releases, for people or programs."""
    if json:
        screen.answer(
            {
                "datasets": [_balance(b, delta) for b in balances],
                "releases": [_entry(e) for e in entries],
            }
        )
    else:
        screen.say(*_told(balances, entries, delta))
    return 0


def _balance(balance: Balance, delta: Fraction | None) -> dict[str, Any]:
    from privet.dp.zcdp import epsilon_at

    found = {
        "dataset": balance.dataset,
        "currency": balance.currency,
        "budget": str(balance.budget),
        "spent": str(balance.spent),
        "left": str(balance.left),
        "epsilon": None if balance.epsilon is None else str(balance.epsilon),
        "rho": str(balance.rho),
    }
    if delta is not None:
        found["epsilon_at_delta"] = str(epsilon_at(balance.rho, delta))
    return found


def _entry(entry: Entry) -> dict[str, Any]:
    return {
        "release": entry.release,
        "dataset": entry.dataset,
        "purpose": entry.purpose,
        "epsilon": _text(entry.epsilon),
        "records_per_person": entry.per_person,
        "charged": _text(entry.charged),
        "rho": str(entry.person_rho),
        "state": entry.state,
        "at": entry.at.isoformat(),
        "noise": entry.source,
        "digest": entry.digest,
        "spends": [
            {"purpose": s.purpose, "mechanism": s.mechanism, "epsilon": str(s.epsilon), "group": s.group}
            for s in entry.spends
        ],
    }


def _text(amount: Fraction | None) -> str | None:
    return None if amount is None else str(amount)


def _told(balances: Sequence[Balance], entries: Sequence[Entry], delta: Fraction | None) -> Iterator[str]:
    from privet.dp.zcdp import epsilon_at

    mixed = any(b.currency == "rho" for b in balances)  # nobody who never heard of rho need read of it
    head = ["data set", "budget", "spent", "left"]
    rows = [[b.dataset, _priced(b.budget, b, mixed=mixed), str(b.spent), str(b.left)] for b in balances]
    if mixed or delta is not None:
        head.append("rho")
        for row, balance in zip(rows, balances, strict=True):
            row.append(str(balance.rho))
    if delta is not None:
        head.append(f"epsilon at delta {delta}")
        for row, balance in zip(rows, balances, strict=True):
            row.append(f"{epsilon_at(balance.rho, delta)}")
    yield from screen.table(rows, head=head)
    if not entries:
        return
    yield ""
    yield from screen.table(
        [
            (
                entry.release,
                entry.dataset,
                f"rho {entry.person_rho}" if entry.charged is None else str(entry.charged),
                f"{len(entry.spends):,}",
                entry.state,
                f"{entry.at:%Y-%m-%d}",
                entry.purpose,
            )
            for entry in entries
        ],
        head=("release", "data set", "charged", "payments", "state", "day", "purpose"),
    )


def _priced(amount: Fraction, balance: Balance, *, mixed: bool) -> str:
    return f"{balance.currency} {amount}" if mixed else str(amount)
