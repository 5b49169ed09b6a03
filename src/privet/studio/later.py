"""Work beside the pages: whoever asks too early gets a page that waits, never one that hangs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future, wait
from typing import Generic, TypeVar

T = TypeVar("T")
MOMENT = 0.15  # seconds that a page waits by itself before it says that it waits


class WaitingError(Exception):
    """What a page shows is not there yet; `state` is where the page asks that waits, `stop` ends the wait."""

    def __init__(self, state: str, said: str, stop: str = "") -> None:
        super().__init__(said)
        self.state, self.said, self.stop = state, said, stop


class Work(Future[T]):
    """What comes of work beside the pages.

    Work that failed is done again for whoever asks next, but not before somebody was told: else a page that
    waits for it would begin it anew each time that it asks how far it is, and wait for ever.
    """

    told = False  # that it failed

    @property
    def in_vain(self) -> bool:
        return self.done() and self.told


def begun(work: Callable[[], T]) -> Work[T]:
    """Work in a thread that ends with the studio."""
    made: Work[T] = Work()

    def run() -> None:
        try:
            made.set_result(work())
        except BaseException as error:  # noqa: BLE001 - whoever asks gets it
            made.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return made


def now(soon: Future[T], patience: float | None, state: str, said: str, stop: str = "") -> T:
    """What comes of the work; WaitingError, if it does not within `patience` seconds."""
    if not wait([soon], patience).done:
        raise WaitingError(state, said, stop)
    if isinstance(soon, Work):
        soon.told = soon.exception() is not None
    return soon.result()


class Latest(Generic[T]):
    """The last of some work, for as long as it is asked for by the same key; what failed is done again."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key: Hashable = None
        self._soon: Work[T] | None = None

    def at(self, key: Hashable, work: Callable[[], T]) -> Work[T]:
        """What comes of it, now or soon."""
        with self._lock:
            if self._soon is None or self._soon.in_vain or key != self._key:
                self._key, self._soon = key, begun(work)
            return self._soon
