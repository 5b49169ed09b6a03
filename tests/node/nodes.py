"""Nodes for tests: folders that know each other, and real processes that serve them."""

from __future__ import annotations

import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w
from tests.parties.hospitals import document, parts

from privet.errors import PartyError
from privet.node.calling import LISTS, Caller
from privet.node.house import House, made
from privet.parties.agreements import load
from privet.parties.signing import beside, sign

NAMES = ("A", "B", "C")
SECONDS = 300.0  # that a test waits for anything; a busy machine takes its time


def free_port() -> int:
    """One that nobody has now, and that no connection of anybody's is given later: those are above 32,767."""
    while True:
        port = 16_384 + secrets.randbelow(16_384)
        with socket.socket() as tried, suppress(OSError):
            tried.bind(("127.0.0.1", port))
            return port


def houses(folder: Path, names: Sequence[str] = NAMES) -> dict[str, House]:
    """Nodes that have accepted each other's invitations."""
    found = {}
    for name in names:
        made(folder / name, name=name, url=f"https://127.0.0.1:{free_port()}")
        form = folder / name / "node.toml"
        text = form.read_text(encoding="utf-8")
        form.write_text(text.replace("grace = 15", "grace = 1").replace("patience = 600", "patience = 45"))
        found[name] = House.load(folder / name)
        (folder / f"{name}.invitation.toml").write_text(found[name].me().to_text(), encoding="utf-8")
    for name, house in found.items():
        for other in names:
            if other != name:
                house.accept(folder / f"{other}.invitation.toml")
    return found


def contract_of(
    folder: Path,
    known: Mapping[str, House],
    *,
    signed: bool = True,
    of: Callable[..., dict[str, Any]] = document,
    **changes: Any,
) -> Path:
    """A contract file in a folder of its own, signed by all; of the three hospitals unless said."""
    keys = {name: house.key().public for name, house in known.items()}
    path = folder / "contract.toml"
    path.parent.mkdir(exist_ok=True)
    beside(path).unlink(missing_ok=True)
    path.write_text(tomli_w.dumps(of(**{"keys": keys, **changes})), encoding="utf-8")
    if signed:
        for house in known.values():
            sign(load(path), path, house.key())
    return path


def tables(folder: Path) -> dict[str, str]:
    return {path.stem: str(path) for path in parts(folder)}


def fresh(folder: Path, name: str) -> dict[str, str]:
    """The same rows in other files, known by nobody: a column that no contract names has this in it."""
    found = {}
    for party, place in tables(folder).items():
        found[party] = str(folder / f"{party}.{name}.csv")
        pl.read_csv(place, infer_schema=False).with_columns(extract=pl.lit(name)).write_csv(found[party])
    return found


def caller(house: House, to: House | None = None) -> Caller:
    """A node's own certificate, calling itself or another."""
    return Caller(house.folder, (to or house).me(), seconds=10.0)


class Process:
    """A node in a process of its own; ready when it answers its own steward."""

    def __init__(self, house: House, *program: str) -> None:
        self.house = house
        self.log = house.folder.parent / f"{house.name}.log"
        command = program or ("-m", "privet.cli", "node", "serve", "--node")
        with self.log.open("ab") as said:
            self.running = subprocess.Popen(
                [sys.executable, *command, str(house.folder)], stderr=said, stdout=subprocess.DEVNULL
            )

    def ready(self) -> Process:
        one = caller(self.house)
        until = time.monotonic() + SECONDS
        try:
            while time.monotonic() < until:
                assert self.running.poll() is None, self.said()
                try:
                    assert one.call("GET", "/healthz", most=LISTS)[0] == 200
                except PartyError:
                    time.sleep(0.05)
                else:
                    return self
        finally:
            one.close()
        raise AssertionError("the node does not come up")

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def says(self, words: str) -> None:
        """Wait until its log has these words: a line may be written after its cause is over."""
        until = time.monotonic() + SECONDS
        while words not in self.said():
            assert time.monotonic() < until, f"the log does not say: {words}"
            time.sleep(0.05)

    def kill(self) -> None:
        self.running.kill()
        self.running.wait(timeout=SECONDS)


@contextmanager
def serving(known: Mapping[str, House], *names: str) -> Iterator[dict[str, Process]]:
    """Nodes that serve; whatever is in the dictionary at the end is stopped."""
    running = {name: Process(known[name]) for name in names}
    try:
        for one in running.values():
            one.ready()
        yield running
    finally:
        for one in running.values():
            one.kill()


def start(
    house: House, path: Path, data: str, query: str | None = None, *, again: bool = True
) -> tuple[int, dict[str, Any]]:
    """Its steward starts a contract; these tests publish the same rows under many."""
    asked = {"contract": str(path), "data": data, "query": query, "again": again}
    one = caller(house)
    try:
        return one.call("POST", "/v1/runs", document=asked)
    finally:
        one.close()


def runs(house: House) -> list[dict[str, Any]]:
    one = caller(house)
    try:
        return list(one.call("GET", "/healthz", most=LISTS)[1]["runs"])
    finally:
        one.close()


def over(house: House, count: int = 1) -> dict[str, Any]:
    """The last of so many runs, once it is over."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        found = sorted(runs(house), key=lambda one: str(one["begun"]))
        ended = [one for one in found if one["state"] in {"done", "failed"}]
        if len(ended) >= count and len(ended) == len(found):
            known = [one for one in ended if one["session"]]
            return max(known, key=lambda one: (house.runs / f"{one['session']}.json").stat().st_mtime)
        time.sleep(0.05)
    raise AssertionError("the run does not end")
