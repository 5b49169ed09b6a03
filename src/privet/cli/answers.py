"""`privet documents`: what a release of documents answers."""

from __future__ import annotations

import json as notation
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from privet.cli import documents, screen
from privet.cli.options import Engine, Folder, Json, Overwrite, release_folder, whole
from privet.cli.screen import share
from privet.document.choice import WAYS
from privet.errors import InputError

GIST = (
    "what a release of documents answers\n\nWays to publish documents, and what each is for:\n\n"
    + "\n\n".join(f"{way.name}: for {way.choose}. Resists {way.resists}; but {way.not_}." for way in WAYS)
)
Pattern = Annotated[
    str, typer.Argument(metavar="PATTERN", help="A record with only what is asked for, as JSON or a file.")
]


def count(
    folder: Folder,
    pattern: Pattern,
    *,
    raw: Annotated[
        str | None, typer.Option("--raw", metavar="DATA", help="The original: says the exact answer, too.")
    ] = None,
    vertices: Annotated[
        bool, typer.Option("--vertices", help="Count vertices at the end of one path, not people.")
    ] = False,
    engine: Engine = "embedded",
    json: Json = False,
) -> int:
    """How many people match a pattern, estimated from a release; with the original, also exactly.

    PATTERN reads like a record in which only what is asked for stands: a field has a value, a list of
    values or a range of numbers, and children say what some child must be. From a release in halves
    (tree-anatomy) the estimate is the expected count over all ways to put the halves together; from
    generalised trees it lets every label stand for each of its values alike, which needs the original.

    Example:
      privet documents count out '{"courses": [{"course": ["CS201", "CS204"], "grade": "A"}]}'
      privet documents count out '{"gpa": {"from": 3, "to": 4}}' --raw students.json

    Next: `privet compare` asks a hundred random counts and says how right they are.

    """
    from privet.roads.documents.answers import counted

    release_folder(folder)
    with screen.working(json=json) as progress:
        progress("measure", 0)
        found = counted(folder, said(pattern, "PATTERN"), raw=raw, vertices=vertices, engine=engine)
    if json:
        screen.answer(found)
    else:
        screen.say(*_counted(found))
    return 0


def reconstruct(
    folder: Folder,
    *,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="JSON, JSON lines or XML.")],
    overwrite: Overwrite = False,
    engine: Engine = "embedded",
    json: Json = False,
) -> int:
    """One way to put a release in halves together again, drawn from all that are as likely.

    Tools that want whole records can read the file. Nobody is really one of its records: only who has
    the private notes knows which half belongs to which. Draw several and average what you compute.

    Example:
      privet documents reconstruct halves -o drawn.json

    Next: `privet documents count` has the average over all ways, without drawing.

    """
    from privet.roads.documents.answers import write_reconstructed

    release_folder(folder)
    with whole(output, overwrite=overwrite) as fresh:
        records = write_reconstructed(folder, fresh, engine=engine)
    if json:
        screen.answer({"file": str(output), "records": records})
    else:
        screen.say(f"wrote {records:,} records, put together at random: {screen.shown(str(output))}")
    return 0


def risk_of_release(folder: Path, known: str | None, engine: str, *, show_values: bool, json: bool) -> int:
    """`privet risk` of a release in halves: what it gives away in general, and about one person."""
    from privet.roads.documents.answers import conclusions, linked

    release_folder(folder)
    about = None if known is None else said(known, "--known")
    with screen.working(json=json) as progress:
        progress("measure", 0)
        found: dict[str, Any] = linked(folder, engine=engine)
        if about is not None:
            found["person"] = conclusions(folder, about, show_values=show_values, engine=engine)
    if json:
        screen.answer(found)
    else:
        screen.say(*documents.linked(found))
    return 0


def said(given: str, name: str) -> Any:
    """JSON from the command line, or from a file; a fault is said by its place, not by its text."""
    inline, path = given.lstrip().startswith("{"), Path(given)
    if not inline and not _is_file(path):
        raise InputError(f"{name}: is JSON such as {{...}}, or a file with it; there is no such file")
    try:
        text = given if inline else path.read_text(encoding="utf-8")
        return notation.loads(text, parse_float=str, object_pairs_hook=_once)
    except UnicodeDecodeError:
        raise InputError(f"{name}: the file is not UTF-8") from None
    except notation.JSONDecodeError as error:
        raise InputError(f"{name}: line {error.lineno}, column {error.colno}: this is not JSON") from None
    except RecursionError:
        raise InputError(f"{name}: nested too deep") from None
    except KeyError:
        raise InputError(f"{name}: an object has a key twice") from None
    except ValueError:  # Python reads no whole number of more than 4,300 digits
        raise InputError(f"{name}: a number has too many digits") from None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # longer than a name may be; the system's sentence would repeat all of it
        return False


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise KeyError
    return made


def _counted(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"about {found['estimated']:,.1f} {found['counted']} match, by the release"
    if "true" in found:
        right = found["accuracy"]
        yield f"  {found['true']:,} do in the original" + (
            "" if right is None else f"; the estimate is right by {share(max(right, 0))}"
        )
