"""A real `privet studio`, as long as a `with` lasts, and what a test needs to drive a browser against it."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

CITIES = "Bonn;Germany;*\nBerlin;Germany;*\nParis;France;*\nLyon;France;*\n"
PLACES, ILLS = ("Bonn", "Berlin", "Paris", "Lyon"), ("flu", "cold", "gout")
AXE = "4.10.3"  # the version whose rules the pages are held against


@dataclass(frozen=True)
class Running:
    """A studio that listens."""

    link: str
    project: Path

    @property
    def base(self) -> str:
        return self.link.partition("/enter")[0]


def started(*words: str, cwd: Path) -> tuple[subprocess.Popen[str], Running]:
    """`privet studio …`, once its link works; whoever starts it ends it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "privet.cli", "studio", *words, "--json"],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        said = ""
        while not said.rstrip().endswith("}"):  # the link is said when it works
            line = process.stdout.readline()
            assert line, process.communicate()[1]
            said += line
        told = json.loads(said)
    except BaseException:
        process.kill()
        raise
    return process, Running(told["link"], Path(told["project"]))


@contextmanager
def running(*words: str, cwd: Path) -> Iterator[Running]:
    """The same, stopped with Ctrl-C as a steward would."""
    process, studio = started(*words, cwd=cwd)
    try:
        yield studio
    finally:
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert "Traceback" not in errors


def axe(folder: Path) -> str | None:
    """axe-core's script from the npm registry; None where that cannot be reached."""
    if shutil.which("npm") is None:
        return None
    place = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not place.is_file():
        words = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder)]
        with suppress(subprocess.TimeoutExpired):
            subprocess.run([*words, f"axe-core@{AXE}"], capture_output=True, timeout=120, check=False)
    return place.read_text(encoding="utf-8") if place.is_file() else None
