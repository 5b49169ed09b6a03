"""What an attack is, and what it reports: an assumption, a success rate, a baseline and a bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, ClassVar, Protocol, runtime_checkable

from privet.attackers import intervals
from privet.attackers.scene import Bags, Scene


class Judged(Enum):
    """What an attack's success means for the promise."""

    WITHIN = "within"  # no more than the promise allows
    BEYOND = "beyond"  # more than it allows: it is broken, or it was never kept
    NOT_COVERED = "not covered"  # the promise says nothing about this attack


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How an attack went. Numbers, and names of attributes: never a value of the data."""

    attack: str
    goal: str  # what counts as success
    tried: int
    succeeded: int
    baseline: float  # how often guessing without the release succeeds
    allowed: float | None = None  # the most that the promise allows; None: it says nothing of this
    promise: str = ""  # whose bound that is
    worst: float | None = None  # for the person to whom it does most; counted, not tried
    judged: Judged = Judged.NOT_COVERED
    note: str = ""

    @property
    def rate(self) -> float:
        return self.succeeded / self.tried

    @property
    def between(self) -> tuple[float, float]:
        """The 95 % interval of the rate."""
        return intervals.interval(self.succeeded, self.tried)

    def judge(self, *, beyond: bool | None = None) -> Outcome:
        """The same with its verdict; `beyond` where it was counted, else the rate decides.

        A rate is beyond the bound when chance would explain it once in a million attacks only.
        """
        if self.allowed is None:
            return replace(self, judged=Judged.NOT_COVERED)
        if beyond is None:
            beyond = intervals.at_least(self.succeeded, self.tried) > self.allowed
        return replace(self, judged=Judged.BEYOND if beyond else Judged.WITHIN)

    def to_dict(self) -> dict[str, Any]:
        """As JSON can hold it."""
        low, high = self.between
        return {
            "attack": self.attack,
            "goal": self.goal,
            "tried": self.tried,
            "succeeded": self.succeeded,
            "rate": self.rate,
            "low": low,
            "high": high,
            "baseline": self.baseline,
            "worst": self.worst,
            "allowed": self.allowed,
            "promise": self.promise or None,
            "verdict": self.judged.value,
            "note": self.note,
        }


class NotTriedError(Exception):
    """Raised by an attack that finds no way to begin; its sentence says why, without a value."""


@runtime_checkable
class Attack(Protocol):
    """One way to learn from releases what they should not tell."""

    name: ClassVar[str]
    assumes: ClassVar[str]  # what the attacker knows and can do
    needs: ClassVar[tuple[str, ...]]  # of "raw", "known", "several": what must be at hand to try it
    kinds: ClassVar[tuple[str, ...]]  # of releases that it means something for

    def run(self, scene: Scene) -> Sequence[Outcome]:
        """Try it; raises NotTriedError where there is nothing to try it on."""


def sensitive_bags(scene: Scene) -> Sequence[Bags]:
    """The sensitive values of the first release, class by class; not tried where there are none."""
    shown = scene.target.shown
    if not shown.bags or not shown.records:
        raise NotTriedError("the release has no sensitive attribute")
    return shown.bags
