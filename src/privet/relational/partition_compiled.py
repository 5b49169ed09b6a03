"""Which cells lie under a node, and under which child: one pass instead of five. Needs the extra `fast`."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit(nogil=True, cache=True)  # type: ignore[untyped-decorator] # numba has no types
def under(codes: NDArray[Any], lo: int, hi: int, child_of: NDArray[np.uint8]) -> Any:
    """The cells with a code in [lo, hi), and `child_of[code - lo]` for each."""
    cells = np.empty(len(codes), dtype=np.int64)
    child = np.empty(len(codes), dtype=np.uint8)
    last = hi - lo - 1
    at = 0
    for cell in range(len(codes)):
        # Written always, kept only where the code is in the range: no branch to guess wrong.
        code = int(codes[cell]) - lo
        cells[at] = cell
        child[at] = child_of[min(max(code, 0), last)]
        at += int((code >= 0) & (code <= last))
    return cells[:at], child[:at]
