"""The gateway as a service: a listening socket, TLS, limits at the door, and how it is stopped."""

from __future__ import annotations

import logging
import socket
import ssl
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from privet.disclose.audit import lines
from privet.disclose.audit.desk import Desk
from privet.disclose.audit.door import Door, Limits, Visitor
from privet.disclose.audit.gateway import application
from privet.disclose.audit.keys import Keys
from privet.disclose.audit.metrics import Metrics
from privet.errors import InputError, MissingExtraError, UnsupportedError

try:
    import uvicorn
except ImportError:
    raise MissingExtraError("the audit gateway", "audit") from None

LOOPBACK = ("127.0.0.1", "::1")
QUEUE = 4096  # connections that the system may hold for us
AT_ONCE = 64  # taken in one turn: more, and whoever is already in would wait for them all
LAST = 30  # seconds for decisions that are under way when it is stopped


class Service(uvicorn.Server):
    """uvicorn's server, whose queue of newcomers is longer than what it takes in at once."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for one in sockets or []:
            one.listen(QUEUE)


def configured(app: Any, visitor: Any, **more: int) -> uvicorn.Config:
    """How every server of ours runs: behind its own door, and silent: our own lines say what is said."""
    return uvicorn.Config(
        app,
        http=visitor,
        ws="none",
        loop="asyncio",
        access_log=False,
        log_config=None,
        server_header=False,
        **more,  # type: ignore[arg-type] # its own names
    )


def serve(
    desk: Desk,
    *,
    host: str = "127.0.0.1",
    port: int = 8470,
    certificate: Path | None = None,
    key: Path | None = None,
    insecure: bool = False,
    limits: Limits | None = None,
) -> None:
    """Serve until stopped. Without TLS only to this machine, unless a proxy in front has it (`insecure`)."""
    if (certificate is None) != (key is None):
        raise UnsupportedError("TLS needs both: --tls-certificate and --tls-key")
    if certificate is None and host not in LOOPBACK and not insecure:
        raise UnsupportedError(
            f"--host {host} without TLS would send keys and answers in the clear: give --tls-certificate and "
            "--tls-key, or --insecure if a proxy in front has TLS"
        )
    tls = None if certificate is None or key is None else _tls(certificate, key)
    wanted = limits or Limits()
    fitting = wanted.fitting()
    lines.begin()
    keys, metrics = Keys(desk.config.keys), Metrics()
    visitor: Any = partial(Visitor, Door(fitting, metrics, tls=tls))
    config = configured(
        application(desk, keys, metrics),
        visitor,
        backlog=AT_ONCE,
        timeout_keep_alive=int(fitting.idle),
        timeout_graceful_shutdown=LAST,
    )
    with listening(host, port, "is another gateway running?") as listener:
        taken = listener.getsockname()[1]  # of 0 the system makes a free one
        lines.say("start", host=host, port=taken, tls=tls is not None, connections=fitting.connections)
        if fitting.connections < wanted.connections:
            lines.say(
                "few file descriptors: raise `ulimit -n`",
                level=logging.WARNING,
                asked=wanted.connections,
                connections=fitting.connections,
            )
        with suppress(KeyboardInterrupt, SystemExit):  # how a service is stopped
            Service(config).run([listener])
    lines.say("stop", shed=dict(sorted(metrics.shed.items())))


def listening(host: str, port: int, hint: str) -> socket.socket:
    """A socket that listens there, or why not."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.create_server((host, port), family=family, backlog=QUEUE)
    except OSError:
        raise InputError(f"{host}:{port}: cannot listen there; {hint}") from None
    # Answers go at once: asyncio does not know this socket for one of TCP, and the body of an answer would
    # wait for the other side's word on the head, 40 ms. Connections have it from the socket that takes them.
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def _tls(certificate: Path, key: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:
        raise InputError(
            f"{certificate}, {key}: no certificate with its key ({type(error).__name__})"
        ) from None
    return context
