"""A few counting loops in C, for large tables; everything works without them, only slower.

(One is not tried without: `relational/regroup.py` walks millions of steps.)

They are plain C functions over numpy's arrays, called through ctypes (which lets other threads run
meanwhile), so there is nothing to load but a small library. Numba would spare us the C, but every
process would pay half a second for it and more (docs/explain/why-these-libraries.md).

`make setup` builds the library beside this file; `python -m privet.native` builds it by hand. What each loop
takes is declared once, in `loops.h`, and compared with what is handed over. This room knows numbers only: no
table, no model, no search.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from threading import Thread, current_thread, main_thread
from typing import Any

from numpy.typing import NDArray

from privet.native.build import place
from privet.native.signatures import Argument, signatures

LONG = {"privet_rare", "privet_itemsets", "privet_minimal_violations", "privet_maximal_frequent"}
HEARS = 0.2  # seconds until a signal is heard, at the most
WORTH_CALLING = 200_000  # increments; for fewer, numpy is as quick


@cache
def library() -> ctypes.CDLL | None:
    """The compiled loops, or None where they were not built."""
    path = place()
    if not path.is_file():
        return None
    try:
        loops = ctypes.CDLL(str(path))
        for name, parameters in signatures().items():
            function = getattr(loops, name)
            function.restype = ctypes.c_int64
            function.argtypes = [parameter.ctype for parameter in parameters]
    except (OSError, AttributeError):  # built for another machine, or from other sources
        return None
    return loops


def pays(work: int) -> bool:
    """Shall this many increments be counted by the compiled loops?"""
    return work >= WORTH_CALLING and library() is not None


def call(name: str, *arguments: Argument | Sequence[NDArray[Any]]) -> int:
    """Call a loop; what is not as `loops.h` declares it is a TypeError, never another answer."""
    loops = library()
    if loops is None:
        raise RuntimeError("the compiled loops are not built")
    parameters = signatures()[name]
    if len(arguments) != len(parameters):
        raise TypeError(f"{name} takes {len(parameters)} arguments, not {len(arguments)}")
    given = [
        parameter.passed(argument, name) for parameter, argument in zip(parameters, arguments, strict=True)
    ]
    loop = getattr(loops, name)
    if name in LONG and current_thread() is main_thread():
        return _heard(lambda: int(loop(*given)))
    return int(loop(*given))


def _heard(loop: Callable[[], int]) -> int:
    """A loop in a thread of its own, so that this one hears signals while it waits.

    Python runs handlers of signals between its own steps, and a loop in C is one step. Whoever is stopped
    leaves the loop behind, and the process ends with it.
    """
    said: list[int] = []
    worker = Thread(target=lambda: said.append(loop()), daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(HEARS)
    return said[0]
