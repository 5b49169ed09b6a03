"""The gateway's door: how many may stand in it, and for how long.

Whoever connects and says nothing costs a socket, and sockets run out. So there are limits on connections, in
total and from one address, and on the time that the handshake, the head of a request and its body may take.
Where a limit is reached, the one that has waited longest without a whole request makes room: first those
who never finished one, then those who did so without a key, analysts last. An honest newcomer sends a whole
request at once, and is never the one that waits longest. Whoever is being answered is never put out.
"""

from __future__ import annotations

import asyncio
import ssl
from collections import Counter
from dataclasses import dataclass
from typing import Any

from privet.disclose.audit.metrics import Metrics
from privet.errors import InputError, MissingExtraError

try:
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol
except ImportError:
    raise MissingExtraError("the audit gateway", "audit") from None

SPARE = 300  # file descriptors for everything that is not a connection, and for those on their way out
FIRST = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ\r\n"  # what a request begins with: a method, or an empty line before it
RANKS = 3  # never a whole request; whole ones without a key; an analyst


@dataclass(frozen=True)
class Limits:
    """Of connections, in total and from one address; of seconds for a handshake, a head, a body, a reply."""

    connections: int = 4000
    per_address: int = 200
    seconds: float = 10.0
    idle: float = (
        75.0  # between requests; analysts who wait for each other's decisions keep their connections
    )

    def __post_init__(self) -> None:
        if self.connections < 1 or self.per_address < 1:
            raise InputError("a gateway needs room for one connection at least")
        if self.seconds <= 0 or self.idle <= 0:
            raise InputError("a time limit is above 0")

    def fitting(self) -> Limits:
        """As many as this process may have file descriptors for; it takes all that the system grants."""
        import resource  # noqa: PLC0415 - not on every system

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = self.connections + SPARE
        if soft != resource.RLIM_INFINITY and soft < wanted:
            soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        if soft == resource.RLIM_INFINITY or soft >= wanted:
            return self
        return Limits(max(1, soft - SPARE), self.per_address, self.seconds, self.idle)


class Queue:
    """Those who wait, by rank and then by how long."""

    def __init__(self) -> None:
        self._ranks: tuple[dict[Visitor, None], ...] = tuple({} for _ in range(RANKS))

    def add(self, visitor: Visitor) -> None:
        self.discard(visitor)
        self._ranks[visitor.rank][visitor] = None

    def discard(self, visitor: Visitor) -> None:
        for each in self._ranks:
            each.pop(visitor, None)

    def longest(self) -> Visitor | None:
        return next((visitor for each in self._ranks for visitor in each), None)


class Door:
    """Counts who is there, and makes room."""

    def __init__(self, limits: Limits, metrics: Metrics, *, tls: ssl.SSLContext | None = None) -> None:
        self.limits, self.metrics, self.tls = limits, metrics, tls
        self._waiting = Queue()
        self._from: dict[str, Queue] = {}
        self._open: Counter[str] = Counter()

    def enter(self, visitor: Visitor) -> bool:
        """Is there room, perhaps after somebody else left?"""
        address = visitor.address
        for full, queue in (
            (self._open[address] >= self.limits.per_address, self._from.get(address)),
            (self.metrics.open >= self.limits.connections, self._waiting),
        ):
            if full:
                oldest = queue.longest() if queue is not None else None
                if oldest is None:
                    self.metrics.shed["refused"] += 1
                    return False
                oldest.leave("room")
        self._open[address] += 1
        self.metrics.open += 1
        return True

    def left(self, visitor: Visitor) -> None:
        """Somebody is gone."""
        self.busy(visitor)
        self._open[visitor.address] -= 1
        if self._open[visitor.address] <= 0:
            del self._open[visitor.address]
            self._from.pop(visitor.address, None)
        self.metrics.open -= 1

    def waits(self, visitor: Visitor) -> None:
        self._waiting.add(visitor)
        self._from.setdefault(visitor.address, Queue()).add(visitor)

    def busy(self, visitor: Visitor) -> None:
        self._waiting.discard(visitor)
        if visitor.address in self._from:
            self._from[visitor.address].discard(visitor)


class Visitor(H11Protocol):
    """One connection: uvicorn's, with a doorkeeper."""

    def __init__(self, door: Door, **given: Any) -> None:
        super().__init__(**given)
        self._door = door
        self.address, self.rank = "", 0
        self._outer: asyncio.Transport | None = None  # the socket itself, beneath TLS
        self._phase, self._inside, self._begun, self._heard = "", False, False, False
        self._early = b""
        self._timer: asyncio.TimerHandle | None = None
        self._handshake: asyncio.Task[None] | None = None
        self.app_state = {**self.app_state, "visitor": self}  # by which the application says who it is

    def known(self) -> None:
        """This one has a key."""
        self.rank = RANKS - 1

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        peer = transport.get_extra_info("peername")
        self._outer, self.address = transport, str(peer[0]) if peer else ""
        self._inside = self._door.enter(self)
        if not self._inside:
            transport.abort()
        elif self._door.tls is None:
            self._welcome(transport)
        else:
            transport.pause_reading()  # what comes now is for TLS
            self._wait("handshake")
            self._handshake = self.loop.create_task(self._greet(transport, self._door.tls))

    def _welcome(self, transport: asyncio.Transport) -> None:
        self._begun = True
        super().connection_made(transport)
        self._wait("header")
        early, self._early = self._early, b""
        if early:
            self.data_received(early)

    async def _greet(self, transport: asyncio.Transport, tls: ssl.SSLContext) -> None:
        seconds = self._door.limits.seconds
        try:
            safe = await self.loop.start_tls(
                transport, self, tls, server_side=True, ssl_handshake_timeout=seconds
            )
        except (
            OSError,
            EOFError,
        ):  # a client that hangs up or speaks something else: ssl.SSLError is an OSError
            safe = None
        if safe is None or safe.is_closing():
            self.leave("handshake")
            self._gone()
        else:
            self._welcome(safe)

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone()
        if self._begun:
            super().connection_lost(None if isinstance(exc, OSError) else exc)

    def _gone(self) -> None:
        self._stop_clock()
        if self._inside:
            self._inside = False
            self._door.left(self)

    def data_received(self, data: bytes) -> None:
        if not self._begun:  # with the end of the handshake came a request, and nobody was told of it yet
            self._early += data
            return
        if not self._heard and data[:1] not in FIRST:  # noise: not worth a parser, nor an answer
            self.leave("malformed")
            return
        self._heard = True
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        self.rank = max(self.rank, 1)
        super().on_response_complete()
        self._look()

    def send_400_response(self, msg: str) -> None:
        self._door.metrics.shed["malformed"] += 1
        super().send_400_response(msg)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._wait("reply")  # somebody who asks and does not read

    def resume_writing(self) -> None:
        super().resume_writing()
        self._phase = ""
        self._look()

    def _look(self) -> None:
        """Where in a request is this one? The clock of a phase begins once, whatever trickles in."""
        if not self._inside or self._phase == "reply":
            return
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            self._wait("body")
        elif state is not h11.IDLE:
            self._phase = "served"
            self._stop_clock()
            self._door.busy(self)
        elif self.conn.trailing_data[0] or not self.rank:
            self._wait("header")
        else:
            self._wait("idle")

    def _wait(self, phase: str) -> None:
        if phase == self._phase:
            return
        self._phase = phase
        self._stop_clock()
        self._door.waits(self)
        if phase != "idle":  # uvicorn's own clock is for that
            self._timer = self.loop.call_later(self._door.limits.seconds, self.leave, phase)

    def _stop_clock(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def leave(self, why: str) -> None:
        """End it at once. What was decided is in the log, whether the reply arrives or not."""
        self._door.metrics.shed[why] += 1
        self._gone()
        if self._outer is not None:
            self._outer.abort()
