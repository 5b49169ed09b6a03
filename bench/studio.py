"""The studio's clicks: how long each page and form takes a real `privet studio`, on tables of several sizes.

Wall time is what a steward waits for; CPU time is the server's own work, which says the same on a busy
machine. Long work (a look at the data, the lattice, publishing) goes on beside the pages and is not a click:
the page that waits is. A click is the form and the page that follows it. `bench.drawn` has the same in a
browser.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlencode, urlsplit

import numpy as np
import polars as pl

from bench import lattice
from bench.drawn import seen
from bench.outcome import Outcome, Table, rated
from privet.cli import main

CLICK, FIRST = 0.2, 1.0  # seconds
SENSITIVE = "occupation"
ROLES = ("identifier", "quasi", "sensitive", "target", "other")
TICK = os.sysconf("SC_CLK_TCK")


@dataclass
class Visit:
    """A browser without a window: one connection, the cookie, and what each click took."""

    link: str
    process: int
    cookie: str = ""
    token: str = ""
    took: dict[str, list[tuple[float, float]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        address = urlsplit(self.link)
        self.host, self.base = address.netloc, address.path.removesuffix("/enter")
        self.wire = http.client.HTTPConnection(self.host)
        self.cookie = self.sent("GET", f"{address.path}?{address.query}")[1]["set-cookie"].partition(";")[0]

    def sent(
        self, method: str, path: str, form: Mapping[str, Any] | None = None
    ) -> tuple[int, dict[str, str], str]:
        """One request: status, headers, text."""
        headers = {"cookie": self.cookie, "origin": f"http://{self.host}"}
        body = None
        if form is not None:
            body = urlencode({**form, "token": self.token}, doseq=True)
            headers["content-type"] = "application/x-www-form-urlencoded"
        self.wire.request(method, path, body, headers)
        answer = self.wire.getresponse()
        said = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, said, answer.read().decode("utf-8", "replace")

    def cpu(self) -> float:
        """Seconds of work of the server so far."""
        numbers = Path(f"/proc/{self.process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(numbers[11]) + int(numbers[12])) / TICK

    def page(self, path: str) -> str:
        """A page, followed where it leads."""
        status, said, text = self.sent("GET", f"{self.base}{path}")
        while status == 303:
            status, said, text = self.sent("GET", said["location"].partition("#")[0])
        if 'data-token="' in text:
            self.token = text.partition('data-token="')[2].partition('"')[0]
        return text

    def click(self, what: str, path: str, form: Mapping[str, Any] | None = None) -> str:
        """A page or a form, timed."""
        work, since = self.cpu(), time.perf_counter()
        if form is None:
            text = self.page(path)
        else:
            status, said, text = self.sent("POST", f"{self.base}{path}", form)
            if status == 303:
                text = self.page(said["location"].partition("#")[0].removeprefix(self.base))
        self.took.setdefault(what, []).append((time.perf_counter() - since, self.cpu() - work))
        return text

    def live(self, what: str, form: Mapping[str, Any], waits: dict[str, float]) -> None:
        """Numbers beside a promise: each answer is a click, and how long until they are counted, a wait."""
        since, answers = time.perf_counter(), 1
        while json.loads(self.click(what, "/promise/live", form)).get("counting"):
            answers += 1
            time.sleep(0.05)
        if answers > 1:
            said = ", ".join(f"{key} = {form[key]}" for key in ("l", "k", "t") if key in form)
            waits[f"{form['type']}, {said}"] = time.perf_counter() - since

    def ended(self, path: str, form: Mapping[str, Any]) -> None:
        """A form that starts work in the background; timed until its page is there, awaited to its end."""
        text = self.click("starting work", path, form)
        if 'data-state="' in text:
            state = text.partition('data-state="')[2].partition('"')[0].replace("&amp;", "&")
            while json.loads(self.sent("GET", f"{self.base}/{state}")[2])["running"]:
                self.click("how far it is", f"/{state}")
                time.sleep(0.1)

    def settled(self, path: str) -> float:
        """How long a page says that it waits."""
        since = time.perf_counter()
        while "data-state=" in self.page(path):
            time.sleep(0.05)
        return time.perf_counter() - since


@contextmanager
def started(data: Path, folder: Path) -> Iterator[tuple[str, int]]:
    """A studio of its own, stopped at the end: its link and its number."""
    words = [sys.executable, "-m", "privet.cli", "studio", str(data), "--json"]
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        said = ""
        while not said.rstrip().endswith("}"):
            said += process.stdout.readline() if process.stdout else "}"
        yield json.loads(said)["link"], process.pid
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def run(*, full: bool) -> Outcome:
    rows, drawn = [], []
    for size in (30_000, 1_000_000) if full else (30_000,):
        with tempfile.TemporaryDirectory() as name:
            rows += measured(Path(name), size)
        with tempfile.TemporaryDirectory() as name:
            drawn += by_browser(Path(name), size)
    return Outcome(
        "studio",
        "the studio's clicks",
        "Each kind of click, with a real server over HTTP, and as Chromium draws it where it is installed.",
        (
            Table("seconds over HTTP", _HEADS, rows),
            *([Table("seconds in Chromium", _HEADS, drawn)] if drawn else []),
        ),
        (
            "CPU is the server's in the longest click, in hundredths of a second.",
            "Waiting is beside the pages, and has no target.",
            "In Chromium a click is timed by the browser, until the frame after the one that shows the page.",
            "There the first page, and an empty one for comparison, are timed to the end of loading.",
        ),
    )


_HEADS = {
    "records": ",",
    "click": "",
    "times": ",",
    "median": ".3f",
    "worst": ".3f",
    "CPU": ".3f",
    "target": "",
}


def rows_of(
    size: int, took: Mapping[str, Sequence[tuple[float, float | None]]], waits: Mapping[str, float]
) -> list[list[str | int | float | None]]:
    """The median and the worst of each kind."""
    told: list[list[str | int | float | None]] = []
    for what, several in took.items():
        worst, cpu = max(several, key=lambda one: one[0])
        limit = FIRST if what == "first page" else CLICK
        rating = "" if "comparison" in what else rated(worst, limit, " s")
        told.append([size, what, len(several), median(w for w, _ in several), worst, cpu, rating])
    return [*told, *([size, f"waiting: {what}", 1, took, took, None, ""] for what, took in waits.items())]


def table(folder: Path, size: int) -> Path:
    """Adult as ARX has it, and beyond its records as many as needed, each column drawn by itself (of
    a million some 384,000 are different); the sample census where it is not here.
    """
    data = folder / "people.csv"
    try:
        frame = lattice.records()
    except Exception:  # noqa: BLE001 - it is not on this machine
        main(["sample", "census", "--rows", str(size), "-o", str(data)])
        return data
    chance = np.random.default_rng(18)
    more = max(0, size - frame.height)
    drawn = [column.gather(chance.integers(0, frame.height, more)) for column in frame]
    pl.concat([frame.head(size), pl.DataFrame(drawn)]).write_csv(data, separator=";")
    return data


def measured(folder: Path, size: int) -> list[list[str | int | float | None]]:
    """A steward's clicks, one after the other."""
    data = table(folder, size)
    waits: dict[str, float] = {}
    with started(data, folder) as running:
        visit = Visit(*running)
        visit.click("first page", "/")
        waits["looking at the data"] = visit.settled("/")
        names = columns(data)
        _roles(visit, names, waits)
        _hierarchies(visit, names)
        _promises(visit, names, waits)
        _lattice(visit, names, waits)
        _releases(visit, waits)
    return rows_of(size, visit.took, waits)


def by_browser(folder: Path, size: int) -> list[list[str | int | float | None]]:
    """The same by a real browser."""
    data = table(folder, size)
    names = columns(data)
    try:
        trees = {name: lattice.folder() / f"adult_hierarchy_{name}.csv" for name in names}
    except Exception:  # noqa: BLE001 - it is not on this machine
        trees = {}
    with started(data, folder) as (link, _):
        return rows_of(size, seen(link, folder / "profile", names, trees), {})


def _roles(visit: Visit, names: Sequence[str], waits: dict[str, float]) -> None:
    for _ in range(3):
        visit.click("columns", "/columns")
    for name in names:
        for role in (*ROLES, "quasi"):
            visit.click("a role", "/columns/role", {"column": name, "role": role})
    waits["columns together"] = visit.settled("/columns/together")
    visit.click("columns together", "/columns/together")


def _hierarchies(visit: Visit, names: Sequence[str]) -> None:
    for name in names:
        column = {"column": name}
        visit.click("hierarchies", "/hierarchies")
        visit.click("a hierarchy", f"/hierarchy?{urlencode(column)}")
        text = visit.click("a tree that is begun", "/hierarchy/begin", column)
        leaves = re.findall(r'name="node" value="([^"*]+)"', text)[:3]
        if len(leaves) > 1:
            edit = "an edit of a tree"
            first = {**column, "node": leaves[0]}
            visit.click(
                edit, "/hierarchy/tree", {**column, "what": "merge", "new": "some", "node": leaves[:2]}
            )
            visit.click(
                edit, "/hierarchy/tree", {**column, "what": "rename", "new": "others", "node": "some"}
            )
            visit.click(edit, "/hierarchy/tree", {**first, "what": "move", "under": "*"})
            visit.click(edit, "/hierarchy/tree", {**column, "what": "split", "node": "others"})
        if name == "age":
            visit.click("cuts by sliders", "/hierarchy/edges", {**column, "edge": ["30", "45", "60"]})
        try:
            rows = (lattice.folder() / f"adult_hierarchy_{name}.csv").read_text(encoding="utf-8")
        except Exception:  # noqa: BLE001 - it is not on this machine
            continue
        visit.click("a tree that is brought", "/hierarchy/import", {**column, "rows": rows})
        visit.click("a tree that is taken", f"/hierarchy/csv?{urlencode(column)}")


def _promises(visit: Visit, names: Sequence[str], waits: dict[str, float]) -> None:
    protected = SENSITIVE if SENSITIVE in names else names[-1]
    visit.click("a role", "/columns/role", {"column": protected, "role": "sensitive"})
    for model in ("k-anonymity", "lkc-privacy", "distinct-l-diversity", "t-closeness"):
        visit.click("promise", f"/promise?model={model}")
    visit.live("the first promise, live", {"type": "k-anonymity", "k": "5"}, waits)
    for k in ("2", "7", "20"):
        visit.live("another k, live", {"type": "k-anonymity", "k": k}, waits)
        asked = {"type": "distinct-l-diversity", "l": k, "sensitive": protected}
        visit.live("another l of l-diversity, live", asked, waits)
    for limit in ("1/10", "1/5", "2/5"):
        asked = {"type": "t-closeness", "t": limit, "distance": "equal", "sensitive": protected}
        visit.live("another t of t-closeness, live", asked, waits)
    for known in ("2", "3", "4"):
        asked = {"type": "lkc-privacy", "l": known, "k": "20", "c": "1/2", "sensitive": protected}
        visit.live("LKC's three questions, live", asked, waits)
    visit.click("a role", "/columns/role", {"column": protected, "role": "quasi"})
    for _ in range(3):
        visit.click("a promise", "/promise/add", {"type": "k-anonymity", "k": "5"})
        visit.click("a promise taken back", "/promise/drop", {"at": "0", "type": "k-anonymity"})
    visit.click("a preset", "/promise/preset", {"preset": "ema-0070"})
    visit.click("a promise taken back", "/promise/drop", {"at": "0", "type": "k-anonymity"})
    visit.click("a promise", "/promise/add", {"type": "k-anonymity", "k": "5"})
    visit.click("a search", "/promise/algorithm", {"type": "optimal", "suppression": "1/20"})
    visit.click("its settings", "/promise?algorithm=optimal")


def _lattice(visit: Visit, names: Sequence[str], waits: dict[str, float]) -> None:
    visit.click("explore", "/explore")
    waits["the lattice"] = visit.settled("/explore/lattice")
    for _ in range(3):
        text = visit.click("lattice", "/explore/lattice")
    if "data-pick" not in text:
        return
    visit.click("its nodes", "/explore/lattice/nodes")
    for level in ("0", "1", *["1"] * 3):
        visit.click("a node", f"/explore/lattice/node?levels={','.join(level for _ in names)}")
    best = re.findall(r'data-pick="([0-9,]+)"', text)
    for levels in best[:20]:
        visit.click("a node", f"/explore/lattice/node?levels={levels}")
    visit.click("a node that is pinned", "/explore/lattice/pin", {"levels": best[0]})


def _releases(visit: Visit, waits: dict[str, float]) -> None:
    since = time.perf_counter()
    for _ in range(2):
        page = visit.click("publish", "/publish")
        digest = page.partition('name="digest" value="')[2].partition('"')[0]
        visit.ended("/publish/start", {"digest": digest})
    waits["publishing twice"] = time.perf_counter() - since
    visit.ended("/release/ask", {"name": "release-1", "what": "verify"})
    for _ in range(3):
        visit.click("releases", "/releases")
        visit.click("a release", "/release?name=release-1")
        visit.click("its report", "/release/report?name=release-1")
        visit.click("what differs", "/diff?old=release-1&new=release-2")
    waits["before and after, for the first time"] = visit.settled("/release/beside?name=release-1")
    for search in ("", "Private", "zzz"):
        for first in ("0", "20"):
            asked = {"name": "release-1", "search": search, "first": first}
            visit.click("before and after", "/release/beside", asked)
    since = time.perf_counter()
    visit.sent("GET", f"{visit.base}/release/zip?name=release-1")
    waits["the release as a zip"] = time.perf_counter() - since


def columns(data: Path) -> list[str]:
    with data.open(encoding="utf-8") as file:
        head = file.readline().strip()
    return head.split(";" if ";" in head else ",")
