"""`privet plan`: what an epsilon buys, before anything is spent and without any data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli import screen
from privet.cli.options import Json, Overwrite, PolicyFile, load_policy, whole
from privet.errors import InputError, OptionError

if TYPE_CHECKING:
    from privet.policy.values import Policy


def plan(
    policy: PolicyFile,
    *,
    records: Annotated[
        int | None,
        typer.Option("--records", metavar="N", min=1, help="About how many records; a public guess."),
    ] = None,
    epsilon: Annotated[
        list[str] | None,
        typer.Option("--epsilon", metavar="E", help="An epsilon to look at, such as 1/2; may be repeated."),
    ] = None,
    h: Annotated[
        list[int] | None, typer.Option("--h", metavar="H", min=1, help="Rounds to look at; may be repeated.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Also draw the curves into this file."),
    ] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> int:
    """What to expect of a differentially private release: from the policy alone, for nothing.

    For each epsilon and each number of rounds h: how many leaves and counts there will be, how far one
    count will be off on average, and how much that is of all N records. More rounds tell more and split
    the records thinner; where all errors together are more than the records, mostly noise is left. Splits
    of a column of sets drop records whose subset seems empty: with N the plan says about how many.

    No data is read, so any number may be tried. Give N as it is known in public: looking at the exact
    number, or trying several h on the data and keeping the best, would not be paid for.

    Example:
      privet plan admissions.toml --records 30000
      privet plan admissions.toml --records 30000 --epsilon 1/2 --h 8 --h 12
      privet plan admissions.toml --records 30000 -o plan.html

    Next: put epsilon and h into the policy; then `privet ledger open` and `privet publish`.

    """
    said = load_policy(policy)
    from privet.roads.noisy.planning import plan as planned

    try:
        found = planned(said, records=records, epsilon=epsilon or (), h=h or ())
    except OptionError as error:
        raise InputError(*(f"--{complaint}" for complaint in error.complaints)) from None
    if output is not None:
        from privet.report.planned import render

        with whole(output, overwrite=overwrite) as fresh:
            fresh.write_text(render(found), encoding="utf-8")
    if json:
        screen.answer(found)
    else:
        screen.say(*_told(found), *_go_on(said, policy))
    return 0


def _go_on(said: Policy, policy: Path) -> list[str]:
    """How to a first release: nothing noisy leaves without an account."""
    if said.ledger is not None:
        publish = screen.command("privet publish", "DATA", policy, "-o", "out")
        return screen.next_steps((publish, "spends the policy's epsilon"))
    return screen.next_steps(
        ("privet ledger open ledger.sqlite --dataset NAME --budget EPSILON", "once for a data set"),
        (
            screen.command("privet publish", "DATA", policy, "-o", "out", "--ledger", "ledger.sqlite")
            + " --dataset NAME",
            "spends the policy's epsilon",
        ),
    )


def _told(found: Mapping[str, Any]) -> Iterator[str]:
    plans, rounds = found["plans"], "h" in found["plans"][0]
    people = found["records_per_person"]
    yield f"{found['algorithm']}, nothing is spent and no data is read"
    if people > 1:
        yield f"  a person may have {people:,} records: what a person spends is {people:,} times epsilon"
    yield ""
    drops = "dropped" in plans[0]
    head = ["epsilon", *(["h", "leaves"] if rounds else []), "counts", "error of a count"]
    head += [*(["dropped"] if drops else []), "all errors"]
    if found["records"] is not None:
        head.append(f"of {found['records']:,} records")
    rows = []
    for one in plans:
        row = [one["epsilon"]]
        if rounds:
            row += [str(one["h"]), f"{one['leaves']:,.0f}"]
        row += [f"{one['counts']:,.0f}", f"{one['error']:,.1f}"]
        row += [*([f"{100 * one['dropped']:,.0f} %"] if drops else []), f"{one['total_error']:,.0f}"]
        if "noise" in one:
            row.append(f"{100 * one['noise']:,.0f} %")
        rows.append(row)
    yield from screen.table(rows, head=head)
    if found.get("sets"):
        yield ""
        yield (
            "dropped: about how many records splits of sets leave out, as their subset seems empty"
            if drops
            else "splits of sets also drop records whose subset seems empty; say --records to see how many"
        )
    if "suggested" in found:
        yield ""
        yield "most rounds for which all errors together are no more than the records:"
        yield from screen.table([(e, str(h)) for e, h in found["suggested"].items()], head=("epsilon", "h"))
