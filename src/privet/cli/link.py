"""`privet link`: who in a public list could be found in a release?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli import screen
from privet.cli.options import (
    ARGUMENTS,
    Delimiter,
    Encoding,
    Engine,
    Format,
    Json,
    Null,
    ShowValues,
    engine_of,
    form_of,
    load_policy,
    release_folder,
)
from privet.cli.screen import share
from privet.errors import InputError

if TYPE_CHECKING:
    from privet.roads.tables.linking import Linked

LISTED = 50  # people, for a steward who asks for values


def link(
    people: Annotated[str, typer.Argument(metavar="PEOPLE", help=ARGUMENTS["PEOPLE"])],
    target: Annotated[str, typer.Argument(metavar="TARGET", help=ARGUMENTS["TARGET"])],
    policy: Annotated[
        Path | None, typer.Argument(metavar="[POLICY]", help="The policy, where TARGET is a raw table.")
    ] = None,
    *,
    format: Format = None,  # noqa: A002 - the option's own name
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    null: Null = None,
    engine: Engine = "embedded",
    show_values: ShowValues = False,
    json: Json = False,
) -> int:
    """Link a public list with a release, or with a raw table: who is identified, who is found out.

    The list and the table are compared by the quasi-identifiers that the list has as columns. Somebody who
    matches one record only is identified; somebody who matches several that all have one sensitive value
    is found out all the same. The form options are about the list. Nothing is written.

    Example:
      privet link voters.csv out
      privet link voters.csv patients.csv hospital.toml

    Next: a release that gives people away needs a larger k, or a promise about sensitive values.

    """
    from privet.assess import link as linked
    from privet.core import Form

    if show_values:
        screen.refuse_hidden_terminal(json=json)
    rules = None if policy is None else load_policy(policy)
    if rules is None:
        if not Path(target).is_dir():
            raise InputError(
                f"{target}: this is not a release folder; name its policy too, if it is a raw table"
            )
        release_folder(Path(target))
    said: dict[str, Any] = {"format": format, "delimiter": delimiter, "encoding": encoding, "null": null}
    with screen.working(json=json) as progress:
        progress("measure", 0)
        found = linked(people, target, rules, form=form_of(Form(), **said), engine=engine_of(engine))
    if json:
        screen.answer(found.to_dict())
    else:
        screen.say(*_told(found.to_dict()))
        if show_values:
            screen.say("", *_listed(found))
    return 0


def _told(found: Mapping[str, Any]) -> Iterator[str]:
    people, records = found["people"], found["records"]
    yield f"{people:,} people and {records:,} records, linked by {screen.shown(', '.join(found['on']))}"
    yield ""

    def line(number: int, said: str, of: int) -> tuple[str, str, str]:
        return f"{number:,}", share(number / of) if of else "-", said

    yield from screen.table(
        [
            line(found["matched"], "people may have a record here", people),
            line(found["identified"], "match one record only: identified", people),
            *(
                line(number, f"match only one value of {screen.shown(name)}: found out", people)
                for name, number in found["found_out"].items()
            ),
            line(found["records_with_one_person"], "records may be one listed person's only", records),
            line(found["records_with_nobody"], "records are nobody's in the list", records),
        ]
    )
    spread = found["candidates"]
    if spread is not None:
        yield ""
        yield (
            f"who matches, matches {spread['fewest']:,} to {spread['most']:,} records, "
            f"{spread['median']:,.0f} in the middle; picking at random finds {found['expected_right']:,.1f} "
            "people, at most"
        )


def _listed(linked: Linked) -> Iterator[str]:
    """The people who are in most danger, with what was found; raw values."""
    sizes = [(len(linked.found.records_of(at)), at) for at in range(len(next(iter(linked.people.values()))))]
    shown = sorted(pair for pair in sizes if pair[0])[:LISTED]
    yield f"the {len(shown):,} people with the fewest records"
    for size, at in shown:
        known = ", ".join(f"{name} = {column[at]}" for name, column in linked.people.items())
        told = "; ".join(
            f"{name}: " + ", ".join(f"{value} {chance}" for value, chance in shares.items())
            for name, shares in linked.found.shares(at).items()
        )
        yield f"  {screen.shown(known)}: {size:,} records; {screen.shown(told)}"
