"""Bytes between the nodes of one run: pieces of a stream, numbered, each sent until it is acknowledged.

What one party says to another is a stream of messages, each with its length in front. It travels in pieces,
each a request of its own with the number of the piece and the digest of the contract. A receiver takes piece
n after piece n-1 and nothing else: the same piece once more is acknowledged and not read again (an answer may
have been lost), any other number is refused. What has arrived and was not read is bounded; a sender whose
receiver is full waits.

Whoever waits for a peer that says nothing asks it now and then whether it still runs. One that does not, or
cannot be reached for a while, ends the run.

Trust: TLS authenticates and encrypts; `transport.Link` checks every message again.
Leaks: sizes and times of messages, to the network.
"""

from __future__ import annotations

import hashlib
import queue
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from functools import partial
from time import monotonic

from privet.errors import PartyError
from privet.node.calling import RATE, Caller, UnreachableError
from privet.node.ending import has_ended

PIECE = 4 << 20  # bytes of one request
ROOM = 64 << 20  # bytes that have arrived and were not read
LENGTH = 8
ASK = 2.0  # seconds of silence at most after which a peer is asked whether it runs
AGAIN = 0.05  # seconds between two attempts, doubled each time
SLOWEST = 1.0


class Reach:
    """Whether a peer can be reached: not, when nothing was heard of it for the grace, over several attempts.

    One attempt that fails says little: a busy machine hangs up, or is slow to say so. The time runs from the
    first that failed, and anything that is heard of the peer ends it.
    """

    def __init__(self, grace: float) -> None:
        self._grace = grace
        self._since: float | None = None

    def heard(self) -> None:
        self._since = None

    def lost(self) -> bool:
        """One more attempt got no answer: is there no hope?"""
        if (since := self._since) is None:
            self._since = monotonic()
            return False
        return monotonic() - since > self._grace


class Taken(Enum):
    """What became of a piece."""

    TAKEN = "taken"
    ALREADY = "already"  # it came before, and the answer was lost
    FULL = "full"
    ORDER = "order"  # replayed, left out or reordered


class Ordered:
    """Pieces that came and were not read: taken in order, each once, and not too many."""

    def __init__(self, room: int) -> None:
        self._room = room
        self.pieces: deque[bytes] = deque()
        self.size = 0  # bytes
        self._next = 0
        self._last = b""

    def take(self, number: int, piece: bytes) -> Taken:
        mark = hashlib.sha256(piece).digest()
        if number == self._next - 1 and mark == self._last:
            return Taken.ALREADY
        if number != self._next:
            return Taken.ORDER
        if self.size and self.size + len(piece) > self._room:
            return Taken.FULL
        self._next, self._last = number + 1, mark
        self.pieces.append(piece)
        self.size += len(piece)
        return Taken.TAKEN


class Inbox:
    """What one peer has said and this party has not read."""

    def __init__(self, ask: float = ASK, reach: Reach | None = None) -> None:
        self._ask = ask
        self._reach = reach
        self._came = Ordered(ROOM)
        self._ended: str | None = None
        self._there = threading.Condition()
        self.certificate: bytes | None = None  # what the peer showed; it may not change within a run

    def take(self, number: int, piece: bytes) -> Taken:
        """A piece has arrived."""
        with self._there:
            taken = self._came.take(number, piece)
            if taken is Taken.TAKEN:
                self._there.notify_all()
        if self._reach is not None:
            self._reach.heard()
        return taken

    def end(self, why: str) -> None:
        """Nothing more is to be read."""
        with self._there:
            self._ended = self._ended or why
            self._there.notify_all()

    def read(
        self, count: int, silent: Callable[[float], None], patience: float, began: float | None = None
    ) -> bytes:
        """So many bytes; `silent` is called while none come, and raises where there is no hope.

        It is told how many seconds there are left for it. A peer that sends a byte now and then is not
        silent, and would never be done: all of it has its time, `began` being when that began.
        """
        found: list[bytes] = []
        since = monotonic()
        until = (since if began is None else began) + patience + count / RATE
        while count:
            left = min(since + patience, until) - monotonic()
            with self._there:
                if self._ended is not None:
                    raise PartyError(self._ended)
                if not self._came.pieces and left > 0:
                    self._there.wait(min(self._ask, left))
                piece = self._came.pieces.popleft() if self._came.pieces else None
                if piece is not None:
                    if len(piece) > count:
                        self._came.pieces.appendleft(piece[count:])
                        piece = piece[:count]
                    self._came.size -= len(piece)
            if piece is not None:
                found.append(piece)
                count -= len(piece)
                since = monotonic()
                if count and since > until:
                    raise PartyError(f"takes more than {patience:g} seconds to say what is due")
            elif (now := monotonic()) >= since + patience:
                raise PartyError(f"said nothing for {patience:g} seconds")
            elif now >= until:
                raise PartyError(f"takes more than {patience:g} seconds to say what is due")
            elif now - since >= self._ask:
                silent(min(since + patience, until) - now)
        return b"".join(found)


class Outbox:
    """What this party says to one peer: sent in order, by a thread of its own."""

    def __init__(
        self,
        caller: Caller,
        path: str,
        contract: bytes,
        failed: Callable[[str], None],
        *,
        patience: float,
        reach: Reach,
        parties: Sequence[str] = (),
    ) -> None:
        self._ended = partial(has_ended, parties)
        self._caller = caller
        self._patience, self._reach = patience, reach
        self._path = path
        self._headers = {"privet-contract": contract.hex()}
        self._failed = failed
        self._queue: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._sent = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def put(self, message: bytes) -> None:
        self._queue.put(len(message).to_bytes(LENGTH, "little") + message)

    def last(self) -> None:
        """Nothing more will be said."""
        self._queue.put(None)

    def close(self, seconds: float) -> None:
        """Let go what was said; then no more."""
        self._thread.join(max(0.0, seconds))
        self._stopped.set()

    def stop(self) -> None:
        """At once, whatever was said."""
        self._stopped.set()
        self._queue.put(None)

    def _run(self) -> None:
        last = False
        while not last:
            message = self._queue.get()
            if message is None:
                return
            said = [message]
            size = len(message)
            while size < PIECE and not self._queue.empty():  # what waits travels together
                more = self._queue.get()
                if more is None:
                    last = True
                    break
                said.append(more)
                size += len(more)
            whole = b"".join(said)
            for at in range(0, len(whole), PIECE):
                try:
                    self._deliver(whole[at : at + PIECE])
                except PartyError as error:
                    if not self._stopped.is_set():
                        self._failed(str(error))
                    return

    def _deliver(self, piece: bytes) -> None:
        """One piece, until it is acknowledged or there is no hope.

        A peer that answers and has not begun (404) or is full (429) has as long as any party has to say
        something; one that does not answer at all has the grace.
        """
        name = self._caller.peer.name
        wait, begun = AGAIN, monotonic()
        while True:
            try:
                status, said = self._caller.call(
                    "PUT",
                    f"{self._path}/{self._sent}",
                    body=piece,
                    headers=self._headers,
                    seconds=begun + self._patience - monotonic(),
                )
                self._reach.heard()
            except UnreachableError:
                if self._reach.lost():
                    raise
                status = 0
            if status == 200:
                self._sent += 1
                return
            if status == 410:
                raise PartyError(self._ended(name, said.get("named")))
            if status not in {0, 404, 429}:
                raise PartyError(f"{name}: {REFUSED.get(status, 'refuses what is sent to it')}")
            if monotonic() - begun > self._patience:
                raise PartyError(f"{name}: has not begun, or does not read what is sent to it")
            if self._stopped.wait(wait):
                raise PartyError(f"{name}: is not sent any more")
            wait = min(2 * wait, SLOWEST)


REFUSED = {
    403: "does not know us as a party of this run",
    409: "runs another contract, or says that a piece was replayed or reordered",
    413: "says that a piece is too long",
}


class Nodes:
    """The wires of one party: an inbox and an outbox for every peer."""

    def __init__(
        self,
        parties: tuple[str, ...],
        me: int,
        callers: Mapping[str, Caller],
        *,
        session: bytes,
        contract: bytes,
        patience: float,
        grace: float,
    ) -> None:
        self._parties = parties
        self._grace = grace
        self._callers = callers
        self._patience = patience
        self._where = f"/v1/sessions/{session.hex()}"
        self._reach = {name: Reach(grace) for at, name in enumerate(parties) if at != me}
        self.inbox = {name: Inbox(min(ASK, grace / 4), reach) for name, reach in self._reach.items()}
        self.ended: str | None = None  # why, where somebody has ended the run
        pieces = f"{self._where}/pieces"
        self._outbox = {
            name: Outbox(
                callers[name], pieces, contract, self.end, patience=patience, reach=reach, parties=parties
            )
            for name, reach in self._reach.items()
        }

    def put(self, to: int, message: bytes) -> None:
        self._outbox[self._parties[to]].put(message)

    def get(self, sender: int, most: int) -> bytes:
        name = self._parties[sender]
        inbox, began = self.inbox[name], monotonic()
        try:
            head = inbox.read(LENGTH, partial(self._ask, name), self._patience)
            return inbox.read(_length(head, most), partial(self._ask, name), self._patience, began)
        except PartyError as error:
            said = str(error)
            named = said.partition(":")[0] in self._parties
            raise PartyError(said if named else f"{name}: {said}") from None

    def certificate(self, party: int) -> bytes | None:
        return self.inbox[self._parties[party]].certificate

    def end(self, why: str) -> None:
        """Whoever waits is told why."""
        self.ended = self.ended or why
        for inbox in self.inbox.values():
            inbox.end(why)

    def close(self) -> None:
        """The run went well: what was said arrives, to whoever takes it in time."""
        until = monotonic() + self._patience
        for outbox in self._outbox.values():
            outbox.last()
        for outbox in self._outbox.values():
            outbox.close(until - monotonic())

    def stop(self, named: str) -> None:
        """The run has ended: the others are told, whoever can be reached, and which party is the cause."""
        for outbox in self._outbox.values():
            outbox.stop()
        threads = [
            threading.Thread(target=self._tell_end, args=(caller, named), daemon=True)
            for name, caller in self._callers.items()
            if name in self.inbox
        ]
        for thread in threads:
            thread.start()
        until = monotonic() + self._grace
        for thread in threads:
            thread.join(max(0.0, until - monotonic()))

    def _tell_end(self, caller: Caller, named: str) -> None:
        said = {"named": named} if named in self._parties else {}
        try:
            caller.call("POST", f"{self._where}/end", document=said, seconds=self._grace)
        except PartyError:
            return  # it finds out by itself

    def _ask(self, name: str, seconds: float) -> None:
        """A peer that says nothing: does it still run?"""
        try:
            status, said = self._callers[name].call("GET", self._where, seconds=seconds)
        except UnreachableError:
            if self._reach[name].lost():
                raise
            return
        self._reach[name].heard()
        if status not in {200, 404} or said.get("state") == "failed":  # 404: it has not begun yet
            raise PartyError(has_ended(self._parties, name, said.get("named")))


def _length(head: bytes, most: int) -> int:
    """How much is read: what is due, whatever a peer claims."""
    found = int.from_bytes(head, "little")
    if found > most:
        raise PartyError(f"sends a message of {found:,} bytes where {most:,} are due")
    return found
