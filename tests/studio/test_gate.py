"""Who is against the studio: a site in another tab, another user of the machine, a hostile file."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from jinja2 import Environment
from tests.studio.house import House, open_house, routes

from privet.studio import gate, opening
from privet.studio.columns import OFFERED
from privet.studio.jobs import State
from privet.studio.pages import environment
from privet.studio.server import HOST, warmed

TABLE = "name,age,sex,disease\n" + "".join(
    f"P{n},{20 + n % 30},{'MF'[n % 2]},{('flu', 'cold')[n % 2]}\n" for n in range(60)
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text(TABLE, encoding="utf-8")
    return path


@pytest.fixture
def house(data: Path) -> House:
    found = open_house(data)
    assert found.get("/").status_code == 303
    return found


def test_it_listens_on_this_machine_only() -> None:
    assert HOST == "127.0.0.1"


def test_the_link_works_once(data: Path) -> None:
    house = House(data)
    link = house.studio.gate.link
    assert house.raw("GET", link.replace("token=", "token=x")).status_code == 401  # a guess spoils nothing
    first = house.raw("GET", link)
    assert first.status_code == 303
    again = house.raw("GET", link)
    assert again.status_code == 401
    assert "set-cookie" not in again.headers


def test_the_cookie_is_for_this_browser_and_this_path_only(data: Path) -> None:
    house = House(data)
    said = house.enter().headers["set-cookie"].lower()
    assert "httponly" in said
    assert "samesite=strict" in said
    # Browsers send cookies of an address to every port of it; the path is what another port cannot guess.
    assert f"path={house.studio.gate.path}".lower() in said
    assert len(house.studio.gate.path) >= 12


def test_nothing_is_told_without_the_cookie(house: House) -> None:
    for cookie in (None, "privet-studio-8123=guess", "privet-studio-8123=", "x=\x01"):
        house.cookie = cookie
        for path in routes(house, "GET"):
            if path == "/enter":
                continue
            found = house.get(path)
            assert found.status_code == 401, path
            assert "age" not in found.text
        for path in routes(house, "POST"):
            assert house.post(path).status_code == 401, path


def test_cookies_of_other_services_do_not_stand_in_the_way(house: House) -> None:
    ours = house.cookie
    house.cookie = f'other={{"a": [1; 2]}}; ,=; {ours}; privet-studio-8123=older'
    assert house.get("/columns").status_code == 200


def test_no_route_is_left_out(house: House) -> None:
    """The lists above are those of the application."""
    assert len(routes(house, "GET")) > 15
    assert len(routes(house, "POST")) > 15


def test_another_name_for_this_address_is_refused(house: House) -> None:
    """DNS rebinding: a stranger's name that points here."""
    for host in ("evil.example:8123", "127.0.0.1", "localhost:8123", "127.0.0.1:80", "[::1]:8123"):
        assert house.get("/columns", host=host).status_code == 400, host
        assert house.post("/columns/guesses", host=host).status_code == 400, host


def test_outside_the_secret_path_there_is_nothing(house: House) -> None:
    for path in (
        "/",
        "/columns",
        "/enter?token=x",
        f"{house.studio.gate.path}x/columns",
        "/assets/studio.css",
    ):
        found = house.raw("GET", path, headers=house.headers({}))
        assert found.status_code == 404, path


FOREIGN: list[dict[str, str]] = [
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:9999"},
    {"origin": "http://localhost:8123"},
    {"origin": "http://127.0.0.1:8123", "sec-fetch-site": "cross-site"},
]


def test_a_foreign_site_cannot_post(house: House) -> None:
    """Even with the cookie and the token: the browser says where a form comes from."""
    before = house.project.text()
    for headers in FOREIGN:
        for path in routes(house, "POST"):
            found = house.post(path, {"column": "age", "role": "other"}, **headers)
            assert found.status_code == 403, (path, headers)
    assert house.project.text() == before


def test_a_form_without_the_token_of_our_pages_is_refused(house: House) -> None:
    before = house.project.text()
    for path in routes(house, "POST"):
        for token in ("", "guess", house.studio.gate.cookie):
            found = house.post(path, {"token": token}, **{"x-studio-token": token})
            assert found.status_code == 403, path
    assert house.project.text() == before


def test_a_form_without_an_origin_is_refused(house: House) -> None:
    path = house.studio.gate.path + "/columns/guesses"
    sent = {"token": house.studio.gate.form_token}
    assert house.raw("POST", path, data=sent, headers=house.headers({})).status_code == 403


def test_other_methods_are_refused(house: House) -> None:
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
        found = house.raw(method, house.studio.gate.path + "/columns", headers=house.headers({}))
        assert found.status_code == 405, method
        assert "access-control-allow-origin" not in found.headers


def test_read_only_changes_nothing(data: Path) -> None:
    first = open_house(data)
    first.get("/")
    before = {path: path.read_bytes() for path in first.project.folder.rglob("*") if path.is_file()}
    house = open_house(data, read_only=True)
    for path in routes(house, "POST"):
        if path not in house.studio.gate.asking:
            assert house.post(path, {"column": "age", "role": "other"}).status_code == 403, path
    asking = {"/job/cancel", "/promise/live", "/release/ask", "/release/beside", "/hierarchy/find"}
    asking |= {"/explore/lattice/stop", "/open/look"}
    assert house.studio.gate.asking == asking
    assert house.post("/promise/live", {"type": "k-anonymity", "k": "5"}).status_code == 200
    assert "disabled" in house.page("/columns")
    assert before == {path: path.read_bytes() for path in first.project.folder.rglob("*") if path.is_file()}


def test_read_only_makes_no_folder(data: Path) -> None:
    house = open_house(data, read_only=True)
    house.get("/")
    house.page("/open")
    assert not house.project.folder.exists()


OUT = ("../people.csv", "/etc/passwd", "data/../../people.csv", "link", "", ".", "a\0b", "policy.toml/..")


def test_a_path_that_leads_out_of_the_project_is_refused(house: House) -> None:
    (house.project.folder / "link").symlink_to("/etc/passwd")
    before = house.project.source
    for path in OUT:
        assert house.post("/open/path", {"path": path}).status_code == 422, path
    assert house.project.source == before


def test_a_release_is_named_not_reached(house: House) -> None:
    for name in ("../adult", "..", "/etc", "release-1/../..", ""):
        assert house.post("/release/beside", {"name": name}).status_code == 422
        for path in ("/release", "/release/report", "/release/zip", "/diff"):
            query = "&".join(f"{key}={name}" for key in ("name", "old", "new"))
            assert house.get(f"{path}?{query}").status_code == 422, path


def test_assets_are_a_list(house: House) -> None:
    assert house.get("/assets/studio.css").status_code == 200
    for name in ("..%2fpages.py", "pages.py", "studio.css%00"):
        assert house.get(f"/assets/{name}").status_code in {404, 405}, name


def upload(house: House, name: str, body: bytes, **headers: str) -> Any:
    said = {
        "origin": house.studio.gate.origin,
        "x-studio-token": house.studio.gate.form_token,
        "x-file-name": name,
        **headers,
    }
    path = house.studio.gate.path + "/open/upload"
    found = house.raw("POST", path, content=body, headers=house.headers(said))
    if found.status_code != 200:
        return found
    return house.get(found.json()["go"].removeprefix(house.studio.gate.path))


def test_a_file_that_is_dropped_stays_in_the_project(house: House, data: Path) -> None:
    for name in ("..%2f..%2fevil.csv", "%2fetc%2fevil.csv", "a%5c..%5cevil.csv", "evil.csv"):
        assert upload(house, name, TABLE.encode()).status_code == 303
    inside = sorted(path.name for path in (house.project.folder / "data").iterdir())
    assert inside == ["2-evil.csv", "3-evil.csv", "4-evil.csv", "evil.csv"]
    assert not (data.parent.parent / "evil.csv").exists()
    assert all(path.stat().st_mode & 0o077 == 0 for path in (house.project.folder / "data").iterdir())


def test_a_file_that_cannot_be_read_is_not_kept(house: House) -> None:
    before = house.project.source
    found = upload(house, "empty.csv", b"")
    assert found.status_code == 422
    assert not list((house.project.folder / "data").iterdir())
    assert house.project.source == before


def test_bodies_have_limits(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    assert house.post("/promise/text", {"toml": "x" * gate.LARGEST_FORM}).status_code == 413
    monkeypatch.setattr(opening, "LARGEST", 100)
    assert upload(house, "a.csv", TABLE.encode()).status_code == 413
    small = upload(house, "a.csv", TABLE.encode(), **{"content-length": "50"})  # a lie
    assert small.status_code == 422
    assert not list((house.project.folder / "data").iterdir())


class Page(HTMLParser):
    """What a browser would run or fetch of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.faults: list[str] = []
        self.inside = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag
        for name, value in attrs:
            leads_away = (value or "").startswith(("http:", "https:", "//", "javascript:"))
            if name.startswith("on") or name == "style" or leads_away:
                self.faults.append(f"{tag} {name}={value}")

    def handle_data(self, data: str) -> None:
        if self.inside in {"script", "style"} and data.strip():
            self.faults.append(f"{self.inside}: {data[:40]}")


EVIL = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
PAGES = (
    *("/open", "/columns", "/columns/together", "/hierarchies", "/promise", "/promise?model=k-anonymity"),
    *("/explore", "/publish", "/releases"),
)


def faults(text: str) -> list[str]:
    page = Page()
    page.feed(text)
    return page.faults


def test_a_page_that_runs_something_would_be_noticed() -> None:
    assert faults('<p onclick="x">') == ["p onclick=x"]
    assert faults("<script>x</script>") == ["script: x"]
    assert faults('<img src="https://evil.example">')
    assert faults('<p style="x">')


@pytest.fixture
def hostile(tmp_path: Path) -> House:
    """A file whose names and values are markup."""
    path = tmp_path / "hostile.csv"
    quoted = '"' + EVIL.replace('"', '""') + '"'
    rows = "".join(f"{20 + n % 30},{quoted if n % 2 else 'b'},{quoted}\n" for n in range(60))
    named = quoted[:-1] + ' name"'  # a name that is a value of its column would be a record's
    path.write_text(f"age,{named},job\n{rows}", encoding="utf-8")
    house = open_house(path)
    house.get("/")
    for column in house.studio.look.columns:
        house.done("/columns/role", {"column": column.name, "role": "quasi"})
    return house


def test_a_hostile_file_stays_text(hostile: House) -> None:
    seen = ""
    names = [column.name for column in hostile.studio.look.columns]
    for name in names:
        hostile.done("/hierarchy/begin", {"column": name})
    for path in (*PAGES, *(f"/hierarchy?column={quote(name)}" for name in names)):
        found = hostile.get(path)
        assert found.status_code == 200, path
        assert "<script>alert" not in found.text
        assert not faults(found.text), path
        seen += found.text
    assert "&lt;script&gt;alert(1)" in seen


def test_a_hostile_file_stays_text_to_the_end_of_the_road(hostile: House) -> None:
    """Its names and values stand in the lattice, in releases, and in all that is asked about them."""
    for column in hostile.studio.look.columns:
        hostile.done("/hierarchy/begin", {"column": column.name})
    hostile.done("/promise/add", {"type": "k-anonymity", "k": "2"})
    hostile.done("/promise/algorithm", {"type": "optimal"})
    while "data-state=" in hostile.page("/explore/lattice"):
        time.sleep(0.02)
    made = [hostile.ran("/publish/start") for _ in range(2)]
    asked = [
        hostile.ran("/release/ask", {"name": "release-1", "what": what})
        for what in ("verify", "explain", "compare", "attack", "still-at-risk")
    ]
    assert all(job.state is State.DONE for job in (*made, *asked)), [
        job.complaints for job in (*made, *asked)
    ]
    hostile.post("/release/beside", {"name": "release-1"})  # read, so that no page waits for it
    paths = (
        *("/explore/lattice", "/publish", "/release?name=release-1", "/diff?old=release-1&new=release-2"),
        *(f"/job?n={job.number}" for job in (*made, *asked)),
        "/release/beside?name=release-1",
    )
    texts = {path: hostile.page(path) for path in paths}
    texts["search"] = hostile.post("/release/beside", {"name": "release-1", "search": EVIL}).text
    for path, text in texts.items():
        assert "<script>alert" not in text, path
        assert not faults(text), path
    assert "60 records that match" in texts["search"]
    assert sum("&lt;script&gt;alert(1)" in text for text in texts.values()) > 5


def test_every_page_says_what_browsers_must_refuse(house: House) -> None:
    for path in PAGES:
        found = house.get(path)
        said = found.headers["content-security-policy"]
        assert "default-src 'none'" in said
        assert "unsafe" not in said
        assert "*" not in said
        assert "http" not in said
        assert found.headers["x-content-type-options"] == "nosniff"
        assert found.headers["referrer-policy"] == "same-origin"
        assert found.headers["cache-control"] == "no-store"
        assert not faults(found.text), path


def test_a_script_is_told_where_a_form_leads_and_nothing_else_is_different(house: House) -> None:
    form = {"column": "age", "role": "quasi", "anchor": "c2"}
    plain, told = house.post("/columns/role", form), house.post("/columns/role", form, **{"x-turns": "yes"})
    assert (plain.status_code, told.status_code) == (303, 200)
    assert told.json() == {"go": plain.headers["location"]}
    assert told.json()["go"].endswith("/columns#c2")
    wrong = {"column": "age", "role": "nobody"}
    refused = house.post("/columns/role", wrong, **{"x-turns": "yes"})
    assert (refused.status_code, refused.text) == (422, house.post("/columns/role", wrong).text)
    strange = house.post("/columns/role", {**form, "token": "another"}, **{"x-turns": "yes"})
    assert strange.status_code == 403
    evil = house.post("/columns/role", form, **{"x-turns": "yes", "origin": "http://evil.example"})
    assert evil.status_code == 403


def test_the_first_page_of_a_kind_is_as_quick_as_the_next(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What pages are made with is made ready beside them: to compile one takes longer than a click may."""
    environment.cache_clear()
    warmed(house.studio)

    def late(*_: Any, **__: Any) -> Any:
        raise AssertionError("a template is compiled while somebody waits")

    monkeypatch.setattr(Environment, "compile", late)
    for path in PAGES:
        assert house.get(path).status_code == 200, path


def test_scripts_name_no_other_host(house: House) -> None:
    for name in ("turn.js", "studio.js", "lattice.js", "hover.js", "studio.css", "report.css"):
        text = house.page(f"/assets/{name}")
        assert not re.search(
            r"https?://|//[a-z]|@import|innerHTML|insertAdjacentHTML|\beval\b", text.replace("// ", "")
        ), name


def test_no_value_is_logged(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    path = tmp_path / "people.csv"
    path.write_text(TABLE.replace("flu", "CANARY"), encoding="utf-8")
    house = open_house(path)
    house.get("/")
    house.post("/columns/role", {"column": "CANARY", "role": "CANARY"})
    house.post("/columns/guesses")
    for page in PAGES:
        house.get(page)
    house.post("/promise/live", {"type": "k-anonymity", "k": "CANARY"})
    out, err = capfd.readouterr()
    assert "CANARY" not in out + err + caplog.text


def test_a_fault_tells_its_kind_only(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise RuntimeError("CANARY")

    monkeypatch.setattr("privet.studio.look.Looks.at", broken)
    found = house.get("/columns")
    assert found.status_code == 500
    assert "RuntimeError" in found.text
    assert "CANARY" not in found.text


def test_two_tabs_do_not_undo_each_other(house: House) -> None:
    stale = house.page("/promise")
    digest = re.search(r'name="digest" value="(\w+)"', stale)
    assert digest
    house.done("/columns/role", {"column": "age", "role": "quasi"})
    house.done("/columns/role", {"column": "sex", "role": OFFERED[4]})
    columns = house.project.document()["attributes"]
    assert (columns["age"]["role"], columns["sex"]["role"]) == ("quasi", "other")
    found = house.post("/promise/text", {"toml": "policy = 1\n", "digest": digest[1]})
    assert found.status_code == 422
    assert "another tab" in found.text
    assert house.project.document()["attributes"] == columns
