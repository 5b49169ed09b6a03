"""Chance for methods that perturb: seeded from the operating system, exact where a share is promised."""

from __future__ import annotations

import secrets
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


def generator() -> np.random.Generator:
    """A generator that nobody can repeat: its key is as long as the operating system's chance."""
    return np.random.Generator(np.random.Philox(key=secrets.randbits(128)))


def happens(rng: np.random.Generator, share: Fraction, size: int) -> NDArray[np.bool_]:
    """Independently with exactly this probability each."""
    return np.asarray(rng.integers(0, share.denominator, size) < share.numerator)
