"""Pages of every kind of release as people see them: on a desk and on a phone, in light and in dark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.report.browser import CHROMIUM, FAULTS, Browser
from tests.report.pages import render

from privet.cli.outcome import run

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)"),
]
K = '[[models]]\ntype = "k-anonymity"\nk = 5\n'
DIVERSE = '[[models]]\ntype = "{}"\nl = 3\nsensitive = ["surgery"]\n'
TABLES = {
    "mondrian": K + '[algorithm]\ntype = "mondrian"\n',
    "local": K + '[algorithm]\ntype = "local"\n',
    "optimal": K + '[algorithm]\ntype = "optimal"\nsuppression = "1/20"\n',
    "suppression": K + '[algorithm]\ntype = "suppression"\nmode = "cells"\n',
    "anatomy": DIVERSE.format("distinct-l-diversity") + '[algorithm]\ntype = "anatomy"\n',
    "coincident": DIVERSE.format("entropy-l-diversity") + '[algorithm]\ntype = "coincident"\n',
    "safe-lattice": DIVERSE.format("entropy-l-diversity") + '[algorithm]\ntype = "safe-lattice"\n',
    "pram": '[[models]]\ntype = "by-construction"\n[algorithm]\ntype = "pram"\nkeep = "4/5"\n',
}
NOISY = """policy = 1
[attributes]
sex = { role = "quasi", hierarchy = { type = "tree", tree = { ANY = ["M", "F"] } } }
age = { role = "quasi", hierarchy = { type = "intervals", low = 0, high = 120 } }
transfused = { role = "target", values = ["Y", "N"] }
[[models]]
type = "differential-privacy"
epsilon = "1/2"
[algorithm]
type = "diffgen"
h = 4
noise = "exact"
marginals = "1/5"
"""

COLLECT = """collect = 1
[columns.age]
type = "number"
low = 0
high = 120
mechanism = "laplace"
epsilon = 4
[columns.sex]
type = "category"
values = ["M", "F"]
mechanism = "randomised-response"
epsilon = 2
"""


SAMPLED = {
    "trips-city": "",
    "trips-metro": "",
    "transcripts": "",
    "encounters": "",
    "tree-anatomy": "transcripts",
}


def said(*words: object) -> None:
    assert run([str(word) for word in words]) == 0


def made(kind: str, folder: Path) -> Path:
    """The page of a release of this kind, made as a steward makes it."""
    source, policy, out = "patients", folder / "policy.toml", folder / "out"
    if kind in SAMPLED:
        source = SAMPLED[kind] or kind
    data = folder / ("data.json" if source in ("transcripts", "encounters") else "data.csv")
    said("sample", source, "-o", data, "--rows", 400, "--policy", policy)
    ready, more = policy.read_text(), []
    if kind in TABLES:
        policy.write_text(ready.partition("[[models]]")[0] + TABLES[kind])
    elif kind == "tree-anatomy":
        policy.write_text(ready.replace("document-l-div", "anatomy-l-div").replace("ctoff", "tree-anatomy"))
    elif kind == "diffgen":
        policy.write_text(NOISY)
        more = ["--ledger", folder / "ledger.sqlite", "--dataset", "ward"]
        said("ledger", "open", more[1], "--dataset", "ward", "--budget", 5)
    elif kind == "explored":
        said("explore", data, policy, "--k", "2,5", "-o", folder / "explored.html")
        return folder / "explored.html"
    elif kind == "collected":
        (folder / "collect.toml").write_text(COLLECT)
        said("collect", "perturb", folder / "collect.toml", data, "-o", folder / "sent.csv")
        answers = (folder / "collect.toml", folder / "sent.csv", "--pair", "age,sex")
        said(
            "collect",
            "reconstruct",
            *answers,
            "--column",
            "age",
            "--column",
            "sex",
            "-o",
            folder / "page.html",
        )
        return folder / "page.html"
    elif kind == "attacked":
        said("publish", data, policy, "-o", folder / "attacked")
        said("attack", folder / "attacked", "--raw", data, "-o", folder / "attacked.html")
        return folder / "attacked.html"
    elif kind == "exposed":
        said("risk", data, policy, "-o", folder / "risk.html")
        return folder / "risk.html"
    said("publish", data, policy, "-o", out, *more)
    if kind == "compared":
        said("compare", data, out, "-o", folder / "compare.html")
        return folder / "compare.html"
    return out / "report.html"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("browser")) as started:
        yield started


@pytest.mark.parametrize(
    "kind",
    [*TABLES, "top-down", "diffgen", "explored", "attacked", "exposed", "compared", "collected", *SAMPLED],
)
def test_it_fits_every_screen_and_complains_about_nothing(
    kind: str, browser: Browser, tmp_path: Path
) -> None:
    page = made(kind, tmp_path)
    for width in (1200, 700, 360):
        browser.open(page, width=width, dark=width == 700)
        assert browser.asked(FAULTS) == [], width
        assert browser.console() == []


def test_what_does_not_fit_would_be_seen(browser: Browser, tmp_path: Path) -> None:
    page = tmp_path / "bad.html"
    page.write_text(
        '<!doctype html><body style="margin: 0"><div style="width: 500px">x</div>'
        '<p style="margin-left: 380px; width: 90px">word</p>'
        '<div class="plot"><svg><text y="20">one</text><text y="22">two</text></svg></div>'
        "<script>console.warn(1)</script>"
    )
    browser.open(page, width=400, dark=False)
    found = " ".join(browser.asked(FAULTS))
    assert "the page is 500 wide" in found
    assert "beyond the edge: word" in found
    assert "on each other: two and one" in found
    assert len(browser.console()) == 1


def test_dark_is_dark_and_paper_is_white(browser: Browser, evidence: dict[str, Any], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.write_text(render(evidence), encoding="utf-8")
    ground = "getComputedStyle(document.body).backgroundColor"
    browser.open(page, width=800, dark=False)
    light = browser.asked(ground)
    browser.open(page, width=800, dark=True)
    assert browser.asked(ground) != light
    browser.call(
        "Emulation.setEmulatedMedia",
        media="print",
        features=[{"name": "prefers-color-scheme", "value": "dark"}],
    )
    assert browser.asked(ground) == "rgb(255, 255, 255)"
    assert browser.asked("document.querySelector('nav').offsetHeight") == 0
    browser.call("Emulation.setEmulatedMedia", media="")
