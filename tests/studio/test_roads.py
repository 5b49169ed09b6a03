"""The road with ARX's hierarchies by mouse, another by keyboard alone; trees, sets, a database by hand."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import pytest
from tests.report.browser import CHROMIUM, Browser
from tests.studio.adultlike import LEVELS, NAME, arx, drawn, real
from tests.studio.service import ILLS, PLACES, running
from tests.studio.test_browser import entered, published, rows_of, same_bytes, settled, went

from privet.cli import main

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)"),
]


def walked(browser: Browser, tmp_path: Path, data: Path, trees: Mapping[str, Path]) -> None:
    """Nine columns, nine hierarchies, k = 5, a node of the lattice, a release that others check."""
    k = 5
    with running(str(data), cwd=tmp_path) as studio:
        entered(browser, studio)
        for at, _ in enumerate(LEVELS, start=1):
            browser.click(f"#c{at} button[value=quasi]")
        browser.click(".onward a")
        for name in LEVELS:
            browser.click(f"a[href$='column={name}']")
            browser.give("#rowsfile", trees[name])
            browser.waited("document.getElementById('rows').value.length > 3")
            browser.click("form[action$='/hierarchy/import'] button")
            assert browser.asked("document.querySelector('main .state').textContent").strip().startswith("✓")
            went(browser, "hierarchies")
        went(browser, "promise")
        browser.open(f"{studio.base}/promise?model=k-anonymity", width=1200, dark=False)
        browser.fill("#model-k", str(k))
        browser.click("#asked button")
        went(browser, "explore")
        browser.click("a[href$='/explore/lattice']")
        browser.waited("document.getElementById('counted')?.textContent.includes('12,960 nodes shown')")
        browser.click("[data-pick]", leads=False)
        browser.waited("document.getElementById('node').textContent.includes('Keeps every promise')")
        said = browser.asked("document.querySelector('#pin input[name=levels]').value")
        browser.click("#pin button")
        folder = published(browser, studio)
        rows = rows_of(folder, ";")
        with data.open(encoding="utf-8", newline="") as file:
            raw = list(csv.DictReader(file, delimiter=";"))
        assert len(rows) == len(raw)
        assert min(Counter(tuple(row.values()) for row in rows).values()) >= k
        # The same rows, recoded by hand at the node that was picked.
        levels = dict(zip(LEVELS, map(int, said.split(",")), strict=True))
        ways = {name: ways_of(trees[name]) for name in LEVELS}
        by_hand = Counter(tuple(ways[n][row[n]][levels[n]] for n in LEVELS) for row in raw)
        assert by_hand == Counter(tuple(row[name] for name in LEVELS) for row in rows)
        same_bytes(studio, data, folder, tmp_path)


def ways_of(tree: Path) -> dict[str, list[str]]:
    rows = csv.reader(tree.read_text(encoding="utf-8").splitlines(), delimiter=";")
    return {row[0]: row for row in rows}


@pytest.mark.skipif(arx() is None, reason=f"ARX's example data is not here (say where in ${NAME})")
def test_adult_with_the_hierarchies_of_arx(browser: Browser, tmp_path: Path) -> None:
    folder = arx()
    assert folder is not None
    walked(browser, tmp_path, *real(folder, tmp_path))


def test_a_table_of_the_form_of_adult(browser: Browser, tmp_path: Path) -> None:
    walked(browser, tmp_path, *drawn(tmp_path))


def test_the_whole_road_by_keyboard_alone(browser: Browser, tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    lines = (f"P{n},{20 + n % 31},{PLACES[n % 4]},{ILLS[n % 3]}\n" for n in range(200))
    data.write_text("name,age,city,disease\n" + "".join(lines), encoding="utf-8")
    with running(str(data), cwd=tmp_path) as studio:
        entered(browser, studio)
        for column, role in ((1, "identifier"), (2, "quasi"), (3, "quasi"), (4, "sensitive")):
            browser.tabbed(f"#c{column} button[value={role}]")
            browser.press("Enter", leads=True)
        browser.tabbed(".onward a")
        browser.press("Enter", leads=True)
        browser.tabbed("a[href$='column=age']")
        browser.press("Enter", leads=True)
        browser.tabbed("#e1")
        browser.press("ArrowRight")  # a cut moves
        moved = browser.asked("document.getElementById('e1').value")
        browser.tabbed("form.edges button:not([type=button])")
        browser.press("Enter", leads=True)
        browser.tabbed(".steps a[href$='/promise']")
        browser.press("Enter", leads=True)
        browser.tabbed("#model")
        browser.press("k")  # a letter chooses; nothing is sent by that alone
        assert browser.asked("document.activeElement.value").startswith("k-")
        browser.tabbed("form[action*='/promise#add'] button")
        browser.press("Enter", leads=True)
        browser.tabbed("#model-k")
        browser.typed("4")
        browser.press("Enter", leads=True)
        browser.tabbed(".steps a[href$='/publish']")
        browser.press("Enter", leads=True)
        browser.tabbed("button.main")
        browser.press("Enter", leads=True)
        browser.waited("document.querySelector('main .state')?.textContent.includes('Published')")
        browser.tabbed(".onward a")
        browser.press("Enter", leads=True)
        browser.tabbed("button[value=verify]")
        browser.press("Enter", leads=True)
        browser.waited("document.querySelector('main .state')?.textContent.includes('all hold')")
        folder = studio.project / "releases" / "release-1"
        rows = rows_of(folder)
        assert min(Counter((row["age"], row["city"]) for row in rows).values()) >= 4
        assert f"{moved}" in (folder / "policy.toml").read_text(encoding="utf-8")
        same_bytes(studio, data, folder, tmp_path)


def test_a_tree_is_drawn_by_dragging_renaming_merging_and_splitting(browser: Browser, tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    data.write_text("city,age\n" + "".join(f"{PLACES[n % 4]},{n % 9}\n" for n in range(80)), encoding="utf-8")
    with running(str(data), cwd=tmp_path) as studio:
        entered(browser, studio)
        browser.click("#c1 button[value=quasi]")
        browser.open(f"{studio.base}/hierarchy?column=city", width=1200, dark=False)
        browser.click("form[action$='/hierarchy/begin'] button")
        for some, name in ((("Bonn", "Berlin"), "Germany"), (("Paris", "Lyon"), "Gaul")):
            for city in some:
                browser.click(f"input[name=node][value={city}]", leads=False)
            browser.fill("#new", name)
            browser.click("button[value=merge]")
        browser.click("input[name=node][value=Gaul]", leads=False)
        browser.fill("#new", "France")
        browser.click("button[value=rename]")
        browser.drag("label:has(> input[value=Lyon])", "label.group:has(> input[value=Germany])")
        place = studio.project / "hierarchies" / "city.csv"
        ways = {row.split(";")[0]: row.split(";")[1] for row in place.read_text(encoding="utf-8").split()}
        assert ways == {"Bonn": "Germany", "Berlin": "Germany", "Lyon": "Germany", "Paris": "France"}
        browser.click("input[name=node][value=France]", leads=False)
        browser.click("button[value=split]")
        assert "Paris;*" in place.read_text(encoding="utf-8").split()
        assert "All 4 values" in browser.asked("document.querySelector('main .state').textContent")
        exported = browser.call(
            "Runtime.evaluate",
            expression=f"fetch('{studio.base}/hierarchy/csv?column=city').then((answer) => answer.text())",
            awaitPromise=True,
            returnByValue=True,
        )["result"]["value"]
        assert exported == place.read_text(encoding="utf-8")


def test_sets_by_hand(browser: Browser, tmp_path: Path) -> None:
    data = tmp_path / "baskets.csv"
    assert main(["sample", "baskets", "--rows", "200", "-o", str(data)]) == 0
    with running(str(data), cwd=tmp_path) as studio:
        entered(browser, studio)
        went(browser, "open")
        browser.asked("document.getElementById('againkind').value = 'transactions'")
        browser.click("form[action$='/open/again'] button")
        settled(browser, "Columns")
        browser.click("section:has(input[name=column][value=customer]) button[value=identifier]")
        browser.click("section:has(input[name=column][value=region]) button[value=identifier]")
        browser.open(f"{studio.base}/promise?model=km-anonymity", width=1200, dark=False)
        browser.fill("#model-m", "2")
        browser.fill("#model-k", "4")
        browser.click("#asked button")
        folder = published(browser, studio)
        known = [sorted(set(row["items"].split(";")) - {""}) for row in rows_of(folder)]
        pairs = Counter(pair for one in known for pair in product(one, one) if pair[0] <= pair[1])
        assert min(pairs.values()) >= 4
        same_bytes(studio, data, folder, tmp_path)


def test_a_database_that_is_typed_in_the_page(browser: Browser, tmp_path: Path) -> None:
    import sqlite3

    place = tmp_path / "clinic.db"
    book = sqlite3.connect(place)
    book.execute("CREATE TABLE visit (age TEXT, city TEXT)")
    rows = [(str(20 + n % 5), PLACES[n % 4]) for n in range(120)]
    book.executemany("INSERT INTO visit VALUES (?, ?)", rows)
    book.commit()
    book.close()
    with running("--project", str(tmp_path / "work"), cwd=tmp_path) as studio:
        entered(browser, studio)
        browser.fill("#url", f"sqlite:///{place}")
        browser.fill("#query", "SELECT age, city FROM visit")
        browser.click("form[action$='/open/database'] button")
        settled(browser, "Columns")
        for column in (1, 2):
            browser.click(f"#c{column} button[value=quasi]")
        browser.open(f"{studio.base}/promise?model=k-anonymity", width=1200, dark=False)
        browser.fill("#model-k", "7")
        browser.click("#asked button")
        folder = published(browser, studio)
        left = rows_of(folder)
        assert len(left) == 120
        assert min(Counter((row["age"], row["city"]) for row in left).values()) >= 7
        again = tmp_path / "again"
        policy = str(studio.project / "policy.toml")
        assert main(["publish", f"sqlite:///{place}", policy, "-o", str(again)]) == 0
        assert (again / "data.csv").read_bytes() == (folder / "data.csv").read_bytes()
        assert json.dumps(str(place)) not in (studio.project / "policy.toml").read_text(encoding="utf-8")
        assert not (studio.project / "studio.toml").exists()
