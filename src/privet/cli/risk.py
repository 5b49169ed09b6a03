"""`privet risk`: how exposed are the people in a table as it stands?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from privet.cli import aware, documents, screen, trajectories, transactions
from privet.cli.answers import risk_of_release
from privet.cli.options import (
    Data,
    Delimiter,
    Drawn,
    Encoding,
    Engine,
    Format,
    Json,
    Master,
    Null,
    Overwrite,
    Query,
    ShowValues,
    drawn,
    engine_of,
    form_of,
    load_policy,
    refuse_drawing,
)
from privet.cli.screen import share
from privet.errors import InputError, PolicyError

LOOSE = 0.5  # different values for each record: a column that is not a quasi-identifier and should be
FEW = 8  # combinations that a terminal shows; --json has all


def risk(
    data: Data,
    policy: Annotated[
        Path | None,
        typer.Argument(metavar="[POLICY]", help="The policy; without it, only what columns tell is shown."),
    ] = None,
    *,
    format: Format = None,  # noqa: A002 - the option's own name
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    null: Null = None,
    query: Query = None,
    engine: Engine = "embedded",
    master: Master = None,
    fraction: Annotated[
        str | None,
        typer.Option("--fraction", help="Which part of a population DATA is a random sample of, as 1/10."),
    ] = None,
    show_values: ShowValues = False,
    algorithm_aware: Annotated[
        bool,
        typer.Option("--algorithm-aware", help="Also try what somebody learns who knows the algorithm."),
    ] = False,
    known: Annotated[
        str | None,
        typer.Option("--known", metavar="JSON", help="What is known of a person; for a release in halves."),
    ] = None,
    widths: Annotated[
        bool,
        typer.Option("--widths", help="Also try how wide values become as quasi-identifiers are added."),
    ] = False,
    output: Drawn = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> int:
    """How exposed the people in a table are: unique records, and what three attackers could do.

    A prosecutor looks for one person known to be in the data; a journalist for anybody; a marketer for
    as many as possible. The policy says which columns they can know; without one, the columns are ranked
    by how well they tell people apart, which helps to write it. Nothing is published; the numbers and the
    HTML file are about the raw data, so they stay with you.

    DATA may also be a release of documents in halves (tree-anatomy): how surely a sensitive value is
    somebody's, and with --known what follows for a person of whom so much is known, sensitive values
    too. It reads like a record, as JSON or as a file with it.

    Example:
      privet sample patients -o patients.csv --policy hospital.toml
      privet risk patients.csv hospital.toml -o risk.html

    Next: `privet publish` lowers the risk to what the policy promises.

    """
    from privet.assess import risk as measured

    if show_values:
        screen.refuse_hidden_terminal(json=json)
    if known is not None or (policy is None and (Path(data) / "evidence.json").is_file()):
        return risk_of_release(Path(data), known, engine, show_values=show_values, json=json)
    if policy is None:
        from privet.core import Form

        said: dict[str, Any] = {
            "format": format,
            "delimiter": delimiter,
            "encoding": encoding,
            "null": null,
            "query": query,
        }
        apart = _without_policy(data, form_of(Form(), **said), engine_of(engine, master), json=json)
        drawn(output, lambda: _page().columns_page(apart), overwrite=overwrite)
        return 0
    asked: dict[str, Any] = {} if fraction is None else {"fraction": _fraction(fraction)}
    rules = load_policy(policy, format=format, delimiter=delimiter, encoding=encoding, null=null, query=query)
    if algorithm_aware:
        aware.refuse_other_kinds(rules)
        asked["algorithm_aware"] = True
    if widths:
        asked["widths"] = True
    with screen.working(json=json) as progress:
        found = measured(
            data, rules, show_values=show_values, engine=engine_of(engine, master), progress=progress, **asked
        )
    refuse_drawing(output, found)
    drawn(output, lambda: _page().render(found), overwrite=overwrite)
    if json:
        screen.answer(found)
    else:
        screen.say(*_told(found))
        if output is not None:
            screen.say("", f"it is drawn in {output}, which stays with you")
        command = f"privet publish {data} {policy} -o out"
        screen.say(*screen.next_steps((command, "makes a release that keeps the policy")))
    return 0


def _told(found: Mapping[str, Any]) -> Iterator[str]:
    if found.get("kind") == "documents":
        yield from documents.risk(found)
        return
    if found.get("kind") == "transactions":
        yield from transactions.risk(found)
        return
    if found.get("kind") == "trajectories":
        yield from trajectories.risk(found)
        return
    prosecutor, classes = found["prosecutor"], found["classes"]
    yield f"{found['records']:,} records, known by {screen.shown(', '.join(found['quasi_identifiers']))}"
    yield f"  {found['unique_records']:,} ({share(found['unique_share'])}) are alone with these values"
    yield f"  {classes['count']:,} classes share them, {classes['average']:,.1f} records on average"
    yield ""
    yield from screen.table(
        [
            ("prosecutor", share(prosecutor["highest"]), "finds one known person, at worst"),
            ("", share(prosecutor["average"]), "on average"),
            ("journalist", share(found["journalist"]["at_most"]), _anybody(found["journalist"])),
            ("marketer", share(found["marketer"]["average"]), "of all people found, expected"),
        ]
    )
    if "threshold" in prosecutor:
        yield (
            f"  {prosecutor['records_above']:,} records ({share(prosecutor['share_above'])}) are above "
            f"{prosecutor['threshold']}, the chance that the policy allows"
        )
    yield from _estimated(found["population"])
    yield from _wide(found["dimensionality"])
    yield from _overlooked(found["columns"])
    for promise in found["promises"]:
        yield ""
        yield f"{screen.shown(promise['model'])}: what an adversary finds who knows so many values"
        yield from screen.table(
            [
                (
                    str(level["known"]),
                    f"{level['groups']:,}",
                    f"{level['violating']:,}",
                    f"{level['smallest']:,}",
                    f"{level['at_risk']:,}",
                    share(level["share"]),
                )
                for level in promise["levels"]
            ],
            head=("known", "groups", "breaking it", "smallest", "records at risk", "share"),
        )
        yield from (f"  not looked at: {screen.shown(str(part))}" for part in promise["skipped"])
        yield from _groups(promise["violations"])
    if found["linkage"]:
        yield ""
        yield f"attacks on {found['linkage'][0]['trials']:,} random people of whom so many values were known"
        yield from screen.table(
            [
                (
                    str(tried["known"]),
                    f"{tried['group']:,.1f}",
                    share(tried["identity"]),
                    share(tried["pinned"]),
                    share(tried["attribute"]),
                )
                for tried in found["linkage"]
            ],
            head=("known", "records that match", "right record", "only one matches", "right sensitive value"),
        )
    if found.get("algorithm_aware"):
        yield ""
        yield from aware.told(found["algorithm_aware"])


def _anybody(journalist: Mapping[str, Any]) -> str:
    if "people" not in journalist:
        return "finds anybody, at most"
    return f"finds anybody among {journalist['people']:,} people, at worst"


def _fraction(given: str) -> Fraction:
    from privet.policy.notation import exact

    try:
        return exact(given)
    except PolicyError as error:
        raise InputError(*(f"--fraction: {complaint}" for complaint in error.complaints)) from None


def _estimated(found: Mapping[str, Any] | None) -> Iterator[str]:
    if found is None:
        return
    yield ""
    yield f"unique among {found['people']:,} people, estimated; {found['chosen']} is to be believed here"
    yield from screen.table(
        [
            (
                name,
                "-" if one is None else f"{one['uniques']:,.0f}",
                "" if one is None else share(one["share"]),
            )
            for name, one in found["estimates"].items()
        ],
        head=("estimator", "unique people", "share"),
    )


def _wide(found: Mapping[str, Any] | None) -> Iterator[str]:
    """Said only where it is a warning, or was asked for."""
    if found is None:
        return
    if "by_columns" in found:
        yield ""
        yield f"share of its range that a value must cover before {found['k']:,} people share all of them"
        pairs = zip(found["by_columns"], found["expected"], strict=True)
        yield from screen.table(
            [(str(at), share(seen), share(even)) for at, (seen, even) in enumerate(pairs, 1)],
            head=("quasi-identifiers", "in this table", "if people were spread evenly"),
        )
    if not found["too_wide"]:
        return
    yield ""
    yield (
        f"  {found['quasi_identifiers']} quasi-identifiers are many: a value must cover about "
        f"{share(found['expected'][-1])} of its range before {found['k']:,} people share all of them"
    )


def _page() -> Any:
    from privet.report import exposed

    return exposed


def _without_policy(data: str, form: Any, engine: Any, *, json: bool) -> dict[str, Any]:
    from privet.roads.tables.separation import telling

    found = telling(data, form=form, engine=engine)
    if json:
        screen.answer({"columns": found})
        return found
    screen.say(f"{found['records']:,} records; how well columns tell them apart", *_columns(found))
    screen.say(*screen.next_steps((f"privet init {data} -o policy.toml", "drafts a policy to decide in")))
    return found


def _columns(found: Mapping[str, Any]) -> Iterator[str]:
    def line(one: Mapping[str, Any]) -> tuple[str, ...]:
        return (
            " + ".join(one["columns"]),
            f"{one['values']:,}",
            share(one["distinctness"]),
            share(one["separation"]),
            share(one["unique_share"]),
        )

    head = ("column", "values", "distinct", "pairs told apart", "records alone")
    yield from screen.table([line(one) for one in found["single"]], head=head)
    if found["together"]:
        yield ""
        yield from screen.table([line(one) for one in found["together"][:FEW]], head=("together", *head[1:]))


def _overlooked(columns: Mapping[str, Any]) -> Iterator[str]:
    """Published columns that identify as quasi-identifiers do, and have another role."""
    loose = [
        one["columns"][0]
        for one in columns["single"]
        if one["role"] in {"other", "target", "sensitive"} and one["distinctness"] >= LOOSE
    ]
    if loose:
        names = screen.shown(", ".join(loose))
        yield ""
        yield f"  published as they are, and nearly different for everybody: {names}"


def _groups(violations: Any) -> Iterator[str]:
    """The groups that break the promise, where their values were asked for."""
    shown = [group for group in violations if "values" in group]
    if shown:
        yield f"  the first {len(shown):,} groups that break it:"
    for group in shown:
        known = ", ".join(
            f"{name} = {'null' if value is None else value}"
            for name, value in zip(group["attributes"], group["values"], strict=True)
        )
        yield f"    {screen.shown(known)}: {group['size']:,} records"
