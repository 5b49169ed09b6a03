"""The relay: nodes that may only call out meet here; it carries their bytes and can read none of them.

Two nodes that use it make TLS 1.3 with each other, through it, with the certificates of their invitations,
just as if one had called the other: what passes here is what any wire between them would carry. So the relay
needs no trust for what is said, only for its being carried; whatever it changes, leaves out, repeats or makes
up ends the connection. (Payloads sealed one by one would need keys, numbers and checks of their own, to the
same end.)

A node asks for calls and for what was sent to it, and waits for the answer (long-poll); every piece has its
number, a piece that came before is acknowledged and not taken again, any other number is refused, and what
has come and was not fetched is bounded. Who may use it are the nodes whose invitations its operator has
accepted.

Trust: the operator may see which nodes talk, when and how much, and may stop them. Nothing else.
Leaks: that, to the operator.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import Any

from privet.disclose.audit.lines import begin, say
from privet.errors import MissingExtraError
from privet.node import certificates
from privet.node.faces import Faces, kept_fresh
from privet.node.house import House
from privet.node.speaking import Speaking
from privet.node.wires import Ordered, Taken

try:
    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse, Response

    from privet.disclose.audit.door import Door, Limits
    from privet.disclose.audit.metrics import Metrics
    from privet.disclose.audit.service import Service, configured, listening
    from privet.node.service import LAST, STATUS, Caller, body_of, wordless
except ImportError:
    raise MissingExtraError("a relay", "node") from None

PIECE = 256 << 10  # bytes of one request or answer
ROOM = 4 << 20  # bytes that have come one way and were not fetched
WAIT = 10.0  # seconds that an answer is waited for
LOOK = 0.5  # seconds between two looks whether somebody is still there
AFTER = 30.0  # seconds after an answer within which a node asks again: a busy machine is slow
GONE = 3.0  # seconds that are left to a node that hung up while it waited
TUNNELS = 64  # that one node has called
ID = re.compile(r"[0-9a-f]{32}")


class Pipe:
    """One way of a tunnel: pieces that came, in order, until they are fetched."""

    def __init__(self) -> None:
        self._came = Ordered(ROOM)
        self._given, self._again = 0, b""
        self.there = asyncio.Event()

    def take(self, number: int, piece: bytes) -> Taken:
        taken = self._came.take(number, piece)
        if taken is Taken.TAKEN:
            self.there.set()
        return taken

    def give(self, number: int) -> bytes | Taken | None:
        """Piece `number` of what is fetched, or the last one again: an answer may be lost. None: not yet."""
        if number == self._given - 1:
            return self._again
        if number != self._given:
            return Taken.ORDER
        waiting = self._came.pieces
        if not waiting:
            self.there.clear()
            return None
        found = [waiting.popleft()]
        while waiting and sum(map(len, found)) + len(waiting[0]) <= PIECE:
            found.append(waiting.popleft())
        self._again = b"".join(found)
        self._came.size -= len(self._again)
        self._given += 1
        return self._again


class Tunnel:
    """A connection of one node to another."""

    def __init__(self, caller: str, called: str) -> None:
        self.ends = (caller, called)
        self.to = {caller: Pipe(), called: Pipe()}

    def other(self, name: str) -> str:
        return self.ends[1] if name == self.ends[0] else self.ends[0]

    def close(self) -> None:
        for pipe in self.to.values():
            pipe.there.set()


class Exchange:
    """All tunnels, and who is there."""

    def __init__(self) -> None:
        self.tunnels: dict[str, Tunnel] = {}
        self._calls: dict[str, deque[str]] = {}
        self._there: dict[str, float] = {}  # by node until when it is taken to be there
        self._called: dict[str, asyncio.Event] = {}

    def here(self, name: str, seconds: float) -> None:
        self._there[name] = monotonic() + seconds

    def is_there(self, name: str) -> bool:
        return self._there.get(name, 0.0) > monotonic()

    def open(self, caller: str, called: str) -> str | None:
        """A new tunnel's id; None where the other is not there or there are too many."""
        self.sweep()
        # Those that it called: whoever is called by others can still call.
        mine = sum(caller == tunnel.ends[0] for tunnel in self.tunnels.values())
        if not self.is_there(called) or mine >= TUNNELS:
            return None
        found = secrets.token_hex(16)
        self.tunnels[found] = Tunnel(caller, called)
        self._calls.setdefault(called, deque()).append(found)
        self.called(called).set()
        return found

    def called(self, name: str) -> asyncio.Event:
        return self._called.setdefault(name, asyncio.Event())

    def next_call(self, name: str) -> tuple[str, str] | None:
        """A tunnel that waits for this node, and who called."""
        waiting = self._calls.get(name, deque())
        while waiting:
            at = waiting.popleft()
            if at in self.tunnels:
                return at, self.tunnels[at].ends[0]
        self.called(name).clear()
        return None

    def of(self, at: str, name: str) -> Tunnel | None:
        """A tunnel that this node is an end of, while both are there."""
        tunnel = self.tunnels.get(at)
        if tunnel is None or name not in tunnel.ends:
            return None
        if not self.is_there(tunnel.other(name)):
            self.close(at)
            return None
        return tunnel

    def close(self, at: str) -> None:
        if (tunnel := self.tunnels.pop(at, None)) is not None:
            tunnel.close()

    def sweep(self) -> None:
        """Close what has an end that is not there any more."""
        for at in [at for at, tunnel in self.tunnels.items() if not all(map(self.is_there, tunnel.ends))]:
            self.close(at)


def application(house: House, faces: Faces) -> FastAPI:
    """The relay as an ASGI application; `faces`: who may use it."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.add_middleware(Speaking, faces=faces)
    exchange = Exchange()

    async def patiently(request: Request, name: str, event: Callable[[], asyncio.Event], ready: Any) -> Any:
        """What is asked for, as soon as it is there; None after a while, or when the asker is gone."""
        until = monotonic() + WAIT
        while True:
            exchange.here(name, AFTER)
            if (found := ready()) is not None or monotonic() > until:
                return found
            if await request.is_disconnected():
                exchange.here(name, GONE)
                return None
            with suppress(TimeoutError):
                await asyncio.wait_for(event().wait(), LOOK)

    async def health(request: Request) -> Response:
        said: dict[str, Any] = {"status": "ok", "relay": house.name}
        if faces.who(request) == house.name:
            said |= {
                "there": sorted(filter(exchange.is_there, house.peers())),
                "tunnels": len(exchange.tunnels),
            }
        return _said(200, said)

    async def calls(request: Request) -> Response:
        name = faces.who(request)
        if name is None or name == house.name:
            return refused(request, 403, "not a node that may use this relay")
        found = await patiently(
            request, name, lambda: exchange.called(name), lambda: exchange.next_call(name)
        )
        return _said(204, {}) if found is None else _said(200, {"tunnel": found[0], "from": found[1]})

    async def call(request: Request, to: str) -> Response:
        name = faces.who(request)
        if name is None or name == house.name or to not in house.peers() or to == name:
            return refused(request, 403, "not a node that may use this relay, or no such node")
        opened = exchange.open(name, to)
        return _said(404, {}) if opened is None else _said(200, {"tunnel": opened})

    async def put(request: Request, tunnel: str, number: int) -> Response:
        name, found = ours(request, tunnel)
        if found is None or name is None:
            return _said(410, {})
        body = await body_of(request, PIECE)
        if body is None:
            return refused(request, 413, "a piece that is too long")
        taken = found.to[found.other(name)].take(number, body)
        if taken is Taken.ORDER:
            exchange.close(tunnel)
            return refused(request, 409, "replayed, left out or reordered")
        return _said(STATUS[taken], {})

    async def fetch(request: Request, tunnel: str, number: int) -> Response:
        name, found = ours(request, tunnel)
        if found is None or name is None:
            return _said(410, {})
        pipe = found.to[name]

        def ready() -> bytes | Taken | None:
            given = pipe.give(number)
            return Taken.FULL if given is None and exchange.of(tunnel, name) is None else given

        given = await patiently(request, name, lambda: pipe.there, ready)
        if given is Taken.ORDER:
            exchange.close(tunnel)
            return refused(request, 409, "asked for out of order")
        if isinstance(given, Taken):
            return _said(410, {})
        return _said(204, {}) if given is None else Response(given, media_type="application/octet-stream")

    async def hang_up(request: Request, tunnel: str) -> Response:
        _, found = ours(request, tunnel)
        if found is not None:
            exchange.close(tunnel)
        return _said(200, {})

    def ours(request: Request, tunnel: str) -> tuple[str | None, Tunnel | None]:
        name = faces.who(request)
        return name, exchange.of(tunnel, name) if name is not None and ID.fullmatch(tunnel) else None

    def refused(request: Request, status: int, why: str) -> Response:
        say("refused", level=logging.WARNING, anybody=True, status=status, why=why, **faces.told(request))
        return _said(status, {"error": why})

    for method, path, answer in (
        ("GET", "/healthz", health),
        ("GET", "/v1/calls", calls),
        ("POST", "/v1/calls/{to}", call),
        ("PUT", "/v1/tunnels/{tunnel}/{number}", put),
        ("GET", "/v1/tunnels/{tunnel}/{number}", fetch),
        ("DELETE", "/v1/tunnels/{tunnel}", hang_up),
    ):
        app.add_api_route(path, answer, methods=[method], response_model=None)
    wordless(app, refused)
    return app


def _said(status: int, document: dict[str, Any]) -> Response:
    if status == 204:
        return Response(status_code=204)
    return JSONResponse(document, status_code=status, headers={"cache-control": "no-store"})


def serve(house: House) -> None:
    """Carry bytes until stopped."""
    begin()
    certificates.own(house.folder)
    faces = Faces(house)
    limits = Limits(connections=2000, per_address=500, seconds=60.0).fitting()
    door = Door(limits, Metrics(), tls=certificates.serving(house.folder))
    visitor: Any = partial(Caller, door)
    config = configured(
        application(house, faces),
        visitor,
        timeout_keep_alive=int(limits.idle),
        timeout_graceful_shutdown=LAST,
    )
    with (
        kept_fresh(house, door, faces),
        listening(house.host, house.port, "is another relay running?") as listener,
    ):
        say("start", relay=house.name, host=house.host, port=house.port)
        with suppress(KeyboardInterrupt, SystemExit):  # how a service is stopped
            Service(config).run([listener])
    say("stop", relay=house.name)
