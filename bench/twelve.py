"""Twelve real files that nobody here prepared, from an empty folder to a verified release.

    python -m bench.twelve            the commands, how long each took, what was left out, whether names leave

Two commands a file and no edit: `publish --preset` and `verify`. The files are some of people.toml, as they
stand in their packages or as pandas writes them: headers missing and doubled, names under any word.
"""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import polars as pl

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
    values: int  # values of identifying texts that are found in the release


def run(table: Labelled, preset: str) -> Run:
    with TemporaryDirectory() as folder:
        data = Path(folder) / f"{table.name}.csv"
        shutil.copy(table.file(), data)
        out = Path(folder) / "out"
        begun = time.monotonic()
        published = _said("publish", str(data), "--preset", preset, "-o", str(out), "--json")
        _said("verify", str(out), "--json")
        seconds = time.monotonic() - begun
        names = [name for name, role in table.roles.items() if role == "identifier"]
        made = pl.read_csv(next(out.glob("data.*")), infer_schema=False)
        leaving = tuple(name for name in names if name in made.columns)
        return Run(
            table.name,
            preset,
            2,
            seconds,
            published["records"],
            len(names),
            leaving,
            _found(data, names, out),
        )


def _found(data: Path, names: list[str], out: Path) -> int:
    """How many different texts of identifying columns stand in the released data as cells."""
    raw = pl.read_csv(data, infer_schema=False, encoding="utf8-lossy")
    elsewhere = {
        v for c in raw.iter_columns() if c.name not in names for v in c
    }  # cities with a name of people
    released = {
        v for c in pl.read_csv(next(out.glob("data.*")), infer_schema=False).iter_columns() for v in c
    }
    texts = {
        value
        for name in names
        if name in raw.columns
        for value in raw.get_column(name)
        if value and len(value) > 5 and not value.replace(".", "").isdigit()
    }
    return len(texts & released - elsewhere)


def _said(*arguments: str) -> Any:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = privet(list(arguments))
    if code:
        raise SystemExit(f"{' '.join(arguments)}: exit {code}: {out.getvalue()[:500]}")
    return json.loads(out.getvalue())


def lines() -> Iterator[str]:
    tables = {table.name: table for table in Labelled.every()}
    total = 0.0
    for name, preset in FILES.items():
        found = run(tables[name], preset)
        total += found.seconds
        yield (
            f"{name:18} {preset:22} {found.commands} commands, 0 edits, {found.seconds:5.1f} s, "
            f"{found.records:6,} records, {found.identifiers} identifiers, "
            f"{len(found.leaving)} of them leave, {found.values} of their texts found"
        )
    yield f"{len(FILES)} files in {total / 60:.1f} minutes"


if __name__ == "__main__":
    for line in lines():
        print(line, flush=True)
    sys.exit(0)
