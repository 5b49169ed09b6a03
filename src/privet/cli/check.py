"""`privet check`: what a table achieves as it stands."""

from __future__ import annotations

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
    engine_of,
    load_policy,
)


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
    from privet.report import evidence as ev
    from privet.road import check as checked

    said = load_policy(policy, format=format, delimiter=delimiter, encoding=encoding, null=null, query=query)
    verdicts = checked(data, said, engine=engine_of(engine))
    promises = [ev.promise(model, verdict) for model, verdict in verdicts]
    holds = all(promise["holds"] for promise in promises)
    if json:
        screen.answer({"holds": holds, "promises": promises})
    else:
        screen.say(f"{screen.shown(data)} as it stands:", *screen.promise_lines(promises))
        if not holds:
            command = f"privet publish {data} {policy} -o out"
            screen.say(*screen.next_steps((command, "generalises until every promise holds")))
    return 0 if holds else 1
