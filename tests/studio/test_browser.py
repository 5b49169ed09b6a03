"""The whole road in a real browser, by mouse and keyboard, for four kinds of data; and what axe finds."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.pages import HERE
from tests.report.browser import CHROMIUM, FAULTS, Browser
from tests.studio.service import CITIES, ILLS, PLACES, Running, running

from privet.cli import main

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)"),
]
VERIFIER = HERE / "src" / "privet" / "verifier" / "verify.py"


def entered(browser: Browser, studio: Running) -> None:
    browser.open(studio.link, width=1200, dark=False)
    settled(browser, "Columns", "Open", "Releases")


def settled(browser: Browser, *titles: str) -> None:
    """Wait until a page with one of these titles is there, and not one that waits itself."""
    wanted = json.dumps(titles)
    browser.waited(
        f"{wanted}.includes(document.querySelector('h1')?.textContent) && document.readyState === 'complete'"
    )


def went(browser: Browser, step: str) -> None:
    browser.click(f".steps a[href$='/{step}']")


def published(browser: Browser, studio: Running, number: int = 1) -> Path:
    """Click Publish, wait for the end, verify by a click and by who shares no code with us; the folder."""
    went(browser, "publish")
    browser.click("button.main")
    assert (
        browser.waited("document.querySelector('main .state')?.textContent").strip().startswith("✓ Published")
    )
    browser.click(".onward a")
    browser.click("button[value=verify]")
    assert "all hold" in browser.waited("document.querySelector('main .state')?.textContent")
    folder = studio.project / "releases" / f"release-{number}"
    words = [sys.executable, "-I", str(VERIFIER), str(folder)]
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr  # it knows all of it, and all holds
    return folder


def same_bytes(studio: Running, data: Path, folder: Path, tmp_path: Path) -> None:
    """What the steward typed nothing of, typed."""
    again = tmp_path / f"again-{folder.name}"
    assert main(["publish", str(data), str(studio.project / "policy.toml"), "-o", str(again)]) == 0
    names = {path.name for path in folder.iterdir()} - {"evidence.json", "report.html"}  # these say when
    assert "policy.toml" in names
    for name in names:
        assert (again / name).read_bytes() == (folder / name).read_bytes(), name


def rows_of(folder: Path, delimiter: str = ",") -> list[dict[str, str]]:
    with (folder / "data.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def test_a_table_with_a_hierarchy(browser: Browser, tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    lines = (f"P{n},{20 + n % 31},{PLACES[n % 4]},{ILLS[n % 3]}\n" for n in range(400))
    data.write_text("name,age,city,disease\n" + "".join(lines), encoding="utf-8")
    tree = tmp_path / "cities.csv"
    tree.write_text(CITIES, encoding="utf-8")
    with running(str(data), cwd=tmp_path) as studio:
        entered(browser, studio)
        browser.click("#c1 button[value=identifier]")
        for column, role in ((2, "quasi"), (3, "quasi"), (4, "sensitive")):
            browser.click(f"#c{column} button[value={role}]")
        assert browser.asked("document.querySelectorAll('[aria-pressed=true]').length") == 4
        browser.click(".onward a")
        browser.click("a[href*='column=city']")
        browser.give("#rowsfile", tree)
        browser.waited("document.getElementById('rows').value.includes('Bonn;Germany;*')")
        browser.click("form[action$='/hierarchy/import'] button")
        assert "All 4 values" in browser.asked("document.querySelector('main .state').textContent")
        browser.fill("#new", "Europe")
        browser.click("input[name=node][value=Germany]", leads=False)
        browser.click("input[name=node][value=France]", leads=False)
        browser.click("button[value=merge]")
        browser.click("input[name=node][value=Europe]", leads=False)
        browser.click("button[value=split]")
        went(browser, "promise")
        browser.open(f"{studio.base}/promise?model=k-anonymity", width=1200, dark=False)
        browser.fill("#model-k", "6")
        sizes = Counter((20 + n % 31, n % 4) for n in range(400))
        today = sum(many for many in sizes.values() if many < 6)
        wanted = f"Today {today} of 400 records would have to change."
        browser.waited(f"document.querySelector('.live').textContent.includes({json.dumps(wanted)})")
        browser.press("Enter", leads=True)  # the keyboard promises, too
        folder = published(browser, studio)
        rows = rows_of(folder)
        assert len(rows) == 400
        assert list(rows[0]) == ["age", "city", "disease"]
        assert min(Counter((row["age"], row["city"]) for row in rows).values()) >= 6
        same_bytes(studio, data, folder, tmp_path)


def test_a_role_is_decided_where_it_stands(browser: Browser, tmp_path: Path) -> None:
    """Nothing is loaded anew, the finger stays where it is; and what is refused is said as a page."""
    data = tmp_path / "people.csv"
    data.write_text("age,city\n" + "".join(f"{20 + n % 31},{PLACES[n % 4]}\n" for n in range(90)), "utf-8")
    with running(str(data), cwd=tmp_path) as studio:
        entered(browser, studio)
        browser.asked("window.same = true")
        browser.click("#c2 button[value=sensitive]")
        assert browser.asked("window.same")
        assert browser.asked(
            "document.activeElement.matches('#c2 button[value=sensitive][aria-pressed=true]')"
        )
        assert "1 of 2 still to decide" in browser.asked("document.getElementById('waiting').textContent")
        assert 'city = { role = "sensitive" }' in browser.asked(
            "document.getElementById('beside').textContent"
        )
        browser.click("#c1 button[value=quasi]")
        assert "All 2 are decided" in browser.asked("document.getElementById('waiting').textContent")
        assert browser.asked("document.querySelectorAll('form[action$=guesses]').length") == 0
        (studio.project / "policy.toml").unlink()
        browser.click("#c1 button[value=other]")
        assert "begin at the first page" in browser.asked(
            "document.querySelector('[role=alert]').textContent"
        )


def test_a_german_file_that_is_dropped(browser: Browser, tmp_path: Path) -> None:
    data = tmp_path / "leute.csv"
    lines = (f"{20 + n % 31};{PLACES[n % 4]};{1000 + 37 * n % 900},5;{ILLS[n % 3]}\n" for n in range(400))
    data.write_text("alter;stadt;einkommen;diagnose\n" + "".join(lines), encoding="cp1252")
    with running("--project", str(tmp_path / "work"), cwd=tmp_path) as studio:
        entered(browser, studio)
        browser.leaving()
        browser.give("#file", data)
        browser.arrived()
        settled(browser, "Columns")
        assert browser.asked("document.querySelectorAll('.columns .card').length") == 4
        browser.click("form[action$='/guesses'] button")
        for column, role in ((1, "quasi"), (2, "quasi"), (3, "quasi"), (4, "sensitive")):
            browser.click(f"#c{column} button[value={role}]")
        went(browser, "promise")
        browser.click("button[value=statistics-office-5]")
        folder = published(browser, studio)
        rows = rows_of(folder, ";")
        classes: dict[tuple[str, ...], list[str]] = {}
        for row in rows:
            classes.setdefault(tuple(row[name] for name in ("alter", "stadt", "einkommen")), []).append(
                row["diagnose"]
            )
        assert len(rows) > 300
        for ills in classes.values():
            assert len(ills) >= 5
            assert max(Counter(ills).values()) * 5 <= len(ills) * 4
        same_bytes(studio, studio.project / "data" / "leute.csv", folder, tmp_path)


def test_trajectories(browser: Browser, tmp_path: Path) -> None:
    data = tmp_path / "trips.csv"
    assert main(["sample", "trips-city", "--rows", "300", "-o", str(data)]) == 0
    with running(str(data), cwd=tmp_path) as studio:
        entered(browser, studio)
        browser.click("form[action$='/guesses'] button")
        went(browser, "promise")
        browser.click("button[value=statistics-office-5]")
        folder = published(browser, studio)
        visits = [row["path"].split(" → ") if row["path"] else [] for row in rows_of(folder)]
        pairs: Counter[frozenset[str]] = Counter()
        for path in visits:
            known = sorted(set(path))
            pairs.update(frozenset((a, b)) for a in known for b in known)
        assert pairs
        assert min(pairs.values()) >= 5  # who knows one visit or two finds five people
        same_bytes(studio, data, folder, tmp_path)


def test_documents(browser: Browser, tmp_path: Path) -> None:
    data = tmp_path / "students.json"
    assert main(["sample", "transcripts", "--rows", "60", "-o", str(data)]) == 0
    with running(str(data), cwd=tmp_path) as studio:
        entered(browser, studio)
        browser.click("form[action$='/guesses'] button")
        browser.click("#f2 button[value=quasi]")
        browser.open(f"{studio.base}/promise?model=document-l-diversity", width=1200, dark=False)
        browser.fill("#model-l", "2")
        browser.click("#asked button")
        folder = published(browser, studio)
        records = json.loads((folder / "data.json").read_text(encoding="utf-8"))
        assert len(records) > 40
        assert min(Counter(shape(record) for record in records).values()) >= 2
        same_bytes(studio, data, folder, tmp_path)


def shape(record: Any) -> str:
    """A tree without what is sensitive in it, and whatever the order of its children."""
    if isinstance(record, dict):
        kept = {key: shape(value) for key, value in record.items() if key not in {"gpa", "price"}}
        return json.dumps(kept, sort_keys=True)
    return json.dumps(sorted(map(shape, record))) if isinstance(record, list) else json.dumps(record)


PAGES = (
    *("open", "columns", "columns/together", "hierarchies", "hierarchy?column=age", "hierarchy?column=city"),
    *("promise?model=lkc-privacy&algorithm=optimal", "explore", "explore/lattice", "publish", "releases"),
    *("release?name=release-1", "diff?old=release-1&new=release-1", "job?n=1", "release?name=nobody"),
    *("release/beside?name=release-1", "job?n=2", "job?n=3", "job?n=4", "job?n=5", "job?n=6"),
)
ASKED = ("verify", "explain", "still-at-risk", "compare", "attack")


@pytest.fixture(scope="module")
def visited(browser: Browser, studio: Running) -> Running:
    """With a job that has ended, so that its page is there."""
    entered(browser, studio)
    browser.open(f"{studio.base}/explore", width=1200, dark=False)
    browser.fill("#k", "5")
    browser.click("form[action$='/explore/start'] button")
    browser.waited("!!document.querySelector('main .state')")
    for what in ASKED:
        browser.open(f"{studio.base}/release?name=release-1", width=1200, dark=False)
        browser.click(f"button[value={what}]")
        browser.waited("!document.querySelector('[data-state]') && document.readyState === 'complete'")
    browser.open(f"{studio.base}/explore/lattice", width=1200, dark=False)
    browser.waited("!!document.getElementById('lattice')")
    browser.open(f"{studio.base}/columns/together", width=1200, dark=False)
    settled(browser, "What columns single out")
    return studio


def serious(browser: Browser, base: str, pages: Sequence[str], script: str) -> list[Any]:
    """What axe finds on pages, in light and dark."""
    faults = []
    for page in pages:
        for dark in (False, True):
            browser.open(f"{base}/{page}", width=1200, dark=dark)
            browser.waited("!document.querySelector('[data-state]') && document.readyState === 'complete'")
            assert browser.asked("document.querySelector('h1').textContent") != "A fault", page
            faults += [(page, *one) for one in faults_here(browser, script)]
    return faults


def faults_here(browser: Browser, script: str) -> list[Any]:
    """What axe finds on the page that is shown."""
    browser.call("Runtime.evaluate", expression=script)
    told = "(one) => [one.impact, one.id, one.nodes[0].html]"
    asked = f"axe.run().then((found) => found.violations.map({told}))"
    found = browser.call("Runtime.evaluate", expression=asked, awaitPromise=True, returnByValue=True)
    return [one for one in found["result"]["value"] if one[0] in {"serious", "critical"}]


def test_axe_finds_no_serious_fault(browser: Browser, visited: Running, script: str) -> None:
    assert not serious(browser, visited.base, PAGES, script)


KINDS = {  # a sample, its file and size, what is promised, and pages that only it has
    "trips-city": ("trips.csv", "300", ("lkc-privacy", {"l": "2", "k": "3", "c": "1/2"}), ("columns/map",)),
    "transcripts": (
        *("students.json", "40", ("document-l-diversity", {"l": "2"})),
        ("hierarchy?column=record.major",),
    ),
    "baskets": (
        *("baskets.csv", "100", ("km-anonymity", {"m": "2", "k": "4"})),
        ("hierarchy?column=items%20of%20the%20sets",),
    ),
    "patients": ("patients.csv", "400", ("differential-privacy", {"epsilon": "1"}), ()),
}


@pytest.mark.parametrize("sample", KINDS)
def test_pages_of_other_kinds_have_no_fault(
    browser: Browser, script: str, tmp_path: Path, sample: str
) -> None:
    name, rows, (model, asked), more = KINDS[sample]
    assert main(["sample", sample, "--rows", rows, "-o", str(tmp_path / name)]) == 0
    pages = [
        "open",
        "columns",
        "hierarchies",
        f"promise?model={model}",
        "explore",
        "publish",
        "releases",
        *more,
    ]
    with running(name, cwd=tmp_path) as studio:
        entered(browser, studio)
        if sample == "baskets":
            went(browser, "open")
            browser.asked("document.getElementById('againkind').value = 'transactions'")
            browser.click("form[action$='/open/again'] button")
            settled(browser, "Columns")
        browser.click("form[action$='/guesses'] button")
        if sample == "transcripts":
            browser.click("#f2 button[value=quasi]")
        browser.open(f"{studio.base}/promise?model={model}", width=1200, dark=False)
        for field, value in asked.items():
            browser.fill(f"#model-{field}", value)
        browser.click("#asked button")
        if sample != "patients":  # whose noise is not paid for yet
            published(browser, studio)
            browser.open(f"{studio.base}/release?name=release-1", width=1200, dark=False)
            browser.click("button[value=explain]")
            browser.waited("!document.querySelector('[data-state]') && document.readyState === 'complete'")
            pages += ["release?name=release-1", "job?n=2", "job?n=3"]
        assert not serious(browser, studio.base, pages, script)
        for width in (320, 1600):
            for page in pages:
                browser.open(f"{studio.base}/{page}", width=width, dark=width == 320)
                assert browser.asked(FAULTS) == [], (page, width)


@pytest.mark.parametrize("width", [320, 800, 1600])
def test_no_page_is_broken_at_any_width(browser: Browser, visited: Running, width: int) -> None:
    found = []
    for page in PAGES:
        browser.open(f"{visited.base}/{page}", width=width, dark=width == 320)
        found += [f"{page}: {fault}" for fault in browser.asked(FAULTS)]
        status = [said for said in browser.console() if "422" not in said]  # the page that says no
        found += [f"{page}: {said}" for said in status]
    browser.open(f"{visited.base}/promise?model=k-anonymity", width=width, dark=width == 320)
    browser.waited("!!document.querySelector('.rungs')")  # with the numbers that come later
    assert not [*found, *browser.asked(FAULTS)]


def test_no_page_asks_another_host(browser: Browser, visited: Running) -> None:
    browser.call("Network.enable")
    seen = []
    for page in PAGES:
        browser.open(f"{visited.base}/{page}", width=1200, dark=False)
        sent = [e["params"] for e in browser.events if e.get("method") == "Network.requestWillBeSent"]
        seen += [one["request"]["url"] for one in sent]
    browser.call("Network.disable")
    assert len(seen) > len(PAGES)
    assert not [url for url in seen if not url.startswith((visited.base, "data:"))]


def test_a_foreign_page_reaches_nothing(browser: Browser, visited: Running, tmp_path: Path) -> None:
    """A page from elsewhere posts a form and fetches, in the browser that has the cookie."""
    before = (visited.project / "policy.toml").read_bytes()
    evil = tmp_path / "evil.html"
    evil.write_text(
        f'<form id="f" method="post" action="{visited.base}/promise/drop"><input name="at" value="0"></form>'
        f'<script>fetch("{visited.base}/columns").then(() => document.title = "read", '
        '() => document.title = "no")</script>',
        encoding="utf-8",
    )
    browser.open(evil, width=800, dark=False)
    assert browser.waited("document.title") == "no"
    browser.leaving()
    browser.asked("document.getElementById('f').submit()")
    browser.arrived()
    assert "not sent by a page of this studio" in browser.asked("document.body.textContent")
    assert (visited.project / "policy.toml").read_bytes() == before


def test_the_lattice_is_picked_by_hand(browser: Browser, visited: Running) -> None:
    browser.open(f"{visited.base}/explore/lattice", width=1200, dark=False)
    browser.waited("document.getElementById('counted').textContent.includes('nodes shown')")
    browser.click("[data-pick]", leads=False)
    told = browser.waited("document.getElementById('node').textContent.includes('Keeps') && "
                          "document.getElementById('node').textContent")  # fmt: skip
    assert "0 of 400 records left out" in told
    if any(map(int, browser.asked("document.querySelector('#pin input[name=levels]').value").split(","))):
        browser.waited("document.getElementById('finer').textContent.includes('one level finer')")
    assert browser.asked("document.getElementById('pin').hidden") is False


def test_the_lattice_is_pushed_and_zoomed_by_mouse(browser: Browser, visited: Running) -> None:
    """The wheel zooms, a drag moves and picks nothing, a click picks, and what is pointed at is said."""
    browser.open(f"{visited.base}/explore/lattice", width=1200, dark=False)
    browser.waited("document.getElementById('counted').textContent.includes('nodes shown')")
    shot = "document.getElementById('lattice').toDataURL()"
    box = "document.getElementById('lattice').getBoundingClientRect()"
    place = f"(({{x, y, width, height}}) => ({{x: x + width * %s, y: y + height * %s}}))({box})"

    def mouse(kind: str, at: dict[str, float], **more: Any) -> None:
        browser.call("Input.dispatchMouseEvent", type=kind, **at, **more)

    middle, aside = (browser.asked(place % at) for at in ((0.5, 0.5), (0.2, 0.6)))
    drawn = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))"
    browser.call("Runtime.evaluate", expression=drawn, awaitPromise=True)  # it is drawn in the next frame
    before = browser.asked(shot)
    mouse("mouseWheel", middle, deltaX=0, deltaY=-100)
    browser.waited(f"{shot} !== {json.dumps(before)}")
    zoomed = browser.asked(shot)
    mouse("mousePressed", middle, button="left", clickCount=1)
    mouse("mouseMoved", aside, button="left", buttons=1)
    mouse("mouseReleased", aside, button="left", clickCount=1)
    browser.waited(f"{shot} !== {json.dumps(zoomed)}")
    assert "Pick a node" in browser.asked("document.getElementById('node').textContent")
    browser.click("[data-zoom='0']", leads=False)
    browser.waited(f"{shot} === {json.dumps(before)}")
    corner = browser.asked(place % (1 - 24 / 900, 24 / 420))  # the most general node
    mouse("mouseMoved", corner)
    browser.waited("document.getElementById('hint').textContent.includes('Keeps every promise')")
    mouse("mousePressed", corner, button="left", clickCount=1)
    mouse("mouseReleased", corner, button="left", clickCount=1)
    browser.waited("document.getElementById('node').textContent.includes('Keeps every promise: 1 class,')")
