"""What a relay keeps: pieces in order, each once, not too many; tunnels only while both ends are there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.node import relay
from privet.node.relay import PIECE, ROOM, Exchange, Pipe
from privet.node.wires import Taken


def test_a_piece_is_taken_once_and_in_order() -> None:
    pipe = Pipe()
    assert pipe.take(0, b"a") is Taken.TAKEN
    assert pipe.take(0, b"a") is Taken.ALREADY, "the answer may have been lost"
    assert pipe.take(0, b"b") is Taken.ORDER, "another piece of the same number"
    assert pipe.take(2, b"c") is Taken.ORDER, "one was left out"
    assert pipe.take(1, b"c") is Taken.TAKEN
    assert pipe.take(0, b"a") is Taken.ORDER, "replayed"
    assert pipe.give(0) == b"ac"
    assert pipe.give(0) == b"ac", "again: the answer may have been lost"
    assert pipe.give(1) is None
    assert pipe.give(0) == b"ac"
    assert pipe.give(2) is Taken.ORDER


def test_what_is_not_fetched_is_bounded() -> None:
    pipe, number = Pipe(), 0
    while pipe.take(number, bytes(PIECE)) is Taken.TAKEN:
        number += 1
    assert number * PIECE == ROOM
    assert pipe.take(number, b"x") is Taken.FULL
    assert len(pipe.give(0) or b"") == PIECE  # type: ignore[arg-type]
    assert pipe.take(number, b"x") is Taken.TAKEN


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=20), st.randoms())
def test_what_is_given_is_what_was_taken(pieces: list[bytes], random: object) -> None:
    pipe, found, at, fetched = Pipe(), b"", 0, 0
    while at < len(pieces) or len(found) < sum(map(len, pieces)):
        if at < len(pieces) and random.random() < 0.5:  # type: ignore[attr-defined]
            assert pipe.take(at, pieces[at]) is Taken.TAKEN
            at += 1
        elif isinstance(given_ := pipe.give(fetched), bytes):
            found += given_
            fetched += 1
    assert found == b"".join(pieces)


def test_a_tunnel_is_there_while_both_ends_are(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(relay, "monotonic", lambda: now[0])
    exchange = Exchange()
    exchange.here("north", 10)
    assert exchange.open("north", "south") is None, "south is not there"
    exchange.here("south", 5)
    at = exchange.open("north", "south")
    assert at is not None
    assert exchange.next_call("north") is None
    assert exchange.next_call("south") == (at, "north")
    assert exchange.next_call("south") is None
    assert exchange.of(at, "north") is exchange.of(at, "south") is not None
    assert exchange.of(at, "west") is None, "not an end of it"
    now[0] += 6
    assert exchange.of(at, "north") is None, "south is gone, and with it the tunnel"
    exchange.here("south", 5)
    assert exchange.of(at, "north") is None, "for good"


def test_a_node_has_so_many_tunnels_at_most() -> None:
    exchange = Exchange()
    for name in ("north", "south", "west"):
        exchange.here(name, 60)
    for _ in range(relay.TUNNELS):
        assert exchange.open("north", "south") is not None
    assert exchange.open("north", "west") is None
    assert exchange.open("west", "south") is not None
    assert exchange.open("south", "west") is not None, "whoever is called by one can still call others"
