"""A request has its time as a whole, whatever comes of its answer in between."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from tests.node.nodes import contract_of, houses, tables

from privet.errors import PartyError
from privet.node import certificates
from privet.node.calling import HEADER, LISTS, RATE, SMALL, Caller, UnreachableError
from privet.node.house import House
from privet.node.runs import Runs
from privet.parties.transport import SPEAKS

HEAD = f"HTTP/1.1 200 OK\r\n{HEADER}: {SPEAKS}\r\ncontent-length: 40000\r\n".encode()
LONG = 8.0  # seconds for which the other side goes on


@contextmanager
def answering(house: House, answer: Callable[[ssl.SSLSocket], None]) -> Iterator[None]:
    """A node that gives one answer, in its own way."""
    known = [one.authority for one in (house.me(), *house.peers().values())]
    tls = certificates.serving(house.folder, known)
    with socket.create_server((house.host, house.port)) as listening:

        def serve() -> None:
            with suppress(OSError):
                taken, _ = listening.accept()
                with tls.wrap_socket(taken, server_side=True) as speaking:
                    speaking.recv(1 << 16)
                    answer(speaking)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield
    thread.join(LONG + 10)


def drop_by_drop(speaking: ssl.SSLSocket) -> None:
    until = time.monotonic() + LONG
    while time.monotonic() < until:
        speaking.sendall(b"x")
        time.sleep(0.1)


def a_head_that_does_not_end(speaking: ssl.SSLSocket) -> None:
    speaking.sendall(HEAD + b"more: ")
    drop_by_drop(speaking)


def a_body_that_does_not_end(speaking: ssl.SSLSocket) -> None:
    speaking.sendall(HEAD + b"\r\n")
    drop_by_drop(speaking)


def a_tail_that_is_kept(speaking: ssl.SSLSocket) -> None:
    speaking.sendall(HEAD + b"\r\n" + bytes(20_000))
    time.sleep(LONG)


def faster_than_the_rate(speaking: ssl.SSLSocket) -> None:
    """As a file comes, where nothing of the kind is due."""
    speaking.sendall(HEAD.replace(b"40000", b"999999") + b"\r\n")
    until = time.monotonic() + LONG
    while time.monotonic() < until:
        speaking.sendall(b" " * int(RATE / 5))
        time.sleep(0.1)


@pytest.mark.parametrize("answer", [a_head_that_does_not_end, a_body_that_does_not_end, a_tail_that_is_kept])
@pytest.mark.parametrize("what", ["call", "file"])
def test_an_answer_that_does_not_end_is_not_waited_for(
    what: str, answer: Callable[[ssl.SSLSocket], None], tmp_path: Path
) -> None:
    known = houses(tmp_path, ("A", "B"))
    with answering(known["B"], answer), Caller(tmp_path / "A", known["B"].me(), seconds=1.5) as caller:
        asks: dict[str, Callable[[], object]] = {
            "call": lambda: caller.call("GET", "/healthz"),
            "file": lambda: caller.file("/v1/releases/x/data.csv", tmp_path / "data.csv", 1 << 20),
        }
        began = time.monotonic()
        with pytest.raises(UnreachableError, match="B: does not answer in time"):
            asks[what]()
        assert time.monotonic() - began < LONG - 1


def test_a_short_answer_has_no_time_for_a_long_one(tmp_path: Path) -> None:
    known = houses(tmp_path, ("A", "B"))
    with (
        answering(known["B"], faster_than_the_rate),
        Caller(tmp_path / "A", known["B"].me(), seconds=1.5) as caller,
    ):
        began = time.monotonic()
        with pytest.raises(UnreachableError, match="B: does not answer in time"):
            caller.call("GET", "/v1/sessions/x")
        assert time.monotonic() - began < LONG - 1


def test_nor_is_more_of_it_read_than_it_may_have(tmp_path: Path) -> None:
    def long(speaking: ssl.SSLSocket) -> None:
        speaking.sendall(HEAD.replace(b"40000", b"%d" % (SMALL + 3)) + b"\r\n{" + b" " * (SMALL + 1) + b"}")

    known = houses(tmp_path, ("A", "B"))
    for most in (SMALL, LISTS):
        with answering(known["B"], long), Caller(tmp_path / "A", known["B"].me()) as caller:
            if most == LISTS:
                assert caller.call("GET", "/healthz", most=most) == (200, {})
                continue
            with pytest.raises(PartyError, match="B: answers with more than is agreed"):
                caller.call("GET", "/v1/sessions/x")


def test_who_is_stopped_while_a_peer_keeps_its_answer_starts_again_at_once(tmp_path: Path) -> None:
    known, data = houses(tmp_path), tables(tmp_path)
    path = contract_of(tmp_path / "c", known)
    runs = Runs(known["A"])
    asked = threading.Event()

    def silent(_: ssl.SSLSocket) -> None:
        asked.set()
        time.sleep(LONG)

    with answering(known["B"], silent):
        first = runs.start(path, data["A"], None)
        assert asked.wait(LONG)
        assert runs.give_up(first.contract)
        (ended,) = runs.every()
        assert (ended.state, ended.session) == ("failed", first.session)
        assert ended.why.startswith("A: ended by our own steward")
        second = runs.start(path, data["A"], None)
        assert second.session != first.session
        assert runs.give_up(first.contract)
    time.sleep(LONG)  # until the answer is there, and the thread of the first is done
    assert {one.session: one.why for one in runs.every()}[first.session] == ended.why


def test_a_file_that_goes_on_coming_is_waited_for(tmp_path: Path) -> None:
    """Longer than one request may take, at a rate that is a rate."""

    def slow(speaking: ssl.SSLSocket) -> None:
        speaking.sendall(HEAD + b"\r\n")
        for _ in range(20):
            time.sleep(0.1)
            speaking.sendall(bytes(2_000))

    known = houses(tmp_path, ("A", "B"))
    into = tmp_path / "data.csv"
    with answering(known["B"], slow), Caller(tmp_path / "A", known["B"].me(), seconds=1.0) as caller:
        assert caller.file("/v1/releases/x/data.csv", into, 1 << 20)
    assert into.stat().st_size == 40_000


def test_nor_is_a_handshake(tmp_path: Path) -> None:
    known = houses(tmp_path, ("A", "B"))
    with (
        socket.create_server((known["B"].host, known["B"].port)),
        Caller(tmp_path / "A", known["B"].me()) as caller,
    ):
        began = time.monotonic()
        with pytest.raises(UnreachableError, match="does not answer in time"):
            caller.call("GET", "/healthz", seconds=0.5)
        assert time.monotonic() - began < 10
