"""Processes that are forked from one that has loaded everything: what is tested is what a command does, not
how long Python takes to start.

They have a process id, streams, a working folder and signals of their own, as any process has; what comes
before a command runs and after it (imports, Python's end) is tested with real processes elsewhere.
"""

from __future__ import annotations

import atexit
import importlib
import io
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from functools import cache
from pathlib import Path
from typing import Any, Self

HERE = Path(__file__).parents[1]
EVERY = ("numpy", "polars", "privet.cli.outcome", "privet.cli.app", "privet.roads.tables.road")
MOST = 1 << 20  # bytes of a message


class Forked:
    """As much of `subprocess.Popen` as tests ask for."""

    def __init__(
        self,
        words: list[str],
        *,
        load: tuple[str, ...] = (),
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        stdin: int = subprocess.DEVNULL,
        stdout: int = subprocess.DEVNULL,
        stderr: int = subprocess.DEVNULL,
    ) -> None:
        self._parent = _parent((*EVERY, *load))
        self.returncode: int | None = None
        with Path(os.devnull).open("r+b") as nothing:
            given = [
                nothing.fileno() if one == subprocess.DEVNULL else one for one in (stdin, stdout, stderr)
            ]
            said = {"words": words, "cwd": str(cwd or Path.cwd()), "env": dict(os.environ) | (env or {})}
            self.pid = int(self._parent.ask(said, given))

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._parent.ask({"pid": self.pid}, [])
        return self.returncode

    def wait(self, timeout: float = 600) -> int:
        until = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired("a forked command", timeout)
            time.sleep(0.002)
        return code

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)


class Piped(Forked):
    """One whose words are read as it says them."""

    def __init__(self, words: list[str], **how: Any) -> None:
        (out, told), (err, warned) = os.pipe(), os.pipe()
        self.stdout, self.stderr = (open(one, encoding="utf-8", errors="replace") for one in (out, err))  # noqa: PTH123, SIM115
        try:
            super().__init__(words, stdout=told, stderr=warned, **how)
        finally:
            os.close(told)
            os.close(warned)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stdout.close()
        self.stderr.close()


def ran(words: list[str], **how: Any) -> tuple[int, str, str]:
    """How a command ended and what it said on both streams."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        code = Forked(words, stdout=out.fileno(), stderr=err.fileno(), **how).wait()
        for file in (out, err):
            file.seek(0)
        return code, out.read().decode("utf-8"), err.read().decode("utf-8")


class Parent:
    """The other end of the process that forks."""

    def __init__(self, load: tuple[str, ...]) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-m", "tests.forked", str(theirs.fileno()), *load]
            env = os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])}
            self._running = subprocess.Popen(command, cwd=HERE, pass_fds=[theirs.fileno()], env=env)
        self._socket = ours
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST)
        self._alone = threading.Lock()  # a question and its answer
        atexit.register(self.close)

    def close(self) -> None:
        self._socket.close()
        self._running.wait()

    def ask(self, question: dict[str, Any], files: list[int]) -> Any:
        with self._alone:
            socket.send_fds(self._socket, [json.dumps(question).encode()], files)
            answer = self._socket.recv(MOST)
        assert answer, "the process that forks is gone"
        return json.loads(answer)


@cache
def _parent(load: tuple[str, ...]) -> Parent:
    """One for each set of modules; it ends when nobody can ask it any more."""
    return Parent(load)


def _child(said: dict[str, Any], files: list[int]) -> int:
    from privet.cli import main

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream, file in enumerate(files):
        os.dup2(file, stream)
        os.close(file)
    os.environ.clear()
    os.environ.update(said["env"])
    os.chdir(said["cwd"])
    sys.stdin = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, "r", closefd=False)), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(1, "w", closefd=False)), encoding="utf-8", line_buffering=os.isatty(1)
    )
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(2, "w", closefd=False)),
        encoding="utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )
    code = main(said["words"])
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def _serve(number: int, load: list[str]) -> None:
    asked = socket.socket(fileno=number)
    for name in load:
        importlib.import_module(name)
    while True:
        text, files, _, _ = socket.recv_fds(asked, MOST, 3)
        if not text:
            return
        said = json.loads(text)
        if "pid" in said:
            pid, status = os.waitpid(said["pid"], os.WNOHANG)
            asked.send(json.dumps(os.waitstatus_to_exitcode(status) if pid else None).encode())
            continue
        if not (child := os.fork()):
            asked.close()
            code = 70
            try:
                code = _child(said, files)
            finally:
                os._exit(code)
        for file in files:
            os.close(file)
        asked.send(str(child).encode())


if __name__ == "__main__":
    _serve(int(sys.argv[1]), sys.argv[2:])
