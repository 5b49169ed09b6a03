"""`privet publish`: from raw data to a release that keeps its policy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli import attack as attacking
from privet.cli import documents, pipeline, screen, trajectories, transactions
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
    form_of,
    load_policy,
    refuse_beside_policy,
    release_folder,
    whose,
)
from privet.cli.signing import private
from privet.effort import allowed
from privet.errors import AbsentError, HierarchyError, InputError, PersonError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from privet.attackers.suite import Attacked
    from privet.core import Progress
    from privet.drafts.accept import Answers
    from privet.drafts.text import Draft
    from privet.evidence.measures import Measures
    from privet.evidence.values import ColumnNote
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
        left_out: list[dict[str, str]] = []
        asked_for = ""
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
            said, noticed, left_out, asked_for = from_preset(source, preset, whose(rows, person), **how)
            screen.warn(*noticed)
        else:
            said = load_policy(Path(str(policy)), **how)
        said = paid_from(said, ledger, dataset)
        if copy is not None and said.kind == "documents":
            raise InputError("--into: documents are no table")
        spends = said.algorithm.public_domains
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
        except PersonError:
            if preset is None or not asked_for:
                raise
            raise PersonError(asked_for) from None
        journal.published(release, written(output).files or {})
        if copy is not None:
            pipeline.copied(copy, release, output)
            journal.note("copied", into=copy.where, table=copy.table)
    if streamed:
        screen.warn(*warnings)
        pipeline.to_stdout(output)
        return 0
    if json:
        document = _document(release, output, warnings)
        document |= {} if preset is None else {"left_out": left_out}
        document |= {} if withstood is None else {"attacked": withstood.to_dict()}
        screen.answer(document | ({"explained": explained(output, where)} if explain else {}))
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


def from_preset(
    data: str, preset: str, answers: Answers, **how: Any
) -> tuple[Policy, list[str], list[dict[str, str]], str]:
    """The policy that `init --accept` would write; what its steward should know; the columns that are left
    out, each with the reason; and what to say where it is not known whose the rows are.
    """
    from privet.core import Form
    from privet.drafts.accept import accept
    from privet.drafts.documents import looks_nested, not_by_preset
    from privet.drafts.draft import draft
    from privet.drafts.text import short
    from privet.policy.presets import Preset

    found = Preset.find(preset)
    if looks_nested(data, how["format"]):
        raise not_by_preset(data)
    drafted = draft(
        data,
        form_of(Form(), **how),
        guess_encoding=how["encoding"] is None,
        guess_nulls=not how["null"],
        paths=None,
    )
    made = accept(drafted, found, answers)
    gone = [(name, short(reason)) for name, said, reason in drafted.told() if said == "identifier"]
    by_reason: dict[str, list[str]] = {}
    for name, reason in gone:
        by_reason.setdefault(reason, []).append(name)
    listed = "; ".join(f"{', '.join(names)} ({reason})" for reason, names in by_reason.items())
    noticed = [f"left out, as they may name people: {listed}"] if gone else []
    left_out = [{"column": name, "reason": reason} for name, reason in gone]
    policy = policy_of(made.text, preset)
    asked = drafted.doubts[len(drafted.seen) :]  # whose rows are: what refuses says it
    doubts = [*noticed, *(one for one in made.told if one not in asked)]
    return policy, doubts, left_out, "" if answers.person is not None else whose_rows(drafted)


def policy_of(text: str, preset: str) -> Policy:
    """The policy; where nothing is left to generalise, in words of who has never seen one."""
    import tomllib

    from privet.core import Role
    from privet.policy.values import Policy

    said = tomllib.loads(text)
    roles = {one["role"] for one in said["attributes"].values()} if "attributes" in said else set()
    if said["kind"] != "table" or Role.QUASI.value in roles:
        return Policy.loads(text, place=preset)
    gone = sum(one["role"] == Role.IDENTIFIER.value for one in said["attributes"].values())
    raise InputError(
        f"--preset: {gone} of {len(said['attributes'])} columns are left out, as they may name people, and "
        "in none of the others is something that others may know about a person: nothing remains to "
        "generalise, so the preset would promise nothing",
        "--preset: if one of those that are left out says nothing about who it is, say so with "
        f"`privet init DATA --ask --preset {preset}` (-NAME takes it off), and publish under that policy",
    )


def whose_rows(drafted: Draft) -> str:
    """What is asked of who publishes with a preset, in one sentence."""
    from privet.engines.text import listed

    repeated = listed(drafted.repeated) if drafted.repeated else "a column that is left out"
    named = (
        f"--person {drafted.persons[0]}, which counts rows with one value of it as one person, or "
        if drafted.persons
        else ""
    )
    return (
        f"{repeated}: values repeat, so a person may have several rows; say {named}--rows persons, which "
        "claims that each row is a person of its own"
    )


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


def _document(release: Release, folder: Path, warnings: list[str]) -> dict[str, Any]:
    from privet.release import private_folder

    evidence = release.evidence
    return {
        "folder": str(folder),
        "private": str(private_folder(folder)),
        **{key: evidence[key] for key in ("records", "columns", "promises", "attributes", "measures")},
        "warnings": warnings,
    }


def summary(release: Release, folder: Path) -> list[str]:
    """A release in a few lines: promises kept, what became of each column, where it lies."""
    from privet.release import private_folder
    from privet.report.numerals import counted

    evidence = release.evidence
    left_out = evidence.suppressed_records
    files = sorted(path.name for path in folder.iterdir())
    return [
        f"published {evidence.records:,} records"
        + (f" in {len(evidence.columns)} columns" if evidence.columns else "")
        + (f"; {counted(left_out, 'record was', 'records were')} left out" if left_out else ""),
        *screen.promise_lines(evidence.promises),
        *screen.choice_lines(release.private.get("choice")),
        "",
        *(became(evidence.attributes, evidence.measures) if evidence.attributes else []),
        *([] if evidence.thinning is None else ["", *trajectories.published(evidence)]),
        *([] if evidence.documents is None else ["", *documents.published(evidence)]),
        *([] if evidence.sets is None else ["", *transactions.published(evidence.sets, evidence.recoding)]),
        "",
        f"  {screen.shown(str(folder))}: {', '.join(files)}",
        f"  {screen.shown(str(private_folder(folder)))} stays with you: it holds raw values",
    ]


def became(attributes: Mapping[str, ColumnNote], measures: Measures) -> list[str]:
    """For each column, what is published of it and what share of its detail is lost."""
    rows = []
    for name, note in attributes.items():
        how, measured = note.published, (measures.attributes or {}).get(name)
        if note.values_ is not None:
            how += f" to {len(note.values_):,} values" if len(note.values_) > 1 else " to one value"
        lost = None if measured is None else measured.get("lm", measured.changed)
        rows.append((name, note.role, how, "" if lost is None else screen.share(lost)))
    return screen.table(rows, head=("column", "role", "published", "lost"))


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
