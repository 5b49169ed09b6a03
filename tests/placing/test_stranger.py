"""What a stranger broke: paid releases dropped, notes and files replaced, plans that lie, data cut short."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.placing.kinds import PUBLISH, litter, prepared, whole

from privet.cli import main
from privet.placing import aside, scratch, staging, system
from privet.witness import Witness


class KilledError(BaseException):
    """As near to a kill as a test can come."""


def killed_at_the_plan(folder: Path, args: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that dies when it wants to call its plan ready; its working folder stays."""
    rename = Path.rename

    def dying(path: Path, target: Any) -> Path:
        if path.name == staging.NEARLY:
            rename(path.parent, folder.parent / "kept")  # or the end of the block would tidy up
            raise KilledError
        return rename(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", dying)
        assert main(args) == 3
    (folder.parent / "kept").rename(folder / ".out.abcdefgh")


@pytest.mark.parametrize("again", [False, True], ids=["first", "again"])
def test_what_its_ledger_saw_leave_arrives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, again: bool
) -> None:
    folder = tmp_path / "here"
    args = prepared(folder, "noisy")
    monkeypatch.chdir(folder)
    if again:
        assert main(args) == 0
        args.append("--overwrite")
    killed_at_the_plan(folder, args, monkeypatch)
    paid = (folder / ".out.abcdefgh/new/out/evidence.json").read_bytes()
    assert main([one for one in args if one != "--overwrite"]) == 2  # it stands, and nobody pays again
    assert (folder / "out/evidence.json").read_bytes() == paid
    assert whole(folder, "noisy")
    assert litter(folder) == []


def test_what_no_ledger_saw_leave_does_not(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    killed_at_the_plan(here, PUBLISH, monkeypatch)
    (here / ".out.abcdefgh/new/out/stale").touch()
    assert main(PUBLISH) == 0
    assert not (here / "out/stale").exists()
    assert litter(here) == []


def test_a_ledger_that_cannot_be_asked_keeps_what_it_may_have_entered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "here"
    args = prepared(folder, "noisy")
    monkeypatch.chdir(folder)
    killed_at_the_plan(folder, args, monkeypatch)
    (folder / "ledger.sqlite").rename(folder.parent / "elsewhere")
    capsys.readouterr()
    assert main(args) == 2
    assert "its ledger may have entered" in capsys.readouterr().err
    assert (folder / ".out.abcdefgh/new/out/evidence.json").is_file()


@pytest.mark.parametrize(
    "plan",
    ["", "{", "[]", '{"a": 1}', "\udcff", '{"out": ["x", 1]}', '{"../victim": [1, 2]}', '{"other": [1, 2]}'],
)
def test_a_plan_that_no_run_wrote_moves_nothing(
    tmp_path: Path, plan: str, capsys: pytest.CaptureFixture[str]
) -> None:
    prepared(tmp_path / "here", "table")
    dead = tmp_path / "here/.out.abcdefgh"
    (dead / "new").mkdir(parents=True)
    (dead / "old").mkdir()
    (dead / "lock").touch()
    (tmp_path / "victim").write_text("mine")
    (dead / "new/planted").write_text("theirs")
    if "victim" in plan:  # the numbers that such a plan would need
        planted = dead / "planted"
        planted.write_text("theirs")
        plan = json.dumps({"../../planted": [planted.stat().st_ino, None], "../victim": [1, 2]})
    (dead / "ready").write_bytes(os.fsencode(plan))
    capsys.readouterr()
    words = ["publish", str(tmp_path / "here/raw.csv"), str(tmp_path / "here/policy.toml")]
    assert main([*words, "-o", str(tmp_path / "here/out")]) == 2
    assert "its plan cannot be read" in capsys.readouterr().err
    assert (tmp_path / "victim").read_text() == "mine"
    assert dead.is_dir()


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives folders away")
def test_what_somebody_else_planned_is_not_done(tmp_path: Path) -> None:
    dead = tmp_path / ".out.abcdefgh"
    (dead / "new/out").mkdir(parents=True)
    (dead / "lock").touch()
    number = (dead / "new/out").stat().st_ino
    (dead / "ready").write_text(json.dumps({"out": [number, None]}))
    os.chown(dead, 65534, 65534)
    with aside(tmp_path / "out"):
        pass
    assert not (tmp_path / "out").exists()
    assert (dead / "new/out").is_dir()


def test_notes_beside_an_empty_folder_are_notes(here: Path) -> None:
    assert main(PUBLISH) == 0
    (here / "out").rename(here / "sent")
    (here / "out").mkdir()
    notes = (here / "out.private/steward.json").read_bytes()
    assert main(PUBLISH) == 2
    assert (here / "out.private/steward.json").read_bytes() == notes
    assert main([*PUBLISH, "--overwrite"]) == 0


@pytest.mark.parametrize("where", ["out", "out.private"])
def test_what_nobody_released_is_not_replaced(
    here: Path, where: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(PUBLISH) == 0
    (here / where / "thesis.docx").write_text("years of work")
    assert main([*PUBLISH, "--overwrite"]) == 2
    assert "one file that is not of a release" in capsys.readouterr().err
    assert (here / where / "thesis.docx").read_text() == "years of work"


def test_a_folder_that_only_has_such_a_file_is_not_a_release(here: Path) -> None:
    (here / "out").mkdir()
    (here / "out/evidence.json").write_text("{}")
    (here / "out/thesis.docx").write_text("years of work")
    assert main([*PUBLISH, "--overwrite"]) == 2
    assert (here / "out/thesis.docx").exists()


def test_nothing_goes_into_what_is_handed_out(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(PUBLISH) == 0
    capsys.readouterr()
    for inner in ("out/inner", "out/a/inner"):
        assert main([*PUBLISH[:-1], inner]) == 2
        assert "is a release, and nothing else goes into" in capsys.readouterr().err
    assert main(["verify", "out"]) == 0


def test_the_root_is_not_a_name(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*PUBLISH[:-1], os.sep]) == 2
    assert "a folder with a name of its own" in capsys.readouterr().err
    assert here.is_dir()


# What is told of, and where there is no room.


def test_a_short_write_is_gone_on_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write
    witness = Witness(tmp_path / "seen")
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda opened, line: write(opened, bytes(line[:7])))
        witness.note(3, "a" * 64)
    assert witness.last() == (3, "a" * 64)

    def full(opened: int, line: bytes) -> int:
        if len(line) < 20:
            raise OSError(28, "No space left on device")
        return write(opened, bytes(line[:60]))

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        witness.note(4, "b" * 64)
    assert witness.last() == (3, "a" * 64)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_data_that_does_not_fit_behind_stdout_is_an_error(here: Path) -> None:
    words = [sys.executable, "-m", "privet.cli", *PUBLISH[:-1], "-", "--evidence", "told", "--overwrite"]
    for env in ({}, {"PYTHONUNBUFFERED": "1"}):
        with Path("/dev/full").open("wb") as full:
            ran = subprocess.run(
                words, cwd=here, stdout=full, stderr=subprocess.PIPE, check=False, env=os.environ | env
            )
        assert ran.returncode == 2, ran.stderr
        assert b"the data could not be written whole" in ran.stderr
        assert b"Traceback" not in ran.stderr
        assert (here / "told/evidence.json").is_file()
    shutil.rmtree(here / "told")


def limited(words: list[str], folder: Path, size: int) -> tuple[int, bytes, int]:
    """The code, the words and what arrived, where the file behind stdout takes the first bytes only."""
    resource = pytest.importorskip("resource", reason="this system has no limits on files")
    took = folder / "took"
    with took.open("wb") as stdout:
        ran = subprocess.run(
            [sys.executable, "-u", "-m", "privet.cli", *words],
            cwd=folder,
            stdout=stdout,
            stderr=subprocess.PIPE,
            check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
        )
    return ran.returncode, ran.stderr, took.stat().st_size


PLAN = """collect = 1

[columns.smokes]
type = "category"
values = ["yes", "no"]
mechanism = "randomised-response"
truth = "3/4"
"""


@pytest.mark.one_in(2)
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_answers_cut_short_by_a_full_disk_are_an_error(tmp_path: Path, ending: str) -> None:
    (tmp_path / "plan.toml").write_text(PLAN, "utf-8")
    lines = ["smokes", *["yes"] * 5000] if ending == "csv" else ['{"smokes": "no"}'] * 500
    (tmp_path / f"true.{ending}").write_text("\n".join(lines) + "\n", "utf-8")
    words = ["collect", "perturb", "plan.toml", f"true.{ending}"]
    code, said, _ = limited(words, tmp_path, 10_000_000)
    assert (code, said) == (0, b"")
    code, said, took = limited(words, tmp_path, 8192)
    assert (code, took) == (2, 8192)
    assert said.startswith(b"error: the answer could not be written: ")
    assert said.count(b"\n") == 1


def test_a_document_cut_short_by_a_full_disk_is_an_error(here: Path) -> None:
    code, said, took = limited(["collect", "perturb", "--help"], here, 100)
    assert (code, took) == (2, 100)
    assert said.startswith(b"error: ")


def test_a_copy_without_room_names_where_it_was_to_go(tmp_path: Path) -> None:
    full = OSError(
        28,
        "No space left on device",
        str(tmp_path / "scratch"),
        None,
        str(tmp_path / ".out.12345678/new/out/data"),
    )
    with pytest.raises(OSError, match="No space") as told, aside(tmp_path / "out"):
        raise full
    assert told.value.filename == str(tmp_path / "out/data")


class _Owner:
    pass


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="looks at what this process has open")
def test_a_scratch_folder_goes_with_its_owner_and_leaves_nothing_open(tmp_path: Path) -> None:
    """A notebook that published trees a thousand times could open no more files: each kept its lock."""
    opened = Path("/proc/self/fd")
    before = len(list(opened.iterdir()))
    owner = _Owner()
    folder = scratch(owner, "some", tmp_path)
    assert system.alive(folder / "lock")
    del owner
    assert not folder.exists()
    assert len(list(opened.iterdir())) == before
