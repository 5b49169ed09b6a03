"""How often something random is tried: as often as a default run can wait for, or as often as a test asks.

The first few tries find most faults. The others belong to `make test-explore`, which takes hours on purpose.
"""

from __future__ import annotations

from hypothesis import settings

FEWEST, MOST = 10, 40  # tries of what asks for more than the fewest
EXPLORING = 10  # times what a test asks for


def tries(asked: int) -> int:
    """How many where a test asks for so many."""
    if not settings().derandomize:
        return EXPLORING * asked
    return asked if asked <= FEWEST else min(max(FEWEST, asked * 2 // 5), MOST)
