"""The roads out of the house: one for each kind of data, all with the same stations and the same end.

    read ──► tally ──► search ──► recoding ──► apply ──► check again ──► release

A policy's road follows from its kind, unless its algorithm brings a road of its own (an algorithm that
spends a budget has nothing to check, one that splits a table has two to write). `privet.publish`,
`verify`, `risk`, `compare` and `explain` find the road and walk it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from privet.core import Engine, PrivacyModel, Progress, Verdict
from privet.policy.values import Policy
from privet.registry import find
from privet.release import Release

Verdicts = tuple[tuple[PrivacyModel, Verdict], ...]


@dataclass(frozen=True)
class Found:
    """What a second look at a release found."""

    verdicts: Verdicts
    complaints: tuple[str, ...] = ()  # what is not as the evidence says


class Road(Protocol):
    """How one kind of data leaves, and how what has left is looked at again."""

    name: ClassVar[str]

    def publish(
        self,
        source: Any,
        policy: Policy,
        *,
        engine: Engine[Any],
        like: Path | None,
        output: str | None,
        progress: Progress,
    ) -> Release:
        """A release that keeps the policy, in memory; or an error."""

    def check(self, source: Any, policy: Policy, *, engine: Engine[Any]) -> Verdicts:
        """What data achieves as it stands."""

    def verify(
        self, folder: Path, evidence: Mapping[str, Any], policy: Policy, *, engine: Engine[Any]
    ) -> Found:
        """What a release folder holds, against what its evidence says; digests are looked at already.

        KeyError and TypeError mean that the evidence lacks something; InputError that data is unreadable.
        """

    def risk(self, source: Any, policy: Policy, *, engine: Engine[Any], **asked: Any) -> dict[str, Any]:
        """How exposed the people in the data are, as it stands."""

    def compare(
        self, raw: Any, release: Release | Path, policy: Policy, *, engine: Engine[Any], **asked: Any
    ) -> dict[str, Any]:
        """What was lost between the data and its release."""

    def explain(
        self, folder: Path, evidence: Mapping[str, Any], policy: Policy, *, engine: Engine[Any], **asked: Any
    ) -> dict[str, Any]:
        """Why so much was lost."""


def road_of(policy: Policy) -> Road:
    """The road that a policy takes."""
    name = policy.algorithm.road or policy.kind
    road: Road = find("roads", name)()
    return road


def engine_of(engine: Engine[Any] | str) -> Engine[Any]:
    """An engine by its name, or the one that was given."""
    found: Engine[Any] = find("engines", engine)() if isinstance(engine, str) else engine
    return found
