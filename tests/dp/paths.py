"""A noise source that goes every way: the exact distribution of a whole release, by running it.

Choices fork over all indices with their probabilities. An emptiness test forks in two, by the formula of its
noise (that `survivors` has that law is shown elsewhere). The noise of the counts is zero here and comes in by
its formula: `worst` takes its supremum over all outputs.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from privet.dp import splitting
from privet.dp.coded import CodedTable
from privet.dp.diffgen import DiffGen
from privet.dp.noisytable import NoisyTable


def reaches(number: int, epsilon: float) -> float:
    """That discrete Laplace noise is at least so much."""
    q = math.exp(-epsilon)
    return q**number / (1 + q) if number > 0 else 1 - q ** (1 - number) / (1 + q)


Law: TypeAlias = dict[Hashable, tuple[float, NoisyTable]]


class Paths:
    """A `NoiseSource` that follows a script, and goes the first way where the script ends."""

    def __init__(self, script: Sequence[int]) -> None:
        self._script = script
        self.taken: list[tuple[int, list[float]]] = []

    @property
    def probability(self) -> float:
        return math.prod(weights[way] for way, weights in self.taken)

    def choose(self, scores: Any, temperature: Fraction, weights: Any = None) -> int:
        score = [int(s) for s in scores]
        heavy = [1] * len(score) if weights is None else [int(w) for w in weights]
        parts = [
            w * math.exp((s - max(score)) / float(temperature)) for s, w in zip(score, heavy, strict=True)
        ]
        return self._fork([part / math.fsum(parts) for part in parts])

    def laplace(self, scale: Fraction, size: int) -> NDArray[np.int64]:
        return np.zeros(size, dtype=np.int64)

    def survive(self, counts: NDArray[np.int64], epsilon: Fraction, least: int) -> NDArray[np.int64]:
        chances = [reaches(least - int(count), float(epsilon)) for count in counts]
        return np.flatnonzero([self._fork([1 - p, p]) for p in chances])

    def _fork(self, law: list[float]) -> int:
        at = len(self.taken)
        way = self._script[at] if at < len(self._script) else 0
        self.taken.append((way, law))
        return way


def _survivors(source: Paths, *given: Any) -> NDArray[np.int64]:
    return source.survive(*given)


def releases(diffgen: DiffGen, table: CodedTable) -> Iterator[tuple[NoisyTable, float]]:
    """Every release up to the noise of its counts, and its probability."""
    script: list[int] | None = []
    while script is not None:
        noise = Paths(script)
        with patch.object(splitting, "survivors", _survivors):
            made = diffgen.release(table, noise)
        yield made, noise.probability
        taken = noise.taken
        while taken and taken[-1][0] == len(taken[-1][1]) - 1:
            taken.pop()
        script = [*(way for way, _ in taken[:-1]), taken[-1][0] + 1] if taken else None


def structure(made: NoisyTable) -> Hashable:
    """All that is published but the counts."""
    return (
        tuple(tuple((n.label, n.lo, n.hi) for n in cut) for cut in made.cuts),
        tuple(
            tuple(made.labels(at)[p] for p in made.positions[:, at].tolist()) for at in range(len(made.cuts))
        ),
        tuple((s.attribute, s.label, s.children) for s in made.steps),
        made.charges,
    )


def law(diffgen: DiffGen, table: CodedTable) -> Law:
    """The probability of each structure, and the release with its true counts."""
    found: Law = {}
    for made, probability in releases(diffgen, table):
        key = structure(made)
        before = found[key][0] if key in found else 0.0
        if key in found:  # true counts are a function of the table and the structure
            assert np.array_equal(found[key][1].counts, made.counts)
        found[key] = before + probability, made
    assert math.isclose(math.fsum(p for p, _ in found.values()), 1)
    return found


def worst(diffgen: DiffGen, one: CodedTable, *others: CodedTable) -> float:
    """The largest log ratio of the probabilities of any output, either way round, of any neighbour."""
    here = law(diffgen, one)  # once for all neighbours: going every way takes long
    return max(_apart(here, law(diffgen, other)) for other in others)


def _apart(here: Law, there: Law) -> float:
    assert set(here) == set(there)
    most = 0.0
    for key, (p, made) in here.items():
        q, twin = there[key]
        apart = float(np.abs(made.counts - twin.counts).sum() / made.scale)
        if made.totals is not None and twin.totals is not None:
            bought = next(c.epsilon for c in made.charges if c.purpose.startswith("totals"))
            apart += float(np.abs(made.totals - twin.totals).sum() * bought)
        most = max(most, abs(math.log(p / q)) + apart)
    return most
