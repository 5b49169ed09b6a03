"""`privet plan`: what an epsilon buys, before anything is spent and without any data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli import screen
from privet.cli.options import Json, Overwrite, PolicyFile, load_policy, whole
from privet.errors import InputError, PolicyError

if TYPE_CHECKING:
    from privet.policy.values import Policy

EPSILONS = ("1/10", "1/4", "1/2", "1", "2")
ROUNDS = (2, 4, 6, 8, 10, 12, 15, 20)


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
    found = planned(said, records=records, epsilons=epsilon or (), rounds=h or ())
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


def planned(
    policy: Policy, *, records: int | None, epsilons: Sequence[str], rounds: Sequence[int]
) -> dict[str, Any]:
    """The plan as a document that JSON can hold."""
    from privet.dp.settings import DiffGenSettings, epsilon_of, public
    from privet.roads import road_of
    from privet.roads.noisy.road import NoisyRoad, settings_of

    if not isinstance(road_of(policy), NoisyRoad):
        raise InputError(f"privet plan is for differential privacy; {policy.algorithm.name} spends nothing")
    settings, own, known = settings_of(policy), epsilon_of(policy), public(policy)
    settings.refuse(known)
    asked = [_epsilon(text) for text in epsilons] or sorted({own, *map(Fraction, EPSILONS)})
    document: dict[str, Any] = {
        "algorithm": settings.name,
        "records": records,
        "epsilon": str(own),
        "epsilon_of_a_person": str(own * settings.records_per_person),
        "records_per_person": settings.records_per_person,
    }
    if not isinstance(settings, DiffGenSettings):
        if rounds:
            raise InputError(f"--h: {settings.name} has no rounds")
        return document | {"plans": [_counted(known, epsilon, records) for epsilon in asked]}
    tried = sorted(set(rounds) or {*ROUNDS, *([settings.h] if settings.h else [])})
    document["h"] = settings.h
    document["sets"] = known.sets
    document["plans"] = [_expected(settings, known, epsilon, h, records) for epsilon in asked for h in tried]
    if records is not None:
        document["suggested"] = {
            str(epsilon): _suggested(settings, known, epsilon, records) for epsilon in asked
        }
    return document


def _expected(settings: Any, known: Any, epsilon: Fraction, h: int, records: int | None) -> dict[str, Any]:
    from privet.dp.plan import expect
    from privet.dp.settings import with_h

    share = 1 - (settings.buy_h or 0)
    found = expect(
        with_h(settings, h).search_of(epsilon * share),
        known.predictors,
        len(known.classes),
        records=records,
        draws=60,
    )
    drops = {"dropped": round(found.dropped, 4)} if records is not None and known.sets else {}
    return {
        "epsilon": str(epsilon),
        "h": h,
        "leaves": round(found.leaves, 1),
        "leaves_low": round(found.leaves_low, 1),
        "leaves_high": round(found.leaves_high, 1),
        "counts": round(found.counts, 1),
        "count_epsilon": round(float(found.count_epsilon), 6),
        "error": round(found.error, 3),
        **drops,
        **_noise(found.total_error, records),
        "clear_lead": round(found.odds, 3),
    }


def _counted(known: Any, epsilon: Fraction, records: int | None) -> dict[str, Any]:
    from privet.dp.contingency import refuse
    from privet.dp.plan import mean_error

    cells = refuse([p.domain for p in known.predictors], len(known.classes))
    error = mean_error(float(epsilon))
    return {
        "epsilon": str(epsilon),
        "counts": cells,
        "error": round(error, 3),
        **_noise(cells * error, records),
    }


def _noise(total: float, records: int | None) -> dict[str, Any]:
    found: dict[str, Any] = {"total_error": round(total, 1)}
    return found if records is None else found | {"noise": round(total / records, 4)}


def _suggested(settings: Any, known: Any, epsilon: Fraction, records: int) -> int:
    from privet.dp.choose_h import planned_h

    return planned_h(settings.search_of(epsilon), known.predictors, len(known.classes), records)


def _epsilon(text: str) -> Fraction:
    from privet.policy.notation import exact

    try:
        found = exact(text)
    except PolicyError as error:
        raise InputError(*(f"--epsilon: {complaint}" for complaint in error.complaints)) from None
    if found <= 0:
        raise InputError("--epsilon: above 0")
    return found


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
