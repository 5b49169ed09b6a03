"""Long work, as the command that could have been typed, in a process of its own: it can be stopped, and the
pages stay quick meanwhile. What it has to say is its `--json`; how far it is, it says line by line.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from typing import Any

from privet.errors import InputError
from privet.studio.addresses import shown, unseen

PROGRESS = {"PRIVET_PROGRESS": "lines"}
AT_ONCE = 2  # commands that run side by side; a steward has one machine
KEPT = 50  # jobs that are remembered


class State(Enum):
    """What became of a job."""

    RUNNING = "running"
    DONE = "done"
    REFUSED = "refused"
    CANCELLED = "cancelled"


@dataclass
class Job:
    """One command, and how far it is."""

    number: int
    kind: str
    command: tuple[str, ...]  # as it is typed, without `--json`
    process: subprocess.Popen[str] = field(repr=False)
    about: str = ""  # the digest of the policy that it was begun with, or the name of a release
    written: bool = False  # its answer is what it writes for people
    begun: float = field(default_factory=time.monotonic)
    state: State = State.RUNNING
    stage: str = ""
    done: int = 0
    of: int | None = None
    seconds: float = 0.0
    exit: int | None = None
    answer: Mapping[str, Any] = field(default_factory=dict, repr=False)
    complaints: tuple[str, ...] = ()
    heard: threading.Event = field(default_factory=threading.Event, repr=False)  # it has read its policy
    finished: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def running(self) -> bool:
        return self.state is State.RUNNING

    def cancel(self) -> None:
        """Stop it; nothing half done is left, as what a command writes stands whole or not at all."""
        if self.running:
            self.state = State.CANCELLED
            self.process.terminate()


class Jobs:
    """The commands that this studio has run, the newest last."""

    def __init__(self) -> None:
        self._all: dict[int, Job] = {}
        self._numbers = count(1)
        self._lock = threading.Lock()

    def __iter__(self) -> Any:
        return iter(list(self._all.values()))

    def start(self, kind: str, *words: str, about: str = "", written: bool = False) -> Job:
        """Run `privet …`; refuses where enough runs already."""
        with self._lock:
            if sum(job.running for job in self._all.values()) >= AT_ONCE:
                raise InputError("other work is under way; wait for it, or cancel it")
            process = _begun(words, written=written)
            job = Job(next(self._numbers), kind, ("privet", *words), process, about, written)
            self._all[job.number] = job
            for old in list(self._all)[:-KEPT]:
                if not self._all[old].running:
                    del self._all[old]
        threading.Thread(target=_followed, args=(job,), daemon=True).start()
        return job

    def find(self, number: int) -> Job | None:
        return self._all.get(number)

    def last(self, kind: str) -> Job | None:
        """The newest job of a kind that was done."""
        done = [job for job in self._all.values() if job.kind == kind and job.state is State.DONE]
        return done[-1] if done else None

    def stop(self) -> None:
        """End whatever runs: the studio closes."""
        for job in self:
            job.cancel()
        for job in self:
            job.finished.wait(10)


def _begun(words: Sequence[str], *, written: bool) -> subprocess.Popen[str]:
    typed, secret = unseen(words)
    try:
        return subprocess.Popen(  # noqa: S603 - our own command line, no shell
            [sys.executable, "-m", "privet.cli", *typed, *(() if written else ("--json",))],
            env={**os.environ, **PROGRESS, **secret, "PYTHONIOENCODING": "utf-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
    except (OSError, ValueError):  # a word of no command line: it has a NUL, or never ends
        raise InputError(
            "this could not be typed as a command: a name is too long or has odd letters"
        ) from None


def _followed(job: Job) -> None:
    said: list[str] = []
    reader = threading.Thread(target=lambda: said.append(_all(job)), daemon=True)
    reader.start()
    for line in job.process.stderr or ():
        _heard(job, line)
    reader.join()
    with job.process:  # closes what it was heard through
        job.exit = job.process.wait()
    job.seconds = time.monotonic() - job.begun
    _ended(job, "".join(said))
    job.heard.set()
    job.finished.set()


def _all(job: Job) -> str:
    return "" if job.process.stdout is None else job.process.stdout.read()


def _heard(job: Job, line: str) -> None:
    try:
        told = json.loads(line)
        job.stage, job.done, job.of = str(told["stage"]), int(told["done"]), told["of"]
        job.heard.set()
    except (ValueError, TypeError, KeyError):
        if job.written and line.strip():  # else a warning, which the answer has, too
            job.complaints = (*job.complaints, line.strip())


def _ended(job: Job, said: str) -> None:
    if job.written:
        job.answer = {"text": said}
        if job.state is State.RUNNING:
            job.state = State.REFUSED if job.exit not in {0, 1} else State.DONE
        return
    try:
        job.answer = dict(json.loads(said))
    except ValueError:
        job.answer = {}
    if job.state is State.CANCELLED:
        return
    if "error" in job.answer or not job.answer:
        job.complaints = tuple(map(str, job.answer.get("complaints", ()))) or (
            "the command ended without an answer",
        )
        job.state = State.REFUSED
    else:
        job.state = State.DONE


def spoken(words: Sequence[str]) -> str:
    """A command as it is typed; a password in a database's address is not shown.

    >>> spoken(["privet", "check", "postgresql://me:secret@db/x", "my policy.toml"])
    "privet check 'postgresql://me:…@db/x' 'my policy.toml'"
    """
    return shlex.join(map(shown, words))
