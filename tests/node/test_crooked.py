"""A relay that loses, repeats, reorders, changes, makes up or delays what it carries, between real nodes.

The nodes make TLS with each other through it, so whatever it does ends a connection, and a connection that
ended is made anew: a run ends with the pooled table, or fails at both with a sentence and nothing left.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.node import crooked
from tests.node.nodes import SECONDS, Process, caller, contract_of, over, runs
from tests.node.test_relay import NAMES
from tests.node.test_relay import Scene as Relayed
from tests.parties import test_loan

import privet as pv
from privet.node.house import House
from privet.parties.contract import Contract

pytestmark = pytest.mark.services

BUSY = 10.0  # seconds that a busy machine takes beside
ONCE = 40  # the piece that is not carried as it should be: in the middle of a run


class Scene(Relayed):
    """A relay that can be replaced by a crooked one, and two nodes that have no port."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        for name in NAMES:
            form = folder / name / "node.toml"
            text = form.read_text(encoding="utf-8")
            form.write_text(
                text.replace("patience = 300", "patience = 12").replace("grace = 15", "grace = 4")
            )
            self.houses[name] = House.load(folder / name)
        (folder / "loan").mkdir()
        self.path = contract_of(
            folder / "agreed",
            self.houses,
            of=test_loan.document,
            parties=list(NAMES),
            owners={"north": ["Job"], "south": ["Sex", "SalaryK"]},
        )
        self.parts = dict(zip(NAMES, test_loan.parts(folder / "loan"), strict=True))
        policy = Contract.load(self.path).policy
        north, south = (pl.read_csv(part, infer_schema=False) for part in self.parts.values())
        whole = north.join(south.drop("Class"), on="ID").select(list(Contract.load(self.path).domains))
        self.pooled = (pv.publish(whole, policy).write(folder / "alone") / "data.csv").read_bytes()

    def relayed_by(self, *how: str) -> None:
        """Another relay from now on: an honest one, or a crooked one."""
        self.running.pop("hub").kill()
        program = (crooked.__file__, *how) if how else ("-m", "privet.cli", "node", "relay", "--node")
        self.running["hub"] = Process(self.hub, *program).ready()

    def there(self) -> None:
        """Both nodes wait for calls at the relay."""
        until = time.monotonic() + SECONDS
        with caller(self.hub) as own:
            while own.call("GET", "/healthz")[1]["there"] != sorted(NAMES):
                assert time.monotonic() < until, "the nodes do not come back"
                time.sleep(0.05)

    def run(self) -> dict[str, dict[str, Any]]:
        before = {name: len(runs(self.houses[name])) for name in NAMES}
        for name in NAMES[::-1]:
            with caller(self.houses[name]) as one:
                asked = {"contract": str(self.path), "data": str(self.parts[name]), "again": True}
                assert one.call("POST", "/v1/runs", document=asked)[0] == 200
        for name in NAMES:
            over(self.houses[name], before[name] + 1)
        # One that nobody could ask to join has no session.
        return {name: max(runs(self.houses[name]), key=lambda one: str(one["begun"])) for name in NAMES}

    def right(self, ended: dict[str, dict[str, Any]]) -> str:
        """How it ended: with the pooled table at both, or with nothing at either, and why."""
        states = {str(one["state"]) for one in ended.values()}
        assert len(states) == 1, ended
        for name, one in ended.items():
            house = self.houses[name]
            if one["state"] == "done":
                assert (house.releases / one["release"] / "data.csv").read_bytes() == self.pooled
            else:
                assert one["why"].startswith(("north: ", "south: ")), one["why"]
                assert not [
                    p for p in house.releases.iterdir() if one["session"] and one["session"] in p.name
                ]
        return states.pop()


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    one = Scene(tmp_path_factory.mktemp("crooked"))
    try:
        for name in ("hub", *NAMES):
            one.serve(name)
        one.meet()
        yield one
    finally:
        for process in one.running.values():
            process.kill()


@pytest.mark.parametrize("way", ["lost", "twice", "turned", "changed", "made up", "late"])
def test_one_piece_that_is_not_carried_as_it_should_be(way: str, scene: Scene) -> None:
    scene.relayed_by(way, str(ONCE))
    scene.there()
    ended = scene.right(scene.run())
    if way == "late":
        assert ended == "done", "whoever is slow is waited for"


@pytest.mark.parametrize("number", [10, ONCE])
@pytest.mark.parametrize("way", ["withheld", "tail"])
def test_a_relay_that_keeps_a_tail_is_not_waited_for_beyond_the_patience(
    way: str, number: int, scene: Scene
) -> None:
    """Every connection stands and every request is taken; only nothing comes."""
    scene.relayed_by(way, str(number))
    scene.there()
    began = time.monotonic()
    ended = scene.run()
    waited = time.monotonic() - began
    house = scene.houses["north"]
    assert scene.right(ended) == "failed"
    assert waited < house.patience + house.grace + BUSY, waited
    scene.relayed_by()
    scene.there()
    scene.meet()
    assert scene.right(scene.run()) == "done"


@pytest.mark.parametrize("way", ["lost", "changed"])
def test_a_relay_that_carries_nothing_whole_stops_both_and_the_next_run_works(way: str, scene: Scene) -> None:
    scene.relayed_by(way, "0")
    scene.there()
    assert scene.right(scene.run()) == "failed"
    scene.relayed_by()
    scene.there()
    scene.meet()
    assert scene.right(scene.run()) == "done"
