"""What stays as it was decided: promises that a form cannot show, trees, releases with one name, files."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import shutil
import sqlite3
import stat
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from tests.studio.house import House, open_house
from tests.studio.test_gate import TABLE, upload

from privet.policy.presets import names as preset_names
from privet.policy.values import Policy
from privet.roads import publish
from privet.studio import counting, opening
from privet.studio.project import Project

COLUMNS = """policy = 1
[attributes]
name = { role = "identifier" }
age = { role = "quasi", hierarchy = { type = "intervals", width = [5, 10, 30] } }
sex = { role = "quasi" }
disease = { role = "sensitive" }
"""
K = '[[models]]\ntype = "k-anonymity"\nk = 3\n'


def opened(tmp_path: Path, policy: str) -> House:
    data = tmp_path / "people.csv"
    data.write_text(TABLE, encoding="utf-8")
    folder = tmp_path / "people.studio"
    folder.mkdir()
    (folder / "policy.toml").write_text(policy, encoding="utf-8")
    return open_house(data)


class Form(HTMLParser):
    """What a browser sends of the first form that leads to an address, untouched."""

    def __init__(self, action: str) -> None:
        super().__init__()
        self.action, self.inside, self.area, self.select = action, False, "", ""
        self.option = False
        self.said: dict[str, list[str]] = {}

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        of = dict(attrs)
        if tag == "form":
            self.inside = of.get("action", "").endswith(self.action) and not self.said
        if not self.inside:
            return
        if tag == "input" and "name" in of and (of.get("type") != "checkbox" or "checked" in of):
            self.said.setdefault(of["name"], []).append(of.get("value", ""))
        elif tag == "textarea":
            self.area = of["name"]
            self.said[self.area] = [""]
        elif tag == "select":
            self.select = of["name"]
        elif tag == "option":
            self.option = "value" not in of and ("selected" in of or self.select not in self.said)
            if "value" in of and ("selected" in of or self.select not in self.said):
                self.said[self.select] = [of["value"]]

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "form"
        self.area = "" if tag == "textarea" else self.area
        self.select = "" if tag == "select" else self.select

    def handle_data(self, data: str) -> None:
        if self.inside and self.area:
            self.said[self.area][0] += data
        elif self.inside and self.select and self.option:
            self.said[self.select], self.option = [data], False


def form(house: House, page: str, action: str) -> dict[str, list[str]]:
    read = Form(action)
    read.feed(house.page(page))
    assert read.said
    return read.said


SAID = (
    '{ disease = [{ value = "flu", at_most = "1/50" }] }',
    '{ disease = { flu = "1/10" } }',
    '{ disease = ["flu", { every = true }] }',
    '{ disease = [" flu "] }',
    "{ disease = [{ null = true }] }",
    "{ disease = [5] }",
    '{ disease = ["flu"] }',
    '{ disease = "every" }',
    '["disease"]',
)


@pytest.mark.one_in(2)
@pytest.mark.parametrize("model", ["lkc-privacy", "alpha-k-anonymity"])
def test_a_form_that_sets_k_changes_nothing_else_of_a_promise(tmp_path: Path, model: str) -> None:
    more = 'l = 2\nc = "1/2"' if model == "lkc-privacy" else 'alpha = "1/2"'
    house = opened(tmp_path, COLUMNS)
    for said in SAID:
        promise = f'[[models]]\ntype = "{model}"\nk = 3\n{more}\nsensitive = {said}\n'
        house.project.policy_file.write_text(COLUMNS + promise, encoding="utf-8")
        before = house.project.document()["models"][0]
        house.done("/promise/add", form(house, f"/promise?model={model}&at=0", "/promise/add") | {"k": ["4"]})
        assert house.project.document()["models"] == [{**before, "k": 4}], said


def test_a_form_that_says_less_than_the_policy_is_refused(tmp_path: Path) -> None:
    """As another tab has it that was made before, or one that lists values over bounds."""
    house = opened(tmp_path, COLUMNS)
    plain = {"type": "lkc-privacy", "l": "2", "k": "4", "c": "1/2", "sensitive": "disease"}
    for said in SAID[:6]:
        before = f'{COLUMNS}[[models]]\ntype = "lkc-privacy"\nk = 3\nl = 2\nc = "1/2"\nsensitive = {said}\n'
        house.project.policy_file.write_text(before, encoding="utf-8")
        shown = form(house, "/promise?model=lkc-privacy&at=0", "/promise/add")
        for less in (plain, plain | {"values:disease": "flu"}, shown | {"values:disease": "flu"}):
            found = house.post("/promise/add", less)
            assert found.status_code == 422
            assert "change it in the text of the policy" in found.text
            assert house.project.text() == before
        house.project.policy_file.write_text(before.replace(said, '{ disease = "every" }'), encoding="utf-8")
        assert house.post("/promise/add", shown).status_code == 422  # what it has shown is not there any more


def test_trees_and_lists_of_a_promise_stay(tmp_path: Path) -> None:
    tree = 'tree = { ANY = { lungs = ["flu"], nose = ["cold", "caf\\u00e9"] } }'
    closeness = f'type = "t-closeness"\nt = "1/5"\nsensitive = ["disease"]\ndistance = "hierarchical"\n{tree}'
    bounding = 'type = "confidence-bounding"\nsensitive = { disease = { flu = "1/3" } }\nquasi = ["age"]'
    house = opened(tmp_path, f"{COLUMNS}[[models]]\n{closeness}\n[[models]]\n{bounding}\n")
    before = house.project.document()["models"]
    for at, one in enumerate(before):
        house.done("/promise/add", form(house, f"/promise?model={one['type']}&at={at}", "/promise/add"))
    assert house.project.document()["models"] == before


def test_of_two_promises_of_one_kind_the_one_is_changed_that_was_shown(tmp_path: Path) -> None:
    promise = '[[models]]\ntype = "distinct-l-diversity"\nl = {}\nsensitive = ["disease"]\n'
    house = opened(tmp_path, COLUMNS + promise.format(2) + promise.format(3))
    asked = form(house, "/promise?model=distinct-l-diversity&at=1", "/promise/add")
    assert asked["l"] == ["3"]
    house.done("/promise/add", asked | {"l": ["4"]})
    assert [one["l"] for one in house.project.document()["models"]] == [2, 4]
    assert form(house, "/promise?model=distinct-l-diversity", "/promise/add")["l"] == ["2"]
    assert house.post("/promise/add", asked | {"at": ["7"]}).status_code == 422


def test_what_the_lattice_set_stays_when_a_search_is_set_again(tmp_path: Path) -> None:
    search = (
        '[algorithm]\ntype = "optimal"\nsuppression = "1%"\nlevels = { sex = 1 }\nweights = { age = 5 }\n'
    )
    house = opened(tmp_path, COLUMNS + K + search)
    before = house.project.document()["algorithm"]
    house.done("/promise/algorithm", {"type": "optimal", "suppression": "2%"})
    assert house.project.document()["algorithm"] == {**before, "suppression": "2%"}
    asked = form(house, "/promise?algorithm=optimal", "/promise/algorithm")
    house.done("/promise/algorithm", asked | {"suppression": ["3%"]})
    now = house.project.document()["algorithm"]
    assert {**now, **before} | {"suppression": "3%"} == now
    Policy.from_document(house.project.document(), base=house.project.folder)


def test_a_column_that_is_protected_and_not_sensitive_any_more_is_still_shown(tmp_path: Path) -> None:
    promise = '[[models]]\ntype = "distinct-l-diversity"\nl = 2\nsensitive = ["disease", "illness"]\n'
    house = opened(tmp_path, COLUMNS + promise)
    asked = form(house, "/promise?model=distinct-l-diversity&at=0", "/promise/add")
    assert asked["sensitive"] == ["disease", "illness"]


def test_a_release_from_elsewhere_is_not_taken_for_one_of_ours(tmp_path: Path) -> None:
    """Somebody sends a folder with the name of a release of ours, and other records in it."""
    ours = opened(tmp_path, COLUMNS + K).project.folder
    publish(tmp_path / "people.csv", ours / "policy.toml").write(ours / "releases" / "release-1")
    sent = tmp_path / "sent" / "release-1"
    shutil.copytree(ours / "releases" / "release-1", sent)
    forged = (sent / "data.csv").read_bytes().replace(b"flu", b"gou")
    (sent / "data.csv").write_bytes(forged)
    house = open_house(sent, ours)
    assert list(house.project.named()) == ["received/release-1", "release-1"]
    rows = house.page("/releases")
    assert "name=received/release-1" in rows
    assert "name=release-1" in rows
    for name, folder in house.project.named().items():
        job = house.ran("/release/ask", {"name": name, "what": "verify"})
        assert job.answer["holds"] is (name == "release-1")
        assert f'/release?name={name}"' in house.page(f"/job?n={job.number}")
        assert str(folder) in house.page(f"/release?name={name}")
        packed = zipfile.ZipFile(io.BytesIO(house.get(f"/release/zip?name={name}").content))
        assert packed.read("release-1/data.csv") == (folder / "data.csv").read_bytes()
    assert "name=received/release-1" in house.page("/diff?old=release-1&new=received/release-1")
    again = open_house(ours / "releases" / "release-1", ours)  # it lies here: it is ours, and there once
    assert list(again.project.named()) == ["release-1"]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277])
def test_what_a_project_holds_is_for_its_owner_only(tmp_path: Path, umask: int) -> None:
    """Trees list values of the data, and other people have accounts on the same machine."""
    data = tmp_path / "people.csv"
    data.write_text(TABLE, encoding="utf-8")
    house = open_house(data, tmp_path / "new" / "people.studio")
    old = os.umask(umask)
    try:
        house.get("/")
        house.done("/columns/role", {"column": "sex", "role": "quasi"})
        house.done("/hierarchy/begin", {"column": "sex"})
        assert upload(house, "more.csv", TABLE.encode()).status_code == 303
    finally:
        os.umask(old)
    found = [house.project.folder, *house.project.folder.rglob("*")]
    assert {path.name for path in found} >= {"policy.toml", "studio.toml", "sex.csv", "more.csv"}
    for path in found:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_a_folder_that_was_there_keeps_its_mode(tmp_path: Path) -> None:
    house = opened(tmp_path, COLUMNS + K)
    house.project.folder.chmod(0o750)
    house.done("/promise/purpose", {"purpose": "x"})
    assert stat.S_IMODE(house.project.folder.stat().st_mode) == 0o750
    assert stat.S_IMODE(house.project.policy_file.stat().st_mode) == 0o600


def test_what_was_decided_and_drawn_stays_with_every_preset(tmp_path: Path) -> None:
    """Also under safe harbour, whose own rules are about other columns; these are coarsened as it says."""
    decided = """policy = 1
[attributes]
name = { role = "identifier", publish = "pseudonym", key_env = "K" }
age = { role = "quasi", hierarchy = { type = "intervals", width = [7] } }
sex = { role = "quasi", hierarchy = { type = "tree", path = "hierarchies/sex.csv" } }
disease = { role = "target" }
"""
    house = opened(tmp_path, decided)
    before = house.project.document()["attributes"]
    for preset in preset_names():
        house.project.policy_file.write_text(decided, encoding="utf-8")
        house.done("/promise/preset", {"preset": preset})
        document = house.project.document()
        ruled = {"age"} if preset == "hipaa-safe-harbor" else set()
        assert {name for name in before if document["attributes"][name] != before[name]} == ruled, preset
        assert "disease" not in str(document["models"]), preset
    house.project.policy_file.write_text(decided, encoding="utf-8")
    house.done("/promise/preset", {"preset": "hipaa-safe-harbor"})
    assert house.project.document()["attributes"]["age"]["hierarchy"]["top"] == 90


class Full(io.BytesIO):
    """A file on a full disk: what is written waits in memory, until it is closed."""

    def close(self) -> None:
        super().close()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_nothing_stays_of_a_file_for_which_there_is_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = opened(tmp_path, COLUMNS + K)

    def fresh(place: Path) -> Full:
        place.write_bytes(b"name,age\n")  # as much as there was room for
        return Full()

    monkeypatch.setattr(opening, "_fresh", fresh)
    found = upload(house, "more.csv", TABLE.encode())
    assert found.status_code == 507
    assert "no space left" in found.json()["complaints"][0]
    assert house.project.files() == []


def test_a_full_disk_is_said_in_words_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = opened(tmp_path, COLUMNS + K)
    before, source = house.project.text(), house.project.source

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    house.page("/columns")
    monkeypatch.setattr(Path, "write_text", full)
    for path, form in (
        ("/promise/purpose", {"purpose": "x"}),
        ("/columns/role", {"column": "sex", "role": "other"}),
        ("/hierarchy/begin", {"column": "sex"}),
    ):
        found = house.post(path, form)
        assert found.status_code == 507, path
        assert "no space left" in found.text
        assert "fault" not in found.text
    with pytest.raises(OSError, match="No space left"):
        house.project.begin(tmp_path / "other.csv", "policy = 1\n")
    assert (house.project.text(), house.project.source) == (before, source)


def test_pages_take_for_missing_what_the_policy_says_is_missing(tmp_path: Path) -> None:
    house = opened(tmp_path, f'{COLUMNS}[form]\nnulls = [""]\n{K}')
    first = house.studio.look.column("disease")
    assert first is not None
    assert first.different == 2
    for said in ('nulls = ["", "flu"]', 'missing = { disease = ["flu"] }'):
        house.project.policy_file.write_text(f"{COLUMNS}[form]\n{said}\n{K}", encoding="utf-8")
        column = house.studio.look.column("disease")
        assert column is not None
        assert (column.different, column.missing) == (1, 30)
        assert house.studio.looks.values(house.project, ["disease"]) == {"disease": ["cold"]}
    house.project.policy_file.write_text(f"{COLUMNS}[form]\nnulls = 3\n{K}", encoding="utf-8")
    assert house.get("/columns").status_code == 200  # the policy is refused for it, not the page


def many(house: House, asker: str = "") -> str:
    return str(house.post("/promise/live", {"type": "k-anonymity", "k": "5", "asker": asker}).json()["text"])


def of_database(tmp_path: Path) -> tuple[House, sqlite3.Connection]:
    book = sqlite3.connect(tmp_path / "clinic.db")
    book.execute("CREATE TABLE t (age TEXT, sex TEXT)")
    book.executemany("INSERT INTO t VALUES (?, ?)", [(str(20 + n % 3), "MF"[n % 2]) for n in range(60)])
    book.commit()
    house = open_house(None, tmp_path / "work")
    asked = {"url": f"sqlite:///{tmp_path / 'clinic.db'}", "query": "SELECT age, sex FROM t"}
    assert house.opened("/open/database", asked).status_code == 303
    for name in ("age", "sex"):
        house.done("/columns/role", {"column": name, "role": "quasi"})
    return house, book


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_numbers_change_when_a_database_does(tmp_path: Path, journal: str) -> None:
    house, book = of_database(tmp_path)
    book.execute(f"PRAGMA journal_mode = {journal}")
    assert many(house) == "The data keeps this as it stands."
    book.executemany("INSERT INTO t VALUES (?, 'M')", [(f"rare {n}",) for n in range(7)])
    book.commit()
    house.page("/columns")  # once it was looked at
    assert many(house) == "Today 7 of 67 records would have to change."
    book.close()


def test_of_a_silent_database_the_time_is_said_and_it_is_counted_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one on another machine is: nothing tells that it was changed."""
    house, book = of_database(tmp_path)
    monkeypatch.setattr(Project, "is_silent", True)
    monkeypatch.setattr(Project, "signature", lambda project: (project.source,))
    assert re.search(r"as it stands\. Counted on what the database held at \d\d:\d\d;", many(house))
    book.execute("INSERT INTO t VALUES ('rare', 'M')")
    book.commit()
    book.close()
    assert "as it stands" in many(house)
    monkeypatch.setattr(counting, "FRESH", 0.0)
    assert many(house).startswith("Today 1 records would have to change. Counted on")


def test_a_silent_database_is_looked_at_again_when_somebody_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house, book = of_database(tmp_path)
    assert "Look again" not in house.page("/columns")  # a file on this machine tells by itself
    monkeypatch.setattr(Project, "is_silent", True)
    monkeypatch.setattr(Project, "signature", lambda project: (project.source, project.looks))
    assert re.search(r"The database as it was at \d\d:\d\d;", house.page("/columns"))
    shown = house.project.standing()
    before = house.project.text()
    book.executemany("INSERT INTO t VALUES (?, 'M')", [(f"rare {n}",) for n in range(7)])
    book.commit()
    book.close()
    assert "60 records" in house.page("/columns")
    assert house.done("/open/look", {"here": "hierarchies"}) == "/hierarchies"
    assert "67 records" in house.page("/columns")
    assert many(house).startswith("Today 7 records would have to change.")
    assert house.project.text() == before  # what was decided stays
    stale = house.post("/publish/start", {"digest": shown})
    assert stale.status_code == 422
    assert house.done("/open/look", {"here": "//evil.example"}) == "/columns"


# What [form] says of values and of files.


def basket(tmp_path: Path, form: str, rows: str, where: str) -> House:
    path = tmp_path / "baskets.csv"
    path.write_bytes(rows.encode("cp1252"))
    folder = tmp_path / "work"
    folder.mkdir()
    said = f'policy = 1\nkind = "transactions"\n[form]\n{form}\n[transactions]\n{where}\n'
    (folder / "policy.toml").write_text(said, encoding="utf-8")
    return open_house(path, folder)


def test_the_page_of_sets_reads_as_the_policy_says(tmp_path: Path) -> None:
    rows = "wer;was;alter\n" + "".join(f"{n // 2};{'Käse' if n % 2 else '-'};{n % 3},5\n" for n in range(40))
    where = 'form = "items"\nperson = "wer"\nitem = "was"'
    house = basket(tmp_path, 'encoding = "cp1252"\nnulls = ["", "-"]', rows, where)
    assert "was: missing in 20 of 40 rows" in house.page("/columns")  # as publishing would refuse it
    policy = house.project.policy_file
    policy.write_text(policy.read_text().replace('nulls = ["", "-"]', 'missing = { alter = ["1,5"] }'))
    assert "2 different items" in house.page("/columns")
    items = house.studio.look.items
    assert items is not None
    assert sorted(items.every) == ["-", "Käse"]
    column = house.studio.look.column("alter")
    assert column is not None
    assert (column.different, column.missing) == (2, 13)


def test_the_page_of_baskets_reads_as_the_policy_says(tmp_path: Path) -> None:
    house = basket(
        tmp_path, 'encoding = "cp1252"', "Käse,Brot\nBrot\nKäse\n", 'form = "baskets"\nseparator = ","'
    )
    items = house.studio.look.items
    assert items is not None
    assert sorted(items.every) == ["Brot", "Käse"]


def test_a_table_is_cut_where_the_policy_says(tmp_path: Path) -> None:
    """And a form that nobody can read is said, on a page that leads to where it is mended."""
    house = opened(tmp_path, f"{COLUMNS}{K}")
    names = [one.name for one in house.studio.look.columns]
    house.project.policy_file.write_text(f"{COLUMNS}[form]\nheader = false\n{K}", encoding="utf-8")
    assert [one.name for one in house.studio.look.columns] == [f"column_{n + 1}" for n in range(len(names))]
    house.project.policy_file.write_text(f'{COLUMNS}[form]\nencoding = "klingon"\n{K}', encoding="utf-8")
    assert "klingon" in house.get("/columns").text
    assert house.get("/publish").status_code == 200


def test_a_file_is_encoded_as_the_policy_says_whatever_fits(tmp_path: Path) -> None:
    """Publishing reads it so, and refuses it if it is not; a page that guessed would show something else."""
    house = opened(tmp_path, f"{COLUMNS}{K}")
    data = Path(str(house.project.source))
    data.write_bytes(TABLE.replace("flu", "fièvre").encode("cp1252"))
    assert "fièvre" in house.page("/columns")  # nobody has said it: a guess
    policy = house.project.policy_file
    policy.write_text(f'{COLUMNS}[form]\nencoding = "utf-8"\n{K}', encoding="utf-8")
    assert "is not utf-8" in house.get("/columns").text
    data.write_text(TABLE.replace("flu", "fièvre"), encoding="utf-8")
    assert "fièvre" in house.page("/columns")
    policy.write_text(f'{COLUMNS}[form]\nencoding = "cp1252"\n{K}', encoding="utf-8")
    assert "fiÃ¨vre" in house.page("/columns")  # and the steward sees that it is wrong


def test_of_documents_it_is_said_that_the_form_does_not_concern_them(tmp_path: Path) -> None:
    path = tmp_path / "people.json"
    path.write_text(json.dumps([{"id": n, "visits": [{"day": n % 7}]} for n in range(30)]), encoding="utf-8")
    house = open_house(path)
    house.get("/")
    assert "does not concern documents" not in house.page("/columns")
    text = house.project.text()
    house.project.policy_file.write_text(
        f'{text}\n[form]\nnulls = ["3"]\nformat = "json"\n', encoding="utf-8"
    )
    page = house.page("/columns")
    assert "does not concern documents" in page
    assert "<code>nulls</code>" in page
    assert "<code>format</code>" not in page
