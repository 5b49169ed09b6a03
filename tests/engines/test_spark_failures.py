"""What fails on a cluster leaves nothing: no release, no part of one, no litter beside it or elsewhere.

The command runs in a process of its own, on Sail or on the Spark that PRIVET_SPARK names.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from hashlib import sha512
from pathlib import Path

import polars as pl
import pytest
from tests.engines.test_spark import PEOPLE, RULES, SERVER, a_server

pytestmark = pytest.mark.services

MASTER = os.environ.get("PRIVET_SPARK", "sail")
NOTED = RULES.replace("[[models]]", 'note = { role = "other" }\n[[models]]', 1)


def noted(rows: int) -> pl.DataFrame:
    """Records with notes that no writer packs well: a row takes about 200 bytes on a disk."""
    notes = ["".join(sha512(f"{n} {at}".encode()).hexdigest() for at in range(3)) for n in range(rows)]
    return pl.concat([PEOPLE] * (rows // PEOPLE.height)).with_columns(note=pl.Series(notes))


def publish(
    raw: Path, out: Path, temporary: Path, *more: str, master: str = MASTER
) -> subprocess.CompletedProcess[str]:
    """`privet publish`, with a folder of its own for temporary files."""
    pytest.importorskip("pyspark", reason="the extra `spark` is not installed")
    if MASTER == "sail":
        pytest.importorskip("pysail", reason="the extra `sail` is not installed")
    temporary.mkdir()
    rules = raw.with_name("rules.toml")
    rules.write_text(NOTED)
    said = ["publish", str(raw), str(rules), "-o", str(out), "--engine", "spark", "--master", master, *more]
    return subprocess.run(
        [sys.executable, "-m", "privet.cli", *said],
        capture_output=True, text=True, check=False, cwd=temporary,
        env=os.environ | {"TMPDIR": str(temporary), "SPARK_LOCAL_DIRS": str(temporary)},
    )  # fmt: skip


def refused(done: subprocess.CompletedProcess[str], said: str, place: Path, temporary: Path) -> None:
    """One line that says so and quotes nothing, and neither a release nor litter."""
    assert done.returncode == 2, done.stdout + done.stderr[-2000:]
    ours = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(ours) == 1, done.stderr[-2000:]
    assert said in ours[0]
    assert "Traceback" not in done.stderr
    assert noted(60)["note"][0] not in done.stderr
    assert sorted(path.name for path in place.iterdir()) == [], "nothing where the release was to be"
    left = [path.name for path in temporary.rglob("*") if "privet" in path.name or path.suffix == ".parquet"]
    assert left == [], "nothing among temporary files"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Callable[[int], Path]]:
    """A disk of so many bytes, which fills up: a real one, so that whoever writes learns it as ever."""
    place = tmp_path / "disk"
    place.mkdir()

    def made(size: int) -> Path:
        told = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
        if subprocess.run(told, capture_output=True, check=False).returncode:
            pytest.skip("nobody but root mounts a small disk")
        return place

    yield made
    subprocess.run(["umount", str(place)], capture_output=True, check=False)


@pytest.mark.parametrize(
    ("size", "more", "said"),
    [
        (4096, (), "Spark: "),
        (200_000, (), "Spark: writing the parts failed"),
        (1_000_000, ("--to", "csv"), "No space left on device"),
    ],
    ids=["for counts", "for parts", "for the release"],
)
def test_a_disk_that_is_really_full(
    small_disk: Callable[[int], Path], tmp_path: Path, size: int, more: tuple[str, ...], said: str
) -> None:
    noted(2400).write_parquet(tmp_path / "raw.parquet")
    place = small_disk(size)
    done = publish(tmp_path / "raw.parquet", place / "out", tmp_path / "tmp", *more)
    refused(done, said, place, tmp_path / "tmp")


def missing(folder: Path) -> None:
    noted(60).drop("ill").write_parquet(folder / "1.parquet")


def other(folder: Path) -> None:
    noted(60).with_columns(ill=pl.lit(1)).write_parquet(folder / "1.parquet")


def nothing(folder: Path) -> None:
    (folder / "1.parquet").write_bytes(b"PAR1 nothing")


def cut(folder: Path) -> None:
    whole = (folder / "0.parquet").read_bytes()
    (folder / "1.parquet").write_bytes(whole[: len(whole) // 2])


def damaged(folder: Path) -> None:
    """Its footer is fine, so that only whoever reads the records finds out."""
    whole = (folder / "0.parquet").read_bytes()
    (folder / "1.parquet").write_bytes(whole[:200] + b"\xff" * 20_000 + whole[20_200:])


def dangling(folder: Path) -> None:
    (folder / "1.parquet").symlink_to(folder / "nowhere")


@pytest.mark.parametrize(
    ("break_", "said"),
    [
        (missing, "1.parquet: has other columns"),
        (other, "1.parquet: a column has another type"),
        (nothing, "1.parquet: this cannot be read as parquet"),
        (cut, "1.parquet: this cannot be read as parquet"),
        (damaged, "Spark: "),
        (dangling, "1 entries are not files"),
    ],
)
def test_parts_that_cannot_be_used(tmp_path: Path, break_: Callable[[Path], None], said: str) -> None:
    raw, place = tmp_path / "raw", tmp_path / "place"
    raw.mkdir()
    place.mkdir()
    for name in ("0.parquet", "2.parquet"):
        noted(600).write_parquet(raw / name)
    break_(raw)
    refused(publish(raw, place / "out", tmp_path / "tmp"), said, place, tmp_path / "tmp")


BOUND = """
import os
os.environ["SAIL_RUNTIME__MEMORY_POOL__TYPE"] = "fair"
os.environ["SAIL_RUNTIME__MEMORY_POOL__FAIR__MAX_SIZE"] = "30000000"
"""


def test_memory_that_does_not_suffice(tmp_path: Path) -> None:
    """Sail merges what it has spilt in memory that it may not have, and fails while it writes."""
    place = tmp_path / "place"
    place.mkdir()
    noted(60_000).write_parquet(tmp_path / "raw.parquet", row_group_size=10_000)
    with a_server(BOUND + SERVER) as (_, address):
        done = publish(tmp_path / "raw.parquet", place / "out", tmp_path / "tmp", master=address)
        refused(done, "Spark: writing the parts failed", place, tmp_path / "tmp")
