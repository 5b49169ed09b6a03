"""Several tasks at once, on as many threads as there are cores: the same comes out on any number of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from threading import Lock, Thread
from typing import TypeVar

CORES = os.cpu_count() or 1
HEARS = 0.2  # seconds until a signal is heard, at the most

T = TypeVar("T")


def side_by_side(tasks: Sequence[Callable[[], T]], waiting: Callable[[int], None] | None = None) -> list[T]:
    """What each task says, in their order, however many of them the cores allow at once.

    The first fault, in that order, is raised; no task is begun after one. Whoever asks works along, unless
    tasks take long: then `waiting` is told how many are done, again and again, and who asks hears signals.
    Nobody waits for the other threads when a signal ends the run: a search does not hear it.
    """
    said: dict[int, T] = {}
    faults: dict[int, BaseException] = {}
    left = iter(range(len(tasks)))
    turn = Lock()

    def work() -> None:
        while not faults:
            with turn:
                at = next(left, None)
            if at is None:
                return
            try:
                said[at] = tasks[at]()
            except BaseException as fault:  # noqa: BLE001 - raised again where it is waited for
                faults[at] = fault

    most = min(len(tasks), CORES)
    workers = [Thread(target=work, daemon=True) for _ in range(most - (waiting is None))]
    for worker in workers:
        worker.start()
    if waiting is None:
        work()
    for worker in workers:
        while worker.is_alive():
            if waiting is not None:
                waiting(len(said))
            worker.join(HEARS)
    if faults:
        raise faults[min(faults)]
    return [said[at] for at in range(len(tasks))]
