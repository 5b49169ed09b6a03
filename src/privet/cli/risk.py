"""`privet risk`: how exposed are the people in a table as it stands?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from privet.cli import screen
from privet.cli.options import (
    Data,
    Delimiter,
    Encoding,
    Engine,
    Format,
    Json,
    Null,
    PolicyFile,
    Query,
    ShowValues,
    engine_of,
    load_policy,
)
from privet.cli.screen import share


def risk(
    data: Data,
    policy: PolicyFile,
    *,
    format: Format = None,  # noqa: A002 - the option's own name
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    null: Null = None,
    query: Query = None,
    engine: Engine = "embedded",
    show_values: ShowValues = False,
    json: Json = False,
) -> int:
    """How exposed the people in a table are: unique records, and what three attackers could do.

    A prosecutor looks for one person known to be in the data; a journalist for anybody; a marketer for
    as many as possible. The policy says which columns they can know. Nothing is written.

    Example:
      privet sample patients -o patients.csv --policy hospital.toml
      privet risk patients.csv hospital.toml

    Next: `privet publish` lowers the risk to what the policy promises.

    """
    from privet.assess import risk as measured

    if show_values:
        screen.refuse_hidden_terminal(json=json)
    said = load_policy(policy, format=format, delimiter=delimiter, encoding=encoding, null=null, query=query)
    with screen.working(json=json) as progress:
        found = measured(data, said, show_values=show_values, engine=engine_of(engine), progress=progress)
    if json:
        screen.answer(found)
    else:
        screen.say(*_told(found))
        command = f"privet publish {data} {policy} -o out"
        screen.say(*screen.next_steps((command, "makes a release that keeps the policy")))
    return 0


def _told(found: Mapping[str, Any]) -> Iterator[str]:
    prosecutor, classes = found["prosecutor"], found["classes"]
    yield f"{found['records']:,} records, known by {screen.shown(', '.join(found['quasi_identifiers']))}"
    yield f"  {found['unique_records']:,} ({share(found['unique_share'])}) are alone with these values"
    yield f"  {classes['count']:,} classes share them, {classes['average']:,.1f} records on average"
    yield ""
    yield from screen.table(
        [
            ("prosecutor", share(prosecutor["highest"]), "finds one known person, at worst"),
            ("", share(prosecutor["average"]), "on average"),
            ("journalist", share(found["journalist"]["at_most"]), "finds anybody, at most"),
            ("marketer", share(found["marketer"]["average"]), "of all people found, expected"),
        ]
    )
    if "threshold" in prosecutor:
        yield (
            f"  {prosecutor['records_above']:,} records ({share(prosecutor['share_above'])}) are above "
            f"{prosecutor['threshold']}, the chance that the policy allows"
        )
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
