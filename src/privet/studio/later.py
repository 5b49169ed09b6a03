"""Work beside the pages: whoever asks too early gets a page that waits, never one that hangs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")
MOMENT = 0.15  # seconds that a page waits by itself before it says that it waits


class WaitingError(Exception):
    """What a page shows is not there yet; `state` is where the page asks that waits, `stop` ends the wait."""

    def __init__(self, state: str, said: str, stop: str = "") -> None:
        super().__init__(said)
        self.state, self.said, self.stop = state, said, stop


def begun(work: Callable[[], T]) -> Future[T]:
    """Work in a thread that ends with the studio."""
    made: Future[T] = Future()

    def run() -> None:
        try:
            made.set_result(work())
        except BaseException as error:  # noqa: BLE001 - whoever asks gets it
            made.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return made


def now(soon: Future[T], patience: float | None, state: str, said: str, stop: str = "") -> T:
    """What comes of the work; WaitingError, if it does not within `patience` seconds."""
    try:
        return soon.result(patience)
    except TimeoutError:
        if soon.done():
            raise
        raise WaitingError(state, said, stop) from None


class Latest(Generic[T]):
    """The last of some work, for as long as it is asked for by the same key; what failed is done again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: Hashable = None
        self._soon: Future[T] | None = None

    def at(self, key: Hashable, work: Callable[[], T]) -> Future[T]:
        """What comes of it, now or soon."""
        with self._lock:
            failed = self._soon is not None and self._soon.done() and self._soon.exception() is not None
            if self._soon is None or failed or key != self._key:
                self._key, self._soon = key, begun(work)
            return self._soon
