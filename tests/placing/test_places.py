"""Links, modes, other runs, and what the exit code says when nobody can be told."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.placing.kinds import PUBLISH, litter, prepared, whole
from tests.placing.nursery import Nursery
from tests.sweep import covering

from privet.cli import main
from privet.errors import InputError
from privet.placing import aside, noted
from privet.placing.staging import waiting


def ran(*args: str, **how: object) -> subprocess.CompletedProcess[bytes]:
    """A command in a process of its own."""
    options: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
    return subprocess.run([sys.executable, "-m", "privet.cli", *args], check=False, **options)


# Whoever else writes there.


def test_a_living_run_is_left_alone_and_a_dead_one_cleaned_up(tmp_path: Path) -> None:
    place = tmp_path / "out"
    with aside(place) as first:
        with pytest.raises(InputError, match="another run is writing there"), aside(place):
            pytest.fail("two runs for one place")
        assert first.folder.exists()
    assert list(tmp_path.iterdir()) == []
    dead = tmp_path / ".out.abcdefgh"
    (dead / "new" / "out").mkdir(parents=True)
    (dead / "lock").touch()
    (tmp_path / ".out.12345678").mkdir()  # killed before it had a lock
    with aside(place) as second:
        assert sorted(tmp_path.iterdir()) == [second.folder]


def test_what_only_looks_like_ours_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / ".out.thesis88").mkdir()
    (tmp_path / ".out.thesis88" / "chapter.tex").write_text("years of work")
    (tmp_path / ".out.photos").mkdir()
    (tmp_path / ".out.linked00").symlink_to(tmp_path / ".out.thesis88")
    before = sorted(tmp_path.rglob("*"))
    with aside(tmp_path / "out"):
        pass
    assert sorted(tmp_path.rglob("*")) == before


def test_what_was_put_there_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    """A killed run was ready; then somebody put another folder in its place by hand."""
    dead = tmp_path / ".out.abcdefgh"
    (dead / "new" / "out").mkdir(parents=True)
    (dead / "lock").touch()
    number = (dead / "new" / "out").stat().st_ino
    (dead / "ready").write_text(json.dumps({"out": [number, None]}))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    with pytest.raises(InputError, match="something else was put in this place"), aside(tmp_path / "out"):
        pytest.fail("went on")
    assert (tmp_path / "out" / "mine").exists()
    assert (dead / "new" / "out").exists()


@pytest.mark.parametrize("stands", ["nothing", "notes", "both"])
def test_a_run_that_was_ready_is_finished_by_the_next(tmp_path: Path, stands: str) -> None:
    """It was paid for: it arrives, wherever the kill fell."""
    dead = tmp_path / ".out.abcdefgh"
    steps = {}
    for name in ("out.private", "out"):
        (dead / "new" / name).mkdir(parents=True)
        (dead / "new" / name / "new").touch()
        steps[name] = [(dead / "new" / name).stat().st_ino, None]
    (dead / "lock").touch()
    (dead / "ready").write_text(json.dumps(steps))
    for name in {"nothing": [], "notes": ["out.private"], "both": ["out.private", "out"]}[stands]:
        (dead / "new" / name).rename(tmp_path / name)
    with aside(tmp_path / "out"):
        assert (tmp_path / "out" / "new").exists()
        assert (tmp_path / "out.private" / "new").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "out.private"]


def test_the_loser_pays_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refused before any work, so before any epsilon is reserved."""
    from privet.dp.ledger import Ledger

    args = prepared(tmp_path / "paid", "noisy")
    monkeypatch.chdir(tmp_path / "paid")
    with aside(Path("out")):
        assert main(args) == 2
    assert Ledger("ledger.sqlite").releases() == ()
    assert not Path("out").exists()


def test_notes_stand_before_what_is_public(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    before = os.rename

    def watched(one: Path, other: Path) -> None:
        seen.append(Path(other).name)
        before(one, other)

    monkeypatch.setattr(os, "rename", watched)
    assert main(PUBLISH) == 0
    assert [name for name in seen if name.startswith("out")] == ["out.private", "out"]


# Links.


def test_a_link_is_never_replaced_by_a_release(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("real").mkdir()
    for link, target in (("out", "real"), ("out", "nowhere"), ("out.private", "real"), ("out.private", "no")):
        Path(link).symlink_to(target)
        for more in ([], ["--overwrite"]):
            assert main([*PUBLISH, *more]) == 2
            assert "this is a link" in capsys.readouterr().err
        assert Path(link).is_symlink()
        assert list(Path("real").iterdir()) == []
        Path(link).unlink()
    assert litter(here) == ["real"]


def test_a_page_goes_where_its_link_points_and_nowhere_else(here: Path) -> None:
    page = Path("page.html")
    page.symlink_to("nothing")
    risk = ["risk", "raw.csv", "policy.toml", "-o", "page.html"]
    assert main([*risk, "--overwrite"]) == 2
    assert main(risk) == 2
    assert not Path("nothing").exists()
    Path("nothing").write_text("an older page")
    assert main(risk) == 2
    assert Path("nothing").read_text() == "an older page"
    assert main([*risk, "--overwrite"]) == 0
    assert page.is_symlink()
    assert "<html" in Path("nothing").read_text()
    assert main([*risk[:-1], "/dev/stdout", "--overwrite"]) == 2


# Modes.


def test_what_is_not_a_plain_file_is_not_replaced(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe")
    assert main(["init", "raw.csv", "-o", "pipe", "--overwrite"]) == 2
    assert "not a plain file" in capsys.readouterr().err
    assert stat.S_ISFIFO((here / "pipe").stat().st_mode)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o777], ids=oct)
def test_modes_whatever_the_umask(here: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        assert main(PUBLISH) == 0
        assert main(["risk", "raw.csv", "policy.toml", "-o", "risk.html"]) == 0
        assert main(["compare", "raw.csv", "out", "-o", "compare.html"]) == 0
    finally:
        os.umask(before)

    def mode(path: str) -> int:
        return stat.S_IMODE(Path(path).stat().st_mode)

    assert mode("out.private") == 0o700
    assert {mode(str(path)) for path in Path("out.private").iterdir()} == {0o600}
    assert mode("risk.html") == mode("compare.html") == 0o600
    assert mode("out") == 0o700 | 0o777 & ~mask & 0o077


def test_notes_of_paths_are_closed_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    args = prepared(tmp_path / "paths", "trajectories")
    monkeypatch.chdir(tmp_path / "paths")
    before = os.umask(0)
    try:
        assert main(args) == 0
    finally:
        os.umask(before)
    assert {stat.S_IMODE(path.stat().st_mode) for path in Path("out.private").iterdir()} == {0o600}


# Nobody reads, or there is no room for what is said.


def closed() -> int:
    """The writing end of a pipe that nobody reads."""
    reads, writes = os.pipe()
    os.close(reads)
    return writes


ENDS = ["full", "unread", "unread at once", "shut"]


@pytest.mark.parametrize(("how", "form"), covering(product(ENDS, ["told", "--json"]), 2))
def test_the_code_says_what_became_of_the_release(
    here: Path, how: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [form] if form == "--json" else []
    monkeypatch.setenv("PYTHONUNBUFFERED", "1" if how in {"unread at once", "shut"} else "")

    def published(*more: str) -> subprocess.CompletedProcess[bytes]:
        if how == "shut":
            return ran(*PUBLISH, *words, *more, stdout=None, preexec_fn=lambda: os.close(1))
        opened = os.open("/dev/full", os.O_WRONLY) if how == "full" else closed()
        try:
            return ran(*PUBLISH, *words, *more, stdout=opened)
        finally:
            os.close(opened)

    done = published()
    assert whole(here, "table")
    assert done.returncode == 0
    again = published()  # refused: there is one already
    assert again.returncode == 2
    for one in (done, again):
        assert b"Traceback" not in one.stderr
        assert b"Exception ignored" not in one.stderr
    if how != "shut":
        assert b"could not be written" in done.stderr
        assert b"this stands: out" in done.stderr
    assert litter(here) == []


def test_only_an_answer_that_nobody_heard_is_an_error(here: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = ran("check", "raw.csv", "policy.toml", stdout=full)
        assert (done.returncode, b"No space left" in done.stderr) == (2, True)
        assert ran("check", "raw.csv", "policy.toml", stdout=full, stderr=full).returncode in {2, 141}
    opened = closed()
    done = ran("check", "raw.csv", "policy.toml", stdout=opened)
    os.close(opened)
    assert (done.returncode, done.stderr) == (141, b"")


# Who is stopped says what was written.


def test_a_signal_waits_until_the_release_stands() -> None:
    heard = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append("stop"))
    try:
        with waiting():
            signal.raise_signal(signal.SIGTERM)
            assert heard == []
        assert heard == ["stop"]
        signal.raise_signal(signal.SIGTERM)  # who was there before hears again
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == ["stop"] * 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_stopped_after_the_release_stood(
    here: Path, number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from privet.placing import staging

    finished = staging._finished

    def late(*args: Path) -> None:
        finished(*args)
        signal.raise_signal(number)

    monkeypatch.setattr("privet.placing.staging._finished", late)
    before = signal.signal(number, signal.default_int_handler)  # in a shell's background it may be ignored
    try:
        assert main(PUBLISH) == 128 + number
    finally:
        signal.signal(number, before)
    assert capsys.readouterr().err == "error: stopped; written before that: out\n"
    assert whole(here, "table")
    assert litter(here) == []


def test_what_is_put_in_its_place_is_noted(tmp_path: Path) -> None:
    with noted() as placed, aside(tmp_path / "page") as made:
        made.fresh("page").write_text("1")
        made.replace("page")
    assert placed == [tmp_path / "page"]


# What the system says, with the name that the steward knows.


def test_an_error_names_the_file_and_the_reason(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    long = "x" * 250
    assert main([*PUBLISH[:-1], long]) == 2
    assert "file name too long" in capsys.readouterr().err.lower()
    assert main(["risk", "raw.csv", "policy.toml", "-o", long]) == 2
    assert "file name too long" in capsys.readouterr().err.lower()
    assert main(["publish", "raw.csv", "policy.toml", "-o", "raw.csv/out"]) == 2
    assert "raw.csv/out: nothing can be written there" in capsys.readouterr().err
    assert litter(here) == []


@pytest.fixture(scope="module")
def plain() -> Iterator[Nursery]:
    """Where Python began with a locale that knows ASCII only."""
    made = Nursery(LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    yield made
    made.close()


@pytest.mark.parametrize("name", ["größe年".encode(), b"gr\xf6\xdfe"], ids=["utf-8", "latin-1"])
def test_names_that_the_locale_does_not_know(here: Path, name: bytes, plain: Nursery) -> None:
    folder = os.fsencode(here) + b"/" + name
    os.mkdir(folder)  # noqa: PTH102 - no text
    for file in ("raw.csv", "policy.toml"):
        (here / file).rename(os.fsdecode(folder + b"/" + file.encode()))
    inside = folder.decode("ascii", "surrogateescape")  # as such a Python reads its arguments

    def told(*words: str) -> tuple[int, Any]:
        (here / "said").write_bytes(b"")
        ended = plain.run(here, *words)
        return ended, json.loads((here / "said").read_bytes()) if "--json" in words else None

    ended, said = told(
        "publish", f"{inside}/raw.csv", f"{inside}/policy.toml", "-o", f"{inside}/out", "--json"
    )
    assert ended == 0
    assert said["records"]
    for more in (["verify", f"{inside}/out"], ["risk", f"{inside}/raw.csv", f"{inside}/policy.toml"]):
        assert told(*more)[0] == 0
    ended, said = told("check", f"{inside}/none.csv", f"{inside}/policy.toml", "--json")
    assert (ended, said["exit"]) == (2, 2)


def test_a_polite_kill_while_python_waits_for_the_lock(tmp_path: Path) -> None:
    """Whoever has locked the folder for long does not make us deaf."""
    prepared(tmp_path / "here", "table")
    import fcntl

    opened = os.open(tmp_path / "here", os.O_RDONLY)
    fcntl.flock(opened, fcntl.LOCK_EX)
    command = [sys.executable, "-m", "privet.cli", *PUBLISH]
    with subprocess.Popen(command, cwd=tmp_path / "here", stderr=subprocess.PIPE) as running:
        time.sleep(2.5)
        running.terminate()
        assert running.wait(timeout=120) in {143, -15}
    os.close(opened)
