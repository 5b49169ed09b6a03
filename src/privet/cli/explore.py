"""`privet explore`: which algorithm, which k, how many records to drop?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from privet.cli import screen
from privet.cli.options import (
    Data,
    Delimiter,
    Encoding,
    Engine,
    Format,
    Json,
    Null,
    Overwrite,
    PolicyFile,
    Query,
    engine_of,
    load_policy,
    whole,
)
from privet.cli.screen import share
from privet.errors import InputError, PolicyError

Item = TypeVar("Item")


def explore(
    data: Data,
    policy: PolicyFile,
    *,
    algorithms: Annotated[
        str | None, typer.Option("--algorithms", help="Names, with commas; else the policy's and a few more.")
    ] = None,
    k: Annotated[str | None, typer.Option("--k", help="Values of k, as 2,5,10,20.")] = None,
    suppression: Annotated[
        str | None, typer.Option("--suppression", help="Shares of records that may be dropped, as 0,1%,5%.")
    ] = None,
    risk: Annotated[
        str, typer.Option("--risk", help="Judge by the highest, average or unique risk.")
    ] = "highest",
    loss: Annotated[str, typer.Option("--loss", help="Judge by lm, ncp or discernibility.")] = "lm",
    time_limit: Annotated[
        float, typer.Option("--time-limit", help="Seconds for one run, where an algorithm takes a limit.")
    ] = 30.0,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Also draw the frontier into this HTML file.")
    ] = None,
    overwrite: Overwrite = False,
    format: Format = None,  # noqa: A002 - the option's own name
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    null: Null = None,
    query: Query = None,
    engine: Engine = "embedded",
    json: Json = False,
) -> int:
    """Try several algorithms and parameters, and show which releases dominate which.

    The data is counted once; each run keeps every promise of the policy, with k and the share of records
    that may be dropped varied. One run dominates another if it risks no more and loses no more. Nothing is
    published; the numbers and the HTML file are about the raw data, so they stay with you.

    Example:
      privet explore patients.csv hospital.toml --k 2,5,10 -o frontier.html

    Next: write the run that you choose into the policy, and `privet publish`.

    """
    from privet.exploration import explore as explored
    from privet.policy.notation import exact

    asked: dict[str, Any] = {
        "algorithms": _listed("--algorithms", algorithms, str),
        "k": _listed("--k", k, _size),
        "suppression": _listed("--suppression", suppression, exact),
    }
    if not time_limit > 0:
        raise InputError("--time-limit: is a number of seconds above 0")
    rules = load_policy(policy, format=format, delimiter=delimiter, encoding=encoding, null=null, query=query)
    with screen.working(json=json) as progress:
        found = explored(
            data,
            rules,
            **asked,
            risk=risk,
            loss=loss,
            time_limit=time_limit,
            engine=engine_of(engine),
            progress=progress,
        )
        if output is not None:
            from privet.report.explored import render

            progress("write", 0)
            with whole(output, overwrite=overwrite, private=True) as fresh:
                fresh.write_text(render(found), encoding="utf-8")
    if json:
        screen.answer(found)
    else:
        screen.say(*_told(found))
        if output is not None:
            screen.say("", f"the frontier is drawn in {output}")
    return 0


def _listed(option: str, text: str | None, read: Callable[[str], Item]) -> list[Item] | None:
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise InputError(f"{option}: is a list with commas between")
    try:
        return [read(part) for part in parts]
    except PolicyError as error:
        raise error.at(option) from None


def _size(text: str) -> int:
    if not text.isdecimal():
        raise PolicyError(f"is a list of whole numbers such as 2,5,10, not {text!r}")
    return int(text)


def _told(found: Mapping[str, Any]) -> Iterator[str]:
    made = [run for run in found["runs"] if "refused" not in run]
    refused = [run for run in found["runs"] if "refused" in run]
    before = found["before"]
    yield f"{found['records']:,} records, {before['unique_records']:,} of them alone in the raw data"
    yield ""
    if made:
        yield from screen.table(
            [
                (
                    "*" if run.get("frontier") else "",
                    run["name"],
                    share(run["risk"]["highest"]),
                    share(run["risk"]["average"]),
                    f"{run['risk']['unique_records']:,}",
                    _known(run["loss"]["lm"]),
                    _known(run["loss"]["ncp"]),
                    f"{run['loss']['discernibility']:,}",
                    f"{run['classes']:,}",
                    f"{run['suppressed_records']:,}",
                    f"{run['seconds']:.2f}",
                )
                for run in made
            ],
            head=(
                "",
                "run",
                "highest",
                "average",
                "alone",
                "LM",
                "NCP",
                "DM",
                "classes",
                "dropped",
                "seconds",
            ),
        )
        yield ""
        yield f"* on the frontier: none has less {found['risk']} risk without more {found['loss'].upper()}"
        yield from _dominated(made)
        yield from _felt([run for name in found["best"] for run in made if run["name"] == name])
        for run in made:
            yield from (f"{run['name']}: {note}" for note in run["notes"])
    if refused:
        yield ""
        yield "not possible"
        yield from screen.table([*_refused(refused)])


FELT = {  # what a recipient feels of a release; in all of them less is better
    "query_error": "counts are off",
    "prediction_error": "predictions wrong",
    "marginals": "columns",
    "pairs": "by two",
    "correlations": "correlations",
}
KEPT = ("marginals", "pairs", "correlations")  # shares that are kept, not lost


def _felt(best: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """What recipients would feel of the few that lose least."""
    told = [run for run in best if run["utility"]]
    if not told:
        return
    names = [name for name in FELT if any(name in run["utility"] for run in told)]
    yield ""
    yield from screen.table(
        [(run["name"], *(_known(run["utility"].get(name)) for name in names)) for run in told],
        head=("least lost", *(f"{FELT[name]} kept" if name in KEPT else FELT[name] for name in names)),
    )


def _refused(runs: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """The runs of an algorithm that have the same reason, as one."""
    by: dict[tuple[str, str], list[str]] = {}
    for run in runs:
        by.setdefault((run["algorithm"]["type"], run["refused"]), []).append(run["name"])
    for (algorithm, reason), names in by.items():
        yield (names[0] if len(names) == 1 else f"{algorithm}, {len(names)} runs"), reason


def _dominated(made: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Each run of the frontier that dominates some, and whom."""
    over: dict[str, list[str]] = {}
    for run in made:
        for name in run.get("dominated_by") or ():
            over.setdefault(name, []).append(run["name"])
    seen: set[tuple[str, ...]] = set()
    for name, others in over.items():
        if tuple(others) in seen:
            continue  # another run that comes to the same
        seen.add(tuple(others))
        shown = "; ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
        yield f"{name}  dominates  {shown}"


def _known(number: float | None) -> str:
    return "-" if number is None else share(number)
