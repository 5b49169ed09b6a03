"""The studio's clicks as a browser times them: from the click to the end of loading, drawing included.

Chromium's own clock says when a page began and when it was loaded, so what speaks to the browser here costs
nothing. Of the lattice each frame is timed while it is zoomed and pushed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.report.browser import CHROMIUM, Browser

EMPTY = "<!doctype html><p>nothing <a href='empty.html'>again</a>"
Took = dict[str, list[tuple[float, float | None]]]
LOADED = """(() => {
  const [page] = performance.getEntriesByType("navigation");
  const painted = performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0;
  return page.loadEventEnd && painted && Math.max(page.loadEventEnd, painted) / 1000;
})()"""
STAYED = """(() => {
  window.took = 0;
  const told = (since) => { window.took = (performance.now() - since) / 1000; };
  const drawn = (since) => requestAnimationFrame(() => setTimeout(told, 0, since));
  addEventListener("pointerdown", ({ timeStamp }) => {
    document.addEventListener("stayed", () => drawn(timeStamp), { once: true });
  }, { once: true, capture: true });
})()"""
FRAMES = """(async () => {
  const canvas = document.getElementById("lattice"), took = [];
  const box = canvas.getBoundingClientRect(), frame = () => new Promise(requestAnimationFrame);
  const at = { clientX: box.x + box.width / 3, clientY: box.y + box.height / 2, cancelable: true };
  for (let turn = 0; turn < 60; turn++) {
    await frame();
    const since = performance.now();
    const wheel = { ...at, deltaY: Math.floor(turn / 10) % 2 ? 100 : -100 };
    if (turn % 3) canvas.dispatchEvent(new WheelEvent("wheel", wheel));
    else canvas.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    await frame();
    took.push((performance.now() - since) / 1000);
  }
  return took;
})()"""
FILTERED = """(async () => {
  const took = [], frame = () => new Promise(requestAnimationFrame);
  for (const one of [...document.querySelectorAll("[data-level]")]) for (const level of ["1", "0", ""]) {
    await frame();
    const since = performance.now();
    one.value = level;
    one.dispatchEvent(new Event("input", { bubbles: true }));
    await frame();
    took.push((performance.now() - since) / 1000);
  }
  return took;
})()"""


def seen(link: str, profile: Path, names: Sequence[str], trees: Mapping[str, Path]) -> Took:
    """What a steward does by mouse, page by page; nothing where there is no Chromium."""
    took: Took = {}
    if CHROMIUM is None:
        return took
    base = link.partition("/enter")[0]

    def loaded(browser: Browser, what: str) -> None:
        took.setdefault(what, []).append((float(browser.waited(LOADED)), None))

    def clicked(browser: Browser, what: str, selector: str) -> None:
        browser.click(selector)
        loaded(browser, what)

    def stayed(browser: Browser, what: str, selector: str) -> None:
        browser.asked(STAYED)
        browser.click(selector)
        took.setdefault(what, []).append((float(browser.waited("window.took")), None))

    with Browser(profile) as browser:
        empty = profile.with_name("empty.html")
        empty.write_text(EMPTY, encoding="utf-8")
        browser.open(empty, width=1280, dark=False)
        for _ in range(9):
            clicked(browser, "an empty page, for comparison", "a")
        browser.open(link, width=1280, dark=False)
        loaded(browser, "first page")
        browser.waited("document.querySelector('h1')?.textContent === 'Columns'")
        for at, _ in enumerate(names, start=1):
            for role in ("identifier", "sensitive", "quasi"):
                stayed(browser, "a role", f"#c{at} button[value={role}]")
        for name in names:
            clicked(browser, "hierarchies", ".steps a[href$='/hierarchies']")
            clicked(browser, "a hierarchy", f"a[href$='column={name}']")
            if name in trees:
                browser.give("#rowsfile", trees[name])
                browser.waited("document.getElementById('rows').value.length > 3")
                clicked(browser, "a tree that is brought", "form[action$='/hierarchy/import'] button")
        for page in ("columns", "promise", "explore", "publish", "releases", "open"):
            for _ in range(3):
                clicked(browser, page, f".steps a[href$='/{page}']")
        browser.open(f"{base}/promise?model=k-anonymity", width=1280, dark=False)
        browser.fill("#model-k", "5")
        clicked(browser, "a promise", "#asked button")
        browser.open(f"{base}/explore/lattice", width=1280, dark=False)
        browser.waited("document.getElementById('counted')?.textContent.includes('nodes shown')")
        for what, script in (("the lattice, a step of zoom", FRAMES), ("the lattice, a filter", FILTERED)):
            found = browser.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
            took[what] = [(float(seconds), None) for seconds in found["result"]["value"]]
    return took
