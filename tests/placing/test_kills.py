"""Killed at any moment: no release lost, none in part, none unpaid; the next run finishes or cleans up."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from tests.placing.kinds import KINDS, litter, prepared, whole
from tests.placing.nursery import LIGHT, NO_EXCHANGE, Nursery

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
STOPPED = {-9, 143, 130, -15, -2}  # the last two before Python could hear it


@pytest.fixture(scope="module")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    aside = tmp_path_factory.mktemp("aside")
    made = Nursery(TMPDIR=str(aside))
    yield made
    made.close()
    assert [path.name for path in aside.iterdir() if not path.name.startswith(".privet.")] == []


def soak(nursery: Nursery, folder: Path, kind: str, kills: int, seed: int) -> dict[str, int]:
    """Kill it again and again, with and without an earlier release to overwrite."""
    random, args = Random(seed), prepared(folder, kind)
    began = time.monotonic()
    assert nursery.run(folder, *args) == 0, (folder / "said").read_text()
    usual = time.monotonic() - began
    counts = dict.fromkeys(("stopped", "done", "replacing", "finished later", "left by a polite stop"), 0)
    for _ in range(kills):
        replacing = random.random() < 0.5
        if not replacing:
            emptied(folder)
        elif not whole(folder, kind):
            assert nursery.run(folder, *args, "--overwrite") == 0, (folder / "said").read_text()
        before = inode(folder / "out")
        child = nursery.start(folder, *args, *(["--overwrite"] if replacing else []))
        if random.random() < 0.5:  # in the middle of writing, and not only of the search
            until = time.monotonic() + 5 * usual
            while time.monotonic() < until and not any(folder.glob(".out.*/new")):
                time.sleep(0.0005)
            time.sleep(random.uniform(0, 0.1 * usual))
        else:
            time.sleep(random.uniform(0, 1.1 * usual))
        number = random.choice(SIGNALS)
        with suppress(ProcessLookupError):
            os.kill(child, number)
        ended = nursery.ended()
        stands = whole(folder, kind)
        assert ended in STOPPED | {0}, (ended, (folder / "said").read_text())
        assert stands or not replacing, "the old release is lost"
        if ended == 0:
            assert stands
            assert inode(folder / "out") != before
        # Who is asked to stop cleans up, but for an instant in which nobody could: then the next run does.
        counts["left by a polite stop"] += number != signal.SIGKILL and ended > 0 and bool(litter(folder))
        counts["done" if ended == 0 else "stopped"] += 1
        counts["replacing"] += replacing
        left = bool(litter(folder))
        ended = nursery.run(folder, *args)  # the next run: finishes, cleans up, never writes over
        assert ended == (2 if whole_before(stands, left, folder, kind) else 0), (folder / "said").read_text()
        assert whole(folder, kind)
        assert litter(folder) == []
        counts["finished later"] += ended == 2 and not stands
        (folder / "said").write_text("")
    assert counts["left by a polite stop"] <= 1 + kills // 100
    assert nursery.run(folder, "verify", "out") == 0, (folder / "said").read_text()
    return counts


def whole_before(stands: bool, left: bool, folder: Path, kind: str) -> bool:
    """Was there a release when the next run looked? One that a killed run had ready counts too."""
    if stands:
        return True
    said = (folder / "said").read_text()
    return left and "there is a release already" in said.splitlines()[-1]


def inode(path: Path) -> int | None:
    return path.stat().st_ino if path.exists() else None


@pytest.mark.one_in(2)
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_any_moment(nursery: Nursery, tmp_path: Path, kind: str) -> None:
    counts = soak(nursery, tmp_path / kind, kind, kills=2, seed=len(kind))
    assert counts["stopped"] + counts["done"] == 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_kills(nursery: Nursery, tmp_path: Path, kind: str) -> None:
    kills = int(os.environ.get("PRIVET_KILLS", "1000")) // len(KINDS) + 1
    counts = soak(nursery, tmp_path / kind, kind, kills=kills, seed=int(os.environ.get("PRIVET_SEED", "1")))
    print(kind, counts)
    assert counts["stopped"] > kills // 3  # else the kills came too late to say anything


EXCHANGE = pytest.mark.parametrize("exchange", [True, False], ids=["exchanged", "renamed"])
REPLACING = pytest.mark.parametrize("replacing", [False, True], ids=["first", "again"])


def emptied(folder: Path) -> None:
    for name in ("out", "out.private"):
        shutil.rmtree(folder / name, ignore_errors=True)


@pytest.mark.parametrize(
    ("replacing", "exchange"),
    [
        pytest.param(False, True, id="first"),
        pytest.param(False, False, id="first-renamed", marks=pytest.mark.slow),  # the next run replaces it
        pytest.param(True, True, id="again-exchanged"),
        pytest.param(True, False, id="again-renamed"),
    ],
)
def test_killed_before_every_step(tmp_path: Path, *, replacing: bool, exchange: bool) -> None:
    """Not at random: before the first change of the disk, before the second, ... until none is left."""
    nursery = Nursery(**{LIGHT: "1"} | ({} if exchange else {NO_EXCHANGE: "1"}))
    steps, lost, mixed = 0, 0, 0
    ended = -9
    while ended == -9:
        emptied(tmp_path)
        if replacing:
            assert nursery.run(tmp_path, "place", "old") == 0
        steps += 1
        ended = nursery.run(tmp_path, "place", "new", crash=steps)
        stands, notes = (contents(tmp_path / name) for name in ("out", "out.private"))
        assert stands in {None, "old", "new"}
        bare = stands is not None and notes is None
        assert not bare or (stands == "old" and not exchange), "a release without its notes"
        if replacing and stands is None:
            lost += 1
        mixed += stands is not None and stands != notes
        assert nursery.run(tmp_path, "place", "next") == 0
        assert {contents(tmp_path / name) for name in ("out", "out.private")} == {"next"}
        assert litter(tmp_path) == []
    nursery.close()
    assert ended == 0
    assert steps > 15
    # Between two renames, where the system knows no exchange; and the next run mends it.
    assert lost <= (0 if exchange else 1)
    assert mixed <= (1 if exchange else 3)  # new notes stand before the new release does


def contents(folder: Path) -> str | None:
    """What every file in a folder says, which is one thing or something is half done."""
    if not folder.exists():
        return None
    (said,) = {path.read_text() for path in folder.iterdir()}
    assert len(list(folder.iterdir())) == 2
    return said


@pytest.mark.slow
@EXCHANGE
@REPLACING
def test_a_paid_release_killed_before_every_step(tmp_path: Path, *, replacing: bool, exchange: bool) -> None:
    nursery = Nursery(**({} if exchange else {NO_EXCHANGE: "1"}))
    folder = tmp_path / "here"
    args = [*prepared(folder, "noisy"), "--overwrite"]
    steps, ended = 0, -9
    while ended == -9:
        emptied(folder)
        if replacing:
            assert nursery.run(folder, *args) == 0, (folder / "said").read_text()
        steps += 1
        ended = nursery.run(folder, *args, crash=steps)
        # Where two names cannot change places, the notes are away for one rename.
        stands = (folder / "out").exists() if replacing and not exchange else whole(folder, "noisy")
        assert stands or not (replacing and exchange), f"no release stands after step {steps}"
        assert nursery.run(folder, *args[:-1]) in {0, 2}, (folder / "said").read_text()
        assert whole(folder, "noisy")
        assert litter(folder) == []
    nursery.close()
    assert ended == 0
    assert steps > 15


def test_pairs_of_writers(nursery: Nursery, tmp_path: Path) -> None:
    pairs(nursery, tmp_path / "pairs", rounds=2)


@pytest.mark.slow
def test_two_hundred_pairs_of_writers(nursery: Nursery, tmp_path: Path) -> None:
    pairs(nursery, tmp_path / "pairs", rounds=200)


def pairs(first: Nursery, folder: Path, rounds: int) -> None:
    """One wins, the other says so: with an earlier release to overwrite, and without."""
    random, second = Random(rounds), Nursery()
    args = prepared(folder, "noisy")
    ends: list[tuple[int, int]] = []
    for at in range(rounds):
        more = ["--overwrite"] if at % 2 else []
        if not more:
            emptied(folder)
        (folder / "said").write_text("")
        first.start(folder, *args, *more)
        time.sleep(random.choice((0, 0, 0.001, 0.01, 0.05)))
        second.start(folder, *args, *more)
        ended = first.ended(), second.ended()
        ends.append(ended)
        assert whole(folder, "noisy")
        assert litter(folder) == []
        said = (folder / "said").read_text()
        if more:  # the second may have come when the first was done
            assert ended in {(0, 2), (2, 0), (0, 0)}, said
        else:
            assert sorted(ended) == [0, 2], said
        if 2 in ended:
            assert "another run is writing there" in said or "there is a release already" in said
    second.close()
    assert any(2 in ended for ended in ends)
