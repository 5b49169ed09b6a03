"""The fuzzer: damaged files through whole commands. `python -m tests.fuzz.runner --seconds 120`.

The oracle: a documented exit code, no traceback, no panic, no value of the data in what is said, an end
within seconds, no great memory, and nothing left behind but what the command says that it writes. A case
is its family and a number, so that it can be run again; what was found is kept in tests/fuzz/finds.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from types import FrameType

from tests.fuzz.families import CANARY, HERE, Family, made

from privet.cli import main
from privet.disclose.audit.sql import parsed
from privet.errors import PrivetError

Find = tuple[str, int, str]  # the family, the number of the case, what is wrong
DOCUMENTED = {0, 1, 2}
OFTEN = 500  # rounds between two lines about how far it is
SECONDS = 20.0  # of work, and five times that by the clock: a busy machine is not a fault
MEGABYTES = 1500  # more than before a case
BAD = ("Traceback", "internal error", "panicked", "fault in privet", "Exception ignored")
WRITTEN = {"made", "made.private", "made.toml"}  # by commands that say so


class TooLongError(BaseException):
    """Not an Exception: nobody may catch it on the way."""


def case(family: Family, number: int) -> tuple[bytes, tuple[str, ...]]:
    """The damaged bytes and the command of one case, the same every time."""
    random = Random(f"{family.name} {number}")
    raw = family.hurt(random.choice(family.seeds), random)
    return raw, tuple(random.choices(family.commands, family.weights())[0]) if family.commands else ()


def tried(family: Family, raw: bytes, words: tuple[str, ...], said: Path) -> str | None:
    """What is wrong with how a command took it; None if nothing."""
    if family.name == "sql":
        return _asked(raw)
    target = Path(family.file)
    target.write_bytes(raw)
    folder = said.parent / "place"
    before, memory = _listed(folder), _megabytes()
    with _heard(said):
        try:
            with _in_time():
                code: int | str = main(list(words))
        except TooLongError:
            code = "no end"
        except BaseException as error:  # noqa: BLE001 - whatever comes out is a find
            code = f"raised {type(error).__name__}"
    told = said.read_bytes().decode("utf-8", "replace")
    left = {name for name in _listed(folder) - before if name.split("/")[0] not in WRITTEN}
    if code not in DOCUMENTED:
        return f"exit {code}: {told[:300]}"
    if bad := [word for word in BAD if word in told]:
        return f"says {bad[0]}: {told[:300]}"
    if CANARY in told and not family.quotes and not _heading(raw):
        return "says a value of the data"
    if left:
        return f"leaves {sorted(left)[:3]}"
    if _megabytes() - memory > MEGABYTES:
        return f"takes {_megabytes() - memory} MB"
    return None


def _heading(raw: bytes) -> bool:
    """Did the damage make a column's name of a value? Names of columns may be said."""
    name = CANARY.encode()
    if raw.startswith(b"\x1f\x8b"):
        with suppress(OSError, EOFError, zlib.error):
            raw = gzip.decompress(raw)
    return name in raw.split(b"\n", 1)[0] or re.search(name + rb'[^"]*"\s*:', raw) is not None


def _asked(raw: bytes) -> str | None:
    try:
        with _in_time():
            parsed(raw.decode("utf-8", "replace"), table="staff", public=("dept", "age"), audited=("pay",))
    except PrivetError:
        return None
    except TooLongError:
        return "no end"
    except Exception as error:  # noqa: BLE001 - whatever comes out is a find
        return f"raised {type(error).__name__}"
    return None


def _listed(folder: Path) -> set[str]:
    """Everything in a folder but what SQLite keeps beside a ledger."""
    start = len(str(folder)) + 1
    found = {f"{at}/{name}"[start:] for at, folders, files in os.walk(folder) for name in (*folders, *files)}
    return {name for name in found if not name.endswith(("-wal", "-shm", "-journal"))}


def _megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


@contextmanager
def _in_time() -> Iterator[None]:
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TooLongError

    limits = (
        (signal.ITIMER_PROF, signal.SIGPROF, SECONDS),
        (signal.ITIMER_REAL, signal.SIGALRM, 5 * SECONDS),
    )
    before = [signal.signal(number, stop) for _, number, _ in limits]
    for timer, _, seconds in limits:
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for (timer, number, _), handler in zip(limits, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)


@contextmanager
def _heard(said: Path) -> Iterator[None]:
    """Both streams in a file, at the level at which Rust and C speak too."""
    streams = sys.stdout, sys.stderr
    kept = os.dup(1), os.dup(2)
    for stream in streams:
        stream.flush()
    with said.open("w+", encoding="utf-8", errors="backslashreplace") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        sys.stdout = sys.stderr = file
        try:
            yield
        finally:
            file.flush()
            sys.stdout, sys.stderr = streams
            for number, old in zip((1, 2), kept, strict=True):
                os.dup2(old, number)
                os.close(old)


@contextmanager
def prepared() -> Iterator[tuple[list[Family], Path]]:
    """All families in a folder of their own, and a file for what is said."""
    with tempfile.TemporaryDirectory() as made_for:
        folder = Path(made_for)
        with _heard(folder / "said"):
            families = made(folder / "place")
        yield families, folder / "said"


def fuzzed(  # noqa: PLR0917 - what is damaged, where it is said, and for how long
    families: list[Family],
    said: Path,
    seconds: float,
    start: int,
    most: int = 10**9,
    told: Callable[[Counter[str], Find | None], None] = lambda _ran, _find: None,
    begun: Callable[[Family, int], None] = lambda _family, _number: None,
) -> tuple[Counter[str], list[Find]]:
    """Cases of every family in turn until time is up; how many, and what was found.

    `told` hears of every find when it is made, and of every round of cases: hours may be cut short.
    """
    ran: Counter[str] = Counter()
    finds: list[Find] = []
    until, number = time.monotonic() + seconds, start
    while time.monotonic() < until and number - start < most:
        for family in families:
            raw, words = case(family, number)
            begun(family, number)
            wrong = tried(family, raw, words, said)
            ran[family.name] += 1
            if wrong is not None:
                finds.append((family.name, number, f"{' '.join(words[:1])}: {wrong}"))
                told(ran, finds[-1])
            if (
                family.file
                and family.seeds
                and family.name in {"evidence", "evidence-bytes", "notes", "release-data"}
            ):
                Path(family.file).write_bytes(family.seeds[0])  # the next family wants it whole
        number += 1
        told(ran, None)
    return ran, finds


def _side_by_side(jobs: int, start: int, words: list[str]) -> int:
    """The same in several processes, each with numbers of its own; how many found something.

    What ends a whole process is a find, too: where it stood is said, and `--family … --start …` is that case.
    """
    command = [sys.executable, "-m", "tests.fuzz.runner", *words, "--jobs", "1"]
    with tempfile.TemporaryDirectory() as folder:
        at = [Path(folder) / str(job) for job in range(jobs)]
        running = [
            subprocess.Popen([*command, "--start", str(start + job * 10**9), "--at", str(at[job])])
            for job in range(jobs)
        ]
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            for one, place in zip(running, at, strict=True):
                if one.wait() < 0:
                    print(f"{place.read_text()}: ended the process with signal {-one.returncode}", flush=True)
        finally:
            for one in running:  # who is stopped stops them all: a command takes its own signal for a stop
                one.kill()
    return sum(one.returncode != 0 for one in running)


def command() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=180)
    options.add_argument("--cases", type=int, default=10**9, help="of each family, unless time is up before")
    options.add_argument("--family", action="append")
    options.add_argument(
        "--jobs", type=int, default=1, help="so many processes, each with numbers of its own"
    )
    options.add_argument("--start", type=int, default=0, help="the number of the first case")
    options.add_argument("--at", type=Path, help="a file that says which case runs")
    options.add_argument("--keep", action="store_true", help="write what is found to tests/fuzz/finds")
    given = options.parse_args()
    if given.jobs > 1:
        return _side_by_side(given.jobs, given.start, sys.argv[1:])
    with prepared() as (every, said):
        chosen = [family for family in every if not given.family or family.name in given.family]
        by_name = {family.name: family for family in chosen}

        def told(ran: Counter[str], find: Find | None) -> None:
            if find is None:
                if not ran[chosen[0].name] % OFTEN:
                    print(f"{sum(ran.values()):,} cases so far", flush=True)
                return
            name, number, wrong = find
            print(f"{name} {number}: {wrong}", flush=True)
            if given.keep:
                raw, _ = case(by_name[name], number)
                (HERE / "finds" / f"{name}.{number}").write_bytes(raw)

        def begun(family: Family, number: int) -> None:
            if given.at is not None:
                given.at.write_text(f"{family.name} {number}")

        ran, finds = fuzzed(chosen, said, given.seconds, given.start, given.cases, told, begun)
    print(
        f"{sum(ran.values()):,} cases, {len(finds)} finds:", ", ".join(f"{k} {v:,}" for k, v in ran.items())
    )
    return bool(finds)


if __name__ == "__main__":
    sys.exit(command())
