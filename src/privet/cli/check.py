"""`privet check`: what a table achieves as it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from privet.cli import screen
from privet.cli.absent import near
from privet.cli.options import (
    Data,
    Delimiter,
    Effort,
    Encoding,
    Engine,
    Format,
    Json,
    Master,
    Null,
    PolicyFile,
    Query,
    ShowValues,
    engine_of,
    load_policy,
)
from privet.effort import allowed
from privet.errors import AbsentError

if TYPE_CHECKING:
    from privet.policy.values import Policy


def check(
    data: Data,
    policy: PolicyFile,
    *,
    format: Format = None,  # noqa: A002 - the option's own name
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    null: Null = None,
    query: Query = None,
    engine: Engine = "embedded",
    master: Master = None,
    effort: Effort = None,
    show_values: ShowValues = False,
    json: Json = False,
) -> int:
    """What the raw data achieves: does it keep the policy's promises without any change?

    Nothing is written. A promise that already holds needs no `publish`; where one is broken, the answer
    counts the groups that break it and the records that stand in them. Exit code 1 if any is broken.

    Example:
      privet sample patients -o patients.csv --policy hospital.toml
      privet check patients.csv hospital.toml

    Next: `privet publish` makes a release that keeps the promises.

    """
    from privet.evidence import notes as ev

    said = load_policy(policy, format=format, delimiter=delimiter, encoding=encoding, null=null, query=query)
    if show_values:
        screen.refuse_hidden_terminal(json=json)
    try:
        with allowed(effort):
            verdicts, warnings = checked(data, said, engine_of(engine, master))
    except AbsentError:
        if show_values:
            screen.say(*near(data, said, engine_of(engine, master)))
        raise
    promises = [ev.promise(model, verdict) for model, verdict in verdicts]
    holds = all(promise["holds"] for promise in promises)
    if json:
        screen.answer({"holds": holds, "promises": promises, "warnings": warnings})
    else:
        screen.say(f"{screen.shown(data)} as it stands:", *screen.promise_lines(promises))
        screen.warn(*warnings)
        if not holds:
            command = screen.command("privet publish", data, policy, "-o", "out")
            how = {"trajectories": "removes points", "transactions": "removes items"}.get(
                said.kind, "generalises"
            )
            screen.say(*screen.next_steps((command, f"{how} until every promise holds")))
    return 0 if holds else 1


def checked(data: str, policy: Policy, engine: Any) -> tuple[Any, list[str]]:
    """Every promise's verdict, and what promises will meet where a road can foresee it."""
    from privet.roads import Foresees, fit, road_of

    road, engine = road_of(policy), fit(engine, policy)
    if isinstance(road, Foresees):
        return road.foreseen(data, policy, engine=engine)
    return road.check(data, policy, engine=engine), []
