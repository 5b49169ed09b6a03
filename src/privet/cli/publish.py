"""`privet publish`: from raw data to a release that keeps its policy."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli import attack as attacking
from privet.cli import pipeline, screen
from privet.cli.absent import near
from privet.cli.explain import explained, told
from privet.cli.options import (
    ARGUMENTS,
    Data,
    Delimiter,
    EachRow,
    Effort,
    Encoding,
    Engine,
    Format,
    Json,
    Master,
    Null,
    OfPerson,
    Overwrite,
    PresetName,
    Query,
    Sheet,
    ShowValues,
    engine_of,
    load_policy,
    refuse_beside_policy,
    release_folder,
    whose,
)
from privet.cli.preset import from_preset
from privet.cli.signing import private
from privet.cli.summary import document, summary
from privet.effort import allowed
from privet.errors import AbsentError, HierarchyError, InputError, PersonError

if TYPE_CHECKING:
    from privet.attackers.suite import Attacked
    from privet.core import Progress
    from privet.policy.values import Policy
    from privet.release import Release


def publish(
    data: Data,
    policy: Annotated[Path | None, typer.Argument(metavar="[POLICY]", help=ARGUMENTS["POLICY"])] = None,
    *,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", metavar="DIR", help="The folder to make; - sends the data to stdout."),
    ],
    evidence: Annotated[
        Path | None, typer.Option("--evidence", metavar="DIR", help="With -o -: the folder to make.")
    ] = None,
    preset: PresetName = None,
    rows: EachRow = None,
    person: OfPerson = None,
    like: Annotated[
        Path | None,
        typer.Option("--like", metavar="DIR", help="Use the recoding of this earlier release again."),
    ] = None,
    overwrite: Overwrite = False,
    format: Format = None,  # noqa: A002 - the option's own name
    to: Annotated[
        str | None, typer.Option("--to", metavar="FORMAT", help="Write another format than was read.")
    ] = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    null: Null = None,
    query: Query = None,
    sheet: Sheet = None,
    engine: Engine = "embedded",
    master: Master = None,
    ledger: Annotated[
        str | None,
        typer.Option("--ledger", metavar="LEDGER", help="What differential privacy is paid from."),
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="NAME", help="The data set's name in the ledger.")
    ] = None,
    effort: Effort = None,
    sign: Annotated[
        Path | None, typer.Option("--sign", metavar="KEY", help="Sign it with this private key.")
    ] = None,
    into: Annotated[
        str | None,
        typer.Option(
            "--into", metavar="URL", help="Also copy it to sqlite:, duckdb:, postgresql:, parquet:."
        ),
    ] = None,
    table: Annotated[
        str | None, typer.Option("--table", metavar="NAME", help="With --into: the table to make.")
    ] = None,
    log: Annotated[
        Path | None, typer.Option("--log", metavar="FILE", help="Add lines of JSON about the run, no data.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing but warnings and problems.")] = False,
    show_values: ShowValues = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Also say how the search went, as `privet explain` does.")
    ] = False,
    attack: Annotated[
        bool, typer.Option("--attack", help="Attack the release first, as `privet attack` does.")
    ] = False,
    json: Json = False,
) -> int:
    """Publish data under a policy: search, recode, check what is about to leave, write.

    The folder DIR may be handed to anybody: the data, the policy, evidence.json and report.html. The
    folder DIR.private beside it stays with you. If a promise cannot be kept, nothing is written.

    With --preset there is no policy to write: the guesses of `privet init` are accepted, identifiers are left
    out, and the promise is that of the preset. Look at what was left out, and at the roles in the release.

    With --like the recoding of an earlier release is used again on the next batch of data, so that the
    two can be laid side by side; the promises are checked afresh, and broken ones refuse.

    With differential privacy nothing leaves that is not paid for: --ledger and --dataset say from what,
    unless the policy does. `privet plan` shows beforehand what to expect.

    With --attack every attacker that applies is tried before anything is written; if one gets more than the
    promise allows, nothing is.

    In a pipeline: DATA may be - for stdin, and -o - sends the data alone to stdout, with the whole release in
    --evidence DIR. --into and --table also copy it into a database or a folder of Parquet data sets, with
    the evidence in a table beside it.

    Example:
      privet sample patients -o patients.csv --policy hospital.toml
      privet publish patients.csv hospital.toml -o out
      privet publish patients.csv --preset statistics-office-5 --rows persons -o out1
      privet publish next-month.csv hospital.toml --like out -o out2
      privet publish - hospital.toml -o - --evidence out3 < patients.csv > safe.csv
      privet publish patients.csv hospital.toml -o out4 --into sqlite:///clinic.db --table safe

    Next: `privet verify out` checks the release as its reader would.

    """
    # One thread of linear algebra, of which there is little here: more of them begin by spinning.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from privet.evidence.folder import read as written
    from privet.release import claimed, named
    from privet.roads import publish as published

    if show_values:
        screen.refuse_hidden_terminal(json=json)
    streamed = str(output) == pipeline.STREAM
    output = named(pipeline.folder_of(output, evidence, json=json))
    copy = pipeline.into(into, table, overwrite=overwrite)
    piped = data == pipeline.STREAM
    with (
        pipeline.logged(log, output) as journal,
        allowed(effort),
        claimed(output, overwrite=overwrite) as claim,
        pipeline.incoming(data, format, claim.folder) as source,
    ):
        earlier = None if like is None else release_folder(like)
        where = engine_of(engine, master, staging=claim.folder)
        key = None if sign is None else private(sign)
        by_preset = None
        how = {
            "format": format,
            "delimiter": delimiter,
            "encoding": encoding,
            "null": null,
            "query": query,
            "sheet": sheet,
        }
        if (policy is None) == (preset is None):
            raise InputError("publish: give a policy, or --preset; `privet init` drafts a policy")
        refuse_beside_policy(rows, person, preset)
        if preset is not None:
            by_preset = from_preset(source, preset, whose(rows, person), **how)
            said = by_preset.policy
            screen.warn(*by_preset.noticed)
        else:
            said = load_policy(Path(str(policy)), **how)
        said = paid_from(said, ledger, dataset)
        if copy is not None and said.kind == "documents":
            raise InputError("--into: documents are no table")
        spends = said.algorithm.public_domains
        if spends:
            claim.hold(pipeline.room(source))
        if explain and spends:
            raise InputError(f"--explain: {said.algorithm.name} has no loss to explain; see `privet plan`")
        try:
            with screen.working(json=json or quiet or streamed) as shown:
                progress = journal.watching(shown)
                release = published(source, said, engine=where, like=earlier, output=to, progress=progress)
                warnings = _warnings(release, output)
                withstood = _attacked(release, source, where, progress) if attack else None
                progress("write", 0)
                release.write(output, overwrite=overwrite, claim=claim, sign=key)
                warnings += release.remarks()
        except HierarchyError:
            if show_values:
                screen.say(*uncovered(source, said, where))
            raise
        except AbsentError:
            if show_values:
                screen.say(*near(source, said, where))
            raise
        except PersonError as error:
            if by_preset is None:
                raise
            raise by_preset.refused(error) from None
        journal.published(release, written(output).files or {})
        if copy is not None:
            pipeline.copied(copy, release, output)
            journal.note("copied", into=copy.where, table=copy.table)
    if streamed:
        screen.warn(*warnings)
        pipeline.to_stdout(output)
        return 0
    if json:
        told_of = document(release, output, warnings)
        if by_preset is not None:
            gone = by_preset.left_out
            told_of |= {"left_out": [{"column": name, "reason": reason} for name, reason in gone]}
        told_of |= {} if withstood is None else {"attacked": withstood.to_dict()}
        screen.answer(told_of | ({"explained": explained(output, where)} if explain else {}))
        return 0
    if quiet:
        screen.warn(*warnings)
        return 0
    screen.say(*summary(release, output))
    if copy is not None:
        screen.say(f"  {screen.shown(copy.where)}: {copy.table}, {copy.table}_evidence")
    if withstood is not None:
        screen.say("", *attacking.told(withstood))
    screen.warn(*warnings)
    if explain:
        screen.say("", *told(output, where, show_values=show_values))
    why = (
        screen.command("privet explain", output),
        "says what forced the loss, and what one step less would buy",
    )
    if spends and said.ledger is not None:
        place = str(release.private.get("ledger", "LEDGER"))  # as people may see it: no password
        why = (screen.command("privet ledger show", place), "shows what is spent and what is left")
    steps = [(screen.command("privet verify", output), "checks the release from its folder alone"), why]
    if not piped:
        steps.append((screen.command("privet compare", data, output), "measures what was lost"))
    screen.say(*screen.next_steps(*steps))
    return 0


def _attacked(release: Release, data: str, engine: Any, progress: Progress) -> Attacked:
    from privet.attackers.suite import withstood

    return withstood(release, raw=data, engine=engine, progress=progress)


def paid_from(policy: Policy, ledger: str | None, dataset: str | None) -> Policy:
    """The policy with the ledger and the data set that the command line names."""
    from privet.policy.values import Purse

    if ledger is None and dataset is None:
        return policy
    if not policy.algorithm.public_domains:
        raise InputError(f"--ledger, --dataset: {policy.algorithm.name} spends nothing")
    file = ledger if ledger is not None else policy.ledger and policy.ledger.file
    name = dataset if dataset is not None else policy.ledger and policy.ledger.dataset
    if not file or not name:
        raise InputError("--ledger, --dataset: give both, or say the other in the policy")
    return replace(policy, ledger=Purse(file, name))


def _warnings(release: Release, folder: Path) -> list[str]:
    from privet.release import earlier_releases, paid

    # What was paid for adds up in its ledger, and may be handed out beside others that were.
    others = [
        f"{other} is a release of the same data: whoever has both can combine them; hand out one only"
        for other in earlier_releases(folder, release.private.get("source"))
        if release.evidence.ledger is None or not paid(other)
    ]
    return [*release.private.get("warnings", ()), *others]


def uncovered(data: str, policy: Policy, engine: Any) -> list[str]:
    """The values that no hierarchy covers, for the steward's own eyes."""
    from privet.roads.stations import settle

    if policy.kind == "documents":
        from privet.roads.documents.data import distinct

        known = distinct(data, policy, engine)
    else:
        frame = engine.read(data, settle(data, policy.form), [attribute.name for attribute in policy.quasi])
        known = {attribute.name: engine.distinct(frame, attribute.name) for attribute in policy.quasi}
    lines = []
    for attribute in policy.quasi:
        hierarchy = attribute.hierarchy
        values = hierarchy.uncovered(known.get(attribute.name, ())) if hierarchy else []
        if values:
            lines.append(f"{screen.shown(attribute.name)}: {len(values):,} values have no place:")
            lines += [f"  {screen.shown(value)}" for value in sorted(values)]
    return lines
