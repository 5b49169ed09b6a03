"""Work beside the pages: whoever asks too early gets a page that waits, never one that hangs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")
MOMENT = 0.25  # seconds that a page waits by itself before it says that it waits


class WaitingError(Exception):
    """What a page shows is not there yet; `state` is where the page that waits asks."""

    def __init__(self, state: str, said: str) -> None:
        super().__init__(said)
        self.state, self.said = state, said


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


def now(soon: Future[T], patience: float | None, state: str, said: str) -> T:
    """What comes of the work; WaitingError, if it does not within `patience` seconds."""
    try:
        return soon.result(patience)
    except TimeoutError:
        if soon.done():
            raise
        raise WaitingError(state, said) from None
