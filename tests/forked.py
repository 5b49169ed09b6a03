"""Processes that are forked from one that has loaded everything: what is tested is what a command does, not
how long Python takes to start.

They have a process id, streams, a working folder and signals of their own, as any process has; what comes
before a command runs and after it (imports, Python's end) is tested with real processes elsewhere. All
workers of a run ask the same process to fork: what it loads is loaded once.
"""

from __future__ import annotations

import atexit
import importlib
import io
import json
import os
import select
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
COMMAND = "privet.cli:main"
STARTED = dict(os.environ)  # before any test has changed it
_spent = 0.0  # processor seconds of those that have ended


def spent() -> float:
    """What all that this process has asked for and waited for has cost."""
    return _spent


class Forked:
    """As much of `subprocess.Popen` as tests ask for."""

    def __init__(
        self,
        words: list[str],
        *,
        call: str = COMMAND,
        load: tuple[str, ...] = (),
        cwd: Path | None = None,
        env: dict[str, str] | None = None,
        stdin: int = subprocess.DEVNULL,
        stdout: int = subprocess.DEVNULL,
        stderr: int = subprocess.DEVNULL,
    ) -> None:
        self._parent = _parent()
        self.returncode: int | None = None
        with Path(os.devnull).open("r+b") as nothing:
            given = [
                nothing.fileno() if one == subprocess.DEVNULL else one for one in (stdin, stdout, stderr)
            ]
            said: dict[str, Any] = {"words": words, "call": call, "load": (*EVERY, *load)}
            said |= {"cwd": str(cwd or Path.cwd()), "env": dict(os.environ) | (env or {})}
            self.pid = int(self._parent.ask(said, given))

    def poll(self) -> int | None:
        global _spent  # noqa: PLW0603 - a sum over all of them
        if self.returncode is None and (ended := self._parent.ask({"pid": self.pid}, [])) is not None:
            self.returncode, seconds = ended
            _spent += seconds
        return self.returncode

    def wait(self, timeout: float = 600) -> int:
        until = time.monotonic() + timeout
        while (code := self.poll()) is None:
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired("a forked command", timeout)
            self._sleep(until - time.monotonic())
        return code

    def _sleep(self, most: float) -> None:
        """Until it may have ended: to ask again and again takes time from who works."""
        if not hasattr(os, "pidfd_open"):
            time.sleep(0.002)
            return
        watched = os.pidfd_open(self.pid)  # which is nobody else's before `poll` has said how it ended
        try:
            select.select([watched], [], [], max(0.0, most))
        finally:
            os.close(watched)

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
    """The other end of the process that forks, which ends when nobody can ask it any more."""

    def __init__(self) -> None:
        run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
        self._name = f"\0privet-forked-{run}"  # in no folder, and gone with who listens
        self._running: subprocess.Popen[bytes] | None = None
        self._alone = threading.Lock()  # a question and its answer
        self._socket = self._connected()
        atexit.register(self.close)

    def _connected(self) -> socket.socket:
        while True:
            ours = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST)
            try:
                ours.connect(self._name)
                ours.send(b"{}")
                if ours.recv(MOST):  # else it was about to end
                    return ours
            except ConnectionError:
                self._start()
            ours.close()

    def _start(self) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asked:
            try:
                asked.bind(self._name)
            except OSError:  # another worker was quicker
                return
            asked.listen(64)
            command = [sys.executable, "-m", "tests.forked", str(asked.fileno())]
            env = STARTED | {"PYTHONPATH": os.pathsep.join([str(HERE), STARTED.get("PYTHONPATH", "")])}
            self._running = subprocess.Popen(command, cwd=HERE, pass_fds=[asked.fileno()], env=env)

    def close(self) -> None:
        self._socket.close()
        if self._running is not None:
            self._running.wait()

    def ask(self, question: dict[str, Any], files: list[int]) -> Any:
        with self._alone:
            socket.send_fds(self._socket, [json.dumps(question).encode()], files)
            answer = self._socket.recv(MOST)
        assert answer, "the process that forks is gone"
        return json.loads(answer)


_parent = cache(Parent)


def _child(said: dict[str, Any], files: list[int]) -> int:
    module, _, name = said["call"].partition(":")
    call = getattr(importlib.import_module(module), name)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream, file in enumerate(files):
        os.dup2(file, stream)
        os.close(file)
    os.environ.clear()
    os.environ.update(said["env"])
    os.chdir(said["cwd"])
    tempfile.tempdir = None  # looked up again
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
    code = call(said["words"])
    sys.stdout.flush()
    sys.stderr.flush()
    return int(code)


def _serve(number: int) -> None:
    listening, asking = socket.socket(fileno=number), list[socket.socket]()
    asking.append(listening.accept()[0])
    while asking:
        for one in select.select([listening, *asking], [], [])[0]:
            if one is listening:
                asking.append(listening.accept()[0])
                continue
            try:
                text, files, _, _ = socket.recv_fds(one, MOST, 3)
            except ConnectionError:
                text, files = b"", []
            if text:
                one.send(json.dumps(_answer(json.loads(text), files, [listening, *asking])).encode())
            else:
                asking.remove(one)
                one.close()


def _answer(
    said: dict[str, Any], files: list[int], ours: list[socket.socket]
) -> int | tuple[int, float] | None:
    if not said:  # is anybody there?
        return 0
    if "pid" in said:
        pid, status, used = os.wait4(said["pid"], os.WNOHANG)
        return (os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime) if pid else None
    for name in said["load"]:
        importlib.import_module(name)
    if not (child := os.fork()):
        code = 70
        try:
            for one in ours:
                one.close()
            code = _child(said, files)
        finally:
            os._exit(code)
    for file in files:
        os.close(file)
    return child


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
