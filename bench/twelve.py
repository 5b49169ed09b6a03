"""Twelve real files that nobody here prepared, from an empty folder to a verified release.

    python -m bench twelve --full     the commands, how long each took, what was left out, whether names leave

Two commands a file and no edit: `publish --preset` and `verify`; three where an identifier repeats and the
first is refused until `--rows persons` says that each row is a person of its own. The files are some of
people.toml, as they stand in their packages or as pandas writes them: headers missing and doubled, names
under any word.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

from bench.outcome import Cell, Outcome, Table
from bench.people import Labelled
from privet.cli import main as privet

FILES = {
    "compas": "statistics-office-5",
    "la-riots": "statistics-office-3",
    "baseball-people": "ema-0070",
    "canadian-senators": "statistics-office-5",
    "covid-testing": "hipaa-safe-harbor",
    "london-murders": "statistics-office-10",
    "nba-players": "statistics-office-3",
    "bakers": "statistics-office-3",
    "loans": "statistics-office-5",
    "titanic-survival": "hipaa-expert",
    "marriages": "statistics-office-3",
    "candidates": "lkc-research",
}


@dataclass(frozen=True)
class Run:
    """One file on its way out."""

    name: str
    preset: str
    commands: int
    seconds: float
    records: int
    identifiers: int  # labelled so by a person
    leaving: tuple[str, ...]  # of these, the columns that are in the release
    values: int  # identifying texts that stand in a released column which did not have them
    shared: dict[str, int]  # by released column, how many of its own values also name somebody elsewhere


def published(table: Labelled, preset: str) -> Run:
    with TemporaryDirectory() as folder:
        data = Path(folder) / f"{table.name}.csv"
        shutil.copy(table.file(), data)
        out = Path(folder) / "out"
        begun = time.monotonic()
        publish = ("publish", str(data), "--preset", preset, "-o", str(out), "--json")
        commands, code, said = 2, *_said(*publish)
        if code and said["error"] == "person":  # an identifier repeats: whose rows are, is asked
            commands, code, said = 3, *_said(*publish, "--rows", "persons")
        if not code:
            code = _said("verify", str(out), "--json")[0]
        if code:
            raise SystemExit(f"{table.name}: exit {code}: {said}")
        seconds = time.monotonic() - begun
        names = [name for name, role in table.roles.items() if role == "identifier"]
        made = pl.read_csv(next(out.glob("data.*")), infer_schema=False)
        leaving = tuple(name for name in names if name in made.columns)
        return Run(
            table.name,
            preset,
            commands,
            seconds,
            said["records"],
            len(names),
            leaving,
            *_found(data, names, out),
        )


def _found(data: Path, names: list[str], out: Path) -> tuple[int, dict[str, int]]:
    """Texts of identifying columns among the released cells: those that came from there, and namesakes.

    Cities are called as people are. A text that the released column itself had before, at least as often, is
    its own value; what it did not have, or had less often, has come out of a column that was to be left out.
    """
    raw = pl.read_csv(data, infer_schema=False, encoding="utf8-lossy")
    texts = {
        value
        for name in names
        if name in raw.columns
        for value in raw.get_column(name)
        if value and len(value) > 5 and not value.replace(".", "").isdigit()
    }
    moved, shared = 0, {}
    for column in pl.read_csv(next(out.glob("data.*")), infer_schema=False).iter_columns():
        met = texts.intersection(column)
        before = Counter(raw.get_column(column.name)) if column.name in raw.columns else Counter()
        after = Counter(column)
        own = {text for text in met if after[text] <= before[text]}
        moved += len(met - own)
        if own:
            shared[column.name] = len(own)
    return moved, shared


def _said(*arguments: str) -> tuple[int, Any]:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = privet(list(arguments))
    return code, json.loads(out.getvalue())


def run(*, full: bool) -> Outcome:
    """A row for each file; without `full`, of the first three."""
    tables = {table.name: table for table in Labelled.every()}
    rows: list[list[Cell]] = []
    for name, preset in list(FILES.items())[: None if full else 3]:
        found = published(tables[name], preset)
        kept = found.commands <= 3 and not found.leaving and not found.values
        rows.append(
            [
                name,
                preset,
                found.commands,
                found.seconds,
                found.records,
                found.identifiers,
                len(found.leaving),
                found.values,
                ", ".join(f"{many} of {column}" for column, many in found.shared.items()),
                "kept" if kept else "MISSED",
            ]
        )
        print(f"{name}: {found}", file=sys.stderr, flush=True)
    heads = {
        "file": "",
        "preset": "",
        "commands": ",",
        "s": ".1f",
        "records": ",",
        "identifiers": ",",
        "leave": ",",
        "of their texts": ",",
        "own values that are also names": "",
        "target": "",
    }
    return Outcome(
        "twelve",
        "real files, from an empty folder to a verified release",
        "`publish --preset` and `verify`, no edits; a third command where whose rows are must be said.",
        (Table("files", heads, rows),),
    )
