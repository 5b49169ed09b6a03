"""Noise and choices from OpenDP, whose samplers are proved, reviewed and not ours.

OpenDP is called with whole vectors, never value by value: a call costs more than a hundred draws. Its
integer noise is exact for the scale that it is given, and that scale is a float; so a fraction is rounded
*up* to the next float, which is more noise than was paid for by less than one part in 10**15, never less.

A choice among equal candidates is OpenDP's noisy max under pure differential privacy, which is
permute-and-flip (McKenna and Sheldon 2020): the same epsilon as the exponential mechanism at the same
temperature, and no smaller expected score. What OpenDP lacks, a choice weighted by the lengths of regions, is
`exact.Exact`'s, always on the operating system's randomness.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from importlib import import_module
from importlib.metadata import version

import numpy as np
from numpy.typing import NDArray

from privet.dp.coins import FITS, Ints, fraction
from privet.dp.exact import Exact, whole
from privet.errors import InternalError, MissingExtraError

# Not its prelude: that loads pandas, polars and scikit-learn as well.
_PARTS = ("opendp.mod", "opendp.domains", "opendp.metrics", "opendp.measures", "opendp.measurements")


class Vetted:
    """A `NoiseSource` on OpenDP. It cannot be seeded."""

    def __init__(self) -> None:
        try:
            mod, domains, self._metrics, self._measures, self._make = map(import_module, _PARTS)
        except ModuleNotFoundError as missing:
            if missing.name is None or missing.name.partition(".")[0] != "opendp":
                raise
            raise MissingExtraError("vetted noise for differential privacy", "dp") from None
        mod.enable_features("contrib")  # OpenDP's word for what has not had its last review yet
        self._numbers = domains.vector_domain(domains.atom_domain(T="i64"))
        self._exact = Exact()

    @property
    def label(self) -> str:
        """Name and version, as the evidence records it; with the name of whoever does what OpenDP lacks."""
        return f"opendp {version('opendp')}; choices by length: {self._exact.label}"

    def laplace(self, scale: Fraction, size: int) -> Ints:
        """`size` draws z with probability proportional to exp(-|z| / scale)."""
        space = self._numbers, self._metrics.l1_distance(T="i64")
        mechanism = self._make.make_laplace(*space, scale=float_above(scale))
        return np.array(mechanism(np.zeros(size, dtype=np.int64)), dtype=np.int64)

    def choose(
        self,
        scores: Sequence[int] | NDArray[np.int64],
        temperature: Fraction,
        weights: Sequence[int] | NDArray[np.int64] | None = None,
    ) -> int:
        """Permute-and-flip among equal candidates, the exponential mechanism among weighted ones."""
        if weights is not None:
            return self._exact.choose(scores, temperature, weights)
        score = whole(scores, "scores")
        if not len(score):
            raise InternalError("dp choose: no candidate to choose from")
        if score.dtype == object or int(np.abs(score).max()) >= FITS:
            raise InternalError("dp choose: scores for OpenDP fit 64-bit integers")
        space = self._numbers, self._metrics.linf_distance(T="i64")
        pure = self._measures.max_divergence()
        mechanism = self._make.make_noisy_max(*space, pure, scale=float_above(temperature))
        return int(mechanism(score))


def float_above(value: Fraction) -> float:
    """The smallest float that is not below a positive fraction."""
    numerator, denominator = fraction(value, "the scale of noise")
    near = numerator / denominator
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)
