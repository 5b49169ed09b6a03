"""Messages: what is due is read, whatever else comes ends the run."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.parties.parties import NAMES, house

from privet.errors import InputError, PartyError
from privet.parties.transport import HEAD, SPEAKS, InProcess, Link, Session, together


def test_a_message_arrives_as_it_was_sent() -> None:
    def part(link: Link) -> Any:
        if link.me == 0:
            link.send_words(1, "numbers", np.array([1, 2, 3], dtype=np.uint32))
            return None
        return link.receive_words(0, "numbers", 3, np.uint32).tolist()

    one = house(2)
    assert together(one, [part, part]) == [None, [1, 2, 3]]
    assert one.links[1].traffic.transcript == [("north", "numbers", np.array([1, 2, 3], "<u4").tobytes())]
    assert one.links[0].traffic.sent == one.links[1].traffic.received == HEAD.size + 12


def heard(change: Callable[[InProcess, list[bytes]], list[bytes]]) -> None:
    """Two messages go from the first to the second, changed on the way."""
    one = house(2)
    kept: list[bytes] = []
    one.put = lambda sender, to, message: kept.append(message)  # type: ignore[method-assign]
    one.links[0].send(1, "first", b"1234")
    one.links[0].send(1, "second", b"56")
    for message in change(one, kept):
        InProcess.put(one, 0, 1, message)
    assert one.links[1].receive(0, "first", 4) == b"1234"
    assert one.links[1].receive(0, "second", 2) == b"56"


def other(position: int, fresh: bytes) -> Callable[[InProcess, list[bytes]], list[bytes]]:
    def change(_: InProcess, kept: list[bytes]) -> list[bytes]:
        return [kept[0][:position] + fresh + kept[0][position + len(fresh) :], kept[1]]

    return change


LATER = SPEAKS + 1
BETWEEN = f"of the protocol between parties, we speak {SPEAKS}"
WRONG: dict[str, tuple[Callable[[InProcess, list[bytes]], list[bytes]], str]] = {
    "replayed": (lambda _, kept: [kept[0], kept[0], kept[1]], "message 0 came where message 1 was due"),
    "reordered": (lambda _, kept: [kept[1], kept[0]], "message 1 came where message 0 was due"),
    "left out": (lambda _, kept: [kept[1]], "message 1 came where message 0 was due"),
    "of the first version": (other(13, b"1"), f"speaks version 1 {BETWEEN}"),
    "of a later version": (other(13, b"%d" % LATER), f"speaks version {LATER} {BETWEEN}"),
    "of no version": (other(13, b"\0"), "not a message of this protocol"),
    "of another session": (other(14, b"x" * 16), "another session"),
    "under another contract": (other(30, b"x" * 32), "another contract"),
    "from another party": (other(62, b"\1\0"), "not from it to this party"),
    "to another party": (other(64, b"\0\0"), "not from it to this party"),
    "of another kind": (other(74, b"other"), "another kind of message"),
    "with a wrong length": (other(90, b"\5"), "not as long as its head says"),
    "garbage": (lambda _, kept: [b"GET / HTTP/1.1", kept[1]], "not a message of this protocol"),
    "empty": (lambda _, kept: [b"", kept[1]], "not a message of this protocol"),
    "longer than due": (
        lambda _, kept: [kept[0][:90] + (9).to_bytes(8, "little") + b"123456789", kept[1]],
        "sent 9 bytes of 'first' where 4 are due",
    ),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_not_due_is_refused_and_its_sender_named(wrong: str) -> None:
    change, said = WRONG[wrong]
    with pytest.raises(PartyError, match=rf"^north: .*{said}") as caught:
        heard(change)
    assert "1234" not in str(caught.value)


def test_unchanged_they_are_read() -> None:
    heard(lambda _, kept: kept)


def test_one_that_cannot_go_on_ends_the_run_for_all() -> None:
    def part(link: Link) -> Any:
        if link.me == 2:
            raise ValueError("a reason of its own")
        return link.receive(2, "never", 1)

    begun = time.monotonic()
    with pytest.raises(ValueError, match="a reason of its own"):
        together(house(3), [part] * 3)
    assert time.monotonic() - begun < 5


def test_who_is_silent_too_long_is_named() -> None:
    session = Session(secrets.token_bytes(16), bytes(32), NAMES[:2])
    one = InProcess(session, patience=0.05)
    with pytest.raises(PartyError, match=r"^south: said nothing for"):
        one.links[0].receive(1, "anything", 1)


def test_rounds_are_the_longest_chain() -> None:
    def around(link: Link) -> None:
        if link.me == 0:
            link.send(1, "go", b"")
            link.receive(2, "go", 0)
        else:
            link.receive(link.me - 1, "go", 0)
            link.send((link.me + 1) % 3, "go", b"")

    def at_once(link: Link) -> None:
        for party in link.others:
            link.send(party, "go", b"")
        for party in link.others:
            link.receive(party, "go", 0)

    for part, rounds in ((around, 3), (at_once, 1)):
        one = house(3)
        together(one, [part] * 3)
        assert max(link.traffic.rounds for link in one.links) == rounds


def test_nobody_writes_to_itself_or_without_end() -> None:
    link = house(2).links[0]
    with pytest.raises(PartyError):
        link.send(0, "me", b"")


@pytest.mark.parametrize(
    ("id_", "digest", "names"), [(b"short", bytes(32), NAMES[:2]), (bytes(16), b"", NAMES[:2])]
)
def test_a_session_is_whole(id_: bytes, digest: bytes, names: tuple[str, ...]) -> None:
    with pytest.raises(PartyError):
        Session(id_, digest, names)


@pytest.mark.parametrize("slow", [0, 1, 2])
def test_several_causes_end_with_the_first_party_whoever_was_quicker(slow: int) -> None:
    def part(link: Link) -> None:
        if link.me == slow:
            time.sleep(0.05)
        raise PartyError("gone") if link.me == 0 else InputError(f"party {link.me}")

    with pytest.raises(InputError, match=r"^party 1$"):
        together(house(3), [part] * 3)
