"""`privet risk`: how exposed are the people in a table as it stands?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

import typer

from privet.cli import documents, screen, trajectories
from privet.cli.options import (
    Data,
    Delimiter,
    Encoding,
    Engine,
    Format,
    Json,
    Null,
    Query,
    ShowValues,
    engine_of,
    form_of,
    load_policy,
)
from privet.cli.screen import share
from privet.errors import InputError, PolicyError

LOOSE = 0.5  # different values for each record: a column that is no quasi-identifier and should be
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
    fraction: Annotated[
        str | None,
        typer.Option("--fraction", help="Which part of a population DATA is a random sample of, as 1/10."),
    ] = None,
    show_values: ShowValues = False,
    algorithm_aware: Annotated[
        bool,
        typer.Option("--algorithm-aware", help="Also try what somebody learns who knows the algorithm."),
    ] = False,
    json: Json = False,
) -> int:
    """How exposed the people in a table are: unique records, and what three attackers could do.

    A prosecutor looks for one person known to be in the data; a journalist for anybody; a marketer for
    as many as possible. The policy says which columns they can know; without one, the columns are ranked
    by how well they tell people apart, which helps to write it. Nothing is written.

    Example:
      privet sample patients -o patients.csv --policy hospital.toml
      privet risk patients.csv hospital.toml

    Next: `privet publish` lowers the risk to what the policy promises.

    """
    from privet.assess import risk as measured

    if show_values:
        screen.refuse_hidden_terminal(json=json)
    if policy is None:
        from privet.core import Form

        said: dict[str, Any] = {
            "format": format,
            "delimiter": delimiter,
            "encoding": encoding,
            "null": null,
            "query": query,
        }
        return _without_policy(data, form_of(Form(), **said), engine, json=json)
    asked: dict[str, Any] = {} if fraction is None else {"fraction": _fraction(fraction)}
    if algorithm_aware:
        asked["algorithm_aware"] = True
    rules = load_policy(policy, format=format, delimiter=delimiter, encoding=encoding, null=null, query=query)
    with screen.working(json=json) as progress:
        found = measured(
            data, rules, show_values=show_values, engine=engine_of(engine), progress=progress, **asked
        )
    if json:
        screen.answer(found)
    else:
        screen.say(*_told(found))
        command = f"privet publish {data} {policy} -o out"
        screen.say(*screen.next_steps((command, "makes a release that keeps the policy")))
    return 0


def _told(found: Mapping[str, Any]) -> Iterator[str]:
    if found.get("kind") == "documents":
        yield from documents.risk(found)
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
        yield from _aware(found["algorithm_aware"])


def _aware(found: Mapping[str, Any]) -> Iterator[str]:
    """What knowing the algorithm gives, and a small example of it."""
    name, shown = screen.shown(found["algorithm"]), found["example"]
    if found["coincident"]:
        yield f"{name}: whoever knows it learns no more than the release shows ({found['how']})"
        return
    if found["coincident"] is False:
        yield screen.paint(f"{name}: whoever knows it learns more than the release shows", "warn")
        yield (
            f"  somebody's chance moves by {share(found['farthest'])}; {found['certain']:,} people's values "
            f"are certain, though their class shows several ({found['how']})"
        )
    else:
        yield f"{name}: it is not known to be safe from somebody who knows it ({screen.shown(found['how'])})"
    yield (
        f"  as in a table of {shown['people']} patients: a group shows a value with a chance of "
        f"{shown['shown']}; who knows that the first safe grouping is released knows it with {shown['known']}"
    )
    yield "  the algorithms coincident and safe-lattice do not have this weakness"


def _anybody(journalist: Mapping[str, Any]) -> str:
    if "people" not in journalist:
        return "finds anybody, at most"
    return f"finds anybody among {journalist['people']:,} people, at worst"


def _fraction(given: str) -> Fraction:
    from privet.notation import exact

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
    """Said only where it is a warning."""
    if found is None or not found["too_wide"]:
        return
    yield ""
    yield (
        f"  {found['quasi_identifiers']} quasi-identifiers are many: a value must cover about "
        f"{share(found['expected'][-1])} of its range before {found['k']:,} people share all of them"
    )


def _without_policy(data: str, form: Any, engine: str, *, json: bool) -> int:
    from privet.roads.telling import telling

    found = telling(data, form=form, engine=engine_of(engine))
    if json:
        screen.answer({"columns": found})
        return 0
    screen.say(f"{found['records']:,} records; how well columns tell them apart", *_columns(found))
    screen.say(*screen.next_steps((f"privet init {data} -o policy.toml", "drafts a policy to decide in")))
    return 0


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
