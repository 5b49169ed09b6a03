"""Is everybody's chance of every value at most gamma? Decided exactly where possible, else with confidence.

Definitions 25 and 26 of Zhang (2010), with these repairs: the sample is large enough when its *effective*
size is, since weights differ; the variance is that of a ratio of weighted sums; and where weights are so
uneven that the size is not reached, the answer is "undecided", never "private".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from math import ceil, log
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.core import Progress, silent
from privet.disclose.sources.completion import NodeLimitError
from privet.disclose.sources.counting import STEPS, count
from privet.disclose.sources.prepare import Component, components
from privet.disclose.sources.sampling import BATCH, Draws, Sampler
from privet.disclose.sources.views import View
from privet.domain import Value
from privet.errors import PolicyError

Floats = NDArray[np.float64]


class Decision(Enum):
    """What can be said about gamma-privacy."""

    PRIVATE = "private"
    NOT_PRIVATE = "not private"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Confidence:
    """How sure a sampled answer must be: within `epsilon` with confidence `theta`.

    `everywhere` asks for that confidence in all pairs of person and value together (Bonferroni), not in each.
    """

    epsilon: Fraction
    theta: Fraction
    everywhere: bool = False
    most: int = 40  # draws at most, as a multiple of those that would do if all weights were equal

    def __post_init__(self) -> None:
        for name in ("epsilon", "theta"):
            given = getattr(self, name)
            if not isinstance(given, Fraction) or not 0 < given < 1:
                raise PolicyError(f"{name} is an exact fraction above 0 and below 1, not {given}")

    def quantile(self, pairs: int) -> float:
        """How many standard deviations an interval of that confidence reaches to each side."""
        theta = 1 - (1 - self.theta) / pairs if self.everywhere else self.theta
        return NormalDist().inv_cdf(float((1 + theta) / 2))

    def draws(self, pairs: int = 1) -> int:
        """How many draws of equal weight do (Theorem 21).

        >>> Confidence(Fraction(1, 10), Fraction(19, 20)).draws()
        1537
        """
        return ceil((2 * self.quantile(pairs) / float(self.epsilon)) ** 2)


@dataclass(frozen=True)
class Estimate:
    """Chances from weighted draws, with the half-width of each one's interval."""

    shares: Floats = field(repr=False)  # [class, value]
    half: Floats = field(repr=False)
    log_instances: float  # of the mean weight, which is an unbiased estimate of how many tables there are
    draws: int
    effective: float  # so many draws of equal weight would say as much


def estimate(part: Component, draws: Draws, quantile: float) -> Estimate:
    """What the draws say. People of a class are alike, so the class's share of a value speaks for each."""
    top = float(draws.log_weights.max())
    weights = np.exp(draws.log_weights - top)
    total = weights.sum()
    of_class = draws.counts / part.sizes[None, :, None]
    shares = np.einsum("n,ncs->cs", weights, of_class) / total
    variance = np.einsum("n,ncs->cs", weights**2, (of_class - shares) ** 2) / total**2
    effective = float(total**2 / (weights**2).sum())
    # A share that no draw contradicts may still be off by this much (Wilson's interval at 0 and 1).
    unseen = quantile**2 / (effective + quantile**2)
    half = np.maximum(quantile * np.sqrt(variance), unseen)
    return Estimate(shares, half, top + log(float(weights.mean())), len(weights), effective)


@dataclass(frozen=True)
class Judged:
    """One component: its people's chances, and what follows."""

    part: Component
    decision: Decision
    method: str  # exact, sampled
    shares: Sequence[Sequence[Any]] = field(repr=False)  # [class][value]: Fraction where exact, else float
    worst: Fraction | float
    half: float = 0.0  # of the interval around the worst
    instances: int | None = None  # None: only estimated
    log_instances: float | None = None
    exposed: frozenset[int] = field(default=frozenset(), repr=False)  # people with a chance above gamma
    tolerated: int = 0  # people whose chance may be above gamma, but not by more than epsilon
    draws: int = 0
    effective: float = 0.0

    def chance(self, person: int, value: Value) -> Any:
        """How likely a person has a value."""
        at = next(at for at, members in enumerate(self.part.classes) if person in members)
        return self.shares[at][self.part.values.index(value)] if value in self.part.values else Fraction(0)


@dataclass(frozen=True)
class Assessment:
    """Whether several views together are gamma-private; names nobody."""

    gamma: Fraction
    parts: tuple[Judged, ...]

    @property
    def decision(self) -> Decision:
        found = {part.decision for part in self.parts}
        order = (Decision.NOT_PRIVATE, Decision.UNDECIDED)
        return next((decision for decision in order if decision in found), Decision.PRIVATE)

    @property
    def worst(self) -> Judged:
        return max(self.parts, key=lambda part: part.worst)

    @property
    def exposed(self) -> frozenset[int]:
        return frozenset(person for part in self.parts for person in part.exposed)

    @property
    def people(self) -> int:
        return sum(part.part.people for part in self.parts)

    @property
    def instances(self) -> int | None:
        """How many tables agree with every view; None where that is only estimated."""
        total = 1
        for part in self.parts:
            if part.instances is None:
                return None
            total *= part.instances
        return total

    @property
    def log_instances(self) -> float | None:
        found = 0.0
        for part in self.parts:
            if part.instances is None and part.log_instances is None:
                return None
            found += log(part.instances) if part.instances is not None else part.log_instances or 0.0
        return found

    def chance(self, person: int, value: Value) -> Any:
        """How likely a person has a value, or None where the person is in no view."""
        for part in self.parts:
            if any(person in members for members in part.part.classes):
                return part.chance(person, value)
        return None


def validated(gamma: Fraction, confidence: Confidence | None) -> None:
    given: object = gamma
    if not isinstance(given, Fraction) or not 0 <= given < 1:
        raise PolicyError(f"gamma is an exact fraction from 0 on and below 1, not {gamma}")
    if confidence is not None and not 0 < confidence.epsilon < min(gamma, 1 - gamma):
        raise PolicyError(
            f"epsilon ({confidence.epsilon}) must be smaller than gamma and than 1 - gamma: a sampled answer "
            "that may be off by so much says nothing; make it smaller, or count exactly"
        )


def assess(
    views: Sequence[View],
    gamma: Fraction,
    *,
    confidence: Confidence | None = None,
    steps: int = STEPS,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
) -> Assessment:
    """Judge the views together. Without a `confidence` only exact counting is allowed to say yes or no."""
    validated(gamma, confidence)
    parts = components(views)
    pairs = sum(part.people * len(part.values) for part in parts)
    return Assessment(
        gamma,
        tuple(
            judged(part, gamma, confidence=confidence, pairs=pairs, steps=steps, rng=rng, progress=progress)
            for part in parts
        ),
    )


def judged(
    part: Component,
    gamma: Fraction,
    *,
    confidence: Confidence | None,
    pairs: int,
    steps: int = STEPS,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
) -> Judged:
    """One component, exactly if that takes no more than so many steps."""
    exact = count(part, steps=steps)
    if exact is not None:
        exposed = frozenset(
            person
            for members, shares in zip(part.classes, exact.shares, strict=True)
            for person in members
            if max(shares) > gamma
        )
        decision = Decision.NOT_PRIVATE if exposed else Decision.PRIVATE
        return Judged(
            part, decision, "exact", exact.shares, exact.worst, instances=exact.instances, exposed=exposed
        )
    if confidence is None:
        return _undecided(part)
    return _sampled(part, gamma, confidence, pairs, rng=rng or np.random.default_rng(), progress=progress)


def _undecided(part: Component, draws: int = 0) -> Judged:
    return Judged(part, Decision.UNDECIDED, "sampled", (), 0.0, draws=draws)


def _sampled(
    part: Component,
    gamma: Fraction,
    confidence: Confidence,
    pairs: int,
    *,
    rng: np.random.Generator,
    progress: Progress,
) -> Judged:
    needed, quantile = confidence.draws(pairs), confidence.quantile(pairs)
    sampler = Sampler(part)
    drawn: Draws | None = None
    found: Estimate | None = None
    while found is None or found.effective < needed:
        if drawn is not None and len(drawn.log_weights) >= confidence.most * needed:
            break
        fresh = sampler.draw(min(BATCH, needed), rng)
        drawn = fresh if drawn is None else drawn.joined(fresh)
        if not np.isfinite(drawn.log_weights).any():
            try:
                sampler.refuse_contradiction()
            except NodeLimitError:
                return _undecided(part, len(drawn.log_weights))
            continue
        found = estimate(part, drawn, quantile)
        progress("sample", min(int(found.effective), needed), needed)
    if found is None:
        return _undecided(part, len(drawn.log_weights) if drawn is not None else 0)
    upper, allowed = found.shares + found.half, float(gamma + confidence.epsilon)
    violating: NDArray[np.bool_] = np.any(upper > allowed, axis=1)
    near: NDArray[np.bool_] = np.any(upper > float(gamma), axis=1) & ~violating
    enough = found.effective >= needed
    at = np.unravel_index(int(found.shares.argmax()), found.shares.shape)
    decision = Decision.NOT_PRIVATE if violating.any() else Decision.PRIVATE
    return Judged(
        part,
        decision if enough else Decision.UNDECIDED,
        "sampled",
        found.shares.tolist(),
        float(found.shares[at]),
        half=float(found.half[at]),
        log_instances=found.log_instances,
        exposed=_people(part, violating) if enough else frozenset(),
        tolerated=len(_people(part, near)),
        draws=found.draws,
        effective=found.effective,
    )


def _people(part: Component, chosen: NDArray[np.bool_]) -> frozenset[int]:
    return frozenset(person for at in np.flatnonzero(chosen) for person in part.classes[at])
