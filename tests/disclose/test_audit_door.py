"""Clients against the gateway's sockets: half a request, none at all, too many, too slow, and gone."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.disclose.audit_place import CANARY, desk_in
from tests.disclose.audit_server import Server, sqls

from privet.disclose.audit.desk import Desk
from privet.disclose.audit.door import Limits
from privet.disclose.audit.keys import Keys
from privet.disclose.audit.lines import OFTEN, WHILE, Lines, Sparingly
from privet.disclose.audit.metrics import Metrics
from privet.errors import InputError

HALF = b"POST /v1/ask HTTP/1.1\r\nHost: gateway\r\n"
ALL_C = "select sum(salary) from staff where dept = 'C'"


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    desk_in(tmp_path).close()
    with ExitStack() as stack:

        def begin(*more: str) -> Server:
            server = Server(tmp_path, *more)
            stack.callback(lambda: server.stop() if server.running.poll() is None else None)
            return server

        yield begin


@contextmanager
def crowd(port: int, count: int, said: bytes = HALF, *, addresses: int = 1) -> Iterator[list[socket.socket]]:
    """So many who connect, say this much, and wait; from so many addresses of this machine."""
    there = []
    try:
        for at in range(count):
            one = socket.socket()
            one.settimeout(10)
            one.bind((f"127.0.0.{1 + at % addresses}", 0))
            one.connect(("127.0.0.1", port))
            one.sendall(said)
            there.append(one)
        yield there
    finally:
        for one in there:
            one.close()


def closed(one: socket.socket, seconds: float) -> bool:
    """Does the other side end this within so many seconds?"""
    one.settimeout(seconds)
    try:
        while one.recv(4096):
            pass
    except TimeoutError:
        return False
    except OSError:
        return True
    return True


def counted(server: Server, name: str) -> dict[str, float]:
    """Lines of /metrics that begin so."""
    lines = httpx.get(f"{server.url}/metrics").text.splitlines()
    return {
        key: float(value) for key, value in (line.rsplit(" ", 1) for line in lines) if key.startswith(name)
    }


def answers_within_a_second(server: Server, path: str) -> bool:
    """At one of ten times: on a busy machine a second may pass before anybody's turn comes."""
    for _ in range(10):
        begun = time.perf_counter()
        assert httpx.get(f"{server.url}{path}", timeout=60).status_code == 200
        if time.perf_counter() - begun < 1:
            return True
    return False


@pytest.mark.one_in(2)
@pytest.mark.parametrize("addresses", [1, 20])
def test_1100_half_open_sockets_leave_the_gateway_answering(
    serving: Callable[..., Server], addresses: int
) -> None:
    server = serving("--connections", "1000")
    with crowd(server.port, 1100, addresses=addresses):
        for path in ("/healthz", "/readyz", "/metrics"):
            assert answers_within_a_second(server, path)
        there = counted(server, "privet_audit_connections")["privet_audit_connections"]
        shed = sum(counted(server, "privet_audit_connections_shed_total").values())
        assert there <= (200 if addresses == 1 else 1000)
        assert shed >= (900 if addresses == 1 else 100)
    logged = server.stop()
    assert len(logged) < 5_000
    assert "Traceback" not in logged
    assert [json.loads(line)["event"] for line in logged.splitlines()] == ["start", "stop"]


def test_few_file_descriptors_are_no_fault(serving: Callable[..., Server], tmp_path: Path) -> None:
    """As where the system grants 400: the gateway takes fewer connections instead of failing to accept."""
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (400, 400)); "
        "from privet.cli import main; sys.exit(main())"
    )
    server = Server(tmp_path, program=(sys.executable, "-c", code))
    try:
        with crowd(server.port, 500):
            assert answers_within_a_second(server, "/healthz")
    finally:
        logged = server.stop()
    lines = [json.loads(line) for line in logged.splitlines()]
    assert [line["event"] for line in lines] == ["start", "few file descriptors: raise `ulimit -n`", "stop"]
    assert [line["connections"] for line in lines[:2]] == [100, 100]
    assert (lines[1]["level"], lines[1]["asked"]) == ("warning", 4000)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (b"", "header"),
        (b"POST /v1/", "header"),
        (HALF, "header"),
        (HALF + b"Content-Length: 100\r\n\r\n{", "body"),
        (HALF + b"Transfer-Encoding: chunked\r\n\r\n", "body"),
    ],
)
def test_a_request_has_its_time(serving: Callable[..., Server], said: bytes, why: str) -> None:
    server = serving("--seconds", "0.5")
    with crowd(server.port, 1, said) as (one,):
        assert closed(one, 9)  # of 10 that it would have without
    assert counted(server, "privet_audit_connections_shed")[
        f'privet_audit_connections_shed_total{{why="{why}"}}'
    ]


def test_a_trickle_does_not_set_the_clock_back(serving: Callable[..., Server]) -> None:
    server = serving("--seconds", "1")
    with crowd(server.port, 1, b"POST /v1/ask HTTP/1.1\r\n") as (one,):
        until = time.monotonic() + 60
        with suppress(ConnectionError):  # closed between a look and a word
            while not closed(one, 0.1):
                one.sendall(b"X: y\r\n")
                assert time.monotonic() < until


def test_one_who_asks_and_never_reads(serving: Callable[..., Server]) -> None:
    server = serving("--seconds", "1")
    whole = b"GET /metrics HTTP/1.1\r\nHost: g\r\n\r\n"
    with crowd(server.port, 1, b"") as (one,):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.settimeout(0.5)
        try:
            while True:  # until there is no room left on the way
                one.sendall(whole * 100)
        except TimeoutError:  # it has stopped reading, as it should
            pass
        except OSError:
            return
        assert closed(one, 60)


def test_who_waits_longest_makes_room_and_analysts_stay(
    serving: Callable[..., Server], tmp_path: Path
) -> None:
    server = serving("--connections", "20", "--per-address", "20", "--seconds", "600")
    key = Keys(tmp_path / "audit.keys.toml").issue("ann")
    with httpx.Client(base_url=server.url, headers={"authorization": f"Bearer {key}"}) as ann:
        assert ann.post("/v1/ask", json={"sql": ALL_C}).status_code == 200
        mine = ann._transport._pool.connections  # type: ignore[attr-defined]
        socket_of = [str(one) for one in mine]
        with crowd(server.port, 60) as strangers:
            assert closed(strangers[0], 60)
            assert not closed(strangers[-1], 0.2)
            assert ann.post("/v1/ask", json={"sql": ALL_C}).status_code == 200
        assert [str(one).split(",")[:2] for one in mine] == [one.split(",")[:2] for one in socket_of]
    shed = counted(server, "privet_audit_connections_shed_total")
    assert shed['privet_audit_connections_shed_total{why="room"}'] >= 40


def test_an_address_has_its_share(serving: Callable[..., Server]) -> None:
    """Somebody with many connections takes room from nobody but himself."""
    server = serving("--connections", "100", "--per-address", "10", "--seconds", "600")
    with crowd(server.port, 5, addresses=1) as mine:
        busy = []
        for at in range(30):
            one = socket.socket()
            one.bind(("127.0.0.9", 0))
            one.connect(("127.0.0.1", server.port))
            one.sendall(HALF)
            busy.append(one)
            assert at < 30
        # Whoever knocks after all of them is answered after all of them.
        assert httpx.get(f"{server.url}/healthz", timeout=60).status_code == 200
        assert not any(closed(one, 0.1) for one in mine)
        assert sum(closed(one, 0.1) for one in busy) == 20
        for one in busy:
            one.close()


@pytest.mark.parametrize("said", [b"\x16\x03\x01\x00\xff" * 20, b"GET / HTTP/9\r\n\r\n", b"\r\n" * 9 + b"\0"])
def test_noise_is_counted_and_hardly_logged(serving: Callable[..., Server], said: bytes) -> None:
    server = serving()
    for _ in range(8):
        with crowd(server.port, 50, said) as there:
            assert all(closed(one, 60) for one in there)
    assert counted(server, 'privet_audit_connections_shed_total{why="malformed"}')
    logged = server.stop()
    assert len(logged.splitlines()) <= 2 + 2 * OFTEN
    assert all(json.loads(line) for line in logged.splitlines())


def test_requests_without_a_key_do_not_fill_the_log(serving: Callable[..., Server]) -> None:
    server = serving()
    with httpx.Client(base_url=server.url) as client:
        for _ in range(300):
            assert client.post("/v1/ask", json={"sql": ALL_C}).status_code == 401
    assert counted(server, "privet_audit_requests_total")['privet_audit_requests_total{status="401"}'] == 300
    assert len(server.stop().splitlines()) <= 2 + 2 * OFTEN


def test_a_client_that_hangs_up_is_no_error(serving: Callable[..., Server], tmp_path: Path) -> None:
    server = serving()
    key = Keys(tmp_path / "audit.keys.toml").issue("ann").encode()
    head = HALF + b"Authorization: Bearer " + key + b"\r\nContent-Length: %d\r\n\r\n"
    body = json.dumps({"sql": ALL_C}).encode()
    for said in (HALF, head % 100, head % 100 + b'{"sql', head % len(body) + body):
        for _ in range(5):
            with crowd(server.port, 1, said):
                pass  # gone at once
    assert httpx.get(f"{server.url}/healthz", timeout=60).status_code == 200
    logged = server.stop()
    lines = [json.loads(line) for line in logged.splitlines()]
    assert {line["level"] for line in lines} == {"info"}
    assert {line.get("status") for line in lines} <= {None, 200, 499}
    assert server.running.returncode == 0


def test_pages_that_need_no_key_hold_no_data(serving: Callable[..., Server], tmp_path: Path) -> None:
    server = serving()
    key = Keys(tmp_path / "audit.keys.toml").issue("ann-canary")
    for sql in (ALL_C, ALL_C + " and age <> 30", "select sum(nothing) from staff"):
        httpx.post(f"{server.url}/v1/ask", json={"sql": sql}, headers={"authorization": f"Bearer {key}"})
    page = httpx.get(f"{server.url}/metrics")
    assert page.headers["content-type"].startswith("text/plain; version=0.0.4")
    for line in page.text.splitlines():  # the text form of Prometheus: a comment, or a name with a number
        assert line.startswith(("# HELP ", "# TYPE ")) or float(line.rsplit(" ", 1)[1]) >= 0
    requests = counted(server, "privet_audit_requests_total")
    assert requests == {
        'privet_audit_requests_total{status="200"}': 2,  # an answer and a denial: nobody sees which
        'privet_audit_requests_total{status="400"}': 1,
    }
    assert counted(server, "privet_audit_request_seconds_count")["privet_audit_request_seconds_count"] == 3
    assert counted(server, "privet_audit_ready")["privet_audit_ready"] == 1
    for word in ("ann", "salary", "staff", str(CANARY), "denied", "answered"):
        assert word not in page.text


def test_ready_is_true_when_the_database_is_gone_and_comes_back(
    serving: Callable[..., Server], tmp_path: Path
) -> None:
    server = serving()
    assert httpx.get(f"{server.url}/readyz").json() == {"status": "ready"}
    (tmp_path / "staff.db").rename(tmp_path / "away.db")
    assert until(server, "database")
    assert httpx.get(f"{server.url}/healthz").json() == {"status": "ok"}
    assert counted(server, "privet_audit_ready")["privet_audit_ready"] == 0
    (tmp_path / "away.db").rename(tmp_path / "staff.db")
    assert until(server, "ready")


def until(server: Server, status: str) -> bool:
    until = time.monotonic() + 120  # what was found holds ten times as long as it took
    while time.monotonic() < until:
        if httpx.get(f"{server.url}/readyz", timeout=60).json() == {"status": status}:
            return True
        time.sleep(0.1)
    return False


def begun(desk: Desk, analyst: str) -> bool:
    """Was a request of this analyst taken in? It is counted against the rate before anything else."""
    until = time.monotonic() + 120
    counted = sqlite3.connect(desk.config.log.with_name(f"{desk.config.log.name}.rate"))
    try:
        while time.monotonic() < until:
            if counted.execute("select 1 from bucket where analyst = ?", (analyst,)).fetchone():
                return True
            time.sleep(0.02)
    finally:
        counted.close()
    return False


def test_stopped_by_sigterm_it_answers_what_it_has_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The decision under way is sent; half a request is not waited for; the exit code is 0."""
    desk = desk_in(tmp_path)
    key = Keys(desk.config.keys).issue("ann")
    server = Server(tmp_path)
    body = json.dumps({"sql": ALL_C}).encode()
    head = HALF + f"Authorization: Bearer {key}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    desk.log._db.execute("begin immediate")
    with crowd(server.port, 1, head + body) as (one,):
        assert begun(desk, "ann")  # and now it waits for us
        os.kill(server.running.pid, signal.SIGTERM)
        time.sleep(0.3)
        assert server.running.poll() is None
        desk.log._db.execute("rollback")
        said = b""
        while part := one.recv(4096):
            said += part
    assert b'"result":"answered"' in said
    assert server.running.wait(120) == 0
    assert desk.log.verify() == 1
    assert json.loads(server.said.read_text().splitlines()[-1])["event"] == "stop"


def test_sigterm_does_not_wait_for_strangers(serving: Callable[..., Server]) -> None:
    server = serving("--seconds", "600")
    with crowd(server.port, 50), crowd(server.port, 5, HALF + b"Content-Length: 9\r\n\r\n"):
        server.stop()  # within a minute: they have ten
    assert server.running.returncode == 0


def test_lines_are_said_sparingly_and_counted() -> None:
    now = [0.0]
    sparingly = Sparingly(lambda: now[0])

    def record(name: str, fields: dict[str, Any], *, anybody: bool) -> logging.LogRecord:
        made = logging.LogRecord(name, logging.INFO, "", 0, "ask", (), None)
        made.fields, made.anybody = fields, anybody
        return made

    stranger = [sparingly.filter(record("privet.audit", {"status": 401}, anybody=True)) for _ in range(100)]
    assert sum(stranger) == OFTEN
    assert all(sparingly.filter(record("privet.audit", {"status": 200}, anybody=False)) for _ in range(100))
    now[0] = WHILE
    later = record("privet.audit", {"status": 401}, anybody=True)
    assert sparingly.filter(later)
    assert json.loads(Lines().format(later))["unsaid"] == 100 - OFTEN


def test_a_library_s_line_has_neither_arguments_nor_a_traceback() -> None:
    told = (ValueError, ValueError(f"somebody has {CANARY}"), None)
    made = logging.LogRecord("asyncio", logging.ERROR, "", 0, "failed for %s", (CANARY,), told)
    said = json.loads(Lines().format(made))
    assert {**said, "at": ""} == {"at": "", "level": "error", "event": "failed for %s", "kind": "ValueError"}


def test_limits_that_cannot_be() -> None:
    with pytest.raises(InputError, match="one connection"):
        Limits(connections=0)
    with pytest.raises(InputError, match="above 0"):
        Limits(seconds=0)
    assert Metrics().text(ready=False).endswith("privet_audit_ready 0\n")


# Honest analysts among strangers.

HOSTILE = 2_000


async def honest(server: Server, keys: list[str], each: int) -> list[float]:
    """Seconds of every request of everybody."""
    spent: list[float] = []

    async def analyst(client: httpx.AsyncClient, at: int) -> None:
        for sql in sqls(at, each):
            begun = time.perf_counter()
            said = await client.post(
                f"{server.url}/v1/ask", json={"sql": sql}, headers={"authorization": f"Bearer {keys[at]}"}
            )
            assert said.status_code == 200
            spent.append(time.perf_counter() - begun)
            await asyncio.sleep(0.05)

    limits = httpx.Limits(max_connections=len(keys))
    async with httpx.AsyncClient(limits=limits, timeout=60) as client:
        await asyncio.gather(*(analyst(client, at) for at in range(len(keys))))
    return spent


CROWD = """
import asyncio, sys
port, count = map(int, sys.argv[1:])
HALF = b"POST /v1/ask HTTP/1.1\\r\\nHost: gateway\\r\\n"
WHOLE = b"GET /healthz HTTP/1.1\\r\\nHost: g\\r\\n\\r\\n"
SAID = [b"", HALF, HALF + b"Content-Length: 9\\r\\n\\r\\n", b"\\x16\\x03\\x01", WHOLE]
async def one(at):
    while True:  # whoever is put out comes back a second later
        try:
            mine = (f"127.0.0.{1 + at % 40}", 0)
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=mine)
            writer.write(SAID[at % len(SAID)])
            await reader.read()
            writer.close()
        except OSError:
            pass
        await asyncio.sleep(1)
async def all():
    print("there", flush=True)
    await asyncio.gather(*(one(at) for at in range(count)))
asyncio.run(all())
"""


@contextmanager
def hostile(server: Server) -> Iterator[None]:
    """All of them, in a process of their own that has as much of this machine as anybody."""
    command = [sys.executable, "-c", CROWD, str(server.port), str(HOSTILE)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as running:
        try:
            assert running.stdout is not None
            running.stdout.readline()
            while counted(server, "privet_audit_connections")["privet_audit_connections"] < HOSTILE / 2:
                time.sleep(0.2)
            yield
        finally:
            running.kill()


@pytest.mark.slow
def test_fifty_analysts_among_2000_hostile_sockets(serving: Callable[..., Server], tmp_path: Path) -> None:
    """Half-open, half a body, noise, idle after a request; put out, they come back.

    Alone and among them in turn, in one run: what else this machine does weighs on both alike.
    """
    server = serving()
    issued = Keys(tmp_path / "audit.keys.toml")
    keys = [issued.issue(f"a{at}") for at in range(50)]
    asyncio.run(honest(server, keys, 20))  # both warm, and the log as long as it will be
    ratios, began = [], time.monotonic()
    for _ in range(5):
        alone = statistics.median(asyncio.run(honest(server, keys, 10)))
        with hostile(server):
            among = statistics.median(asyncio.run(honest(server, keys, 10)))
        ratios.append(among / alone)
        print(
            f"median {alone * 1000:.0f} ms alone, {among * 1000:.0f} ms among {HOSTILE:,}: {ratios[-1]:.2f}"
        )
    logged = server.stop()
    assert statistics.median(ratios) <= 2
    assert "Traceback" not in logged
    often = (time.monotonic() - began) / WHILE + 1
    assert sum('"ask"' not in line for line in logged.splitlines()) < 10 + 4 * OFTEN * often
