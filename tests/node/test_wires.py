"""Pieces of a stream: in order, once, bounded; and what a receiver says where they are not."""

from __future__ import annotations

import threading
import time
from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.errors import PartyError
from privet.node import wires
from privet.node.calling import UnreachableError
from privet.node.wires import ROOM, Inbox, Nodes, Outbox, Reach, Taken


def silent(_: float) -> None:
    raise PartyError("is gone")


def test_pieces_are_taken_in_order_and_once() -> None:
    inbox = Inbox()
    assert inbox.take(0, b"ab") is Taken.TAKEN
    assert inbox.take(0, b"ab") is Taken.ALREADY, "its answer was lost"
    assert inbox.take(0, b"xy") is Taken.ORDER, "another piece of the same number"
    assert inbox.take(2, b"ef") is Taken.ORDER, "left out"
    assert inbox.take(1, b"cd") is Taken.TAKEN
    assert inbox.take(0, b"ab") is Taken.ORDER, "replayed"
    assert inbox.read(4, silent, 1.0) == b"abcd", "nothing that was refused is read"


@given(st.lists(st.binary(max_size=9), max_size=9), st.data())
def test_a_stream_is_read_as_it_was_said(pieces: list[bytes], data: st.DataObject) -> None:
    inbox, whole = Inbox(), b"".join(pieces)
    for number, piece in enumerate(pieces):
        assert inbox.take(number, piece) is Taken.TAKEN
    found = b""
    while len(found) < len(whole):
        found += inbox.read(data.draw(st.integers(1, len(whole) - len(found))), silent, 1.0)
    assert found == whole


def test_what_was_not_read_is_bounded() -> None:
    inbox, piece = Inbox(), b"x" * (ROOM // 2)
    assert [inbox.take(number, piece) for number in range(2)] == [Taken.TAKEN] * 2
    assert inbox.take(2, piece) is Taken.FULL
    inbox.read(len(piece), silent, 1.0)
    assert inbox.take(2, piece) is Taken.TAKEN, "there is room again"


def test_who_waits_hears_that_the_run_has_ended() -> None:
    inbox, said = Inbox(), []

    def wait() -> None:
        try:
            inbox.read(1, silent, 60.0)
        except PartyError as error:
            said.append(str(error))

    thread = threading.Thread(target=wait)
    thread.start()
    inbox.end("B: has ended the run; nothing is published")
    thread.join(20)
    assert said == ["B: has ended the run; nothing is published"]
    inbox.take(0, b"late")
    with pytest.raises(PartyError, match="B: has ended"):
        inbox.read(1, silent, 1.0)


def test_a_silent_peer_is_asked_and_patience_ends() -> None:
    with pytest.raises(PartyError, match="is gone"):
        Inbox(0.01).read(1, silent, 60.0)
    with pytest.raises(PartyError, match=r"said nothing for 0\.05 seconds"):
        Inbox(0.01).read(1, lambda _: None, 0.05)


def test_a_peer_that_sends_a_byte_now_and_then_is_not_waited_for_without_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [0.0]
    monkeypatch.setattr(wires, "monotonic", lambda: clock[0])
    inbox = Inbox(0.01)

    class Slow(deque[bytes]):
        """Always another byte, each a minute after the one before."""

        def popleft(self) -> bytes:
            clock[0] += 60.0
            return b"x"

    inbox._came.pieces = Slow([b"x"])
    inbox._came.size = 10_000
    with pytest.raises(PartyError, match="takes more than 600 seconds to say what is due"):
        inbox.read(5_000, silent, 600.0)
    assert 600 < clock[0] < 700
    clock[0] = 0.0
    assert inbox.read(9, silent, 600.0) == b"x" * 9, "slow, and in time"


def test_head_and_tail_of_a_message_have_their_time_together() -> None:
    """A peer that says how long a message is just in time, and keeps the message, has no second patience."""
    one, began = nodes(Loop("B"), patience=4.0), time.monotonic()
    late = threading.Timer(2.0, one.inbox["B"].take, [0, (900).to_bytes(8, "little") + b"x"])
    late.start()  # two seconds early, as a busy machine may be late
    with pytest.raises(PartyError, match="B: takes more than 4 seconds to say what is due"):
        one.get(1, 1_000)
    assert time.monotonic() - began < 5.8


def test_who_waits_asks_no_longer_than_there_is_time_for_it() -> None:
    """What a relay keeps is an answer, too: the question took half a minute, whatever the patience was."""
    given: list[float] = []

    class Kept(Loop):
        def call(self, *_: Any, seconds: float = 30.0, **__: Any) -> Any:
            given.append(seconds)
            time.sleep(min(seconds, 3.0))
            raise UnreachableError("B: does not answer in time")

    one, began = nodes(Kept("B"), patience=1.0), time.monotonic()
    with pytest.raises(PartyError, match=r"^B: "):
        one.get(1, 1_000)
    assert time.monotonic() - began < 2.8
    assert given
    assert max(given) < 1.0
    one, began = nodes(Kept("B"), patience=1.0), time.monotonic()
    one.put(1, b"the last word")
    one.close()
    assert time.monotonic() - began < 2.8


def test_several_that_do_not_take_the_last_word_are_waited_for_at_the_same_time() -> None:
    class Deaf(Loop):
        def call(self, *_: Any, **__: Any) -> Any:
            time.sleep(4.0)
            raise UnreachableError(f"{self.peer.name}: does not answer in time")

    parties = ("A", "B", "C", "D")
    callers: Any = {name: Deaf(name) for name in parties[1:]}
    one = Nodes(parties, 0, callers, session=b"s" * 16, contract=b"c" * 32, patience=1.0, grace=1.0)
    for party in (1, 2, 3):
        one.put(party, b"the last word")
    began = time.monotonic()
    one.close()
    assert time.monotonic() - began < 2.8
    began = time.monotonic()
    one.stop(named="")
    assert time.monotonic() - began < 2.8


def test_a_length_beyond_what_is_due_is_refused_before_anything_of_it_is_read() -> None:
    with pytest.raises(PartyError, match="bytes where 104 are due"):
        wires._length(b"\xff" * 8, 104)
    assert wires._length((104).to_bytes(8, "little"), 104) == 104


# Two ends, with what a network may do between them.


class Loop:
    """A peer that is called in this process: its inbox takes the pieces, and answers may be lost."""

    def __init__(self, name: str, lost: int = 0, status: int | None = None) -> None:
        self.peer = SimpleNamespace(name=name)
        self.inbox = Inbox(0.05)
        self.asked: list[str] = []
        self._lost, self._status = lost, status

    def begin(self) -> None:
        self._status = None

    def call(
        self, method: str, path: str, *, body: bytes | None = None, **_: Any
    ) -> tuple[int, dict[str, Any]]:
        self.asked.append(f"{method} {path.rpartition('/')[2]}")
        if method != "PUT":
            return 200, {"state": "running"}
        if self._status is not None:
            return self._status, {}
        taken = self.inbox.take(int(path.rpartition("/")[2]), body or b"")
        assert taken in {Taken.TAKEN, Taken.ALREADY}
        if self._lost:
            self._lost -= 1
            raise UnreachableError(f"{self.peer.name}: does not answer in time")
        return 200, {}


def nodes(loop: Loop, grace: float = 0.3, patience: float = 30.0) -> Nodes:
    callers: Any = {"B": loop}
    return Nodes(
        ("A", "B"), 0, callers, session=b"s" * 16, contract=b"c" * 32, patience=patience, grace=grace
    )


def arrived(loop: Loop, count: int) -> list[bytes]:
    """What the other end reads."""
    found = []
    for _ in range(count):
        length = int.from_bytes(loop.inbox.read(8, lambda _: None, 30.0), "little")
        found.append(loop.inbox.read(length, lambda _: None, 30.0))
    return found


@pytest.mark.parametrize("lost", [0, 1, 3])
def test_messages_arrive_whole_and_once_whatever_answers_are_lost(lost: int) -> None:
    loop = Loop("B", lost)
    one = nodes(loop, grace=20.0)
    said = [b"x" * (wires.PIECE + 5), b"", b"short", b"y" * (2 * wires.PIECE)]
    for message in said:
        one.put(1, message)
    one.close()
    assert arrived(loop, len(said)) == said


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (403, "B: does not know us as a party"),
        (409, "B: runs another contract, or says that a piece was replayed"),
        (410, "B: has ended the run; nothing is published"),
        (413, "B: says that a piece is too long"),
        (500, "B: refuses what is sent to it"),
    ],
)
def test_a_peer_that_refuses_ends_the_run_and_is_named(status: int, why: str) -> None:
    one = nodes(Loop("B", status=status))
    one.put(1, b"message")
    with pytest.raises(PartyError, match=rf"^{why}"):
        one.get(1, 1_000)


def test_a_peer_that_is_gone_is_noticed_by_who_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop("B")
    one = nodes(loop)

    def gone(*_: object, **__: object) -> Any:
        raise UnreachableError("B: cannot be reached")

    monkeypatch.setattr(loop, "call", gone)
    with pytest.raises(PartyError, match=r"^B: cannot be reached$"):
        one.get(1, 1_000)


def test_one_attempt_that_fails_late_is_not_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine takes longer than the grace to hang up; it is asked once more."""
    loop = Loop("B")
    honest = loop.call
    failed: list[bool] = []

    def slow(*given: Any, **named: Any) -> Any:
        if not failed:
            time.sleep(0.2)
            failed.append(True)
            raise UnreachableError("B: hangs up on us")
        return honest(*given, **named)

    monkeypatch.setattr(loop, "call", slow)
    one = nodes(loop, grace=0.05)
    one.put(1, b"message")
    one.close()
    assert one.ended is None
    assert arrived(loop, 1) == [b"message"]


def test_a_peer_is_out_of_reach_only_when_nothing_is_heard_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(wires, "monotonic", lambda: clock[0])
    reach = Reach(15.0)
    inbox = Inbox(reach=reach)
    assert not reach.lost()
    clock[0] = 100.0
    inbox.take(0, b"it speaks")
    clock[0] = 200.0
    assert not reach.lost(), "the attempt that failed long ago is forgotten: the peer has spoken since"
    clock[0] = 215.0
    assert not reach.lost()
    clock[0] = 216.0
    assert reach.lost()
    reach.heard()
    assert not reach.lost()


def test_who_ends_a_run_names_whom_it_ends_it_for() -> None:
    said: list[Any] = []

    class Told(Loop):
        def call(self, method: str, path: str, **named: Any) -> tuple[int, dict[str, Any]]:
            said.append((method, path.rpartition("/")[2], named.get("document")))
            return 200, {}

    nodes(Told("B")).stop(named="B")
    nodes(Told("B")).stop(named="a value of the data")
    assert said == [("POST", "end", {"named": "B"}), ("POST", "end", {})]


def test_a_peer_that_has_failed_is_noticed_by_who_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = Loop("B")
    monkeypatch.setattr(loop, "call", lambda *_, **__: (200, {"state": "failed"}))
    with pytest.raises(PartyError, match=r"^B: has ended the run"):
        nodes(loop).get(1, 1_000)


def test_a_peer_that_begins_later_than_the_grace_is_waited_for() -> None:
    """Whoever joined first may be quicker than the leader is at asking the others to join."""
    loop = Loop("B", status=404)
    one = nodes(loop, grace=0.01)
    one.put(1, b"early")
    until = time.monotonic() + 20
    while len(loop.asked) < 3 and time.monotonic() < until:
        time.sleep(0.01)
    loop.begin()
    one.close()
    assert arrived(loop, 1) == [b"early"]


@pytest.mark.parametrize("status", [404, 429])
def test_a_peer_that_never_begins_or_never_reads_is_given_up(status: int) -> None:
    said: list[str] = []
    over = threading.Event()

    def failed(why: str) -> None:
        said.append(why)
        over.set()

    loop: Any = Loop("B", status=status)
    Outbox(loop, "/pieces", b"c" * 32, failed, patience=0.1, reach=Reach(20.0)).put(b"message")
    assert over.wait(20)
    assert said == ["B: has not begun, or does not read what is sent to it"]
