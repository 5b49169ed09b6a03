"""Additive secret sharing: a vector as several that add up to it, each alone pure chance.

Trust: all holders but one together see uniform numbers.
Leaks: the length of the vector.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privet.errors import UnsupportedError
from privet.parties.primitives.randomness import fresh
from privet.parties.transport import Words


def shared(secret: Words, holders: int) -> list[Words]:
    """Shares for so many holders, modulo the size of the number type.

    >>> shares = shared(np.array([7, 0], dtype=np.uint32), 3)
    >>> joined(shares).tolist()
    [7, 0]
    """
    if holders < 2:
        raise UnsupportedError("a secret is shared among two holders or more")
    dtype = secret.dtype.type
    shares: list[Words] = [fresh(len(secret), dtype) for _ in range(holders - 1)]
    return [*shares, secret - joined(shares)]


def joined(shares: Sequence[Words]) -> Words:
    """What the shares add up to."""
    found: Words = np.add.reduce(list(shares), dtype=shares[0].dtype)
    return found
