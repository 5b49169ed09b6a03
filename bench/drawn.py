"""The studio's clicks as a browser times them: from the pointer going down to the frame after the one that
shows the page that was asked for, whether it is loaded or put in the place of the last.

Chromium's own clock says when, so what speaks to the browser here costs nothing. A page that says that it
waits is not yet the one that was asked for. Of the lattice each frame is timed while it is zoomed and pushed.
"""

from __future__ import annotations

import json
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
TIMED = """(() => {
  window.took = 0;
  const frame = () => new Promise(requestAnimationFrame);
  window.timed = (since) => document.addEventListener("renewed", async function there() {
    if (document.querySelector("[data-state]")) return;
    document.removeEventListener("renewed", there);
    await frame(); // the one that draws it
    await frame();
    window.took = (performance.now() - since) / 1000;
  });
})()"""
CLICKED = (
    "addEventListener('pointerdown', ({ timeStamp }) => timed(timeStamp), { once: true, capture: true })"
)
COUNTED = (
    "document.querySelector('.live').dataset.turn !== ({before} ?? undefined) && "
    "!!document.querySelector('.rungs')"
)
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

    def noted(what: str, seconds: object) -> None:
        took.setdefault(what, []).append((float(str(seconds)), None))

    def clicked(browser: Browser, what: str, selector: str) -> None:
        browser.asked(TIMED)
        browser.asked(CLICKED)
        browser.click(selector)
        noted(what, browser.waited("window.took"))

    def walked(browser: Browser, what: str, steps: int) -> None:
        browser.asked(TIMED)
        browser.asked(f"timed(performance.now()); history.go({steps})")
        noted(what, browser.waited("window.took"))

    with Browser(profile) as browser:
        empty = profile.with_name("empty.html")
        empty.write_text(EMPTY, encoding="utf-8")
        browser.open(empty, width=1280, dark=False)
        for _ in range(9):
            browser.click("a")
            noted("an empty page that is loaded, for comparison", browser.waited(LOADED))
        browser.open(link, width=1280, dark=False)
        noted("first page", browser.waited(LOADED))
        browser.waited("document.querySelector('h1')?.textContent === 'Columns'")
        for at, _ in enumerate(names, start=1):
            for role in ("identifier", "sensitive", "quasi"):
                clicked(browser, "a role", f"#c{at} button[value={role}]")
        for name in names:
            clicked(browser, "hierarchies", ".steps a[href$='/hierarchies']")
            clicked(browser, "a hierarchy", f"a[href$='column={name}']")
            if name in trees:
                browser.give("#rowsfile", trees[name])
                browser.waited("document.getElementById('rows').value.length > 3")
                clicked(browser, "a tree that is brought", "form[action$='/hierarchy/import'] button")
        for page in ("columns", "promise", "explore", "publish", "releases", "open") * 3:
            clicked(browser, page, f".steps a[href$='/{page}']")
        for steps in (-5, 3, -4, 6):
            walked(browser, "back or forward", steps)
        for k in ("2", "3", "5"):
            clicked(browser, "promise", ".steps a[href$='/promise']")
            browser.asked("document.getElementById('model').value = 'k-anonymity'")
            clicked(browser, "the questions of a model", "form[action*='/promise#add'] button")
            before = browser.asked("document.querySelector('.live').dataset.turn")
            browser.fill("#model-k", k)
            browser.waited(COUNTED.format(before=json.dumps(before)))  # they move the button
            clicked(browser, "a promise", "#asked button")
        clicked(browser, "explore", ".steps a[href$='/explore']")
        browser.click("a[href$='/explore/lattice']")
        browser.waited("document.getElementById('counted')?.textContent.includes('nodes shown')")
        for what, script in (("the lattice, a step of zoom", FRAMES), ("the lattice, a filter", FILTERED)):
            found = browser.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
            took[what] = [(float(seconds), None) for seconds in found["result"]["value"]]
    return took
