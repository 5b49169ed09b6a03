"""What several commands take, and how it becomes a policy."""

from __future__ import annotations

import tempfile
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
    from privet.policy.values import Policy

ARGUMENTS = {
    "DATA": "CSV, TSV, Parquet, JSON lines, Arrow, Excel, Stata, SPSS, SAS, JSON, XML; or a database URL.",
    "POLICY": "The policy, a TOML file; `privet init` drafts one.",
    "[POLICY]": "The policy, a TOML file; a release folder has its own, and `risk` does without.",
    "DIR": "A release folder.",
    "PEOPLE": "A public list of people: a table with some of the quasi-identifiers.",
    "TARGET": "A release folder; or a raw table, with its policy.",
    "RAW": "The data that the release was made from.",
    "SOURCES...": "A TOML file that names a register, views and releases; or release folders, with --raw.",
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
Engine = Annotated[str, typer.Option("--engine", help="Where tables live; `privet list` shows which.")]
Drawn = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="Also draw it into this HTML file, which is about the raw data."),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace what stands there.")]
ShowValues = Annotated[
    bool, typer.Option("--show-values", help="Also show the raw values concerned; on a terminal only.")
]


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


def engine_of(name: str) -> Any:
    """An engine by its name."""
    from privet.registry import find

    try:
        return find("engines", name)()
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
        with whole(output, overwrite=overwrite) as fresh:
            fresh.write_text(page(), encoding="utf-8")


def refuse_drawing(output: Path | None, found: Mapping[str, Any]) -> None:
    """Only of tables there is a page."""
    if output is not None and "kind" in found:
        raise UnsupportedError(f"--output: only tables are drawn, not {found['kind']}")


@contextmanager
def whole(path: Path, *, overwrite: bool) -> Iterator[Path]:
    """A place to write a file that appears under its name only when it is whole."""
    if path.exists() and not overwrite:
        raise InputError(f"{path}: there is a file already; say --overwrite to replace it")
    if path.is_dir():
        raise InputError(f"{path}: this is a folder; name a file")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", dir=path.parent) as made:
        fresh = Path(made) / path.name
        yield fresh
        fresh.replace(path)
