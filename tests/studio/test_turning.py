"""Pages that are turned without loading a document: what browsers do by themselves must hold there, too."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.report.browser import CHROMIUM, Browser
from tests.studio.service import Running, started
from tests.studio.test_browser import entered, faults_here, went

pytestmark = [
    pytest.mark.services,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)"),
]
TITLE = "document.querySelector('h1').textContent"
STEPS = ("columns", "hierarchies", "promise", "explore", "publish", "releases", "open")
# Everything that pages ask for is noted, and as slow as a test says.
NOTED = """(() => {
  const real = window.fetch;
  window.same = true;
  window.sent = [];
  window.slow = [];
  window.fetch = async (address, how = {}) => {
    const one = { method: how.method ?? "GET", address: String(address), since: performance.now() };
    window.sent.push(one);
    const wait = window.slow.find(([part]) => one.address.includes(part))?.[1] ?? 0;
    if (wait) await new Promise((go, stop) => {
      setTimeout(go, wait);
      how.signal?.addEventListener("abort", () => { one.left = true; stop(how.signal.reason); });
    });
    try { return await real(address, how); } finally { one.until = performance.now(); }
  };
})()"""


@pytest.fixture(scope="module")
def inside(browser: Browser, studio: Running) -> Running:
    entered(browser, studio)
    return studio


@pytest.fixture
def page(browser: Browser, inside: Running) -> Iterator[Browser]:
    """At the page of columns, everything noted; what is decided there is forgotten."""
    policy = inside.project / "policy.toml"
    before = policy.read_text(encoding="utf-8")
    opened(browser, inside, "columns")
    yield browser
    policy.write_text(before, encoding="utf-8")


def opened(browser: Browser, studio: Running, where: str) -> None:
    browser.open(f"{studio.base}/{where}", width=1200, dark=False)
    browser.waited("!document.querySelector('[data-state]') && document.readyState === 'complete'")
    browser.asked(NOTED)


def posts(browser: Browser) -> list[str]:
    return [
        one["address"].rpartition("/")[2] for one in browser.asked("window.sent") if one["method"] == "POST"
    ]


def back(browser: Browser, steps: int = -1) -> None:
    browser.leaving()
    browser.asked(f"history.go({steps})")
    browser.arrived()


def middle(browser: Browser, element: str) -> dict[str, float]:
    at: dict[str, float] = browser.asked(
        "(({x, y, width, height}) => ({x: x + width / 2, y: y + height / 2}))"
        f"({element}.getBoundingClientRect())"
    )
    return at


def by_mouse(browser: Browser, selector: str, **more: Any) -> None:
    at = middle(browser, f"document.querySelector({json.dumps(selector)})")
    for kind in ("mousePressed", "mouseReleased"):
        browser.call("Input.dispatchMouseEvent", type=kind, clickCount=1, **{"button": "left", **at, **more})


def test_a_link_brings_page_title_step_focus_and_words(page: Browser, inside: Running) -> None:
    page.asked("scrollTo(0, 400)")
    for step in STEPS[1:]:
        went(page, step)
        assert page.asked("window.same"), step  # the document is the same
        assert page.asked("location.href") == f"{inside.base}/{step}"
        assert (
            page.asked("document.querySelector('[aria-current=step]').textContent")
            .strip()
            .startswith(step.capitalize())
        )
        told = page.asked("document.title")
        assert told == f"{page.asked(TITLE)} · privet studio"
        assert page.asked("document.getElementById('turned').textContent") == told
        assert page.asked("document.activeElement.id") == "main"
        assert page.asked("scrollY") == 0
    assert page.asked("document.querySelector('aside') !== null")


def test_back_and_forward_bring_the_page_as_it_is_now_at_its_height(page: Browser, inside: Running) -> None:
    page.call("Emulation.setDeviceMetricsOverride", width=500, height=300, deviceScaleFactor=1, mobile=False)
    page.asked("scrollTo(0, 321)")
    went(page, "publish")  # which scrolls there first
    height = page.asked("history.length")
    page.asked("scrollTo(0, 120)")
    time.sleep(0.3)
    policy = inside.project / "policy.toml"
    before = policy.read_text(encoding="utf-8")
    try:
        policy.write_text(before.replace('disease = { role = "sensitive" }', 'disease = { role = "other" }'))
        back(page)
        assert page.asked(TITLE) == "Columns"
        assert page.asked("document.title") == "Columns · privet studio"
        assert page.asked("document.querySelector('#c4 [aria-pressed=true]').value") == "other"
        assert page.asked("location.pathname").endswith("/columns")
    finally:
        policy.write_text(before, encoding="utf-8")
    back(page, 1)
    assert page.asked(TITLE) == "Publish"
    assert page.asked("scrollY") == 120
    page.leaving()
    page.call("Page.reload")
    page.arrived()
    assert page.waited("scrollY") == 120  # as any page
    back(page)
    assert page.asked(TITLE) == "Columns"
    assert page.asked("history.length") == height


def test_an_anchor_is_gone_to_and_places_of_a_page_are_the_browsers(page: Browser, inside: Running) -> None:
    opened(page, inside, "promise?model=k-anonymity")
    page.fill("#model-k", "6")
    page.click("#asked button")
    assert page.asked("location.hash") == "#promised"
    assert page.asked("document.activeElement.id") == "promised"
    page.click("#promised .card:last-child a")
    assert page.asked("location.hash") == "#add"
    assert abs(page.asked("document.getElementById('add').getBoundingClientRect().top")) < 400
    page.click("#promised .card:last-child form button")
    page.asked("window.asked = window.sent.length; document.querySelector('.skip').click()")
    page.waited("location.hash === '#main'")
    page.asked("history.back()")
    page.waited("location.hash !== '#main'")
    time.sleep(0.2)
    assert page.asked("window.sent.length === window.asked")  # nothing was asked for
    assert page.asked("window.same")


def test_of_two_clicks_the_later_counts_and_a_slow_page_says_so(page: Browser) -> None:
    page.asked("window.slow = [['/explore', 1500]]")
    by_mouse(page, ".steps a[href$='/explore']")
    page.waited("document.documentElement.classList.contains('busy')")
    assert page.asked("document.getElementById('turned').textContent") == "One moment …"
    assert page.asked(TITLE) == "Columns"
    went(page, "releases")
    assert page.asked(TITLE) == "Releases"
    assert page.asked("window.sent.find(({ address }) => address.includes('/explore')).left")
    time.sleep(2)
    assert page.asked(TITLE) == "Releases"
    assert not page.asked("document.documentElement.classList.contains('busy')")


def test_a_form_is_sent_once_and_forms_keep_their_order(page: Browser, inside: Running) -> None:
    page.asked("window.slow = [['/columns/role', 400]]")
    page.leaving()
    for role in ("#c4 [value=other]", "#c4 [value=other]", "#c3 [value=other]", "#c3 [value=other]"):
        page.asked(f"document.querySelector({json.dumps(role)}).click()")
    page.waited("window.sent.filter(({ method, until }) => method === 'POST' && until).length === 2")
    page.waited("document.querySelectorAll('#c3 [value=other][aria-pressed=true]').length")
    first, second = (one for one in page.asked("window.sent") if one["method"] == "POST")
    assert second["since"] >= first["until"]
    assert posts(page) == ["role", "role"]
    for at, role in ((4, "sensitive"), (3, "quasi")):
        page.asked("window.slow = []")
        page.click(f"#c{at} [value={role}]")
    assert (inside.project / "policy.toml").read_text(encoding="utf-8").count('"other"') == 0


def test_another_button_of_a_form_that_is_under_way_corrects_it(page: Browser, inside: Running) -> None:
    """It was dropped without a word, and what was pressed by mistake stood."""
    page.asked("window.slow = [['/columns/role', 400]]")
    for role in ("other", "identifier", "identifier", "quasi"):
        page.asked(f"document.querySelector('#c3 [value={role}]').click()")
    page.waited("window.sent.filter(({ method, until }) => method === 'POST' && until).length === 3")
    page.waited("document.querySelectorAll('#c3 [value=quasi][aria-pressed=true]').length")
    assert posts(page) == ["role", "role", "role"]
    assert page.waited("document.getElementById('turned').textContent !== 'One moment …'")


def test_what_was_not_sent_yet_is_not_lost_with_the_document(page: Browser) -> None:
    leaves = "dispatchEvent(new Event('beforeunload', { cancelable: true }))"
    assert page.asked(leaves)
    page.asked("window.slow = [['/columns/role', 800]]")
    page.asked("document.querySelector('#c3 [value=other]').click()")
    page.asked("document.querySelector('#c4 [value=other]').click()")
    assert not page.asked(leaves)  # the browser asks whether to stay
    page.waited("window.sent.filter(({ method, until }) => method === 'POST' && until).length === 2")
    assert page.waited(leaves)
    page.asked("window.slow = []")
    for at, role in ((4, "sensitive"), (3, "quasi")):
        page.click(f"#c{at} [value={role}]")


@pytest.mark.parametrize("typed", [False, True])
def test_a_page_that_overtook_a_form_is_shown_again_when_it_is_done(page: Browser, *, typed: bool) -> None:
    page.asked("window.slow = [['/columns/role', 1500]]")
    page.asked("document.querySelector('#c3 [value=other]').click()")
    page.leaving()
    page.asked("document.querySelector(\".steps a[href$='/promise']\").click()")
    page.arrived()
    assert page.asked(TITLE) == "Promise"
    before = page.asked("document.querySelector('#toml').value")
    if typed:
        page.fill("#purpose", "to be kept")
        page.waited(
            "document.querySelector('main [role=status].state')?.textContent.includes('load it again')"
        )
        assert page.asked("document.querySelector('#purpose').value") == "to be kept"
    else:
        page.waited(f"document.querySelector('#toml').value !== {json.dumps(before)}")
    assert posts(page) == ["role"]
    page.asked("window.slow = []")
    went(page, "columns")
    page.click("#c3 [value=quasi]")


def test_a_page_that_is_asked_for_behind_a_form_shows_what_it_did(page: Browser) -> None:
    page.asked("window.slow = [['/columns/role', 150]]")
    page.leaving()
    page.asked("document.querySelector('#c3 [value=other]').click()")
    page.asked("document.querySelector(\".steps a[href$='/hierarchies']\").click()")
    page.arrived()
    assert page.asked(TITLE) == "Hierarchies"
    assert not page.asked("document.querySelector('main').textContent.includes('city')")
    went(page, "columns")
    page.click("#c3 [value=quasi]")


def test_a_button_pressed_twice_starts_one_job(page: Browser, inside: Running) -> None:
    went(page, "releases")
    page.click("a[href*='name=release-1']")
    page.asked("window.slow = [['/release/ask', 200]]")
    page.leaving()
    for _ in range(3):
        page.asked("document.querySelector('button[value=verify]').click()")
    page.arrived()
    page.waited("document.querySelector('main .state')?.textContent.includes('all hold')")
    assert posts(page) == ["ask"]
    number = int(page.asked("location.search").rpartition("=")[2])
    page.asked(f"fetch('{inside.base}/job?n={number + 1}').then(({{status}}) => {{ window.next = status; }})")
    assert page.waited("window.next") == 422
    back(page)  # to the release; the job is not started again
    assert page.asked(TITLE) == "release-1"
    back(page, 1)
    assert "all hold" in page.asked("document.querySelector('main .state').textContent")
    assert posts(page) == ["ask"]


def test_what_is_refused_is_a_page_and_what_was_typed_is_still_there(page: Browser, inside: Running) -> None:
    """Also the digest of what was shown: what another tab has saved meanwhile is not overwritten."""
    policy = inside.project / "policy.toml"
    before = policy.read_text(encoding="utf-8")
    went(page, "promise")
    page.asked("document.querySelector('#policy details').open = true")
    page.fill("#toml", "[attributes")
    page.click("form[action$='/promise/text'] button")
    assert page.asked(TITLE) == "Not done"
    assert page.asked("!!document.querySelector('[role=alert]')")
    assert page.asked("window.same")
    assert policy.read_text(encoding="utf-8") == before
    back(page)
    assert page.asked("document.getElementById('toml').value") == "[attributes"
    assert page.asked(TITLE) == "Promise"
    back(page, 1)
    assert page.asked(TITLE) == "Not done"
    back(page)
    try:
        policy.write_text(f"{before}\n# by another tab\n", encoding="utf-8")
        page.fill("#toml", before)
        page.click("form[action$='/promise/text'] button")
        assert "another tab" in page.asked("document.querySelector('[role=alert]').textContent")
        assert "# by another tab" in policy.read_text(encoding="utf-8")
    finally:
        policy.write_text(before, encoding="utf-8")
    assert posts(page) == ["text", "text"]


def test_a_search_has_no_address_and_back_leads_before_it(page: Browser, inside: Running) -> None:
    opened(page, inside, "release/beside?name=release-1")
    page.fill("#search", "Bonn")
    page.click("form[role=search] button")
    assert "100 records that match" in page.asked("document.querySelector('main').textContent")
    assert "Bonn" not in page.asked("location.href")
    assert "Bonn" not in page.asked("JSON.stringify(history.state)")
    page.click("main a[href*='/release?name=']")
    back(page)
    assert "100 records that match" in page.asked("document.querySelector('main').textContent")
    back(page)
    assert "400 records that match" in page.asked("document.querySelector('main').textContent")
    assert posts(page) == ["beside"]


def test_what_is_refused_before_any_page_is_said_in_its_words(page: Browser) -> None:
    page.asked("document.querySelector('#c3 [name=token]').value = 'another'")
    page.click("#c3 [value=other]")
    assert page.asked(TITLE) == "Not done"
    assert "not sent by a page of this studio" in page.asked(
        "document.querySelector('[role=alert]').textContent"
    )
    assert page.asked("document.title") == "Not done · privet studio"
    back(page)
    assert page.asked(TITLE) == "Columns"
    assert page.asked("document.querySelector('#c3 [aria-pressed=true]').value") == "quasi"
    assert posts(page) == ["role"]


def test_what_is_too_large_is_not_sent_again(page: Browser, inside: Running) -> None:
    opened(page, inside, "promise")
    page.asked("document.getElementById('toml').value = '#'.repeat(9 << 20)")
    page.asked("document.querySelector('#policy details').open = true")
    page.click("form[action$='/promise/text'] button", leads=False)
    said = page.waited("document.querySelector('[role=alert]')?.textContent")
    assert "larger than what is taken" in said or "does not answer" in said
    assert posts(page) == ["text"]


def test_clicks_for_another_tab_and_downloads_are_the_browsers(page: Browser, inside: Running) -> None:
    page.asked("document.addEventListener('renewed', () => { window.moved = true; })")
    for more in ({"modifiers": 2}, {"modifiers": 8}, {"button": "middle"}):
        by_mouse(page, ".steps a[href$='/publish']", **more)
    time.sleep(0.5)
    assert page.asked(f"window.same && !window.moved && {TITLE}") == "Columns"
    assert not page.asked("window.sent")
    page._session, own = None, page._session
    tabs = [one for one in page.call("Target.getTargets")["targetInfos"] if one["url"].endswith("/publish")]
    for one in tabs:
        page.call("Target.closeTarget", targetId=one["targetId"])
    page._session = own
    assert len(tabs) == 3
    opened(page, inside, "release?name=release-1")
    page.asked("document.addEventListener('renewed', () => { window.moved = true; })")
    page.click("a[href*='/release/zip']", leads=False)
    until = time.monotonic() + 60
    while not any("downloadWillBegin" in str(one.get("method")) for one in page.events):
        assert time.monotonic() < until, "nothing is downloaded"
        page.asked("1")
    assert page.asked(f"window.same && !window.moved && {TITLE}") == "release-1"
    assert not page.asked("window.sent")


def test_what_is_no_page_of_ours_is_loaded(page: Browser, inside: Running) -> None:
    page.asked("document.querySelector('main').insertAdjacentHTML('afterbegin', "
               f"'<a id=other href=\"{inside.base}/release/report?name=release-1\">it</a>')")  # fmt: skip
    page.click("#other")
    assert page.asked("window.same") is None
    assert page.asked("document.title").startswith("Privacy report")
    back(page)
    page.waited("document.querySelector('h1')?.textContent === 'Columns'")


def listeners(browser: Browser, what: str) -> int:
    found = browser.call("Runtime.evaluate", expression=what)["result"]["objectId"]
    return len(browser.call("DOMDebugger.getEventListeners", objectId=found)["listeners"])


@pytest.fixture
def walked(page: Browser, inside: Running) -> Iterator[Browser]:
    page.call("DOM.enable")
    yield page
    page.call("DOM.disable")


def test_nothing_that_a_page_listens_to_is_left_behind(walked: Browser) -> None:
    def there() -> tuple[int, int]:
        return listeners(walked, "document"), listeners(walked, "window")

    went(walked, "releases")
    before = there()
    for _ in range(3):
        went(walked, "hierarchies")
        walked.click("a[href*='column=city']")
        assert there()[0] == before[0] + 3  # dragging
        went(walked, "releases")
        assert there() == before
    assert walked.asked("window.same")


STATE = '<div data-state="job/state?n=1"><strong class="said"></strong><progress></progress></div>'
RUNNING = f"""(() => {{
  const real = window.fetch;
  window.polls = 0;
  window.fetch = async (address, how) => {{
    if (String(address).includes("/job/state")) {{
      window.polls += 1;
      return new Response('{{"running": true, "said": "searching", "of": null}}');
    }}
    const answer = await real(address, how);
    if (!String(address).endsWith("/explore")) return answer;
    const text = (await answer.text()).replace("<h1>", `{STATE}<h1>`);
    return new Response(text, {{ headers: {{ "content-type": "text/html" }} }});
  }};
}})()"""


def test_nobody_asks_for_progress_of_a_page_that_was_left(page: Browser) -> None:
    page.asked(RUNNING)
    for _ in range(4):
        went(page, "explore")
        page.waited("document.querySelector('.said').textContent === 'searching'")
    page.asked("window.polls = 0")
    time.sleep(2)
    assert 2 < page.asked("window.polls") < 10  # one that asks, not four
    went(page, "releases")
    page.asked("window.polls = 0")
    time.sleep(1)
    assert page.asked("window.polls") == 0


def test_live_numbers_end_with_their_page_and_begin_again(page: Browser) -> None:
    for _ in range(3):
        went(page, "promise")
        page.asked("document.getElementById('model').value = 'k-anonymity'")
        page.click("form[action*='/promise#add'] button")
        page.waited("!!document.querySelector('.rungs')")
    went(page, "columns")
    page.asked("window.sent.length = 0")
    went(page, "promise")
    page.asked("document.getElementById('model').value = 'k-anonymity'")
    page.click("form[action*='/promise#add'] button")
    page.waited("!!document.querySelector('.rungs')")
    assert posts(page).count("live") == 1
    page.fill("#model-k", "9")
    went(page, "columns")  # before it is asked for
    time.sleep(0.5)
    assert page.asked("window.sent.filter(({address}) => address.includes('/live')).length") <= 2
    assert not page.console()


def test_the_lattice_is_drawn_each_time_it_is_come_to(page: Browser) -> None:
    for _ in range(2):
        went(page, "explore")
        page.click("a[href$='/explore/lattice']")
        page.waited("document.getElementById('counted')?.textContent.includes('nodes shown')")
        page.click("[data-pick]", leads=False)
        page.waited("document.getElementById('node').textContent.includes('Keeps')")
        went(page, "columns")
    went(page, "explore")
    page.click("a[href$='/explore/lattice']")
    went(page, "columns")  # before it is drawn
    time.sleep(0.5)
    assert page.asked("window.same")
    assert not [said for said in page.console() if "exception" in said.lower()]


SENT_TITLE = """(async () => {
  const sent = new DOMParser().parseFromString(await (await fetch(location.href)).text(), "text/html");
  return sent.querySelector("main .mark").title;
})()"""


def test_a_tip_is_shown_on_a_page_that_was_turned_to(page: Browser) -> None:
    went(page, "releases")
    page.click("a[href*='name=release-1']")
    mark = "document.querySelector('main .mark')"
    page.asked(f"{mark}.scrollIntoView({{block: 'center'}})")
    asked = {"expression": SENT_TITLE, "awaitPromise": True, "returnByValue": True}
    said = page.call("Runtime.evaluate", **asked)["result"][
        "value"
    ]  # taken from the mark when it was put there
    assert said
    page.call("Input.dispatchMouseEvent", type="mouseMoved", **middle(page, mark))
    assert (
        page.waited("!document.getElementById('tip').hidden && document.getElementById('tip').textContent")
        == said
    )
    went(page, "columns")
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=5, y=5)
    page.waited("document.getElementById('tip').hidden")


def test_a_studio_that_is_gone_is_said_and_nothing_is_sent_again(browser: Browser, complete: Path) -> None:
    process, studio = started("people.csv", "--read-only", cwd=complete)
    try:
        entered(browser, studio)
        opened(browser, studio, "release?name=release-1")
        process.kill()
        process.communicate()
        browser.click("button[value=verify]", leads=False)
        said = browser.waited("document.querySelector('[role=alert]')?.textContent")
        assert "does not answer" in said
        assert browser.asked(TITLE) == "release-1"
        time.sleep(0.5)
        assert posts(browser) == ["ask"]
        browser.click("button[value=verify]", leads=False)  # who presses it again knows what they do
        browser.waited("document.querySelectorAll('[role=alert]').length === 2")
        assert posts(browser) == ["ask", "ask"]
        browser.click(".steps a[href$='/columns']", leads=False)
        browser.waited("location.protocol === 'chrome-error:'")  # as browsers say it
    finally:
        with suppress(ProcessLookupError):
            process.kill()


def test_axe_finds_no_serious_fault_on_pages_that_were_turned_to(page: Browser, script: str) -> None:
    ways: Sequence[Sequence[str]] = (
        *([f".steps a[href$='/{step}']"] for step in STEPS),
        (".steps a[href$='/hierarchies']", "a[href*='column=city']"),
        (".steps a[href$='/releases']", "a[href*='name=release-1']"),
        (".steps a[href$='/explore']", "a[href$='/explore/lattice']"),
    )
    faults = []
    for way in ways:
        for selector in way:
            page.click(selector)
        page.waited("!document.querySelector('[data-state]')")
        faults += [(page.asked("location.href"), *one) for one in faults_here(page, script)]
    assert page.asked("window.same")
    assert not faults
