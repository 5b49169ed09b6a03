"""A million records, no two alike, by clicks in a real browser: nothing hangs, no promise is a sample's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from tests.report.browser import CHROMIUM, Browser
from tests.studio.different import different
from tests.studio.service import Running, running
from tests.studio.test_browser import VERIFIER, settled, went

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)"),
]
RECORDS = 1_000_000
QUASI = ("sex", "race", "marital-status", "education", "native-country", "workclass", "age", "zip", "born")
OTHERS = {"occupation": "sensitive", "salary-class": "other", "wage": "left-out"}
MOST_MEMORY = 4_000_000  # kilobytes that the pages' own process may ever take for so large a table
READY = "!document.querySelector('[data-state]') && document.readyState === 'complete'"


def there(browser: Browser) -> str:
    """What the page says, once it waits for nothing."""
    browser.waited(READY)
    return str(browser.asked("document.querySelector('main').innerText"))


def opened(browser: Browser, studio: Running, page: str) -> str:
    browser.open(f"{studio.base}/{page}", width=1200, dark=False)
    return there(browser)


def at_risk(table: pl.DataFrame, k: int) -> int:
    """Counted by nobody of ours."""
    sizes = table.group_by(QUASI).len()
    return int(sizes.filter(pl.col("len") < k).get_column("len").sum())


def memory(command: str) -> int:
    """The most kilobytes that the process of a command has had."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if command in (place / "cmdline").read_bytes().decode(errors="replace"):
                said = (place / "status").read_text(encoding="ascii")
                return int(said.partition("VmHWM:")[2].split()[0])
        except OSError:
            continue
    raise AssertionError("the studio does not run")


def test_a_million_different_records_by_clicks(tmp_path: Path) -> None:
    data = tmp_path / f"million-{os.getpid()}.csv"
    table = different(data, RECORDS)
    assert table.n_unique() == RECORDS
    with running(str(data), cwd=tmp_path) as studio, Browser(tmp_path / "profile") as browser:
        browser.open(studio.link, width=1200, dark=False)
        settled(browser, "Columns")
        assert "1,000,000 records" in there(browser)
        for at, name in enumerate(table.columns, start=1):
            browser.click(f"#c{at} button[value={OTHERS.get(name, 'quasi')}]")
        together = opened(browser, studio, "columns/together")
        assert "A sample:" in together  # and it says so
        assert "Promises are always checked on every record" in together
        opened(browser, studio, "hierarchies")
        for column, field, steps in (("zip", "#keep", "3, 1"), ("age", "#width", "5, 10, 20")):
            opened(browser, studio, f"hierarchy?column={column}")
            browser.fill(field, steps)
            browser.press("Enter", leads=True)
            assert "have their place" in there(browser)
        opened(browser, studio, "promise?model=k-anonymity")
        browser.fill("#model-k", "5")
        wanted = f"Today {at_risk(table, 5):,} of 1,000,000 records would have to change."
        browser.waited(f"document.querySelector('.live').textContent.includes({json.dumps(wanted)})")
        browser.press("Enter", leads=True)
        opened(browser, studio, "promise?algorithm=optimal")
        browser.fill("#search-suppression", "1/20")
        browser.click("form[action$='/promise/algorithm'] button:not([value])")
        explored(browser, studio)
        folder = released(browser, studio)
        assert memory(data.name) < MOST_MEMORY
    found = pl.read_csv(folder / "data.csv", separator=";", infer_schema=False)
    assert found.height > 0.95 * RECORDS
    assert not at_risk(found, 5)  # counted on every record, not on a sample
    words = [sys.executable, "-I", str(VERIFIER), str(folder)]
    assert subprocess.run(words, capture_output=True, check=False).returncode == 0


def explored(browser: Browser, studio: Running) -> None:
    """Look around: work that is begun and cancelled, the lattice as far as somebody wants to wait, a node."""
    opened(browser, studio, "explore")
    browser.fill("#k", "5")
    browser.click("form[action$='/explore/start'] button")
    browser.waited("document.querySelector('.said')?.textContent.includes('searching')")
    browser.click("form[action$='/job/cancel'] button")
    assert "Cancelled" in there(browser)
    browser.open(f"{studio.base}/explore/lattice", width=1200, dark=False)
    browser.waited("/settled/.test(document.querySelector('.said')?.textContent) || !!window.lattice")
    if browser.asked("!!document.querySelector('form[action$=\"/lattice/stop\"]')"):
        browser.click("form[action$='/lattice/stop'] button")
    assert "nodes: each says one level" in there(browser)
    browser.waited("document.getElementById('counted')?.textContent.includes('nodes shown')")
    if browser.asked("!!document.querySelector('[data-pick]')"):
        browser.click("[data-pick]", leads=False)
        browser.waited("/Keeps|Breaks/.test(document.getElementById('node').textContent)")


def released(browser: Browser, studio: Running) -> Path:
    """Publish, look at other pages meanwhile, verify, and see records before and after."""
    went(browser, "publish")
    browser.click("button.main")
    at = browser.asked("location.search")
    assert "1,000,000 records" in opened(browser, studio, "columns")  # which do not wait for it
    assert "Published" in opened(browser, studio, f"job{at}")
    browser.click(".onward a")
    browser.click("button[value=verify]")
    assert "all hold" in there(browser)
    beside = opened(browser, studio, "release/beside?name=release-1")
    assert "1,000,000" in beside
    return studio.project / "releases" / "release-1"
