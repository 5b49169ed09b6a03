"""Work that cannot end says so before it begins.

An adversary who knows 20 of 40 values has 137,846,528,820 ways to choose them, and a check that believes no
lemma counts every one. So work is estimated first, and refused above a limit, with what would be possible.
Who wants it anyway says how many times the usual limit is allowed.

Who waits in front of a page says until when they wait: such work stops between two combinations, and says
nothing rather than something that is not exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import comb

from privet.errors import InputError, UnsupportedError

USUAL = 10**11  # records looked at, over all combinations: some minutes of compiled counting
NODES = 4_000_000  # of a lattice, looked at one by one: most are settled by others, the rest is some minutes
FEWEST = 256  # a combination costs something even where there are hardly any records
_STOP: ContextVar[Callable[[], bool] | None] = ContextVar("stop", default=None)  # of one thread's work
_TIMES = [1]  # of the whole process, so that threads that search and check beside each other see it too


@contextmanager
def allowed(times: int | None) -> Iterator[None]:
    """Allow so many times the usual work, within this block.

    >>> with allowed(1000):
    ...     refuse_endless("lkc-privacy", columns=40, known=20, records=400)
    """
    if times is not None and times < 1:
        raise InputError(f"--effort: a whole number from 1 on, not {times}")
    _TIMES.append(1 if times is None else times)
    try:
        yield
    finally:
        _TIMES.pop()


class StoppedError(Exception):
    """Nobody waits for this work any more; it has no result."""


@contextmanager
def while_wanted(stop: Callable[[], bool]) -> Iterator[None]:
    """Let work within this block end early, once `stop` says so.

    >>> with while_wanted(lambda: True):
    ...     between()()
    Traceback (most recent call last):
    privet.effort.StoppedError: not wanted any more
    """
    mark = _STOP.set(stop)
    try:
        yield
    finally:
        _STOP.reset(mark)


def between() -> Callable[[], None]:
    """What long work calls between two steps, also from threads of its own: StoppedError, if it is to end.

    >>> between()()
    """
    stop = _STOP.get()

    def ask() -> None:
        if stop is not None and stop():
            raise StoppedError("not wanted any more")

    return ask


def work(columns: int, known: int, records: int) -> int:
    """Records looked at, over all combinations of `known` of the columns."""
    return comb(columns, known) * max(records, FEWEST)


def refuse_endless(promise: str, *, columns: int, known: int, records: int) -> None:
    """Refuse to count every combination of `known` columns where that would not end.

    >>> refuse_endless("lkc-privacy", columns=40, known=20, records=400)
    Traceback (most recent call last):
    privet.errors.UnsupportedError: lkc-privacy: 137,846,528,820 combinations of 20 of 40 ...
    """
    known = min(known, columns)
    times = -(-work(columns, known, records) // USUAL)
    if times <= _TIMES[-1]:
        return
    most = max((l for l in range(1, known) if work(columns, l, records) <= USUAL), default=0)
    less = f"promise l = {most} ({comb(columns, most):,}), or " if most else ""
    raise UnsupportedError(
        f"{promise}: {comb(columns, known):,} combinations of {known} of {columns} quasi-identifiers would "
        f"be counted, {times:,} times as much work as usual: {less}promise all {columns} known at once, "
        f"which is stronger and has one combination; --effort {times} does it anyway"
    )


def refuse_lattice(search: str, nodes: int, where: str = "the lattice has") -> None:
    """Refuse to look at the nodes of a lattice one by one where that would not end.

    >>> refuse_lattice("samarati", 3**40)
    Traceback (most recent call last):
    privet.errors.UnsupportedError: samarati: the lattice has 12,157,665,459,056,928,801 nodes, ...
    """
    times = -(-nodes // NODES)
    if times > _TIMES[-1]:
        raise UnsupportedError(
            f"{search}: {where} {nodes:,} nodes, {times:,} times as many as are usually looked at "
            "one by one: optimal walks a large lattice and takes the best that it meets, mondrian and local "
            f"need none; levels that are fixed make it smaller; --effort {times} does it anyway"
        )
