"""The command line as people meet it: in this process, in one of its own, and on a terminal."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests import forked

from privet.cli import main
from privet.samples import SAMPLES

ROWS = 400


@dataclass(frozen=True)
class Ran:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def answer(self) -> Any:
        return json.loads(self.out)

    @property
    def problems(self) -> list[str]:
        return self.err.splitlines()


@pytest.fixture
def privet(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Run a command in this process."""

    def run(*args: object) -> Ran:
        code = main([str(arg) for arg in args])
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return run


@pytest.fixture(scope="session")
def table() -> Any:
    return SAMPLES["patients"].generate(ROWS, 1)


@pytest.fixture
def place(tmp_path: Path, table: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with sample data and a policy for it, which is the working folder too."""
    table.write_csv(tmp_path / "patients.csv")
    (tmp_path / "hospital.toml").write_text(SAMPLES["patients"].policy(k=3, l=2), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _command(*args: object) -> list[str]:
    return [sys.executable, "-m", "privet.cli", *map(str, args)]


@pytest.fixture
def command() -> Callable[..., list[str]]:
    """The words that start a command as a process."""
    return _command


@pytest.fixture
def process() -> Callable[..., Ran]:
    """Run a command in a process of its own, with its output piped."""

    def run(*args: object, **env: str) -> Ran:
        if "PYTHONPATH" in env:  # read when Python starts, which a forked process does not
            done = subprocess.run(_command(*args), env=os.environ | env, capture_output=True, check=False)
            return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())
        return Ran(*forked.ran([str(arg) for arg in args], env=env))

    return run


@pytest.fixture
def terminal() -> Callable[..., Ran]:
    """Run a command whose output and errors go to a terminal; both come back as one text."""

    def run(*args: object, **env: str) -> Ran:
        ours, theirs = pty.openpty()
        said, words = b"", [str(arg) for arg in args]
        how = {"NO_COLOR": "", "TERM": "xterm"} | env
        running = forked.Forked(words, stdin=theirs, stdout=theirs, stderr=theirs, env=how)
        os.close(theirs)
        while True:
            try:
                part = os.read(ours, 1 << 16)
            except OSError:  # Linux says so when the other end is closed
                break
            if not part:
                break
            said += part
        os.close(ours)
        return Ran(running.wait(), said.decode().replace("\r\n", "\n"), "")

    return run
