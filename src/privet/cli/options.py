"""What several commands take, and how it becomes a policy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
import typer
from click.shell_completion import CompletionItem

from privet.errors import InputError, PolicyError, UnsupportedError

if TYPE_CHECKING:
    from privet.core import Form
    from privet.drafts.accept import Answers
    from privet.policy.values import Policy

ARGUMENTS = {
    "DATA": "CSV, TSV, Parquet, JSON lines, Arrow, Excel, Stata, SPSS, SAS, JSON, XML; or a database URL.",
    "[DATA]": "The same, or a release folder to look at; without it the page asks.",
    "OLD": "A release folder.",
    "NEW": "Another release folder.",
    "POLICY": "The policy, a TOML file; `privet init` drafts one.",
    "[POLICY]": "The policy, a TOML file; a release folder has its own, and `risk` does without.",
    "DIR": "A release folder.",
    "DIRS...": "Release folders of the same people; or an audit.toml, or its folder.",
    "PEOPLE": "A public list of people: a table with some of the quasi-identifiers.",
    "TARGET": "A release folder; or a raw table, with its policy.",
    "RAW": "The data that the release was made from.",
    "SOURCES...": "A TOML file that names a register, views and releases; or release folders, with --raw.",
    "CONTRACT": "The contract, a TOML file.",
    "PART...": "One table for each party, in the contract's order.",
    "SQL": "One aggregate over the audited table, with conditions on public columns.",
    "ANALYST": "Whose key it is.",
    "NAME": "patients, transfusions, census, trips-city, trips-metro, baskets, transcripts, "
    "transcripts-years, transcripts-sparse, encounters, or adult.",
}


class FileName(click.types.StringParamType):
    """Where a file may stand, or a database URL: the Tab key offers files."""

    def shell_complete(
        self, _ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type="file")]


class SampleName(click.types.StringParamType):
    """Where a sample is named, the Tab key offers their names."""

    def shell_complete(
        self, _ctx: click.Context, _param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from privet.samples import SAMPLES
        from privet.samples.collections import COLLECTIONS

        names = (*SAMPLES, *COLLECTIONS, "adult")
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


Data = Annotated[str, typer.Argument(metavar="DATA", help=ARGUMENTS["DATA"], click_type=FileName())]
PolicyFile = Annotated[Path, typer.Argument(metavar="POLICY", help=ARGUMENTS["POLICY"])]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help=ARGUMENTS["DIR"])]
Raw = Annotated[str, typer.Argument(metavar="RAW", help=ARGUMENTS["RAW"], click_type=FileName())]
Name = Annotated[str, typer.Argument(metavar="NAME", help=ARGUMENTS["NAME"], click_type=SampleName())]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, for programs.")]
Format = Annotated[
    str | None,
    typer.Option("--format", help="csv, parquet, xlsx, stata, …; else the file's ending decides."),
]
Delimiter = Annotated[
    str | None, typer.Option("--delimiter", help="One character, or tab; else the header decides.")
]
Encoding = Annotated[str | None, typer.Option("--encoding", help="utf-8 unless said, or latin-1, cp1252, …")]
Null = Annotated[
    list[str] | None, typer.Option("--null", help="A text that means 'missing', such as NA; may be repeated.")
]
Query = Annotated[str | None, typer.Option("--query", help="What to select, where DATA is a database URL.")]
Sheet = Annotated[str | None, typer.Option("--sheet", help="Which sheet, where DATA is a workbook.")]
PresetName = Annotated[
    str | None,
    typer.Option("--preset", metavar="NAME", help="A promise with its source; `privet list` shows which."),
]
EachRow = Annotated[
    str | None,
    typer.Option(
        "--rows", metavar="persons", help="With --preset: each row is a person, though an identifier repeats."
    ),
]
OfPerson = Annotated[
    str | None,
    typer.Option(
        "--person",
        metavar="COLUMN",
        help="With --preset: rows with the same COLUMN are one person's, who counts once.",
    ),
]
Engine = Annotated[str, typer.Option("--engine", help="Where tables live; `privet list` shows which.")]
CLUSTER = "spark"  # the engine that takes an address
Master = Annotated[
    str | None,
    typer.Option("--master", metavar="URL", help="Of --engine spark: sc://host:15002, local[4], or sail."),
]
Drawn = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="Also draw it into this HTML file, which is about the raw data."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what stands there.")]
ShowValues = Annotated[
    bool, typer.Option("--show-values", help="Also show the raw values concerned; on a terminal only.")
]


Effort = Annotated[
    int | None,
    typer.Option(
        "--effort", metavar="N", help="Allow N times the usual work, where less would be refused.", min=1
    ),
]


def refuse_beside_policy(rows: str | None, person: str | None, preset: str | None) -> None:
    """Whose rows are is said once: on the command line beside a preset, else in the policy."""
    if rows is not None and (rows != "persons" or preset is None):
        raise InputError('--rows: is "persons", beside --preset; in a policy, say rows or person there')
    if person is not None and preset is None:
        raise InputError("--person: goes with --preset; in a policy, say person there")
    if rows is not None and person is not None:
        raise InputError("--rows, --person: say one; each row is a person, or a column says whose it is")


def whose(rows: str | None, person: str | None) -> Answers:
    """Whose rows are, as far as the command line says it."""
    from privet.drafts.accept import Answers
    from privet.readings import Rows

    return Answers(rows=Rows.UNSAID if rows is None else Rows.PERSONS, person=person)


def form_of(
    form: Form,
    *,
    format: str | None = None,  # noqa: A002 - the option's own name
    delimiter: str | None = None,
    encoding: str | None = None,
    null: Sequence[str] | None = None,
    query: str | None = None,
    sheet: str | None = None,
) -> Form:
    """The form with what the command line says in place of what it said."""
    if delimiter is not None:
        delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter, delimiter)
        if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
            raise InputError("--delimiter: is one ASCII character such as ';', or the word tab")
    given = {"format": format, "delimiter": delimiter, "encoding": encoding, "query": query, "sheet": sheet}
    said: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    if null:
        said["nulls"] = tuple(dict.fromkeys(null))
    return replace(form, **said)


def load_policy(path: Path, **said: Any) -> Policy:
    """The policy with every role decided, and the form that the command line asks for."""
    from privet.policy.values import Policy

    policy = Policy.load(path)
    return replace(policy, form=form_of(policy.form, **said))


def engine_of(name: str, master: str | None = None, staging: Path | None = None) -> Any:
    """An engine by its name, and the cluster that it works on; `staging`: a folder that the cluster sees."""
    from privet.engine import Ahead
    from privet.registry import find

    if name == CLUSTER:
        return find("engines", name)(master=master, staging=staging)
    if master is not None:
        raise InputError(f"--master: the engine {name!r} has no cluster; say --engine {CLUSTER}")
    try:
        made = find("engines", name)
        return made(staging=staging) if staging is not None and issubclass(made, Ahead) else made()
    except PolicyError as error:
        raise error.at("--engine") from None


def release_folder(folder: Path) -> Path:
    """A folder that holds a release, or a complaint that says what is wrong with it."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder")
    if not (folder / "evidence.json").is_file():
        raise InputError(f"{folder}: no evidence.json; this is not a release folder")
    return folder


def drawn(output: Path | None, page: Callable[[], str], *, overwrite: bool) -> None:
    """The page in the file that was asked for, if one was."""
    if output is not None:
        if (output.parent / "evidence.json").exists():
            raise InputError(f"{output}: this page is about raw data and must not lie in a release folder")
        with whole(output, overwrite=overwrite, private=True) as fresh:
            fresh.write_text(page(), encoding="utf-8")


def refuse_drawing(output: Path | None, found: Mapping[str, Any]) -> None:
    """Only of tables there is a page."""
    if output is not None and "kind" in found:
        raise UnsupportedError(f"--output: only tables are drawn, not {found['kind']}")


def free(path: Path, *, overwrite: bool) -> Path:
    """The place of a file that may be written, as far as that can be said before any work."""
    from privet.placing import fits, followed

    path = followed(path)
    if path.exists() and not overwrite:
        raise InputError(f"{path}: there is a file already; say --overwrite to replace it")
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; name a file")
    fits(path)
    return path


@contextmanager
def whole(path: Path, *, overwrite: bool, private: bool = False) -> Iterator[Path]:
    """A place to write a file that appears under its name only when it is whole.

    A `private` one is for the eyes of who runs this only, whatever the umask.
    """
    from privet.placing import aside

    path = free(path, overwrite=overwrite)
    with aside(path) as made:
        fresh = made.fresh(path.name)
        if private:
            fresh.touch(mode=0o600)
        yield fresh
        if private:
            fresh.chmod(0o600)
        made.replace(path.name)
