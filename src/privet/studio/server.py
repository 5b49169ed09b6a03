"""The studio as a service: one socket on this machine, the limits of the audit gateway's door, and an end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from privet.declared import TABLE
from privet.errors import MissingExtraError, PrivetError
from privet.studio.gate import Gate
from privet.studio.pages import Studio, environment
from privet.studio.project import Project

try:
    from privet.disclose.audit.door import Door, Limits, Visitor
    from privet.disclose.audit.metrics import Metrics
    from privet.disclose.audit.service import Service, configured, listening
    from privet.studio.app import application
    from privet.studio.promises import offered
except ImportError:
    raise MissingExtraError("the studio", "studio") from None

HOST = "127.0.0.1"
LIMITS = Limits(connections=256, per_address=256, seconds=120.0)  # a large file takes its time to arrive


def warmed(studio: Studio) -> None:
    """Look at the data and load what pages need, while the steward opens the link."""
    with suppress(PrivetError, OSError):
        if studio.project.source is not None:
            studio.looks.soon(studio.project)  # in a thread of its own
    for name in environment().list_templates():  # else the first page of each kind is a slow click
        environment().get_template(name)
    with suppress(PrivetError, OSError):
        list(offered("models", TABLE))
        list(offered("algorithms", TABLE))


def serve(project: Project, *, port: int, read_only: bool, ready: Callable[[Studio], None]) -> None:
    """Serve until stopped; `ready` is told once the link works."""
    listener = listening(HOST, port, "without --port a free one is taken")
    with listener:
        studio = Studio(project, Gate(listener.getsockname()[1], read_only=read_only))
        for name in (
            "uvicorn.error",
            "uvicorn.access",
            "asyncio",
        ):  # their lines may hold an address or a value
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        visitor: Any = partial(Visitor, Door(LIMITS.fitting(), Metrics()))
        config = configured(application(studio), visitor, timeout_graceful_shutdown=3)
        ready(studio)
        threading.Thread(target=warmed, args=(studio,), daemon=True).start()
        try:
            with suppress(KeyboardInterrupt, SystemExit):  # how a service is stopped
                Service(config).run([listener])
        finally:
            studio.jobs.stop()
