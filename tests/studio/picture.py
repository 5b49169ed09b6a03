"""The pictures in docs/howto/studio.md, made anew: python -m tests.studio.picture"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.pages import HERE
from tests.report.browser import Browser
from tests.studio.adultlike import LEVELS, drawn
from tests.studio.service import Running, running

from privet.cli import main

PLACE = HERE / "docs" / "howto"
SIZE = {"width": 1180, "height": 820, "deviceScaleFactor": 1, "mobile": False}
ATTRIBUTE = '{} = {{ role = "quasi", hierarchy = {{ type = "csv", path = "hierarchies/{}.csv" }} }}'
POLICY = """policy = 1
kind = "table"
[attributes]
{attributes}
[[models]]
type = "k-anonymity"
k = 5
[algorithm]
type = "optimal"
suppression = "1/20"
"""


def draw(place: Path = PLACE) -> list[Path]:
    """The columns of sample patients; the lattice and a release of a table of the form of Adult."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Browser(folder / "profile") as browser:
            main(["sample", "patients", "--rows", "3000", "-o", str(folder / "patients.csv")])
            with running("patients.csv", cwd=folder) as studio:
                columns(browser, studio, place / "studio.png")
            data, trees = drawn(folder)
            project = folder / "adultlike.studio"
            (project / "hierarchies").mkdir(parents=True)
            for column, tree in trees.items():
                (project / "hierarchies" / f"{column}.csv").write_bytes(tree.read_bytes())
            rows = "\n".join(map(ATTRIBUTE.format, LEVELS, LEVELS))
            (project / "policy.toml").write_text(POLICY.format(attributes=rows), encoding="utf-8")
            out = str(project / "releases" / "release-1")
            main(["publish", str(data), str(project / "policy.toml"), "-o", out])
            with running(str(data), cwd=folder) as studio:
                lattice(browser, studio, place / "studio-lattice.png")
                beside(browser, studio, place / "studio-before-after.png")
    return [place / f"studio{which}.png" for which in ("", "-lattice", "-before-after")]


def entered(browser: Browser, studio: Running) -> None:
    browser.open(studio.link, width=SIZE["width"], dark=False)
    browser.waited("document.querySelector('h1')?.textContent === 'Columns'")


def taken(browser: Browser, place: Path) -> None:
    browser.call("Emulation.setDeviceMetricsOverride", **SIZE)
    browser.picture(place, whole=False)


def columns(browser: Browser, studio: Running, place: Path) -> None:
    entered(browser, studio)
    for column, role in ((1, "identifier"), (2, "identifier"), (3, "quasi"), (4, "quasi")):
        browser.click(f"#c{column} button[value={role}]")
    browser.click("input[value=persons]", leads=False)
    browser.click("form[action$='/columns/rows'] button")
    browser.asked("scrollTo(0, 0)")
    taken(browser, place)


def lattice(browser: Browser, studio: Running, place: Path) -> None:
    entered(browser, studio)
    browser.open(f"{studio.base}/explore/lattice", width=SIZE["width"], dark=False)
    browser.waited("document.getElementById('counted')?.textContent.includes('nodes shown')")
    browser.click("[data-pick]", leads=False)
    browser.waited("document.getElementById('node').textContent.includes('Keeps')")
    browser.asked("document.getElementById('filter').scrollIntoView({block: 'start', behavior: 'instant'})")
    taken(browser, place)


def beside(browser: Browser, studio: Running, place: Path) -> None:
    browser.open(f"{studio.base}/release?name=release-1", width=SIZE["width"], dark=False)
    browser.click("a[href*='/release/beside']")
    browser.waited("!!document.querySelector('table.beside')")
    taken(browser, place)


if __name__ == "__main__":
    for made in draw():
        sys.stdout.write(f"{made} has {made.stat().st_size:,} bytes\n")
