"""The HTTP gateway: POST /v1/ask with a key, and an answer or the word denied.

Every decision takes the same way: parse, lock, plan, judge, write to disk, reply. A denial is one fixed
body. What goes wrong is said in fixed sentences; logs have who, when, what kind of outcome and how long, and
neither SQL nor numbers of the data.
"""

from __future__ import annotations

import json
import logging
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from privet.disclose.audit.desk import ChangedError, Desk
from privet.disclose.audit.exact import written
from privet.disclose.audit.keys import Keys
from privet.disclose.audit.rate import RateLimit
from privet.disclose.audit.sql import RefusedError
from privet.errors import InputError, MissingExtraError, PrivetError, TamperedError, UnsupportedError

try:
    import uvicorn
    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse, Response
    from starlette.concurrency import run_in_threadpool
except ImportError:
    raise MissingExtraError("the audit gateway", "audit") from None

LARGEST = 64 * 1024  # bytes of a request
DENIED = {"result": "denied"}
LOOPBACK = ("127.0.0.1", "::1")

logger = logging.getLogger("privet.audit")


def application(desk: Desk, keys: Keys) -> FastAPI:
    """The gateway as an ASGI application."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    log = desk.config.log
    limit = RateLimit(log.with_name(f"{log.name}.rate"), desk.config.rate)
    health = {"served": True}

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
                said = await _asked(request, analyst)
        except Exception as error:  # noqa: BLE001 - its own sentence may quote data: only its kind is logged
            logger.log(logging.ERROR, "failed", extra={"fields": {"kind": type(error).__name__}})
            said = _said(503, {"error": "unavailable", "message": "this cannot be decided now"})
        _log(analyst, said, time.perf_counter() - begun)
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
            health["served"] = False
            return _said(503, {"error": "changed", "message": str(error)})
        except TamperedError:
            health["served"] = False
            raise
        health["served"] = True
        return _said(200, DENIED if answer is None else {"result": "answered", "answer": written(answer)})

    async def healthz() -> Response:
        if not health["served"]:
            return _said(503, {"status": "unavailable"})
        return _said(200, {"status": "ok"})

    app.add_api_route("/v1/ask", ask, methods=["POST"], response_model=None)
    app.add_api_route("/healthz", healthz, methods=["GET"], response_model=None)
    return app


async def _query(request: Request) -> str | None:
    """The SQL of a request, if it is one."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST:
            return None
    try:
        document: Any = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(document, dict) or set(document) != {"sql"} or not isinstance(document["sql"], str):
        return None
    return document["sql"]


def _said(status: int, document: dict[str, str]) -> JSONResponse:
    return JSONResponse(document, status_code=status, headers={"cache-control": "no-store"})


def _log(analyst: str | None, said: Response, seconds: float) -> None:
    # Answered and denied look alike here: whoever reads logs is not told either.
    fields = {"analyst": analyst, "status": said.status_code, "ms": round(seconds * 1000, 1)}
    logger.info("ask", extra={"fields": fields})


class Lines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        fields = getattr(record, "fields", {})
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        return json.dumps(
            {"at": at, "level": record.levelname.lower(), "event": record.getMessage(), **fields}
        )


def serve(
    desk: Desk,
    *,
    host: str = "127.0.0.1",
    port: int = 8470,
    certificate: Path | None = None,
    key: Path | None = None,
    insecure: bool = False,
) -> None:
    """Serve until stopped. Without TLS only to this machine, unless a proxy in front has it (`insecure`)."""
    if (certificate is None) != (key is None):
        raise UnsupportedError("TLS needs both: --tls-certificate and --tls-key")
    if certificate is None and host not in LOOPBACK and not insecure:
        raise UnsupportedError(
            f"--host {host} without TLS would send keys and answers in the clear: give --tls-certificate and "
            "--tls-key, or --insecure if a proxy in front has TLS"
        )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    logger.handlers, logger.propagate = [handler], False
    logger.setLevel(logging.INFO)
    keys = Keys(desk.config.keys)
    logger.info("start", extra={"fields": {"host": host, "port": port, "tls": certificate is not None}})
    other = logging.getLogger("uvicorn.error")
    other.handlers, other.propagate = [handler], False
    other.setLevel(logging.WARNING)
    server = uvicorn.Server(
        uvicorn.Config(
            application(desk, keys),
            host=host,
            port=port,
            ssl_certfile=certificate,
            ssl_keyfile=key,
            access_log=False,
            log_config=None,
            server_header=False,
            timeout_keep_alive=75,  # analysts who wait for each other's decisions keep their connections
        )
    )
    try:
        server.run()
    except (KeyboardInterrupt, SystemExit):  # how a service is stopped; but it must have begun
        if not server.started:
            raise InputError(f"{host}:{port}: cannot listen there; is another gateway running?") from None
    logger.info("stop", extra={"fields": {}})


def posed(url: str, key: str, sql: str, *, certificate: Path | None = None) -> dict[str, Any]:
    """Ask a gateway; what it said, or an error with its sentence."""
    import ssl  # noqa: PLC0415 - for clients only

    import httpx  # noqa: PLC0415 - for clients only

    context = ssl.create_default_context(cafile=None if certificate is None else str(certificate))
    try:
        said = httpx.post(
            f"{url.rstrip('/')}/v1/ask",
            json={"sql": sql},
            headers={"authorization": f"Bearer {key}"},
            timeout=120,
            verify=context,
        )
        document: dict[str, Any] = said.json()
    except (httpx.HTTPError, ValueError) as error:
        raise GatewayError(f"{url}: no answer ({type(error).__name__})") from None
    if said.status_code != 200:
        raise GatewayError(str(document.get("message", f"{url}: status {said.status_code}")))
    return document


class GatewayError(PrivetError):
    """The gateway did not answer, or refused."""

    code = "gateway"
