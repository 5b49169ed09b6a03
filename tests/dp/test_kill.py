"""Killed at any moment: no data without its spend, no release twice, and the ledger stays readable."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest
from tests.dp.releasing import BUDGET, EACH, digest

from privet.dp.ledger import Ledger
from privet.dp.spend import cost


def inspect(folder: Path, seen: dict[str, bytes]) -> None:
    """Everything that must hold whatever was interrupted."""
    ledger = Ledger(folder / "ledger.sqlite", create=False)
    ledger.audit()
    entries = {entry.release: entry for entry in ledger.releases("d")}
    assert ledger.balance("d").spent == sum((e.epsilon or 0 for e in entries.values()), Fraction(0)) <= BUDGET
    for draft in folder.glob("*.draft"):  # noise was drawn: it is paid for
        lines = len(draft.read_text().splitlines())
        assert cost(entries[draft.stem].spends) >= lines * EACH
    for public in folder.glob("*.public"):  # it left: it is paid for, marked, and what was marked
        entry = entries[public.stem]
        assert entry.state == "released"
        assert cost(entry.spends) == entry.epsilon == 2 * EACH
        assert entry.digest == digest(public)
        assert seen.setdefault(public.name, public.read_bytes()) == public.read_bytes()


class Publisher:
    """A nursery and its children, one at a time."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.dp.releasing"]
        self._nursery = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
        )
        self._child = 0

    def start(self, folder: Path) -> None:
        assert self._nursery.stdin is not None
        self._nursery.stdin.write(f"{folder}\n")
        self._nursery.stdin.flush()
        self._child = int(self._said())

    def kill(self) -> None:
        os.kill(self._child, signal.SIGKILL)
        assert int(self._said()) == signal.SIGKILL  # it was at work until now

    def close(self) -> None:
        self._nursery.communicate()
        assert self._nursery.returncode == 0

    def _said(self) -> str:
        assert self._nursery.stdout is not None
        return self._nursery.stdout.readline()


def soak(folder: Path, kills: int, publishers: int) -> None:
    path = folder / "ledger.sqlite"
    Ledger(path).open("d", BUDGET)
    random = Random(kills)
    seen: dict[str, bytes] = {}
    running = [Publisher() for _ in range(publishers)]
    for number in range(kills):
        # In the midst of the first release, or only when one has left: however slow this machine is.
        until = "*.public" if number % 2 else "*.draft"
        before = set(folder.glob(until))
        for publisher in running:
            publisher.start(folder)
        while set(folder.glob(until)) <= before:
            time.sleep(0.005)
        time.sleep(random.uniform(0, 0.15))
        for publisher in running:
            publisher.kill()
        inspect(folder, seen)
    for publisher in running:
        publisher.close()
    states = [entry.state for entry in Ledger(path).releases()]
    assert "released" in states
    assert len(states) >= kills  # each round got somewhere, so the kills fell in the middle of work


def test_a_killed_release_keeps_its_spend(tmp_path: Path) -> None:
    soak(tmp_path, kills=3, publishers=1)


@pytest.mark.slow
def test_a_hundred_kills_with_several_publishers(tmp_path: Path) -> None:
    soak(tmp_path, kills=100, publishers=3)


@pytest.mark.slow
def test_a_ledger_killed_while_it_is_made_is_made_by_the_next(tmp_path: Path) -> None:
    """The first moments: no file, an empty one, half a schema, no data set yet."""
    random = Random(7)
    publisher = Publisher()
    for number in range(100):
        folder = tmp_path / str(number)
        folder.mkdir()
        publisher.start(folder)
        time.sleep(random.uniform(0, 0.05))
        publisher.kill()
        Ledger(folder / "ledger.sqlite").open("d", BUDGET)
        inspect(folder, {})
    publisher.close()
