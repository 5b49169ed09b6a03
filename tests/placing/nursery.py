"""Publishers that are forked, not started, so that a kill falls into their work and not into Python's start.

It reads one command line (a JSON list: folder, steps before a crash or null, arguments)
from each line of input, forks a process that runs it, says its process id, and when it is gone how it
ended: its exit code, or minus the signal.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.forked import Forked

NO_EXCHANGE = "PRIVET_TEST_NO_EXCHANGE"
LIGHT = "PRIVET_TEST_LIGHT"  # puts things in their places only
MORE = "PRIVET_TEST_LOAD"  # modules that most of its commands load, so that they need not
AT_START = ("PYTHON", "LC_", "OPENBLAS_")  # read when Python or a library starts
ROADS = (
    *("tables.road", "tables.anatomy", "noisy.road"),
    *("trajectories.road", "documents.road", "transactions.road"),
)
LOADED = tuple(f"privet.roads.{name}" for name in ROADS)
THEN = "then"
HERE = Path(__file__).parents[2]


class Nursery:
    """The other end of it. It is forked itself, but where Python shall start as `env` says."""

    def __init__(self, **env: str) -> None:
        (self._heard, told), (read, self._told) = os.pipe(), os.pipe()
        env = {"POLARS_MAX_THREADS": "1"} | env
        try:
            self._running: Forked | subprocess.Popen[bytes] = (
                subprocess.Popen(
                    [sys.executable, "-m", "tests.placing.nursery"],
                    stdin=read,
                    stdout=told,
                    cwd=HERE,
                    env=os.environ | env,
                )
                if any(name.startswith(AT_START) for name in env)
                else Forked(
                    [], call="tests.placing.nursery:main", load=LOADED, stdin=read, stdout=told, env=env
                )
            )
        finally:
            os.close(read)
            os.close(told)
        self._answers = os.fdopen(self._heard, encoding="utf-8")
        self._said()

    def start(self, folder: Path, *args: str, crash: int | None = None) -> int:
        os.write(self._told, (json.dumps([str(folder), crash, args]) + "\n").encode())
        return int(self._said())

    def ended(self) -> int:
        return int(self._said())

    def run(self, folder: Path, *args: str, crash: int | None = None) -> int:
        self.start(folder, *args, crash=crash)
        return self.ended()

    def close(self) -> None:
        os.close(self._told)
        self._answers.close()
        self._running.wait()

    def _said(self) -> str:
        said = self._answers.readline()
        assert said, "the nursery is gone"
        return said


def dying(after: int) -> None:
    """Let this process be killed before its `after`-th step that changes the disk."""
    left = [after]

    def counted(call: Callable[..., Any]) -> Callable[..., Any]:
        def stepped(*args: Any, **kwargs: Any) -> Any:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), 9)
            return call(*args, **kwargs)

        return stepped

    from privet.placing import system

    for name in ("rename", "replace", "mkdir", "rmdir", "unlink", "chmod", "fsync"):
        setattr(os, name, counted(getattr(os, name)))
    system.exchanged = counted(system.exchanged)


def placed(text: str) -> int:
    """What a release does at its end, with nothing before it: two folders put in their places."""
    from privet.errors import InputError
    from privet.placing import aside

    try:
        with aside(Path("out")) as made:
            for name in ("out.private", "out"):
                made.fresh(name).mkdir()
                for file in ("first", "second"):
                    (made.fresh(name) / file).write_text(text)
            made.place(["out.private", "out"])
    except InputError:
        return 2
    return 0


def walked(run: Callable[[list[str]], int], args: list[str]) -> int:
    """One command; or several with `then` between them, and after each how it ended: the worst end."""
    commands = [list(words) for between, words in itertools.groupby(args, THEN.__eq__) if not between]
    if len(commands) == 1:
        return run(commands[0])
    worst = 0
    for words in commands:
        worst = max(worst, ended := run(words))
        print("exit", ended, *words, flush=True)
    return worst


def main(_words: Sequence[str] = ()) -> int:
    from privet.placing import system

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs would not hear it
    run: Any = None
    if LIGHT not in os.environ:
        from privet.cli.app import commands
        from privet.cli.outcome import run

        commands()
        for name in LOADED:  # once, before the forks
            importlib.import_module(name)
        for name in os.environ.get(MORE, "").split():
            with suppress(ImportError):  # of an extra: who needs it says so
                importlib.import_module(name)
    if NO_EXCHANGE in os.environ:
        system.exchanged = lambda *_: False
    print("ready", flush=True)
    for line in sys.stdin:
        folder, crash, args = json.loads(line)
        child = os.fork()
        if not child:
            os.chdir(folder)
            for stream in (1, 2):
                os.dup2(os.open("said", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), stream)
            if crash is not None:
                dying(crash)
            os._exit(placed(args[1]) if args[0] == "place" else walked(run, args))
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)
    return 0


if __name__ == "__main__":
    main()
