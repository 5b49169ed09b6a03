"""The picture in docs/howto/studio.md, made anew: python -m tests.studio.picture"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.pages import HERE
from tests.report.browser import Browser
from tests.studio.service import running

from privet.cli import main

PLACE = HERE / "docs" / "howto" / "studio.png"


def draw(place: Path = PLACE) -> None:
    """The columns of sample patients, some decided, in a real browser."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        main(["sample", "patients", "--rows", "3000", "-o", str(folder / "patients.csv")])
        with running("patients.csv", cwd=folder) as studio, Browser(folder / "profile") as browser:
            browser.open(studio.link, width=1180, dark=False)
            for column, role in ((1, "identifier"), (2, "identifier"), (3, "quasi"), (4, "quasi")):
                browser.click(f"#c{column} button[value={role}]")
            browser.click("input[value=persons]", leads=False)
            browser.click("form[action$='/columns/rows'] button")
            browser.asked(
                "document.getElementById('c3').scrollIntoView({block: 'start', behavior: 'instant'})"
            )
            size = {"width": 1180, "height": 820, "deviceScaleFactor": 1, "mobile": False}
            browser.call("Emulation.setDeviceMetricsOverride", **size)
            browser.picture(place, whole=False)


if __name__ == "__main__":
    draw()
    sys.stdout.write(f"{PLACE} has {PLACE.stat().st_size:,} bytes\n")
