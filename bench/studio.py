"""The studio's clicks: how long each page and form takes a real `privet studio`, on tables of several sizes.

Wall time is what a steward waits for; CPU time is the server's own work, which says the same on a busy
machine. Long work (a look at the data, the lattice, publishing) goes on beside the pages and is not a click:
the page that waits is. A click is the form and the page that follows it.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from bench import lattice
from bench.outcome import Outcome, Table, rated
from privet.cli import main

CLICK, FIRST = 0.2, 1.0  # seconds
ROLES = ("identifier", "quasi", "sensitive", "target", "other")
TICK = os.sysconf("SC_CLK_TCK")


@dataclass
class Visit:
    """A browser without a window: one connection, the cookie, and what each click took."""

    link: str
    process: int
    cookie: str = ""
    token: str = ""
    took: dict[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        address = urlsplit(self.link)
        self.host, self.base = address.netloc, address.path.removesuffix("/enter")
        self.wire = http.client.HTTPConnection(self.host)
        self.cookie = self.sent("GET", f"{address.path}?{address.query}")[1]["set-cookie"].partition(";")[0]

    def sent(
        self, method: str, path: str, form: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, str], str]:
        """One request: status, headers, text."""
        headers = {"cookie": self.cookie, "origin": f"http://{self.host}"}
        body = None
        if form is not None:
            body = urlencode({**form, "token": self.token})
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

    def click(self, what: str, path: str, form: Mapping[str, str] | None = None) -> str:
        """A page or a form, timed; the longest of several of a name counts."""
        work, since = self.cpu(), time.perf_counter()
        if form is None:
            text = self.page(path)
        else:
            status, said, text = self.sent("POST", f"{self.base}{path}", form)
            if status == 303:
                text = self.page(said["location"].partition("#")[0].removeprefix(self.base))
        took = (time.perf_counter() - since, self.cpu() - work)
        self.took[what] = max(self.took.get(what, (0.0, 0.0)), took)
        return text

    def settled(self, path: str) -> float:
        """How long a page says that it waits."""
        since = time.perf_counter()
        while "data-state=" in self.page(path):
            time.sleep(0.05)
        return time.perf_counter() - since


@contextmanager
def visiting(data: Path, folder: Path) -> Iterator[Visit]:
    """A studio of its own, stopped at the end."""
    words = [sys.executable, "-m", "privet.cli", "studio", str(data), "--json"]
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        said = ""
        while not said.rstrip().endswith("}"):
            said += process.stdout.readline() if process.stdout else "}"
        yield Visit(json.loads(said)["link"], process.pid)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


def run(*, full: bool) -> Outcome:
    rows = []
    for size in (30_000, 1_000_000) if full else (30_000,):
        with tempfile.TemporaryDirectory() as name:
            rows += measured(Path(name), size)
    return Outcome(
        "studio",
        "the studio's clicks",
        "The longest of each kind of click, with a real server over HTTP; no browser draws here.",
        (
            Table(
                "seconds",
                {"records": ",", "click": "", "wall": ".3f", "CPU": ".3f", "target": ""},
                rows,
            ),
        ),
        ("CPU is counted in hundredths of a second.", "Waiting is beside the pages, and has no target."),
    )


def table(folder: Path, size: int) -> Path:
    """Adult as ARX has it, as often as needed; the sample census where it is not here."""
    data = folder / "people.csv"
    try:
        frame = lattice.records()
    except Exception:  # noqa: BLE001 - it is not on this machine
        main(["sample", "census", "--rows", str(size), "-o", str(data)])
        return data
    head, *lines = frame.write_csv(separator=";").splitlines()
    with data.open("w", encoding="utf-8") as file:
        file.write(head + "\n")
        for at in range(size):
            file.write(lines[at % len(lines)] + "\n")
    return data


def measured(folder: Path, size: int) -> list[list[str | int | float | None]]:
    """A steward's clicks, one after the other."""
    data = table(folder, size)
    waits: dict[str, float] = {}
    with visiting(data, folder) as visit:
        visit.click("first page", "/")
        waits["looking at the data"] = visit.settled("/")
        visit.click("columns", "/columns")
        names = _columns(data)
        for name in names:
            for role in (*ROLES, "quasi"):
                visit.click("a role", "/columns/role", {"column": name, "role": role})
        waits["columns together"] = visit.settled("/columns/together")
        visit.click("hierarchies", "/hierarchies")
        for name in names:
            visit.click("a hierarchy", f"/hierarchy?{urlencode({'column': name})}")
            try:
                rows = (lattice.folder() / f"adult_hierarchy_{name}.csv").read_text(encoding="utf-8")
            except Exception:  # noqa: BLE001 - it is not on this machine
                continue
            visit.click("a tree that is brought", "/hierarchy/import", {"column": name, "rows": rows})
        visit.click("promise", "/promise?model=k-anonymity")
        since = time.perf_counter()
        visit.sent("POST", f"{visit.base}/promise/live", {"type": "k-anonymity", "k": "5"})
        waits["counting for the first promise"] = time.perf_counter() - since
        for k in ("2", "7", "20"):
            visit.click("another k, live", "/promise/live", {"type": "k-anonymity", "k": k})
        visit.click("a promise", "/promise/add", {"type": "k-anonymity", "k": "5"})
        visit.click("explore", "/explore")
        waits["the lattice"] = visit.settled("/explore/lattice")
        if "data-pick" in visit.click("lattice", "/explore/lattice"):
            visit.click("its nodes", "/explore/lattice/nodes")
            levels = ",".join("1" for _ in names)
            for _ in range(3):
                visit.click("a node", f"/explore/lattice/node?levels={levels}")
        visit.click("publish", "/publish")
        visit.click("releases", "/releases")
    told: list[list[str | int | float | None]] = [
        [size, what, wall, cpu, rated(wall, FIRST if what == "first page" else CLICK, " s")]
        for what, (wall, cpu) in visit.took.items()
    ]
    return [*told, *([size, f"waiting: {what}", took, None, ""] for what, took in waits.items())]


def _columns(data: Path) -> list[str]:
    with data.open(encoding="utf-8") as file:
        head = file.readline().strip()
    return head.split(";" if ";" in head else ",")
