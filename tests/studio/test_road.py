"""From a file to a verified release by forms alone; the saved policy gives the same bytes."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import sqlite3
import zipfile
from collections import Counter
from pathlib import Path

import pytest
from tests.studio.house import House, open_house

from privet.cli import main
from privet.errors import InputError
from privet.policy.values import Policy
from privet.roads import publish
from privet.studio import nodes
from privet.studio.jobs import State
from privet.studio.project import Project

PLACES, ILLS = ("Bonn", "Berlin", "Paris", "Lyon"), ("flu", "cold", "gout")
PEOPLE = "name;age;city;income;disease\n" + "".join(
    f"P{n};{20 + n % 31};{PLACES[n % 4]};{1000 + 37 * n % 900},5;{ILLS[n % 3]}\n" for n in range(240)
)
CITIES = "Bonn;Germany;*\nBerlin;Germany;*\nParis;France;*\nLyon;France;*\n"


@pytest.fixture
def house(tmp_path: Path) -> House:
    path = tmp_path / "leute.csv"
    path.write_text(PEOPLE, encoding="utf-8")
    found = open_house(path)
    assert found.get("/").headers["location"].endswith("/columns")
    return found


def decided(house: House) -> None:
    roles = {
        "name": "identifier",
        "age": "quasi",
        "city": "quasi",
        "income": "identifier",
        "disease": "sensitive",
    }
    for column, role in roles.items():
        house.done("/columns/role", {"column": column, "role": role})
    house.done("/hierarchy/import", {"column": "city", "rows": CITIES})
    house.done("/promise/add", {"type": "k-anonymity", "k": "4"})


@pytest.mark.usefixtures("as_typed")
def test_from_a_file_to_a_verified_release(house: House, tmp_path: Path) -> None:
    decided(house)
    assert not house.project.complaints()
    job = house.ran("/publish/start")
    assert job.state is State.DONE, job.complaints
    folder = house.project.release("release-1")
    with (folder / "data.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = list(csv.reader(file, delimiter=";"))
    assert header == ["age", "city", "disease"]
    assert len(rows) == 240
    assert min(Counter((age, city) for age, city, _ in rows).values()) >= 4  # counted by nobody of ours
    assert {city for _, city, _ in rows} <= {"Bonn", "Berlin", "Paris", "Lyon", "Germany", "France", "*"}
    verified = house.ran("/release/ask", {"name": "release-1", "what": "verify"})
    assert verified.answer["holds"] is True
    assert "all hold" in house.page(f"/job?n={verified.number}")
    # The command that the page shows, and the policy that it saved.
    again = tmp_path / "again"
    assert main(["publish", house.project.given, str(house.project.policy_file), "-o", str(again)]) == 0
    assert (again / "data.csv").read_bytes() == (folder / "data.csv").read_bytes()
    assert (again / "policy.toml").read_bytes() == (folder / "policy.toml").read_bytes()
    packed = zipfile.ZipFile(io.BytesIO(house.get("/release/zip?name=release-1").content))
    assert sorted(packed.namelist()) == sorted(f"release-1/{path.name}" for path in folder.iterdir())
    assert packed.read("release-1/data.csv") == (folder / "data.csv").read_bytes()
    report = house.get("/release/report?name=release-1")
    assert "sandbox" in report.headers["content-security-policy"]
    assert "Privacy report" in report.text
    beside = house.post("/release/beside", {"name": "release-1", "search": "bonn"}).text
    assert "20 of 60 records that match, of 240" in beside


def test_two_releases_and_what_differs(house: House) -> None:
    decided(house)
    for k in ("4", "20"):
        house.done("/promise/add", {"type": "k-anonymity", "k": k})
        assert len(house.project.document()["models"]) == 1
        publish(house.project.given, house.project.policy()).write(house.project.next_release())
    assert "release-2" in house.page("/releases")
    assert "models[0].k" in house.page("/diff?old=release-1&new=release-2")
    assert "at least 20 matching records" in house.page("/release?name=release-2")


def test_closing_the_browser_loses_nothing(house: House) -> None:
    decided(house)
    later = open_house(None, house.project.folder)
    assert later.project.source == house.project.source
    assert later.project.text() == house.project.text()
    assert later.get("/").headers["location"].endswith("/columns")
    assert Policy.load(house.project.policy_file) == house.project.policy()


def test_the_folder_is_the_policy_and_its_files(house: House) -> None:
    decided(house)
    found = sorted(str(path.relative_to(house.project.folder)) for path in house.project.folder.rglob("*"))
    assert found == ["hierarchies", "hierarchies/city.csv", "policy.toml", "studio.toml"]


def test_numbers_beside_a_promise_are_those_of_check(house: House) -> None:
    decided(house)
    told = house.post("/promise/live", {"type": "k-anonymity", "k": "5"}).json()
    rows = [line.split(";") for line in PEOPLE.splitlines()[1:]]
    sizes = Counter((row[1], row[2]) for row in rows)
    for k, risk in [*told["sizes"]]:
        assert risk == sum(many for many in sizes.values() if many < k), k
    today = sum(many for many in sizes.values() if many < 5)
    assert told["text"] == f"Today {today:,} of 240 records would have to change."


def test_a_policy_that_is_not_one_yet_is_not_published(house: House) -> None:
    found = house.post("/publish/start")
    assert found.status_code == 422
    assert not house.project.releases()
    assert "not complete" in house.page("/publish")
    assert "decide what 5 columns" in house.page("/columns")


def test_what_is_left_to_do_leads_there(tmp_path: Path) -> None:
    """Also what only the data tells: that a name stands several times."""
    path = tmp_path / "visits.csv"
    path.write_text("name,age\n" + "".join(f"P{n % 40},{20 + n % 9}\n" for n in range(120)), encoding="utf-8")
    house = open_house(path)
    house.get("/")
    page = house.page("/publish")
    assert '/columns">decide what 2 columns or fields are' in page
    assert '/promise">promise something' in page
    house.done("/columns/role", {"column": "name", "role": "identifier"})
    house.done("/columns/role", {"column": "age", "role": "quasi"})
    house.done("/promise/add", {"type": "k-anonymity", "k": "2"})
    page = house.page("/publish")
    assert '/columns">say whose the rows are' in page
    assert "Publish as" not in page
    house.done("/columns/rows", {"rows": "person:name"})
    assert "Publish as release-1" in house.page("/publish")


def test_a_promise_that_cannot_be_kept_is_said(house: House) -> None:
    decided(house)
    house.done("/promise/add", {"type": "k-anonymity", "k": "1000"})
    job = house.ran("/publish/start")
    assert job.state is State.REFUSED
    assert not house.project.releases()
    assert "privet refuses" in house.page(f"/job?n={job.number}")


def test_work_can_be_cancelled(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endless = tmp_path / "endless"
    endless.write_text("#!/bin/sh\nexec sleep 3600\n", encoding="utf-8")
    endless.chmod(0o700)
    with monkeypatch.context() as here:
        here.setattr("privet.studio.jobs.sys.executable", str(endless))
        jobs = [house.studio.jobs.start("explore", "explore") for _ in range(2)]
        with pytest.raises(InputError, match="other work is under way"):
            house.studio.jobs.start("explore", "explore")
    assert "is under way" in house.page("/columns")
    assert house.get(f"/job/state?n={jobs[0].number}").json()["running"] is True
    house.done("/job/cancel", {"n": str(jobs[0].number)})
    assert jobs[0].state is State.CANCELLED
    assert "Cancelled" in house.page(f"/job?n={jobs[0].number}")
    assert jobs[1].running
    house.studio.jobs.stop()  # as when the studio closes
    assert jobs[1].process.returncode is not None


def test_a_preset_keeps_what_was_decided(house: House) -> None:
    house.done("/columns/role", {"column": "city", "role": "quasi"})
    house.done("/hierarchy/import", {"column": "city", "rows": CITIES})
    house.done("/promise/preset", {"preset": "statistics-office-5"})
    document = house.project.document()
    assert document["attributes"]["city"]["hierarchy"]["type"] == "csv"
    assert document["attributes"]["name"]["role"] == "identifier"
    assert document["models"][0]["k"] == 5
    assert not house.project.complaints()


def test_what_was_found_with_an_earlier_policy_says_so(house: House) -> None:
    decided(house)
    house.ran("/explore/start", {"search": "top-down"})
    house.ran("/explore/risk")
    page = house.page("/explore")
    assert "What was found" in page
    assert "Found with an earlier policy" not in page
    house.done("/promise/add", {"type": "k-anonymity", "k": "6"})
    assert house.page("/explore").count("Found with an earlier policy") == 2  # the searches, and the risk
    house.done("/promise/add", {"type": "k-anonymity", "k": "4"})
    assert "Found with an earlier policy" not in house.page("/explore")  # it is that one again
    house.done("/hierarchy/begin", {"column": "city"})
    tree = {"column": "city", "what": "merge", "new": "some", "node": ["Bonn", "Paris"]}
    house.ran("/explore/start", {"search": "top-down"})
    text = house.project.text()
    house.done("/hierarchy/tree", tree)
    assert house.project.text() == text  # the policy names the tree, which became another
    assert "Found with an earlier policy" in house.page("/explore")


def test_the_lattice_is_that_of_the_trees_as_they_are(house: House) -> None:
    decided(house)
    house.done("/hierarchy/begin", {"column": "city"})
    before = house.get("/explore/lattice/nodes").json()
    tree = {"column": "city", "what": "merge", "new": "some", "node": ["Bonn", "Paris"]}
    house.done("/hierarchy/tree", tree)
    after = house.get("/explore/lattice/nodes").json()
    assert sum(after["top"]) == sum(before["top"]) + 1


def test_the_lattice_and_a_node_that_is_pinned(house: House) -> None:
    decided(house)
    house.done("/hierarchy/simple", {"column": "age", "kind": "intervals", "width": "5, 10, 20"})
    while "looking at the nodes" in house.page("/explore/lattice"):
        assert "running" in house.get("/explore/lattice/state").json()
    found = house.get("/explore/lattice/nodes").json()
    size = 1
    for top in found["top"]:
        size *= top + 1
    assert len(found["loss"]) == len(found["keeps"]) == size
    top = ",".join(map(str, found["top"]))
    node = house.get(f"/explore/lattice/node?levels={top}").json()
    assert node["holds"]
    assert node["classes"] == 1
    assert node["smallest"] == 240
    finer = house.get(f"/explore/lattice/finer?levels={top}").json()
    for one in finer:  # what one step less buys is what that node is
        at = list(node["levels"]).index(one["name"])
        levels = [level - (axis == at) for axis, level in enumerate(found["top"])]
        there = house.get(f"/explore/lattice/node?levels={','.join(map(str, levels))}").json()
        assert {key: there[key] for key in one if key != "name"} == {
            key: value for key, value in one.items() if key != "name"
        }
    assert len(finer) == len(found["top"])
    for said, top_level in zip(found["levels"], found["top"], strict=True):
        assert len(said) == top_level + 1
    for what in ("node", "finer"):
        assert house.get(f"/explore/lattice/{what}?levels=9,9").status_code == 422
    house.done("/explore/lattice/pin", {"levels": top})
    assert house.project.document()["algorithm"]["levels"] == node["levels"]
    job = house.ran("/publish/start")
    assert job.state is State.DONE, job.complaints
    data = (house.project.release("release-1") / "data.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert {line.rpartition(";")[0] for line in data} == {"*;*"}


def test_a_lattice_of_which_enough_is_known_is_not_waited_for(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = nodes.explored

    def slow(source: str, policy: Policy, walk: nodes.Walk) -> nodes.Explored:
        walk.size, walk.settled = 12, 5
        assert walk.stop.wait(60)
        return whole(source, policy, walk)

    monkeypatch.setattr(nodes, "explored", slow)
    decided(house)
    page = house.page("/explore/lattice")
    assert "looking at the nodes" in page
    assert "Show what is known by now" in page
    told = house.get("/explore/lattice/state").json()
    assert told == {
        "running": True,
        "said": "looking at the nodes: 5 of 12 are settled",
        "done": 5,
        "of": 12,
    }
    assert house.done("/explore/lattice/stop") == "/explore/lattice"
    while "looking at the nodes" in (page := house.page("/explore/lattice")):
        pass
    assert "nobody has looked yet" in page


def test_searches_side_by_side_and_one_that_is_taken(house: House) -> None:
    decided(house)
    job = house.ran("/explore/start", {"search": "mondrian", "k": "3"})
    assert job.state is State.DONE, job.complaints
    assert "Risk against loss" in house.page("/explore")
    found = house.ran("/explore/risk")
    assert found.state is State.DONE, found.complaints
    assert "What three attackers find" in house.page("/explore")
    name = job.answer["frontier"][0]
    house.done("/explore/take", {"run": name})
    document = house.project.document()
    assert document["algorithm"]["type"] == "mondrian"
    assert document["models"][0]["k"] == 3


NOISY = """policy = 1
[form]
delimiter = ";"
[attributes]
city.role = "quasi"
city.hierarchy.type = "tree"
city.hierarchy.tree.ANY = ["Bonn", "Berlin", "Paris", "Lyon"]
age = { role = "quasi", hierarchy = { type = "intervals", low = 0, high = 120 } }
disease = { role = "target", values = ["flu", "cold", "gout"] }
[[models]]
type = "differential-privacy"
epsilon = "1/2"
[algorithm]
type = "diffgen"
h = 2
noise = "exact"
"""


@pytest.mark.slow
def test_a_noisy_table_is_planned_paid_for_and_published(house: House) -> None:
    house.done("/promise/text", {"toml": NOISY, "digest": house.project.digest()})
    assert "What an epsilon buys" in house.page("/explore")
    assert house.done("/explore/plan") == "/explore#plan"
    assert "one curve for each epsilon" in house.page("/explore").lower() or "plot" in house.page("/explore")
    house.done("/publish/ledger", {"dataset": "people", "budget": "3/4"})
    assert house.project.document()["ledger"] == {"file": "ledger.sqlite", "dataset": "people"}
    first = house.ran("/publish/start")
    assert first.state is State.DONE, first.complaints
    assert "What was spent" in house.page("/release?name=release-1")
    second = house.ran("/publish/start")  # another half: more than is left
    assert second.state is State.REFUSED
    assert len(house.project.releases()) == 1


def test_a_noisy_table_is_decided_by_clicks_alone(house: House) -> None:
    """The search that spends comes and goes with the promise; what everybody knows is typed on the pages."""
    house.get("/")
    roles = {"name": "left-out", "income": "left-out", "city": "quasi", "age": "quasi", "disease": "target"}
    for column, role in roles.items():
        house.done("/columns/role", {"column": column, "role": role})
    assert "never published" in house.page("/columns")
    house.done("/promise/add", {"type": "differential-privacy", "epsilon": "1/2"})
    assert house.project.document()["algorithm"] == {"type": "diffgen"}
    assert "the data must not say it" in house.page("/columns")
    house.done("/columns/values", {"column": "disease", "values": "flu\ncold\n\ngout\nflu"})
    house.done("/hierarchy/simple", {"column": "age", "kind": "intervals", "low": "0", "high": "120"})
    rows = "Bonn;*\nBerlin;*\nParis;*\nLyon;*\n"
    house.done("/hierarchy/import", {"column": "city", "rows": rows})
    assert house.project.complaints() == []
    said = house.project.document()["attributes"]
    assert said["disease"]["values"] == ["flu", "cold", "gout"]
    assert "name" not in said
    assert "What an epsilon buys" in house.page("/explore")
    assert "What it is paid from" in house.page("/publish")
    house.done("/promise/drop", {"at": "0", "type": "differential-privacy"})
    assert "algorithm" not in house.project.document()
    house.done("/columns/role", {"column": "name", "role": "identifier"})  # and back
    assert house.project.document()["attributes"]["name"] == {"role": "identifier"}
    assert house.post("/columns/role", {"column": "nobody", "role": "other"}).status_code == 422


def test_fields_of_documents_have_hierarchies(tmp_path: Path) -> None:
    path = tmp_path / "people.json"
    people = [{"id": n, "age": 20 + n % 9, "visits": [{"ill": ILLS[n % 3]}]} for n in range(60)]
    path.write_text(json.dumps(people), encoding="utf-8")
    house = open_house(path)
    house.get("/")
    house.done("/columns/guesses")
    for kind, name, role in (
        ("record", "id", "identifier"),
        ("record", "age", "quasi"),
        ("visit", "ill", "sensitive"),
    ):
        house.done("/columns/field", {"type": kind, "field": name, "role": role})
    house.done("/hierarchy/simple", {"column": "record.age", "kind": "intervals", "width": "3, 9"})
    house.done("/promise/add", {"type": "document-l-diversity", "l": "2"})
    assert house.project.complaints() == []
    assert house.project.document()["documents"]["attributes"]["record.age"]["hierarchy"]["width"] == [3, 9]
    assert "all 9 values" in house.page("/hierarchies")
    assert (
        house.post("/columns/field", {"type": "record", "field": "nobody", "role": "quasi"}).status_code
        == 422
    )
    assert (
        house.post("/columns/field", {"type": "visit", "field": "ill", "role": "target"}).status_code == 422
    )


def test_a_database(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "people.db")) as book:
        book.execute("CREATE TABLE people (age TEXT, city TEXT)")
        rows = [(str(20 + n % 5), PLACES[n % 4]) for n in range(100)]
        book.executemany("INSERT INTO people VALUES (?, ?)", rows)
        book.commit()
    source = f"sqlite:///{tmp_path / 'people.db'}"
    house = House(None, tmp_path / "work")
    house.studio.project = Project.opened(source, tmp_path / "work", "SELECT age, city FROM people")
    house.enter()
    house.get("/")
    for column in ("age", "city"):
        house.done("/columns/role", {"column": column, "role": "quasi"})
    told = house.post("/promise/live", {"type": "k-anonymity", "k": "6"}).json()
    assert told["text"] == "Today 100 of 100 records would have to change."
    assert "a database" in house.page("/columns")
    assert house.project.document()["form"]["query"] == "SELECT age, city FROM people"
    assert not (tmp_path / "work" / "studio.toml").exists()  # an address may hold a password
