"""A real studio that is killed, flooded and asked by others: what stands afterwards."""

from __future__ import annotations

import http.client
import os
import re
import select
import signal
import socket
import time
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from tests.studio.service import Running, running, started

from privet.cli import main
from privet.verification import verify

pytestmark = pytest.mark.services
POLICY = """policy = 1
kind = "table"
rows = "persons"
[attributes]
age = { role = "quasi", hierarchy = { type = "intervals", width = [5, 10, 30] } }
sex = { role = "quasi" }
disease = { role = "sensitive" }
[[models]]
type = "k-anonymity"
k = 4
"""


class Visitor:
    """A browser without a window."""

    def __init__(self, studio: Running) -> None:
        self.address = urlsplit(studio.link)
        self.base = self.address.path.removesuffix("/enter")
        self.cookie = ""
        status, said, _ = self.sent("GET", f"{self.address.path}?{self.address.query}")
        assert status == 303
        self.cookie = said["set-cookie"].partition(";")[0]

    def sent(self, method: str, path: str, body: str | None = None) -> tuple[int, dict[str, str], str]:
        """One request on a connection of its own."""
        wire = http.client.HTTPConnection(self.address.netloc, timeout=300)
        headers = {"cookie": self.cookie, "origin": f"http://{self.address.netloc}"}
        if body is not None:
            headers["content-type"] = "application/x-www-form-urlencoded"
        wire.request(method, path, body, headers)
        answer = wire.getresponse()
        said = {name.lower(): value for name, value in answer.getheaders()}
        text = answer.read().decode("utf-8")
        wire.close()
        return answer.status, said, text

    def page(self, path: str) -> str:
        """A page, once it does not wait any more."""
        while True:
            status, said, text = self.sent("GET", f"{self.base}{path}")
            if status == 303:
                path = said["location"].removeprefix(self.base).partition("#")[0]
            elif "data-state=" not in text:
                assert status == 200, text
                return text
            else:
                time.sleep(0.1)

    def posted(self, path: str, **form: str) -> str:
        token = re.search(r'data-token="([^"]+)"', self.page("/open"))
        assert token
        if path == "/publish/start":
            digest = re.search(r'name="digest" value="([^"]+)"', self.page("/publish"))
            assert digest
            form["digest"] = digest[1]
        status, said, text = self.sent("POST", f"{self.base}{path}", urlencode({**form, "token": token[1]}))
        assert status == 303, text
        return said["location"].removeprefix(self.base)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    rows = "".join(f"{20 + n % 60},{'MF'[n % 2]},{('flu', 'cold')[n % 2]}\n" for n in range(2000))
    (tmp_path / "people.csv").write_text("age,sex,disease\n" + rows, encoding="utf-8")
    folder = tmp_path / "people.studio"
    folder.mkdir()
    (folder / "policy.toml").write_text(POLICY, encoding="utf-8")
    return tmp_path


def children(process: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{process}/task").iterdir():
        found += [int(word) for word in (task / "children").read_text(encoding="ascii").split()]
    return found


def test_a_studio_that_is_killed_while_it_publishes_loses_nothing(project: Path) -> None:
    process, studio = started("people.csv", cwd=project)
    try:
        visitor = Visitor(studio)
        visitor.page("/")
        visitor.posted("/publish/start")
        jobs = children(process.pid)
        assert jobs
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
    for job in jobs:  # who was publishing ends by itself: whole, or with nothing
        waited = os.pidfd_open(job)
        select.select([waited], [], [], 300)
        os.close(waited)
    releases = project / "people.studio" / "releases"
    for folder in releases.glob("release-[0-9]"):
        assert verify(folder).holds
    before = (project / "people.studio" / "policy.toml").read_bytes()
    with running("--project", "people.studio", cwd=project) as again:
        visitor = Visitor(again)
        assert "age" in visitor.page("/columns")
        where = visitor.posted("/publish/start")
        assert "Published" in visitor.page(where)
    made = sorted(path for path in releases.glob("release-*") if not path.name.endswith(".private"))
    assert made
    assert all(verify(folder).holds for folder in made)
    assert (project / "people.studio" / "policy.toml").read_bytes() == before
    assert not list(releases.glob(".*"))


def test_a_flood_of_half_open_sockets_keeps_nobody_out(project: Path) -> None:
    with running("people.csv", cwd=project) as studio:
        visitor = Visitor(studio)
        address = (str(visitor.address.hostname), int(visitor.address.port or 0))
        flood = []
        try:
            for at in range(600):  # more than twice of what is let in
                flood.append(socket.create_connection(address, timeout=60))
                if at % 2:
                    flood[-1].sendall(f"POST {visitor.base}/open/upload HTTP/1.1\r\nHost: ".encode())
            assert "What is each column?" in visitor.page("/columns")
            visitor.posted("/columns/role", column="age", role="quasi")
        finally:
            for one in flood:
                one.close()


def test_another_user_of_the_machine_gets_nothing(project: Path) -> None:
    with running("people.csv", cwd=project) as studio:
        owner = Visitor(studio)
        owner.page("/columns")
        stranger = Visitor.__new__(Visitor)
        stranger.address, stranger.base, stranger.cookie = owner.address, owner.base, ""
        link = f"{owner.address.path}?{owner.address.query}"
        for path in (link, f"{owner.base}/columns", f"{owner.base}/enter?token=guess", "/", "/columns"):
            status, said, text = stranger.sent("GET", path)  # also with the link, which was used
            assert status in {401, 404}, path
            assert "set-cookie" not in said
            assert "disease" not in text
        assert stranger.sent("POST", f"{owner.base}/columns/guesses", "token=x")[0] == 401
        # Neither the command line nor the environment of the studio tells who looks at processes.
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                said_by = place.read_bytes()
            except OSError:
                continue
            if b"privet.cli" in said_by:
                assert owner.base.encode() not in said_by


def test_a_socket_of_the_web_is_not_upgraded(project: Path) -> None:
    with running("people.csv", cwd=project) as studio:
        visitor = Visitor(studio)
        with socket.create_connection((visitor.address.hostname, visitor.address.port), timeout=300) as wire:
            wire.sendall(
                f"GET {visitor.base}/columns HTTP/1.1\r\nHost: {visitor.address.netloc}\r\n"
                f"Cookie: {visitor.cookie}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                "Origin: https://evil.example\r\nSec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
            )
            assert b" 101 " not in wire.recv(200)


def test_what_is_saved_gives_the_same_bytes(project: Path, tmp_path: Path) -> None:
    with running("people.csv", cwd=project) as studio:
        visitor = Visitor(studio)
        visitor.page("/columns")
        assert "Published" in visitor.page(visitor.posted("/publish/start"))
    folder = project / "people.studio" / "releases" / "release-1"
    out = tmp_path / "again"
    policy = str(project / "people.studio" / "policy.toml")
    assert main(["publish", str(project / "people.csv"), policy, "-o", str(out)]) == 0
    assert (out / "data.csv").read_bytes() == (folder / "data.csv").read_bytes()
