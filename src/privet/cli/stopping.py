"""Asked to stop by Ctrl-C, a polite kill or a terminal that goes away: half-written folders go.

A signal is heard between any two steps of Python, and Rust has Python's steps too: polars makes the types of
columns in Python, and panics where that fails. So who is asked to stop in the middle of polars' own Python
stops a moment later. What fails after that, fails because we were asked to stop.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
MOMENT = 0.01  # seconds
PATIENCE = 2.0  # seconds; then it stops wherever it is
STOPPED = range(128 + 1, 128 + 32)  # codes of a run that a signal has ended
GOODBYE = 3.0  # seconds for whatever a library does when the process ends

_ended: list[int] = []  # the code of a run that is over


@contextmanager
def stoppable() -> Iterator[None]:
    """Whoever asks us to stop is heard here, and leaves with 128 and the signal's number."""
    asked: list[int] = []
    since: list[float] = []
    later = _Later()

    def stop(number: int, frame: FrameType | None) -> None:
        asked.append(number)
        since.append(time.monotonic())
        if _inside_polars(frame) and since[-1] - since[0] < PATIENCE:
            later.ask(number)
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise SystemExit(128 + number)

    before: dict[signal.Signals, Any] = {}
    try:
        for name in SIGNALS:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # nohup stays nohup
                before[number] = signal.signal(number, stop)
    except ValueError:  # only the main thread hears signals
        yield
        return
    try:
        yield
    except BaseException:
        if asked:
            raise SystemExit(128 + asked[0]) from None
        raise
    finally:
        later.never()
        for number, handler in before.items():
            signal.signal(number, handler)


def ends_at_once() -> None:
    """Let the system take back what this process holds, all at once: Python would free it piece by piece.

    That takes a seventh of a second after a million rows. Said before anything else is loaded, it is the last
    thing that Python does when it ends: threads that it waits for are done then, and libraries have said
    goodbye. Where somebody who loads us wants to be asked as well, Python ends as it always does.
    """
    if atexit._ncallbacks() == 0:  # noqa: SLF001 - nothing else tells; it is there since 3.0
        atexit.register(_left)


def _left() -> None:
    if _ended and _flushed():
        os._exit(_ended[-1])


def ends_with(code: int) -> None:
    """All is done and said: who asks us to stop while this process ends, ends it at once with its own code.

    A library may take a while to say goodbye to its server, and a release that stands is not a failure.
    """
    _ended.append(code)
    for name in SIGNALS:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            with suppress(ValueError):  # only the main thread hears signals
                signal.signal(number, lambda *_: os._exit(code))
    if code in STOPPED:
        threading.Thread(target=_ended_anyway, args=(code,), daemon=True).start()


def _ended_anyway(code: int) -> None:
    """Who was stopped is not kept by a goodbye: a server of ours may be in the middle of a job."""
    time.sleep(GOODBYE)
    _flushed()
    os._exit(code)


def _flushed() -> bool:
    """Has all that was said arrived?"""
    arrived = True
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            arrived = False
    return arrived


def _inside_polars(frame: FrameType | None) -> bool:
    """Is what runs here polars' own, or called by it? (This module is there if asked while it was asked.)"""
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        package = name.partition(".")[0]
        if package in {"polars", "privet"} and name != __name__:
            return package == "polars"
        frame = frame.f_back
    return False


class _Later:
    """Asks the main thread once more, unless its run is over by then."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._over, self._main = False, threading.get_ident()

    def ask(self, number: int) -> None:
        threading.Thread(target=self._asked, args=(number,), daemon=True).start()

    def _asked(self, number: int) -> None:
        time.sleep(MOMENT)
        with self._lock:
            if not self._over:
                signal.pthread_kill(self._main, number)

    def never(self) -> None:
        with self._lock:
            self._over = True
