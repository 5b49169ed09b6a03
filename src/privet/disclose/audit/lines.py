"""Log lines of the gateway: one JSON object each, without SQL or data, and few whoever is at the door.

Whoever has no key must not fill the owner's disk. So lines that anybody can cause are said a few times in a
while, and then counted: the next one of its kind that is said tells how many were not (`unsaid`).
"""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime

OFTEN = 5  # lines of one kind in a while
WHILE = 10.0  # seconds
FOREIGN = ("uvicorn.error", "asyncio")  # libraries that log on our behalf

logger = logging.getLogger("privet.audit")


def say(event: str, *, level: int = logging.INFO, anybody: bool = False, **fields: object) -> None:
    """One line. `anybody` can cause it, with or without a key: then it is said sparingly."""
    logger.log(level, event, extra={"fields": fields, "anybody": anybody})


class Lines(logging.Formatter):
    """One JSON object a line; of an exception its kind, since its words may quote data."""

    def format(self, record: logging.LogRecord) -> str:
        fields = dict(getattr(record, "fields", {}))
        if record.exc_info and record.exc_info[0] is not None:
            fields["kind"] = record.exc_info[0].__name__
        if unsaid := getattr(record, "unsaid", 0):
            fields["unsaid"] = unsaid
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        # A library's own words, before anything is put into them: an address or a request may be in the rest.
        event = record.getMessage() if record.name == logger.name else str(record.msg).strip()
        return json.dumps({"at": at, "level": record.levelname.lower(), "event": event, **fields})


class Sparingly(logging.Filter):
    """Lets a few lines of each kind through in a while; those of our own that only analysts cause, all."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._said: dict[tuple[str, str, object], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == logger.name and not getattr(record, "anybody", False):
            return True
        fields = getattr(record, "fields", {})
        kind = (record.name, str(record.msg), fields.get("status"))
        since, count = self._said.get(kind, (self._clock(), 0))
        if self._clock() - since >= WHILE:
            record.unsaid = max(0, count - OFTEN)
            since, count = self._clock(), 0
        self._said[kind] = since, count + 1
        return count < OFTEN


def begin() -> None:
    """Send our lines, and those of the libraries underneath, to stderr in this form."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    handler.addFilter(Sparingly())
    for name in (logger.name, *FOREIGN):
        one = logging.getLogger(name)
        one.handlers, one.propagate = [handler], False
        one.setLevel(logging.INFO if name == logger.name else logging.WARNING)
