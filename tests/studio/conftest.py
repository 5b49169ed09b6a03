"""A browser, and a studio in which every page has something to show, for tests by mouse and keyboard."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.forked import Piped
from tests.report.browser import Browser
from tests.studio.service import CITIES, ILLS, PLACES, Running, axe, running

from privet.cli import main
from privet.studio import jobs
from privet.studio.addresses import unseen

PYTHON = sys.executable
LOADED = ("privet.verification", "privet.assess", "privet.attackers.suite", "privet.report.html")
LONGEST = 10_000  # letters of a command that is forked


@pytest.fixture(autouse=True)
def forked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands of pages are forked, which spares them Python's start; not where a test says `as_typed`.

    What could be no command is left to the system to refuse, and another Python is what a test is about.
    """
    if "as_typed" in request.fixturenames:
        return
    begun = jobs._begun

    def instead(words: Sequence[str], *, written: bool) -> Any:
        text = "".join(words)
        if "\0" in text or len(text) > LONGEST or sys.executable != PYTHON:
            return begun(words, written=written)
        typed, secret = unseen(words)
        more = [] if written else ["--json"]
        return Piped([*typed, *more], load=LOADED, env={**os.environ, **jobs.PROGRESS, **secret})

    monkeypatch.setattr(jobs, "_begun", instead)


@pytest.fixture
def as_typed() -> None:
    """Commands are run as the studio runs them, by Python itself."""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project in which every page has something to show."""
    folder = tmp_path_factory.mktemp("complete")
    lines = (f"P{n},{20 + n % 31},{PLACES[n % 4]},{ILLS[n % 3]}\n" for n in range(400))
    (folder / "people.csv").write_text("name,age,city,disease\n" + "".join(lines), encoding="utf-8")
    project = folder / "people.studio"
    (project / "hierarchies").mkdir(parents=True)
    (project / "hierarchies" / "city.csv").write_text(CITIES, encoding="utf-8")
    (project / "policy.toml").write_text(
        'policy = 1\nkind = "table"\n[attributes]\nname = { role = "identifier" }\n'
        'age = { role = "quasi", hierarchy = { type = "intervals", width = [5, 10, 20] } }\n'
        'city = { role = "quasi", hierarchy = { type = "csv", path = "hierarchies/city.csv" } }\n'
        'disease = { role = "sensitive" }\n[[models]]\ntype = "k-anonymity"\nk = 5\n',
        encoding="utf-8",
    )
    out = str(project / "releases" / "release-1")
    assert main(["publish", str(folder / "people.csv"), str(project / "policy.toml"), "-o", out]) == 0
    return folder


@pytest.fixture(scope="module")
def studio(complete: Path) -> Iterator[Running]:
    with running("people.csv", cwd=complete) as found:
        yield found


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> str:
    found = axe(tmp_path_factory.mktemp("npm"))
    if found is None:
        pytest.skip("the npm registry, from which axe-core comes, cannot be reached")
    return found
