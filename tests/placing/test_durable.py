"""On the disk before it stands, paid before it may be finished: the order of the steps."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from privet.placing import aside
from privet.witness import Witness


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every rename and every wait for the disk, by the name of the file."""
    seen: list[str] = []
    rename, fsync = os.rename, os.fsync

    def renamed(one: Path, other: Path) -> None:
        seen.append(f"rename {Path(other).name}")
        rename(one, other)

    def synced(opened: int) -> None:
        seen.append(f"fsync {Path(f'/proc/self/fd/{opened}').readlink().name}")
        fsync(opened)

    monkeypatch.setattr(os, "rename", renamed)
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


def test_a_witness_has_seen_it_when_it_says_so(tmp_path: Path, done: list[str]) -> None:
    Witness(tmp_path / "seen", "ledger").note(1, "0" * 64)
    assert "fsync seen" in done
