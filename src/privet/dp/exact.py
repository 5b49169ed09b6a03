"""Our own samplers: discrete Laplace noise and the exponential mechanism, exact to the last bit.

Both take whole numbers and answer with whole numbers; every probability is met exactly, not to within a
rounding. They exist for what OpenDP lacks (choices weighted by the length of a region) and for tests,
where a seeded `random.Random` makes a run repeatable. Without an argument the operating system's
randomness is used, and nothing that a steward can write reaches that argument.

Leaks: like any rejection sampler these take a little longer or shorter depending on what they draw, so
the time of a release is not to be shown to its recipients. `choose` needs at most e = 2.7 rounds on
average whatever the scores are.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from importlib.metadata import version
from random import SystemRandom
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.dp.coins import (
    FITS,
    Ints,
    Random,
    below_exp,
    exp_coin,
    exp_coins,
    exp_digits,
    fraction,
    runs,
    uniform,
)
from privet.errors import InternalError

FEW = 8  # up to about here, draws one by one are not slower than numpy
WIDEST = 1 << 40  # numerators of a scale above this are drawn in Python's integers
LARGEST = np.iinfo(np.int64).max
SHELLS = 128  # candidates this many e-foldings below the best share one shell


class Exact:
    """A `NoiseSource` in exact integer arithmetic."""

    def __init__(self, random: Random | None = None) -> None:
        self._random: Random = SystemRandom() if random is None else random

    @property
    def label(self) -> str:
        """Name and version, as the evidence records it."""
        return f"privet {version('privet')} exact samplers"

    def laplace(self, scale: Fraction, size: int) -> Ints:
        """`size` draws z with probability proportional to exp(-|z| / scale)."""
        wide, narrow = fraction(scale, "the scale of Laplace noise")
        if size <= FEW or max(wide, narrow) > WIDEST:
            return np.fromiter((self._one_laplace(wide, narrow) for _ in range(size)), np.int64, size)
        kept: list[Ints] = [np.zeros(0, dtype=np.int64)]
        missing = size
        while missing > 0:
            some = self._some_laplace(wide, narrow, 2 * missing + 16)[:missing]
            kept.append(some)
            missing -= len(some)
        return np.concatenate(kept)

    def choose(
        self,
        scores: Sequence[int] | NDArray[np.int64],
        temperature: Fraction,
        weights: Sequence[int] | NDArray[np.int64] | None = None,
    ) -> int:
        """Index i with probability proportional to weights[i] * exp(scores[i] / temperature)."""
        hot, cold = fraction(temperature, "the temperature of a choice")
        gaps, heavy, index = _gaps(scores, weights)
        if not gaps.any():  # nothing but weights to go by
            place = int(self._random.randrange(int(heavy.sum())))
            return int(index[int(np.searchsorted(np.cumsum(heavy), place, side="right"))])
        fits = max(int(gaps.max()) * cold, hot) < FITS
        steps = (gaps if fits else gaps.astype(object)) * cold
        shells = np.minimum(steps // hot, SHELLS).astype(np.uint8)
        order = np.argsort(shells, kind="stable")
        starts = np.flatnonzero(np.diff(shells[order], prepend=-1, append=SHELLS + 1).astype(np.bool_))
        levels = [int(shells[order[start]]) for start in starts[:-1]]
        totals = [int(total) for total in np.add.reduceat(heavy[order], starts[:-1])]
        # A shell has the weight total * exp(-level). One more than its whole digits is drawn from, and a
        # coin corrects the difference, so that the choice of the shell is exact as well.
        bits = 256 + sum(totals).bit_length()
        above = [exp_digits(level, bits) + 1 for level in levels]
        sizes = [total * digits for total, digits in zip(totals, above, strict=True)]
        everything = sum(sizes)
        while True:
            at = self._random.randrange(everything)
            shell = 0
            while at >= sizes[shell]:
                at -= sizes[shell]
                shell += 1
            place, digit = divmod(at, above[shell])
            if digit == above[shell] - 1 and not below_exp(self._random, levels[shell], bits):
                continue
            members = order[starts[shell] : starts[shell + 1]]
            chosen = members[int(np.searchsorted(np.cumsum(heavy[members]), place, side="right"))]
            if exp_coin(self._random, int(steps[chosen]) - levels[shell] * hot, hot):
                return int(index[chosen])

    def _one_laplace(self, wide: int, narrow: int) -> int:
        """One draw in Python's integers; what 64 bits cannot hold becomes the last number that they can."""
        while (drawn := self._try_laplace(wide, narrow)) is None:
            pass
        return max(-LARGEST, min(LARGEST, drawn))

    def _try_laplace(self, wide: int, narrow: int) -> int | None:
        """Canonne, Kamath and Steinke's algorithm 2, once; None is to be tried again."""
        rest = self._random.randrange(wide)
        if not exp_coin(self._random, rest, wide):
            return None
        whole = 0
        while exp_coin(self._random, 1, 1):
            whole += 1
        size = (rest + wide * whole) // narrow
        if self._random.randrange(2):
            return -size if size else None  # zero has one sign only
        return size

    def _some_laplace(self, wide: int, narrow: int, tries: int) -> Ints:
        """The same for many at once; as many as survive, in the order drawn."""
        rest = uniform(self._random, wide, tries)
        rest = rest[exp_coins(self._random, rest, wide)]
        sizes = (rest + wide * runs(self._random, len(rest))) // narrow
        negative = uniform(self._random, 2, len(sizes)).astype(np.bool_)
        return np.where(negative, -sizes, sizes)[~negative | (sizes > 0)]


def _gaps(
    scores: Sequence[int] | NDArray[np.int64], weights: Sequence[int] | NDArray[np.int64] | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.intp]]:
    """How far each candidate is below the best, its weight and its index; without a weight it is left out."""
    score = whole(scores, "scores")
    weight = np.ones(len(score), dtype=np.int64) if weights is None else whole(weights, "weights")
    if len(weight) != len(score):
        raise InternalError("dp choose: one weight for each score")
    if (weight < 0).any():
        raise InternalError("dp choose: weights are not negative")
    index = np.flatnonzero(weight > 0)
    if not len(index):
        raise InternalError("dp choose: no candidate to choose from")
    score, weight = score[index], weight[index]
    if score.dtype != object and int(score.max()) - int(score.min()) >= FITS:
        score = score.astype(object)
    if weight.dtype != object and int(weight.max()) * len(weight) >= FITS:
        weight = weight.astype(object)
    return score.max() - score, weight, index


def whole(values: Sequence[int] | NDArray[np.int64], what: str) -> NDArray[Any]:
    """Whole numbers as an array: 64-bit if they fit, Python's own if not, and no floats."""
    array = np.asarray(values)
    if array.dtype == object or not len(array):
        array = np.array([int(v) if isinstance(v, int | np.integer) else None for v in values], dtype=object)
        if any(v is None for v in array):
            raise InternalError(f"dp choose: {what} are whole numbers")
    elif array.dtype.kind not in "iub":
        raise InternalError(f"dp choose: {what} are whole numbers, never floats")
    elif array.dtype.kind == "u" and array.dtype.itemsize == 8:
        array = array.astype(object)
    return array if array.dtype == object else array.astype(np.int64)
