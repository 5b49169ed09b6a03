"""`privet init`: a first policy for a table that nobody has described yet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privet.cli import documents, screen
from privet.cli.options import (
    Data,
    Delimiter,
    EachRow,
    Encoding,
    Format,
    Json,
    Null,
    OfPerson,
    Overwrite,
    PresetName,
    Query,
    Sheet,
    form_of,
    free,
    refuse_beside_policy,
    whole,
    whose,
)
from privet.errors import InputError, one_of

if TYPE_CHECKING:
    from privet.core import Form
    from privet.drafts.accept import Answers
    from privet.drafts.text import Draft


KINDS = ["table", "documents", "trajectories", "transactions"]


def init(
    data: Data,
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The policy file to write.")
    ] = Path("policy.toml"),
    kind: Annotated[
        str | None,
        typer.Option(
            "--kind",
            help="table, documents, trajectories or transactions; else nested records are documents.",
        ),
    ] = None,
    ask: Annotated[
        bool, typer.Option("--ask", help="Ask the few questions that matter, each with its answer.")
    ] = False,
    accept: Annotated[
        bool, typer.Option("--accept", help="Take the guesses; the promise is that of --preset.")
    ] = False,
    preset: PresetName = None,
    rows: EachRow = None,
    person: OfPerson = None,
    overwrite: Overwrite = False,
    format: Format = None,  # noqa: A002 - the option's own name
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    null: Null = None,
    query: Query = None,
    sheet: Sheet = None,
    json: Json = False,
) -> int:
    """Draft a policy from the data: every column, a guess at its role with the reason, a hierarchy.

    JSON and XML with records inside records are documents: every path, how often it is there, a guess. JSON
    whose objects hold single values is a table.

    Nothing is decided for you: every role is "undecided" and no promise is filled in, so that `publish`
    refuses until you have decided. The draft holds names and counts, never a value from the data.

    With --ask the decisions are asked for here, each with the answer that privet would give. With --accept
    the guesses are taken as they are. Either way the promise is a preset that you name.

    Example:
      privet sample patients -o patients.csv
      privet init patients.csv -o policy.toml
      privet init patients.csv -o policy.toml --accept --preset statistics-office-5 --rows persons --overwrite

    Next: edit the file (roles, one promise), then `privet check` and `privet publish`.

    """
    from privet.core import Form
    from privet.drafts.documents import looks_nested, not_by_preset
    from privet.drafts.draft import draft

    if accept and preset is None:
        raise InputError("--accept: say --preset too; no promise is chosen for you, `privet list` shows them")
    if preset is not None and not (accept or ask):
        raise InputError("--preset: say --accept or --ask too; a draft alone decides nothing")
    refuse_beside_policy(rows, person, preset)
    if kind not in {None, *KINDS}:
        raise InputError(f"--kind: {one_of('it', KINDS, kind)}")
    if kind == "documents" or (kind is None and looks_nested(data, format)):
        if accept or ask:
            raise not_by_preset(data)
        return documents.init(data, output, format, overwrite=overwrite, json=json)
    if Path(data).suffix.lower() == ".xml" and format is None:
        raise InputError(f"{data}: --kind {kind}: XML holds documents, not rows: leave --kind out")
    said = form_of(
        Form(), format=format, delimiter=delimiter, encoding=encoding, null=null, query=query, sheet=sheet
    )
    if kind == "transactions":
        if accept or ask:
            raise InputError("--accept, --ask: presets are for tables and trajectories, not for sets yet")
        return _sets(Path(data), output, said, overwrite=overwrite, json=json)
    free(output, overwrite=overwrite)  # before anybody waits, or answers a question
    with screen.working(json=json) as progress:
        drafted = draft(
            data,
            said,
            guess_encoding=encoding is None,
            guess_nulls=not null,
            progress=progress,
            paths=kind == "trajectories" if kind or not accept else None,
        )
    decided: dict[str, str] = {}
    text, told = drafted.dumps(), drafted.doubts
    if accept or ask:
        text, told, decided = _decided(drafted, preset, whose(rows, person), ask=ask)
    with whole(output, overwrite=overwrite) as fresh:
        fresh.write_text(text, encoding="utf-8")
    if json:
        more = {"decided": decided} if decided else {}
        screen.answer(
            {"policy": str(output), "preset": preset, **drafted.to_dict(), **more, "told": list(told)}
        )
        return 0
    columns = [
        (name, decided.get(name, said) if decided else f"{said}?", _because(said, reason, decided.get(name)))
        for name, said, reason in drafted.told()
    ]
    size = f"{_many(drafted.records, 'record')} in {_many(len(columns), 'column')}"
    screen.say(
        f"drafted {screen.shown(str(output))} for {size}",
        *screen.table(columns, head=("column", "decided" if decided else "guess", "because")),
    )
    screen.warn(*told)
    publish = (
        screen.command("privet publish", data, output, "-o", "out"),
        "a release that keeps the promise",
    )
    check = (screen.command("privet check", data, output), "what the raw data achieves")
    edit = (f"edit {output}", "decide every role, and promise something")
    screen.say(*screen.next_steps(*((check, publish) if accept or ask else (edit, check, publish))))
    return 0


def _decided(
    drafted: Draft, preset: str | None, said: Answers, *, ask: bool
) -> tuple[str, tuple[str, ...], dict[str, str]]:
    """The policy, what its steward should know, and the role of each column in it."""
    from privet.cli import asking
    from privet.cli.preset import policy_of
    from privet.drafts.accept import accept as accepted
    from privet.policy.presets import Preset

    chosen = None if preset is None else Preset.find(preset)  # before anybody answers a question
    answers = replace(asking.answers(drafted), rows=said.rows, person=said.person) if ask else said
    chosen = chosen or Preset.find(asking.preset())
    made = accepted(drafted, chosen, answers)
    roles = {one.name: one.role.value for one in policy_of(made.text, chosen.name).attributes}
    return made.text, made.told, roles


def _because(guessed: str, reason: str, decided: str | None) -> str:
    """The reason of a guess, or whence another decision."""
    if decided in {None, guessed} or (guessed, decided) == ("target", "sensitive"):
        return reason
    return "by your answer, or by the rules of the preset"


def _sets(data: Path, output: Path, form: Form, *, overwrite: bool, json: bool) -> int:
    """A draft for set-valued data: where the sets may be, and nothing promised."""
    from privet.roads.transactions.draft import drafted, guess

    found = guess(data, form)
    with whole(output, overwrite=overwrite) as fresh:
        fresh.write_text(drafted(data, found), encoding="utf-8")
    if json:
        screen.answer({"policy": str(output), "transactions": found})
        return 0
    screen.say(
        f"drafted {screen.shown(str(output))}",
        *screen.table([(key, screen.shown(value)) for key, value in found.items()], head=("key", "guess")),
        *screen.next_steps((f"edit {output}", "look where the sets are, and promise something")),
    )
    return 0


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
