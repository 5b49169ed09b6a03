"""Commands as users run them: fresh processes, with their time and their peak memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LAUNCH = Path(__file__).resolve().with_name("launch.py")
PRIVET = Path(sys.executable).with_name("privet")


class ChildError(RuntimeError):
    """A measured command failed, so there is nothing to report about it."""


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds on the clock, seconds of processor time, bytes held at the worst moment."""

    wall: float
    cpu: float
    peak: int


def timed(command: Sequence[str]) -> tuple[Cost, str]:
    """What a command cost, and what it said on stdout."""
    with TemporaryDirectory(prefix="privet-bench-") as scratch:
        note = Path(scratch) / "cost.json"
        launched = [sys.executable, "-I", "-S", str(LAUNCH), str(note), *command]
        here = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(launched, capture_output=True, text=True, cwd=ROOT, env=here, check=False)
        if done.returncode:
            raise ChildError(f"{Path(command[0]).name} ended with {done.returncode}: {done.stderr[-2000:]}")
        return Cost(**json.loads(note.read_text(encoding="utf-8"))), done.stdout


def module(name: str, *arguments: object) -> list[str]:
    """The command that runs a module of this package."""
    return [sys.executable, "-m", f"bench.{name}", *map(str, arguments)]


def answered(command: Sequence[str]) -> tuple[Cost, dict[str, Any]]:
    """What a command cost, and the JSON that it answered."""
    cost, said = timed(command)
    answer: dict[str, Any] = json.loads(said)
    return cost, answer


def rounds(contenders: Mapping[str, Callable[[], Cost]], repeats: int) -> dict[str, list[Cost]]:
    """Every contender in turn, several times: a machine's slow minute falls upon all of them."""
    found: dict[str, list[Cost]] = {name: [] for name in contenders}
    for _ in range(repeats):
        for name, run in contenders.items():
            found[name].append(run())
    return found


def middle(costs: Sequence[Cost]) -> Cost:
    """The medians, each by itself."""
    return Cost(
        median(cost.wall for cost in costs),
        median(cost.cpu for cost in costs),
        int(median(cost.peak for cost in costs)),
    )


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder for large files, on the disk of the repository; gone afterwards."""
    place = ROOT / "bench" / "out"
    place.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="scratch-", dir=place) as folder:
        yield Path(folder)
