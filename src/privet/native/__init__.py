"""A few counting loops in C, for large tables; everything works without them, only slower.

They are plain C functions over numpy's arrays, called through ctypes (which lets other threads run
meanwhile), so there is nothing to load but a small library. Numba would spare us the C, but every
process would pay half a second for it and more (docs/explain/why-these-libraries.md).

`make setup` builds the library beside this file; `python -m privet.native` builds it by hand. This room
knows numbers only: no table, no model, no search.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.native.build import place

WORTH_CALLING = 200_000  # increments; for fewer, numpy is as quick


@cache
def library() -> ctypes.CDLL | None:
    """The compiled loops, or None where they were not built."""
    path = place()
    if not path.is_file():
        return None
    try:
        return ctypes.CDLL(str(path))
    except OSError:  # built for another machine
        return None


def pays(work: int) -> bool:
    """Shall this many increments be counted by the compiled loops?"""
    return work >= WORTH_CALLING and library() is not None


def pointer(array: NDArray[Any]) -> ctypes.c_void_p:
    """Where an array's numbers begin; C counts on their lying side by side."""
    if not array.flags.c_contiguous:
        raise ValueError("compiled loops take contiguous arrays")
    return ctypes.c_void_p(array.ctypes.data)


def call(name: str, *arguments: NDArray[Any] | int) -> int:
    """Call a loop: arrays as pointers, whole numbers in 64 bits. The loops trust their caller."""
    loops = library()
    if loops is None:
        raise RuntimeError("the compiled loops are not built")
    function = getattr(loops, name)
    function.restype = ctypes.c_int64 if name.startswith("privet_under") else ctypes.c_int
    given = [pointer(a) if isinstance(a, np.ndarray) else ctypes.c_int64(a) for a in arguments]
    return int(function(*given))
