"""Strangers at the studio: bombs, names that lead elsewhere, tabs that disagree, ways around."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import io
import json
import re
import shutil
import threading
import time
import zipfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.studio.house import House, open_house, routes
from tests.studio.test_gate import EVIL, TABLE, faults, upload

from privet.errors import InputError
from privet.hierarchy.tree import Branch, Tree
from privet.policy.values import Policy
from privet.roads import publish
from privet.studio import branches, counting, look, received, weight
from privet.studio.addresses import VARIABLE
from privet.studio.jobs import State, spoken
from privet.studio.later import MOMENT
from privet.studio.look import LONGEST_NAME, Look
from privet.studio.project import Project
from privet.verification import verify

POLICY = """policy = 1
[attributes]
name = { role = "identifier" }
age = { role = "quasi", hierarchy = { type = "intervals", width = [5, 10, 30] } }
sex = { role = "quasi" }
disease = { role = "sensitive" }
[[models]]
type = "k-anonymity"
k = 3
"""


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a policy and a release, of which every test has a copy."""
    place = tmp_path_factory.mktemp("published")
    data, project = place / "people.csv", place / "people.studio"
    data.write_text(TABLE, encoding="utf-8")
    project.mkdir()
    (project / "policy.toml").write_text(POLICY, encoding="utf-8")
    publish(data, project / "policy.toml").write(project / "releases" / "release-1")
    return place


@pytest.fixture
def house(tmp_path: Path, published: Path) -> House:
    """The project two folders below a place where nothing may happen."""
    return open_house(shutil.copytree(published, tmp_path / "inner") / "people.csv")


def snapshot(folder: Path, besides: Path | None = None) -> dict[str, str]:
    """Every file with what is in it."""
    return {
        str(path): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and (besides is None or not path.is_relative_to(besides))
    }


LEADING = ("../../evil", "/tmp/evil.csv", "a\0b")
FIELDS = (
    *("path", "name", "column", "field", "type", "role", "anchor", "rows", "search", "what", "old", "new"),
    *("url", "query", "kind", "preset", "dataset", "budget", "purpose", "levels", "run", "node", "under"),
    *("label", "form", "person", "place", "time", "set", "item", "first", "page", "n", "at", "edge"),
)


@pytest.mark.one_in(3)
@pytest.mark.parametrize("bad", LEADING, ids=range(len(LEADING)))
def test_no_field_of_any_form_leads_out_of_the_project(house: House, tmp_path: Path, bad: str) -> None:
    before = snapshot(tmp_path, besides=house.project.folder)
    for path in sorted(routes(house, "POST")):
        if path in {"/publish/start", "/explore/start", "/explore/risk", "/explore/plan"}:
            continue  # these take no name
        found = house.post(path, {**dict.fromkeys(FIELDS, bad), "budget": ""})
        assert found.status_code in {303, 403, 411, 422, 200}, (path, found.text)
        assert "Traceback" not in found.text
        assert "root:" not in found.text
    for path in sorted(routes(house, "GET")):
        query = "&".join(f"{name}={quote(bad)}" for name in ("name", "old", "new", "column", "n"))
        assert house.get(f"{path}?{query}").status_code < 500, path
    assert snapshot(tmp_path, besides=house.project.folder) == before
    assert all(path.is_relative_to(house.project.folder) for path in house.project.releases())
    house.studio.jobs.stop()


def test_read_only_changes_nothing_by_any_address(house: House, tmp_path: Path) -> None:
    """Neither by asking for pages, nor by the forms that are allowed since they only ask."""
    quiet = open_house(Path(house.project.given), read_only=True)
    before = snapshot(tmp_path)
    query = "name=release-1&old=release-1&new=release-1&column=age&n=1&levels=0,0&model=k-anonymity"
    for path in sorted(routes(quiet, "GET")):
        quiet.get(f"{path}?{query}")
    for path in sorted(routes(quiet, "POST")):
        form = {"name": "release-1", "what": "verify", "type": "k-anonymity", "k": "3", "n": "1"}
        allowed = path in quiet.studio.gate.asking
        assert (quiet.post(path, form).status_code != 403) == allowed, path
    for job in quiet.studio.jobs:
        assert job.finished.wait(120)
    assert upload(quiet, "evil.csv", TABLE.encode()).status_code == 403
    assert snapshot(tmp_path) == before


def test_a_socket_of_the_web_is_closed(house: House) -> None:
    said: list[Mapping[str, Any]] = []

    async def tell(message: Mapping[str, Any]) -> None:
        said.append(message)

    async def hear() -> Mapping[str, Any]:
        return {"type": "websocket.connect"}

    headers = [(b"host", house.studio.gate.host.encode()), (b"cookie", str(house.cookie).encode())]
    scope = {"type": "websocket", "path": f"{house.studio.gate.path}/columns", "headers": headers}
    asyncio.run(house.app(scope, hear, tell))
    assert [one["type"] for one in said] == ["websocket.close"]


# Hostile files.


def test_a_packed_bomb_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = tmp_path / "bomb.csv.gz"
    bomb.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 3_000_000))
    assert bomb.stat().st_size < 100_000
    monkeypatch.setattr(weight, "memory", lambda: weight.ROOM << 20)
    house = open_house(None, tmp_path / "work")
    found = upload(house, "bomb.csv.gz", bomb.read_bytes())
    assert found.status_code == 422
    assert "too little memory" in found.text
    assert not list((house.project.folder / "data").iterdir())


def test_several_members_of_a_packed_file_count_together(tmp_path: Path) -> None:
    path = tmp_path / "two.gz"
    path.write_bytes(gzip.compress(b"x" * 700) + gzip.compress(b"y" * 700))
    assert weight.unpacked(path, 10_000) == 1400
    with pytest.raises(InputError, match="memory"):
        weight.refuse_too_heavy(path, 1000)
    weight.refuse_too_heavy(path, 1400)


def test_a_book_that_is_a_bomb_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        book.writestr("xl/worksheets/sheet1.xml", b"\0" * 5_000_000)
    assert path.stat().st_size < 100_000
    with pytest.raises(InputError, match="memory"):
        weight.refuse_too_heavy(path, 1_000_000)


def packed(names: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for name, body in names.items():
            file.writestr(name, body)
    return made.getvalue()


def members(house: House) -> dict[str, bytes]:
    found = zipfile.ZipFile(io.BytesIO(house.get("/release/zip?name=release-1").content))
    return {name: found.read(name) for name in found.namelist()}


def test_a_release_that_somebody_sent_is_opened_and_verified(house: House) -> None:
    found = upload(house, "theirs.zip", packed(members(house)))
    assert found.status_code == 200, found.text
    assert "received-theirs" in house.page("/releases")
    job = house.ran("/release/ask", {"name": "received-theirs", "what": "verify"})
    assert job.answer["holds"] is True
    assert not (house.project.folder / "data" / "theirs.zip").exists()


def test_a_forged_release_that_somebody_sent_is_found_out(house: House) -> None:
    forged = {
        name: body.replace(b"flu", b"gou") if name.endswith("data.csv") else body
        for name, body in members(house).items()
    }
    assert upload(house, "theirs.zip", packed(forged)).status_code == 200
    job = house.ran("/release/ask", {"name": "received-theirs", "what": "verify"})
    assert job.answer["holds"] is False
    assert "not what it says" in house.page(f"/job?n={job.number}")


def hostile_zips(whole: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    evidence = whole["release-1/evidence.json"]
    yield "not a zip", b"PK\x03\x04 not really"
    yield "nothing", packed({})
    yield "no evidence", packed({"release-1/data.csv": b"a\n1\n"})
    yield "leads out", packed({"../evidence.json": evidence})
    yield "leads out below", packed({"release-1/../../evidence.json": evidence})
    yield "absolute", packed({"/etc/evidence.json": evidence})
    yield "backslash", packed({"..\\evidence.json": evidence})
    yield "two folders", packed({"a/evidence.json": evidence, "b/data.csv": b""})
    yield "many files", packed({f"a/{n}": b"" for n in range(100)} | {"a/evidence.json": evidence})
    yield "not evidence", packed({"a/evidence.json": b"[1, 2"})
    yield "deep", packed({"a/evidence.json": b"[" * 100_000})
    # A link out of the folder, as zips can hold them.
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        link = zipfile.ZipInfo("a/data.csv")
        link.external_attr = 0o120777 << 16
        file.writestr(link, "/etc/passwd")
    yield "link and no evidence", made.getvalue()


def test_a_hostile_zip_leaves_nothing_behind(house: House, tmp_path: Path) -> None:
    whole = members(house)
    before = snapshot(tmp_path)
    for what, body in hostile_zips(whole):
        found = upload(house, "theirs.zip", body)
        assert found.status_code == 422, what
        assert "Traceback" not in found.text
        assert snapshot(tmp_path) == before, what
    assert not list((house.project.folder / "releases").glob(".incoming*"))


def test_a_zip_that_is_a_bomb_is_not_unpacked(house: House, tmp_path: Path) -> None:
    bomb = packed({**members(house), "release-1/data.csv": b"0" * 3_000_000})
    assert len(bomb) < 200_000
    path = tmp_path / "bomb.zip"
    path.write_bytes(bomb)
    with pytest.raises(InputError, match="unpacks to more than"):
        received.unpacked(path, tmp_path / "out", largest=1_000_000)
    assert not (tmp_path / "out").exists()


def test_markup_in_labels_and_names_of_files_stays_text(house: House) -> None:
    house.done("/hierarchy/begin", {"column": "sex"})
    house.done("/hierarchy/tree", {"column": "sex", "what": "merge", "node": ["M", "F"], "new": EVIL})
    assert EVIL in house.project.folder.joinpath("hierarchies/sex.csv").read_text(encoding="utf-8").replace(
        '""', '"'
    )
    assert upload(house, "%3Cscript%3Ealert(1)%3C%2Fscript%3E.csv", TABLE.encode()).status_code == 303
    house.done("/promise/purpose", {"purpose": EVIL})
    for path in ("/open", "/columns", "/hierarchies", "/publish", "/promise", "/releases"):
        text = house.page(path)
        assert "<script>alert" not in text
        assert not faults(text), path


HOSTILE: Mapping[str, bytes] = {
    "nul.csv": b"a,b\n1,\x002\n",
    "nul-name.csv": b"a\x00,b\n1,2\n",
    "long-name.csv": b"a," + b"b" * (LONGEST_NAME + 1) + b"\n" + b"1,2\n" * 30,
    "huge-name.csv": b"a," + b"b" * 1_000_000 + b"\n1,2\n",
    "empty.csv": b"",
    "binary.csv": bytes(range(256)) * 10,
    "not-gzip.csv.gz": b"a,b\n1,2\n",
    "not-parquet.parquet": b"PAR1 nothing PAR1",
    "not-a-book.xlsx": b"PK\x03\x04",
    "deep.json": b"[" * 50_000,
    "entities.xml": b'<!DOCTYPE a [<!ENTITY x "y"><!ENTITY z "&x;&x;&x;">]><a><b>&z;</b></a>',
    "ragged.csv": b"a,b\n1,2,3\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_refused_in_words(house: House, name: str) -> None:
    before = house.project.source
    found = upload(house, name, HOSTILE[name])
    assert found.status_code == 422, found.text
    assert "Not done" in found.text
    assert house.project.source == before
    assert not list((house.project.folder / "data").iterdir())


def test_numbers_without_measure_do_no_harm(house: House) -> None:
    rows = "".join(f"{n},1e{308 + n},2024-01-{n % 28 + 1:02}\n" for n in range(60))
    big = "a,b,day\n" + rows + "9,1e999999,9999-12-31\n"
    assert upload(house, "big.csv", big.encode()).status_code == 303
    assert "9999-12-31" in house.page("/columns")
    house.done("/columns/role", {"column": "day", "role": "quasi"})
    assert house.get("/hierarchy?column=day").status_code == 200


def test_a_table_of_many_columns_is_shown_in_pages(house: House) -> None:
    head = ",".join(f"c{n}" for n in range(130))
    wide = f"{head}\n" + "".join(",".join(str(n * r % 3) for n in range(130)) + "\n" for r in range(4))
    assert upload(house, "wide.csv", wide.encode()).status_code == 303
    first, second = house.page("/columns"), house.page("/columns?page=2")
    assert "Columns 1 to 100 of 130" in first
    assert "Columns 101 to 130 of 130" in second
    assert 'id="c130"' in second
    assert 'id="c130"' not in first
    where = house.done("/columns/role", {"column": "c129", "role": "other", "page": "2", "anchor": "c130"})
    assert where == "/columns?page=2#c130"


def test_a_file_name_without_end_is_shortened(house: House) -> None:
    assert upload(house, "n" * 3000 + ".csv", TABLE.encode()).status_code == 303
    assert [path.name for path in (house.project.folder / "data").iterdir()] == ["n" * 40 + ".csv"]


# Several tabs, and jobs.


def test_a_promise_is_not_taken_back_in_place_of_another(house: House) -> None:
    house.done("/promise/add", {"type": "distinct-l-diversity", "l": "2", "sensitive": "disease"})
    stale = {"at": "0", "type": "k-anonymity"}
    house.done("/promise/drop", stale)
    found = house.post("/promise/drop", stale)  # a second tab, which still shows the first promise
    assert found.status_code == 422
    assert [one["type"] for one in house.project.document()["models"]] == ["distinct-l-diversity"]


def test_two_tabs_edit_one_tree(house: House) -> None:
    house.done("/hierarchy/import", {"column": "sex", "rows": "M;A;*\nF;B;*\n"})
    house.done("/hierarchy/tree", {"column": "sex", "what": "rename", "node": "A", "new": "men"})
    found = house.post("/hierarchy/tree", {"column": "sex", "what": "rename", "node": "A", "new": "x"})
    assert found.status_code == 422  # the other tab's node is not there any more
    house.done("/hierarchy/tree", {"column": "sex", "what": "rename", "node": "B", "new": "women"})
    text = (house.project.folder / "hierarchies" / "sex.csv").read_text(encoding="utf-8")
    assert text == "M;men;*\nF;women;*\n"


def test_two_tabs_that_edit_one_tree_at_once(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each reads the tree while the other one has read it, too, if it may: both edits stay."""
    house.done("/hierarchy/import", {"column": "sex", "rows": "M;A;*\nF;B;*\n"})
    both, drawn = threading.Barrier(2), branches.renamed

    def renamed(root: Branch, old: str, new: str) -> Branch:
        with suppress(threading.BrokenBarrierError):
            both.wait(0.5)
        return drawn(root, old, new)

    monkeypatch.setattr(branches, "renamed", renamed)
    forms = [{"column": "sex", "what": "rename", "node": old, "new": new} for old, new in ("Ax", "By")]
    with ThreadPoolExecutor(2) as tabs:
        found = list(tabs.map(lambda form: house.post("/hierarchy/tree", form), forms))
    assert [one.status_code for one in found] == [303, 303]
    text = (house.project.folder / "hierarchies" / "sex.csv").read_text(encoding="utf-8")
    assert text == "M;x;*\nF;y;*\n"


@pytest.mark.parametrize(
    "said",
    [
        '[attributes.sex]\nrole = "quasi"\nhierarchy = { type = "csv", path = "t.csv" }\n',
        '[documents.attributes."record.city"]\nhierarchy = { type = "csv", path = "t.csv" }\n',
        '[transactions]\nhierarchy = { type = "csv", path = "t.csv" }\n',
    ],
)
def test_a_tree_that_changed_is_not_what_a_page_has_shown(tmp_path: Path, said: str) -> None:
    """Of columns, of fields of documents, and of the items of sets: neither to publish nor for coverage."""
    (tmp_path / "policy.toml").write_text(said, encoding="utf-8")
    project, tree = Project(tmp_path), tmp_path / "t.csv"
    tree.write_text("a;x;*\nb;x;*\n", encoding="utf-8")
    shown = project.standing()
    assert shown == project.standing()
    tree.write_text("a;*\nb;*\n", encoding="utf-8")
    assert shown != project.standing()


def test_a_comma_in_the_name_of_the_root_harms_no_tree(house: House) -> None:
    house.done("/hierarchy/import", {"column": "sex", "rows": "M;A;*\nF;B;*\n"})
    house.done("/hierarchy/tree", {"column": "sex", "what": "rename", "node": "*", "new": "People, all"})
    found = Tree.from_csv(house.project.folder / "hierarchies" / "sex.csv").root
    assert [node.label for node in found.walk()] == ["People, all", "A", "M", "B", "F"]


def test_a_tree_that_is_brought_keeps_its_levels(house: House) -> None:
    """Labels on several levels, as ARX writes them; also through an edit, and where rows cannot say it."""
    rows, sex = "M;A;forest;*\nF;B;B;*\n", {"column": "sex"}
    house.done("/hierarchy/import", {**sex, "rows": rows})
    assert house.get("/hierarchy/csv?column=sex").text == rows
    house.done("/hierarchy/tree", {**sex, "what": "rename", "node": "B", "new": "home"})
    assert house.get("/hierarchy/csv?column=sex").text == "M;A;forest;*\nF;home;home;*\n"
    house.done("/hierarchy/tree", {**sex, "what": "split", "node": "A"})
    spec = house.project.document()["attributes"]["sex"]["hierarchy"]
    assert spec == {"type": "tree", "path": "hierarchies/sex.csv", "repeat": {"home": 2}}


def test_an_edit_of_a_tree_in_the_policy_keeps_all_that_it_says(house: House) -> None:
    tree = 'tree = { "*" = { A = ["M"], B = ["F"] } }, null = true, repeat = { B = 2 }'
    house.project.policy_file.write_text(
        POLICY.replace(
            'sex = { role = "quasi" }', f'sex = {{ role = "quasi", hierarchy = {{ type = "tree", {tree} }} }}'
        ),
        encoding="utf-8",
    )
    house.done("/hierarchy/tree", {"column": "sex", "what": "rename", "node": "B", "new": "b"})
    spec = house.project.document()["attributes"]["sex"]["hierarchy"]
    assert spec == {"type": "tree", "path": "hierarchies/sex.csv", "null": True, "repeat": {"b": 2}}


def test_a_file_that_two_columns_name_changes_for_the_edited_one_only(house: House) -> None:
    house.done("/hierarchy/import", {"column": "sex", "rows": "M;A;*\nF;B;*\n"})
    same = {"type": "csv", "path": "hierarchies/sex.csv"}
    house.project.edit(lambda document: document["attributes"]["age"].update(hierarchy=same))
    for new in "xy":
        house.done("/hierarchy/tree", {"column": "sex", "what": "merge", "node": ["A", "B"], "new": new})
        house.done("/hierarchy/tree", {"column": "sex", "what": "split", "node": new})
    house.done("/hierarchy/tree", {"column": "sex", "what": "rename", "node": "A", "new": "men"})
    assert house.get("/hierarchy/csv?column=age").text == "M;A;*\nF;B;*\n"
    assert house.get("/hierarchy/csv?column=sex").text == "M;men;*\nF;B;*\n"
    assert len(list((house.project.folder / "hierarchies").iterdir())) == 2


def test_a_column_whose_name_has_two_lines_is_decided_about(tmp_path: Path) -> None:
    """As spreadsheets make them; a browser sends the end of a line in a form as two letters."""
    data = tmp_path / "d.csv"
    data.write_text('"Age\n(years)",sex\n' + "30,F\n40,M\n" * 5, encoding="utf-8")
    house = open_house(data)
    house.get("/")
    house.done("/columns/role", {"column": "Age\r\n(years)", "role": "quasi"})
    assert house.project.document()["attributes"]["Age\n(years)"]["role"] == "quasi"


def test_a_tree_comes_back_with_the_role(house: House) -> None:
    house.done("/hierarchy/import", {"column": "sex", "rows": "M;A;*\nF;B;*\n"})
    drawn = house.project.document()["attributes"]["sex"]
    for role in ("other", "left-out", "sensitive", "quasi"):
        house.done("/columns/role", {"column": "sex", "role": role})
    assert house.project.document()["attributes"]["sex"] == drawn


def test_two_tabs_that_publish_at_once(house: House) -> None:
    """The same twice is one release; another policy meanwhile is another, in a folder of its own."""
    with ThreadPoolExecutor(4) as tabs:
        found = list(tabs.map(lambda _: house.post("/publish/start"), range(4)))
    assert {one.status_code for one in found} == {303}
    assert len({one.headers["location"] for one in found}) == 1
    house.done("/promise/purpose", {"purpose": "another"})
    second = house.ran("/publish/start")
    first = house.studio.jobs.find(int(found[0].headers["location"].rpartition("=")[2]))
    assert first is not None
    assert first.finished.wait(120)
    assert (first.state, second.state) == (State.DONE, State.DONE)
    places = [Path(str(job.answer["folder"])) for job in (first, second)]
    assert len({place.name for place in places}) == 2
    assert all(verify(place).holds for place in places)
    assert [Policy.load(place / "policy.toml").purpose for place in places] == ["", "another"]


def test_a_stale_page_does_not_publish_what_it_does_not_show(house: House) -> None:
    shown = re.search(r'name="digest" value="([0-9a-f]+)"', house.page("/publish"))
    assert shown
    house.done("/promise/add", {"type": "k-anonymity", "k": "2"})  # in another tab
    found = house.post("/publish/start", {"digest": shown[1]})
    assert found.status_code == 422
    assert "changed since this page was made" in found.text
    assert len(house.project.releases()) == 1


def test_a_stale_tab_does_not_publish_along_a_tree_that_it_did_not_show(house: House) -> None:
    project = house.project
    tree = project.folder / "tree.csv"
    tree.write_text("a;*\n")
    project.policy_file.write_text('[attributes.q]\nhierarchy = { type = "csv", path = "tree.csv" }\n')
    shown = project.standing()
    tree.write_text("a;b;*\n")
    with pytest.raises(InputError, match="a hierarchy or the data was changed since this page was made"):
        project.taken_as_shown(shown, lambda: pytest.fail("begun"))


@pytest.mark.usefixtures("as_typed")
def test_a_publication_that_is_cancelled_leaves_nothing(house: House) -> None:
    before = snapshot(house.project.folder)
    where = house.done("/publish/start")
    house.done("/job/cancel", {"n": where.rpartition("=")[2]})
    job = house.studio.jobs.find(int(where.rpartition("=")[2]))
    assert job is not None
    assert job.finished.wait(60)
    if job.state is State.CANCELLED:  # else it was quicker
        kept = {path: said for path, said in snapshot(house.project.folder).items() if "/." not in path}
        assert kept == before
    again = house.ran("/publish/start")
    assert again.state is State.DONE, again.complaints


def test_work_goes_on_when_the_browser_is_closed(house: House) -> None:
    where = house.done("/publish/start")
    job = house.studio.jobs.find(int(where.rpartition("=")[2]))
    assert job is not None
    assert job.finished.wait(120)  # nobody asks any more
    later = open_house(None, house.project.folder)
    assert "release-2" in later.page("/releases")


def test_a_password_is_neither_shown_nor_among_the_words_of_a_command(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every user of a machine sees the words of every command that runs on it."""
    seen = tmp_path / "seen"
    told = tmp_path / "told"
    told.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" > {seen}\nprintf %s "${VARIABLE}" >> {seen}.env\necho "{{}}"\n',
        encoding="utf-8",
    )
    told.chmod(0o700)
    address = "postgresql://me:CANARY%21@db.example/x?sslmode=require"
    monkeypatch.setattr("privet.studio.jobs.sys.executable", str(told))
    job = house.studio.jobs.start("publish", "publish", address, "policy.toml")
    assert job.finished.wait(60)
    assert "CANARY" not in seen.read_text(encoding="utf-8")
    assert "postgresql://me@db.example/x?sslmode=require" in seen.read_text(encoding="utf-8")
    assert (tmp_path / "seen.env").read_text(encoding="utf-8") == "CANARY!"
    house.studio.project.source = address
    for path in ("/open", "/publish", f"/job?n={job.number}"):
        assert "CANARY" not in house.raw("GET", house.studio.gate.path + path, headers=house.headers({})).text
    assert "CANARY" not in spoken(job.command)


def test_an_address_of_a_database_is_written_nowhere(house: House, tmp_path: Path) -> None:
    bad = house.opened(
        "/open/database", {"url": "sqlite:////nowhere/CANARY.db", "query": "SELECT 1", "kind": ""}
    )
    assert bad.status_code == 422
    assert house.post("/open/database", {"url": "/etc/passwd", "query": "SELECT 1"}).status_code == 422
    assert house.post("/open/database", {"url": "http://evil.example/", "query": "x"}).status_code == 422
    for path in house.project.folder.rglob("*"):
        assert not path.is_file() or b"CANARY" not in path.read_bytes()


def test_a_database_is_not_made_or_changed(house: House, tmp_path: Path) -> None:
    import sqlite3

    place = tmp_path / "clinic.db"
    with sqlite3.connect(place) as book:
        book.execute("CREATE TABLE t (age TEXT)")
        book.executemany("INSERT INTO t VALUES (?)", [(str(20 + n % 9),) for n in range(90)])
    book.close()
    before = place.read_bytes()
    for query in ("DELETE FROM t", "DROP TABLE t", "INSERT INTO t VALUES ('1')"):
        found = house.opened("/open/database", {"url": f"sqlite:///{place}", "query": query})
        assert found.status_code == 422, query
    missing = tmp_path / "fresh.db"
    assert (
        house.opened("/open/database", {"url": f"sqlite:///{missing}", "query": "SELECT 1"}).status_code
        == 422
    )
    assert not missing.exists()
    assert place.read_bytes() == before
    taken = house.opened("/open/database", {"url": f"sqlite:///{place}", "query": "SELECT * FROM t"})
    assert taken.status_code == 303
    assert "a database" in house.page("/columns")
    assert house.project.document()["form"]["query"] == "SELECT * FROM t"


def test_another_project_is_not_reached_through_a_link(house: House, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    other.write_text(TABLE, encoding="utf-8")
    (house.project.folder / "data").mkdir(exist_ok=True)
    (house.project.folder / "data" / "link.csv").symlink_to(other)
    assert house.post("/open/path", {"path": "data/link.csv"}).status_code == 422


def test_a_note_that_leads_elsewhere_is_a_file_or_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    for said in ("../gone.csv", "\\u0000", "/dev/zero", "."):
        (folder / "studio.toml").write_text(f"source = {json.dumps(said)}\n", encoding="utf-8")
        assert Project.opened(None, folder).source is None


@pytest.mark.parametrize("name", ["policy.toml", "hierarchies/sex.csv"])
def test_nothing_is_written_through_a_link_that_leads_out(house: House, tmp_path: Path, name: str) -> None:
    """A folder that somebody sent may hold links to the steward's own files."""
    house.done("/hierarchy/begin", {"column": "sex"})
    place, outside = house.project.folder / name, tmp_path / "precious"
    outside.write_bytes(place.read_bytes())
    place.unlink()
    place.symlink_to(outside)
    before = outside.read_bytes()
    form = {"column": "sex", "what": "merge", "node": ["F", "M"], "new": "A"}
    path = "/hierarchy/tree" if name.startswith("h") else "/promise/purpose"
    found = house.post(path, form | {"purpose": "x"})
    assert found.status_code == 422
    assert "leads out of the project" in found.text
    assert outside.read_bytes() == before


@pytest.mark.parametrize("name", ["data", "releases"])
def test_no_folder_of_the_project_is_a_link_that_leads_out(house: House, tmp_path: Path, name: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    place = house.project.folder / name
    if place.exists():
        place.rename(place.with_name("moved"))
    place.symlink_to(outside)
    with pytest.raises(InputError, match="leads out of the project"):
        house.project.room_for(name, "people.csv") if name == "data" else house.project.next_release()
    assert not list(outside.iterdir())


def test_a_column_that_was_left_out_stays_out_with_a_preset(house: House) -> None:
    house.done("/columns/guesses")
    there = house.project.document()["attributes"]
    name = next(name for name, said in there.items() if said["role"] in {"quasi", "sensitive"})
    house.done("/columns/role", {"column": name, "role": "left-out"})
    assert name not in house.project.document()["attributes"]
    for preset in ("statistics-office-3", "ema-0070", "lkc-research", "hipaa-safe-harbor"):
        house.done("/promise/preset", {"preset": preset})
        assert name not in house.project.document()["attributes"], preset
        assert name not in str(house.project.document()["models"]), preset


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "typed",
    [
        *("attributes = 3", "attributes = {a = 3}", "attributes = {a = {hierarchy = 'x'}}", "form = 3"),
        *("models = 'x'", "models = [3]", "algorithm = 'x'", "documents = 3", "documents = {types = 3}"),
        *("rows = [1]", "trajectories = 3", "transactions = 3", "kind = 3", "documents = {types = {a = 1}}"),
    ],
)
def test_a_policy_of_another_shape_is_neither_saved_nor_a_fault(house: House, typed: str) -> None:
    before = house.project.text()
    form = {"toml": f"policy = 1\n{typed}\n", "digest": house.project.digest()}
    assert house.post("/promise/text", form).status_code == 422
    assert house.project.text() == before
    house.project.policy_file.write_text(form["toml"], encoding="utf-8")
    for page in ("/columns", "/hierarchies", "/promise", "/publish", "/explore", "/open", "/releases"):
        assert house.get(page).status_code in {200, 303, 422}, page


def test_nothing_is_edited_that_was_never_drafted(house: House) -> None:
    house.project.policy_file.unlink()
    found = house.post("/columns/role", {"column": "sex", "role": "quasi"})
    assert found.status_code == 422
    assert "begin at the first page" in found.text
    assert not house.project.policy_file.exists()


@pytest.mark.parametrize("name", ["policy.toml", "studio.toml"])
def test_a_device_in_place_of_a_file_is_not_read(house: House, name: str) -> None:
    place = house.project.folder / name
    place.unlink(missing_ok=True)
    place.symlink_to("/dev/zero")
    assert Project.opened(None, house.project.folder).source is None or name == "policy.toml"
    assert house.get("/releases").status_code in {200, 422}
    assert house.get("/publish").status_code in {200, 422}


ENDLESS = {"letters": "a" * 5000, "digits": "9" * 5000, "raised": "²", "nul": "a\0b"}


@pytest.mark.parametrize("bad", ENDLESS)
def test_no_word_is_a_fault(house: House, bad: str) -> None:
    """Names that no file has, digits that no number has, and letters that no command line takes."""
    word, before = ENDLESS[bad], house.project.text()
    for path, form in (
        ("/open/path", {"path": word}),
        ("/hierarchy/simple", {"column": "age", "kind": "prefix", "keep": f"1, {word.replace('a', '9')}"}),
        ("/publish/ledger", {"dataset": f"x\0{word}", "budget": "1"}),
        ("/publish/ledger", {"dataset": word * 40, "budget": "1"}),
        ("/explore/start", {"k": word}),
        ("/explore/lattice/pin", {"levels": f"0,{word}"}),
        ("/promise/drop", {"at": word, "type": "k-anonymity"}),
    ):
        assert house.post(path, form).status_code in {303, 422}, path
    assert house.get(f"/explore/lattice/node?levels=0,{quote(word)}").status_code == 422
    assert house.project.document()["models"]
    assert "9999" not in house.project.text().replace(before, "")
    house.studio.jobs.stop()


def test_a_grid_of_endless_digits_is_a_complaint(tmp_path: Path) -> None:
    house = open_house(None, tmp_path / "work")
    house.project.begin("x.csv", 'policy = 1\nkind = "trajectories"\n')
    house.done("/columns/paths", {"form": "points", "grid": "9" * 5000})
    assert house.get("/promise").status_code == 200
    assert any("grid" in said for said in house.project.complaints())


def test_a_tree_that_is_refused_leaves_no_file(house: House) -> None:
    rows = {"column": "disease", "rows": "flu;lungs;*\ngout;feet;*\n"}
    found = house.post("/hierarchy/import", rows)  # it is sensitive, so it is never generalised
    assert found.status_code == 422
    assert "only a quasi-identifier" in found.text
    assert house.post("/hierarchy/import", {**rows, "column": "nobody"}).status_code == 422
    assert not (house.project.folder / "hierarchies").exists()


def test_a_received_zip_holds_nothing_that_its_evidence_does_not_name(house: House) -> None:
    before = house.project.releases()
    found = upload(house, "theirs.zip", packed({**members(house), "release-1/notes.exe": b"run me"}))
    assert found.status_code == 422
    assert "1 of its files are not named in its evidence, first notes.exe" in found.text
    assert house.project.releases() == before
    assert not list((house.project.folder / "data").iterdir())


def test_a_promise_for_other_data_is_not_added(house: House, tmp_path: Path) -> None:
    drafted = 'policy = 1\nkind = "documents"\n[documents]\n'
    other = open_house(None, tmp_path / "work")
    other.project.begin("x.json", drafted)
    form = {"type": "lkc-privacy", "l": "2", "k": "5", "c": "1/2", "sensitive": "x"}
    found = other.post("/promise/add", form)
    assert found.status_code == 422
    assert "lkc-privacy: is for table and trajectories, not for documents" in found.text
    assert other.post("/promise/algorithm", {"type": "mondrian"}).status_code == 422
    assert other.project.text() == drafted
    assert house.post("/promise/algorithm", {"type": "mondrian"}).status_code == 303


def test_work_that_fails_late_is_said_to_the_page_that_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each question how far it was began it anew: a large file with a wrong line was waited for for ever."""
    data, go = tmp_path / "people.csv", threading.Event()
    data.write_text(TABLE, encoding="utf-8")
    times = []

    def late(*_: object) -> Look:
        times.append(1)
        go.wait(60)
        raise InputError("line 300002 has 3 fields")

    monkeypatch.setattr(look, "looked", late)
    here = House(data)
    here.enter()
    assert (
        'data-state="open/state"'
        in here.raw("GET", f"{here.studio.gate.path}/", headers=here.headers({})).text
    )
    state = f"{here.studio.gate.path}/open/state"
    assert here.raw("GET", state, headers=here.headers({})).json()["running"]
    go.set()
    wait([here.studio.looks.soon(here.project)], 60)
    for _ in range(3):  # it may be asked by several tabs
        assert not here.raw("GET", state, headers=here.headers({})).json()["running"]
    assert len(times) == 1
    found = here.raw("GET", f"{here.studio.gate.path}/", headers=here.headers({}))
    assert found.status_code == 422
    assert "line 300002" in found.text
    assert "line 300002" in here.get("/").text  # looked at again, as the file may be mended
    assert len(times) > 1


def test_counts_that_fail_late_are_said_to_who_asks_live(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(*_: object, **__: object) -> Any:
        time.sleep(2 * MOMENT)
        raise InputError("cannot be counted")

    monkeypatch.setattr(counting, "as_it_stands", late)
    asked = {"type": "k-anonymity", "k": "5", "asker": "one"}
    assert "cannot be counted" in house.post("/promise/live", asked).text


def test_a_release_that_is_a_link_is_not_the_projects(house: House, tmp_path: Path) -> None:
    folder = house.project.folder / "releases"
    (folder / "release-1").rename(tmp_path / "elsewhere")
    (folder / "linked").symlink_to(tmp_path / "elsewhere")
    assert house.project.releases() == []
    assert house.get("/release/zip?name=linked").status_code == 422
