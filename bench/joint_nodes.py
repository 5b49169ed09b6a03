"""Three real nodes on loopback, each a process with a certificate of its own: how long a run takes."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import tomli_w

from bench.child import ChildError
from privet.errors import PartyError
from privet.node.calling import Caller
from privet.node.house import House, made
from privet.parties.contract import Contract
from privet.parties.signing import sign
from privet.roads import publish

LOOK = 0.1
MOST = 1800.0  # seconds


def timed(folder: Path, agreed: Contract, table: pl.DataFrame) -> tuple[float, bool]:
    """Seconds from the last start to the release, and whether its data has the bytes of the pooled one."""
    houses = {name: _node(folder, name) for name in agreed.parties}
    for house in houses.values():
        for other in houses.values():
            if other is not house:
                invitation = folder / f"{other.name}.invitation.toml"
                invitation.write_text(other.me().to_text(), encoding="utf-8")
                house.accept(invitation)
    keys = {name: house.key().public for name, house in houses.items()}
    said = {key: value for key, value in agreed.to_document().items() if value is not None}
    path = folder / "contract.toml"
    path.write_text(tomli_w.dumps(_plain({**said, "keys": keys})), encoding="utf-8")
    contract = Contract.load(path)
    running = []
    try:
        for at, (name, house) in enumerate(houses.items()):
            sign(contract, path, house.key())
            table.gather_every(len(houses), at).write_csv(folder / f"{name}.csv")
            with (folder / f"{name}.log").open("wb") as log:
                command = [sys.executable, "-m", "privet.cli", "node", "serve", "--node", str(house.folder)]
                running.append(subprocess.Popen(command, stderr=log))
        callers = {name: Caller(house.folder, house.me()) for name, house in houses.items()}
        for caller in callers.values():
            _wait(lambda caller=caller: bool(caller.call("GET", "/healthz")))  # type: ignore[misc]
        begun = time.perf_counter()
        for name, caller in callers.items():
            asked = {"contract": str(path), "data": str(folder / f"{name}.csv")}
            if caller.call("POST", "/v1/runs", document=asked)[0] != 200:
                raise ChildError(f"{name} does not start")
        leader = callers[agreed.parties[0]]
        _wait(lambda: leader.call("GET", "/healthz")[1]["runs"][0]["state"] in {"done", "failed"})
        seconds = time.perf_counter() - begun
        found = leader.call("GET", "/healthz")[1]["runs"][0]
        for caller in callers.values():
            caller.close()
    finally:
        for one in running:
            one.terminate()
            one.wait(timeout=60)
    if found["state"] != "done":
        raise ChildError(found["why"])
    # A joint release has its columns in the order of the contract, whatever that of the parts.
    alone = publish(table.select(list(contract.domains)), contract.policy).write(folder / "alone")
    joint = houses[agreed.parties[0]].releases / found["release"]
    return seconds, (joint / "data.csv").read_bytes() == (alone / "data.csv").read_bytes()


def _node(folder: Path, name: str) -> House:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    return made(folder / name, name=name, url=f"https://127.0.0.1:{port}")


def _wait(ready: Callable[[], bool]) -> None:
    until = time.perf_counter() + MOST
    while time.perf_counter() < until:
        try:
            if ready():
                return
        except PartyError:
            pass
        time.sleep(LOOK)
    raise ChildError("the nodes take too long")


def _plain(value: Any) -> Any:
    """Without what TOML cannot say."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items() if one is not None}
    return [_plain(one) for one in value] if isinstance(value, list) else value
