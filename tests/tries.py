"""How often something random is tried: as often as a default run can wait for, or as often as a test asks.

The first few tries find most faults. The others belong to `make test-explore`, which takes hours on purpose.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

import pytest
from hypothesis import settings

FEWEST, MOST = 10, 12  # tries of what asks for more than the fewest
EXPLORING = 10  # times what a test asks for


def tries(asked: int) -> int:
    """How many where a test asks for so many."""
    if not settings().derandomize:
        return EXPLORING * asked
    return asked if asked <= FEWEST else min(max(FEWEST, asked // 4), MOST)


def seldom(cases: Iterable[Any], often: Container[Any]) -> list[Any]:
    """All of them for `parametrize`: those of `often` in the default run, the others in `make test-slow`.

    Who explores has time for all. A case of several values is a tuple.
    """
    if not settings().derandomize:
        return list(cases)
    return [
        one
        if one in often
        else pytest.param(*(one if isinstance(one, tuple) else (one,)), marks=pytest.mark.slow)
        for one in cases
    ]
