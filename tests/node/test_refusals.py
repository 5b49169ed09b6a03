"""What one organisation does wrong, and what strangers try, between real nodes: said, named, nothing left.

Rows that do not fit the contract are noticed at the desk that has them; the others hear who has ended the
run. Nobody hears a value.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.node.nodes import NAMES, Process, contract_of, houses, over, runs, serving, start, tables
from tests.parties import test_loan

import privet as pv
from privet.node.house import House
from privet.parties.contract import Contract

pytestmark = pytest.mark.services

CANARIES = ("Astronaut", "CANARY", "Transgender", "Janitor")
HEAD = "Job,Sex,Age,Transfuse,Surgery\n"


class Scene:
    """Three nodes that serve."""

    def __init__(self, folder: Path, running: dict[str, Process]) -> None:
        self.folder, self.running = folder, running
        self.houses = {name: House.load(folder / name) for name in NAMES}
        self.data = tables(folder)

    def run(self, path: Path, data: dict[str, str]) -> dict[str, dict[str, Any]]:
        """Every steward starts the contract; how it ends at each."""
        before = {name: len(runs(self.houses[name])) for name in data}
        for name, place in list(data.items())[::-1]:
            status, said = start(self.houses[name], path, place)
            assert status == 200, said
        return {name: over(self.houses[name], before[name] + 1) for name in data}

    def refused(self, ended: dict[str, dict[str, Any]], by: str, said: str) -> None:
        """One desk hears what is wrong with its rows; the others hear who has ended the run; nobody more."""
        assert {one["state"] for one in ended.values()} == {"failed"}, ended
        assert said in ended[by]["why"], ended[by]["why"]
        for name, one in ended.items():
            if name != by:
                assert one["why"].startswith(tuple(f"{party}: " for party in ended)), one["why"]
            assert not [p for p in self.houses[name].releases.iterdir() if one["session"] in p.name]
            assert not [word for word in CANARIES if word in one["why"] + self.running[name].said()]
        others = [one["why"] for name, one in ended.items() if name != by]
        assert any(why.startswith(f"{by}: ") for why in others), others


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("refusals")
    with serving(houses(folder), *NAMES) as running:
        yield Scene(folder, running)


PEOPLE: dict[str, tuple[Callable[[str], str], str]] = {
    "no row": (lambda _: HEAD, "not one record"),
    "a value that nobody agreed on": (
        lambda text: text + "Astronaut,M,[1-30),Y,Plastic\n",
        "not among those that the contract lists",
    ),
    "numbers for labels": (
        lambda text: text.replace("[30-60)", "34").replace("[1-30)", "24").replace("[60-99)", "63"),
        "attributes.Age",
    ),
    "a column too few": (
        lambda text: "\n".join(line.rpartition(",")[0] for line in text.splitlines()) + "\n",
        "Surgery",
    ),
    "rows that are longer than the head": (
        lambda text: text + "Janitor,M,[1-30),Y,Plastic,CANARY\n",
        "B: ",
    ),
    "no table at all": (lambda _: "\0\1\2CANARY", "B: "),
}


@pytest.mark.parametrize("wrong", PEOPLE)
def test_rows_of_people_that_do_not_fit(wrong: str, scene: Scene, tmp_path: Path) -> None:
    change, said = PEOPLE[wrong]
    place = tmp_path / "B.csv"
    place.write_text(change(Path(scene.data["B"]).read_text()))
    path = contract_of(scene.folder / "people", scene.houses)
    scene.refused(scene.run(path, {**scene.data, "B": str(place)}), "B", said)


def _loan(scene: Scene, tmp_path: Path, change: Callable[[str], str]) -> dict[str, dict[str, Any]]:
    two = {name: scene.houses[name] for name in "AB"}
    path = contract_of(
        scene.folder / "loan",
        two,
        of=test_loan.document,
        parties=["A", "B"],
        owners={"A": ["Job"], "B": ["Sex", "SalaryK"]},
    )
    files = dict(zip("AB", test_loan.parts(tmp_path), strict=True))
    files["B"].write_text(change(files["B"].read_text()))
    return scene.run(path, {name: str(place) for name, place in files.items()})


COLUMNS: dict[str, tuple[Callable[[str], str], str]] = {
    "an identifier twice": (
        lambda text: text + "1,N,Male,30\n",
        "B: 1 identifiers stand in more than one row",
    ),
    "a row without an identifier": (
        lambda text: text + ",N,Male,30\n",
        "B: ID: a row without an identifier cannot be matched",
    ),
    "other types": (
        lambda text: text.replace(",30", ",thirty"),
        "B: attributes.SalaryK: 1 of",
    ),
    "no row": (lambda text: text.splitlines()[0] + "\n", "B: "),
}  # fmt: skip


@pytest.mark.parametrize("wrong", COLUMNS)
def test_rows_of_columns_that_do_not_fit(wrong: str, scene: Scene, tmp_path: Path) -> None:
    change, said = COLUMNS[wrong]
    scene.refused(_loan(scene, tmp_path, change), "B", said)


def test_nobody_in_common(scene: Scene, tmp_path: Path) -> None:
    """Both find out for themselves, at the same time."""
    ended = _loan(scene, tmp_path, lambda _: "ID,Class,Sex,SalaryK\nCANARY-1,Y,Male,30\n")
    assert {one["state"] for one in ended.values()} == {"failed"}
    for one in ended.values():
        assert "not one person that all parties know" in one["why"] or "has ended the run" in one["why"]
        assert "CANARY" not in one["why"]
    assert any("not one person that all parties know" in one["why"] for one in ended.values())


def test_afterwards_the_next_run_works(scene: Scene) -> None:
    path = contract_of(scene.folder / "people", scene.houses)
    ended = scene.run(path, scene.data)
    assert {one["state"] for one in ended.values()} == {"done"}, ended


# Strangers.

HELLO = b"\x16\x03\x01\x02\x00\x01\x00"  # how a handshake begins; the rest never comes
SOCKETS = 600
ADDRESSES = 10


def open_files(process: Process) -> int:
    return len(list(Path(f"/proc/{process.running.pid}/fd").iterdir()))


def test_half_open_handshakes_do_not_keep_peers_out(scene: Scene) -> None:
    """Three times as many sockets as a node takes, from ten addresses, none of which ends its handshake."""
    door = (scene.houses["B"].host, scene.houses["B"].port)
    with ExitStack() as held:
        for at in range(SOCKETS):
            one = held.enter_context(socket.socket())
            one.settimeout(10)
            one.bind((f"127.0.0.{2 + at % ADDRESSES}", 0))
            one.connect(door)
            if at % 3:
                one.send(HELLO[: 1 + at % len(HELLO)])
        until = time.monotonic() + 30  # a handshake alone may take 60
        while open_files(scene.running["B"]) > 300:  # 200 connections, and what the node itself needs
            assert time.monotonic() < until, "sockets of strangers are kept"
            time.sleep(0.1)
        path = contract_of(scene.folder / "flooded", scene.houses)
        ended = scene.run(path, scene.data)
        assert {one["state"] for one in ended.values()} == {"done"}, ended
    whole = pl.concat([pl.read_csv(place, infer_schema=False) for place in scene.data.values()])
    alone = pv.publish(whole, Contract.load(path).policy).write(scene.folder / "flooded-alone")
    joint = scene.houses["B"].releases / ended["B"]["release"]
    assert (joint / "data.csv").read_bytes() == (alone / "data.csv").read_bytes()


NOISE = [
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\x00" * 5000,
    b"SSH-2.0-x\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc" + b"\xff" * 508,  # a whole one, of nonsense
    b"\x15\x03\x03\x00\x02\x02\x28",
]


def test_noise_at_the_door_is_hung_up_on(scene: Scene) -> None:
    door = (scene.houses["A"].host, scene.houses["A"].port)
    for noise in NOISE:
        with socket.create_connection(door, timeout=30) as one:
            one.sendall(noise)
            answer = b""
            while piece := _more(one):
                answer += piece
            assert b"HTTP" not in answer
            assert len(answer) < 200, "an alert at most"
    scene.running["A"].says("shows no certificate of an invited peer")


def _more(one: socket.socket) -> bytes:
    try:
        return one.recv(4096)
    except ConnectionError:
        return b""
