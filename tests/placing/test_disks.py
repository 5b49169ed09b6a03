"""Disks of every size: the old release or the new one, whole, and the reason with the name."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.placing.kinds import KINDS, litter, prepared, whole
from tests.placing.nursery import Nursery
from tests.tries import seldom

from privet.cli import main
from privet.dp.ledger import Ledger
from privet.roads.noisy.release import NoisyRelease

SMALL = (4, 8, 16, 24, 40, 64, 96, 160, 400, 2000)  # kilobytes


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    made = Nursery(TMPDIR=str(tmp_path_factory.mktemp("aside")))
    yield made
    made.close()


class Disk:
    """A small disk of its own, where the system lets us have one."""

    def __init__(self, folder: Path, size: int) -> None:
        folder.mkdir()
        self.folder = folder
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs", str(folder)],
            capture_output=True,
            check=False,
        )
        if done.returncode:
            folder.rmdir()
            pytest.skip("only root may mount a small disk")

    def close(self) -> None:
        subprocess.run(["umount", str(self.folder)], check=True)
        self.folder.rmdir()


def tried(nursery: Nursery, folder: Path, kind: str, size: int, *, keep: bool = False) -> tuple[int, int]:
    """Publish to a disk of that size, and again with a release that fills most of it; how both ended."""
    source, disk = folder / "source", Disk(folder / "disk", size)
    try:
        args = prepared(source, kind)
        args[args.index("out")] = str(disk.folder / "out")
        shutil.rmtree(source / "said", ignore_errors=True)
        first = nursery.run(source, *args)
        inspect(disk.folder, source, kind, first)
        stood = (disk.folder / "out").exists()
        before = content(disk.folder / "out")
        second = nursery.run(source, *args, "--overwrite")
        inspect(disk.folder, source, kind, second)
        if stood and second:
            assert content(disk.folder / "out") == before, "the old release is lost"
    finally:
        disk.close()
    if not keep:
        shutil.rmtree(source)
    return first, second


def inspect(disk: Path, source: Path, kind: str, ended: int) -> None:
    said = (source / "said").read_text()
    assert ended in {0, 2}, said
    (source / "said").write_text("")
    assert litter(disk) == []
    for ours in ("out", "out.private"):
        (source / ours).symlink_to(disk / ours)
    assert whole(source, kind) >= (ended == 0)
    for ours in ("out", "out.private"):
        (source / ours).unlink()
    if ended:
        assert "disk/out" in said
        assert "No space left on device" in said


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


@pytest.mark.one_in(3)
@pytest.mark.parametrize("size", SMALL)
def test_a_small_disk(nursery: Nursery, tmp_path: Path, size: int) -> None:
    tried(nursery, tmp_path, "table", size)


def test_between_too_small_and_large_enough(nursery: Nursery, tmp_path: Path) -> None:
    assert tried(nursery, tmp_path, "noisy", 8)[0] == 2
    assert tried(nursery, tmp_path, "noisy", 4000) == (0, 0)


@pytest.mark.parametrize("size", [16, 40, 96])
def test_a_disk_without_room_costs_nothing(nursery: Nursery, tmp_path: Path, size: int) -> None:
    """A third of the runs on small disks paid and published nothing, and said only that the disk was full."""
    assert tried(nursery, tmp_path, "noisy", size, keep=True) == (2, 2)
    ledger = Ledger(tmp_path / "source" / "ledger.sqlite", create=False)
    assert list(ledger.releases("ward")) == []


def test_what_stays_spent_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk fills up behind the reservation."""
    args = prepared(tmp_path / "here", "noisy")
    monkeypatch.chdir(tmp_path / "here")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "data.csv")

    monkeypatch.setattr(NoisyRelease, "write_data", full)
    said: list[str] = []
    monkeypatch.setattr("privet.cli.screen.problems", lambda *lines: said.extend(lines))
    assert main(args) == 2
    (entry,) = Ledger("ledger.sqlite", create=False).releases("ward")
    assert entry.state == "reserved"
    assert any("No space left on device" in one for one in said)
    assert any(f"stays spent: `privet ledger show` lists {entry.release} as reserved" in one for one in said)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_disks_of_every_size(nursery: Nursery, tmp_path: Path, kind: str) -> None:
    ends = [
        tried(nursery, tmp_path, kind, size)
        for size in range(4, int(os.environ.get("PRIVET_DISK", "400")), 4)
    ]
    assert {first for first, _ in ends} == {0, 2}
    print(kind, len(ends), "disks:", sum(not first for first, _ in ends), "large enough")


@pytest.mark.parametrize("size", seldom((0, 5000, 50_000), [5000]))  # the data fit, the report does not
def test_files_that_may_not_grow(here_limit: Path, size: int) -> None:
    """Where nobody may mount: a limit on the size of files says much the same."""
    done = subprocess.run(
        ["bash", "-c", f"trap '' XFSZ; ulimit -f {max(size // 1024, 0)}; exec \"$@\"", "-", *COMMAND],
        cwd=here_limit,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in {0, 2}, done
    assert "Traceback" not in done.stderr
    if done.returncode:
        assert "out" in done.stderr
        assert "File too large" in done.stderr
        assert litter(here_limit) == []


@pytest.mark.parametrize("format_", ["csv", "jsonl", "parquet", "arrow"])
def test_a_full_disk_is_told_in_whatever_format_the_data_leave(here_limit: Path, format_: str) -> None:
    """Of Parquet it was a fault of ours: polars says it by another error."""
    done = subprocess.run(
        ["bash", "-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "-", *COMMAND, "--to", format_],
        cwd=here_limit,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (2, "error: out: File too large\n")
    assert litter(here_limit) == []


COMMAND = [sys.executable, "-m", "privet.cli", "publish", "raw.csv", "policy.toml", "-o", "out"]


@pytest.fixture
def here_limit(tmp_path: Path) -> Path:
    prepared(tmp_path / "here", "table")
    return tmp_path / "here"
