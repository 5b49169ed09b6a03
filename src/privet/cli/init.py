"""`privet init`: a first policy for a table that nobody has described yet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from privet.cli import documents, screen
from privet.cli.options import Data, Delimiter, Encoding, Format, Json, Null, Overwrite, Query, form_of, whole
from privet.errors import InputError, one_of


def init(
    data: Data,
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", help="The policy file to write.")
    ] = Path("policy.toml"),
    kind: Annotated[
        str | None,
        typer.Option("--kind", help="table, documents or trajectories; else nested records are documents."),
    ] = None,
    overwrite: Overwrite = False,
    format: Format = None,  # noqa: A002 - the option's own name
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    null: Null = None,
    query: Query = None,
    json: Json = False,
) -> int:
    """Draft a policy from the data: every column, a guess at its role with the reason, a hierarchy.

    JSON and XML with records inside records are documents: every path, how often it is there, a guess.

    Nothing is decided for you: every role is "undecided" and no promise is filled in, so that `publish`
    refuses until you have decided. The draft holds names and counts, never a value from the data.

    Example:
      privet sample patients -o patients.csv
      privet init patients.csv -o policy.toml

    Next: edit the file (roles, one promise), then `privet check` and `privet publish`.

    """
    from privet.core import Form
    from privet.policy.draft import draft
    from privet.roads.documents.draft import looks_nested

    if kind not in {None, "table", "documents", "trajectories"}:
        raise InputError(f"--kind: {one_of('it', ['table', 'documents', 'trajectories'], kind)}")
    if kind == "documents" or (kind is None and looks_nested(data, format)):
        return documents.init(data, output, format, overwrite=overwrite, json=json)
    said = form_of(Form(), format=format, delimiter=delimiter, encoding=encoding, null=null, query=query)
    with screen.working(json=json) as progress:
        drafted = draft(
            data,
            said,
            guess_encoding=encoding is None,
            guess_nulls=not null,
            progress=progress,
            paths=kind == "trajectories",
        )
    with whole(output, overwrite=overwrite) as fresh:
        fresh.write_text(drafted.dumps(), encoding="utf-8")
    if json:
        screen.answer({"policy": str(output), **drafted.to_document()})
        return 0
    rows = [(name, f"{said}?", reason) for name, said, reason in drafted.told()]
    size = f"{_many(drafted.records, 'record')} in {_many(len(rows), 'column')}"
    screen.say(
        f"drafted {screen.shown(str(output))} for {size}",
        *screen.table(rows, head=("column", "guess", "because")),
    )
    screen.warn(*drafted.doubts)
    screen.say(
        *screen.next_steps(
            (f"edit {output}", "decide every role, and promise something"),
            (screen.command("privet check", data, output), "what the raw data achieves"),
            (screen.command("privet publish", data, output, "-o", "out"), "a release that keeps the promise"),
        )
    )
    return 0


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")
