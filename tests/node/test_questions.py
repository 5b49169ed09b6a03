"""Virtual databases and mining between real nodes: made, asked, mined, and what a peer may not ask."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.node import dying
from tests.node.nodes import (
    NAMES,
    SECONDS,
    Process,
    caller,
    contract_of,
    free_port,
    houses,
    over,
    runs,
    serving,
    start,
)
from tests.parties import federation
from tests.parties.test_mining import BASKETS, DOCUMENT, expected

from privet.cli import main
from privet.node.house import House, made
from privet.parties.agreements import load
from privet.roads.parties.itemsets import as_csv

pytestmark = pytest.mark.services

WORDS = ("Flu", "Asthma", "Diabetes", "Cancer", "CANARY", "bread")


class Sites:
    """Three nodes that serve, a database that they have made, and a researcher whom they know."""

    def __init__(self, folder: Path, running: dict[str, Process]) -> None:
        self.folder = folder
        self.houses = {name: House.load(folder / name) for name in NAMES}
        self.running = running
        self.data = federation.parts(folder, NAMES)
        self.researcher = made(folder / "uni", name="uni", url=f"https://127.0.0.1:{free_port()}")
        invitation = folder / "uni.invitation.toml"
        invitation.write_text(self.researcher.me().to_text(), encoding="utf-8")
        for name, house in self.houses.items():
            house.accept(invitation)
            self.researcher.accept(folder / f"{name}.invitation.toml")

    def contract(self, name: str, **changes: Any) -> Path:
        said = {"parties": list(NAMES), "researchers": ["uni"], **changes}
        return contract_of(self.folder / name, self.houses, of=federation.document, **said)

    def run(self, path: Path, data: dict[str, str] | None = None) -> dict[str, dict[str, Any]]:
        before = {name: len(runs(house)) for name, house in self.houses.items()}
        for name, house in self.houses.items():
            status, said = start(house, path, (data or self.data)[name])
            assert status == 200, said
        return {name: over(house, before[name] + 1) for name, house in self.houses.items()}

    def nothing_kept(self, name: str) -> None:
        """Whoever asked has the answer: it is removed as soon as it was handed out."""
        until = time.monotonic() + SECONDS
        while left := list(self.folder.glob(f"{name}/answers/*")):
            assert time.monotonic() < until, f"{len(left)} answers are kept"
            time.sleep(0.05)

    def part(self, name: str, path: Path) -> Path:
        """What a site keeps of a database; questions of earlier tests may end later than it is made."""
        house, digest = self.houses[name], load(path).digest.hex()
        made_in = next(r["release"] for r in runs(house) if r["contract"] == digest and r["release"])
        return house.releases / f"{made_in}.private"

    def query(self, path: Path, *words: str, node: str = "A") -> int:
        return main(["joint", "query", str(path), *words, "--node", str(self.folder / node)])


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    folder = tmp_path_factory.mktemp("sites")
    with serving(houses(folder), *NAMES) as running:
        yield Sites(folder, running)


@pytest.fixture(scope="module")
def database(sites: Sites) -> Path:
    path = sites.contract("database")
    found = sites.run(path)
    assert {one["state"] for one in found.values()} == {"done"}, found
    return path


def test_the_boxes_are_the_same_at_all_sites_and_the_rows_stay(sites: Sites, database: Path) -> None:
    folders = [next(house.releases.glob("*.private")) for house in sites.houses.values()]
    public = [folder.with_suffix("") for folder in folders]
    for folder in public:
        assert sorted(path.name for path in folder.iterdir()) == [
            "boxes.csv",
            "joint.json",
            "signatures.json",
        ]
        for path in folder.iterdir():
            assert path.read_bytes() == (public[0] / path.name).read_bytes()
    note = json.loads((public[0] / "joint.json").read_text())
    assert note["kind"] == "database"
    assert [one["name"] for one in note["parties"]] == list(NAMES)
    assert all(one["certificate"] and one["saw"] for one in note["parties"])
    assert all(folder.stat().st_mode & 0o077 == 0 for folder in folders)
    rows = [json.loads((folder / "rows.json").read_text()) for folder in folders]
    assert [len(one["leaf"]) for one in rows] == [4, 4, 4]
    out = sites.folder / "boxes"
    words = ["joint", "fetch", str(database), "-o", str(out), "--node", str(sites.folder / "B")]
    assert main([*words, "--from", "C"]) == 0
    assert (out / "boxes.csv").read_text() == (public[0] / "boxes.csv").read_text()
    assert main(["joint", "verify", str(out), str(database)]) == 0
    (out / "boxes.csv").write_text("age,zip,records\n")
    assert main(["joint", "verify", str(out), str(database)]) == 1


def test_a_site_and_a_researcher_ask(
    sites: Sites, database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    want = ["age,zip,disease", *(f"26..29,43..48,{one}" for one in ("Asthma", "Cancer", "Flu"))]
    assert sites.query(database, "--where", "age = 27", node="B") == 0
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(want)
    for name in NAMES:
        assert sites.query(database, "--where", "age = 27", "--at", name, node="uni") == 0
        assert sorted(capsys.readouterr().out.splitlines()) == sorted(want)
    out = sites.folder / "answer.csv"
    assert sites.query(database, "-o", str(out), "--at", "A", node="uni") == 0
    assert len(out.read_text().splitlines()) == 13
    sites.nothing_kept("A")
    for one in sites.running.values():
        assert not [word for word in WORDS if word in one.said()], "data in a log"


def test_who_may_not_ask_and_what_is_no_question(
    sites: Sites, database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert sites.query(database, "--where", "age = 27", "--at", "B", node="A") == 2
    assert "does not name you as a researcher" in capsys.readouterr().err
    assert sites.query(database, "--where", "age = 27", node="uni") == 2
    assert "which site's node" in capsys.readouterr().err
    unmade = sites.contract("unmade", k=3)
    assert sites.query(unmade, node="A") == 2
    assert "has no virtual database of this contract" in capsys.readouterr().err
    digest = load(database).digest.hex()
    one = caller(sites.houses["A"])
    for said in ({}, {"contract": 3}, {"contract": digest, "question": {"where": {"name": [[0, 0]]}}}):
        assert one.call("POST", "/v1/questions", document=said)[0] in {400, 422}
    one.close()
    peer = caller(sites.houses["C"], sites.houses["B"])
    session = secrets.token_hex(16)
    assert peer.call("GET", f"/v1/questions/{session}")[0] == 404
    assert peer.call("GET", f"/v1/questions/{session}/answer")[0] == 404
    made_in = next(one["session"] for one in runs(sites.houses["B"]) if one["release"])
    hostile = [
        ({"database": "0" * 32, "question": {"where": {}, "certain": False}}, 412),
        ({"database": made_in, "question": {"where": {"name": []}, "certain": False}}, 400),
        ({"database": made_in, "question": None}, 400),
    ]
    for asked, status in hostile:
        body = {"contract": digest, "asked": asked}
        assert peer.call("POST", f"/v1/sessions/{secrets.token_hex(16)}", document=body)[0] == status
    peer.close()
    researcher = caller(sites.researcher, sites.houses["B"])
    body = {"contract": digest, "asked": {"database": made_in, "question": {"where": {}, "certain": False}}}
    assert researcher.call("POST", f"/v1/sessions/{session}", document=body)[0] == 412, "not a site"
    assert researcher.call("POST", "/v1/runs", document={"contract": str(database)})[0] == 403
    researcher.close()


def test_a_site_that_leads_questions_without_end_keeps_no_other_from_being_answered(
    sites: Sites, database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    digest = load(database).digest.hex()
    made_in = max((one for one in runs(sites.houses["B"]) if one["release"]), key=lambda one: one["begun"])
    asked = {"database": made_in["session"], "question": {"where": {}, "certain": False}}
    peer = caller(sites.houses["C"], sites.houses["B"])
    statuses = [
        peer.call(
            "POST", f"/v1/sessions/{secrets.token_hex(16)}", document={"contract": digest, "asked": asked}
        )[0]
        for _ in range(20)
    ]
    peer.close()
    assert statuses.count(429) >= 5
    assert sites.query(database, "--where", "age = 27") == 0, capsys.readouterr().err
    assert len(capsys.readouterr().out.splitlines()) == 4
    until = time.monotonic() + SECONDS
    while any(one["state"] not in {"done", "failed"} for one in runs(sites.houses["B"])):
        assert time.monotonic() < until, "what nobody goes on with ends"
        time.sleep(0.1)


def test_an_answer_without_one_of_the_sites(
    sites: Sites, database: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A site that is gone is named and nothing answered; one that comes back answers from what it kept."""
    sites.running["C"].kill()
    assert sites.query(database, "--where", "age = 27") != 0
    assert "C: " in capsys.readouterr().err
    sites.nothing_kept("A")
    sites.running["C"] = Process(sites.houses["C"]).ready()
    assert sites.query(database, "--where", "age = 27") == 0
    assert len(capsys.readouterr().out.splitlines()) == 4


def test_two_who_ask_at_once_a_memory_that_is_lost_and_one_that_is_forged(
    sites: Sites, capsys: pytest.CaptureFixture[str]
) -> None:
    path = sites.contract("remembered", purpose="memories")
    sites.run(path)
    heard = {name: sites.part(name, path) / "heard.json" for name in NAMES}

    def restarted(*names: str) -> None:
        for name in names:
            sites.running[name].kill()
            sites.running[name] = Process(sites.houses[name]).ready()

    # At once, of what nobody has asked: both are answered, or are told to ask again, as often as it takes.
    for _ in range(4):
        asking = [
            subprocess.Popen(
                [sys.executable, "-m", "privet.cli", "joint", "query", str(path),
                 "--node", str(sites.folder / at)],
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )
            for at in ("A", "B")
        ]  # fmt: skip
        for one in asking:
            out, said = one.communicate(timeout=SECONDS)
            assert len(out.splitlines()) == 13 if one.returncode == 0 else "ask again" in said, said
    assert sites.query(path) == 0
    want = sorted(capsys.readouterr().out.splitlines())
    assert len(want) == 13
    # Lost: told again by the others, who have its seal.
    kept = json.loads(heard["B"].read_text())
    heard["B"].unlink()
    restarted("B")
    assert sites.query(path) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == want
    assert json.loads(heard["B"].read_text())["rows"] == kept["rows"]
    # Forged: rows that fit, without seals. Its owner notices, and nobody who has forgotten hears of it.
    false = json.loads(heard["A"].read_text()) | {"seals": {}}
    for place in heard.values():
        place.unlink()
    heard["A"].write_text(json.dumps(false))
    restarted(*NAMES)
    for name, told in (
        ("A", "A: what was answered before (heard.json) is damaged"),
        ("B", "A: could not answer"),
    ):
        assert sites.query(path, node=name) != 0
        assert told in " ".join(capsys.readouterr().err.split())
    assert not any(place.exists() for place in (heard["B"], heard["C"]))


def test_a_question_that_fails_at_one_site_is_said_by_whom_at_the_others_and_to_who_asked(
    sites: Sites, capsys: pytest.CaptureFixture[str]
) -> None:
    path = sites.contract("failing", purpose="failures")
    sites.run(path)
    apart = sites.part("C", path)
    rows = (apart / "rows.json").read_bytes()
    strange = json.loads(rows)
    strange["leaf"] = [9999 for _ in strange["leaf"]]

    def asked() -> dict[str, str]:
        """By site, and of the researcher, how it failed; nothing is left of it."""
        capsys.readouterr()
        before = {name: len(runs(house)) for name, house in sites.houses.items()}
        began = time.monotonic()
        assert sites.query(path, "--where", "age = 27", "--at", "A", node="uni") != 0
        assert time.monotonic() - began < sites.houses["A"].patience
        said = {"uni": " ".join(capsys.readouterr().err.split())}
        for name in ("A", "B"):
            found = over(sites.houses[name], before[name] + 1)
            assert (found["kind"], found["state"]) == ("query", "failed")
            said[name] = found["why"]
            assert "publish" not in found["why"], "of a question nothing ever is"
        sites.nothing_kept("A")
        return said

    gone = "C: its part of the virtual database is gone or damaged, and its own log says so"
    for damaged in (rows[:20], json.dumps(strange).encode()):
        (apart / "rows.json").write_bytes(damaged)
        said = asked()
        assert gone in said["uni"]
        assert gone in said["A"]
        assert said["B"] == "A: could not answer and names C; the question failed; ask again, or its steward"
        sites.running["C"].says("this site's part of the virtual database is gone or damaged")
    (apart / "rows.json").unlink()
    assert gone in asked()["uni"]
    (apart / "rows.json").write_bytes(rows)
    (apart / "heard.json").mkdir()  # it can be neither read nor written
    said = asked()
    assert "C: could not answer; the question failed; ask again, or its steward" in said["uni"]
    assert said["A"] == "C: could not answer; the question failed; ask again, or its steward"
    assert said["B"] in {
        said["A"],
        "A: could not answer and names C; the question failed; ask again, or its steward",
    }
    (apart / "heard.json").rmdir()
    assert sites.query(path, "--where", "age = 27", "--at", "A", node="uni") == 0
    (apart / "rows.json").unlink()
    assert sites.query(path, "--where", "age = 27", "--at", "C", node="uni") != 0
    assert "C: this site's part of the virtual database is gone" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(("kind", "number"), [("any", "20"), ("signature", "0")])
def test_a_site_killed_while_the_database_is_made_leaves_nothing_and_the_next_run_works(
    kind: str, number: str, sites: Sites
) -> None:
    path = sites.contract(f"killed-{kind}", k=3)
    before = {name: len(runs(sites.houses[name])) for name in "AB"}
    sites.running["C"].kill()
    dies = sites.running["C"] = Process(sites.houses["C"], dying.__file__, kind, number).ready()
    for name in NAMES[::-1]:
        assert start(sites.houses[name], path, sites.data[name])[0] == 200
    ended = {name: over(sites.houses[name], before[name] + 1) for name in "AB"}
    assert dies.running.wait(timeout=60) == -9
    sites.running["C"] = Process(sites.houses["C"]).ready()
    sessions = {one["session"] for one in ended.values()}
    assert {one["state"] for one in ended.values()} == {"failed"}, ended
    for house in sites.houses.values():
        left = [path.name for path in house.releases.iterdir()]
        assert not [name for name in left for session in sessions if session in name]
    assert {one["state"] for one in sites.run(path).values()} == {"done"}


def test_what_cannot_be_kept_is_said_at_all_sites_and_leaves_nothing(sites: Sites) -> None:
    before = {name: sorted(house.releases.iterdir()) for name, house in sites.houses.items()}
    found = sites.run(sites.contract("unsatisfiable", k=13))
    for name, one in found.items():
        assert one["state"] == "failed"
        assert "fewer than k" in one["why"] or "ended the run" in one["why"]
        assert sorted(sites.houses[name].releases.iterdir()) == before[name]


def baskets(folder: Path, persons: dict[str, list[str]]) -> dict[str, str]:
    found = {}
    for name, some in persons.items():
        path = folder / f"baskets-{name}.csv"
        rows = [f"{person},{item}" for person in some for item in BASKETS[person].split()]
        path.write_text("\n".join(["id,item", *rows]) + "\n")
        found[name] = str(path)
    return found


def test_three_nodes_mine_together(sites: Sites, capsys: pytest.CaptureFixture[str]) -> None:
    """Spec 09, 19: the itemsets of all baskets in one place, at every node, signed by all."""
    people = sorted(BASKETS)
    data = baskets(sites.folder, {name: people[at::3] for at, name in enumerate(NAMES)})
    said = {**DOCUMENT, "parties": list(NAMES)}
    path = contract_of(sites.folder / "mining", sites.houses, of=lambda **more: {**said, **more})
    found = sites.run(path, data)
    assert {one["state"] for one in found.values()} == {"done"}, found
    texts = {(sites.houses[n].releases / f["release"] / "itemsets.csv").read_text() for n, f in found.items()}
    assert len(texts) == 1
    assert texts == {as_csv(expected(people, Fraction(1, 3)))}
    out = sites.folder / "itemsets"
    assert main(["joint", "fetch", str(path), "-o", str(out), "--node", str(sites.folder / "A")]) == 0
    assert main(["joint", "verify", str(out), str(path)]) == 0
    assert "signed by A, B, C" in capsys.readouterr().out


def test_two_nodes_mine_items_of_the_same_persons(sites: Sites) -> None:
    """Spec 09, 20."""
    people = sorted(BASKETS)
    two = {name: sites.houses[name] for name in "AB"}
    owners = {"A": ["bread", "CANARY"], "B": ["milk", "tea"]}
    data = {}
    for name in two:
        rows = [f"{p},{item}" for p in people for item in BASKETS[p].split() if item in owners[name]]
        path = sites.folder / f"columns-{name}.csv"
        path.write_text("\n".join(["id,item", *rows]) + "\n")
        data[name] = str(path)
    said = {**DOCUMENT, "parties": ["A", "B"], "split": "columns", "owners": owners, "support": "1/4"}
    path = contract_of(sites.folder / "crossed", two, of=lambda **more: {**said, **more})
    before = {name: len(runs(house)) for name, house in two.items()}
    for name, house in two.items():
        assert start(house, path, data[name])[0] == 200
    found = {name: over(house, before[name] + 1) for name, house in two.items()}
    assert {one["state"] for one in found.values()} == {"done"}, found
    texts = [(two[n].releases / f["release"] / "itemsets.csv").read_text() for n, f in found.items()]
    assert texts[0] == texts[1]
    both = [p for p in people if all(set(some) & set(BASKETS[p].split()) for some in owners.values())]
    assert texts[0] == as_csv(expected(both, Fraction(1, 4)))


def test_a_run_with_a_contract_of_another_kind_is_refused(sites: Sites, database: Path) -> None:
    text = database.read_text()
    other = sites.folder / "other.toml"
    other.write_text(text.replace("database = 1", "mining = 1"))
    status, said = start(sites.houses["A"], other, sites.data["A"])
    assert status == 422
    assert any("support: a quoted fraction" in complaint for complaint in said["complaints"])
