"""The node as a service: HTTPS with mutual TLS 1.3, for its peers and its own steward, and for nobody else.

Whoever shows no certificate of an invited peer, or of this node itself, does not get through the handshake;
whose certificate it is decides what is answered. Bodies are bounded before they are read. Logs have who,
what and how it ended, one JSON object a line, and nothing of any data.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from privet.disclose.audit.lines import begin, say
from privet.errors import MissingExtraError, PrivetError
from privet.node import certificates, questions
from privet.node.calling import socket_of
from privet.node.faces import Faces, kept_fresh
from privet.node.house import House
from privet.node.notes import Noted
from privet.node.running import Live
from privet.node.runs import Runs
from privet.node.speaking import Speaking
from privet.node.tunnels import bound, ways
from privet.node.wires import PIECE, Taken

try:
    from fastapi import FastAPI, Request
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import FileResponse, JSONResponse, Response
    from starlette.background import BackgroundTask
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import ClientDisconnect

    from privet.disclose.audit.door import Door, Limits, Visitor
    from privet.disclose.audit.metrics import Metrics
    from privet.disclose.audit.service import Service, configured, listening
except ImportError:
    raise MissingExtraError("a node", "node") from None

SMALL = 1 << 16  # bytes of a request that is not a piece
STATUS = {Taken.TAKEN: 200, Taken.ALREADY: 200, Taken.FULL: 429, Taken.ORDER: 409}
SESSION = re.compile(r"[0-9a-f]{32}")
DIGEST = re.compile(r"[0-9a-f]{64}")
FILES = re.compile(r"[A-Za-z0-9_.-]{1,80}")
LAST = 5  # seconds for requests that are under way when it is stopped


class Caller(Visitor):
    """A connection of somebody who has shown a certificate."""

    certificate: bytes | None = None

    def _welcome(self, transport: asyncio.Transport) -> None:
        safe = transport.get_extra_info("ssl_object")
        self.certificate = None if safe is None else safe.getpeercert(binary_form=True)
        super()._welcome(transport)

    def leave(self, why: str) -> None:
        if why == "handshake":
            told = "shows no certificate of an invited peer, or speaks something else"
            say("refused", level=logging.WARNING, anybody=True, why=told, address=self.address)
        super().leave(why)


def application(house: House, runs: Runs, faces: Faces, refresh: Callable[[], None]) -> FastAPI:
    """The node as an ASGI application; `refresh` is called before a run, for peers and certificates anew."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    who = faces.who
    app.add_middleware(Speaking, faces=faces, other=runs.refuse_speech)

    def of(request: Request, session: str) -> tuple[str | None, Live | Noted | None]:
        """The caller and the run, where it is a party of it."""
        caller = who(request)
        found = runs.found(session) if SESSION.fullmatch(session) else None
        parties = found.noted.parties if isinstance(found, Live) else found.parties if found else ()
        return caller, found if caller in parties else None

    async def health(request: Request) -> Response:
        said: dict[str, Any] = {"status": "ok", "node": house.name}
        if who(request) == house.name:
            said["peers"] = sorted(house.peers())
            said["runs"] = [one.to_document() for one in runs.every()]
        return _said(200, said)

    async def start(request: Request) -> Response:
        if who(request) != house.name:
            return refused(request, 403, "only this node's own steward starts a run")
        asked = await _small(request)
        if asked is None or not isinstance(asked.get("contract"), str):
            return refused(request, 400, "names a contract, and data")
        try:
            refresh()
            noted = await run_in_threadpool(
                runs.start,
                Path(asked["contract"]),
                asked.get("data"),
                asked.get("query"),
                (asked.get("ledger"), asked.get("dataset")),
                again=asked.get("again") is True,
            )
        except PrivetError as error:
            say("run refused", kind=error.code)
            return _said(422, {"complaints": list(error.complaints), "code": error.code})
        return _said(200, noted.to_document())

    async def ask(request: Request) -> Response:
        """A question to a virtual database, of this node's steward or of a researcher in the contract."""
        caller, asked = who(request), await _small(request)
        if caller is None or asked is None or not isinstance(asked.get("contract"), str):
            return refused(request, 403 if caller is None else 400, "names a contract, and a question")
        try:
            noted = await run_in_threadpool(runs.ask, asked["contract"], asked.get("question"), caller)
        except PrivetError as error:
            say("question refused", peer=caller, kind=error.code)
            return _said(422, {"complaints": list(error.complaints), "code": error.code})
        say("question", peer=caller, session=noted.session)
        return _said(200, {"session": noted.session})

    def asked_by(request: Request, session: str) -> Noted | None:
        """A question, where it is the caller's own."""
        caller, found = who(request), runs.found(session) if SESSION.fullmatch(session) else None
        noted = found.noted if isinstance(found, Live) else found
        return noted if noted is not None and caller is not None and noted.asker == caller else None

    async def answering(request: Request, session: str) -> Response:
        noted = asked_by(request, session)
        return _said(404, {}) if noted is None else _said(200, {"state": noted.state, "why": noted.why})

    async def answer(request: Request, session: str) -> Response:
        """The rows, once: whoever asked has them then."""
        path = questions.place(house, session)
        if asked_by(request, session) is None or not path.is_file():
            return _said(404, {})
        return FileResponse(path, background=BackgroundTask(path.unlink, missing_ok=True))

    async def give_up(request: Request, digest: str) -> Response:
        if who(request) != house.name:
            return refused(request, 403, "only this node's own steward ends a run")
        return _said(200 if await run_in_threadpool(runs.give_up, digest) else 404, {})

    async def join(request: Request, session: str) -> Response:
        caller, asked = who(request), await _small(request)
        if caller is None or not SESSION.fullmatch(session):
            return refused(request, 403, "not a peer")
        if asked is None or not isinstance(asked.get("contract"), str):
            return refused(request, 400, "names a contract")
        said = asked.get("asked")
        status = await run_in_threadpool(
            runs.join,
            bytes.fromhex(session),
            asked["contract"],
            caller,
            said if isinstance(said, dict) else None,
        )
        if status != 404:
            say("join", peer=caller, session=session, status=status)
        return _said(status, {})

    async def refusal(request: Request, digest: str) -> Response:
        """A party's node does not start a contract, or does after all."""
        caller = who(request)
        if caller is None or caller == house.name or not DIGEST.fullmatch(digest):
            return refused(request, 403, "not a peer, or not a contract")
        if request.method == "DELETE":
            runs.refusals.forgotten(digest, caller)
            return _said(200, {})
        say("refuses to start", peer=caller, contract=digest[:16])
        await run_in_threadpool(runs.refused, digest, caller)
        return _said(200, {})

    async def piece(request: Request, session: str, number: int) -> Response:
        caller, live = of(request, session)
        if isinstance(live, Noted):
            return _said(410, {"named": live.named})
        if caller is not None and (runs.found(session) is None or (live is not None and live.wires is None)):
            return _said(404, {})  # not yet: whoever joined earlier may be quicker
        if live is None or caller is None or live.wires is None or caller not in live.wires.inbox:
            return refused(request, 403, "not a party of this run")
        if request.headers.get("privet-contract") != live.noted.contract:
            return refused(request, 409, "runs under another contract", peer=caller, session=session)
        body = await body_of(request, PIECE)
        if body is None:
            return refused(request, 413, "a piece that is too long", peer=caller, session=session)
        inbox = live.wires.inbox[caller]
        mark = certificates.digest(request.state.visitor.certificate)
        if inbox.certificate not in {None, mark}:
            return refused(request, 403, "another certificate than before", peer=caller, session=session)
        inbox.certificate = mark
        taken = inbox.take(number, body)
        if taken is Taken.ORDER:
            return refused(request, 409, "replayed, left out or reordered", peer=caller, session=session)
        return _said(STATUS[taken], {})

    async def state(request: Request, session: str) -> Response:
        caller, found = of(request, session)
        if caller is None:
            return refused(request, 403, "not a peer")
        if found is None:
            return _said(404, {})
        noted = found.noted if isinstance(found, Live) else found
        return _said(200, {"state": noted.state, "named": noted.named})

    async def end(request: Request, session: str) -> Response:
        caller, found = of(request, session)
        if caller is None or found is None:
            return _said(404, {})
        if isinstance(found, Live):
            said = await _small(request) or {}
            say("ended by a peer", peer=caller, session=session)
            await run_in_threadpool(runs.end, session, caller, said.get("named"))
        return _said(200, {})

    async def release(request: Request, session: str, name: str = "") -> Response:
        """Every party of a run may have its release again: it is the same at all of them."""
        _, found = of(request, session)
        if not isinstance(found, Noted) or not found.release:
            return _said(404, {})
        folder = house.releases / found.release
        if not name:
            return _said(200, {"files": sorted(path.name for path in folder.iterdir())})
        path = folder / name
        if not FILES.fullmatch(name) or name.startswith(".") or not path.is_file():
            return _said(404, {})
        return FileResponse(path)

    def refused(request: Request, status: int, why: str, **fields: object) -> Response:
        told = {**faces.told(request), **fields}
        say("refused", level=logging.WARNING, anybody=True, status=status, why=why, **told)
        return _said(status, {"error": why})

    for method, path, call in (
        ("GET", "/healthz", health),
        ("POST", "/v1/runs", start),
        ("DELETE", "/v1/runs/{digest}", give_up),
        ("POST", "/v1/questions", ask),
        ("GET", "/v1/questions/{session}", answering),
        ("GET", "/v1/questions/{session}/answer", answer),
        ("POST", "/v1/sessions/{session}", join),
        ("GET", "/v1/sessions/{session}", state),
        ("POST", "/v1/sessions/{session}/end", end),
        ("PUT", "/v1/sessions/{session}/pieces/{number}", piece),
        ("POST", "/v1/contracts/{digest}/refusal", refusal),
        ("DELETE", "/v1/contracts/{digest}/refusal", refusal),
        ("GET", "/v1/releases/{session}", release),
        ("GET", "/v1/releases/{session}/{name}", release),
    ):
        app.add_api_route(path, call, methods=[method], response_model=None)
    wordless(app, refused)
    return app


class TooLongError(Exception):
    """A body is longer than agreed."""


def wordless(app: FastAPI, refused: Callable[[Request, int, str], Response]) -> None:
    """What is not of the protocol is refused in words of ours: the framework's repeat what was sent."""

    async def strange(request: Request, _: Exception) -> Response:
        return refused(request, 400, "not a request of this protocol")

    async def long(request: Request, _: Exception) -> Response:
        return refused(request, 413, "a request that is too long")

    app.add_exception_handler(RequestValidationError, strange)
    app.add_exception_handler(TooLongError, long)


async def body_of(request: Request, most: int) -> bytes | None:
    """The body, or None where it is longer than agreed; no claim of a peer decides how much is read."""
    said = request.headers.get("content-length", "0")
    if not said.isdigit() or int(said) > most:
        return None
    found = bytearray()
    try:
        async for part in request.stream():
            found += part
            if len(found) > most:
                return None
    except ClientDisconnect:
        return None
    return bytes(found)


async def _small(request: Request) -> dict[str, Any] | None:
    """A short document; None where it is none."""
    body = await body_of(request, SMALL)
    if body is None:
        raise TooLongError
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _said(status: int, document: dict[str, Any]) -> JSONResponse:
    return JSONResponse(document, status_code=status, headers={"cache-control": "no-store"})


def serve(house: House) -> None:
    """Serve until stopped."""
    begin()
    certificates.own(house.folder)  # a certificate that has run out is said now
    runs, faces, tunnels = Runs(house), Faces(house), ways(house)
    limits = Limits(connections=200, per_address=60, seconds=60.0).fitting()
    door = Door(limits, Metrics(), tls=certificates.serving(house.folder))
    visitor: Any = partial(Caller, door)
    with (
        kept_fresh(house, door, faces, *(one.refresh for one in tunnels)) as refresh,
        listening(house.host, house.port, "is another node running?")
        if house.relay is None
        else bound(socket_of(house.folder, house.name)) as listener,
    ):
        config = configured(
            application(house, runs, faces, refresh),
            visitor,
            timeout_keep_alive=int(limits.idle),
            timeout_graceful_shutdown=LAST,
        )
        say("start", node=house.name, host=house.host, port=house.port, relay=house.relay)
        for one in tunnels:
            one.start()
        with suppress(KeyboardInterrupt, SystemExit):  # how a service is stopped
            Service(config).run([listener])
    say("stop", node=house.name)
