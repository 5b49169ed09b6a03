"""On the disk before it stands, paid before it may be finished: the order of the steps."""

from __future__ import annotations

import errno
import os
import shutil
import threading
from pathlib import Path

import pytest

from privet.placing import aside, rewritten
from privet.witness import Witness


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every rename and every wait for the disk, by the name of the file."""
    seen: list[str] = []
    rename, replace, fsync = os.rename, os.replace, os.fsync

    def renamed(one: Path, other: Path) -> None:
        seen.append(f"rename {Path(other).name}")
        rename(one, other)

    def replaced(one: Path, other: Path) -> None:
        seen.append(f"rename {Path(other).name}")
        replace(one, other)

    def synced(opened: int) -> None:
        seen.append(f"fsync {Path(f'/proc/self/fd/{opened}').readlink().name}")
        fsync(opened)

    monkeypatch.setattr(os, "rename", renamed)
    monkeypatch.setattr(os, "replace", replaced)
    monkeypatch.setattr(os, "fsync", synced)
    return seen


def test_a_folder_is_on_the_disk_and_paid_for_before_it_stands(tmp_path: Path, done: list[str]) -> None:
    with aside(tmp_path / "out") as made:
        made.fresh("out").mkdir()
        (made.fresh("out") / "data.csv").write_text("1")
        with made.placing(["out"]):
            done.append("paid")
    assert (
        done.index("fsync data.csv")
        < done.index("paid")
        < done.index("rename ready")
        < done.index("rename out")
    )


def test_what_refuses_to_pay_leaves_nothing(tmp_path: Path) -> None:
    def publish() -> None:
        with aside(tmp_path / "out") as made:
            made.fresh("out").mkdir()
            with made.placing(["out"]):
                raise ValueError("no money")

    with pytest.raises(ValueError, match="no money"):
        publish()
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_on_the_disk_before_it_stands(tmp_path: Path, done: list[str]) -> None:
    with aside(tmp_path / "page") as made:
        made.fresh("page").write_text("1")
        made.replace("page")
    assert "fsync page" in done


def test_a_text_is_on_the_disk_before_it_stands_and_for_nobody_else(tmp_path: Path, done: list[str]) -> None:
    page = tmp_path / "page"
    page.write_text("old")
    (tmp_path / ".page.new").write_text("half of what a killed run wr")
    mask = os.umask(0)
    try:
        rewritten(page, "new\n")
    finally:
        os.umask(mask)
    assert done == ["fsync .page.new", "rename page"]
    assert page.read_bytes() == b"new\n"
    assert page.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [page]


def test_somebody_who_waits_does_not_wait_for_a_busy_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page, free, flushed = tmp_path / "page", threading.Event(), threading.Event()
    fsync = os.fsync

    def busy(opened: int) -> None:
        free.wait(60)
        fsync(opened)
        flushed.set()

    monkeypatch.setattr(os, "fsync", busy)
    rewritten(page, "new", patience=0.01)
    assert page.read_text() == "new"
    assert not flushed.is_set()
    free.set()
    assert flushed.wait(60)  # it is not given up
    assert list(tmp_path.iterdir()) == [page]


def test_a_disk_that_is_free_is_waited_for(tmp_path: Path, done: list[str]) -> None:
    rewritten(tmp_path / "page", "new", patience=60)
    assert done == ["fsync .page.new", "rename page"]


@pytest.mark.parametrize("patience", [None, 60.0])
def test_a_text_that_cannot_be_written_leaves_what_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, patience: float | None
) -> None:
    page = tmp_path / "page"
    page.write_text("old")

    def full(_opened: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="page") as error:
        rewritten(page, "new", patience=patience)
    assert error.value.errno == errno.ENOSPC
    assert error.value.filename == str(page)
    assert page.read_text() == "old"
    assert list(tmp_path.iterdir()) == [page]


def test_a_text_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("theirs")
    (tmp_path / ".page.new").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="page"):
        rewritten(tmp_path / "page", "new")
    assert (tmp_path / "elsewhere").read_text() == "theirs"


def test_what_somebody_else_still_writes_into_goes_with_the_next_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cluster that was told to write goes on when we are stopped, and makes folders anew that are gone."""
    remove = shutil.rmtree
    late: list[Path] = []

    def meanwhile(path: Path, *, ignore_errors: bool = False) -> None:
        remove(path, ignore_errors=ignore_errors)
        path.mkdir()
        (path / "part-00000.parquet").write_text("recoded, and not yet checked")
        late.append(path)

    def publish() -> None:
        with aside(tmp_path / "out") as made:
            made.fresh("out").mkdir()
            raise KeyboardInterrupt

    def killed(path: Path) -> None:
        raise SystemExit

    monkeypatch.setattr(shutil, "rmtree", meanwhile)
    monkeypatch.setattr(Path, "rmdir", killed)  # after the lock: it may not go while there is something else
    with pytest.raises(KeyboardInterrupt):
        publish()
    assert late[0].is_dir()
    monkeypatch.undo()
    with aside(tmp_path / "out") as made:
        made.fresh("out").write_text("1")
        made.replace("out")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_witness_has_seen_it_when_it_says_so(tmp_path: Path, done: list[str]) -> None:
    Witness(tmp_path / "seen", "ledger").note(1, "0" * 64)
    assert "fsync seen" in done
