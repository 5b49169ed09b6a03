"""When the compiled loops are worth their loading.

Numba takes about a second to load, as long as some hundred million plain increments. So small tables
never meet it, and a large one does as soon as the counting ahead would take longer. The answers are the
same on both roads; only the time differs.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

LOADING = 100_000_000  # plain increments that take as long as loading the compiler
CALLING = 200_000  # below, not even a loaded compiled loop is much faster


class Meter:
    """Adds up the plain counting of this process, to see when it would have paid to load the compiler."""

    def __init__(self) -> None:
        self.spent = 0

    def pays(self, work: int) -> bool:
        """Shall this many increments be counted by the compiled loop?"""
        if work < CALLING or find_spec("numba") is None:
            return False
        if "numba" in sys.modules:
            return True
        self.spent += work
        return self.spent >= LOADING


meter = Meter()
