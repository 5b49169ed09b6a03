"""The HTTP gateway: POST /v1/ask with a key, and an answer or the word denied.

Every decision takes the same way: parse, lock, plan, judge, write to disk, reply. A denial is one fixed
body. What goes wrong is said in fixed sentences; logs have who, when, what kind of outcome and how long, and
neither SQL nor numbers of the data. Three pages need no key: /healthz (this process answers), /readyz
(queries can be decided, or why not) and /metrics.
"""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from privet import jsonvalue
from privet.disclose.audit.desk import READY, ChangedError, Desk, Grouped, shown
from privet.disclose.audit.keys import Keys
from privet.disclose.audit.lines import say
from privet.disclose.audit.metrics import MEDIA_TYPE, Metrics
from privet.disclose.audit.rate import RateLimit
from privet.disclose.audit.sql import RefusedError
from privet.errors import MissingExtraError

try:
    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse, PlainTextResponse, Response
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import ClientDisconnect
except ImportError:
    raise MissingExtraError("the audit gateway", "audit") from None

LARGEST = 64 * 1024  # bytes of a request
FRESH = 1.0  # seconds for which a readiness holds, or ten times as long as it took to find out
HUNG_UP = 499  # as nginx counts a client that did not wait; it hears nothing of it


class Readiness:
    """Whether queries can be decided: looked at by one at a time, however many ask."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._until, self.said = 0.0, READY
        self._one = asyncio.Lock()
        # A thread of its own: those of the gateway may all be waiting for a decision.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="readiness")

    async def now(self) -> str:
        """`ready`, or what stands in the way."""
        async with self._one:
            if (begun := time.monotonic()) >= self._until:
                self.said = await asyncio.get_running_loop().run_in_executor(
                    self._thread, self._desk.standing
                )
                took = time.monotonic() - begun
                self._until = time.monotonic() + max(FRESH, 10 * took)
        return self.said


def application(desk: Desk, keys: Keys, metrics: Metrics | None = None) -> FastAPI:
    """The gateway as an ASGI application."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    log = desk.config.log
    limit = RateLimit(log.with_name(f"{log.name}.rate"), desk.config.rate)
    counted = metrics or Metrics()
    readiness = Readiness(desk)

    async def ask(request: Request) -> Response:
        begun = time.perf_counter()
        analyst: str | None = None
        said: Response = _said(
            401, {"error": "unauthorised", "message": "give a key: Authorization: Bearer …"}
        )
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        try:
            if scheme.lower() == "bearer":
                analyst = keys.analyst(key.strip())
            if analyst is not None:
                if (visitor := getattr(request.state, "visitor", None)) is not None:
                    visitor.known()
                said = await _asked(request, analyst)
        except ClientDisconnect:
            said = Response(status_code=HUNG_UP)
        except Exception as error:  # noqa: BLE001 - its own sentence may quote data: only its kind is logged
            say("failed", level=logging.ERROR, kind=type(error).__name__)
            said = _said(503, {"error": "unavailable", "message": "this cannot be decided now"})
        seconds = time.perf_counter() - begun
        counted.asked(said.status_code, seconds)
        # Answered and denied look alike here: whoever reads logs is not told either.
        ms = round(seconds * 1000, 1)
        say("ask", anybody=analyst is None, analyst=analyst, status=said.status_code, ms=ms)
        return said

    async def _asked(request: Request, analyst: str) -> Response:
        seconds = await run_in_threadpool(limit.wait, analyst)
        if seconds:
            said = _said(429, {"error": "rate", "message": "too many requests; wait a little"})
            said.headers["retry-after"] = str(int(seconds) + 1)
            return said
        text = await _query(request)
        if text is None:
            return _said(400, {"error": "refused", "message": 'the body is JSON: {"sql": "SELECT …"}'})
        try:
            answer = await run_in_threadpool(desk.ask, analyst, text)
        except RefusedError as error:
            return _said(400, {"error": "refused", "message": str(error)})
        except ChangedError as error:
            return _said(503, {"error": "changed", "message": str(error)})
        if isinstance(answer, Grouped):  # each group was a decision
            await run_in_threadpool(limit.charge, analyst, max(0, len(answer.groups) - 1))
        return _said(200, shown(answer))

    async def healthz() -> Response:
        return _said(200, {"status": "ok"})

    async def readyz() -> Response:
        said = await readiness.now()
        return _said(200 if said == READY else 503, {"status": said})

    async def page() -> Response:
        ready = await readiness.now() == READY
        return PlainTextResponse(counted.text(ready=ready), media_type=MEDIA_TYPE)

    app.add_api_route("/v1/ask", ask, methods=["POST"], response_model=None)
    app.add_api_route("/healthz", healthz, methods=["GET"], response_model=None)
    app.add_api_route("/readyz", readyz, methods=["GET"], response_model=None)
    app.add_api_route("/metrics", page, methods=["GET"], response_model=None)
    return app


async def _query(request: Request) -> str | None:
    """The SQL of a request, if it is one."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST:
            return None
    try:
        document: Any = jsonvalue.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or set(document) != {"sql"} or not isinstance(document["sql"], str):
        return None
    return document["sql"]


def _said(status: int, document: dict[str, Any]) -> JSONResponse:
    return JSONResponse(document, status_code=status, headers={"cache-control": "no-store"})
