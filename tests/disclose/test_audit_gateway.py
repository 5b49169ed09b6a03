"""The gateway: keys, limits, fixed words, logs without data, TLS, and many analysts at once."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests import forked
from tests.disclose.audit_place import CANARY, desk_in, rows
from tests.disclose.audit_server import LOADED, Server, sqls

from privet.disclose.audit.client import GatewayError, posed
from privet.disclose.audit.desk import Desk
from privet.disclose.audit.gateway import application
from privet.disclose.audit.keys import Keys
from privet.disclose.audit.lines import Lines
from privet.disclose.audit.rate import RateLimit
from privet.disclose.audit.replay import replay
from privet.disclose.audit.service import serve
from privet.errors import InputError, UnsupportedError

ALL_C = "select sum(salary) from staff where dept = 'C'"
BUT_ONE = "select sum(salary) from staff where dept = 'C' and age <> 30"


class Caller:
    """Requests to the application itself, without a socket."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.keys = Keys(desk.config.keys)
        self.app = application(desk, self.keys)

    def __call__(self, method: str, path: str, **more: Any) -> httpx.Response:
        async def go() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
                return await client.request(method, path, **more)

        return asyncio.run(go())

    def later(self) -> None:
        """As if what was found out about readiness had grown old."""
        self.app = application(self.desk, self.keys)

    def ask(self, key: str, sql: Any) -> httpx.Response:
        return self("POST", "/v1/ask", json={"sql": sql}, headers={"authorization": f"Bearer {key}"})


@pytest.fixture
def call(tmp_path: Path) -> Caller:
    return Caller(desk_in(tmp_path))


def test_an_answer_a_denial_and_their_words(call: Caller) -> None:
    ann, bob = call.keys.issue("ann"), call.keys.issue("bob")
    answered = call.ask(ann, ALL_C)
    total = sum(row[3] for row in rows() if row[1] == "C")
    assert (answered.status_code, answered.json()) == (200, {"result": "answered", "answer": str(total)})
    denials = {call.ask(key, BUT_ONE).content for key in (ann, bob, ann)}
    denials |= {call.ask(bob, "select max(bonus) from staff where age in (30, 32) and dept <> 'A'").content}
    assert b'{"result":"denied"}' in denials
    assert len([one for one in denials if b"denied" in one]) == 1
    first, second = call.ask(ann, BUT_ONE), call.ask(bob, BUT_ONE)
    assert first.headers == second.headers
    assert [e.analyst for e in call.desk.log.entries()][:2] == ["ann", "ann"]


def test_nobody_without_a_key(call: Caller) -> None:
    key = call.keys.issue("ann")
    for headers in ({}, {"authorization": "Bearer no"}, {"authorization": key}, {"authorization": "Basic x"}):
        said = call("POST", "/v1/ask", json={"sql": ALL_C}, headers=headers)
        assert said.status_code == 401
    assert not list(call.desk.log.entries())
    fresh = call.keys.issue("ann")  # ends the older one
    assert call.ask(key, ALL_C).status_code == 401
    assert call.ask(fresh, ALL_C).status_code == 200
    call.keys.revoke("ann")
    assert call.ask(fresh, ALL_C).status_code == 401
    with pytest.raises(InputError, match="no such analyst"):
        call.keys.revoke("ann")


def test_keys_are_kept_as_digests(call: Caller) -> None:
    key = call.keys.issue("ann")
    assert key not in call.desk.config.keys.read_text(encoding="utf-8")
    assert Keys(call.desk.config.keys).analyst(key) == "ann"
    for name in ("", "a\nb", "x" * 101):
        with pytest.raises(InputError, match="100 printable"):
            call.keys.issue(name)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"[]", b'{"sql": 3}', b'{"sql": "x", "more": 1}', b"[" * 50_000, b'"' + b"x" * 70_000 + b'"'],
)
def test_a_body_that_is_no_query(call: Caller, body: bytes) -> None:
    key = call.keys.issue("ann")
    said = call("POST", "/v1/ask", content=body, headers={"authorization": f"Bearer {key}"})
    assert (said.status_code, said.json()["error"]) == (400, "refused")


def test_refusals_are_sentences_without_data(call: Caller) -> None:
    key = call.keys.issue("ann")
    for sql in (
        "drop table staff",
        "select sum(salary) from staff where age = 30",
        "select sum(x) from staff",
    ):
        said = call.ask(key, sql)
        assert (said.status_code, said.json()["error"]) == (400, "refused")
        assert str(CANARY) not in said.text
    assert call("GET", "/openapi.json").status_code == call("GET", "/docs").status_code == 404


def test_health_and_changed_data(call: Caller, tmp_path: Path) -> None:
    import sqlite3

    key = call.keys.issue("ann")
    assert call("GET", "/readyz").json() == {"status": "ready"}
    with sqlite3.connect(tmp_path / "staff.db") as db:
        db.execute("update staff set salary = salary + 1")
    said = call.ask(key, ALL_C)
    assert (said.status_code, said.json()["error"]) == (503, "changed")
    call.later()
    assert call("GET", "/readyz").json() == {"status": "changed"}
    assert call("GET", "/healthz").json() == {"status": "ok"}  # this process does answer


def test_a_log_that_is_taken_away_or_keys_that_cannot_be_read(call: Caller) -> None:
    key = call.keys.issue("ann")
    assert call.ask(key, ALL_C).status_code == 200
    call.desk.config.log.rename(call.desk.config.log.with_name("elsewhere.db"))
    said = call.ask(key, BUT_ONE)
    assert (said.status_code, said.json()["error"]) == (503, "unavailable")
    assert call("GET", "/readyz").json() == {"status": "log"}
    call.desk.config.log.with_name("elsewhere.db").rename(call.desk.config.log)
    assert call.ask(key, BUT_ONE).json() == {"result": "denied"}
    call.later()
    assert call("GET", "/readyz").status_code == 200
    call.desk.config.keys.write_text("no = [keys", encoding="utf-8")
    said = call.ask(key, ALL_C)
    assert (said.status_code, said.json()["message"]) == (503, "this cannot be decided now")


def test_a_fault_is_one_sentence(call: Caller, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    def fails(*_: Any) -> None:
        raise RuntimeError(f"somebody has {CANARY}")

    key = call.keys.issue("ann")
    monkeypatch.setattr(call.desk, "ask", fails)
    with caplog.at_level(logging.INFO, "privet.audit"):
        said = call.ask(key, ALL_C)
    assert said.status_code == 503
    logged = "\n".join(Lines().format(record) for record in caplog.records)
    assert str(CANARY) not in said.text + logged
    assert json.loads(logged.splitlines()[0])["kind"] == "RuntimeError"


def test_logs_say_who_and_when_and_not_what(call: Caller, caplog: Any) -> None:
    key = call.keys.issue("ann")
    with caplog.at_level(logging.INFO, "privet.audit"):
        answer = call.ask(key, ALL_C).json()["answer"]
        call.ask(key, BUT_ONE)
    lines = [json.loads(Lines().format(record)) for record in caplog.records if record.name == "privet.audit"]
    assert [{**line, "at": "", "ms": 0} for line in lines] == [
        {"at": "", "level": "info", "event": "ask", "analyst": "ann", "status": 200, "ms": 0}
    ] * 2
    assert answer not in json.dumps(lines)


def test_a_bucket_fills_steadily(tmp_path: Path) -> None:
    now = [0.0]
    limit = RateLimit(tmp_path / "rate", 60, clock=lambda: now[0])
    assert [limit.wait("ann") for _ in range(60)] == [0.0] * 60
    assert limit.wait("ann") == pytest.approx(1.0)
    assert limit.wait("bob") == 0.0
    now[0] = 1.0
    assert limit.wait("ann") == 0.0
    assert limit.wait("ann") > 0


def test_one_limit_for_all_gateways_of_a_log(tmp_path: Path) -> None:
    """Two connections, as two processes have them; and a clock that begins anew fills no bucket."""
    now = [1000.0]
    one, other = (RateLimit(tmp_path / "rate", 3, clock=lambda: now[0]) for _ in range(2))
    assert [limit.wait("ann") > 0 for limit in (one, other, one, other, one)] == [False] * 3 + [True] * 2
    now[0] = 5.0  # the machine was started again
    assert other.wait("ann") > 0
    now[0] = 25.0
    assert one.wait("ann") == 0
    assert other.wait("ann") > 0
    with pytest.raises(InputError, match="cannot be kept there"):
        RateLimit(tmp_path / "no folder" / "rate", 3)


def test_too_many_requests(call: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    call.desk.config = replace(call.desk.config, rate=2)
    call.app = application(call.desk, call.keys)
    ann, bob = call.keys.issue("ann"), call.keys.issue("bob")
    assert [call.ask(ann, "x").status_code for _ in range(3)] == [400, 400, 429]
    said = call.ask(ann, "x")
    assert int(said.headers["retry-after"]) >= 1
    assert call.ask(bob, "x").status_code == 400


def test_a_port_that_is_taken(served: tuple[Desk, Server], tmp_path: Path) -> None:
    _, server = served
    words = ["audit", "serve", "--db", f"sqlite:///{tmp_path}/staff.db"]
    words += ["--config", str(tmp_path / "audit.toml"), "--port", str(server.port)]
    code, _, said = forked.ran(words, load=LOADED)
    assert code == 2
    assert (
        said.splitlines()[-1]
        == f"error: 127.0.0.1:{server.port}: cannot listen there; is another gateway running?"
    )


def test_tls_or_this_machine_only(call: Caller) -> None:
    with pytest.raises(UnsupportedError, match="in the clear"):
        serve(call.desk, host="0.0.0.0")
    with pytest.raises(UnsupportedError, match="both"):
        serve(call.desk, certificate=Path("x"))


# A real server.


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Desk, Server]]:
    desk = desk_in(tmp_path)
    server = Server(tmp_path)
    yield desk, server
    if server.running.poll() is None:
        server.stop()


def load(desk: Desk, server: Server, analysts: int, each: int) -> None:
    keys = Keys(desk.config.keys)
    issued = [keys.issue(f"a{i}") for i in range(analysts)]
    said: dict[str, list[dict[str, str]]] = {}

    async def analyst(client: httpx.AsyncClient, i: int) -> None:
        found = []
        for sql in sqls(i, each):
            headers = {"authorization": f"Bearer {issued[i]}"}
            response = await client.post(
                f"{server.url}/v1/ask", json={"sql": sql}, headers=headers, timeout=600
            )
            assert response.status_code == 200
            found.append(response.json())
        said[f"a{i}"] = found

    async def everybody() -> None:
        limits = httpx.Limits(max_connections=analysts)
        async with httpx.AsyncClient(limits=limits) as client:
            await asyncio.gather(*(analyst(client, i) for i in range(analysts)))

    asyncio.run(everybody())
    from privet.disclose.audit.exact import written

    entries = list(desk.log.entries())
    assert desk.log.verify() == len(entries) == analysts * each  # none lost, none doubled
    for name, heard in said.items():
        kept = []
        for entry in (e for e in entries if e.analyst == name):
            answer = entry.decision.answer
            shown = -answer if answer is not None and entry.column == "days" else answer
            kept.append(
                {"result": "denied"} if shown is None else {"result": "answered", "answer": written(shown)}
            )
        assert kept == heard


def test_analysts_at_once(served: tuple[Desk, Server]) -> None:
    desk, server = served
    load(desk, server, 10, 15)
    logged = server.stop()
    lines = [json.loads(line) for line in logged.splitlines()]
    assert (server.running.returncode, lines[0]["event"], lines[-1]["event"]) == (0, "start", "stop")
    assert sum(line["event"] == "ask" for line in lines) == 150
    assert "select" not in logged
    assert all(one.holds for one in replay(desk.config, desk.log, desk.columns))


@pytest.mark.slow
def test_fifty_analysts_and_ten_thousand_requests(served: tuple[Desk, Server]) -> None:
    desk, server = served
    load(desk, server, 50, 200)
    assert all(one.holds for one in replay(desk.config, desk.log, desk.columns))


def test_two_gateways_share_a_log_and_a_rate(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    path = tmp_path / "audit.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("rate = 1000000", "rate = 4"), encoding="utf-8")
    key = Keys(desk.config.keys).issue("ann")
    servers = [Server(tmp_path), Server(tmp_path)]
    try:
        said = [
            httpx.post(
                f"{servers[at % 2].url}/v1/ask", json={"sql": sql}, headers={"authorization": f"Bearer {key}"}
            )
            for at, sql in enumerate((ALL_C, BUT_ONE, BUT_ONE, ALL_C, ALL_C, ALL_C))
        ]
    finally:
        for server in servers:
            server.stop()
    results = [one.json().get("result") for one in said[:4]]
    assert results == ["answered", "denied", "denied", "answered"]
    assert 429 in [one.status_code for one in said[4:]]  # the second, if the first came 15 s later
    assert desk.log.verify() in (4, 5)


def test_kill_9_of_a_gateway_keeps_what_was_said(served: tuple[Desk, Server]) -> None:
    desk, server = served
    key = Keys(desk.config.keys).issue("ann")
    said = [posed(server.url, key, sql) for sql in sqls(1, 5)]
    server.stop(signal.SIGKILL)
    assert len(said) == desk.log.verify()
    with pytest.raises(GatewayError, match="no answer"):
        posed(server.url, key, ALL_C)


@pytest.mark.services
def test_tls(tmp_path: Path) -> None:
    import shutil

    if shutil.which("openssl") is None:
        pytest.skip("no openssl here to make a certificate with")
    certificate, secret = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            *(
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "rsa:2048",
                "-nodes",
                "-keyout",
                secret,
                "-out",
                certificate,
            ),
            *("-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"),
        ],
        check=True,
        capture_output=True,
    )
    desk = desk_in(tmp_path)
    key = Keys(desk.config.keys).issue("ann")
    server = Server(tmp_path, "--tls-certificate", str(certificate), "--tls-key", str(secret))
    try:
        assert posed(server.url, key, ALL_C, certificate=certificate)["result"] == "answered"
        with pytest.raises(GatewayError, match="ConnectError"):
            posed(server.url, key, ALL_C)  # nobody vouches for it
    finally:
        server.stop()
