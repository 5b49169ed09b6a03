"""What nodes lose at least, by what is known of coarser ones.

Records that must go at a node must go at every finer node too, and lose there what they told at the coarser
one at least. So much is known of a node before anybody looks at it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from privet.counts.door import Levels

KEPT = 4096  # nodes that are remembered, the last of them: to compare with more takes as long as to look


class Finer:
    """What finer nodes lose more than with nothing suppressed."""

    def __init__(self, attributes: int) -> None:
        self._levels: NDArray[np.int32] = np.empty((KEPT, attributes), dtype=np.int32)
        self._more = np.zeros(KEPT)
        self._said = 0

    def say(self, node: Levels, more: float) -> None:
        """Every node as fine as this one loses so much more; infinite: it breaks a promise."""
        if more > 0:
            place = self._said % KEPT
            self._levels[place], self._more[place] = node, more
            self._said += 1

    def loses(self, node: Levels, more: float) -> bool:
        """Is it known that a node loses more than so much more?"""
        some = np.flatnonzero(self._more[: self._said] > more)
        return bool((self._levels[some] >= np.array(node, dtype=np.int32)).all(axis=1).any())
