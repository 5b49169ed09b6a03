"""What a party cannot have: the tables of two runs of one contract, with other rows of its own between them.

Real nodes, one of which does not keep to the protocol when the table has been opened, or is unlucky then.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from tests.node import lying
from tests.node.nodes import NAMES, Process, contract_of, fresh, houses, over, runs, serving, start
from tests.parties import federation
from tests.parties import test_noisy_contract as spending

from privet.cli import main
from privet.dp.ledger import Ledger
from privet.node.house import House
from privet.node.refusals import JUST_NOW
from privet.parties.agreements import load
from privet.roads.parties.concluding import PERHAPS

pytestmark = pytest.mark.services

OTHER_ROWS = "has other rows than when this contract was run before"


class Scene:
    """Two honest nodes, and a third whose program is another."""

    def __init__(self, folder: Path, running: dict[str, Process]) -> None:
        self.folder, self.running = folder, running
        self.houses = {name: House.load(folder / name) for name in NAMES}
        self.data: dict[str, str] = {}
        self.less = folder / "C.less.csv"  # one row less

    def contract(self, name: str) -> Path:
        """A contract, and rows for it that were never published."""
        self.data = fresh(self.folder, name)
        rows = Path(self.data["C"]).read_text().splitlines(keepends=True)
        self.less.write_text("".join(rows[:-1]))
        return contract_of(self.folder / name, self.houses, purpose=name, reveal="counts")

    def becomes(self, ways: str) -> None:
        """C is started anew, with another program."""
        if "C" in self.running:
            self.running.pop("C").kill()
        self.running["C"] = Process(self.houses["C"], lying.__file__, ways).ready()

    def start(self, path: Path, data: dict[str, Any] | None = None, again: str = "") -> dict[str, Any]:
        """What the nodes say when their stewards start it, C's first."""
        rows = self.data | (data or {})
        return {
            name: start(self.houses[name], path, str(rows[name]), again=name in again) for name in NAMES[::-1]
        }

    def run(self, path: Path, names: str = "ABC", **more: Any) -> dict[str, dict[str, Any]]:
        """How it ended, at some of them."""
        before = {name: len(runs(self.houses[name])) for name in NAMES}
        said = self.start(path, **more)
        assert [status for status, _ in said.values()] == [200] * 3, said
        return {name: over(self.houses[name], before[name] + 1) for name in names}

    def releases(self, path: Path) -> list[str]:
        """Of a contract, at the honest nodes."""
        digest = contract_digest(path)
        return [
            one["release"]
            for name in "AB"
            for one in runs(self.houses[name])
            if one["contract"] == digest and one["release"]
        ]


def contract_digest(path: Path) -> str:
    return load(path).digest.hex()


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("twice")
    with serving(houses(folder), "A", "B") as running:
        yield Scene(folder, running)


def test_a_party_that_has_seen_the_table_and_left_does_not_come_back_with_other_rows(scene: Scene) -> None:
    path = scene.contract("leaves")
    scene.becomes("leaves")
    found = scene.run(path, "AB", again="ABC")
    assert {one["state"] for one in found.values()} == {"failed"}
    assert not any(PERHAPS in one["why"] for one in found.values()), "nobody has signed"
    scene.becomes("honest")
    status, said = start(scene.houses["C"], path, str(scene.less), again=False)
    assert status == 422
    assert OTHER_ROWS in said["complaints"][0]
    found = scene.run(path, data={"C": scene.less}, again="C")
    assert {one["state"] for one in found.values()} == {"failed"}
    assert any(found[name]["why"].startswith(f"C: {OTHER_ROWS}") for name in "AB"), found
    assert not scene.releases(path)
    found = scene.run(path)
    assert {one["state"] for one in found.values()} == {"done"}, "the same rows: the same table, lawfully"


def test_nor_does_one_that_has_only_seen_what_the_search_tells(scene: Scene) -> None:
    """With other rows each time, decisions about one's own group add up to the size of the others'."""
    path = scene.contract("searches")
    scene.becomes("searches")
    found = scene.run(path, "AB", again="ABC")
    assert {one["state"] for one in found.values()} == {"failed"}
    scene.becomes("honest")
    found = scene.run(path, data={"C": scene.less}, again="C")
    assert any(found[name]["why"].startswith(f"C: {OTHER_ROWS}") for name in "AB"), found
    assert not scene.releases(path)
    assert {one["state"] for one in scene.run(path).values()} == {"done"}, "the same rows"


def test_nor_is_a_virtual_database_broken_off_without_end(scene: Scene) -> None:
    """Its search tells where medians lie: rows that a liar puts around them count the others'."""
    folder = scene.folder / "grows"
    folder.mkdir()
    scene.data = federation.parts(folder, NAMES)
    path = contract_of(folder, scene.houses, of=federation.document, parties=list(NAMES))
    for ways, age in (("marks+grows", 26), ("lies+grows", 40)):
        liar = Path(scene.data["C"])
        liar.write_text(liar.read_text().replace(",26,", f",{age},"))
        scene.becomes(ways)
        found = scene.run(path, "AB")
        assert [(one["state"], one["opened"]) for one in found.values()] == [("failed", True)] * 2, found
    scene.becomes("lies+grows")
    said = scene.start(path)
    for name in "AB":
        assert said[name][0] == 422, "a third search is not begun"
        assert "broken off more than once when its search had begun" in said[name][1]["complaints"][0]
    scene.becomes("honest")
    time.sleep(JUST_NOW)  # for which A and B remember that the other has refused
    assert {one["state"] for one in scene.run(path, again="ABC").values()} == {"done"}
    for status, refused in scene.start(path).values():
        assert status == 422, "nor is it made twice"
        assert "--again" in refused["complaints"][0]


def test_a_party_that_withholds_its_signature_and_lies_has_no_second_release(scene: Scene) -> None:
    path = scene.contract("withholds")
    scene.becomes("marks+withholds")
    found = scene.run(path, "AB", again="ABC")
    assert all(PERHAPS in one["why"] for one in found.values()), found
    scene.becomes("lies")
    found = scene.run(path, data={"C": scene.less})
    assert {one["state"] for one in found.values()} == {"failed"}
    assert any("made another result when this contract was run before" in found[n]["why"] for n in "AB")
    assert not scene.releases(path)
    # It has seen the second table; a third it does not see.
    said = scene.start(path, data={"C": scene.less})
    for name in "AB":
        assert said[name][0] == 422
        assert "made two results under this contract" in said[name][1]["complaints"][0]


def test_a_node_killed_when_its_signature_is_out_knows_it_and_fetches_the_release(
    scene: Scene, capsys: pytest.CaptureFixture[str]
) -> None:
    path = scene.contract("killed")
    scene.becomes("killed")
    found = scene.run(path, "AB", again="ABC")
    assert {one["state"] for one in found.values()} == {"done"}
    scene.becomes("honest")
    digest = contract_digest(path)
    (mine,) = [one for one in runs(scene.houses["C"]) if one["contract"] == digest]
    assert mine["state"] == "failed"
    assert "stopped in the middle" in mine["why"]
    assert PERHAPS in mine["why"]
    assert "nothing was published" not in mine["why"]
    words = ["joint", "fetch", str(path), "-o", str(scene.folder / "got"), "--from", "A"]
    assert main([*words, "--node", str(scene.folder / "C")]) == 0, capsys.readouterr().err
    # The others forget, and have other rows: it does not.
    status, said = start(scene.houses["C"], path, str(scene.less), again=False)
    assert status == 422, said
    assert {one["state"] for one in scene.run(path).values()} == {"done"}


def test_a_disk_that_is_full_when_our_signature_is_out(scene: Scene) -> None:
    path = scene.contract("full")
    scene.becomes("full")
    found = scene.run(path, again="ABC")
    assert {found[name]["state"] for name in "AB"} == {"done"}
    assert found["C"]["state"] == "failed"
    assert "C: the node's folder: No space left on device" in found["C"]["why"]
    assert PERHAPS in found["C"]["why"]
    assert "nothing was published" not in found["C"]["why"]
    assert found["C"]["marks"] == found["A"]["marks"] != {}
    status, said = start(scene.houses["C"], path, str(scene.less), again=False)
    assert (status, OTHER_ROWS in said["complaints"][0]) == (422, True)


def test_classes_are_not_tried_one_by_one_before_anything_is_paid(tmp_path: Path) -> None:
    """B does not know a class, puts in a guess, and would see by how the run ends whether it is right."""
    two = ("A", "B")
    agreed = spending.document("columns", parties=list(two), owners={"A": ["Job"], "B": ["Sex", "Salary"]})
    del agreed["noisy"]  # the usual key
    houses(tmp_path, two)
    for name in two:
        Ledger(str(tmp_path / name / "ledger.sqlite")).open("rows", Fraction(2))
        form = tmp_path / name / "node.toml"
        ledger = {"ledger": {"file": "ledger.sqlite", "dataset": "rows"}}
        form.write_text(form.read_text() + tomli_w.dumps(ledger))
    known = {name: House.load(tmp_path / name) for name in two}
    path = contract_of(tmp_path / "c", known, of=lambda **more: {**agreed, **more})
    data = dict(zip(two, spending.parts(tmp_path, "columns"), strict=True))
    honest = data["B"].read_text()
    with serving(known, *two):

        def run(guess: str) -> dict[str, dict[str, Any]]:
            """Both start it, and B is forced to, whatever rows it has."""
            data["B"].write_text(honest.replace("p3,N,", f"p3,{guess},"))
            before = {name: len(runs(known[name])) for name in two}
            for name in two[::-1]:
                status, said = start(known[name], path, str(data[name]), again=name == "B")
                assert status == 200, said
            return {name: over(known[name], before[name] + 1) for name in two}

        found = run("Y")
        assert "has another class for some person" in found["A"]["why"] + found["B"]["why"], found
        assert [(one["opened"], one["paid"]) for one in found.values()] == [(True, False)] * 2
        found = run("N")
        assert found["A"]["why"].startswith(f"B: {OTHER_ROWS}"), found
        assert not found["A"]["opened"], "nobody was told anything"
    for name in two:
        assert Ledger(str(tmp_path / name / "ledger.sqlite")).balance("rows").left == 2
