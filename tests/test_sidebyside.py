"""Several tasks at once, and what becomes of them."""

from __future__ import annotations

import threading
import time

import pytest

from privet import sidebyside
from privet.sidebyside import side_by_side


@pytest.mark.parametrize("cores", [1, 3])
@pytest.mark.parametrize("long", [True, False])
def test_of_several_faults_the_first_in_order_is_raised(
    *, cores: int, long: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sidebyside, "CORES", cores)
    waiting = (lambda done: None) if long else None
    second_failed = threading.Event()

    def first() -> int:
        second_failed.wait(None if cores > 1 else 0)  # whichever thread is quicker
        raise ValueError("first")

    def second() -> int:
        second_failed.set()
        raise ValueError("second")

    with pytest.raises(ValueError, match="first"):
        side_by_side([first, second, lambda: 3], waiting)
    assert side_by_side([lambda: 1, lambda: 2, lambda: 3], waiting) == [1, 2, 3]
    assert side_by_side([], waiting) == []


def test_no_task_is_begun_after_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sidebyside, "CORES", 1)
    begun: list[int] = []

    def fails() -> None:
        raise ValueError("first")

    with pytest.raises(ValueError, match="first"):
        side_by_side([fails, lambda: begun.append(1)])
    assert not begun


def test_who_waits_for_long_tasks_hears_what_is_done_and_is_not_kept_by_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sidebyside, "CORES", 2)
    monkeypatch.setattr(sidebyside, "HEARS", 0.01)
    seen: list[tuple[int, str]] = []
    end = threading.Event()

    def waits() -> str:
        end.wait(60)
        return threading.current_thread().name

    def told(done: int) -> None:
        seen.append((done, threading.current_thread().name))
        if len(seen) == 3:
            raise KeyboardInterrupt  # as a handler of a signal does

    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        side_by_side([waits, waits], told)
    assert time.monotonic() - begun < 30
    end.set()
    assert {name for _, name in seen} == {threading.current_thread().name}
    assert threading.current_thread().name not in side_by_side([waits, waits], lambda done: None)
