"""What was put in its place by this run, and signals that wait until it stands."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import TypeAlias

Placed: TypeAlias = list[Path]
_WATCHED: ContextVar[Placed | None] = ContextVar("placed", default=None)
STOPS = tuple(number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)))


@contextmanager
def noted() -> Iterator[Placed]:
    """A list of what is put in its place from now on, so that who is stopped can say what was written."""
    placed: Placed = []
    token = _WATCHED.set(placed)
    try:
        yield placed
    finally:
        _WATCHED.reset(token)


def note(place: Path) -> None:
    """This stands now."""
    placed = _WATCHED.get()
    if placed is not None:
        placed.append(place)


@contextmanager
def waiting() -> Iterator[None]:
    """Whoever wants to stop us is heard a few renames later: half a step is worse than none and than all."""
    if threading.current_thread() is not threading.main_thread():
        yield  # other threads are not interrupted by signals
        return
    heard: list[tuple[int, FrameType | None]] = []
    before = {
        number: signal.signal(number, lambda *said: heard.append(said))
        for number in STOPS
        if callable(signal.getsignal(number))  # what is ignored stays ignored, and what kills kills
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for number, frame in heard[:1]:
            handler = before[signal.Signals(number)]
            if callable(handler):
                handler(number, frame)
