"""Where noise comes from: two questions that every mechanism of this room asks.

A mechanism never draws a random number itself. It asks a `NoiseSource`, in whole numbers, for one of
two things: noise for counts, or one choice among scored candidates. Both are exact distributions over
integers; there is no floating point on the way, because the low bits of a floating Laplace variable
tell which true value it was added to (`tests/dp/test_precision_attack.py` shows it).

There are two sources. `vetted.Vetted` stands on OpenDP and is what `production` gives; `exact.Exact`
is ours, for what OpenDP lacks, for stewards who name it, and for tests, which alone may seed it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

SOURCES = ("opendp", "exact")


class NoiseSource(Protocol):
    """Integer noise and integer choices. Whoever asks has already paid for the answer."""

    def laplace(self, scale: Fraction, size: int) -> NDArray[np.int64]:
        """`size` independent draws of discrete Laplace: P(z) is proportional to exp(-|z| / scale).

        A count of sensitivity 1 with this noise added is (1 / scale)-differentially private.
        """
        ...

    def choose(
        self,
        scores: Sequence[int] | NDArray[np.int64],
        temperature: Fraction,
        weights: Sequence[int] | NDArray[np.int64] | None = None,
    ) -> int:
        """One index, i with probability proportional to weights[i] * exp(scores[i] / temperature).

        This is the exponential mechanism with temperature = 2 * sensitivity / epsilon in the units of the
        scores. Weights are how many equal candidates an index stands for (the length of a numeric
        region); None is one each, and then a source may answer with permute-and-flip instead, which
        costs the same epsilon and never has the smaller expected score.
        """
        ...


class NamedSource(NoiseSource, Protocol):
    """A source that evidence can name."""

    @property
    def label(self) -> str:
        """Name and version, as the evidence records it."""
        ...


def production(which: Literal["opendp", "exact"] = "opendp") -> NamedSource:
    """The source that releases use: OpenDP, or our own samplers if the steward names them.

    Missing OpenDP is an error and not a silent change of source: the evidence says which samplers a
    release trusts, and so the choice is made by a person.
    """
    if which == "exact":
        from privet.dp.exact import Exact  # noqa: PLC0415  (each source loads what only it needs)

        return Exact()
    from privet.dp.vetted import Vetted  # noqa: PLC0415

    return Vetted()
