"""`privet sample`: people who do not exist, to try everything on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from privet.cli import documents, screen
from privet.cli.options import Json, Name, Overwrite, whole
from privet.errors import InputError, one_of

ADULT = "adult"  # not generated: real and public, converted from the files that UCI publishes


def sample(
    name: Name,
    *,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The file to write.")],
    rows: Annotated[
        int | None, typer.Option("--rows", min=1, help="How many records; 5,000, or 1,000 documents.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="The same seed, the same people; 0.")
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", metavar="FILE", help="Also write a policy that fits the sample."),
    ] = None,
    source: Annotated[
        list[Path] | None,
        typer.Option(
            "--from", metavar="FILE", help="For adult: adult.data or adult.test of UCI; repeatable."
        ),
    ] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> int:
    """Write sample data: tables of people who do not exist, the same for the same seed.

    The ending of FILE chooses the format (.csv, .tsv, .parquet, .jsonl, .arrow; .csv.gz too; for documents
    .json, .jsonl or .xml).
    `adult` is not generated: it converts the census files that the UCI repository publishes.

    Example:
      privet sample patients -o patients.csv --policy hospital.toml
      privet sample census -o census.parquet --rows 100000 --seed 7
      privet sample transcripts -o transcripts.json --policy transcripts.toml
      privet sample adult --from adult.data -o adult.csv

    Next: `privet check patients.csv hospital.toml` shows what the raw data gives away.

    """
    from privet.engines import files
    from privet.samples import SAMPLES
    from privet.samples.collections import COLLECTIONS

    if name != ADULT and name not in SAMPLES and name not in COLLECTIONS:
        raise InputError(one_of("NAME", [*SAMPLES, *COLLECTIONS, ADULT], name))
    if policy is not None and policy.resolve() == output.resolve():
        raise InputError("--policy: names the same file as --output")
    if name in COLLECTIONS:
        if source:
            raise InputError(f"--from: {name} is generated; only {ADULT} is read from files")
        many, drawn = 1_000 if rows is None else rows, seed or 0
        return documents.sample(name, output, many, drawn, policy, overwrite=overwrite, json=json)
    form = _form(output)
    frame = _adult(source, rows, seed) if name == ADULT else _generated(SAMPLES[name], source, rows, seed)
    text = SAMPLES["census" if name == ADULT else name].policy()
    with whole(output, overwrite=overwrite) as fresh:
        if policy is not None:
            with whole(policy, overwrite=overwrite) as drafted:
                drafted.write_text(text, encoding="utf-8")
        files.write(frame, fresh, form)
    if json:
        screen.answer(
            {
                "sample": name,
                "file": str(output),
                "policy": None if policy is None else str(policy),
                "records": frame.height,
                "columns": frame.columns,
            }
        )
        return 0
    screen.say(f"wrote {frame.height:,} records in {frame.width} columns: {screen.shown(str(output))}")
    screen.say(*screen.beside_sample(output, policy))
    return 0


def _form(output: Path) -> Any:
    from privet.core import Form
    from privet.engines import files

    form = files.settled(output, Form(delimiter=","))  # with a delimiter said, nothing needs to be there yet
    return replace(form, delimiter="\t") if form.format == "tsv" else form


def _generated(one: Any, source: list[Path] | None, rows: int | None, seed: int | None) -> Any:
    if source:
        raise InputError(f"--from: {one.name} is generated; only {ADULT} is read from files")
    return one.generate(5_000 if rows is None else rows, 0 if seed is None else seed)


def _adult(source: list[Path] | None, rows: int | None, seed: int | None) -> Any:
    if not source:
        raise InputError(f"{ADULT}: needs the file of the UCI repository: --from adult.data")
    if rows is not None or seed is not None:
        raise InputError(f"--rows, --seed: {ADULT} is not generated, all its complete records are written")
    from privet.samples.adult import read_adult

    return read_adult(source)
