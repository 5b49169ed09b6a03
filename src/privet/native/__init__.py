"""A few counting loops in C, for large tables; everything works without them, only slower.

They are plain C functions over numpy's arrays, called through ctypes (which lets other threads run
meanwhile), so there is nothing to load but a small library. Numba would spare us the C, but every
process would pay half a second for it and more (docs/explain/why-these-libraries.md).

`make setup` builds the library beside this file; `python -m privet.native` builds it by hand. What each loop
takes is declared once, in `loops.h`, and compared with what is handed over. This room knows numbers only: no
table, no model, no search.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any

from numpy.typing import NDArray

from privet.native.build import place
from privet.native.signatures import Argument, signatures

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
    return int(getattr(loops, name)(*given))
