"""Work that cannot end says so before it begins.

An adversary who knows 20 of 40 values has 137,846,528,820 ways to choose them, and a check that believes no
lemma counts every one. So work is estimated first, and refused above a limit, with what would be possible.
Who wants it anyway says how many times the usual limit is allowed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import comb

from privet.errors import InputError, UnsupportedError

USUAL = 10**11  # records looked at, over all combinations: some minutes of compiled counting
NODES = 4_000_000  # of a lattice, looked at one by one: most are settled by others, the rest is some minutes
FEWEST = 256  # a combination costs something even where there are hardly any records
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


def refuse_lattice(search: str, nodes: int) -> None:
    """Refuse to look at the nodes of a lattice one by one where that would not end.

    >>> refuse_lattice("samarati", 3**40)
    Traceback (most recent call last):
    privet.errors.UnsupportedError: samarati: the lattice has 12,157,665,459,056,928,801 nodes, ...
    """
    times = -(-nodes // NODES)
    if times > _TIMES[-1]:
        raise UnsupportedError(
            f"{search}: the lattice has {nodes:,} nodes, {times:,} times as many as are usually looked at "
            "one by one: optimal walks a large lattice and takes the best that it meets, mondrian and local "
            f"need none; levels that are fixed make it smaller; --effort {times} does it anyway"
        )
